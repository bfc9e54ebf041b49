"""L0RegressorCV against cross-validation to the letter."""

import pickle

import numpy as np
import pandas as pd
import pytest
from estimator_checks import assert_passes_every_check
from reference.cross_validation import repeated_error, repeated_splits
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ellzero import L0RegressorCV, l0_frontier
from ellzero.datasets import load_diabetes_interactions, make_collinear
from ellzero.regression import _folds
from ellzero.regression._fold_data import Data
from ellzero.regression._fold_pairs import Pairs
from ellzero.regression._fold_paths import FoldSearch
from ellzero.regression._folds import make_folds, open_search


def problem(seed=0, n=48, p=12):
    X, y, _ = make_collinear(
        n, p, n_factors=2, coefficients=(3, -2, 1), snr_db=8, random_state=seed
    )
    return X * 3 + 5, y + 2


def unequal(n):
    rows = np.arange(n)
    tests = np.split(rows, [3, 9, 25])
    return [(np.setdiff1d(rows, test), test) for test in tests]


def cases():
    X, y = problem()
    outlier = problem()
    outlier[0][7], outlier[1][7] = 1e6, -1e6
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 4, size=48).astype(float)
    weights[:2] = 0
    few = np.where(np.arange(48) < 20, 0.0, weights + 1)  # so that many pairs of rows weigh nothing
    small = problem(3, 20, 6)
    return {
        "dense": (X, y, {"cv": KFold(5)}, {}),
        "shuffled": (X, y, {"cv": KFold(5, shuffle=True, random_state=3)}, {}),
        "by number": (X, y, {"cv": 5, "n_repeats": 1}, {}),
        "three repeats": (X, y, {"cv": 5, "n_repeats": 3, "random_state": 4}, {}),
        "no intercept": (X - 5, y - 2, {"cv": KFold(4), "fit_intercept": False}, {}),
        "weighted": (X, y, {"cv": KFold(5)}, {"sample_weight": weights}),
        "weighted, repeats": (X, y, {"cv": 5, "n_repeats": 3}, {"sample_weight": weights}),
        "folds of no weight": (X, y, {"cv": 24, "n_repeats": 2}, {"sample_weight": few}),
        "grouped": (X, y, {"cv": GroupKFold(4)}, {"groups": np.arange(48) % 7}),
        "time series": (X, y, {"cv": TimeSeriesSplit(4)}, {}),
        "repeated": (X, y, {"cv": RepeatedKFold(n_splits=3, n_repeats=3, random_state=0)}, {}),
        "shuffle split": (X, y, {"cv": ShuffleSplit(4, random_state=0)}, {}),
        "outlier": (*outlier, {"cv": KFold(6)}, {}),
        "unequal folds": (X, y, {"cv": unequal(48)}, {}),
        "leave one out": (*small, {"cv": LeaveOneOut()}, {}),
        "forced": (X, y, {"cv": KFold(5), "always_include": [4]}, {}),
        "forced, repeats": (X, y, {"cv": 4, "n_repeats": 2, "always_include": [4]}, {}),
    }


def literal_splits(options, given, X, y):
    """The training and test rows of every fold, by repeat."""
    cv = options["cv"]
    if isinstance(cv, int):
        return repeated_splits(cv, options["n_repeats"], options.get("random_state", 0), len(y))
    splits = list(cv) if isinstance(cv, list) else list(cv.split(X, y, given.get("groups")))
    return [splits[:3], splits[3:6], splits[6:]] if isinstance(cv, RepeatedKFold) else [splits]


@pytest.mark.filterwarnings("ignore:.*is not far beyond:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["frontier", "sbr"])
@pytest.mark.parametrize("name", cases())
def test_the_curve_is_that_of_literal_cross_validation(name, solver):
    X, y, options, given = cases()[name]
    # A run of SBR that max_size stops on its way is not the literal algorithm's.
    max_size = 6 if solver == "frontier" else X.shape[1]
    model = L0RegressorCV(**options, solver=solver, max_size=max_size).fit(X, y, **given)
    repeats = literal_splits(options, given, X, y)
    weights = given.get("sample_weight")
    results = pd.DataFrame(model.cv_results_)
    assert (results["lam_high"][1:].to_numpy() == results["lam_low"][:-1].to_numpy()).all()
    places = np.unique(np.linspace(0, len(results) - 1, 6).astype(int))
    for place in places:
        row = results.iloc[place]
        low, high = row["lam_low"], min(row["lam_high"], 10 * row["lam_low"] + 1)
        if high - low < 1e-6 * high:
            continue
        for lam in (low + 1e-4 * (high - low), (low + high) / 2, high - 1e-4 * (high - low)):
            mean, se, size, errors = repeated_error(
                X, y, weights, repeats, lam,
                solver=solver, max_size=max_size,
                intercept=options.get("fit_intercept", True),
                forced=options.get("always_include", ()),
            )  # fmt: skip
            # Refitting the folds that train on the outlier has too few digits for SBR's decisions.
            sound = [0] if (name, solver) == ("outlier", "sbr") else range(len(errors))
            for i, error in enumerate(errors):
                if i not in sound:
                    continue
                assert row[f"split{i}_error"] == pytest.approx(error, rel=1e-8)
            if len(sound) < len(errors):
                continue
            assert row["mean_error"] == pytest.approx(mean, rel=1e-8)
            assert row["se_error"] == pytest.approx(se, rel=1e-6)
            assert row["mean_size"] == pytest.approx(size)


def search(X, y, splits, solver, max_size, weights=None, workers=1, forced=()):
    folds = make_folds(Data(X, y, weights, True, 1), splits)
    forced = np.array(forced, dtype=np.int64)
    found = FoldSearch(folds, solver, 0.0, forced, workers, 1)
    found.paths(max_size, None)
    return found.models


# The second has too many columns for all their products to be made at once.
WIDE = {"n": 150, "p": 400}


@pytest.mark.parametrize("name", ["dense", "weighted", "time series", "repeated", "wide"])
def test_every_support_of_every_fold_is_that_of_the_frontier_without_swaps(name):
    if name == "wide":
        X, y, options, given = *problem(0, **WIDE), {"cv": KFold(5)}, {}
    else:
        X, y, options, given = cases()[name]
    weights = given.get("sample_weight")
    splits = list(options["cv"].split(X, y))
    found = search(X, y, splits, "frontier", 9, weights)
    for (train, test), models in zip(splits, found, strict=True):
        w = None if weights is None else weights[train]
        literal = l0_frontier(X[train], y[train], max_size=9, swaps=False, sample_weight=w)
        supports = np.split(models.support, models.begins[1:-1])
        for size, support, error in zip(literal.sizes, supports, models.errors, strict=True):
            model = literal.at(size=int(size))
            assert support.tolist() == model.support.tolist()
            residual = y[test] - X[test] @ model.coef - model.intercept
            weight = None if weights is None else weights[test]
            assert error == pytest.approx(np.average(residual**2, weights=weight), rel=1e-8)
        np.testing.assert_allclose(models.energies, literal.energies, rtol=1e-8)


@pytest.mark.parametrize("apart", [1e-2, 1e-3, 3e-4])
@pytest.mark.parametrize("noise", [1.0, 1e-2])
def test_errors_beside_near_dependence_are_those_of_refits(apart, noise, rng):
    """With and without passes over X: variances are inflated by up to 10^7."""
    X = rng.normal(size=(120, 8))
    X = np.column_stack([X, X + apart * rng.normal(size=X.shape)]) + 10
    y = X[:, 0] - X[:, 8] / 2 + (X[:, 3] - X[:, 11]) / apart + noise * rng.normal(size=120)
    splits = list(KFold(4).split(X))
    for (train, test), models in zip(splits, search(X, y, splits, "frontier", 16), strict=True):
        assert len(models.energies) > 10  # columns too near to others are left out
        means = X[train].mean(axis=0), y[train].mean()
        for support, error in zip(
            np.split(models.support, models.begins[1:-1]), models.errors, strict=True
        ):
            Z = X[train][:, support] - means[0][support]
            beta = np.linalg.lstsq(Z, y[train] - means[1], rcond=None)[0]
            left = y[test] - means[1] - (X[test][:, support] - means[0][support]) @ beta
            assert error == pytest.approx(np.mean(left**2), rel=1e-6)


@pytest.mark.parametrize("large", [1.0, 1e150])
def test_rows_that_weigh_nothing_are_left_out(large, rng):
    """Many folds are weights of rows on the columns of all; few rows, or huge numbers, are not."""
    X, y = rng.normal(size=(40, 5)), rng.normal(size=40)
    X[3, 2] *= large
    rows = np.arange(40)
    weights = rng.integers(0, 3, 40).astype(float)
    for weight in (None, weights):
        splits = [(np.delete(rows, i), rows[i : i + 1]) for i in rows]
        splits += [(rows[:10], rows[10:]), (np.r_[rows[:30], rows[:5]], rows[30:])]
        folds = make_folds(Data(X, y, weight, True, 1), splits)
        assert folds.parts is None
        for (train, _), fold in zip(splits, folds.folds, strict=True):
            w = None if weight is None else weight[train]
            alone = Data(X[train], y[train], w, True, 1).design()
            assert fold.design.weight == alone.weight
            np.testing.assert_allclose(fold.design.mean, alone.mean, rtol=1e-12, atol=1e-14)
            np.testing.assert_allclose(fold.design.zy, alone.zy, rtol=1e-11, atol=1e-13)
            np.testing.assert_allclose(fold.design.yy, alone.yy, rtol=1e-12)


@pytest.mark.parametrize("solver", ["frontier", "sbr"])
@pytest.mark.parametrize("shape", [{}, WIDE], ids=["small", "wide"])
def test_a_fold_finds_the_same_alone(solver, shape):
    X, y = problem(1, **shape)
    splits = list(KFold(5).split(X))
    size = 60 if shape else 12  # what is small stays in one thread
    together = search(X, y, splits, solver, size, forced=[3])
    in_threads = search(X, y, splits, solver, size, forced=[3], workers=3)
    folds = make_folds(Data(X, y, None, True, 1), splits)
    for place, (fold, threaded) in enumerate(zip(together, in_threads, strict=True)):
        only = folds._replace(folds=folds.folds[place : place + 1])
        alone = FoldSearch(only, solver, 0.0, np.array([3]), 1, 1)
        alone.paths(size, None)
        for name in ("begins", "support", "energies", "errors", "next_gain", "lows"):
            for other in (alone.models[0], threaded):
                np.testing.assert_array_equal(getattr(other, name), getattr(fold, name))


def test_a_search_can_be_carried_on():
    X, y = problem(2, **WIDE)
    folds = make_folds(Data(X, y, None, True, 1), list(KFold(4).split(X)))
    for solver in ("frontier", "sbr"):
        nothing = np.empty(0, dtype=np.int64)
        step = FoldSearch(folds, solver, 0.0, nothing, 1, 1)
        step.paths(5, None)
        step.paths(10, None)
        for models in step.models:
            assert (np.diff(models.begins) <= 10).all()
            assert len(models.errors) > 5
            assert (np.diff(models.energies) < 0).all()


@pytest.mark.parametrize("solver", ["frontier", "sbr"])
def test_sparse_equals_dense(solver, rng):
    X, y = problem(1)
    X = np.where(rng.random(X.shape) < 0.5, X, 0)
    dense = L0RegressorCV(cv=5, solver=solver).fit(X, y)
    sparsely = L0RegressorCV(cv=5, solver=solver).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(sparsely.coef_, dense.coef_, rtol=1e-8)
    for name, values in dense.cv_results_.items():
        np.testing.assert_allclose(sparsely.cv_results_[name], values, rtol=1e-8)


def test_rules_and_what_is_fitted():
    X, y = problem(2)
    least = L0RegressorCV(cv=6).fit(X, y)
    sparser = L0RegressorCV(cv=6, rule="1se").fit(X, y)
    results = pd.DataFrame(least.cv_results_)
    best = results["mean_error"].idxmin()
    assert least.lam_ == pytest.approx(np.sqrt(results.loc[best, ["lam_low", "lam_high"]].prod()))
    bar = results["mean_error"][best] + results["se_error"][best]
    first = results.index[results["mean_error"] <= bar][0]
    assert results["lam_low"][first] < sparser.lam_
    assert sparser.lam_ >= least.lam_
    assert sparser.support_.size <= least.support_.size
    expected = l0_frontier(X, y).at(lam=least.lam_)
    np.testing.assert_array_equal(least.support_, expected.support)
    np.testing.assert_allclose(least.coef_, expected.coef, rtol=1e-9)
    assert least.intercept_ == pytest.approx(expected.intercept)
    np.testing.assert_allclose(least.frontier_.at(lam=least.lam_).coef, least.coef_)
    assert "not valid after selection" in least.summary().attrs["note"]
    assert least.summary().index.tolist()
    np.testing.assert_allclose(
        results["r2"], 1 - results["mean_error"] / np.var(y), rtol=1e-9, atol=1e-12
    )


def test_several_ridges():
    X, y = problem(4)
    model = L0RegressorCV(cv=5, ridge=[0.0, 0.1, 1.0]).fit(X, y)
    singles = [L0RegressorCV(cv=5, ridge=ridge).fit(X, y) for ridge in (0.0, 0.1, 1.0)]
    least = [single.cv_results_["mean_error"].min() for single in singles]
    assert model.ridge_ == (0.0, 0.1, 1.0)[int(np.argmin(least))]
    np.testing.assert_array_equal(model.coef_, singles[int(np.argmin(least))].coef_)
    assert set(model.cv_results_["ridge"]) == {0.0, 0.1, 1.0}


@pytest.mark.parametrize("seed", range(4))
def test_growing_stops_beyond_the_minimum(seed):
    X, y, _ = make_collinear(120, 100, random_state=seed)
    model = L0RegressorCV().fit(X, y)
    whole = L0RegressorCV(max_size=40).fit(X, y)
    least = model.cv_results_["mean_error"].min()
    assert least <= whole.cv_results_["mean_error"].min() * (1 + 1e-6)


def test_max_size_is_honoured_and_warned_of():
    X, y, _ = make_collinear(120, 100, random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_size=3 is not far beyond the"):
        model = L0RegressorCV(max_size=3).fit(X, y)
    assert model.support_.size <= 3
    assert model.cv_results_["mean_size"].max() <= 3
    assert model.max_size_ == 3


def inner_splits(splits, left_out):
    """The other folds, without the rows left out, numbered within the training rows."""
    train = splits[left_out][0].tolist()
    number = {row: place for place, row in enumerate(train)}
    return [
        tuple([number[row] for row in rows if row in number] for rows in split)
        for g, split in enumerate(splits)
        if g != left_out
    ]


@pytest.mark.parametrize("cv", [KFold(4), list(KFold(4).split(np.ones(48)))])
def test_nested_error_is_that_of_the_whole_procedure(cv):
    X, y = problem(5)
    model = L0RegressorCV(cv=cv, nested=True, always_include=[2]).fit(X, y)
    splits = list(KFold(4).split(X))
    errors = []
    for f, (train, test) in enumerate(splits):
        inner = L0RegressorCV(cv=inner_splits(splits, f), always_include=[2])
        inner.fit(X[train], y[train])
        errors.append(((y[test] - inner.predict(X[test])) ** 2).mean())
    assert model.nested_score_ == pytest.approx(np.mean(errors), rel=1e-9)
    model.set_params(nested=False, solver="sbr").fit(X, y)
    assert not hasattr(model, "nested_score_")
    assert not hasattr(model, "frontier_")


@pytest.mark.parametrize("solver", ["frontier", "sbr"])
def test_nested_error_of_folds_that_share_no_parts(solver):
    X, y = problem(5, 30, 6)
    cv = ShuffleSplit(12, test_size=0.3, random_state=0)
    model = L0RegressorCV(cv=cv, nested=True, solver=solver).fit(X, y)
    splits = list(cv.split(X))
    errors = []
    for f, (train, test) in enumerate(splits):
        inner = [split for split in inner_splits(splits, f) if len(split[1])]
        fitted = L0RegressorCV(cv=inner, solver=solver).fit(X[train], y[train])
        errors.append(((y[test] - fitted.predict(X[test])) ** 2).mean())
    assert model.nested_score_ == pytest.approx(np.mean(errors), rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_folds_within_folds_that_share_rows_share_their_search(monkeypatch, seed):
    """Ninety of them have forty-five sets of rows; whoever comes second takes over the search."""
    X, y = problem(seed, n=90, p=25)
    model = L0RegressorCV(ridge=[0.0, 0.1, 1.0], nested=True, n_repeats=1)
    begun = []
    opened = Pairs.open

    def count(self, *how):
        core = opened(self, *how)
        begun.append(len(self._searches))
        return core

    monkeypatch.setattr(Pairs, "open", count)
    shared = model.fit(X, y).nested_score_
    # Three ridges each: nine searches wait after the first fold, and none after the last
    assert begun[2] == 27
    assert len(begun) == 30
    assert begun[-1] == 0
    monkeypatch.setattr(_folds, "_PAIRED_BYTES", 0)
    assert model.fit(X, y).nested_score_ == pytest.approx(shared, rel=1e-9)
    assert len(begun) == 30


def test_searches_that_were_given_away_are_not_used(rng):
    X = rng.normal(size=(40, 5))
    y = X[:, 0] + rng.normal(size=40)
    data = Data(X, y, None, True, 1)
    fold = make_folds(data, list(KFold(2).split(X))).folds[0]
    how = (False, 0.0, np.empty(0, dtype=np.int64), 1, 1)
    first = open_search(None, [fold], *how)
    first.keep_for_others(0)
    first.search(2, None)
    (found,) = first.judge()
    first.search(4, None)
    second = open_search(None, [fold], *how, [(first, 0)])
    second.search(2, None)
    (again,) = second.judge()
    np.testing.assert_array_equal(again.beta, found.beta)
    assert again.next_gain == pytest.approx(found.next_gain, rel=1e-12)
    second.search(3, None)
    assert len(second.judge()[0].energies) == 4
    for use in (first.judge, lambda: first.search(5, None)):
        with pytest.raises(ValueError, match="given away"):
            use()
    other = make_folds(data, list(KFold(3).split(X))).folds[0]
    with pytest.raises(ValueError, match="same rows"):
        open_search(None, [other], *how, [(second, 0)])


def test_nested_folds_need_no_further_pass():
    X, y = problem(5)
    folds = make_folds(Data(X, y, None, True, 1), list(KFold(4).split(X)))
    for layer in (folds, *(folds.inside(place) for place in range(4))):
        FoldSearch(layer, "frontier", 0.0, np.empty(0, dtype=np.int64), 1, 1).paths(12, None)
    assert folds.parts.core.passes == 1


def test_predictions_too_large_to_be_squared():
    X, y = problem(12)
    X[5, 2] = 1e200
    model = L0RegressorCV(cv=4, max_size=12, ridge=[0.0, 0.1], nested=True).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert np.isinf(model.cv_results_["mean_error"]).any()
    assert not np.isnan(model.cv_results_["se_error"]).any()


def test_masks_are_masks():
    X, y = problem(8)
    splits = list(KFold(4).split(X))
    masks = [tuple(np.isin(np.arange(48), rows) for rows in split) for split in splits]
    plain, masked = L0RegressorCV(cv=splits).fit(X, y), L0RegressorCV(cv=masks).fit(X, y)
    np.testing.assert_array_equal(plain.coef_, masked.coef_)


def test_one_split_has_no_standard_error():
    X, y = problem(9)
    model = L0RegressorCV(cv=[(np.arange(30), np.arange(30, 48))], rule="1se").fit(X, y)
    assert np.isnan(model.cv_results_["se_error"]).all()
    assert model.lam_ > 0


def test_numbers_too_small_for_one_part_of_the_rows():
    X, y = problem(10)
    y[:12] *= 1e-170
    assert L0RegressorCV(cv=4).fit(X, y).support_.size > 0


@pytest.mark.parametrize("factor", [1e-140, 1e150])
@pytest.mark.parametrize("rule", ["min", "1se"])
def test_units_of_y_do_not_matter(factor, rule):
    X, y = problem(11)
    plain = L0RegressorCV(cv=4, rule=rule).fit(X, y)
    scaled = L0RegressorCV(cv=4, rule=rule).fit(X, y * factor)
    assert scaled.support_.tolist() == plain.support_.tolist()


@pytest.mark.parametrize("shape", [(120, 100), (150, 400)])
def test_threads_do_not_matter(shape):
    X, y, _ = make_collinear(*shape, random_state=1)
    # Fewer sizes would not be worth threads.
    one, two = (L0RegressorCV(n_jobs=n, max_size=50).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    for name, values in one.cv_results_.items():
        np.testing.assert_array_equal(two.cv_results_[name], values)


def test_groups_with_metadata_routing():
    X, y = problem(6)
    groups = np.arange(48) % 6
    plain = L0RegressorCV(cv=GroupKFold(3)).fit(X, y, groups=groups)
    with config_context(enable_metadata_routing=True):
        routed = L0RegressorCV(cv=GroupKFold(3)).fit(X, y, groups=groups)
        pipeline = make_pipeline(StandardScaler(), L0RegressorCV(cv=GroupKFold(3)))
        piped = pipeline.fit(X, y, groups=groups)[-1]
    assert piped.support_.tolist() == plain.support_.tolist()
    np.testing.assert_array_equal(plain.coef_, routed.coef_)


def test_pipeline_grid_search_clone_and_pickle():
    X, y = problem(7)
    pipeline = make_pipeline(StandardScaler(), L0RegressorCV(cv=4)).fit(X, y)
    assert pipeline.score(X, y) > 0.5
    search = GridSearchCV(L0RegressorCV(cv=4), {"rule": ["min", "1se"]}, cv=3).fit(X, y)
    revived = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(revived.predict(X), search.predict(X))
    assert not hasattr(clone(revived), "coef_")


def test_the_papers_eight_diabetes_variables_come_out_of_sbr():
    diabetes = load_diabetes_interactions()
    model = L0RegressorCV(solver="sbr", random_state=0).fit(diabetes.data, diabetes.target)
    assert model.get_feature_names_out().tolist() == [
        "sex", "bmi", "map", "hdl", "ltg", "glu^2", "age:sex", "bmi:map"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "given", "error", "message"),
    [
        ({"cv": 1}, {}, ValueError, "'cv' parameter of L0RegressorCV"),
        ({"cv": 100}, {}, ValueError, "n_splits=100"),
        ({"rule": "max"}, {}, ValueError, "'rule' parameter of L0RegressorCV"),
        ({"ridge": -1.0}, {}, ValueError, "ridge"),
        ({"ridge": []}, {}, ValueError, "ridge must hold at least one number"),
        ({"ridge": [0.1, -2.0]}, {}, ValueError, "ridge must hold numbers from 0; got -2.0"),
        ({"solver": "cd"}, {}, ValueError, "'solver' parameter of L0RegressorCV"),
        ({"max_size": -1}, {}, ValueError, "'max_size' parameter of L0RegressorCV"),
        ({"ridge": True}, {}, ValueError, "ridge must hold numbers from 0; got True"),
        ({"ridge": [0.1, True]}, {}, ValueError, "ridge must hold numbers from 0; got True"),
        ({"cv": [([0, 1], [])]}, {}, ValueError, "cv must give rows to train on and rows to test"),
        ({"cv": iter(())}, {}, ValueError, "cv gives no split; a generator does so once only"),
        ({"cv": GroupKFold(3)}, {}, ValueError, "groups"),
        ({"cv": [([0.0, 1.0], [2.0])]}, {}, ValueError, "cv must give indices of rows"),
        ({"cv": [([0, 1], [48])]}, {}, ValueError, "cv gives row 48, but X has 48 rows"),
    ],
)
def test_bad_parameters(options, given, error, message):
    X, y = problem()
    with pytest.raises(error, match=message):
        L0RegressorCV(**options).fit(X, y, **given)


@pytest.mark.parametrize("estimator", ["L0RegressorCV(cv=3)", "L0RegressorCV(cv=3, solver='sbr')"])
def test_check_estimator(estimator):
    assert_passes_every_check(estimator)
