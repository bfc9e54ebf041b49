"""L0ClassifierCV and L0PoissonRegressorCV: curves against literal refits, folds, and the API."""

import pickle

import numpy as np
import pytest
import sklearn
from estimator_checks import WRONG_FOR_TWO_CLASSES, assert_passes_every_check
from likelihood_tables import draw
from reference.likelihood import fold_errors, refit, standardise
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import (
    brier_score_loss,
    log_loss,
    mean_poisson_deviance,
    roc_auc_score,
)
from sklearn.model_selection import GroupKFold, KFold, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ellzero import L0Classifier, L0ClassifierCV, L0PoissonRegressor, L0PoissonRegressorCV

SCORES = {
    "log_loss": lambda eta, y, w: log_loss(y, expit(eta), sample_weight=w),
    "brier": lambda eta, y, w: brier_score_loss(y, expit(eta), sample_weight=w),
    "roc_auc": lambda eta, y, w: 1 - roc_auc_score(y, eta, sample_weight=w),
}


def middles(results):
    low, high = results["lam_low"], results["lam_high"]
    return np.where(np.isinf(high), 2 * low, 0.5 * (low + high))


def compare(model, expected, sizes, share):
    """Hold a curve against the errors by fold and interval of the best subsets.

    Folds do without swaps, and may miss the best subset here and there.
    """
    results = model.cv_results_
    found = np.array([results[f"split{f}_error"] for f in range(len(expected))])
    same = np.isclose(found, expected, rtol=2e-4, atol=1e-7)
    assert same.mean() >= 0.9
    np.testing.assert_allclose(results["mean_error"], share @ found, rtol=1e-9)
    spread = np.sqrt(share @ (found - share @ found) ** 2 / (len(found) - 1))
    np.testing.assert_allclose(results["se_error"], spread, rtol=1e-7)
    np.testing.assert_allclose(results["mean_size"], share @ sizes, atol=0.5)
    assert (results["lam_high"][1:] == results["lam_low"][:-1]).all()


@pytest.mark.parametrize("scoring", list(SCORES))
@pytest.mark.parametrize("weighted", [True, False])
def test_the_curve_is_that_of_literal_refits(scoring, weighted):
    X, y = draw("logistic", 21, n=90, p=5)
    rng = np.random.default_rng(21)
    weights = rng.integers(1, 4, len(y)).astype(float) if weighted else None
    splits = list(StratifiedKFold(4).split(X, y))
    model = L0ClassifierCV(cv=splits, scoring=scoring, ridge=0.05, max_size=5)
    model.fit(X, y, weights)
    lams = middles(model.cv_results_)
    found = [
        fold_errors("logistic", X, y, split, lams, SCORES[scoring], weights=weights, ridge=0.05)
        for split in splits
    ]
    w = np.ones(len(y)) if weights is None else weights
    share = np.array([w[test].sum() for _, test in splits])
    errors = np.array([[error for _, error in fold] for fold in found])
    sizes = np.array([[size for size, _ in fold] for fold in found])
    compare(model, errors, sizes, share / share.sum())
    nothing = SCORES[scoring](np.full(len(y), np.log((w @ y) / (w @ (1 - y)))), y, w)
    explained = 1 - model.cv_results_["mean_error"] / nothing
    np.testing.assert_allclose(model.cv_results_["explained"], explained, rtol=1e-7)


def test_the_curve_of_counts_with_exposures():
    X, y = draw("poisson", 22, n=80, p=5)
    rng = np.random.default_rng(22)
    exposure, weights = rng.uniform(0.5, 2, len(y)), rng.integers(0, 3, len(y)).astype(float)
    splits = list(KFold(4).split(X))
    model = L0PoissonRegressorCV(cv=splits, ridge=0.05, max_size=5)
    model.fit(X, y, weights, exposure=exposure)

    def score(eta, y, w):
        return mean_poisson_deviance(y, np.exp(eta), sample_weight=w)

    lams = middles(model.cv_results_)
    found = [
        fold_errors(
            "poisson",
            X,
            y,
            split,
            lams,
            score,
            weights=weights,
            offset=np.log(exposure),
            ridge=0.05,
        )
        for split in splits
    ]
    share = np.array([weights[test].sum() for _, test in splits])
    errors = np.array([[error for _, error in fold] for fold in found])
    sizes = np.array([[size for size, _ in fold] for fold in found])
    compare(model, errors, sizes, share / share.sum())


def test_rows_of_weight_zero_may_hold_anything():
    X, y = draw("poisson", 23, n=60, p=5)
    weights = np.ones(60)
    weights[::7] = 0
    plain = L0PoissonRegressorCV(cv=3, n_repeats=1).fit(X, y, weights)
    y = y.copy()
    y[weights == 0] = -3
    other = L0PoissonRegressorCV(cv=3, n_repeats=1).fit(X, y, weights)
    assert np.isfinite(other.cv_results_["mean_error"]).all()
    np.testing.assert_array_equal(plain.coef_, other.coef_)


@pytest.mark.parametrize("solver", ["frontier", "sbr"])
def test_the_model_is_the_solution_at_the_price_chosen(solver):
    X, y = draw("logistic", 24, n=120, p=8)
    model = L0ClassifierCV(cv=4, n_repeats=2, solver=solver).fit(X, y)
    at_price = L0Classifier(model.lam_, solver=solver).fit(X, y)
    np.testing.assert_array_equal(model.support_, at_price.support_)
    np.testing.assert_allclose(model.coef_, at_price.coef_, rtol=1e-5)
    assert model.objective_ == pytest.approx(at_price.objective_, rel=1e-8)
    fit = refit("logistic", standardise(X), y, model.support_, ridge=model.ridge_)
    assert model.deviance_ == pytest.approx(2 * fit.nll, rel=1e-7)
    assert hasattr(model, "frontier_") == (solver == "frontier")
    results = model.cv_results_
    best = np.argmin(results["mean_error"])
    assert results["lam_low"][best] <= model.lam_ <= results["lam_high"][best]
    cautious = clone(model).set_params(rule="1se").fit(X, y)
    bar = results["mean_error"][best] + results["se_error"][best]
    first = np.flatnonzero(results["mean_error"] <= bar)[0]
    assert results["lam_low"][first] <= cautious.lam_ <= results["lam_high"][first]
    assert cautious.lam_ >= model.lam_


def test_counts_too_are_the_solution_at_the_price_chosen():
    X, y = draw("poisson", 24, n=120, p=8)
    model = L0PoissonRegressorCV(cv=4, n_repeats=2).fit(X, y)
    at_price = L0PoissonRegressor(model.lam_).fit(X, y)
    np.testing.assert_array_equal(model.support_, at_price.support_)
    np.testing.assert_allclose(model.coef_, at_price.coef_, rtol=1e-5)


def test_a_number_of_folds_means_shuffled_ones_with_both_classes():
    X, y = draw("logistic", 25, n=70, p=5)
    by_number = L0ClassifierCV(cv=5, n_repeats=3, random_state=4).fit(X, y)
    splitter = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=4)
    by_splitter = L0ClassifierCV(cv=splitter).fit(X, y)
    for fold in range(15):
        assert f"split{fold}_error" in by_number.cv_results_
    repeats = np.array([by_number.cv_results_[f"split{f}_error"] for f in range(15)])
    assert by_number.cv_results_["mean_error"].shape == repeats.shape[1:]
    assert by_number.n_repeats_ == by_splitter.n_repeats_ == 3
    for name, values in by_number.cv_results_.items():
        np.testing.assert_array_equal(by_splitter.cv_results_[name], values)
    rare = np.zeros(70)
    rare[:3] = 1
    model = L0ClassifierCV(cv=10, n_repeats=1).fit(X, rare)
    assert "split2_error" in model.cv_results_
    assert "split3_error" not in model.cv_results_


@pytest.mark.parametrize(
    ("y", "options", "words"),
    [
        ([0, 0, 0, 0, 0, 1], {}, "y must hold two rows of each class at least"),
        ([0, 0, 0, 1, 1, 1], {"cv": KFold(2)}, "trains on one class only: use fewer folds"),
        (
            [0, 0, 1, 1, 0, 1],
            {"cv": KFold(3), "scoring": "roc_auc"},
            "needs rows of both classes in every fold",
        ),
        ([0, 0, 0, 0, 0, 0], {}, "y must hold two classes"),
    ],
)
def test_folds_that_do_not_do(y, options, words):
    with pytest.raises(ValueError, match=words):
        L0ClassifierCV(**options).fit(np.eye(6), y)


def test_a_fold_of_zeros_does_not_do():
    with pytest.raises(ValueError, match="trains on zeros only: use fewer folds"):
        L0PoissonRegressorCV(cv=KFold(2)).fit(np.eye(6), [0, 0, 0, 1, 2, 3])


def test_groups_go_to_the_splitter():
    X, y = draw("logistic", 26, n=80, p=5)
    groups = np.arange(80) // 8
    model = L0ClassifierCV(cv=GroupKFold(4)).fit(X, y, groups=groups)
    by_hand = L0ClassifierCV(cv=list(GroupKFold(4).split(X, y, groups))).fit(X, y)
    np.testing.assert_array_equal(
        model.cv_results_["mean_error"], by_hand.cv_results_["mean_error"]
    )
    with sklearn.config_context(enable_metadata_routing=True):
        splitter = GroupKFold(4).set_split_request(groups=True)
        inner = L0ClassifierCV(cv=splitter)
        pipe = make_pipeline(StandardScaler(), inner).fit(X, y, groups=groups)
    np.testing.assert_allclose(pipe[-1].lam_, model.lam_, rtol=1e-6)


@pytest.mark.parametrize("kind", [L0ClassifierCV, L0PoissonRegressorCV])
@pytest.mark.parametrize("solver", ["frontier", "sbr"])
def test_threads_do_not_change_bits(kind, solver):
    loss = "logistic" if kind is L0ClassifierCV else "poisson"
    X, y = draw(loss, 27, n=100, p=20)
    one, two = (kind(cv=4, n_repeats=2, solver=solver, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    for name, values in one.cv_results_.items():
        assert values.tobytes() == two.cv_results_[name].tobytes(), name
    assert one.coef_.tobytes() == two.coef_.tobytes()
    copy = pickle.loads(pickle.dumps(one))
    assert copy.predict(X).tobytes() == one.predict(X).tobytes()


def test_of_several_ridges_the_best_is_taken():
    X, y = draw("logistic", 28, n=60, p=6)
    model = L0ClassifierCV(cv=3, n_repeats=2, ridge=[0.01, 1.0, 20.0]).fit(X, y)
    results = model.cv_results_
    assert sorted(set(results["ridge"])) == [0.01, 1.0, 20.0]
    assert model.ridge_ == results["ridge"][np.argmin(results["mean_error"])]


def test_class_weights_count_in_fits_and_errors():
    X, y = draw("logistic", 29, n=80, p=5)
    splits = list(StratifiedKFold(4).split(X, y))
    by_class = L0ClassifierCV(cv=splits, class_weight={1.0: 3}).fit(X, y)
    by_row = L0ClassifierCV(cv=splits).fit(X, y, np.where(y == 1, 3.0, 1.0))
    for name, values in by_row.cv_results_.items():
        np.testing.assert_array_equal(by_class.cv_results_[name], values)


def test_columns_that_are_constant_in_a_fold_and_forced_ones():
    X, y = draw("logistic", 30, n=60, p=5)
    X[:, 4] = 0
    X[:3, 4] = 1  # all in the first fold
    splits = list(KFold(4).split(X))
    for options in ({}, {"always_include": [4], "ridge": 0.1}):
        model = L0ClassifierCV(cv=splits, **options).fit(X, y)
        assert np.isfinite(model.cv_results_["mean_error"]).all()
        assert np.isfinite(model.coef_).all()


def test_max_size_and_the_picture():
    X, y = draw("logistic", 31, n=200, p=8, effect=2.0)
    with pytest.warns(ConvergenceWarning, match="max_size=2 is not far beyond"):
        L0ClassifierCV(cv=3, n_repeats=1, max_size=2).fit(X, y)
    for scoring, words in {"log_loss": "log loss", "roc_auc": "1 - area under the ROC"}.items():
        model = L0ClassifierCV(cv=3, n_repeats=1, scoring=scoring).fit(X, y)
        assert model.plot().get_ylabel() == f"{words} on rows held out"


@pytest.mark.parametrize("options", ["", "solver='sbr'"])
def test_scikit_learns_own_checks(options):
    assert_passes_every_check(
        f"L0ClassifierCV({options})", at_least=51, wrong=WRONG_FOR_TWO_CLASSES
    )
