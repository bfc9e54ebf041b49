"""The spike-and-slab posterior under Student's noise, from t densities alone: no weights of rows.

Every model is integrated by importance sampling, over the intercept, the coefficients and the
logarithms of what is learned of the noise; a slab variance that is learned integrates out of the
coefficients, which are Student's t then. Columns of Z are taken as they are, and mu is flat.
"""

import numpy as np
from scipy import optimize, stats
from scipy.special import gammaln, logsumexp

from reference.spike_slab import all_supports, log_inverse_gamma, log_prior


def log_t(r, df, s2):
    """Return the log-density of r, where r / sqrt(s2) is Student's t."""
    constant = gammaln((df + 1) / 2) - gammaln(df / 2) - 0.5 * np.log(df * np.pi * s2)
    return constant - 0.5 * (df + 1) * np.log1p(r**2 / (df * s2))


def log_slab(beta, s2, spread):
    """Of coefficients along the last axis, the slab variance given or inverse gamma."""
    k, square = beta.shape[-1], np.sum(beta**2, axis=-1)
    if not isinstance(spread, tuple):
        return -0.5 * (k * np.log(2 * np.pi * spread) + square / spread)
    shape, rate = spread[-2:]
    if spread[0] == "relative":
        rate = rate * s2
    power = shape + 0.5 * k
    value = gammaln(power) - gammaln(shape) - 0.5 * k * np.log(2 * np.pi * rate)
    return value - power * np.log1p(0.5 * square / rate)


class Model:
    """One support; parameters are mu, beta, log s2 and log(df - least), as far as they are free."""

    def __init__(self, Z, y, counts, *, noise, spread, degrees, intercept):
        self.Z, self.y, self.counts, self.intercept = Z, y, counts, intercept
        self.noise, self.spread, self.degrees = noise, spread, degrees
        self.k = Z.shape[1]
        self.learns = isinstance(noise, tuple), isinstance(degrees, tuple)
        self.dimensions = intercept + self.k + sum(self.learns)

    def unpack(self, x):
        """Return mu, beta, s2, df and the log of the priors of the last two."""
        rest = list(np.moveaxis(x[..., self.intercept + self.k :], -1, 0))
        mu = x[..., 0] if self.intercept else 0.0
        beta = x[..., self.intercept : self.intercept + self.k]
        s2, df, value = self.noise, self.degrees, 0.0
        if self.learns[0]:
            s2 = np.exp(rest.pop(0))
            value = value + log_inverse_gamma(s2, *self.noise) + np.log(s2)
        if self.learns[1]:
            shape, rate, least = self.degrees
            above = np.exp(rest.pop(0))
            df = least + above
            value = value + stats.gamma.logpdf(above, shape, scale=1 / rate) + np.log(above)
        return mu, beta, s2, df, value

    def log_density(self, x):
        mu, beta, s2, df, value = self.unpack(x)
        residuals = self.y - np.asarray(mu)[..., None] - beta @ self.Z.T
        s2, df = np.asarray(s2)[..., None], np.asarray(df)[..., None]
        terms = self.counts * log_t(residuals, df, s2)
        return terms.sum(axis=-1) + log_slab(beta, s2[..., 0], self.spread) + value

    def sample(self, count, rng):
        """Return points, and the logs of their weights, whose mean is the evidence."""
        if self.dimensions == 0:
            return np.zeros((1, 0)), np.array([self.log_density(np.zeros(0))])
        start = np.zeros(self.dimensions)
        found = optimize.minimize(lambda x: -self.log_density(x), start, method="Nelder-Mead",
                                  options={"maxfev": 20_000, "maxiter": 20_000})  # fmt: skip
        found = optimize.minimize(lambda x: -self.log_density(x), found.x, method="BFGS")
        step, eye = 1e-3, np.eye(self.dimensions)
        pairs = [[self.log_density(found.x + step * (s * a + t * b)) * s * t
                  for s in (1, -1) for t in (1, -1)] for a in eye for b in eye]  # fmt: skip
        curvature = -np.sum(pairs, axis=1).reshape(eye.shape) / (4 * step**2)
        values, vectors = np.linalg.eigh(curvature)
        root = vectors / np.sqrt(np.maximum(values, 0.05 * np.abs(values).max() * 1e-2))
        proposal = stats.multivariate_t(found.x, 1.5 * root @ root.T, df=4, allow_singular=True)
        points = proposal.rvs(count, random_state=rng).reshape(count, self.dimensions)
        return points, self.log_density(points) - proposal.logpdf(points)


def posterior(
    Z, y, *, noise, spread, degrees, theta=None, beta_prior=None, intercept=True, counts=None,
    count=40_000, seed=0,
):  # fmt: skip
    """Sum over models.

    Variances are numbers, or (shape, rate) of an inverse gamma; ``degrees`` a number, or (shape,
    rate, least). Returns inclusion probabilities, means of beta, of the intercept and of df, and
    the standard errors of the probabilities.
    """
    n, p = Z.shape
    counts = np.ones(n) if counts is None else counts
    rng = np.random.default_rng(seed)
    supports = all_supports(p)
    values, sums, errors = [], [], []
    for support in supports:
        model = Model(Z[:, support], y, counts, noise=noise, spread=spread, degrees=degrees,
                      intercept=intercept)  # fmt: skip
        points, logs = model.sample(count, rng)
        total = logsumexp(logs)
        weights = np.exp(logs - total)
        assert len(weights) == 1 or 1 / np.sum(weights**2) > 0.05 * count
        values.append(total - np.log(len(logs)) + log_prior(support, p, theta, beta_prior))
        errors.append(np.sqrt(np.sum((weights - 1 / len(weights)) ** 2)))
        mu, beta, _, df, _ = model.unpack(points)
        sums.append((weights @ beta, np.sum(weights * mu), np.sum(weights * df)))
    masses = np.exp(np.array(values) - logsumexp(values))
    inclusion, mean, error = np.zeros(p), np.zeros(p), np.zeros(p)
    for support, mass, own in zip(supports, masses, sums, strict=True):
        inclusion[support] += mass
        mean[support] += mass * own[0]
    for support, mass, relative in zip(supports, masses, errors, strict=True):
        inside = np.isin(np.arange(p), support)
        error += (mass * relative * (inside - inclusion)) ** 2
    intercepts, dfs = (sum(m * own[i] for m, own in zip(masses, sums, strict=True)) for i in (1, 2))
    return inclusion, mean, intercepts, dfs, np.sqrt(error)
