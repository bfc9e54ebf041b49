"""Every segmentation that is optimal for some penalty in a range."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from ellzero._sklearn import StrOptions, check_parameters
from ellzero.segmentation._calibrated import Price
from ellzero.segmentation._choose import How, check_correlation, choose_penalties
from ellzero.segmentation._noise import CORRELATION, NOISE
from ellzero.segmentation._ranges import Cut, Everywhere, Narrowing, fill_in, is_tame
from ellzero.segmentation._segmentation import Segmentation, make_segmentation
from ellzero.segmentation._series import (
    DECAY,
    JUMPS,
    PRICE,
    Series,
    fit_segments,
    read_one,
    solve_all,
    threads_for,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["SegmentationPath", "segment_path"]


class SegmentationPath:
    """The optimal segmentations between two penalties: made by :func:`segment_path`.

    Attributes
    ----------
    lambdas : ndarray
        The penalties at which the optimum changes, decreasing.
    n_segments : ndarray of int
        The number of segments before, between and after them, increasing.
    losses : ndarray
        ``1/2 sum w (y - c)^2`` of each, or that of correlated noise: see :func:`segment`.
    changepoints : list of ndarray of int
        Those of each.
    lam_min, lam_max : float
        The range. ``lam_max`` is ``inf`` if the path begins with one segment.
    phi : float
        The correlation of the noise in the objective; 0 for least squares.
    """

    def __init__(
        self,
        series: Series,
        decay: float,
        noise: str | float,
        phi: float,
        cuts: list[Cut],
        lambdas: list[float],
        lam_min: float,
        lam_max: float,
    ) -> None:
        self._series, self._decay, self._noise, self.phi = series, decay, noise, phi
        self.changepoints = [cut.changepoints for cut in cuts]
        self.losses = np.array([cut.loss for cut in cuts])
        self.n_segments = np.array([cut.size + 1 for cut in cuts])
        self.lambdas = np.array(lambdas)
        self.lam_min, self.lam_max = lam_min, lam_max

    def __repr__(self) -> str:
        return (
            f"<SegmentationPath: {len(self.n_segments)} segmentations of {len(self._series.y)} "
            f"samples, {self.n_segments[0]} to {self.n_segments[-1]} segments, "
            f"lam from {self.lam_max:.6g} down to {self.lam_min:.6g}>"
        )

    def _repr_html_(self) -> str:
        from ellzero._notebook import show_segmentation_path

        return show_segmentation_path(self)

    def interval(self, place: int) -> tuple[float, float]:
        """Return the penalties between which a segmentation is optimal, by its place."""
        edges = [self.lam_max, *self.lambdas.tolist(), self.lam_min]
        place = range(len(self.n_segments))[place]
        return edges[place + 1], edges[place]

    def at(self, *, lam: float | None = None, segments: int | None = None) -> Segmentation:
        """Return the optimum at a penalty, or the one with a number of segments.

        Parameters
        ----------
        lam : float, default=None
            The penalty, within the range of the path. At a breakpoint the optimum with fewer
            segments is returned.
        segments : int, default=None
            The number of segments, which must be one of ``n_segments``: not every number is optimal
            for some penalty.

        Returns
        -------
        Segmentation
            At the ``lam`` given, or for ``segments`` at a ``lam`` in the middle of its interval.

        Examples
        --------
        >>> from ellzero import segment_path
        >>> path = segment_path([0.0, 0.0, 1.0, 1.0, 4.0, 4.0, 4.2], lam_min=0.1)
        >>> path.at(segments=2).changepoints, path.at(lam=0.3).changepoints
        (array([4]), array([2, 4]))
        """
        if (lam is None) == (segments is None):
            raise ValueError("at takes just one of lam and segments.")
        if segments is not None:
            found = np.flatnonzero(self.n_segments == segments)
            if not isinstance(segments, Integral) or not found.size:
                raise ValueError(self._no_such_number(segments))
            place = int(found[0])
            low, high = self.interval(place)
            price = 2 * low if math.isinf(high) else math.sqrt(low) * math.sqrt(high) or high / 2
        else:
            if not (isinstance(lam, Real) and self.lam_min <= lam <= self.lam_max):
                raise ValueError(
                    f"lam must be a number between {self.lam_min:g} and {self.lam_max:g}, the "
                    f"range of the path; got {lam!r}."
                )
            price = float(lam)
            place = int(np.count_nonzero(self.lambdas > price))
        series = self._series
        fit = fit_segments(series, self._decay, self.changepoints[place], phi=self.phi)
        return make_segmentation(fit, series, Price(price, self.phi), self._decay, self._noise)

    def _no_such_number(self, segments: Any) -> str:
        message = f"segments={segments!r} is not on the path"
        if isinstance(segments, Integral):
            near = sorted(self.n_segments.tolist(), key=lambda size: abs(size - segments))[:2]
            message += f"; the nearest are {' and '.join(map(str, sorted(near)))}"
            if segments > self.n_segments[-1] and self.lam_min > 0:
                message += f", and more may lie below lam_min={self.lam_min:g}"
        return message + "."

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for every segmentation.

        Returns
        -------
        pandas.DataFrame
            ``n_segments``, ``loss`` and the interval of penalties, ``lam_low`` to ``lam_high``.
        """
        import pandas as pd

        edges = np.concatenate([[self.lam_max], self.lambdas, [self.lam_min]])
        return pd.DataFrame(
            {
                "n_segments": self.n_segments,
                "loss": self.losses,
                "lam_low": edges[1:],
                "lam_high": edges[:-1],
            }
        )

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw when each changepoint comes in as the penalty falls.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
            Indices along, penalties up on a logarithmic scale; a bar at every index that is a
            changepoint, over the penalties for which it is. The numbers of segments are on the
            right.
        """
        from ellzero.plotting import draw_segmentation_path

        return draw_segmentation_path(self, ax=ax)


def segment_path(
    y: Any,
    lam_min: float | None = None,
    lam_max: float | None = None,
    *,
    decay: float = 1.0,
    jumps: str = "free",
    noise: str | float = "auto",
    solver: str = "functional",
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> SegmentationPath:
    """Find every segmentation that is optimal for some penalty in a range.

    The least objective, ``min_k loss_k + lam k`` over the numbers k of jumps, is concave and
    piecewise linear in ``lam``. Two optima with k and k' jumps tell where their lines meet; there
    the problem is solved once more, and either nothing lies below, and the breakpoint is exact, or
    what is found splits the range in two (CROPS: Haynes, Eckley and Fearnhead 2017). No grid is
    used, and nothing is missed but what would change the objective by less than a part in 10^9 of
    ``lam``. For free jumps without decay in white noise, each is solved on the samples where an
    optimum between its neighbours could jump, which are soon few.

    Parameters
    ----------
    y : array-like of shape (n,)
        One series; NaN for gaps.
    lam_min, lam_max : float, default=None
        The range of penalties, in squared units of y. By default from half the penalty that
        :func:`segment` chooses up to where there is no jump. About two problems are solved for
        every segmentation that is found.
    decay, jumps, sample_weight, n_jobs
        As for :func:`segment`.
    noise : {"auto", "white", "ar1"} or float, default="auto"
        As for :func:`segment`: at a ``lam_min`` that is given, "auto" means least squares.
    solver : {"functional", "pelt"}, default="functional"
        As for :func:`segment`.

    Returns
    -------
    SegmentationPath
        The segmentations and the breakpoints between them.

    Examples
    --------
    >>> from ellzero import segment_path
    >>> path = segment_path([0.0, 0.0, 1.0, 1.0, 4.0, 4.0, 4.2], lam_min=0.1)
    >>> path.n_segments
    array([1, 2, 3])
    >>> path.lambdas.round(3)
    array([10.904,  0.5  ])
    """
    check_parameters(
        "segment_path",
        {
            "lam_min": [PRICE, None],
            "lam_max": [PRICE, None],
            "decay": [DECAY],
            "jumps": [JUMPS],
            "noise": [NOISE, CORRELATION],
            "solver": [StrOptions({"functional", "pelt"})],
        },
        lam_min=lam_min,
        lam_max=lam_max,
        decay=decay,
        jumps=jumps,
        noise=noise,
        solver=solver,
    )
    series, positive, threads = read_one(y, sample_weight), jumps == "positive", threads_for(n_jobs)
    series = series._replace(y=series.y.copy())  # kept, while users change their data
    if series.weights is not None:
        series = series._replace(weights=series.weights.copy())
    how, rates = How(positive, noise, solver, "min", threads), [float(decay)]
    check_correlation([], rates, how)
    price, _ = choose_penalties([series], ["auto" if lam_min is None else lam_min], rates, how)[0]
    low, phi = (price.lam / 2 if lam_min is None else price.lam), price.phi

    def solve(lams: list[float]) -> list[Cut]:
        found = solve_all(
            [series] * len(lams),
            lams,
            [decay] * len(lams),
            positive,
            solver,
            threads=threads,
            phis=[phi] * len(lams),
            want_signal=False,
        )
        return [Cut(changepoints, loss) for changepoints, _, _, loss in found]

    none = np.zeros(0, dtype=np.int64)
    whole = Cut(none, fit_segments(series, decay, none, phi=phi)[3])
    if lam_max is None:
        # One segment is optimal at a penalty as large as all that jumps could gain.
        top, high = math.inf, max(whole.loss, low)
    else:
        if lam_max < low:
            raise ValueError(f"lam_max={lam_max:g} must not be below lam_min={low:g}.")
        top = high = float(lam_max)
    if decay == 1 and phi == 0 and not positive and solver == "functional" and is_tame(series):
        cuts, lambdas = fill_in(Narrowing.between(series, high, low, threads), high, low)
    else:
        first = whole if lam_max is None else solve([high])[0]
        cuts, lambdas = fill_in(Everywhere(solve, first, solve([low])[0]), high, low)
    return SegmentationPath(series, float(decay), noise, phi, cuts, lambdas, low, top)
