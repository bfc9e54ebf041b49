"""The penalty by hold-out: odd and even samples predict each other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ellzero.segmentation._noise import noise_of
from ellzero.segmentation._series import Series, fit_segments, solve_all

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["PenaltyCurve", "cross_validate"]

_Floats = NDArray[np.float64]

_PER_DECADE = 12


@dataclass(frozen=True, eq=False)
class PenaltyCurve:
    """The error of prediction at penalties tried, from the largest to the smallest.

    Attributes
    ----------
    lam : ndarray
        The penalties, for the whole series; half of each was used in training.
    error : ndarray
        Mean squared error on the samples held out, in squared units of y.
    se : ndarray
        Its standard error, over samples.
    n_segments : ndarray
        The mean of the two halves.
    best : float
        The penalty of the least error; of several in a row that are equal, the middle one.
    one_se : float
        The largest whose error is within one standard error of the least.
    """

    lam: _Floats
    error: _Floats
    se: _Floats
    n_segments: _Floats

    @property
    def best(self) -> float:
        """The penalty of the least error; of several in a row that are equal, the middle one."""
        equal = self.error <= self.error.min() * (1 + 1e-12)
        first = int(np.argmax(equal))
        count = int(np.argmin(np.append(equal[first:], False)))
        return float(self.lam[first + (count - 1) // 2])

    @property
    def one_se(self) -> float:
        """The largest penalty whose error is within one standard error of the least."""
        place = int(np.argmin(self.error))
        bar = self.error[place] + self.se[place]
        return float(self.lam[np.flatnonzero(self.error <= bar)[0]])

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for every penalty."""
        import pandas as pd

        return pd.DataFrame(
            {"lam": self.lam, "error": self.error, "se": self.se, "n_segments": self.n_segments}
        )

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the error against the penalty, with both rules marked.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
            With the error, a band of one standard error on either side, and a line at the penalty
            of each rule.
        """
        from ellzero.plotting import draw_penalty_curve

        return draw_penalty_curve(self, ax=ax)


def cross_validate(
    series: Series, decay: float, positive: bool, solver: str, threads: int
) -> PenaltyCurve:
    """Hold out every second sample observed, as a gap, then the others.

    A jump is worth half as much to half the samples, so training uses ``lam / 2``.
    """
    times = np.flatnonzero(series.observed)
    if len(times) < 4:
        raise ValueError(f'lam="cv" needs four samples or more; y has {len(times)}.')
    held_out = [times[0::2], times[1::2]]
    training = []
    for test in held_out:
        y = series.y.copy()
        y[test] = np.nan
        training.append(series._replace(y=y))
    lams = _penalties(series, decay)
    weights = np.ones(len(series.y)) if series.weights is None else series.weights
    order = np.concatenate(held_out)
    share = weights[order] / weights[order].sum()
    rows = []
    block = max(1, threads // 2)
    for first in range(0, len(lams), block):
        some = lams[first : first + block]
        tasks = [(fold, lam / 2) for lam in some for fold in training]
        found = solve_all(
            [fold for fold, _ in tasks],
            [lam for _, lam in tasks],
            [decay] * len(tasks),
            positive,
            solver,
            threads=threads,
        )
        for one, two in zip(found[0::2], found[1::2], strict=True):
            misses = np.concatenate(
                [
                    series.y[test] - fit[1][test]
                    for test, fit in zip(held_out, (one, two), strict=True)
                ]
            )
            rows.append((*_summary(misses, share), 1 + 0.5 * (len(one[0]) + len(two[0]))))
    error, se, sizes = np.array(rows).T
    return PenaltyCurve(np.array(lams), error, se, sizes)


def _summary(misses: _Floats, share: _Floats) -> tuple[float, float]:
    """Return the weighted mean of squares and its standard error."""
    unit = float(np.abs(misses).max())  # fourth powers may overflow
    if unit == 0:
        return 0.0, 0.0
    squares = (misses / unit) ** 2
    mean = float(share @ squares)
    variance = float(share @ (squares - mean) ** 2) / (len(squares) - 1)
    return mean * unit**2, math.sqrt(variance) * unit**2


def _penalties(series: Series, decay: float) -> list[float]:
    """Return penalties from where no jump can pay down to where noise looks like jumps."""
    top = fit_segments(series, decay, np.zeros(0, dtype=np.int64))[3]
    if top == 0:
        return [0.0]
    bottom = max(0.1 * noise_of(series, decay, "white").sd ** 2, 1e-12 * top)
    steps = max(1, math.ceil(_PER_DECADE * math.log10(max(top / bottom, 1.0))))
    return [float(lam) for lam in np.geomspace(top, min(bottom, top), steps + 1)]
