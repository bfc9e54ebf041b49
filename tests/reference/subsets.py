"""Least squares on given columns, one regression at a time."""

from itertools import combinations

import numpy as np


def preprocess(X, y, *, weights=None, intercept=True):
    """Return centred, unit-norm columns and centred y, rows times the root of their weight."""
    w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    if intercept:
        X = X - np.average(X, axis=0, weights=w)
        y = y - np.average(y, weights=w)
    Z = X * np.sqrt(w)[:, None]
    norms = np.linalg.norm(Z, axis=0)
    return Z / np.where(norms > 0, norms, 1), y * np.sqrt(w)


def solve(Z, y, support, ridge=0.0):
    """Return beta and the energy 1/2 |y - Z_S beta|^2 + 1/2 sum ridge beta^2."""
    support = list(support)
    tau = np.broadcast_to(np.asarray(ridge, dtype=float), Z.shape[1])[support]
    stacked = np.vstack([Z[:, support], np.diag(np.sqrt(tau))])
    target = np.concatenate([y, np.zeros(len(support))])
    beta = np.linalg.lstsq(stacked, target, rcond=None)[0]
    residual = target - stacked @ beta
    return beta, 0.5 * residual @ residual


def energy(Z, y, support, ridge=0.0):
    return solve(Z, y, support, ridge)[1]


def best_subsets(Z, y, ridge=0.0, forced=()):
    """Return the best support of every size, and its energy: all that hold the forced are tried."""
    free = [j for j in range(Z.shape[1]) if j not in forced]
    best = []
    for k in range(len(free) + 1):
        supports = [tuple(sorted((*forced, *s))) for s in combinations(free, k)]
        scored = [(energy(Z, y, s, ridge), s) for s in supports]
        best.append(min(scored))
    return best


class AllSubsets:
    """The energy of every subset, one column projected out after the other.

    In extended precision where the machine has it, and twice, so that columns that nearly depend on
    each other cost no digits. A column (or y) whose spread is down to rounding is all zero.
    """

    def __init__(self, X, y, *, weights=None, intercept=True, ridge=0.0):
        X, y = (np.asarray(part, dtype=np.longdouble) for part in (X, y))
        w = np.ones(len(y)) if weights is None else weights
        w = np.asarray(w, dtype=np.longdouble)
        p = X.shape[1]
        self.Z = np.column_stack([self._prepare(column, w, intercept, True) for column in X.T])
        self.y = self._prepare(y, w, intercept, False)
        self.total = float(self.y @ self.y)
        self.energies, self._bases = {}, {}
        stacked = np.vstack([self.Z, np.sqrt(np.longdouble(ridge)) * np.eye(p)])
        self._visit((), stacked, np.concatenate([self.y, np.zeros(p)]), [], [])

    @staticmethod
    def _prepare(column, w, intercept, scaled):
        rounding = 8 * np.finfo(float).eps * abs((w * column).sum() / w.sum()) * np.sqrt(w.sum())
        for _ in range(2 * intercept):
            column = column - (w * column).sum() / w.sum()
        column = column * np.sqrt(w)
        largest = np.abs(column).max()
        if not largest > 0:
            return np.zeros_like(column)
        norm = largest * np.sqrt(((column / largest) ** 2).sum())
        if intercept and norm <= rounding:
            return np.zeros_like(column)
        return column / norm if scaled else column

    def _visit(self, support, columns, residual, basis, rows):
        self.energies[support] = float(0.5 * (residual @ residual))
        self._bases[support] = rows
        for j in range(support[-1] + 1 if support else 0, columns.shape[1]):
            left, row = columns[:, j], []
            for _ in range(2):
                shares = [direction @ left for direction in basis]
                for share, direction in zip(shares, basis, strict=True):
                    left = left - share * direction
                row = shares if not row else [a + b for a, b in zip(row, shares, strict=True)]
            norm = np.sqrt(left @ left)
            if norm > 1e-15:
                left = left / norm
                after = residual - (left @ residual) * left
                after = after - (left @ after) * left
                self._visit((*support, j), columns, after, [*basis, left], [*rows, [*row, norm]])
            else:
                self._visit((*support, j), columns, residual, [*basis, 0 * left], [*rows, None])

    def independence(self, support):
        """Return the least share of a column that the others of a support leave over."""
        rows = self._bases[tuple(support)]
        if any(row is None for row in rows):
            return 0.0
        R = np.zeros((len(rows), len(rows)))
        for j, row in enumerate(rows):
            R[: j + 1, j] = [float(value) for value in row]
        inverse = np.linalg.inv(R)
        return float(1 / (inverse**2).sum(axis=1).max()) if len(rows) else 1.0
