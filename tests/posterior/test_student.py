"""Student's noise in SpikeSlabRegressor: what users see of it."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats

from ellzero import SpikeSlabRegressor, SufficientStatistics
from ellzero.posterior._student import middle_and_spread

QUICK = {"noise": "student", "n_chains": 2, "n_draws": 300, "n_warmup": 150, "random_state": 0}


def with_outliers(n=100, p=8, seed=0, share=0.1):
    """Two columns matter; every tenth row is far out. Returns these too."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = 3.0 + X[:, 0] - 0.8 * X[:, 1] + 0.5 * rng.standard_normal(n)
    out = rng.permutation(n)[: round(share * n)]
    y[out] += 20.0 * rng.choice([-1, 1], out.size) * rng.uniform(1, 3, out.size)
    return X, y, np.sort(out)


@pytest.fixture(scope="module")
def fitted():
    X, y, out = with_outliers()
    return X, y, out, SpikeSlabRegressor(**QUICK).fit(X, y)


def test_outliers_do_not_hide_what_matters(fitted):
    X, y, _, model = fitted
    assert model.solver_ == "gibbs"
    assert (model.inclusion_probabilities_[:2] > 0.99).all()
    assert model.inclusion_probabilities_[2:].max() < 0.5
    np.testing.assert_allclose(model.coef_[:2], [1.0, -0.8], atol=0.25)
    assert model.intercept_ == pytest.approx(3.0, abs=0.3)
    plain = SpikeSlabRegressor(random_state=0).fit(X, y)
    assert plain.inclusion_probabilities_[:2].max() < 0.9  # what normal noise makes of it


def test_outliers_weigh_little(fitted):
    _, _, out, model = fitted
    weights = model.row_weights_
    assert weights.shape == (100,)
    assert set(np.argsort(weights)[: out.size]) == set(out)
    assert weights[out].max() < 0.1 < np.delete(weights, out).min()


def test_draws_and_diagnostics_know_the_degrees_of_freedom(fitted):
    model = fitted[3]
    assert model.draws_.noise_df.shape == (2, 300)
    assert model.draws_.noise_df.min() > 1
    assert "noise_df" in model.diagnostics_.index
    assert model.diagnostics_.loc["noise_df", "ess_bulk"] > 50
    given = SpikeSlabRegressor(noise_df=4, **QUICK).fit(*fitted[:2])
    assert (given.draws_.noise_df == 4).all()


def test_row_weights_are_what_draws_say(fitted):
    X, y, _, model = fitted
    draws = model.draws_
    r = y - draws.coef @ X.T - draws.intercept.reshape(-1, 1)
    df, s2 = draws.noise_df.reshape(-1, 1), draws.sigma_e.reshape(-1, 1) ** 2
    np.testing.assert_allclose(model.row_weights_, ((df + 1) / (df + r**2 / s2)).mean(axis=0))


def test_coefficients_agree_with_draws(fitted):
    model = fitted[3]
    drawn = model.draws_.coef.toarray()
    error = drawn.std(axis=0) / np.sqrt(100)  # of 600 draws, not all of them independent
    assert (np.abs(drawn.mean(axis=0) - model.coef_) < 4 * error + 1e-3).all()
    assert model.intercept_ == pytest.approx(model.draws_.intercept.mean(), abs=0.02)
    np.testing.assert_allclose(model.coef_sd_[:2], drawn.std(axis=0)[:2], rtol=0.2)


def test_intervals_are_quantiles_of_a_mixture_of_t(fitted):
    X, _, _, model = fitted
    draws, row = model.draws_, X[:1]
    lower, upper = model.predict_interval(row, level=0.9)
    at = draws.coef @ row[0] + draws.intercept.ravel()
    for end, level in ((lower[0], 0.05), (upper[0], 0.95)):
        z = (end - at) / draws.sigma_e.ravel()
        assert stats.t.cdf(z, draws.noise_df.ravel()).mean() == pytest.approx(level, abs=1e-9)
    sampled = np.concatenate([model.sample_predictive(row, random_state=s) for s in range(40)])
    assert np.mean(sampled < lower[0]) == pytest.approx(0.05, abs=0.008)
    assert np.mean(sampled > upper[0]) == pytest.approx(0.05, abs=0.008)


def test_intervals_hold_new_rows():
    inside = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((160, 5))
        y = X[:, 0] + rng.standard_t(2, 160)
        lower, upper = SpikeSlabRegressor(**QUICK).fit(X[:80], y[:80]).predict_interval(X[80:])
        inside.extend((lower <= y[80:]) & (y[80:] <= upper))
    assert 0.92 < np.mean(inside) < 0.98


def test_standard_deviations_of_new_rows(fitted):
    X, y, _, _ = fitted
    heavy = SpikeSlabRegressor(noise_df=2, **QUICK).fit(X, y)
    assert (heavy.predict(X[:3], return_std=True)[1] == np.inf).all()
    light = SpikeSlabRegressor(noise_df=6, **QUICK).fit(X, y)
    drawn = light.sample_predictive(X[:3], n_draws=600, random_state=0)
    np.testing.assert_allclose(
        light.predict(X[:3], return_std=True)[1], drawn.std(axis=0), rtol=0.2
    )


def test_nearly_normal_noise_gives_nearly_the_same_answer():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((80, 6))
    y = 0.4 * X[:, 0] + 0.3 * X[:, 1] + rng.standard_normal(80)
    settings = {"sigma_e": 1.0, "sigma_beta": 5.0, "theta": 0.3, "random_state": 0}
    exact = SpikeSlabRegressor(**settings).fit(X, y)
    student = SpikeSlabRegressor(noise="student", noise_df=1e6, **settings).fit(X, y)
    error = student.diagnostics_["mcse"].to_numpy()[:6]
    off = np.abs(student.inclusion_probabilities_ - exact.inclusion_probabilities_)
    assert (off < 4 * error + 1e-3).all()
    np.testing.assert_allclose(student.row_weights_, 1, atol=1e-4)


def test_scales_of_slabs():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((80, 4))
    y = 0.4 * X[:, 0] + 0.3 * X[:, 1] + rng.standard_normal(80)
    settings = {"sigma_e": 1.0, "sigma_beta": 5.0, "theta": 0.3, "random_state": 0}
    settings["slab_scale"] = [0.2, 1.0, 3.0, 1.0]
    exact = SpikeSlabRegressor(**settings).fit(X, y)
    student = SpikeSlabRegressor(noise="student", noise_df=1e6, n_draws=2000, **settings).fit(X, y)
    error = student.diagnostics_["mcse"].to_numpy()[:4]
    off = np.abs(student.inclusion_probabilities_ - exact.inclusion_probabilities_)
    assert (off < 4 * error + 1e-3).all()
    np.testing.assert_allclose(student.coef_, exact.coef_, atol=0.01)
    np.testing.assert_allclose(student.coef_sd_, exact.coef_sd_, rtol=0.05)
    drawn = student.draws_.coef.toarray().mean(axis=0)
    np.testing.assert_allclose(drawn, exact.coef_, atol=0.01)


def test_weights_count_rows():
    X, y, _ = with_outliers(40, 4, seed=2)
    times = np.arange(40) % 3
    repeated = np.repeat(np.arange(40), times)
    weighted = SpikeSlabRegressor(**QUICK).fit(X, y, sample_weight=times)
    long = SpikeSlabRegressor(**QUICK).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(
        weighted.inclusion_probabilities_, long.inclusion_probabilities_, atol=0.08
    )
    for row, weight in zip(repeated, long.row_weights_, strict=True):
        assert weighted.row_weights_[row] == pytest.approx(weight, abs=0.12)


def test_sparse_and_named_tables_give_the_same(fitted):
    X, y, _, model = fitted
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    named = SpikeSlabRegressor(**QUICK).fit(frame, y)
    np.testing.assert_array_equal(named.coef_, model.coef_)
    thin = np.where(np.abs(X) > 1, X, 0.0)
    one, two = (
        SpikeSlabRegressor(**QUICK).fit(table, y) for table in (thin, sparse.csc_array(thin))
    )
    np.testing.assert_allclose(
        one.inclusion_probabilities_, two.inclusion_probabilities_, atol=0.05
    )


def test_scales_and_shifts_of_y(fitted):
    X, y, _, model = fitted
    scaled = SpikeSlabRegressor(**QUICK).fit(X, 2.0**20 * y)
    np.testing.assert_array_equal(scaled.coef_, 2.0**20 * model.coef_)
    moved = SpikeSlabRegressor(**QUICK).fit(X, y + 1024.0)
    np.testing.assert_allclose(
        moved.inclusion_probabilities_, model.inclusion_probabilities_, atol=0.03
    )
    assert moved.intercept_ - 1024 == pytest.approx(model.intercept_, abs=0.05)


def test_columns_that_are_always_or_never_in(fitted):
    X, y, _, _ = fitted
    X = np.column_stack([X, np.ones(len(y))])
    theta = np.full(9, 0.2)
    theta[0] = 0
    model = SpikeSlabRegressor(theta=theta, always_include=[3], **QUICK).fit(X, y)
    assert model.inclusion_probabilities_[[0, 3, 8]].tolist() == [0, 1, 0]


def test_another_fit_forgets_the_rows(fitted):
    X, y, _, _ = fitted
    model = SpikeSlabRegressor(**QUICK).fit(X, y)
    model.set_params(noise="gaussian").fit(X, y)
    assert not hasattr(model, "row_weights_")
    assert model.draws_.noise_df is None


@pytest.mark.parametrize("scale_prior", ["prediction", "zellner-siow"])
def test_other_priors_of_the_scale(fitted, scale_prior):
    X, y, _, _ = fitted
    model = SpikeSlabRegressor(scale_prior=scale_prior, **QUICK).fit(X, y)
    assert (model.inclusion_probabilities_[:2] > 0.99).all()
    assert model.sensitivity_ is not None


def test_more_columns_than_rows():
    X, y, _ = with_outliers(60, 150, seed=3)
    model = SpikeSlabRegressor(**QUICK).fit(X, y)
    assert (model.inclusion_probabilities_[:2] > 0.9).all()
    assert model.inclusion_probabilities_[2:].sum() < 1


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"noise": "gaussian", "noise_df": 4}, 'noise_df=4 is for noise="student"'),
        ({"slab": "laplace"}, 'noise="student" has slab="gaussian" only; got slab=\'laplace\''),
        ({"slab": "zellner"}, 'has slab="gaussian" only'),
        ({"feature_groups": {"g": [0, 1]}}, "for single columns"),
        ({"flat": [0]}, 'flat is for noise="gaussian"'),
        ({"solver": "enumerate"}, "solver='enumerate' is for noise=\"gaussian\""),
        ({"solver": "tempered"}, "solver='tempered' is for noise=\"gaussian\""),
        ({"noise_df": 0.5}, "noise_df must be from 1"),
        ({"noise_df": 1e9}, "noise_df must be from 1"),
        ({"noise_df": np.inf}, "noise_df must be finite"),
        ({"noise_df": True}, "noise_df must be from 1"),
        ({"noise_df": "guess"}, "'noise_df' parameter"),
        ({"noise": "cauchy"}, "'noise' parameter"),
    ],
)
def test_what_it_is_not_for(settings, sentence):
    X, y, _ = with_outliers(30, 3)
    with pytest.raises(ValueError, match=sentence):
        SpikeSlabRegressor(**{**QUICK, **settings}).fit(X, y)


def test_a_response_that_is_mostly_one_number():
    X, y, _ = with_outliers(30, 3)
    y[:16] = 1.0
    with pytest.raises(ValueError, match="the same number in half of the rows"):
        SpikeSlabRegressor(**QUICK).fit(X, y)
    SpikeSlabRegressor(sigma_e=1.0, sigma_beta=5.0, **QUICK).fit(X, y)


@pytest.mark.parametrize("weights", [None, [1, 1, 1, 1, 1], [2, 0, 1, 3, 1], [1, 1, 0, 0, 0]])
def test_middle_and_spread(weights):
    y = np.array([5.0, 1.0, 2.0, 9.0, 4.0])
    times = np.ones(5, dtype=int) if weights is None else np.array(weights)
    long = np.repeat(y, times)
    expected = np.median(long), stats.median_abs_deviation(long, scale="normal")
    given = None if weights is None else times.astype(float)
    np.testing.assert_allclose(middle_and_spread(y, given, True), expected)
    about_zero = np.median(np.abs(long)) * 1.482602218505602
    np.testing.assert_allclose(middle_and_spread(y, given, False), (0, about_zero))


def test_it_needs_rows(fitted, tmp_path):
    X, y, _, model = fitted
    known = SufficientStatistics.from_arrays([(X, y)])
    with pytest.raises(ValueError, match="needs the rows of X"):
        SpikeSlabRegressor(**QUICK).fit(known)
    mapped = np.memmap(tmp_path / "x", dtype=np.float64, mode="w+", shape=X.shape)
    mapped[:] = X
    found = SpikeSlabRegressor(**QUICK).fit(mapped, y)
    np.testing.assert_array_equal(found.inclusion_probabilities_, model.inclusion_probabilities_)


def test_without_an_intercept():
    X, y, _ = with_outliers(seed=5)
    model = SpikeSlabRegressor(fit_intercept=False, **QUICK).fit(X, y - 3.0)
    assert model.intercept_ == 0
    assert (model.draws_.intercept == 0).all()
    assert (model.inclusion_probabilities_[:2] > 0.99).all()


def test_models_have_no_evidence_in_closed_form(fitted):
    *_, model = fitted
    assert model.models_["log_marginal"].isna().all()
    assert model.models_["mass"].sum() == pytest.approx(1)
    with pytest.raises(AttributeError, match="no model's marginal likelihood is in closed form"):
        _ = model.log_evidence_


def test_prediction_by_one_model_goes_by_its_draws(fitted):
    X, _, _, model = fitted
    names = [f"x{j}" for j in range(X.shape[1])]
    best = [names.index(name) for name in model.models_["variables"][0]]
    inside = np.zeros(X.shape[1], dtype=bool)
    inside[best] = True
    draws = model.draws_
    own = np.flatnonzero(((draws.coef.toarray() != 0) == inside).all(axis=1))
    assert own.size >= 100
    linear = draws.coef.toarray()[own] @ X.T + draws.intercept.reshape(-1, 1)[own]
    mean, sd = model.predict(X, return_std=True, model="best")
    np.testing.assert_allclose(mean, linear.mean(axis=0), atol=1e-9)
    sigma, df = draws.sigma_e.ravel()[own], draws.noise_df.ravel()[own]
    noise = np.where(df > 2, sigma**2 * df / np.where(df > 2, df - 2, 1), np.inf).mean()
    np.testing.assert_allclose(sd, np.sqrt(noise + linear.var(axis=0)), rtol=1e-9)
    lower, upper = model.predict_interval(X, level=0.8, model="best")
    level = stats.t.cdf((upper - linear) / sigma[:, None], df[:, None]).mean(axis=0)
    np.testing.assert_allclose(level, 0.9, atol=1e-6)
    assert (lower < mean).all()


def test_draws_of_the_prior():
    X, y, _ = with_outliers()
    prior = SpikeSlabRegressor(noise="student").sample_prior(X, y, 4000, random_state=0)
    df = prior.noise_df.ravel()
    assert stats.kstest(df - 1, stats.expon(scale=10).cdf).pvalue > 1e-3
    given = SpikeSlabRegressor(noise="student", noise_df=1).sample_prior_predictive(
        X, y, 2000, random_state=0
    )
    assert given.shape == (2000, 100)
    # Cauchy about a signal: far out far more often than normal
    assert np.mean(np.abs(given - 3) > 50 * np.median(np.abs(given - 3))) > 0.001


def test_log_likelihood_is_that_of_t(fitted):
    X, y, _, model = fitted
    draws = model.draws_
    linear = draws.coef @ X.T + draws.intercept.reshape(-1, 1)
    scale, df = draws.sigma_e.reshape(-1, 1), draws.noise_df.reshape(-1, 1)
    expected = stats.t.logpdf(y, df, linear, scale)
    np.testing.assert_allclose(model._log_density(linear, y), expected)
