"""The condition that tells whether a mixture of unit normals is the most likely one.

    D(t) = sum_i r_i phi(u_i - t),    r_i = w_i / f(u_i),

must be at most one for all t. It is expanded around the middles c of cells of half a unit,

    D(t) = sum_k (t - c)^k / k!  sum_i r_i He_k(u_i - c) phi(u_i - c),

He_k Hermite's polynomials: a few numbers for each cell, and D is known everywhere in it. The terms
beyond are below rounding, since ``|He_k phi| <= 1.09 sqrt(k!)`` (Cramer).
"""

from __future__ import annotations

import numpy as np

from ellzero._normal_means.rule import Floats

__all__ = ["WINDOW", "density", "find_excess"]

WINDOW = 9.0  # phi is taken as zero beyond: exp(-40)
_CELL = 0.5
_TERMS = 16  # 0.25^16 / sqrt(16!) is 5e-17
_NEAR = 3  # cells: at a maximum of D there is a point within a unit
_CELLS = 8  # at a time
_STEPS, _FINE_STEPS = 25, 501  # in a cell


def density(centres: Floats, masses: Floats, at: Floats) -> Floats:
    """Return ``sum_j masses_j phi(at - centres_j)``, up to phi's constant; both ascending."""
    out = np.empty_like(at)
    rows = 256
    for begin in range(0, len(at), rows):
        some = at[begin : begin + rows]
        low, high = np.searchsorted(centres, [some[0] - WINDOW, some[-1] + WINDOW])
        off = some - centres[low:high, None]
        out[begin : begin + rows] = masses[low:high] @ np.exp(-0.5 * off**2)
    return out


def find_excess(points: Floats, ratio: Floats) -> tuple[float, Floats]:
    """Return a bound of ``log max D``, and where D has peaks close to one or above.

    ``D'' >= -D``, since D is a sum of normal densities; so around a maximum D falls no faster than
    a cosine, and is nowhere more than ``1 / cos(h / 2)`` times its largest value on a grid of
    spacing h. D has its maxima within a unit of points: at one, ``D'' <= 0``, and a point further
    away than a unit adds to D''.
    """
    cells = np.unique(np.round(points / _CELL))
    cells = np.unique(cells[:, None] + np.arange(-_NEAR, _NEAR + 1))
    terms = _expand(points, ratio, cells * _CELL)
    offsets = _CELL * (np.arange(_STEPS) - _STEPS // 2) / _STEPS
    D = terms @ _powers(offsets)
    step = _CELL / _STEPS
    at = (cells[:, None] * _CELL + offsets).ravel()
    peaks = _peaks(at, D.ravel()).clip(points[0], points[-1])
    if D.max() < 1 + 1e-3:
        # Nearly there: twenty times as fine a grid wherever D may exceed one.
        step = _CELL / _FINE_STEPS
        offsets = _CELL * (np.arange(_FINE_STEPS) - _FINE_STEPS // 2) / _FINE_STEPS
        D = terms[D.max(axis=1) > 1 - 1e-4] @ _powers(offsets)
    bound = float(D.max(initial=0.0)) / np.cos(step / 2)
    return float(np.log(max(bound, 1.0))), np.unique(peaks)


def _expand(points: Floats, ratio: Floats, middles: Floats) -> Floats:
    """Return the coefficients of powers of t - c, a row for every middle c; both ascending."""
    out = np.empty((len(middles), _TERMS))
    for begin in range(0, len(middles), _CELLS):
        some = middles[begin : begin + _CELLS, None]
        low, high = np.searchsorted(points, [some[0, 0] - WINDOW, some[-1, 0] + WINDOW])
        off = points[low:high] - some
        # h_k = He_k phi / k!, by h_{k+1} = (x h_k - h_{k-1}) / (k + 1)
        before, term, after = np.zeros_like(off), np.square(off), np.empty_like(off)
        term *= -0.5
        np.exp(term, out=term)
        term *= ratio[low:high]
        ones = np.ones(off.shape[1])
        for k in range(_TERMS):
            out[begin : begin + _CELLS, k] = term @ ones
            np.multiply(off, term, out=after)
            after -= before
            after *= 1 / (k + 1)
            before, term, after = term, after, before
    return out


def _powers(offsets: Floats) -> Floats:
    return np.vander(offsets, _TERMS, increasing=True).T


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
    return np.concatenate([at[inner] + np.clip(shift, -left, right), ends])
