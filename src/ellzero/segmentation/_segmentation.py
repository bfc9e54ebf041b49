"""What a segmentation is, and how it is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero.segmentation._series import Fit, Series

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from ellzero.segmentation._cross_validation import PenaltyCurve

__all__ = ["Segmentation", "make_segmentation"]


@dataclass(frozen=True, eq=False, repr=False)
class Segmentation:
    """A series cut into segments: made by :func:`segment`.

    Attributes
    ----------
    changepoints : ndarray of int
        The first index of each new segment; the first segment, at 0, is not among them.
    signal : ndarray
        c, in the units of y: ``c[t] == decay * c[t - 1]`` but at the changepoints. Gaps are filled
        in, those before the first sample observed by running the decay backward. NaN if there is
        nothing but gaps.
    jumps : ndarray
        ``c[t] - decay * c[t - 1]`` at each changepoint, in the units of y: the sizes of the spikes.
    objective : float
        ``1/2 sum w (y - c)^2 + lam len(changepoints)``, in squared units of y.
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

    @property
    def objective(self) -> float:
        """``1/2 sum w (y - c)^2 + lam len(changepoints)``."""
        return self.loss + (self.lam * len(self.changepoints) if len(self.changepoints) else 0.0)

    @property
    def n_segments(self) -> int:
        """The number of segments."""
        return len(self.changepoints) + (len(self.y) > 0)

    def __repr__(self) -> str:
        return (
            f"<Segmentation: {self.n_segments} segments of {len(self.y)} samples, "
            f"objective {self.objective:.6g} at lam={self.lam:.6g}>"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for every segment.

        Returns
        -------
        pandas.DataFrame
            ``start`` and ``stop``: its first index, and one past its last. ``level``: the signal at
            ``start``. ``jump``: what it rose by there, NaN for the first segment. ``loss``:
            ``1/2 sum w (y - c)^2`` over its samples. If y was a pandas Series, ``first`` and
            ``last`` are the labels at its ends.

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
        weights = 1.0 if self.sample_weight is None else self.sample_weight
        squares = np.nan_to_num(0.5 * weights * (self.y - self.signal) ** 2)
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
    fit: Fit, series: Series, lam: float, decay: float, curve: PenaltyCurve | None = None
) -> Segmentation:
    """Put together what the core found and what it was given, copied: users change their data."""
    changepoints, signal, jumps, loss = fit
    weights = None if series.weights is None else series.weights.copy()
    return Segmentation(
        changepoints,
        signal,
        jumps,
        loss,
        lam,
        decay,
        series.y.copy(),
        weights,
        series.labels,
        curve,
    )
