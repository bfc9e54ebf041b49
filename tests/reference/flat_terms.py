"""The spike-and-slab posterior with flat terms, to the letter: nothing is projected or centred.

F, the intercept's ones among its columns, is in every model with coefficients under a flat prior.
Z are the columns to choose from, at the norms that the slab is for. With V = I + Z_S P^-1 Z_S',
the contrasts of y that F leaves have the density

  -1/2 (N log(2 pi s2) + log |V| + log |F'V^-1 F| - log |F'F| + r'V^-1 r / s2),  N = n - rank F,

where r = y - F b is what generalised least squares leaves (Harville 1974), and the coefficients of
F and Z_S together are normal with precision F'F, F'Z_S, Z_S'Z_S + P over s2: ridge 0 on those of F.
"""

from itertools import product

import numpy as np
from scipy.special import logsumexp

from reference.spike_slab import all_supports, log_prior


def log_density(F, Z, y, s2, precision):
    """For an array of s2."""
    n, r = F.shape
    V = np.eye(n)
    if Z.shape[1]:
        V = V + Z @ np.linalg.solve(precision, Z.T)
    inverse = np.linalg.inv(V)
    between = F.T @ inverse @ F
    left = y - F @ np.linalg.solve(between, F.T @ inverse @ y)
    determinants = sum(
        sign * np.linalg.slogdet(matrix)[1]
        for sign, matrix in ((1, V), (1, between), (-1, F.T @ F))
    )
    quadratic = left @ inverse @ left
    return -0.5 * ((n - r) * np.log(2 * np.pi * s2) + determinants + quadratic / s2)


def flat_posterior(F, Z, y, *, precision, grid, theta=None, beta_prior=None, more=0):
    """Sum over models, and over a grid of (tau, values of s2, their log weights).

    ``precision(Z, support, tau)`` is that of the members over s2. Returns inclusion probabilities,
    means and standard deviations of the coefficients of F and of Z, the mass of every support, and
    the log of the evidence. y has so many degrees of freedom ``more`` whose values are zero.
    """
    p, r = Z.shape[1], F.shape[1]
    supports, rows = all_supports(p), []
    for support, (tau, s2, weights) in product(supports, grid):
        P = precision(Z, support, tau)
        X = np.hstack([F, Z[:, support]])
        A = X.T @ X
        A[r:, r:] += P
        places = [*range(r), *(r + j for j in support)]
        mean, variance = np.zeros(r + p), np.zeros(r + p)
        mean[places] = np.linalg.solve(A, X.T @ y)
        variance[places] = np.diag(np.linalg.inv(A))
        values = log_prior(support, p, theta, beta_prior) + weights
        values += log_density(F, Z[:, support], y, s2, P) - 0.5 * more * np.log(2 * np.pi * s2)
        rows.append((values, tuple(support), mean, np.outer(s2, variance)))
    log_evidence = logsumexp(np.concatenate([row[0] for row in rows]))
    masses = dict.fromkeys(map(tuple, supports), 0.0)
    mean, square = np.zeros(r + p), np.zeros(r + p)
    for values, support, m, v in rows:
        shares = np.exp(values - log_evidence)
        masses[support] += shares.sum()
        mean += shares.sum() * m
        square += shares.sum() * m**2 + shares @ v
    inclusion = np.zeros(p)
    for support, mass in masses.items():
        inclusion[list(support)] += mass
    return inclusion, mean, np.sqrt(square - mean**2), masses, log_evidence
