import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from estimator_checks import WRONG_FOR_TWO_CLASSES, assert_passes_every_check
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from ellzero import L0Classifier, SpikeSlabClassifier
from ellzero.posterior import from_standardised

SHORT = {"n_draws": 200, "n_warmup": 100, "random_state": 0}


def table(n=120, p=12, seed=0, rho=0.3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    psi = 1.5 * X[:, 2] - 1.2 * X[:, min(5, p - 1)] - 0.4
    return X, (rng.random(n) < expit(psi)).astype(int)


def quiet(model, *data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*data)


def test_passes_every_check():
    assert_passes_every_check(
        "SpikeSlabClassifier(n_draws=100, n_warmup=50)", wrong=WRONG_FOR_TWO_CLASSES
    )


def test_what_is_fitted():
    X, y = table()
    X = pd.DataFrame(X, columns=[f"x{j}" for j in range(12)])
    labels = np.array(["no", "yes"])[y]
    model = SpikeSlabClassifier(random_state=0).fit(X, labels)
    assert model.solver_ == "gibbs"
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.coef_.shape == model.coef_sd_.shape == (1, 12)
    assert model.intercept_.shape == (1,)
    assert model.get_feature_names_out().tolist() == ["x2", "x5"]
    assert model.models_["variables"][0] == ("x2", "x5")
    assert model.models_["mass"].sum() == pytest.approx(1)
    assert {str(found.best) for found in model.credible_sets_} >= {"x2"}
    names = [*X.columns, "intercept", "sigma_beta", "theta"]
    assert model.diagnostics_.index.tolist() == names
    assert model.diagnostics_["ess_bulk"].min() > 100
    np.testing.assert_array_equal(model.probability_errors_, model.diagnostics_["mcse"][:12])
    assert "expected" in str(model.sensitivity_)
    pairs = model.jointness()
    assert {"x2", "x5"} <= {*pairs["first"], *pairs["second"]}
    # Averages of conditional expectations are those of the draws, but for noise
    draws = model.draws_.coef.toarray()
    np.testing.assert_allclose(model.coef_[0], draws.mean(axis=0), atol=0.06)
    np.testing.assert_allclose(model.coef_sd_[0], draws.std(axis=0), atol=0.06)
    assert model.intercept_[0] == pytest.approx(model.draws_.intercept.mean(), abs=0.06)
    assert model.draws_.sigma_e is None


def test_summary():
    X, y = table()
    model = SpikeSlabClassifier(**SHORT).fit(X, y)
    summary = model.summary()
    assert summary.index[:2].tolist() == ["x2", "x5"]
    first = summary.iloc[0]
    assert first["low"] < first["coefficient"] < first["high"]
    assert first["odds_ratio"] == pytest.approx(np.exp(first["coefficient"]))
    assert first["odds_ratio_high"] == pytest.approx(np.exp(first["high"]))
    assert first["odds_ratio_per_sd"] == pytest.approx(np.exp(first["coefficient"] * X[:, 2].std()))
    assert summary.attrs["solver"] == "gibbs"
    assert len(model.plot(max_variables=5)) == 2


@pytest.mark.parametrize("solver", ["enumerate", "gibbs"])
def test_probabilities_are_averages_over_draws(solver):
    X, y = table(p=5)
    model = SpikeSlabClassifier(solver=solver, **SHORT).fit(X, y)
    psi = X @ model.draws_.coef.toarray().T + model.draws_.intercept.ravel()
    probability, std = model.predict_proba(X, return_std=True)
    np.testing.assert_allclose(probability[:, 1], expit(psi).mean(axis=1))
    np.testing.assert_allclose(model.predict_proba(X), probability)
    np.testing.assert_allclose(std, expit(psi).std(axis=1))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), probability)
    np.testing.assert_allclose(expit(model.decision_function(X)), probability[:, 1], rtol=1e-12)
    assert (model.predict(X) == (probability[:, 1] > 0.5)).all()
    lower, upper = model.probability_interval(X, level=0.8)
    np.testing.assert_allclose(lower, np.quantile(expit(psi), 0.1, axis=1), rtol=1e-6)
    assert ((lower <= probability[:, 1]) & (probability[:, 1] <= upper)).mean() > 0.95
    np.testing.assert_allclose(model.predict_proba(sparse.csr_array(X)), probability)


def test_enumeration_and_chains_agree():
    X, y = table(p=6, n=80)
    exact = SpikeSlabClassifier(random_state=1).fit(X, y)
    assert exact.solver_ == "enumerate"
    assert exact.probability_errors_.max() <= 1e-3
    chains = SpikeSlabClassifier(solver="gibbs", n_draws=8000, random_state=1).fit(X, y)
    apart = np.abs(exact.inclusion_probabilities_ - chains.inclusion_probabilities_)
    errors = np.hypot(exact.probability_errors_, chains.probability_errors_)
    assert (apart < 4 * errors + 1e-6).all()  # those of a column that is sure to be in are tiny
    np.testing.assert_allclose(exact.coef_, chains.coef_, atol=0.03)
    np.testing.assert_allclose(exact.coef_sd_, chains.coef_sd_, rtol=0.05, atol=0.01)
    np.testing.assert_allclose(exact.intercept_, chains.intercept_, atol=0.03)
    np.testing.assert_allclose(
        np.median(exact.draws_.sigma_beta), np.median(chains.draws_.sigma_beta), rtol=0.1
    )
    np.testing.assert_allclose(exact.predict_proba(X), chains.predict_proba(X), atol=0.02)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("p", [4, 30])
def test_weights_are_repetitions_to_the_last_digit(make, p):
    rng = np.random.default_rng(4)
    X = rng.integers(0, 3, (15, p)).astype(float)
    y = rng.integers(0, 2, 15)
    weight = rng.integers(0, 4, 15)
    repeated, order = np.repeat(np.arange(15), weight), rng.permutation(weight.sum())
    weighted = quiet(SpikeSlabClassifier(**SHORT), make(X), y, weight)
    longer = quiet(SpikeSlabClassifier(**SHORT), make(X[repeated][order]), y[repeated][order])
    np.testing.assert_array_equal(weighted.draws_.coef.toarray(), longer.draws_.coef.toarray())
    np.testing.assert_array_equal(weighted.coef_, longer.coef_)
    np.testing.assert_array_equal(weighted.predict_proba(X), longer.predict_proba(X))


def test_separated_classes_are_finite():
    X, _ = table(n=40, p=10)
    y = (X[:, 3] > 0).astype(int)
    model = quiet(SpikeSlabClassifier(random_state=0, n_draws=4000), X, y)
    assert model.inclusion_probabilities_[3] > 0.99
    halves = model.draws_.coef.toarray()[:, 3].reshape(4, -1).std(axis=1)
    assert halves.max() < 2 * halves.min()  # a spread that there is
    # From one standard deviation below the mean to one above, well within what a number can hold
    assert 2 < model.coef_[0, 3] < 40
    assert 0.5 < model.coef_sd_[0, 3] < 20
    assert np.isfinite(model.summary()[["low", "high"]]).all(axis=None)
    assert model.score(X, y) > 0.95


def test_nothing_is_found_where_nothing_is():
    # The default prior was chosen on other tables.
    found, empty = [], []
    for seed in range(1000, 1120):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((100, 20)), rng.integers(0, 2, 100)
        model = quiet(SpikeSlabClassifier(n_chains=2, n_draws=300, random_state=0), X, y)
        found.append(model.support_.size)
        empty.append((model.draws_.size == 0).mean())
    assert np.mean(found) <= 0.05
    assert np.mean(empty) >= 0.7


def test_the_intercept_of_a_rare_class_mixes():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((2000, 15))
    y = (rng.random(2000) < expit(-4.5 + X[:, 0])).astype(int)
    model = quiet(SpikeSlabClassifier(random_state=0), X, y)
    assert model.diagnostics_.loc["intercept", "ess_bulk"] > 100


def test_theta_by_column_and_always_include():
    X, y = table(p=6)
    X = pd.DataFrame(X, columns=list("abcdef"))
    model = SpikeSlabClassifier(theta={"c": 0.0, "a": 1.0}, always_include=["b"], **SHORT)
    model.fit(X, y)
    assert model.inclusion_probabilities_[[0, 1, 2]].tolist() == [1, 1, 0]
    assert model.sensitivity_ is None
    assert model.draws_.theta is None
    chains = clone(model).set_params(solver="gibbs").fit(X, y)
    assert chains.inclusion_probabilities_[[0, 1, 2]].tolist() == [1, 1, 0]


def test_evidence_prefers_the_columns_that_tell():
    X, y = table(p=6)
    with_them = SpikeSlabClassifier(theta=0.3, **SHORT).fit(X, y)
    without = SpikeSlabClassifier(theta=0.3, **SHORT).fit(X[:, [0, 1, 3, 4]], y)
    assert with_them.log_evidence_ > without.log_evidence_ + 5
    # Without columns to speak of: the intercept's alone, by quadrature
    psi = np.linspace(-60, 60, 200_001)
    log_joint = y.sum() * psi - len(y) * np.logaddexp(0, psi) - psi**2 / 200
    alone = np.log(np.exp(log_joint).sum() * (psi[1] - psi[0]) / np.sqrt(200 * np.pi))
    never = SpikeSlabClassifier(theta=1e-12, **SHORT).fit(X[:, [0, 1]], y)
    assert never.log_evidence_ == pytest.approx(alone, abs=0.02)


def test_constant_and_copied_columns():
    X, y = table(p=4)
    X = np.column_stack([X, np.full(len(y), 7.0), X[:, 2]])
    model = quiet(SpikeSlabClassifier(solver="gibbs", n_draws=3000, random_state=0), X, y)
    assert model.inclusion_probabilities_[4] == 0
    assert model.inclusion_probabilities_[2] == pytest.approx(
        model.inclusion_probabilities_[5], abs=0.06
    )
    with pytest.warns(UserWarning, match="always_include"):
        SpikeSlabClassifier(always_include=[4], **SHORT).fit(X, y)


def test_units_of_the_columns():
    X, y = table()
    plain = SpikeSlabClassifier(**SHORT).fit(X, y)
    scaled = SpikeSlabClassifier(**SHORT).fit(8 * X, y)
    np.testing.assert_allclose(scaled.coef_, plain.coef_ / 8, rtol=1e-6, atol=1e-12)
    single = SpikeSlabClassifier(**SHORT).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(
        single.inclusion_probabilities_, plain.inclusion_probabilities_, atol=0.1
    )


def test_given_slab():
    X, y = table(p=5)
    sigma = from_standardised(2.0, len(y))
    model = SpikeSlabClassifier(sigma_beta=sigma, **SHORT).fit(X, y)
    assert (model.draws_.sigma_beta == sigma).all()


def test_same_seed_same_draws_whatever_the_jobs():
    X, y = table(p=20)
    one, two = (quiet(SpikeSlabClassifier(n_jobs=jobs, **SHORT), X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    again = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(again.predict_proba(X), one.predict_proba(X))
    np.testing.assert_array_equal(one.predict_proba(X[::-1])[::-1], two.predict_proba(X))


def test_agrees_with_the_mode_where_data_are_plenty():
    X, y = table(n=3000, p=10)
    model = SpikeSlabClassifier(**SHORT).fit(X, y)
    assert model.support_.tolist() == L0Classifier().fit(X, y).support_.tolist()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"theta": 2.0}, "theta"),
        ({"theta": [0.5]}, "theta has shape"),
        ({"sigma_beta": 1e6}, "sigma_beta must be between"),
        ({"sigma_beta": np.inf}, "sigma_beta must be finite"),
        ({"expected_size": 30}, "expected_size"),
        ({"solver": "tempered"}, "solver"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"always_include": ["z"]}, "always_include"),
        ({"always_include": [0], "theta": [0.0] * 12}, "theta is 0"),
    ],
)
def test_bad_parameters(settings, words):
    X, y = table()
    with pytest.raises(ValueError, match=words):
        SpikeSlabClassifier(**settings).fit(X, y)


def test_bad_input():
    X, y = table()
    with pytest.raises(ValueError, match=r"whole numbers.*got 0\.5"):
        SpikeSlabClassifier().fit(X, y, np.full(len(y), 0.5))
    with pytest.raises(ValueError, match="must not exceed 1e"):
        SpikeSlabClassifier().fit(X, y, np.full(len(y), 2e6))
    with pytest.raises(ValueError, match="two classes"):
        SpikeSlabClassifier().fit(X, np.ones(len(y)))
    with pytest.raises(ValueError, match="of positive weight"):
        SpikeSlabClassifier().fit(X, y, (y == 1).astype(float))
    with pytest.raises(ValueError, match="binary"):
        SpikeSlabClassifier().fit(X, np.arange(len(y)) % 3)
    with pytest.raises(ValueError, match="at most 14 columns"):
        SpikeSlabClassifier(solver="enumerate").fit(np.column_stack([X, X]), y)
    with pytest.raises(NotFittedError):
        SpikeSlabClassifier().predict_proba(X)
    model = SpikeSlabClassifier(**SHORT).fit(X[:, :4], y)
    with pytest.raises(ValueError, match="level"):
        model.probability_interval(X[:, :4], level=1.0)
    with pytest.raises(ValueError, match="give both"):
        model.to_arviz(X[:, :4])


def test_chains_that_disagree_are_warned_of():
    cancer = load_breast_cancer()
    with pytest.warns(ConvergenceWarning, match="SpikeSlabClassifier has not mixed"):
        SpikeSlabClassifier(n_draws=20, n_warmup=0, random_state=0).fit(cancer.data, cancer.target)
