"""Estimators on genotypes give what they give on the same numbers."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from ellzero import (
    BayesianBridgeRegressor,
    BernoulliGaussian,
    Genotypes,
    L0Classifier,
    L0Regressor,
    L0RegressorCV,
    SpikeSlabRegressor,
    l0_frontier,
    marginal_map,
    stability,
)
from ellzero.genotypes import MissingGenotypesWarning

pytestmark = pytest.mark.filterwarnings("ignore::ellzero.genotypes.MissingGenotypesWarning")


@pytest.fixture
def problem(rng):
    n, p = 301, 120  # a byte that is not full, and more than one tile of rows and columns
    copies = rng.binomial(2, rng.uniform(0.05, 0.5, size=p), size=(n, p)).astype(float)
    copies[rng.random((n, p)) < 0.03] = np.nan
    genotypes = Genotypes.from_array(copies, variants=[f"rs{j}" for j in range(p)])
    X = genotypes.to_array()
    y = X[:, [7, 50, 111]] @ [1.0, -0.8, 0.7] + rng.normal(size=n)
    return genotypes, X, y


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
def test_frontiers_are_those_of_numbers(rng, problem, weighted, intercept):
    genotypes, X, y = problem
    weight = rng.integers(0, 3, size=len(y)) if weighted else None
    options = {"max_size": 8, "sample_weight": weight, "fit_intercept": intercept}
    found, expected = l0_frontier(genotypes, y, **options), l0_frontier(X, y, **options)
    np.testing.assert_allclose(found.energies, expected.energies, rtol=1e-12)
    for one, other in zip(found.supports, expected.supports, strict=True):
        np.testing.assert_array_equal(one, other)
    model, same = found.at(size=3), expected.at(size=3)
    np.testing.assert_allclose(model.coef, same.coef, rtol=0, atol=1e-10)
    assert model.names == ["rs7", "rs50", "rs111"]


@pytest.mark.parametrize(
    "estimator",
    [
        L0Regressor(),
        L0Regressor(lam=20.0, solver="sbr"),
        L0Regressor(feature_groups={"pair": [7, 8]}),
        L0RegressorCV(random_state=0, n_repeats=1, max_size=6),
        # Folds that are too many to share parts, which are weights instead
        L0RegressorCV(cv=40, random_state=0, n_repeats=1, max_size=4, solver="sbr"),
        SpikeSlabRegressor(random_state=0, n_draws=200, n_warmup=100),
    ],
    ids=lambda estimator: repr(estimator)[:40],
)
def test_fits_are_those_of_numbers(problem, estimator):
    genotypes, X, y = problem
    estimator = clone(estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few draws may not have mixed
        expected = estimator.fit(X, y)
        coefficients, intercept, support = expected.coef_, expected.intercept_, expected.support_
        fitted = expected.predict(X)
        estimator.fit(genotypes, y)
    np.testing.assert_array_equal(estimator.support_, support)
    np.testing.assert_allclose(estimator.coef_, coefficients, rtol=0, atol=1e-10)
    np.testing.assert_allclose(estimator.intercept_, intercept, rtol=0, atol=1e-9)
    np.testing.assert_allclose(estimator.predict(genotypes), fitted, rtol=0, atol=1e-9)
    assert estimator.feature_names_in_.tolist() == genotypes.feature_names.tolist()


def test_marginal_map_is_that_of_numbers(problem):
    genotypes, X, y = problem
    prior = BernoulliGaussian(0.03, 1.0)
    found, expected = (marginal_map(table, y, prior, sigma_e=1.0) for table in (genotypes, X))
    np.testing.assert_array_equal(found.support, expected.support)
    np.testing.assert_allclose(found.coef, expected.coef, rtol=0, atol=1e-10)


def test_bits_do_not_depend_on_threads(problem, monkeypatch):
    genotypes, _, y = problem
    wide = genotypes[:, np.tile(np.arange(120), 40)]  # enough to be shared among threads
    found = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        found.append(l0_frontier(wide, y, max_size=5).energies)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_predictions_for_others_can_use_the_means_of_the_fit(problem):
    genotypes, _, y = problem
    model = L0Regressor(size=3).fit(genotypes, y)
    new = Genotypes.from_array(np.full((1, 120), np.nan), variants=genotypes.feature_names)
    mean = genotypes.means @ model.coef_ + model.intercept_
    np.testing.assert_allclose(model.predict(new.with_means(genotypes.means)), [mean])
    assert model.score(genotypes[:200], y[:200]) > 0
    nothing = L0Regressor(size=0).fit(genotypes, y)
    np.testing.assert_allclose(nothing.predict(genotypes), y.mean())


def test_missing_genotypes_are_said(problem):
    genotypes, _, y = problem
    count = genotypes.missing_counts.sum()
    with pytest.warns(MissingGenotypesWarning, match=f"X: {count:,} of 36,120 genotypes"):
        L0Regressor(size=2).fit(genotypes, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        complete = Genotypes.from_array(np.arange(80).reshape(20, 4) % 3)
        L0Regressor(size=1).fit(complete, np.arange(20.0))


def test_who_does_not_take_them_says_so(problem):
    genotypes, _, y = problem
    for act in (
        lambda: L0Classifier().fit(genotypes, y > 0),
        lambda: BayesianBridgeRegressor().fit(genotypes, y),
        lambda: SpikeSlabRegressor(noise="student").fit(genotypes, y),
        lambda: stability(genotypes, y),
        lambda: l0_frontier(genotypes, y > 0, loss="logistic"),
    ):
        with pytest.raises(TypeError, match="does not take Genotypes"):
            act()


def test_what_comes_with_them_is_checked(problem):
    genotypes, _, y = problem
    model = L0Regressor(size=1)
    for words, *wrong in (
        ("requires y", genotypes, None),
        ("inconsistent numbers of samples", genotypes, y[:-1]),
        ("contains NaN", genotypes, np.where(y > 2, np.nan, y)),
        ("sample_weight", genotypes, y, -y),
        ("samples and variants", genotypes[:, []], y),
    ):
        with pytest.raises(ValueError, match=words):
            model.fit(*wrong)
    model.fit(genotypes, y)
    with pytest.raises(ValueError, match="X has 2 variants"):
        model.predict(genotypes[:, :2])
    with pytest.raises(ValueError, match="variant 0 is 'rs119', but was 'rs0'"):
        model.predict(genotypes[:, ::-1])


def test_predictions_of_a_posterior_are_those_of_the_numbers(problem):
    genotypes, numbers, y = problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of missing genotypes, and of few draws
        model = SpikeSlabRegressor(n_draws=50, n_warmup=20, random_state=0).fit(genotypes, y)
    plain = SpikeSlabRegressor(n_draws=50, n_warmup=20, random_state=0).fit(numbers, y)
    for ours, theirs in zip(
        model.predict(genotypes, return_std=True),
        plain.predict(numbers, return_std=True),
        strict=True,
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    np.testing.assert_allclose(
        model.predict_interval(genotypes), plain.predict_interval(numbers), rtol=1e-9
    )
    np.testing.assert_array_equal(model.transform(genotypes), plain.transform(numbers))
