"""Penalised likelihoods of given groups of columns, fitted one set at a time by Newton's method.

Minimise over b0 and b the sum over rows of w l(y, offset + b0 + X_S b), and 1/2 ridge times the sum
over the groups g of S of w'(X_g b_g - its mean)^2: that does not depend on how a group is coded.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.special import expit

from reference.groups import Model, is_closed
from reference.likelihood import nll, standardise


def basis_of(X, group, weights, intercept=True):
    """Return an orthonormal basis, under the weights, of what the centred columns span."""
    root = np.sqrt(weights)[:, None]
    Z = standardise(X[:, group], weights, intercept)
    Z = Z[:, np.linalg.norm(root * Z, axis=0) > 0.5]  # the others are constant
    _, spread, right = np.linalg.svd(root * Z, full_matrices=False)
    kept = spread > 1e-5 * max(spread.max(initial=0), 1e-300)
    return Z @ right[kept].T / spread[kept]


def fit(loss, X, y, groups, *, ridge=0.0, weights=None, offset=None, intercept=True):
    """Return the rank, the energy, the NLL and the predictors of some groups of columns."""
    y = np.asarray(y, dtype=float)
    w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    known = np.zeros(len(y)) if offset is None else offset
    blocks = [basis_of(X, group, w, intercept) for group in groups]
    Z = np.column_stack([np.empty((len(y), 0)), *blocks])
    rank = int(np.linalg.matrix_rank(np.sqrt(w)[:, None] * Z, tol=1e-5)) if Z.shape[1] else 0
    A = np.column_stack([np.ones(len(y)), Z]) if intercept else Z
    tau = np.full(A.shape[1], ridge)
    b = np.zeros(A.shape[1])
    if intercept:
        tau[0] = 0
        mean = np.average(y, weights=w)
        b[0] = np.log(mean / (1 - mean)) if loss == "logistic" else np.log(mean)
        b[0] -= np.average(known, weights=w)

    def energy_of(b):
        with np.errstate(over="ignore", invalid="ignore"):
            value = nll(loss, known + A @ b, y, w) + 0.5 * tau @ b**2
        return value if np.isfinite(value) else np.inf

    energy = energy_of(b)
    for _ in range(200):
        eta = np.where(w > 0, known + A @ b, 0.0)
        mean = expit(eta) if loss == "logistic" else np.exp(eta)
        curvature = w * (mean * (1 - mean) if loss == "logistic" else mean)
        slope = A.T @ (w * (y - mean)) - tau * b
        step = np.linalg.lstsq(A.T @ (curvature[:, None] * A) + np.diag(tau), slope, rcond=1e-12)[0]
        if not slope @ step > 1e-24:
            break
        length = 1.0
        while not energy_of(b + length * step) < energy and length > 1e-12:
            length /= 2
        if length <= 1e-12:
            break
        b = b + length * step
        energy = energy_of(b)
    eta = known + A @ b
    return rank, energy, nll(loss, eta, y, w), eta


def coefficients(X, columns, eta):
    """Return the coefficients of independent columns that give some predictors."""
    coef = np.zeros(X.shape[1])
    A = np.column_stack([np.ones(len(X)), X[:, columns]])
    coef[columns] = np.linalg.lstsq(A, eta, rcond=None)[0][1:]
    return coef


def all_models(
    loss,
    X,
    y,
    groups,
    *,
    ridge=0.0,
    weights=None,
    price=None,
    parents=None,
    strong=True,
    caps=(),
    signs=None,
    forced=(),
):
    """Return every set of groups that keeps the rules, fitted: see `reference.groups`."""
    found = []
    for size in range(len(groups) + 1):
        for units in combinations(range(len(groups)), size):
            if not set(forced) <= set(units) or not is_closed(units, parents, strong):
                continue
            if any(len(set(of) & set(units)) > limit for of, limit in caps):
                continue
            own = [groups[u] for u in units]
            rank, energy, _, eta = fit(loss, X, y, own, ridge=ridge, weights=weights)
            coef = coefficients(X, [j for group in own for j in group], eta)
            if signs is not None and np.any(np.asarray(signs) * coef < 0):
                continue
            cost = sum(1.0 if price is None else price[u] for u in units if u not in forced)
            found.append(Model(units, rank, cost, energy, coef))
    return found
