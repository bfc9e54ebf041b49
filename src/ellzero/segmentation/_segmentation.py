"""What a segmentation is, and how it is shown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero._sklearn import Interval, check_parameters
from ellzero.segmentation._calibrated import Price
from ellzero.segmentation._cautions import find_cautions
from ellzero.segmentation._correlated import innovations, noise_of_innovations
from ellzero.segmentation._noise import NoiseEstimate, noise_of_residuals
from ellzero.segmentation._series import Fit, Series

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from ellzero.segmentation._cross_validation import PenaltyCurve

__all__ = ["Segmentation", "make_segmentation"]

_SHARE = Interval(Real, 0, 1, closed="neither")


@dataclass(frozen=True, eq=False, repr=False)
class Segmentation:
    """A series cut into segments: made by :func:`segment`.

    Attributes
    ----------
    changepoints : ndarray of int
        The first index of each new segment; the first segment, at 0, is not among them.
    signal : ndarray
        c, in the units of y: ``c[t] == decay * c[t - 1]`` but at the changepoints. Gaps are filled
        in, those before the first sample observed by running the decay backward.
    jumps : ndarray
        ``c[t] - decay * c[t - 1]`` at each changepoint, in the units of y: the sizes of the spikes.
    objective : float
        ``1/2 sum w (y - c)^2 + lam len(changepoints)``, in squared units of y; in correlated noise
        (``phi > 0``) with innovations in place of residuals, as :func:`segment` says.
    loss : float
        The first part of it.
    n_segments : int
        One more than there are changepoints; zero for a series of no samples.
    lam : float
        The penalty of a jump, as given or as chosen.
    decay : float
        What the signal is multiplied by from one sample to the next.
    y : ndarray
        The series, NaN where there was no sample.
    sample_weight : ndarray, or None
        The weights, if there were any.
    labels : index, or None
        That of the pandas Series that y was.
    cv : PenaltyCurve, or None
        What cross-validation found, if it chose ``lam``.
    chosen_by : {"given", "auto", "bic", "cv"}
        Where ``lam`` comes from.
    noise_kind : {"auto", "white", "ar1"}
        What was supposed of the noise.
    phi : float
        The correlation of the noise in the objective; 0 for least squares.
    noise : NoiseEstimate
        The noise that is left: its standard deviation ``sd`` and its ``correlation`` from one
        sample to the next, which is ``phi`` if that is not 0.
    cautions : list of str
        What speaks against pieces (drift, a trend, a season, pieces of few samples), in
        sentences; none if nothing does. :func:`segment` warns of it if it chose ``lam``.
    """

    changepoints: NDArray[np.int64]
    signal: NDArray[np.float64]
    jumps: NDArray[np.float64]
    loss: float
    lam: float
    decay: float
    y: NDArray[np.float64]
    sample_weight: NDArray[np.float64] | None = None
    labels: Any = None
    cv: PenaltyCurve | None = None
    chosen_by: str = "given"
    noise_kind: str = "auto"
    phi: float = 0.0

    @property
    def objective(self) -> float:
        """``1/2 sum w (y - c)^2 + lam len(changepoints)``, or that of correlated noise."""
        return self.loss + (self.lam * len(self.changepoints) if len(self.changepoints) else 0.0)

    @property
    def n_segments(self) -> int:
        """The number of segments."""
        return len(self.changepoints) + (len(self.y) > 0)

    @cached_property
    def noise(self) -> NoiseEstimate:
        """The noise that is left: its standard deviation, and its correlation."""
        series = Series(self.y, self.sample_weight, None)
        fit = self.changepoints, self.signal, self.jumps, self.loss
        if self.phi > 0:
            return noise_of_innovations(series, fit, self.phi)
        return noise_of_residuals(series, fit, self.noise_kind)

    @cached_property
    def cautions(self) -> list[str]:
        """What speaks against pieces, in sentences."""
        return find_cautions(self)

    def __repr__(self) -> str:
        return (
            f"<Segmentation: {self.n_segments} segments of {len(self.y)} samples, "
            f"objective {self.objective:.6g} at lam={self.lam:.6g}>"
        )

    def _repr_html_(self) -> str:
        from ellzero._notebook import show_segmentation

        return show_segmentation(self)

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for every segment.

        Returns
        -------
        pandas.DataFrame
            ``start`` and ``stop``: its first index, and one past its last. ``level``: the signal at
            ``start``. ``jump``: what it rose by there, NaN for the first segment. ``loss``:
            ``1/2 sum w (y - c)^2`` over its samples, or that of their innovations. If y was a
            pandas Series, ``first`` and ``last`` are the labels at its ends.

        Examples
        --------
        >>> from ellzero import segment
        >>> segment([1.0, 1.0, 4.0, 4.0, 4.0], lam=1.0).to_frame()
           start  stop  level  jump  loss
        0      0     2    1.0   NaN   0.0
        1      2     5    4.0   3.0   0.0
        """
        import pandas as pd

        n = len(self.y)
        start = np.concatenate([np.zeros(min(n, 1), dtype=np.int64), self.changepoints])
        stop = np.append(start[1:], n)[: len(start)]
        series = Series(self.y, self.sample_weight, None)
        squares = np.zeros(n)
        left = innovations(series, self.phi, self.y - self.signal)
        squares[series.observed] = 0.5 * left**2
        table = pd.DataFrame(
            {
                "start": start,
                "stop": stop,
                "level": self.signal[start],
                "jump": np.concatenate([np.full(min(n, 1), np.nan), self.jumps]),
                "loss": np.add.reduceat(squares, start) if n else np.zeros(0),
            }
        )
        if self.labels is not None:
            table.insert(0, "first", self.labels[start])
            table.insert(1, "last", self.labels[stop - 1])
        return table

    def locations(self, level: float = 0.95) -> NDArray[np.int64]:
        """Return between which indices each changepoint lies.

        With the changepoints on either side held fixed, a changepoint is moved, and the levels
        fitted anew: it could be wherever that raises the loss by at most
        ``-log(1 - sqrt(level))`` times the variance of the noise (of its innovations if ``phi >
        0``; else the long-run variance if it is correlated). This is where a random walk with
        drift, which the loss is on either side of a small jump, has its lowest point with
        probability ``level`` (Yao 1987; Hansen 2000). Where jumps are large the interval is a
        single index, and right more often than that.

        The interval says where a jump is, if there is one there: not whether.

        Parameters
        ----------
        level : float, default=0.95
            How often the interval should hold the true index, above 0 and below 1.

        Returns
        -------
        ndarray of shape (n_changepoints, 2)
            The first and the last index, both included. Indices in a gap do not count.

        Examples
        --------
        >>> import numpy as np
        >>> from ellzero import segment
        >>> rng = np.random.default_rng(3)
        >>> y = np.repeat([0.0, 1.5], 50) + rng.normal(size=100)
        >>> found = segment(y)
        >>> found.changepoints, found.locations()
        (array([46]), array([[43, 53]]))
        """
        check_parameters("locations", {"level": [_SHARE]}, level=level)
        slack = -math.log(1 - math.sqrt(level))
        spread = 1 - self.phi**2 if self.phi > 0 else self.noise.inflation(self.decay)
        slack *= self.noise.sd**2 * spread
        found = _core.jump_locations(
            self.y, self.sample_weight, self.decay, self.phi, self.changepoints, slack
        )
        return np.column_stack([found.first, found.last]).astype(np.int64)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the samples, the signal through them and where it jumps.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
            With the samples in grey, the signal in blue, broken where it jumps, and a tick below
            for every changepoint. The x-axis has the labels of the pandas Series that y was, if
            they are numbers or dates, else indices.
        """
        from ellzero.plotting import draw_segmentation

        return draw_segmentation(self, ax=ax)


def make_segmentation(
    fit: Fit,
    series: Series,
    price: Price,
    decay: float,
    noise_kind: str | float,
    curve: PenaltyCurve | None = None,
    chosen_by: str = "given",
) -> Segmentation:
    """Put together what the core found and what it was given, copied: users change their data."""
    changepoints, signal, jumps, loss = fit
    weights = None if series.weights is None else series.weights.copy()
    if not isinstance(noise_kind, str):
        noise_kind = "ar1" if noise_kind > 0 else "white"
    return Segmentation(
        changepoints,
        signal,
        jumps,
        loss,
        price.lam,
        decay,
        series.y.copy(),
        weights,
        series.labels,
        curve,
        chosen_by,
        noise_kind,
        price.phi,
    )
