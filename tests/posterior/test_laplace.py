"""A Laplace slab has no closed form: quadrature for two columns, normal means for more."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from reference.subsets import preprocess
from scipy.integrate import quad
from scipy.special import logsumexp
from spike_slab_priors import autoregressive, core_prior, design_of, run_chains

CHAINS, DRAWS, THETA, S2, SPREAD = 64, 300, 0.3, 2.0, 30.0


def laplace(b, spread):
    return np.exp(-np.abs(b) * np.sqrt(2 / spread)) / np.sqrt(2 * spread)


def averages(chains):
    """Mean and standard error of inclusion, mean and mean square, by column."""
    for name in ("inclusion", "mean", "square"):
        values = np.array([chain[name] for chain in chains]) / DRAWS
        yield values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(CHAINS)


def sample(design, prior, tempered, modes=()):
    settings = {"draws": DRAWS, "warmup": 150, "tempered": tempered, "modes": modes}
    return run_chains(design, prior, [[]] * CHAINS, **settings)


def one_column(c, d):
    """Mass, mean and mean square of a coefficient whose likelihood is exp((c b - d b^2/2) / S2)."""
    peak, width = c / d, np.sqrt(S2 / d)

    def moment(power):
        def integrand(b):
            likelihood = np.exp((c * b - d * b * b / 2 - c * peak / 2) / S2)
            return b**power * laplace(b, SPREAD) * likelihood

        pieces = sorted({0.0, peak - 30 * width, peak, peak + 30 * width})
        return sum(quad(integrand, *ends, epsabs=0)[0] for ends in pairwise(pieces))

    return np.log(moment(0)) + c * peak / 2 / S2, moment(1) / moment(0), moment(2) / moment(0)


@pytest.mark.parametrize("tempered", [False, True])
def test_orthogonal_columns_are_normal_means(tempered):
    rng = np.random.default_rng(0)
    Z, _ = np.linalg.qr(rng.standard_normal((40, 8)))
    y = Z @ np.array([0.0, 0.5, 1.0, 2.0, -3.0, -5.0, 8.0, 30.0]) + 0.1 * rng.standard_normal(40)
    design = design_of(Z, y, intercept=False)
    prior = core_prior(8, 40, slab="laplace", noise=S2, spread=SPREAD, theta=THETA)
    chains = sample(design, prior, tempered)
    log_mass, mean, square = np.array([one_column(c, 1.0) for c in Z.T @ y]).T
    odds = THETA / (1 - THETA) * np.exp(log_mass)
    inclusion = odds / (1 + odds)
    expected = (inclusion, inclusion * mean, inclusion * square)
    # Given the variances, nothing is left to chance: every conditional is the marginal.
    for (found, _), value in zip(averages(chains), expected, strict=True):
        np.testing.assert_allclose(found, value, rtol=1e-8)


# With an exchange of both columns for none, or without
@pytest.mark.parametrize(
    ("tempered", "modes"), [(False, ()), (True, ()), (False, ([], [0, 1])), (True, ([], [0, 1]))]
)
@pytest.mark.parametrize("learned", ["nothing", "noise", "slab", "both"])
def test_two_collinear_columns_against_quadrature(tempered, learned, modes):
    X, y = two_columns()
    design = design_of(X, y)
    noise = (3.0, 5.0) if learned in ("noise", "both") else S2
    spread = (3.0, 80.0) if learned in ("slab", "both") else SPREAD
    prior = core_prior(2, 24, slab="laplace", noise=noise, spread=spread, theta=THETA)
    chains = sample(design, prior, tempered, modes)
    expected = by_grid(noise, spread)
    for (found, error), value in zip(averages(chains), expected, strict=True):
        assert (np.abs(found - value) < 4 * error + 2e-4 * np.abs(value)).all()


def two_columns():
    return autoregressive(25, 2, 0.9, seed=7)


@cache
def by_grid(noise, spread):
    """Sum over models, a grid of coefficients and grids of what is learned."""
    Z, y = preprocess(*two_columns())
    degrees = len(y) - 1
    grid = np.linspace(-25, 25, 401)
    step = grid[1] - grid[0]
    G, b, yy = Z.T @ Z, Z.T @ y, y @ y
    one, two = grid, grid[:, None]
    rss = {
        (): np.array(yy),
        (0,): yy - 2 * b[0] * one + one**2,
        (1,): yy - 2 * b[1] * one + one**2,
        (0, 1): yy - 2 * (b[0] * two + b[1] * one) + two**2 + one**2 + 2 * G[0, 1] * two * one,
    }
    rows = []
    for s2, s2_weight in log_nodes(noise):
        for v, v_weight in log_nodes(spread):
            slab = np.log(laplace(grid, v)) + np.log(step)
            for support, residual in rss.items():
                k = len(support)
                value = -0.5 * (degrees * np.log(s2) + residual / s2) + s2_weight + v_weight
                value = value + k * np.log(THETA) + (2 - k) * np.log1p(-THETA)
                if k == 1:
                    value = value + slab
                if k == 2:
                    value = value + slab[:, None] + slab
                mass = logsumexp(value)
                share = np.exp(value - mass)
                means, squares = np.zeros(2), np.zeros(2)
                for axis, j in enumerate(support):
                    marginal = share.sum(axis=1 - axis) if k == 2 else share
                    means[j], squares[j] = marginal @ grid, marginal @ grid**2
                inside = np.isin([0, 1], support)
                rows.append((mass, inside, means, squares))
    weights = np.array([row[0] for row in rows])
    weights = np.exp(weights - logsumexp(weights))
    inclusion, mean, square = (
        sum(w * row[i] for w, row in zip(weights, rows, strict=True)) for i in (1, 2, 3)
    )
    return inclusion, mean, square


def log_nodes(law):
    if not isinstance(law, tuple):
        return [(law, 0.0)]
    shape, rate = law
    x = np.linspace(np.log(rate / shape) - 4, np.log(rate / shape) + 5, 24)
    return list(zip(np.exp(x), -shape * x - rate * np.exp(-x), strict=True))
