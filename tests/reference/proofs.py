"""What proofs are held against: all supports, and the bound as it is written.

The problem, over b with at most ``cap`` entries that are not zero:

    f(b) = half_yy - c'b + 1/2 b'G b + sum of the prices of the entries that are not zero
"""

from fractions import Fraction
from itertools import combinations

import numpy as np


def energies_of_all(gram, c, half_yy):
    """Return min over b of half_yy - c'b + 1/2 b'Gb for every support, as a dict of masks.

    One column eliminated after the other, in extended precision where the machine has it.
    """
    out = {}

    def visit(mask, first, gram, c, energy):
        out[mask] = float(energy)
        for j in range(first, len(c)):
            pivot = gram[j, j]
            if not pivot > 0:
                out[mask | 1 << j] = np.nan  # depends on the others to within rounding
                continue
            row = gram[j]
            visit(
                mask | 1 << j,
                j + 1,
                gram - np.outer(row, row) / pivot,
                c - row * (c[j] / pivot),
                energy - c[j] ** 2 / (2 * pivot),
            )

    wide = np.longdouble
    visit(0, 0, np.asarray(gram, wide), np.asarray(c, wide), wide(half_yy))
    return out


def exact_energy(gram, c, half_yy, support):
    """The same for one support, in fractions; None if its columns depend on each other."""
    rows = [
        [*(Fraction(float(gram[i, j])) for j in support), Fraction(float(c[i]))] for i in support
    ]
    for k, row in enumerate(rows):
        if row[k] == 0:
            return None
        for i, other in enumerate(rows):
            if i != k:
                factor = other[k] / row[k]
                rows[i] = [a - factor * b for a, b in zip(other, row, strict=True)]
    b = [row[-1] / row[k] for k, row in enumerate(rows)]
    return (
        Fraction(half_yy)
        - sum(Fraction(float(c[i])) * value for i, value in zip(support, b, strict=True)) / 2
    )


def best_in(energies, price, cap, inside, free):
    """Return the least value over supports that have ``inside`` and some of ``free``."""
    best = np.inf
    for k in range(min(len(free), cap - len(inside)) + 1):
        for chosen in combinations(sorted(free), k):
            support = [*inside, *chosen]
            value = energies.get(sum(1 << j for j in support), np.nan)
            if np.isfinite(value):
                best = min(best, value + sum(price[j] for j in support))
    return best


def bound(gram, c, half_yy, price, cap, inside, free, u, d):
    """The bound of a node, in extended precision; ``u`` and ``d`` by column."""
    columns = [*inside, *free]
    wide = np.longdouble
    at, own = (np.array([some[j] for j in columns], wide) for some in (u, d))
    Q = np.asarray(gram, wide)[np.ix_(columns, columns)] - np.diag(own)
    assert np.linalg.eigvalsh(Q.astype(float)).min(initial=0) > -1e-12
    v = np.asarray(c, wide)[columns] - Q @ at
    t = v**2 / (2 * own)
    value = wide(half_yy) - at @ Q @ at / 2
    value += sum(price[j] - t[i] for i, j in enumerate(columns) if j in inside)
    gains = sorted((max(0, t[i] - price[j]) for i, j in enumerate(columns) if j in free))[::-1]
    return float(value - sum(gains[: cap - len(inside)]))
