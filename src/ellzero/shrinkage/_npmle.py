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

import numpy as np
from threadpoolctl import threadpool_limits

from ellzero._normal_means.rule import Floats
from ellzero.shrinkage._binning import merge_points
from ellzero.shrinkage._npmle_condition import density, find_excess
from ellzero.shrinkage._npmle_masses import Sample, maximise

__all__ = ["Mixture", "fit_mixture"]

_GRID = 0.25
_AWAY = 0.002  # centres that are nearer to a peak of D are on their way to it
_COARSE = 0.1  # cells of the points for what need not be exact
_NEGLIGIBLE = 1e-10  # a mass that counts as zero, unless the shares of points are as small
_MOST_CENTRES = 20_000


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
    coarse = Sample(*merge_points(points, shares, _COARSE))
    fine = Sample(points, shares)
    # The systems are small: threads would wait for each other most of the time.
    with threadpool_limits(1, user_api="blas"):
        start = _improve(coarse, coarse, _first_grid(points), 1e-5, max_rounds)
        mixture = _improve(fine, coarse, start.centres, tol, max_rounds)
        mixture = _simplify(fine, mixture, tol)
    return replace(mixture, rounds=start.rounds + mixture.rounds)


def _simplify(sample: Sample, mixture: Mixture, tol: float) -> Mixture:
    """Drop light centres and merge those that stand for one, if the certificate allows."""
    kept = mixture.masses > 0.01 * sample.shares.min()
    all_centres, all_masses = mixture.centres[kept], mixture.masses[kept]
    for spacing in (0.3, 0.1, 0.03, 0.01):
        index = np.cumsum(np.r_[True, np.diff(all_centres) > spacing]) - 1
        masses: Floats = np.bincount(index, all_masses).astype(np.float64)
        centres = np.bincount(index, all_masses * all_centres) / masses
        masses /= masses.sum()
        gap, _ = _certify(sample, centres, masses)
        if gap <= max(tol, mixture.gap):
            return replace(mixture, centres=centres, masses=masses, gap=gap)
    return mixture


def _improve(
    sample: Sample, coarse: Sample, centres: Floats, tol: float, max_rounds: int
) -> Mixture:
    best, rounds, since = None, 0, 0
    while True:
        rounds, since = rounds + 1, since + 1
        masses = maximise(sample, coarse, centres)
        kept = masses > min(_NEGLIGIBLE, 1e-4 * sample.shares.min())
        centres, masses = centres[kept], masses[kept] / masses[kept].sum()
        gap, peaks = _certify(sample, centres, masses)
        if best is None or gap < best.gap:
            best, since = Mixture(centres, masses, gap, rounds), 0
        # Centres that are nearly the same limit what rounding allows; then more rounds don't help.
        if best.gap <= tol or rounds >= max_rounds or since == 4:
            return replace(best, rounds=rounds)
        padded = np.r_[-np.inf, peaks, np.inf]
        place = np.searchsorted(peaks, centres)
        away = np.minimum(centres - padded[place], padded[place + 1] - centres)
        centres = np.unique(np.concatenate([centres[away > _AWAY], peaks]))


def _first_grid(points: Floats) -> Floats:
    """Return a grid where there are points."""
    spacing = _GRID
    while True:
        cells = np.unique(np.round(points / spacing))
        if len(cells) <= _MOST_CENTRES:
            return np.clip(cells * spacing, points[0], points[-1])
        spacing *= 1.5


def _certify(sample: Sample, centres: Floats, masses: Floats) -> tuple[float, Floats]:
    """Return a bound of ``log max D``, and where D has its peaks."""
    points, shares = sample
    return find_excess(points, shares / density(centres, masses, points))
