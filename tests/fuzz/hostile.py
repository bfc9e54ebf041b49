"""Tables that are hard on numerical code: tiny, dependent, far from zero, of any scale."""

from typing import NamedTuple

import numpy as np


class Table(NamedTuple):
    """What a regression is given."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None
    intercept: bool
    ridge: float
    forced: list[int]

    def options(self):
        return {
            "ridge": self.ridge,
            "always_include": self.forced or None,
            "fit_intercept": self.intercept,
        }


def columns(rng, n, p):
    kind = rng.integers(5)
    if kind == 0:
        X = rng.normal(size=(n, p))
    elif kind == 1:
        X = rng.integers(-2, 3, (n, p)).astype(float)
    elif kind == 2:
        X = rng.integers(0, 2, (n, p)).astype(float)
    elif kind == 3:
        X = rng.normal(size=(n, 1)) + 10 ** rng.uniform(-4, 0) * rng.normal(size=(n, p))
    else:
        X = np.cumsum(rng.normal(size=(n, p)), axis=0)
    for j in range(p):
        other, third, chance = rng.integers(p), rng.integers(p), rng.random()
        if chance < 0.08:
            X[:, j] = rng.choice([-1.0, 1.0, 3.0]) * X[:, other]
        elif chance < 0.14:
            X[:, j] = rng.choice([0.0, 1.0, 0.1])
        elif chance < 0.24:
            X[:, j] = X[:, other] + 10 ** rng.uniform(-12, -1) * rng.normal(size=n)
        elif chance < 0.28:
            X[:, j] = X[:, other] + X[:, third]
    return X


def response(rng, X):
    n, p = X.shape
    kind = rng.integers(8)
    beta = np.where(rng.random(p) < 0.5, rng.normal(size=p), 0.0)
    if kind == 0:
        y = rng.normal(size=n)
    elif kind in (1, 2):
        y = X @ beta + 10 ** rng.uniform(-8, 0.5) * rng.normal(size=n)
    elif kind == 3:
        y = rng.choice([1.0, -2.0, 0.3]) * X[:, rng.integers(p)]
    elif kind == 4:
        y = X @ np.round(beta)
    elif kind == 5:
        y = rng.integers(0, 3, n).astype(float)
    elif kind == 6:  # of columns that have something in common, which pay only together
        y = X @ (beta - beta.mean()) + 10 ** rng.uniform(-5, -1) * rng.normal(size=n)
    else:
        y = np.where(np.arange(n) == rng.integers(n), 1.0, 0.0) * rng.integers(0, 2)
    return y


def any_scale(rng):
    return 10 ** rng.uniform(-100, 100)


def some_weights(rng, n):
    """Frequencies, of which some may be zero but not all; None for none."""
    if rng.random() < 0.65:
        return None
    weights = rng.integers(0, 4, n) if rng.random() < 0.6 else 3 * rng.exponential(size=n)
    if np.count_nonzero(weights) < 2 or weights.sum() < 1:
        return None
    return weights.astype(float)


def table(rng, *, most_rows=12, most_columns=8, plain=False):
    """Draw a table; a plain one has no odd scales, and no weights or forced columns."""
    n, p = int(rng.integers(2, most_rows + 1)), int(rng.integers(1, most_columns + 1))
    X = columns(rng, n, p)
    y = response(rng, X)
    intercept = bool(rng.random() < 0.75)
    ridge = 0.0 if rng.random() < 0.6 else float(10 ** rng.uniform(-9, 3))
    if plain:
        return Table(X, y, None, intercept, ridge, [])
    if rng.random() < 0.2:
        X = X + 10 ** rng.uniform(0, 7, p) * rng.choice([-1, 1], p)
    if rng.random() < 0.2:
        y = y + 10 ** rng.uniform(0, 6)
    if rng.random() < 0.25:
        X = X * 10 ** rng.uniform(-100, 100, p)
    if rng.random() < 0.35:
        y = y * any_scale(rng)
    forced = []
    if rng.random() < 0.2:
        forced = sorted(rng.choice(p, int(rng.integers(1, min(p, 2) + 1)), replace=False).tolist())
    return Table(X, y, some_weights(rng, n), intercept, ridge, forced)
