"""The nonparametric maximum-likelihood mixture of unit normals.

Given points u_i with shares w_i, find the distribution G of centres that maximises

    sum_i w_i log f(u_i),    f(u) = integral phi(u - t) dG(t),

a concave problem (Kiefer and Wolfowitz 1956). G is a maximiser if and only if

    D(t) = sum_i w_i phi(u_i - t) / f(u_i)  <=  1    for all t,

and for any G the average log-likelihood is at most ``log max D`` below its maximum. That is the
certificate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg, sparse
from threadpoolctl import threadpool_limits

from ellzero._normal_means.rule import Floats
from ellzero.shrinkage._binning import merge_points

__all__ = ["Mixture", "fit_mixture"]

_WINDOW = 9.0  # phi is taken as zero beyond: exp(-40)
_GRID = 0.25
_FINE = 0.02
_COARSE = 0.1  # cells of the points for the first rounds, which need not be exact
_NEGLIGIBLE = 1e-10  # a mass that counts as zero, unless the shares of points are as small
_MOST_CENTRES = 20_000
_WIDE = 60.0  # a range of centres so wide that most pairs of them share no points


@dataclass(frozen=True)
class Mixture:
    """Centres, their masses, and how far the average log-likelihood can be from its maximum."""

    centres: Floats
    masses: Floats
    gap: float
    rounds: int


def fit_mixture(points: Floats, shares: Floats, tol: float, max_rounds: int) -> Mixture:
    """Maximise over centres on a grid, then add centres where the condition fails, until it holds.

    ``points`` are ascending.
    """
    coarse, coarse_shares = merge_points(points, shares, _COARSE)
    # The systems are small: threads would wait for each other most of the time.
    with threadpool_limits(1, user_api="blas"):
        start = _improve(coarse, coarse_shares, _first_grid(points), 1e-5, max_rounds)
        mixture = _improve(points, shares, start.centres, tol, max_rounds)
        mixture = _simplify(points, shares, mixture, tol)
    return replace(mixture, rounds=start.rounds + mixture.rounds)


def _simplify(points: Floats, shares: Floats, mixture: Mixture, tol: float) -> Mixture:
    """Drop light centres and merge those that stand for one, if the certificate allows."""
    kept = mixture.masses > 0.01 * shares.min()
    all_centres, all_masses = mixture.centres[kept], mixture.masses[kept]
    for spacing in (0.3, 0.1, 0.03, 0.01):
        index = np.cumsum(np.r_[True, np.diff(all_centres) > spacing]) - 1
        masses: Floats = np.bincount(index, all_masses).astype(np.float64)
        centres = np.bincount(index, all_masses * all_centres) / masses
        masses /= masses.sum()
        gap, _ = _certify(points, shares, centres, masses)
        if gap <= max(tol, mixture.gap):
            return replace(mixture, centres=centres, masses=masses, gap=gap)
    return mixture


def _improve(
    points: Floats, shares: Floats, centres: Floats, tol: float, max_rounds: int
) -> Mixture:
    best, rounds, since = None, 0, 0
    while True:
        rounds, since = rounds + 1, since + 1
        masses = _maximise(points, shares, centres)
        kept = masses > min(_NEGLIGIBLE, 1e-4 * shares.min())
        centres, masses = centres[kept], masses[kept] / masses[kept].sum()
        gap, peaks = _certify(points, shares, centres, masses)
        if best is None or gap < best.gap:
            best, since = Mixture(centres, masses, gap, rounds), 0
        # Centres that are nearly the same limit what rounding allows; then more rounds don't help.
        if best.gap <= tol or rounds >= max_rounds or since == 4:
            return replace(best, rounds=rounds)
        # Old centres next to a peak of D are on their way to it.
        padded = np.r_[-np.inf, peaks, np.inf]
        place = np.searchsorted(peaks, centres)
        away = np.minimum(centres - padded[place], padded[place + 1] - centres)
        centres = np.unique(np.concatenate([centres[away > 0.1 * _FINE], peaks]))


def _first_grid(points: Floats) -> Floats:
    """Return a grid where there are points."""
    spacing = _GRID
    while True:
        cells = np.unique(np.round(points / spacing))
        if len(cells) <= _MOST_CENTRES:
            return np.clip(cells * spacing, points[0], points[-1])
        spacing *= 1.5


def _kernel(points: Floats, centres: Floats) -> Floats:
    """Return the normal density without its constant, a row for every point."""
    return np.exp(-0.5 * (points[:, None] - centres) ** 2)


def _smooth(points: Floats, weights: Floats, at: Floats) -> Floats:
    """Return ``sum_i weights_i phi(points_i - at)``, up to phi's constant; both ascending."""
    out = np.empty_like(at)
    rows = 256
    for begin in range(0, len(at), rows):
        some = at[begin : begin + rows]
        low, high = np.searchsorted(points, [some[0] - _WINDOW, some[-1] + _WINDOW])
        out[begin : begin + rows] = weights[low:high] @ _kernel(points[low:high], some)
    return out


def _maximise(points: Floats, shares: Floats, centres: Floats) -> Floats:
    """Return the masses of given centres that maximise the likelihood: an interior point method.

    With ``sum of masses`` added to the objective they sum to one by themselves. The conditions are
    ``gradient = slack``, ``masses x slack = 0``, both not negative.
    """
    A = _sparse_kernel(points, centres) if np.ptp(centres) > _WIDE else _kernel(points, centres)
    count = len(centres)
    masses, slack = np.full(count, 1 / count), np.ones(count)

    def barrier(p: Floats, weight: float) -> float:
        return float(p.sum() - shares @ np.log(A @ p) - weight * np.log(p).sum())

    for _ in range(200):
        f = A @ masses
        gradient = 1 - A.T @ (shares / f)
        complementarity = float(masses @ slack) / count
        if complementarity * count < 1e-11 and np.abs(gradient - slack).max() < 1e-9:
            break
        weight = 0.1 * complementarity
        # In units of the roots of the masses; without that, small ones make the system singular.
        root = np.sqrt(masses)
        force = weight / masses - gradient
        direction = root * _solve(A, np.sqrt(shares) / f, root, slack + 1e-14 * count, root * force)
        slack_direction = (weight - slack * direction) / masses - slack
        length = min(1.0, 0.99 / max(1e-300, float((-direction / masses).max())))
        start, slope = barrier(masses, weight), float(force @ direction)
        while barrier(masses + length * direction, weight) > start - 1e-4 * length * slope:
            length /= 2
            if length < 1e-10:
                break
        falling = slack_direction < 0
        slack_length = 1.0
        if falling.any():
            ratio = float((-slack[falling] / slack_direction[falling]).min())
            slack_length = min(1.0, 0.99 * ratio)
        masses = masses + length * direction
        slack = slack + slack_length * slack_direction
    return masses


def _solve(A: Any, rows: Floats, columns: Floats, diagonal: Floats, rhs: Floats) -> Floats:
    """Solve ``(B'B + diag) v = rhs`` with ``B = diag(rows) A diag(columns)``."""
    out: Floats
    if not sparse.issparse(A):
        B = A * rows[:, None] * columns
        H = B.T @ B
        H[np.diag_indices(len(rhs))] += diagonal
        out = linalg.solve(H, rhs, assume_a="pos", check_finite=False)
        return out
    B = A.copy()
    B.data *= np.repeat(rows, np.diff(A.indptr)) * columns[A.indices]
    H = sparse.tril(B.T @ B).tocoo()
    offset = H.row - H.col
    banded = np.zeros((int(offset.max(initial=0)) + 1, len(rhs)))
    banded[offset, H.col] = H.data
    banded[0] += diagonal
    out = linalg.solveh_banded(banded, rhs, lower=True, check_finite=False)
    return out


def _sparse_kernel(points: Floats, centres: Floats) -> Any:
    """Return the kernel where it counts; both are ascending, so it is a band."""
    low = np.searchsorted(centres, points - _WINDOW)
    high = np.searchsorted(centres, points + _WINDOW)
    begins = np.concatenate([[0], np.cumsum(high - low)])
    column = np.arange(begins[-1]) - np.repeat(begins[:-1] - low, high - low)
    values = np.exp(-0.5 * (np.repeat(points, high - low) - centres[column]) ** 2)
    return sparse.csr_array((values, column, begins), shape=(len(points), len(centres)))


def _certify(
    points: Floats, shares: Floats, centres: Floats, masses: Floats
) -> tuple[float, Floats]:
    """Return a bound of ``log max D``, and where D has its peaks.

    ``D'' >= -D``, since D is a sum of normal densities; so around a maximum D falls no faster than
    a cosine, and is nowhere more than ``1 / cos(h / 2)`` times its largest value on a grid of
    spacing h. Beyond the points it only falls.
    """
    ratio = shares / _smooth(centres, masses, points)
    at, step = _fine_grid(points), _FINE
    D = _smooth(points, ratio, at)
    peaks = _peaks(at, D)
    if D.max() < 1 + 1e-3:
        # Nearly there: twenty times as fine a grid wherever D may exceed one.
        offsets = _FINE * np.linspace(-0.5, 0.5, 21)
        closer = at[D > 1 - 1e-4, None] + offsets
        at, step = np.unique(closer.clip(points[0], points[-1])), _FINE / 20
        D = _smooth(points, ratio, at)
    bound = float(D.max()) / np.cos(step / 2)
    return float(np.log(max(bound, 1.0))), peaks


def _peaks(at: Floats, D: Floats) -> Floats:
    """Return where D has local maxima close to one or above, by a parabola through three values."""
    padded = np.r_[-np.inf, D, -np.inf]
    top = np.flatnonzero((padded[:-2] <= D) & (padded[2:] <= D) & (D > 1 - 1e-3))
    inner = top[(top > 0) & (top < len(at) - 1)]
    left, right = at[inner] - at[inner - 1], at[inner + 1] - at[inner]
    slope_left, slope_right = (D[inner] - D[inner - 1]) / left, (D[inner + 1] - D[inner]) / right
    curved = slope_left - slope_right
    shift = np.zeros(len(inner))
    np.divide(slope_left * right + slope_right * left, 2 * curved, out=shift, where=curved > 0)
    ends = at[top[(top == 0) | (top == len(at) - 1)]]
    return np.unique(np.concatenate([at[inner] + np.clip(shift, -left, right), ends]))


def _fine_grid(points: Floats) -> Floats:
    """Return a grid of the range of the points, but for where it is empty."""
    cells = np.unique(np.floor(points / _WINDOW))
    cells = np.unique(np.concatenate([cells - 1, cells, cells + 1]))
    within = np.arange(0, _WINDOW, _FINE)
    grid = np.unique((cells[:, None] * _WINDOW + within).clip(points[0], points[-1]))
    return grid
