"""The spike-and-slab posterior of a logistic regression by quadrature, slow and obvious."""

from itertools import product

import numpy as np
from scipy import optimize, stats
from scipy.special import gammaln, logsumexp

from reference.spike_slab import all_supports, log_inverse_gamma, log_prior


def draw_polya_gamma(n, z, size, rng, terms=400):
    """A long sum of gammas (Polson, Scott and Windle 2013, eq. 1), the rest by its mean."""
    k = np.arange(1, terms + 1)
    scale = 1 / ((k - 0.5) ** 2 + z**2 / (4 * np.pi**2)) / (2 * np.pi**2)
    return rng.gamma(n, size=(size, terms)) @ scale + polya_gamma_mean(n, z) - n * scale.sum()


def polya_gamma_mean(n, z):
    return n / 4 if z < 1e-8 else n * np.tanh(z / 2) / (2 * z)


def polya_gamma_variance(n, z):
    if z < 1e-3:
        return n / 24
    # (sinh z - z) / cosh(z / 2)^2, without numbers that overflow
    decay = np.exp(-z)
    return n * (2 * (1 - decay**2) - 4 * z * decay) / (1 + decay) ** 2 / (4 * z**3)


def polya_gamma_density(x, n, z, terms=60):
    """The alternating series of Polson, Scott and Windle (2013, eq. 5)."""
    k = np.arange(terms)
    coefficient = np.exp(gammaln(k + n) - gammaln(k + 1) - gammaln(n)) * (-1.0) ** k
    waves = (2 * k + n) / np.sqrt(2 * np.pi * x**3) * np.exp(-((2 * k + n) ** 2) / (8 * x))
    return np.cosh(z / 2) ** n * 2.0 ** (n - 1) * np.exp(-(z**2) * x / 2) * (coefficient @ waves)


def log_slab(beta, spread):
    """Log of the density of coefficients (last axis), their variance given or (shape, rate)."""
    if not isinstance(spread, tuple):
        return stats.norm.logpdf(beta, scale=np.sqrt(spread)).sum(axis=-1)
    # The variance by the trapezoidal rule in its logarithm
    x = np.linspace(-25, 35, 1500) + np.log(spread[1])
    variance = np.exp(x)
    weight = log_inverse_gamma(variance, *spread) + x + np.log(x[1] - x[0])
    square, k = (beta**2).sum(axis=-1)[..., None], beta.shape[-1]
    return logsumexp(
        weight - 0.5 * k * np.log(2 * np.pi * variance) - 0.5 * square / variance, axis=-1
    )


def log_joint(theta, Z, counts, successes, spread, intercept_sd):
    """Of the response and theta = (intercept, coefficients), last axis, but for binomials."""
    psi = theta[..., :1] + theta[..., 1:] @ Z.T
    likelihood = (successes * psi - counts * np.logaddexp(0, psi)).sum(axis=-1)
    prior = stats.norm.logpdf(theta[..., 0], scale=intercept_sd)
    return likelihood + prior + (log_slab(theta[..., 1:], spread) if Z.shape[1] else 0)


def integrate(Z, counts, successes, spread, intercept_sd, nodes=14, stretch=1.3):
    """Return the log evidence and the mean of theta, by Gauss and Hermite about the mode."""
    d = Z.shape[1] + 1
    arguments = (Z, counts, successes, spread, intercept_sd)
    start = optimize.minimize(lambda t: -log_joint(t, *arguments), np.zeros(d), tol=1e-10)
    # Second differences: what minimisers say of the curvature is rough
    steps = np.sqrt(np.diag(start.hess_inv))[:, None] * np.eye(d) * 1e-2
    curvature = np.empty((d, d))
    for i, j in product(range(d), repeat=2):
        corners = [start.x + a * steps[i] + b * steps[j] for a, b in product((1, -1), repeat=2)]
        values = log_joint(np.array(corners), *arguments)
        curvature[i, j] = -(values @ [1, -1, -1, 1]) / (4 * steps[i, i] * steps[j, j])
    root = stretch * np.linalg.cholesky(np.linalg.inv(curvature))
    x, w = np.polynomial.hermite_e.hermegauss(nodes)
    grid = np.array(list(product(x, repeat=d)))
    log_weight = np.array(list(product(np.log(w), repeat=d))).sum(axis=1)
    log_weight += 0.5 * (grid**2).sum(axis=1) + np.linalg.slogdet(root)[1]
    theta = start.x + grid @ root.T
    values = np.concatenate([log_joint(part, *arguments) for part in np.array_split(theta, 200)])
    values += log_weight
    total = logsumexp(values)
    return total, np.exp(values - total) @ theta


def posterior(Z, counts, successes, *, spread, intercept_sd, theta=None, beta_prior=None):
    """Inclusion probabilities, means of coefficients and intercept, and the mass of supports."""
    p = Z.shape[1]
    supports, logs, means = all_supports(p), [], []
    for support in supports:
        total, mean = integrate(Z[:, support], counts, successes, spread, intercept_sd)
        logs.append(total + log_prior(support, p, theta, beta_prior))
        means.append(mean)
    mass = np.exp(np.array(logs) - logsumexp(logs))
    inclusion, coef, intercept = np.zeros(p), np.zeros(p), 0.0
    for support, share, mean in zip(supports, mass, means, strict=True):
        inclusion[support] += share
        coef[support] += share * mean[1:]
        intercept += share * mean[0]
    return inclusion, coef, intercept, dict(zip(map(tuple, supports), mass, strict=True))


def group_bases(X, groups, counts):
    """Orthonormal bases of what groups span, centred, with 1 / sqrt(r) for norms."""
    Z = X - counts @ X / counts.sum()
    bases = []
    for group in groups:
        left, values, _ = np.linalg.svd(np.sqrt(counts)[:, None] * Z[:, group], full_matrices=False)
        rank = int((values > 1e-9 * values[0]).sum())
        bases.append(left[:, :rank] / np.sqrt(counts)[:, None] / np.sqrt(rank))
    return bases


def group_posterior(bases, counts, successes, *, spread, log_prior_of, intercept_sd=10.0):
    """Masses of all sets of groups that have a prior, and the mean of their part of psi."""
    sets, logs, parts = [], [], []
    for units in product((False, True), repeat=len(bases)):
        inside = [unit for unit, is_in in enumerate(units) if is_in]
        prior = log_prior_of(inside)
        if prior == -np.inf:
            continue
        Z = np.concatenate([np.empty((len(counts), 0)), *[bases[u] for u in inside]], axis=1)
        nodes = {3: 9, 4: 7}.get(Z.shape[1], 14)  # to the power of d they are many
        total, mean = integrate(Z, counts, successes, spread, intercept_sd, nodes)
        sets.append(tuple(inside))
        logs.append(total + prior)
        parts.append(Z @ mean[1:])
    mass = np.exp(np.array(logs) - logsumexp(logs))
    fit = sum(share * part for share, part in zip(mass, parts, strict=True))
    return dict(zip(sets, mass, strict=True)), fit
