"""The spike-and-slab posterior over sets of groups to the letter.

Every set of groups, the density of y under it by linear algebra on n by n matrices, and the prior
as what it says: one coin after the other, parents before children, integrated over theta by
quadrature. Variances that are learned are integrated over a grid of their logarithms.
"""

from itertools import product

import numpy as np
from scipy import integrate, stats
from scipy.special import logsumexp

from reference.spike_slab import coefficients, log_density


def has_parents(unit, inside, parents, strong):
    """Whether a unit may be in."""
    of = parents[unit] if parents else []
    return not of or (all if strong else any)(inside[parent] for parent in of)


def coins(inside, theta, parents, strong, forced=()):
    """Return the probability of a set: a coin for every unit that may be in, given the others."""
    value = 1.0
    for unit, is_in in enumerate(inside):
        if unit in forced:
            value *= is_in
        elif has_parents(unit, inside, parents, strong):
            value *= theta[unit] if is_in else 1 - theta[unit]
        else:
            value *= not is_in
    return value


def prior_of(inside, theta, parents=None, strong=True, forced=()):
    """Return the probability of a set; theta is given, one per unit, or (a, b) if learned."""
    count = len(inside)
    if not isinstance(theta, tuple):
        return coins(inside, np.broadcast_to(theta, count), parents, strong, forced)
    beta = stats.beta(*theta)

    def density(x):
        return beta.pdf(x) * coins(inside, np.full(count, x), parents, strong, forced)

    return integrate.quad(density, 0, 1, epsabs=1e-13, epsrel=1e-11)[0]


def basis(Z):
    """Return an orthonormal basis of some columns, and what turns its coefficients into theirs."""
    Q, R = np.linalg.qr(Z)
    return Q, np.linalg.inv(R)


def posterior(
    Z,
    y,
    groups,
    *,
    degrees,
    slab,
    s2_grid,
    tau_grid,
    theta,
    g=1.0,
    parents=None,
    strong=True,
    forced=(),
    scales=None,
):
    """Sum over sets of groups, and over grids of (value, log weight) of s2 and tau.

    The slab is N(0, s2 / tau * scale^2) in the orthonormal basis of each group, or N(0, s2 g
    G_S^-1). Returns inclusion probabilities by group, means and standard deviations by column, the
    mass of every set, and the log of the density of y.
    """
    p, count = Z.shape[1], len(groups)
    scales = np.ones(count) if scales is None else scales
    tables = {}
    for inside in product([False, True], repeat=count):
        before = prior_of(inside, theta, parents, strong, forced)
        if before == 0:
            continue
        units = [unit for unit in range(count) if inside[unit]]
        parts = [basis(Z[:, groups[unit]]) for unit in units]
        scaled = [scales[unit] * part[0] for unit, part in zip(units, parts, strict=True)]
        W = np.column_stack([np.empty((len(y), 0)), *scaled])
        back = np.zeros((p, W.shape[1]))
        at = 0
        for unit, part in zip(units, parts, strict=True):
            width = len(groups[unit])
            back[groups[unit], at : at + width] = scales[unit] * part[1]
            at += width
        rows = []
        for s2, s2_weight in zip(*s2_grid, strict=True):
            for tau, tau_weight in zip(*tau_grid(s2), strict=True):
                precision = W.T @ W / g if slab == "zellner" else tau * np.eye(W.shape[1])
                mean, covariance, _ = coefficients(W, y, precision)
                value = np.log(before) + s2_weight + tau_weight
                value += log_density(W, y, degrees, s2, precision)
                mean = back @ mean
                rows.append((value, mean, mean**2 + s2 * np.diag(back @ covariance @ back.T)))
        tables[inside] = rows
    total = logsumexp([row[0] for rows in tables.values() for row in rows])
    inclusion, mean, square = np.zeros(count), np.zeros(p), np.zeros(p)
    masses = {}
    for inside, rows in tables.items():
        weights = np.exp(np.array([row[0] for row in rows]) - total)
        masses[inside] = weights.sum()
        inclusion[list(inside)] += weights.sum()
        for weight, row in zip(weights, rows, strict=True):
            mean += weight * row[1]
            square += weight * row[2]
    return inclusion, mean, np.sqrt(square - mean**2), masses, total
