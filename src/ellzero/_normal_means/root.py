"""Inverting an increasing function at many points at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ellzero._normal_means.rule import Floats

__all__ = ["invert_increasing"]

_MOST_STEPS = 200


def invert_increasing(
    function: Callable[[Floats], tuple[Floats, Floats]],
    target: Floats,
    start: Floats,
    at_least: Floats | None = None,
) -> Floats:
    """Solve ``function(u) = target`` by Newton's method, kept inside a bracket.

    Parameters
    ----------
    function : callable
        Returns the values and the derivatives at an array of points; increasing.
    target, start : ndarray
        What to reach, and from where.
    at_least : ndarray or None
        Points known not to lie above the solutions. Found by doubling steps if not given.

    Returns
    -------
    ndarray
        To the last digits that the function's own rounding allows.
    """
    low, high = _bracket(function, target, start, at_least)
    out = np.clip(start, low, high)
    left = np.arange(len(target))
    for _ in range(_MOST_STEPS):
        if not left.size:
            break
        at = out[left]
        value, slope = function(at)
        excess = value - target[left]
        low[left] = np.where(excess <= 0, np.maximum(low[left], at), low[left])
        high[left] = np.where(excess >= 0, np.minimum(high[left], at), high[left])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            newton = at - excess / slope
        inside = (newton > low[left]) & (newton < high[left])
        following = np.where(inside, newton, _middle(low[left], high[left]))
        moved = np.abs(following - at)
        out[left] = np.where(excess == 0, at, following)
        # Once a step is down to rounding, another would be rounding too.
        done = (excess == 0) | (moved <= 4e-16 * np.abs(at))
        done |= high[left] - low[left] <= 4e-16 * np.abs(high[left])
        left = left[~done]
    return out


def _middle(low: Floats, high: Floats) -> Floats:
    """Halve the bracket: geometrically if its ends differ in magnitude, else arithmetically."""
    with np.errstate(invalid="ignore"):
        wide = (low > 0) & (high > 4 * low)
        return np.where(wide, np.sqrt(np.abs(low)) * np.sqrt(np.abs(high)), low + (high - low) / 2)


def _bracket(
    function: Callable[[Floats], tuple[Floats, Floats]],
    target: Floats,
    start: Floats,
    at_least: Floats | None,
) -> tuple[Floats, Floats]:
    ends = []
    for sign in (-1.0, 1.0):
        if sign < 0 and at_least is not None:
            ends.append(at_least.astype(np.float64))
            continue
        end = start.copy()
        step = np.maximum(1e-3, 1e-3 * np.abs(start))
        left = np.arange(len(target))
        while left.size:
            short = sign * (function(end[left])[0] - target[left]) < 0
            left = left[short]
            end[left] += sign * step[left]
            step[left] *= 3
        ends.append(end)
    return ends[0], ends[1]
