"""Posteriors under the bridge and the horseshoe, by sums over grids and by another sampler."""

import numpy as np
from scipy import special

__all__ = [
    "bayesian_lasso",
    "bridge_log_prior",
    "grid_moments",
    "horseshoe_log_prior",
    "regularised_log_prior",
]


def bridge_log_prior(alpha, nu=None, nu_prior=(2.0, 2.0)):
    """Log density of coefficients on the last axis; with nu integrated out unless it is given."""

    def log_density(beta):
        p = beta.shape[-1]
        total = (np.abs(beta) ** alpha).sum(axis=-1)
        scale = p * (np.log(alpha) - np.log(2) - special.gammaln(1 / alpha))
        if nu is not None:
            return scale + p / alpha * np.log(nu) - nu * total
        shape, rate = nu_prior
        after = shape + p / alpha
        return (
            scale
            + special.gammaln(after)
            - special.gammaln(shape)
            + shape * np.log(rate)
            - after * np.log(rate + total)
        )

    return log_density


def horseshoe_log_prior(tau):
    """Log density of coefficients on the last axis."""

    def log_density(beta):
        x = np.maximum(beta**2 / (2 * tau**2), 1e-30)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            scaled = np.where(x < 600, x + np.log(special.exp1(x)), -np.log(x + 1 - 1 / (x + 3)))
        return (scaled - np.log(tau) - 0.5 * np.log(2 * np.pi**3)).sum(axis=-1)

    return log_density


def regularised_log_prior(tau, slab_df, slab_scale):
    """Log density of one coefficient, with lambda and c summed over grids of their logarithms."""
    log_lambda, log_c = np.linspace(-25, 25, 401), np.linspace(-4, 5, 91) + np.log(slab_scale)
    half_cauchy = log_lambda - np.log1p(np.exp(2 * log_lambda))
    half = slab_df / 2
    inverse_gamma = -slab_df * log_c - half * slab_scale**2 * np.exp(-2 * log_c)
    precision = np.exp(-2 * log_lambda[:, None]) / tau**2 + np.exp(-2 * log_c)
    weight = half_cauchy[:, None] + inverse_gamma + 0.5 * np.log(precision)
    weight -= special.logsumexp(half_cauchy[:, None] + inverse_gamma)

    def log_density(beta):
        at = np.linspace(-30, np.log(np.abs(beta).max() + 1e-12), 300)  # log |beta|
        table = [special.logsumexp(weight - 0.5 * precision * np.exp(2 * x)) for x in at]
        return np.interp(np.log(np.abs(beta[..., 0]) + 1e-13), at, table) - 0.5 * np.log(2 * np.pi)

    return log_density


def noise_log_density(half_rss, degrees, sigma_e=None, noise=None):
    """Of y, with sigma_e given or, with its inverse-gamma prior, integrated out."""
    if sigma_e is not None:
        return -half_rss / sigma_e**2 - degrees * np.log(sigma_e)
    shape, rate = noise
    return -(shape + degrees / 2) * np.log(rate + half_rss)


def grid_moments(Z, y, degrees, log_prior, *, width=9.0, points=None, **noise):
    """Means, standard deviations and P(beta > 0) for one or two columns, and the log evidence."""
    p = Z.shape[1]
    points = points or {1: 40_001, 2: 1201}[p]
    centre = np.linalg.lstsq(Z, y, rcond=None)[0]
    rss = float(((y - Z @ centre) ** 2).sum())
    sd = np.sqrt(np.linalg.inv(Z.T @ Z).diagonal() * rss / max(degrees - p, 1))
    # Finer towards zero, where the prior peaks: beta = sign(x) x^2.
    axes, weights = [], []
    for j in range(p):
        low = min(centre[j] - width * sd[j], -width * sd[j])
        high = max(centre[j] + width * sd[j], width * sd[j])
        x = np.linspace(-np.sqrt(-low), np.sqrt(high), points)
        axes.append(np.sign(x) * x**2)
        weights.append(2 * np.abs(x))
    mesh = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    weight = weights[0] if p == 1 else np.multiply.outer(*weights)
    half_rss = 0.5 * (
        y @ y - 2 * mesh @ (Z.T @ y) + np.einsum("...i,ij,...j->...", mesh, Z.T @ Z, mesh)
    )
    log_density = noise_log_density(half_rss, degrees, **noise) + log_prior(mesh)
    top = log_density.max()
    mass = np.exp(log_density - top) * weight
    cell = np.prod([np.ptp(np.sqrt(np.abs(a)) * np.sign(a)) / (points - 1) for a in axes])
    evidence = top + np.log(mass.sum() * cell)
    mass /= mass.sum()
    flat = mesh.reshape(-1, p)
    mean = mass.ravel() @ flat
    sd = np.sqrt(mass.ravel() @ (flat - mean) ** 2)
    return mean, sd, mass.ravel() @ (flat > 0), evidence


def bayesian_lasso(Z, y, tau, s2, draws, rng):
    """Gibbs of Park and Casella (2008), with density exp(-|beta_j| / tau) and sigma_e given."""
    p = Z.shape[1]
    beta, out = np.zeros(p), np.empty((draws, p))
    variance = np.full(p, tau**2)
    for t in range(-200, draws):
        A = Z.T @ Z / s2 + np.diag(1 / variance)
        L = np.linalg.cholesky(A)
        mean = np.linalg.solve(A, Z.T @ y / s2)
        beta = mean + np.linalg.solve(L.T, rng.standard_normal(p))
        # 1 / variance is inverse Gaussian
        variance = 1 / rng.wald(1 / (tau * np.abs(beta)), 1 / tau**2)
        if t >= 0:
            out[t] = beta
    return out
