"""Penalised likelihoods of given columns, fitted one at a time by Newton's method.

Minimise over b0 and b the sum over rows of w l(y, offset + b0 + Z_S b), and 1/2 ridge |b|^2, with
the columns of Z centred (if there is an intercept) and of unit norm under the weights.
"""

import math
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.special import expit, xlogy


def standardise(X, weights=None, intercept=True):
    """Return the columns of Z: centred, divided by the root of their weighted sum of squares."""
    X = np.asarray(X, dtype=float)
    w = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=float)
    if intercept:
        X = X - np.average(X, axis=0, weights=w)
        X = X - np.average(X, axis=0, weights=w)  # for what rounding has left
    largest = np.abs(X[w > 0]).max(axis=0)
    X = X / np.where(largest > 0, largest, 1)  # squares may overflow
    norms = np.sqrt(w @ X**2)
    return X / np.where(norms > 0, norms, 1)


def row_losses(loss, eta, y):
    """Return what each row loses; of Poisson, more than a perfect fit would."""
    if loss == "logistic":
        return np.logaddexp(0, eta) - y * eta
    return np.exp(eta) - y * eta + xlogy(y, y) - y


def nll(loss, eta, y, weights=None):
    """Return the negative log-likelihood, rows counted by their weight."""
    losses = row_losses(loss, eta, y)
    return float(losses.sum() if weights is None else losses[weights > 0] @ weights[weights > 0])


class Fit(NamedTuple):
    """A minimum: its energy, and the part of it that is negative log-likelihood."""

    energy: float
    nll: float
    intercept: float  # of the columns of Z
    beta: np.ndarray
    eta: np.ndarray


def refit(loss, Z, y, support, *, ridge=0.0, weights=None, offset=None, intercept=True):
    """Fit the columns of a support by Newton's method, steps halved until the energy falls."""
    y = np.asarray(y, dtype=float)
    n = len(y)
    w = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    offset = np.zeros(n) if offset is None else offset
    A = Z[:, list(support)]
    tau = np.full(A.shape[1], float(ridge))
    if intercept:
        A, tau = np.column_stack([np.ones(n), A]), np.concatenate([[0.0], tau])
    b = np.zeros(A.shape[1])
    if intercept:
        mean = np.average(y, weights=w)
        b[0] = math.log(mean / (1 - mean)) if loss == "logistic" else math.log(mean)
        b[0] -= np.average(offset, weights=w)

    def energy_of(b):
        with np.errstate(over="ignore", invalid="ignore"):
            value = nll(loss, offset + A @ b, y, w) + 0.5 * tau @ b**2
        return value if np.isfinite(value) else math.inf

    energy = energy_of(b)
    rows = w > 0  # the others may be anywhere
    for _ in range(200):
        eta = np.where(rows, offset + A @ b, 0.0)
        mean = expit(eta) if loss == "logistic" else np.exp(eta)
        curvature = w * (expit(eta) * expit(-eta) if loss == "logistic" else mean)
        slope = A.T @ (w * (y - mean)) - tau * b
        hessian = A.T @ (curvature[:, None] * A) + np.diag(tau)
        step = np.linalg.lstsq(hessian, slope, rcond=None)[0]
        if not slope @ step > 1e-26:
            break
        length = 1.0
        while not energy_of(b + length * step) < energy and length > 1e-12:
            length /= 2
        if length <= 1e-12:
            break
        b = b + length * step
        energy = energy_of(b)
    eta = offset + A @ b
    first = int(intercept)
    return Fit(energy, nll(loss, eta, y, w), b[0] if intercept else 0.0, b[first:], eta)


def all_energies(loss, Z, y, forced=(), **how):
    """Return the energy of every support that holds the forced columns."""
    free = [j for j in range(Z.shape[1]) if j not in forced]
    supports = [
        tuple(sorted((*forced, *some)))
        for size in range(len(free) + 1)
        for some in combinations(free, size)
    ]
    return {support: refit(loss, Z, y, support, **how).energy for support in supports}


def best_subsets(energies):
    """Return the least energy of every size and its support, the smallest first."""
    sizes = sorted({len(support) for support in energies})
    return [
        min((value, support) for support, value in energies.items() if len(support) == size)
        for size in sizes
    ]


def evidence(loss, y, weights=None):
    """Return m of EBIC: the weight of the rarer class, or rows up to the sum of counts."""
    w = np.ones(len(y)) if weights is None else weights
    if loss == "logistic":
        return min(w @ y, w @ (1 - y))
    return min(w.sum(), w @ y)


def criterion(name, value, k, n, p, m, f=0):
    """Return a criterion of k variables out of p, f of them always in, by their NLL."""
    if name == "bic":
        return 2 * value + k * math.log(n)
    if name == "ric":
        return 2 * value + 2 * k * math.log(p)
    chosen, choices = k - f, p - f
    charge = f * math.log(n)
    if chosen == 0:
        return 2 * value + charge
    if m <= k + 2:
        return math.inf
    r = (k + 2) / (m - k - 2)
    price = chosen * math.log(n) + 2 * math.log(math.comb(choices, min(chosen, choices // 2)))
    return 2 * value + charge + (1 + 2 * r**3) * price


def fold_errors(loss, X, y, split, lams, score, *, weights=None, offset=None, ridge=0.0, forced=()):
    """Return the size and the test error of the best subset of a fold at every lam of all rows.

    The price is that of all rows per unit of weight. ``score`` takes predictors, responses and
    weights of the test rows.
    """
    w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    train, test = split
    inside = np.where(np.isin(np.arange(len(y)), train), w, 0.0)
    Z = standardise(X, inside)
    how = {"ridge": ridge, "weights": inside, "offset": offset}
    energies = all_energies(loss, Z, y, forced, **how)
    share = inside.sum() / w.sum()
    out = []
    for lam in lams:
        best = min(energies, key=lambda support: energies[support] + lam * share * len(support))
        eta = refit(loss, Z, y, best, **how).eta
        out.append((len(best), score(eta[test], y[test], w[test])))
    return out
