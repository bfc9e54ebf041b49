"""Classes that columns tell apart without error, wholly, in part or nearly."""

import warnings

import numpy as np
import pytest
from likelihood_tables import draw
from reference.likelihood import refit, standardise

from ellzero import L0Classifier, L0ClassifierCV, L0PoissonRegressor, l0_frontier
from ellzero._warnings import SeparationWarning


def separated(kind, rng, n=40, p=4):
    """Return columns of which the first, named "x0", tells the classes apart."""
    X = rng.normal(size=(n, p))
    y = (X[:, 1] + rng.normal(size=n) > 0).astype(float)
    if kind == "wholly":
        X[:, 0] = np.where(y == 1, 1, -1) * rng.uniform(0.1, 2, n)
    elif kind == "touching":  # ties at zero are of both classes
        X[:, 0] = np.where(y == 1, 1, -1) * rng.uniform(0.1, 2, n)
        X[:6, 0], y[:6] = 0.0, [0, 1, 0, 1, 0, 1]
    else:  # in part: where x0 is one, all are of one class
        X[:, 0] = np.where((y == 1) & (rng.random(n) < 0.4), 1.0, 0.0)
    return X, y


KINDS = ["wholly", "touching", "in part"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("solver", ["frontier", "sbr"])
@pytest.mark.parametrize("seed", range(3))
def test_the_default_ridge_keeps_coefficients_finite_and_exact(kind, solver, seed):
    X, y = separated(kind, np.random.default_rng(seed))
    model = L0Classifier(0.5, solver=solver).fit(X, y)
    fit = refit("logistic", standardise(X), y, model.support_, ridge=model.ridge_)
    energy = model.objective_ - model.lam_ * model.support_.size
    assert energy == pytest.approx(fit.energy, rel=1e-6, abs=1e-8)
    assert np.isfinite(model.predict_log_proba(X)).all()
    assert 0 in model.support_
    # No more than the slab's standard deviation allows for: a few times ten per standard deviation
    assert np.abs(model.coef_[0] * X.std(axis=0)).max() < 100


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("solver", ["frontier", "sbr"])
@pytest.mark.parametrize("seed", range(3))
def test_without_a_ridge_they_are_finite_and_warned_of(kind, solver, seed):
    X, y = separated(kind, np.random.default_rng(seed))
    with pytest.warns(SeparationWarning, match="'x0'.* separate the classes") as caught:
        model = L0Classifier(0.1, ridge=0.0, solver=solver).fit(X, y)
    assert "x0" in caught[0].message.columns
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()
    assert np.isfinite(model.predict_proba(X)).all()
    # The likelihood has no maximum, but what is left to be gained is little.
    fit = refit("logistic", standardise(X), y, model.support_, ridge=1e-9)
    assert 0.5 * model.deviance_ <= fit.energy + 1e-6
    if kind == "wholly":
        assert model.deviance_ < 1e-6
        assert model.score(X, y) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_frontiers_warn_of_the_smallest_such_model_and_have_all_sizes(kind):
    X, y = separated(kind, np.random.default_rng(5))
    with pytest.warns(SeparationWarning, match="columns 'x0' separate"):
        frontier = l0_frontier(X, y, loss="logistic", ridge=0.0)
    assert (np.diff(frontier.energies) <= 1e-8).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ridged = l0_frontier(X, y, loss="logistic")
    assert ridged.sizes.tolist() == [0, 1, 2, 3, 4]


def test_the_column_is_named_as_it_is_called():
    pd = pytest.importorskip("pandas")
    X, y = separated("wholly", np.random.default_rng(1))
    with pytest.warns(SeparationWarning, match="columns 'dose' separate the classes"):
        L0Classifier(size=1, ridge=0.0).fit(pd.DataFrame(X, columns=["dose", "a", "b", "c"]), y)


@pytest.mark.parametrize("loss", ["logistic", "poisson"])
@pytest.mark.parametrize("effect", [0.0, 1.0, 3.0])
def test_no_warning_where_classes_overlap(loss, effect):
    kind = L0Classifier if loss == "logistic" else L0PoissonRegressor
    for seed in range(5):
        X, y = draw(loss, seed, n=150, p=5, effect=effect)
        kind(0.5, ridge=0.0).fit(X, y)  # warnings are errors here
        kind(0.5, ridge=0.0, solver="sbr").fit(X, y)


def test_nearly_separated_classes_are_fitted_without_a_warning():
    rng = np.random.default_rng(3)
    x = np.sort(rng.normal(size=200))
    y = (x > 0).astype(float)
    y[[99, 100, 101, 102]] = [1, 0, 1, 0]
    X = np.column_stack([x, rng.normal(size=200)])
    model = L0Classifier(size=1, ridge=0.0).fit(X, y)
    fit = refit("logistic", standardise(X), y, [0])
    assert model.support_.tolist() == [0]
    assert 0.5 * model.deviance_ == pytest.approx(fit.nll, rel=1e-7)


def test_counts_that_vanish_where_a_column_is_one():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    y = rng.poisson(2.0, 60).astype(float)
    X[:, 0] = 0
    X[:20, 0], y[:20] = 1, 0
    model = L0PoissonRegressor(size=1).fit(X, y)
    assert model.support_.tolist() == [0]
    fit = refit("poisson", standardise(X), y, [0], ridge=model.ridge_)
    assert 0.5 * model.deviance_ == pytest.approx(fit.nll, rel=1e-5)
    with pytest.warns(SeparationWarning):
        free = L0PoissonRegressor(size=1, ridge=0.0).fit(X, y)
    assert free.predict(X[:1])[0] < 1e-4
    assert np.isfinite(free.coef_).all()


def test_cross_validation_of_separated_classes():
    X, y = separated("wholly", np.random.default_rng(4))
    models = [L0ClassifierCV(cv=4, n_repeats=1).fit(X, y)]
    with pytest.warns(SeparationWarning, match="'x0'"):
        models.append(L0ClassifierCV(cv=4, n_repeats=1, ridge=0.0).fit(X, y))
    for model in models:
        assert 0 in model.support_
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.cv_results_["mean_error"]).all()


def test_models_that_were_not_chosen_are_not_warned_of():
    rng = np.random.default_rng(13)
    X = rng.normal(size=(40, 12))
    y = (X[:, 0] + rng.normal(size=40) > 0).astype(int)
    model = L0ClassifierCV(cv=4, n_repeats=1, ridge=0.0, rule="1se").fit(X, y)  # or it is an error
    assert list(model.support_) == [0]
    with pytest.warns(SeparationWarning):  # larger ones are on its frontier
        l0_frontier(X, y, loss="logistic", ridge=0.0, max_size=int(model.frontier_.sizes[-1]))
