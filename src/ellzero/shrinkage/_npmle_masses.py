"""The masses of given centres that maximise the likelihood: an interior point method.

    minimise over p >= 0    sum_j p_j - sum_i w_i log(A p)_i,    A_ij = phi(u_i - t_j)

With ``sum of masses`` added to the objective they sum to one by themselves. The conditions are
``gradient = slack``, ``masses x slack = 0``, both not negative.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import linalg

from ellzero._normal_means.rule import Floats
from ellzero.shrinkage._npmle_condition import WINDOW

__all__ = ["maximise"]

_REACH = 6.0  # where phi counts for the curvature
_STRETCH = 6.0  # of points that are taken together
_ANEW = 4  # steps after which densities are computed anew, not updated
# The share of the complementarity that a step aims at: less after a step that was nearly whole.
_TARGET, _BOLD_TARGET = 0.1, 0.02
_POINTS = 16  # that there are in a stretch at least


class Sample(NamedTuple):
    """Points, ascending, and the share that each has."""

    points: Floats
    shares: Floats


def maximise(sample: Sample, coarse: Sample, centres: Floats) -> Floats:
    """Return the masses of centres, ascending.

    The curvature need not be exact: it is that of a coarse sample, which may be the same.
    """
    points, shares = sample
    A, rough = _Kernel(points, centres, WINDOW), _Kernel(coarse.points, centres, _REACH)
    count = len(centres)
    masses, slack = np.full(count, 1 / count), np.ones(count)
    f = A.times(masses)
    target = _TARGET
    for done in range(200):
        gradient = 1 - A.transposed_times(shares / f)
        complementarity = float(masses @ slack) / count
        if complementarity * count < 1e-11 and np.abs(gradient - slack).max() < 1e-9:
            break
        weight = target * complementarity
        # In units of the roots of the masses; without that, small ones make the system singular.
        root = np.sqrt(masses)
        force = weight / masses - gradient
        rows = np.sqrt(coarse.shares) / rough.times(masses)
        direction = root * rough.solve(rows, root, slack + 1e-14 * count, root * force)
        slack_direction = (weight - slack * direction) / masses - slack

        def barrier(p: Floats, f: Floats, weight: float = weight) -> float:
            return float(p.sum() - shares @ np.log(f) - weight * np.log(p).sum())

        length = min(1.0, 0.99 / max(1e-300, float((-direction / masses).max())))
        start, slope, ahead = barrier(masses, f), float(force @ direction), A.times(direction)
        while True:
            moved = masses + length * direction
            moved_f = f + length * ahead
            if barrier(moved, moved_f) <= start - 1e-4 * length * slope or length < 1e-10:
                break
            length /= 2
        falling = slack_direction < 0
        slack_length = 1.0
        if falling.any():
            ratio = float((-slack[falling] / slack_direction[falling]).min())
            slack_length = min(1.0, 0.99 * ratio)
        masses = moved
        f = moved_f if done % _ANEW else A.times(masses)
        slack = slack + slack_length * slack_direction
        target = _BOLD_TARGET if min(length, slack_length) > 0.9 else _TARGET
    return masses


class _Stretch(NamedTuple):
    """Neighbouring points and the centres within reach of them."""

    rows: slice
    columns: slice
    values: Floats


class _Kernel:
    """The matrix A, as far as it is not zero: a band, since points and centres are ascending."""

    def __init__(self, points: Floats, centres: Floats, reach: float) -> None:
        self._shape = len(points), len(centres)
        self._stretches = []
        begin = 0
        while begin < len(points):
            end = int(np.searchsorted(points, points[begin] + _STRETCH))
            end = min(max(end, begin + _POINTS), len(points))
            some = points[begin:end]
            low, high = np.searchsorted(centres, [some[0] - reach, some[-1] + reach])
            values = np.exp(-0.5 * (some[:, None] - centres[low:high]) ** 2)
            self._stretches.append(_Stretch(slice(begin, end), slice(int(low), int(high)), values))
            begin = end

    def times(self, v: Floats) -> Floats:
        """Return ``A v``."""
        out = np.empty(self._shape[0])
        for rows, columns, values in self._stretches:
            np.dot(values, v[columns], out=out[rows])
        return out

    def transposed_times(self, v: Floats) -> Floats:
        """Return ``A'v``."""
        out = np.zeros(self._shape[1])
        for rows, columns, values in self._stretches:
            out[columns] += v[rows] @ values
        return out

    def solve(self, rows: Floats, columns: Floats, diagonal: Floats, rhs: Floats) -> Floats:
        """Solve ``(B'B + diag) v = rhs`` with ``B = diag(rows) A diag(columns)``."""
        # Element (i, j) is at [j, width + i - j], so that a square block is an array of its own;
        # the lower triangle makes the bands that LAPACK asks for, transposed.
        width = max(values.shape[1] for _, _, values in self._stretches)
        both = np.zeros((len(rhs), 2 * width))
        down, along = both.strides
        for of_points, of_centres, values in self._stretches:
            scaled = values * rows[of_points, None]
            square = scaled.T @ scaled
            block: Floats = np.ndarray(
                square.shape,
                buffer=both,
                offset=of_centres.start * down + width * along,
                strides=(down - along, along),
            )
            block += square
        band = np.ascontiguousarray(both[:, width:])
        band *= columns[:, None]
        band *= sliding_window_view(np.append(columns, np.zeros(width - 1)), width)
        band[:, 0] += diagonal
        out: Floats = linalg.solveh_banded(band.T, rhs, lower=True, check_finite=False)
        return out
