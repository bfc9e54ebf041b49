"""What is hard on likelihoods: a finite answer, or one clear sentence."""

import warnings

import numpy as np
import pandas as pd
import pytest
from interrupts import interrupted
from likelihood_tables import LOSSES, draw
from reference.likelihood import refit, standardise

from ellzero import (
    L0Classifier,
    L0ClassifierCV,
    L0PoissonRegressor,
    L0PoissonRegressorCV,
    l0_frontier,
)

KINDS = {"logistic": L0Classifier, "poisson": L0PoissonRegressor}
CV_KINDS = {"logistic": L0ClassifierCV, "poisson": L0PoissonRegressorCV}


def assert_sound(loss, X, y, **options):
    """Every model of the frontier is finite, has the energy of its coefficients, and falls."""
    frontier = l0_frontier(X, y, loss=loss, **options)
    assert np.isfinite(frontier.energies).all()
    assert (np.diff(frontier.energies) <= 1e-9 * frontier.energies[0]).all()
    for size in frontier.sizes.tolist():
        model = frontier.at(size=size)
        assert np.isfinite(model.coef).all()
        assert np.isfinite(model.intercept)
        assert np.isfinite(model.removal_cost).all()
    for solver in ("frontier", "sbr"):
        model = KINDS[loss](0.7, solver=solver).fit(X, y)
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.predict(X)).all()
        assert np.isfinite(model.objective_)
    return frontier


@pytest.mark.parametrize("loss", LOSSES)
class TestColumns:
    def test_constant(self, loss):
        X, y = draw(loss, 40)
        X[:, 3] = 7.7
        frontier = assert_sound(loss, X, y)
        assert frontier.sizes[-1] == 7
        assert not any(3 in support for support in frontier.supports)
        with pytest.warns(UserWarning, match="column 'x3' is constant"):
            KINDS[loss](1.0, always_include=[3]).fit(X, y)

    def test_far_from_zero(self, loss):
        X, y = draw(loss, 41)
        near, far = assert_sound(loss, X, y), assert_sound(loss, X + 1e8, y)
        np.testing.assert_allclose(far.energies, near.energies, rtol=1e-5)

    @pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e30, 1e150])
    def test_of_any_scale(self, loss, scale):
        X, y = draw(loss, 42)
        plain, scaled = assert_sound(loss, X, y), assert_sound(loss, X * scale, y)
        np.testing.assert_allclose(scaled.energies, plain.energies, rtol=1e-8)
        coef = scaled.at(size=3).coef * scale
        np.testing.assert_allclose(coef, plain.at(size=3).coef, rtol=1e-5, atol=1e-9)

    def test_of_scales_that_differ(self, loss):
        X, y = draw(loss, 43)
        factors = 10.0 ** np.array([-200, -50, -8, 0, 8, 50, 100, 150])
        plain, scaled = assert_sound(loss, X, y), assert_sound(loss, X * factors, y)
        np.testing.assert_allclose(scaled.energies, plain.energies, rtol=1e-8)

    @pytest.mark.parametrize("ridge", [None, 0.0, 1.0])
    def test_duplicates(self, loss, ridge):
        X, y = draw(loss, 44, p=4)
        twice = np.hstack([X, -2 * X, X[:, :1] + X[:, 1:2]])
        frontier = assert_sound(loss, twice, y, ridge=ridge)
        for support in frontier.supports:
            fit = refit(
                loss, standardise(twice), y, support, ridge=1 / 6000 if ridge is None else ridge
            )
            place = len(support)
            assert frontier.energies[place] == pytest.approx(fit.energy, rel=1e-7)
        if ridge == 0.0:
            assert frontier.sizes[-1] == 4  # no more are independent

    @pytest.mark.parametrize("noise", [1e-2, 1e-4, 1e-6, 1e-9])
    @pytest.mark.parametrize("ridge", [None, 0.0])
    def test_near_duplicates(self, loss, noise, ridge):
        X, y = draw(loss, 45, p=4)
        rng = np.random.default_rng(45)
        near = np.hstack([X, X + noise * rng.normal(size=X.shape)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of separation by differences that are tiny
            assert_sound(loss, near, y, ridge=ridge)

    def test_more_than_rows(self, loss):
        X, y = draw(loss, 46, n=15, p=60)
        frontier = assert_sound(loss, X, y)
        best = min(refit(loss, standardise(X), y, [j], ridge=1 / 1500).energy for j in range(60))
        assert frontier.energies[1] == pytest.approx(best, rel=1e-8)

    def test_one_row_far_from_the_others(self, loss):
        X, y = draw(loss, 47)
        X[3] *= 1e5
        frontier = assert_sound(loss, X, y)
        for support, energy in zip(frontier.supports[:4], frontier.energies, strict=False):
            fit = refit(loss, standardise(X), y, support, ridge=1 / 6000)
            assert energy == pytest.approx(fit.energy, rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_few_rows(loss, n):
    for seed in range(6):
        X, y = draw(loss, seed, n=n, p=3)
        for ridge in (None, 0.0):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of separation
                assert_sound(loss, X, y, ridge=ridge)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_no_number(loss, value):
    X, y = draw(loss, 48)
    X[3, 2] = value
    for estimator in (KINDS[loss](), CV_KINDS[loss]()):
        with pytest.raises(ValueError, match="Input X contains"):
            estimator.fit(X, y)
    with pytest.raises(ValueError, match="Input X contains"):
        l0_frontier(X, y, loss=loss)
    X, y = draw(loss, 48)
    y[3] = value
    for estimator in (KINDS[loss](), CV_KINDS[loss]()):
        with pytest.raises(ValueError, match="Input y contains"):
            estimator.fit(X, y)


class TestResponses:
    def test_one_class(self):
        for estimator in (L0Classifier(), L0ClassifierCV()):
            with pytest.raises(ValueError, match="y must hold two classes"):
                estimator.fit(np.eye(4), ["a"] * 4)

    def test_three_classes(self):
        with pytest.raises(ValueError, match="Only binary classification is supported"):
            L0Classifier().fit(np.eye(3), ["a", "b", "c"])

    def test_numbers_that_are_no_classes(self):
        with pytest.raises(ValueError, match="Unknown label type"):
            L0Classifier().fit(np.eye(3), [0.1, 0.7, 3.2])

    def test_one_row_of_a_class(self):
        X, _ = draw("logistic", 50)
        y = np.zeros(60)
        y[17] = 1
        assert_sound("logistic", X, y)

    def test_counts_that_are_all_equal(self):
        X, _ = draw("poisson", 51)
        frontier = assert_sound("poisson", X, np.full(60, 3.0))
        assert frontier.energies[0] == pytest.approx(0, abs=1e-9)
        assert L0PoissonRegressor("bic").fit(X, np.full(60, 3.0)).support_.size == 0

    def test_one_count(self):
        X, _ = draw("poisson", 52)
        y = np.zeros(60)
        y[9] = 1
        assert_sound("poisson", X, y)

    @pytest.mark.parametrize("factor", [1e-100, 1e-8, 1e8, 1e100])
    def test_counts_of_any_scale(self, factor):
        X, y = draw("poisson", 53)
        plain = l0_frontier(X, y, loss="poisson", ridge=0.0)
        scaled = l0_frontier(X, factor * y, loss="poisson", ridge=0.0)
        np.testing.assert_allclose(scaled.energies / factor, plain.energies, rtol=1e-6)
        assert_sound("poisson", X, factor * y)

    @pytest.mark.parametrize("factor", [1e-250, 1e135, 1e200])
    def test_counts_beyond_what_can_be_computed(self, factor):
        X, y = draw("poisson", 53)
        for estimator in (L0PoissonRegressor(), L0PoissonRegressorCV()):
            with pytest.raises(ValueError, match=r"^y.* too (large|small)"):
                estimator.fit(X, factor * y)

    def test_counts_of_all_sizes_at_once(self):
        X, _ = draw("poisson", 54)
        y = 10.0 ** np.linspace(-3, 12, 60)
        X[:, 0] = np.linspace(0, 1, 60)
        frontier = assert_sound("poisson", X, y)
        assert frontier.supports[1].tolist() == [0]
        fit = refit("poisson", standardise(X), y, [0], ridge=1 / 6000)
        # Energies are known to a share of the one without variables.
        assert frontier.energies[1] == pytest.approx(fit.energy, abs=1e-10 * frontier.energies[0])

    @pytest.mark.parametrize("exposure", [1e-200, 1e-20, 1e20, 1e200])
    def test_exposures_of_any_scale(self, exposure):
        X, y = draw("poisson", 55)
        plain = L0PoissonRegressor(size=3).fit(X, y)
        scaled = L0PoissonRegressor(size=3).fit(X, y, exposure=np.full(60, exposure))
        np.testing.assert_allclose(scaled.coef_, plain.coef_, rtol=1e-4, atol=1e-7)
        assert scaled.deviance_ == pytest.approx(plain.deviance_, rel=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weight", [1e-12, 1e12])
def test_weights_of_any_scale(loss, weight):
    X, y = draw(loss, 56)
    plain = l0_frontier(X, y, loss=loss, ridge=0.0)
    heavy = l0_frontier(X, y, loss=loss, ridge=0.0, sample_weight=np.full(60, weight))
    np.testing.assert_allclose(heavy.energies / weight, plain.energies, rtol=1e-7)
    np.testing.assert_array_equal(heavy.supports[3], plain.supports[3])
    if weight < 1:
        with pytest.raises(ValueError, match="sample_weight sums to 6e-11, but"):
            KINDS[loss]("bic").fit(X, y, np.full(60, weight))


@pytest.mark.parametrize("loss", LOSSES)
def test_no_columns_are_asked_for(loss):
    X, y = draw(loss, 57)
    model = KINDS[loss](np.inf).fit(X, y)
    assert model.support_.size == 0
    assert model.objective_ == pytest.approx(0.5 * model.null_deviance_)
    assert KINDS[loss](max_size=0, lam=1e9).fit(X, y).support_.size == 0


@pytest.mark.parametrize("loss", LOSSES)
def test_an_interrupt_propagates_and_the_next_fit_is_right(loss):
    rng = np.random.default_rng(9)
    X = rng.normal(size=(1000, 3000))
    y = rng.integers(0, 2, 1000).astype(float)
    for model in (
        KINDS[loss](0.0, max_size=200),
        KINDS[loss](0.0, max_size=200, solver="sbr"),
        CV_KINDS[loss](max_size=100, n_jobs=2),
    ):
        with interrupted():
            model.fit(X, y)
        assert not hasattr(model, "coef_")
    small, response = draw(loss, 58)
    model = KINDS[loss](size=3).fit(small, response)
    fit = refit(loss, standardise(small), response, model.support_, ridge=model.ridge_)
    assert 0.5 * model.deviance_ == pytest.approx(fit.nll, rel=1e-6)


@pytest.mark.parametrize("nothing", [None, pd.NA])
def test_a_row_without_a_class(nothing):
    labels = pd.Series(["a", "b", nothing] * 10, dtype=object)
    with pytest.raises(ValueError, match="y contains NaN: every row needs a class"):
        L0Classifier().fit(np.random.default_rng(0).normal(size=(30, 2)), labels)


def test_exposures_that_are_no_numbers():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match="exposure must hold numbers"):
        L0PoissonRegressor().fit(X, np.arange(20), exposure=["a"] * 20)
