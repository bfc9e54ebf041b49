"""Single best replacement to the letter: every candidate is refitted by least squares."""

import numpy as np

from reference.subsets import energy

# An energy below this share of y'y is that of an exact fit.
EXACT = 1e-14


def objective(Z, y, support, lam, ridge=0.0, forced=()):
    return energy(Z, y, support, ridge) + lam * len(set(support) - set(forced))


def completing(Z, y, current, ridge):
    """Return, of the columns that complete an exact fit, the one that the others explain least.

    Rounding alone tells their objectives apart.
    """
    exact = [
        i
        for i in range(Z.shape[1])
        if i not in current and energy(Z, y, sorted(current | {i}), ridge) <= EXACT * (y @ y)
    ]
    return max(exact, key=lambda i: energy(Z, Z[:, i], sorted(current), ridge))


def sbr(Z, y, lam, *, start=(), ridge=0.0, forced=()):
    """Return the sorted support where SBR stops, and its objective after every replacement."""
    current = set(start) | set(forced)
    value = objective(Z, y, sorted(current), lam, ridge, forced)
    trace = [value]
    while True:
        candidates = [
            (objective(Z, y, sorted(current ^ {i}), lam, ridge, forced), i)
            for i in range(Z.shape[1])
            if i not in forced
        ]
        best, i = min(candidates, default=(np.inf, None))
        if best >= value:
            return sorted(current), trace
        if i not in current and energy(Z, y, sorted(current | {i}), ridge) <= EXACT * (y @ y):
            i = completing(Z, y, current, ridge)
        current ^= {i}
        value = best
        trace.append(value)
