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


def best_subsets(Z, y, ridge=0.0):
    """Return the best support of every size, and its energy: all 2^p of them are tried."""
    p = Z.shape[1]
    best = []
    for k in range(p + 1):
        scored = [(energy(Z, y, s, ridge), s) for s in combinations(range(p), k)]
        best.append(min(scored))
    return best
