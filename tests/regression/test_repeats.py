"""Folds that are shuffled, and shuffled again: what L0RegressorCV makes of several repeats."""

import numpy as np
import pytest
from reference.cross_validation import repeated_splits
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, RepeatedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ellzero import L0RegressorCV
from ellzero._splits import compact_splits
from ellzero.datasets import make_collinear
from ellzero.regression import _cross_validation, _folds
from ellzero.regression._cross_validation import CrossValidation
from ellzero.regression._cv_curve import FoldPath, make_curve
from ellzero.regression._fold_data import Data
from ellzero.regression._folds import LearnedFolds, RepeatedFolds, make_folds

NOTHING = np.empty(0, dtype=np.int64)


def problem(seed=0, n=48, p=12):
    X, y, _ = make_collinear(
        n, p, n_factors=2, coefficients=(3, -2, 1), snr_db=8, random_state=seed
    )
    return X * 3 + 5, y + 2


def assert_same_bits(one, two):
    assert one.lam_ == two.lam_
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert one.cv_results_.keys() == two.cv_results_.keys()
    for name, values in one.cv_results_.items():
        np.testing.assert_array_equal(two.cv_results_[name], values)


def at(results, name, lams):
    """Values of a curve at some prices."""
    return results[name][np.searchsorted(-results["lam_low"], -lams, side="left")]


def fold_errors(model):
    """The errors of a fit's folds at a price of no variable at all, which tell the folds apart."""
    results = model.cv_results_
    return [results[name][0] for name in results if name.startswith("split")]


@pytest.mark.parametrize("solver", ["frontier", "sbr"])
@pytest.mark.parametrize("random_state", [0, 7, "stream"])
def test_one_repeat_is_a_shuffled_splitter(solver, random_state):
    X, y = problem()

    def state():
        return np.random.RandomState(5) if random_state == "stream" else random_state

    number = L0RegressorCV(cv=5, n_repeats=1, random_state=state(), solver=solver).fit(X, y)
    splitter = KFold(5, shuffle=True, random_state=state())
    assert_same_bits(number, L0RegressorCV(cv=splitter, solver=solver).fit(X, y))


@pytest.mark.parametrize("n", [10, 23, 120])
@pytest.mark.parametrize("n_folds", [2, 7, 10])
@pytest.mark.parametrize("seed", [0, 5, "stream"])
def test_shuffled_folds_are_those_of_scikit_learn(n, n_folds, seed):
    for splitter in (
        lambda state: KFold(n_folds, shuffle=True, random_state=state),
        lambda state: RepeatedKFold(n_splits=n_folds, n_repeats=3, random_state=state),
    ):
        one, two = (np.random.RandomState(5) if seed == "stream" else seed for _ in range(2))
        ours = compact_splits(splitter(one), np.zeros((n, 1)), np.zeros(n))
        for split, rows in zip(ours, splitter(two).split(np.zeros((n, 1))), strict=True):
            for own, expected in zip(split.rows(), rows, strict=True):
                np.testing.assert_array_equal(own, expected)
        if seed == "stream":  # and as much has been drawn from it
            assert one.randint(2**31) == two.randint(2**31)


def test_folds_are_shuffled_by_the_random_state():
    X, y = problem()

    def errors(**options):
        return fold_errors(L0RegressorCV(cv=6, n_repeats=2, **options).fit(X, y))

    assert errors() == errors(random_state=0)
    assert errors() != errors(random_state=1)
    np.random.seed(0)  # noqa: NPY002 (it is what None draws from)
    first = errors(random_state=None)
    assert first != errors(random_state=None)
    np.random.seed(0)  # noqa: NPY002
    assert first == errors(random_state=None)


@pytest.mark.parametrize("solver", ["frontier", "sbr"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_curve_is_the_mean_of_the_repeats(solver, weighted, rng):
    X, y = problem(1)
    weights = rng.integers(1, 5, 48).astype(float) if weighted else None
    options = {"solver": solver, "max_size": 12}
    together = L0RegressorCV(cv=6, n_repeats=4, random_state=3, **options).fit(X, y, weights)
    repeats = repeated_splits(6, 4, 3, 48)
    alone = [L0RegressorCV(cv=splits, **options).fit(X, y, weights) for splits in repeats]
    results = together.cv_results_
    assert together.n_repeats_ == 4
    assert all(model.n_repeats_ == 1 for model in alone)
    edges = np.unique(np.concatenate([model.cv_results_["lam_low"] for model in alone]))[::-1]
    np.testing.assert_array_equal(results["lam_low"], edges)
    assert {name for name in results if name.startswith("split")} == {
        f"split{i}_error" for i in range(24)
    }
    for name in ("mean_error", "se_error", "mean_size", "r2"):
        expected = np.mean([at(model.cv_results_, name, edges) for model in alone], axis=0)
        np.testing.assert_allclose(results[name], expected, rtol=1e-12, atol=1e-15)
    for r, model in enumerate(alone):
        for i in range(6):
            single = at(model.cv_results_, f"split{i}_error", edges)
            np.testing.assert_array_equal(results[f"split{6 * r + i}_error"], single)


def test_a_repeat_of_one_fold_has_no_say_in_the_standard_error():
    def path(error):
        errors, none = np.array([error, 1.0]), np.zeros(2)
        return FoldPath(np.array([1.0]), 0.0, np.array([0, 1]), errors, none, none, 2.0)

    curve = make_curve([[path(3.0)], [path(1.0), path(5.0)]], 0.0)
    np.testing.assert_allclose(curve.mean_error, [3, 1])
    np.testing.assert_allclose(curve.se_error, [2, 0])
    assert np.isnan(make_curve([[path(3.0)], [path(2.0)]], 0.0).se_error).all()


def test_several_ridges_are_chosen_from_by_the_mean_curve():
    X, y = problem(4)
    options = {"cv": 5, "n_repeats": 3, "max_size": 12}
    model = L0RegressorCV(ridge=[0.0, 0.1, 1.0], **options).fit(X, y)
    singles = [L0RegressorCV(ridge=ridge, **options).fit(X, y) for ridge in (0.0, 0.1, 1.0)]
    least = [single.cv_results_["mean_error"].min() for single in singles]
    assert model.ridge_ == (0.0, 0.1, 1.0)[int(np.argmin(least))]
    for ridge, single in zip((0.0, 0.1, 1.0), singles, strict=True):
        mine = model.cv_results_["ridge"] == ridge
        for name, values in single.cv_results_.items():
            np.testing.assert_array_equal(model.cv_results_[name][mine], values)


def far_apart(ridges=(0.0,)):
    """Repeats that ask for different sizes, the third for most, and what they are searched by."""
    X, y, _ = make_collinear(100, 60, snr_db=20, random_state=7)
    data = Data(X, y, None, True, 1)
    repeats = repeated_splits(5, 4, 0, 100)
    procedure = CrossValidation("frontier", list(ridges), NOTHING, None, 1, None)
    return data, repeats, procedure


def test_all_repeats_come_to_the_largest_size(monkeypatch):
    monkeypatch.setattr(_cross_validation, "_FIRST_SIZE", 4)
    data, repeats, procedure = far_apart()
    alone = [procedure.choose(make_folds(data, splits)).max_size for splits in repeats]
    assert len(set(alone)) > 1  # or nothing is tested here
    for order in (repeats, repeats[::-1]):
        chosen = procedure.choose([make_folds(data, splits) for splits in order])
        assert chosen.max_size >= max(alone)
        fixed = procedure._replace(max_size=chosen.max_size)
        ends = [fixed.choose(make_folds(data, splits)).curve("min").lam_low[-1] for splits in order]
        assert chosen.curve("min").lam_low[-1] == pytest.approx(max(ends))


def test_searches_that_are_not_kept_begin_anew(monkeypatch):
    made = []

    def counted(*arguments):
        made.append(1)
        return make_folds(*arguments)

    monkeypatch.setattr(_cross_validation, "_FIRST_SIZE", 4)
    monkeypatch.setattr(_folds, "make_folds", counted)
    data, repeats, procedure = far_apart(ridges=(0.0, 0.5))
    kept = procedure.choose(RepeatedFolds(data, repeats))
    assert len(made) == 4
    monkeypatch.setattr(_cross_validation, "_KEPT_BYTES", 0)
    again = procedure.choose(RepeatedFolds(data, repeats))
    assert len(made) > 8
    assert kept.max_size == again.max_size
    for rule in ("min", "1se"):
        np.testing.assert_allclose(kept.marks[rule], again.marks[rule])
    # The largest models of a search may depend on where it has paused.
    for one, two in zip(kept.curves, again.curves, strict=True):
        first = one.best() + 1
        np.testing.assert_allclose(one.lam_low[:first], two.lam_low[:first])
        np.testing.assert_allclose(one.mean_error[:first], two.mean_error[:first])


def test_repeats_share_the_design_of_all_rows_and_are_made_when_asked_for():
    data, splits, _ = far_apart()
    repeats = RepeatedFolds(data, splits)
    assert len(list(repeats)) == 4
    assert all(folds.whole is repeats.whole for folds in repeats)
    assert repeats[0] is repeats[0]
    first = repeats[1]
    assert repeats[1] is first  # the last is kept
    assert repeats[2] is not None
    assert repeats[1] is not first
    for found, given in zip(repeats[1:3], splits[1:3], strict=True):
        for one, two in zip(found.splits, given, strict=True):
            for ours, theirs in zip(one.rows(), two, strict=True):
                np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_folds_of_a_wide_table_are_what_is_left_of_all_rows(monkeypatch, rng, weighted, order):
    X, y = problem(n=50, p=420)
    X = np.asarray(X, order=order)
    weights = rng.integers(1, 4, 50).astype(float) if weighted else None

    def fit():
        return L0RegressorCV(cv=5, n_repeats=3, max_size=12, nested=True).fit(X, y, weights)

    left = fit()
    monkeypatch.setattr(Data, "prefers_remainders", lambda *_: False)
    pooled = fit()
    np.testing.assert_array_equal(np.flatnonzero(left.coef_), np.flatnonzero(pooled.coef_))
    for name in ("lam_low", "mean_error", "se_error", "mean_size"):
        np.testing.assert_allclose(left.cv_results_[name], pooled.cv_results_[name], rtol=1e-9)
    assert left.nested_score_ == pytest.approx(pooled.nested_score_, rel=1e-9)


@pytest.mark.parametrize("repeats", [1, 2])
def test_float32_is_not_too_large(repeats):
    X, y = problem(n=50, p=600)
    options = {"cv": 5, "n_repeats": repeats, "max_size": 12}
    narrow = L0RegressorCV(**options).fit(X.astype(np.float32), y)  # with no warning
    wide = L0RegressorCV(**options).fit(X.astype(np.float32).astype(float), y)
    np.testing.assert_allclose(narrow.coef_, wide.coef_, rtol=1e-9)


@pytest.mark.parametrize(("cv", "left"), [(5, True), (2, False)])
def test_parts_of_few_rows_are_left_out_of_all_of_them(monkeypatch, cv, left):
    X, y = problem(n=100, p=600)
    splits = [compact_splits(KFold(cv), X, y)]
    assert (RepeatedFolds(Data(X, y, None, True, 1), splits)[0].parts is None) == left
    some = L0RegressorCV(cv=cv, n_repeats=1, max_size=12).fit(X, y)
    monkeypatch.setattr(Data, "prefers_remainders", lambda *_: False)
    pooled = L0RegressorCV(cv=cv, n_repeats=1, max_size=12).fit(X, y)
    np.testing.assert_allclose(some.coef_, pooled.coef_, rtol=1e-9)
    for name in ("lam_low", "mean_error", "se_error"):
        np.testing.assert_allclose(some.cv_results_[name], pooled.cv_results_[name], rtol=1e-9)


def test_repeats_of_a_wide_table_share_the_products_of_all_rows(rng):
    X, y = problem(n=50, p=420)
    splits = [compact_splits(KFold(5, shuffle=True, random_state=seed), X, y) for seed in range(3)]
    repeats = RepeatedFolds(Data(X, y, None, True, 1), splits)
    made = []
    for folds in repeats:
        assert folds.parts is None
        CrossValidation("frontier", [0.0], NOTHING, 8, 1, None).choose(folds)
        made.append(repeats.whole.columns_made)
    assert made[1] - made[0] < made[0]
    assert made[2] - made[1] < made[0]


def test_where_a_fold_would_be_left_too_little_there_are_parts(rng):
    X, y = problem(n=50, p=420)
    X[:, 7] = 0
    X[3, 7] = 1  # a fold without row 3 knows nothing of it
    splits = [compact_splits(KFold(5), X, y)] * 2
    repeats = RepeatedFolds(Data(X, y, None, True, 1), splits)
    assert repeats[0].parts is not None
    model = L0RegressorCV(cv=5, n_repeats=2, max_size=12).fit(X, y)
    assert model.coef_[7] == 0


def test_training_rows_that_are_no_complement_are_kept_as_they_are():
    data, splits, _ = far_apart()
    (train, test), *others = splits[1]
    odd = [(train[:-3], test), (np.flip(others[0][0]), others[0][1])]
    found = RepeatedFolds(data, [splits[0], odd])[1].splits
    for one, two in zip(found, odd, strict=True):
        np.testing.assert_array_equal(one.train, two[0])


def test_a_large_table_is_copied_once_at_a_time(monkeypatch):
    data, splits, procedure = far_apart()
    small = procedure.choose(RepeatedFolds(data, splits))
    monkeypatch.setattr(_folds, "_LARGE_BYTES", 0)
    repeats = RepeatedFolds(data, splits)
    large = procedure.choose(repeats)
    assert large.max_size == small.max_size
    for rule in ("min", "1se"):
        np.testing.assert_allclose(large.marks[rule], small.marks[rule], rtol=1e-9)
    # Nothing but the last repeat is held.
    assert repeats._first is None
    assert repeats._last is not None
    assert repeats._last[0] == len(splits) - 1


def test_folds_that_learn_repeat_too():
    data, splits, procedure = far_apart()

    def make(train, test):
        return data.rows(train), data.rows(test)

    def learned(some):
        return LearnedFolds(make, some, data.design(), None)

    chosen = procedure.choose([learned(some) for some in splits])
    shared = procedure.choose([make_folds(data, some) for some in splits])
    assert chosen.max_size == shared.max_size
    one, two = chosen.curve("min"), shared.curve("min")
    np.testing.assert_allclose(one.lam_low, two.lam_low, rtol=1e-6)
    np.testing.assert_allclose(one.mean_error, two.mean_error, rtol=1e-6)
    np.testing.assert_allclose(one.se_error, two.se_error, rtol=1e-6)


def test_nested_error_is_the_mean_of_the_repeats():
    X, y = problem(5)
    options = {"nested": True, "always_include": [2], "max_size": 12}
    together = L0RegressorCV(cv=4, n_repeats=3, **options).fit(X, y)
    alone = [L0RegressorCV(cv=splits, **options) for splits in repeated_splits(4, 3, 0, 48)]
    scores = [model.fit(X, y).nested_score_ for model in alone]
    assert len(set(scores)) == 3
    assert together.nested_score_ == pytest.approx(np.mean(scores), rel=1e-12)


@pytest.mark.parametrize("shape", [(120, 100), (150, 400)])
def test_threads_do_not_matter(shape, monkeypatch):
    X, y, _ = make_collinear(*shape, snr_db=5, random_state=1)
    models = []
    for jobs, threads in ((1, "1"), (2, "1"), (2, "3")):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        # Fewer folds and sizes would not be worth threads.
        models.append(L0RegressorCV(max_size=50, n_repeats=3, n_jobs=jobs).fit(X, y))
    for other in models[1:]:
        assert_same_bits(models[0], other)


def test_weights_that_leave_a_fold_nothing_to_train_on():
    X, y = problem()
    weights = np.zeros(48)
    weights[[3, 4]] = 1
    # Not all repeats put the two rows into one fold.
    held_together = [
        any({3, 4} <= set(test) for _, test in splits) for splits in repeated_splits(2, 9, 0, 48)
    ]
    first = held_together.index(True)
    assert first > 0
    model = L0RegressorCV(cv=2, n_repeats=first).fit(X, y, sample_weight=weights)
    assert np.isfinite(model.coef_).all()
    with pytest.raises(ValueError, match="zero for all rows that a fold trains on"):
        model.set_params(n_repeats=first + 1).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("cv", [KFold(4), list(KFold(4).split(np.ones(48)))])
def test_splitters_are_taken_as_they_are(cv):
    X, y = problem()
    assert L0RegressorCV(cv=cv).fit(X, y).n_repeats_ == 1
    assert L0RegressorCV(cv=cv, n_repeats=1).fit(X, y).n_repeats_ == 1
    with pytest.raises(ValueError, match="n_repeats=2 needs cv to be a number of folds"):
        L0RegressorCV(cv=cv, n_repeats=2).fit(X, y)


def test_repeated_folds_of_a_splitter_are_repeats():
    X, y = problem()
    by_number = L0RegressorCV(cv=4, n_repeats=3, nested=True).fit(X, y)
    cv = RepeatedKFold(n_splits=4, n_repeats=3, random_state=0)
    for given in (cv, list(cv.split(X))):
        model = L0RegressorCV(cv=given, nested=True).fit(X, y)
        assert model.n_repeats_ == 3
        assert model.nested_score_ == by_number.nested_score_
        assert_same_bits(model, by_number)


@pytest.mark.parametrize("n_repeats", [0, -1, 1.5, "two"])
def test_bad_numbers_of_repeats(n_repeats):
    with pytest.raises(ValueError, match="'n_repeats' parameter of L0RegressorCV"):
        L0RegressorCV(n_repeats=n_repeats).fit(*problem())


def test_no_number_of_folds_is_ten_with_the_default_repeats():
    X, y = problem()
    assert_same_bits(L0RegressorCV(cv=None).fit(X, y), L0RegressorCV(cv=10).fit(X, y))
    model = L0RegressorCV().fit(X, y)
    assert len(fold_errors(model)) == 10 * model.n_repeats_
    assert clone(model).get_params() == model.get_params()
    assert model.get_params()["n_repeats"] is None


def test_grid_search_and_pipelines():
    X, y = problem(7)
    search = GridSearchCV(L0RegressorCV(cv=4), {"n_repeats": [1, 3]}, cv=3).fit(X, y)
    assert search.best_estimator_.n_repeats_ == search.best_params_["n_repeats"]
    groups = np.arange(48) % 6
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), L0RegressorCV(cv=3, n_repeats=2)).fit(X, y)
        by_group = L0RegressorCV(cv=GroupKFold(3)).fit(X, y, groups=groups)
    assert pipeline[-1].n_repeats_ == 2
    assert by_group.n_repeats_ == 1
    assert_same_bits(by_group, L0RegressorCV(cv=GroupKFold(3)).fit(X, y, groups=groups))
