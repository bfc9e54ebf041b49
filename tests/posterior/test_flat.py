"""Terms that are always in under a flat prior."""

import numpy as np
import pandas as pd
import pytest
from reference.flat_terms import flat_posterior
from reference.spike_slab import log_inverse_gamma
from scipy import sparse, stats

from ellzero import BernoulliGaussian, SpikeSlabRegressor, marginal_map

N, P = 16, 3
FLAT = [1, 4]
FREE = [0, 2, 3]


@pytest.fixture(scope="module")
def table():
    """Five columns, of which two are flat and matter, and are correlated with the others."""
    rng = np.random.default_rng(8)
    X = rng.standard_normal((N, 5)) * [1.0, 3.0, 0.5, 1.0, 2.0] + [0.0, 5.0, -1.0, 2.0, 0.0]
    X[:, 0] += 0.4 * X[:, 1]
    X[:, 3] += 0.5 * X[:, 4]
    y = 2.0 + X[:, 1] - 2 * X[:, 4] + 0.8 * X[:, 0] + rng.standard_normal(N)
    return X, y


def fit(X, y, **parameters):
    settings = {"flat": FLAT, "random_state": 0, "n_draws": 500, **parameters}
    return SpikeSlabRegressor(**settings).fit(X, y)


def literal(X, y, *, noise, spread=None, theta=None, beta_prior=None, slab="gaussian", scale=1.0):
    """Return what the oracle says, in the user's units; noise and spread are numbers or laws."""
    norms = np.linalg.norm(X - X.mean(axis=0), axis=0)
    F = np.column_stack([np.ones(N), X[:, FLAT]])
    Z = X[:, FREE] / norms[FREE]
    scale = np.broadcast_to(scale, P)
    H = F @ np.linalg.solve(F.T @ F, F.T)

    def precision(Z, support, tau):
        left = Z[:, support] - H @ Z[:, support]
        gram = left.T @ left
        if slab == "zellner":
            return gram / N
        if slab == "boom":
            return 0.01 / N * 0.5 * (gram + np.diag(np.diag(gram)))
        return tau * np.diag(1 / scale[support] ** 2)

    def log_weights(law, values, step):
        """Those of a rule in the logarithm."""
        return log_inverse_gamma(values, *law) + np.log(values) + np.log(step)

    if np.ndim(noise):
        x = np.linspace(-9.0, 11.0, 160)
        s2, weights = np.exp(x), log_weights(noise, np.exp(x), x[1] - x[0])
    else:
        s2, weights = np.array([noise]), np.zeros(1)
    if spread is None:
        grid = [(1.0, s2, weights)]
    elif np.ndim(spread):
        x = np.linspace(-23.0, 15.0, 200)
        grid = [
            (tau, s2, weights + log_weights(spread, s2 / tau, x[1] - x[0])) for tau in np.exp(x)
        ]
    else:
        grid = [
            (value / spread, np.array([value]), np.array([weight]))
            for value, weight in zip(s2, weights, strict=True)
        ]
    inclusion, mean, sd, masses, log_evidence = flat_posterior(
        F,
        Z,
        y,
        precision=precision,
        grid=grid,
        theta=theta,
        beta_prior=beta_prior,
        more=1 if slab == "boom" else 0,  # its intercept has a prior too
    )
    unit = np.concatenate([[1.0, 1.0, 1.0], norms[FREE]])
    places = [*FLAT, *FREE]
    coef, coef_sd = np.zeros(5), np.zeros(5)
    coef[places], coef_sd[places] = (mean / unit)[1:], (sd / unit)[1:]
    whole = np.ones(5)
    whole[FREE] = inclusion
    return whole, coef, coef_sd, mean[0], masses, log_evidence


def left_of(X, y):
    """Return the sum of squares of y that flat columns leave, and its degrees of freedom."""
    F = np.column_stack([np.ones(N), X[:, FLAT]])
    residuals = y - F @ np.linalg.lstsq(F, y, rcond=None)[0]
    return residuals @ residuals, N - 3


def check(model, expected):
    inclusion, coef, coef_sd, intercept, masses, log_evidence = expected
    np.testing.assert_allclose(model.inclusion_probabilities_, inclusion, atol=1e-8)
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-7)
    np.testing.assert_allclose(model.coef_sd_[FREE], coef_sd[FREE], rtol=1e-7)
    assert model.intercept_ == pytest.approx(intercept, rel=1e-7)
    for variables, mass in zip(model.models_["variables"], model.models_["mass"], strict=True):
        support = tuple(FREE.index(int(name[1:])) for name in variables if int(name[1:]) in FREE)
        assert {"x1", "x4"} <= set(variables)
        assert mass == pytest.approx(masses[support], abs=1e-8)
    assert model.log_evidence_ == pytest.approx(log_evidence, abs=1e-7)
    # Those of flat columns rest on 2,000 draws
    np.testing.assert_allclose(model.coef_sd_[FLAT], coef_sd[FLAT], rtol=0.06)
    draws = model.draws_.coef.toarray()
    error = coef_sd / np.sqrt(len(draws))
    assert (np.abs(draws.mean(axis=0) - coef) < 4.5 * error).all()
    np.testing.assert_allclose(draws[:, FLAT].std(axis=0), coef_sd[FLAT], rtol=0.1)


@pytest.mark.parametrize("theta", [0.3, "learn"])
def test_all_given_equals_the_literal_sum(table, theta):
    X, y = table
    model = fit(X, y, theta=theta, expected_size=1.0, sigma_e=1.2, sigma_beta=6.0)
    prior = {"beta_prior": (1.0, 2.0)} if theta == "learn" else {"theta": theta}
    check(model, literal(X, y, noise=1.44, spread=36.0, **prior))


@pytest.mark.parametrize("scale", [1.0, [0.2, 1.0, 4.0]])
@pytest.mark.parametrize("learned", ["sigma_e", "sigma_beta", "both"])
def test_learned_variances_equal_the_literal_sum(table, learned, scale):
    X, y = table
    total, degrees = left_of(X, y)
    # One column explains half of what is left of y: of its own squares a share is left on average
    left = projected(X, y, FLAT)[:, 1:]
    share = np.mean(np.sum(left**2, axis=0) / np.sum((X - X.mean(axis=0))[:, FREE] ** 2, axis=0))
    noise, spread = (0.005, 0.0025 * total / degrees), (1.0, 0.5 * total / share)
    given = {}
    if learned == "sigma_beta":
        given, noise = {"sigma_e": 1.2}, 1.44
    if learned == "sigma_e":
        given, spread = {"sigma_beta": 6.0}, 36.0
    if scale != 1.0:
        given["slab_scale"] = [scale[0], 1.0, scale[1], scale[2], 7.0]
    model = fit(X, y, theta=0.3, **given)
    assert model.solver_ == "enumerate"
    check(model, literal(X, y, noise=noise, spread=spread, theta=0.3, scale=scale))


@pytest.mark.parametrize("slab", ["zellner", "boom"])
@pytest.mark.parametrize("sigma_e", [1.2, "learn"])
def test_priors_made_of_the_data_are_made_of_what_is_left(table, slab, sigma_e):
    X, y = table
    total, degrees = left_of(X, y)
    noise = 1.44 if sigma_e != "learn" else (0.005, 0.0025 * total / degrees)
    model = fit(X, y, theta=0.3, slab=slab, sigma_e=sigma_e)
    check(model, literal(X, y, noise=noise, theta=0.3, slab=slab))


def test_flat_is_the_limit_of_a_wide_slab(table):
    X, y = table
    settings = {"theta": 0.3, "sigma_e": 1.2, "sigma_beta": 6.0, "random_state": 0}
    wide = SpikeSlabRegressor(
        always_include=FLAT, slab_scale=dict.fromkeys(FLAT, 1000.0), **settings
    ).fit(X, y)
    flat = SpikeSlabRegressor(flat=FLAT, **settings).fit(X, y)
    np.testing.assert_allclose(
        flat.inclusion_probabilities_, wide.inclusion_probabilities_, atol=1e-5
    )
    np.testing.assert_allclose(flat.coef_, wide.coef_, rtol=1e-4)
    np.testing.assert_allclose(flat.coef_sd_, wide.coef_sd_, rtol=0.03)


@pytest.mark.parametrize("solver", ["gibbs", "tempered"])
@pytest.mark.parametrize("slab", ["gaussian", "laplace", "zellner", "boom"])
def test_chains_agree_with_what_is_exact(table, slab, solver):
    X, y = table
    scale = {"slab_scale": {"0": 2.0, "2": 0.5}} if slab in ("gaussian", "laplace") else {}
    frame = pd.DataFrame(X, columns=list("01234"))
    settings = {"flat": ["1", "4"], "slab": slab, "expected_size": 1.0, "n_draws": 3000, **scale}
    chains = SpikeSlabRegressor(solver=solver, random_state=1, **settings).fit(frame, y)
    assert (chains.inclusion_probabilities_[FLAT] == 1).all()
    if slab == "laplace":
        other = "tempered" if solver == "gibbs" else "gibbs"
        exact = SpikeSlabRegressor(solver=other, random_state=2, **settings).fit(frame, y)
    else:
        exact = SpikeSlabRegressor(solver="enumerate", random_state=2, **settings).fit(frame, y)
    np.testing.assert_allclose(
        chains.inclusion_probabilities_, exact.inclusion_probabilities_, atol=0.03
    )
    np.testing.assert_allclose(chains.coef_, exact.coef_, atol=0.04 * np.abs(exact.coef_).max())
    np.testing.assert_allclose(chains.coef_sd_, exact.coef_sd_, rtol=0.1)


def projected(X, y, flat, weights=None):
    """Take flat columns and the intercept out of y and of the others, by least squares."""
    root = np.ones(len(y)) if weights is None else np.sqrt(weights)
    F = np.column_stack([np.ones(len(y)), X[:, flat]])
    others = [j for j in range(X.shape[1]) if j not in flat]
    both = np.column_stack([y, X[:, others]])
    return both - F @ np.linalg.lstsq(root[:, None] * F, root[:, None] * both, rcond=None)[0]


def test_weights_are_repetitions_and_sparse_columns_stay_sparse(table):
    X, y = table
    X = np.where(np.abs(X) < 0.4, 0.0, X)
    counts = np.random.default_rng(0).integers(1, 4, N)
    rows = np.repeat(np.arange(N), counts)
    weighted = SpikeSlabRegressor(flat=FLAT, random_state=0).fit(X, y, sample_weight=counts)
    repeated = SpikeSlabRegressor(flat=FLAT, random_state=0).fit(X[rows], y[rows])
    thin = SpikeSlabRegressor(flat=FLAT, random_state=0)
    thin.fit(sparse.csc_array(X), y, sample_weight=counts)
    for other in (repeated, thin):
        np.testing.assert_allclose(
            other.inclusion_probabilities_, weighted.inclusion_probabilities_, rtol=1e-8
        )
        np.testing.assert_allclose(other.coef_, weighted.coef_, rtol=1e-8)
        assert other.log_evidence_ == pytest.approx(weighted.log_evidence_, rel=1e-8)


def test_without_an_intercept_a_flat_column_of_ones_is_one(table):
    X, y = table
    ones = np.column_stack([np.ones(N), X])
    with_intercept = SpikeSlabRegressor(theta=0.3, sigma_beta=6.0, random_state=0).fit(X, y)
    # The norms that sigma_beta is for are of columns as they are, which here are not centred
    scale = np.linalg.norm(X - X.mean(axis=0), axis=0) / np.linalg.norm(X, axis=0)
    flat = SpikeSlabRegressor(
        theta=0.3,
        sigma_beta=6.0,
        flat=[0],
        slab_scale=np.concatenate([[1.0], 1 / scale]),
        fit_intercept=False,
        random_state=0,
    ).fit(ones, y)
    np.testing.assert_allclose(
        flat.inclusion_probabilities_[1:], with_intercept.inclusion_probabilities_, rtol=1e-8
    )
    np.testing.assert_allclose(flat.coef_[1:], with_intercept.coef_, rtol=1e-8)
    assert flat.coef_[0] == pytest.approx(with_intercept.intercept_, rel=1e-8)
    assert flat.log_evidence_ == pytest.approx(with_intercept.log_evidence_, abs=1e-8)


def test_what_flat_columns_are_said_by_changes_nothing_else(table):
    # Another basis of the same span, in other units, and one that depends on the others
    X, y = table
    other = X.copy()
    other[:, FLAT] = X[:, FLAT] @ [[1e4, 0.3], [-2e4, 1e-3]] + [7.0, -3.0]
    other = np.column_stack([other, other[:, 1] - 2 * other[:, 4] + 1])
    one = SpikeSlabRegressor(flat=FLAT, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="flat: column 'x5' is constant or depends linearly"):
        two = SpikeSlabRegressor(flat=[*FLAT, 5], random_state=0).fit(other, y)
    np.testing.assert_allclose(
        one.inclusion_probabilities_, two.inclusion_probabilities_[:5], rtol=1e-7
    )
    assert two.inclusion_probabilities_[5] == two.coef_[5] == two.coef_sd_[5] == 0
    np.testing.assert_allclose(one.coef_[FREE], two.coef_[FREE], rtol=1e-6)
    np.testing.assert_allclose(one.predict(X), two.predict(other), rtol=1e-7)
    assert one.log_evidence_ == pytest.approx(two.log_evidence_, abs=1e-7)


def test_predictions_know_how_little_is_known_of_flat_columns(table):
    # With nothing to choose but a column that matters to nobody, it is a regression on F
    X, y = table
    model = SpikeSlabRegressor(
        flat=[0, 1, 3, 4], theta=1e-12, sigma_e=1.2, sigma_beta=6.0, n_draws=5000, random_state=0
    ).fit(X, y)
    F = np.column_stack([np.ones(N), X[:, [0, 1, 3, 4]]])
    new = np.random.default_rng(1).standard_normal((7, 5)) * 6
    at = np.column_stack([np.ones(7), new[:, [0, 1, 3, 4]]])
    beta = np.linalg.lstsq(F, y, rcond=None)[0]
    spread = 1.2 * np.sqrt(1 + np.sum(at @ np.linalg.inv(F.T @ F) * at, axis=1))
    mean, std = model.predict(new, return_std=True)
    np.testing.assert_allclose(mean, at @ beta, rtol=1e-8)
    np.testing.assert_allclose(std, spread, rtol=0.03)
    lower, upper = model.predict_interval(new, level=0.9)
    np.testing.assert_allclose(upper - lower, 2 * stats.norm.ppf(0.95) * spread, rtol=0.04)
    np.testing.assert_allclose(model.coef_sd_[[0, 1, 3, 4]],
        1.2 * np.sqrt(np.diag(np.linalg.inv(F.T @ F)))[1:], rtol=1e-6)  # fmt: skip


def test_flat_columns_are_no_part_of_sets_and_sizes(table):
    X, y = table
    model = SpikeSlabRegressor(flat=FLAT, random_state=0).fit(X, y)
    left = projected(X, y, FLAT)
    # Those columns and y without flat columns, with as many expected
    alone = SpikeSlabRegressor(random_state=0, fit_intercept=False).fit(left[:, 1:], left[:, 0])
    assert model._size_prior.expected_size == alone._size_prior.expected_size
    assert not {"x1", "x4"} & {name for found in model.credible_sets_ for name in found.variables}
    expected = model.inclusion_probabilities_[FREE].sum()
    assert model.sensitivity_.size[0] < expected < model.sensitivity_.size[1]
    assert (model.sensitivity_.inclusion[0][FLAT] == 1).all()
    assert (model.draws_.size >= 2).all()
    assert list(model.support_[np.isin(model.support_, FLAT)]) == FLAT
    assert np.isnan(model.jointness(min_inclusion=0)["log_odds_ratio"]).sum() == 7


def test_always_included_beside_flat(table):
    X, y = table
    settings = {"sigma_e": 1.2, "sigma_beta": 6.0, "random_state": 0, "n_draws": 500}
    model = SpikeSlabRegressor(flat=FLAT, always_include=[2], theta=0.3, **settings).fit(X, y)
    sure = SpikeSlabRegressor(flat=FLAT, theta=[0.3, 0.3, 1.0, 0.3, 0.3], **settings).fit(X, y)
    np.testing.assert_array_equal(model.inclusion_probabilities_, sure.inclusion_probabilities_)
    assert (model.inclusion_probabilities_[[1, 2, 4]] == 1).all()


def test_a_column_in_the_span_of_flat_ones_is_left_out(table):
    X, y = table
    wide = np.column_stack([X, 3 * X[:, 1] - X[:, 4] + 2])
    model = SpikeSlabRegressor(flat=FLAT, random_state=0).fit(wide, y)
    assert model.inclusion_probabilities_[5] == model.coef_[5] == 0
    with pytest.warns(UserWarning, match="always_include: column 'x5'"):
        SpikeSlabRegressor(flat=FLAT, always_include=[5], random_state=0).fit(wide, y)


@pytest.mark.parametrize("learned", [False, True])
def test_a_trend_that_dwarfs_everything(table, learned):
    X, y = table
    given = {} if learned else {"sigma_e": 1.2, "sigma_beta": 6.0}
    model = SpikeSlabRegressor(flat=FLAT, random_state=0, **given).fit(X, y)
    steep = SpikeSlabRegressor(flat=FLAT, random_state=0, **given).fit(X, y + 1e5 * X[:, 1])
    np.testing.assert_allclose(
        steep.inclusion_probabilities_, model.inclusion_probabilities_, rtol=1e-4
    )
    np.testing.assert_allclose(steep.coef_[FREE], model.coef_[FREE], rtol=1e-3)
    assert steep.coef_[1] == pytest.approx(1e5, rel=1e-4)


def test_the_most_probable_model(table):
    X, y = table
    y = y + 3 * X[:, 0]
    prior = BernoulliGaussian(0.3, 6.0)
    scale = [2.0, 1.0, 0.3, 1.0, 1.0]
    best = marginal_map(X, y, prior, 1.2, flat=FLAT, slab_scale=scale)
    model = SpikeSlabRegressor(
        flat=FLAT, slab_scale=scale, theta=0.3, sigma_e=1.2, sigma_beta=6.0, random_state=0
    ).fit(X, y)
    assert model.models_["variables"][0] == tuple(f"x{j}" for j in best.support)
    chosen = [j for j in best.support if j not in FLAT]
    assert chosen
    # The mean of coefficients given the model: ridge 0 on flat columns and the intercept
    F = np.column_stack([np.ones(N), X[:, FLAT], X[:, chosen]])
    norms = np.linalg.norm(X - X.mean(axis=0), axis=0)
    ridge = np.concatenate([np.zeros(3), (1.2 / 6.0 * norms / scale)[chosen] ** 2])
    beta = np.linalg.solve(F.T @ F + np.diag(ridge), F.T @ y)
    assert best.intercept == pytest.approx(beta[0])
    np.testing.assert_allclose(best.coef[[*FLAT, *chosen]], beta[1:])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"flat": ["z"]}, "flat names column 'z'"),
        ({"flat": [5]}, "flat names column 5, but X has 5 columns"),
        ({"flat": [0, 1], "always_include": [1]}, "flat and always_include both name 'x1'"),
        ({"flat": range(5)}, "flat names all columns of X: there is nothing to choose"),
        ({"flat": [0], "theta": [0.0, 0.5, 0.5, 0.5, 0.5]}, "flat names column 'x0', but theta"),
        ({"flat": [0], "expected_size": 4}, "columns of X not flat, 4"),
        ({"flat": 3}, "flat"),
        ({"flat": [0], "slab_scale": {0: 2.0}}, "slab_scale names 'x0', which is flat"),
    ],
)
def test_bad_flat_columns(table, parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        SpikeSlabRegressor(**parameters).fit(*table)


def test_flat_columns_that_leave_nothing(table):
    X, y = table
    with pytest.raises(ValueError, match="flat: its columns explain y exactly"):
        SpikeSlabRegressor(flat=FLAT).fit(X, 3 + X[:, 1] - 0.1 * X[:, 4])
    with pytest.raises(
        ValueError,
        match="flat has 3 independent columns beside the intercept, but there are 4 rows",
    ):
        SpikeSlabRegressor(flat=[0, 1, 2]).fit(X[:4], y[:4])
    with pytest.raises(ValueError, match="flat has 4 independent columns, but there are 4 rows"):
        SpikeSlabRegressor(flat=[0, 1, 2, 3], fit_intercept=False).fit(X[:4], y[:4])
    with pytest.raises(ValueError, match="explain y exactly"):
        marginal_map(X, X[:, 1], BernoulliGaussian(0.3, 6.0), 1.2, flat=[1])
