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


def exactly_best_in(gram, c, half_yy, price, cap, inside, free):
    """The same in fractions."""
    values = []
    for k in range(min(len(free), cap - len(inside)) + 1):
        for chosen in combinations(sorted(free), k):
            support = [*inside, *chosen]
            energy = exact_energy(gram, c, half_yy, support)
            if energy is not None:
                values.append(energy + sum(Fraction(float(price[j])) for j in support))
    return min(values)


def bound(gram, c, half_yy, price, cap, inside, free, u, d):
    """The bound of a node, in fractions; ``u`` and ``d`` by column."""
    columns = [*inside, *free]
    Q = gram[np.ix_(columns, columns)] - np.diag([d[j] for j in columns])
    assert np.linalg.eigvalsh(Q).min(initial=0) > -1e-12
    at, own = ({j: Fraction(some[j]) for j in columns} for some in (u, d))
    v = {}
    for i in columns:
        product = sum(Fraction(float(gram[i, j])) * at[j] for j in columns)
        v[i] = Fraction(float(c[i])) - product + own[i] * at[i]
    t = {i: v[i] ** 2 / (2 * own[i]) for i in columns}
    # u'Qu = u'(c - v)
    value = Fraction(half_yy) - sum(at[i] * (Fraction(float(c[i])) - v[i]) for i in columns) / 2
    value += sum(Fraction(float(price[j])) - t[j] for j in inside)
    gains = sorted((max(Fraction(0), t[j] - Fraction(float(price[j]))) for j in free), reverse=True)
    return value - sum(gains[: cap - len(inside)])
