"""Several ridges, from the same products: what is found, what is chosen, and how it is shrunk."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from ellzero import L0Regressor, L0RegressorCV, l0_frontier
from ellzero.datasets import make_collinear
from ellzero.regression import _cv_curve
from ellzero.regression._cross_validation import CV_RIDGES
from ellzero.regression._cv_curve import FoldPath, make_curve
from ellzero.regression._fold_data import Data
from ellzero.regression._fold_paths import FoldSearch
from ellzero.regression._folds import make_folds

NOTHING = np.empty(0, dtype=np.int64)


def weak(seed, n=70, p=20, noise=4.0):
    """Neighbours that are correlated, the first five with a weak effect."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, 1:] += 0.7 * X[:, :-1]
    return X, X[:, :5].sum(axis=1) + rng.normal(scale=noise, size=n)


def splits_of(n, folds=5, seed=0):
    return list(KFold(folds, shuffle=True, random_state=seed).split(np.empty(n)))


@pytest.mark.parametrize("collinear", [False, True])
@pytest.mark.parametrize("forced", [[], [3, 11]])
def test_no_fold_finds_worse_than_a_frontier_of_its_own(collinear, forced):
    better = 0
    for seed in range(4):
        X, y = weak(seed) if not collinear else make_collinear(80, 40, random_state=seed)[:2]
        splits, forced = splits_of(len(y)), np.array(forced, dtype=np.int64)
        folds = make_folds(Data(X, y, None, True, 1), splits)
        neighbour = None
        for ridge in CV_RIDGES:
            search = FoldSearch(folds, "frontier", ridge, forced, 1, 1, neighbour)
            search.paths(15, None)
            for models, (train, _) in zip(search.models, splits, strict=True):
                own = l0_frontier(
                    X[train], y[train], ridge=ridge, max_size=15, swaps=False,
                    always_include=forced,
                )  # fmt: skip
                assert np.all(models.energies <= own.energies * (1 + 1e-9))
                better += np.count_nonzero(models.energies < own.energies * (1 - 1e-9))
            neighbour = search
    assert better > 0 or not collinear  # what neighbours have found is of some use


@pytest.mark.parametrize("swaps", [True, False])
def test_a_sequence_of_ridges_gives_a_frontier_for_each(swaps):
    X, y, _ = make_collinear(80, 40, random_state=1)
    ridges = [1.0, 0.0, 0.1, 1.0]
    found = l0_frontier(X, y, ridge=ridges, max_size=15, swaps=swaps)
    assert len(found) == 4
    np.testing.assert_array_equal(found[0].energies, found[3].energies)
    for ridge, frontier in zip(ridges, found, strict=True):
        alone = l0_frontier(X, y, ridge=ridge, max_size=15, swaps=swaps)
        assert np.all(frontier.energies <= alone.energies * (1 + 1e-12))
        assert repr(frontier).startswith("<Frontier")
    assert isinstance(l0_frontier(X, y, ridge=[0.5], max_size=3), list)
    for wrong in ([], [0.1, -1.0], ["a"], [np.nan], [[1, 2]]):
        with pytest.raises(ValueError, match="ridge must hold"):
            l0_frontier(X, y, ridge=wrong)


def literal_error(X, y, splits, ridge, lam, factor):
    """Refit in every fold, multiply the coefficients, and judge."""
    errors = []
    for train, test in splits:
        frontier = l0_frontier(X[train], y[train], ridge=ridge, max_size=20, swaps=False)
        model = frontier.at(lam=lam * len(train) / len(y))
        centre = X[train].mean(axis=0) @ model.coef
        predicted = y[train].mean() + factor * (X[test] @ model.coef - centre)
        errors.append(np.mean((y[test] - predicted) ** 2))
    return np.array(errors), np.array([len(test) for _, test in splits]) / len(y)


def test_every_pair_of_the_curve_is_what_refitting_gives(rng):
    X, y = weak(5)
    splits = splits_of(70)
    model = L0RegressorCV(ridge="cv", cv=splits, max_size=20).fit(X, y)
    results = model.cv_results_
    inside = np.flatnonzero(np.isfinite(results["lam_high"]) & (results["lam_low"] > 0))
    nothing, share = literal_error(X, y, splits, 0.0, 1e9, 1.0)
    equal = 0
    for place in rng.choice(inside, 25, replace=False):
        lam = np.sqrt(results["lam_low"][place] * results["lam_high"][place])
        ridge, factor = results["ridge"][place], results["rescaling"][place]
        assert 1 <= factor <= 1 + ridge + 1e-12
        errors, _ = literal_error(X, y, splits, ridge, lam, factor)
        if not np.isclose(share @ errors, results["mean_error"][place], rtol=1e-9):
            continue  # a neighbour has found something better than the frontier alone
        equal += 1
        found = np.array([results[f"split{i}_error"][place] for i in range(5)])
        np.testing.assert_allclose(found, errors, rtol=1e-9)
        saved = errors - nothing
        se = np.sqrt(share @ (saved - share @ saved) ** 2 / 4)
        np.testing.assert_allclose(results["se_saved"][place], se, rtol=1e-8)
    assert equal >= 20


def test_the_factor_is_the_best_of_those_tried(rng):
    folds = 6
    paths = [
        FoldPath(
            np.array([2.0, 1.0]), 0.0, np.array([0, 1, 3]),
            *(rng.uniform(0.5, 1, size=(3, 3)) * [[4], [1], [1]]), float(rng.integers(5, 9)),
        )
        for _ in range(folds)
    ]  # fmt: skip
    share = np.array([path.weight for path in paths])
    share /= share.sum()
    base = rng.uniform(6, 8, size=folds)
    for most, cautious in ((1.0, True), (3.0, False), (3.0, True), (40.0, True)):
        curve = make_curve([paths], 0.0, most=most, cautious=cautious, nothing=[base])
        for place in range(3):
            tried = []
            for factor in np.geomspace(1, most, 9):
                m = factor - 1
                errors = np.array(
                    [p.errors[place] - 2 * m * p.along[place] + m * m * p.square[place]
                     for p in paths]
                )  # fmt: skip
                saved = share @ (base - errors)
                luck = share @ (base - errors - saved) ** 2 / (folds - 1) / saved
                tried.append((share @ errors + cautious * luck, factor, share @ errors))
            value, factor, error = min(tried)
            assert curve.rescaling[place] == pytest.approx(factor)
            assert curve.mean_error[place] == pytest.approx(error)
            assert curve.value(cautious=cautious)[place] == pytest.approx(value)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_chosen_follows_from_the_table(seed):
    X, y = weak(seed)
    model = L0RegressorCV(ridge="cv", n_repeats=2).fit(X, y)
    results = model.cv_results_
    seen = ~np.isnan(results["split19_error"])  # ridges far behind are not repeated
    saved, se = results["saved"], results["se_saved"]
    luck = np.where(se == 0, 0, np.where(saved > 0, se**2 / np.where(saved > 0, saved, 1), np.inf))
    value = np.where(seen, results["mean_error"] + luck, np.inf)
    best = int(np.argmin(value))
    assert model.ridge_ == results["ridge"][best]
    assert model.rescaling_ == results["rescaling"][best]
    assert results["lam_low"][best] <= model.lam_ <= results["lam_high"][best]
    simple = L0RegressorCV(ridge="cv", n_repeats=2, rule="1se").fit(X, y)
    near = seen & (results["mean_error"] <= results["mean_error"][best] + results["se_error"][best])
    assert simple.ridge_ in results["ridge"][near]
    chosen = near & (results["ridge"] == simple.ridge_) & (results["lam_high"] > simple.lam_)
    chosen &= results["lam_low"] <= simple.lam_
    assert results["mean_size"][chosen][0] <= results["mean_size"][near].min() + 0.5


def test_coefficients_are_those_of_the_solution_rescaled():
    X, y = weak(2)
    model = L0RegressorCV(ridge="cv").fit(X, y)
    assert model.rescaling_ > 1  # or nothing is tested here
    plain = L0Regressor(model.lam_, ridge=model.ridge_).fit(X, y)
    np.testing.assert_allclose(model.coef_, model.rescaling_ * plain.coef_, rtol=1e-9)
    assert model.objective_ == pytest.approx(plain.objective_)
    at = model.frontier_.at(lam=model.lam_)
    np.testing.assert_allclose(at.coef, model.coef_, rtol=1e-9)
    assert at.intercept == pytest.approx(model.intercept_)
    rss = np.sum((y - model.predict(X)) ** 2)
    assert at.rss == pytest.approx(rss)
    assert model.frontier_.to_frame().loc[at.size, "r2"] == pytest.approx(model.score(X, y))
    # It minimises what the docstring says, on its own support.
    Z = (X - X.mean(axis=0))[:, model.support_]
    norm = np.linalg.norm(Z, axis=0)
    Z, b = Z / norm, model.coef_[model.support_] * norm
    gradient = (Z.T @ (Z @ b) + model.ridge_ * b) / model.rescaling_ - Z.T @ (y - y.mean())
    np.testing.assert_allclose(gradient, 0, atol=1e-9 * np.abs(Z.T @ y).max())


def test_the_limits_of_a_ridge():
    X, y = weak(3)
    options = {"cv": splits_of(70)}
    huge = L0RegressorCV(ridge=1e14, **options).fit(X, y)
    np.testing.assert_allclose(huge.predict(X), y.mean(), atol=1e-8)
    none, listed = (L0RegressorCV(ridge=ridge, **options).fit(X, y) for ridge in (0.0, [0.0]))
    np.testing.assert_array_equal(none.coef_, listed.coef_)
    assert none.rescaling_ == listed.rescaling_ == 1
    both = L0RegressorCV(ridge="cv", **options).fit(X, y).cv_results_
    at_zero = both["ridge"] == 0
    np.testing.assert_array_equal(both["mean_error"][at_zero], none.cv_results_["mean_error"])
    np.testing.assert_array_equal(both["rescaling"][at_zero], 1)


def test_units_do_not_matter():
    X, y = weak(4)
    model = L0RegressorCV(ridge="cv", n_repeats=2).fit(X, y)
    scales = 2.0 ** np.arange(-10, 10)
    other = L0RegressorCV(ridge="cv", n_repeats=2).fit(X * scales, 1024 * y + 512)
    assert other.ridge_ == model.ridge_
    assert other.rescaling_ == model.rescaling_
    np.testing.assert_allclose(other.coef_ * scales, 1024 * model.coef_, rtol=1e-9)


@pytest.mark.parametrize("rule", ["min", "1se"])
@pytest.mark.parametrize("exponent", [-480, -300, 300, 480])
def test_units_do_not_matter_where_squares_of_errors_leave_the_range(rule, exponent):
    X, y = weak(4)
    unit = 2.0**exponent
    model, other = (
        L0RegressorCV(ridge="cv", rule=rule, n_repeats=2).fit(X, each) for each in (y, unit * y)
    )
    assert other.ridge_ == model.ridge_
    assert other.rescaling_ == model.rescaling_
    np.testing.assert_array_equal(other.coef_, unit * model.coef_)


def test_no_error_is_negative_where_the_fit_is_exact(rng):
    X = rng.normal(size=(80, 9))
    model = L0RegressorCV(ridge="cv", n_repeats=2).fit(X, 0.5 * X[:, 8] - 0.5)
    assert model.cv_results_["mean_error"].min() >= 0
    assert model.support_.tolist() == [8]
    assert model.coef_[8] == pytest.approx(0.5)


def test_weights_are_counts(rng):
    X, y = weak(6, n=50)
    weights = rng.integers(0, 4, 50)
    rows = np.repeat(np.arange(50), weights)
    splits = splits_of(50)
    repeated = [tuple(np.flatnonzero(np.isin(rows, side)) for side in split) for split in splits]
    weighted = L0RegressorCV(ridge="cv", cv=splits).fit(X, y, sample_weight=weights)
    plain = L0RegressorCV(ridge="cv", cv=repeated).fit(X[rows], y[rows])
    assert weighted.ridge_ == plain.ridge_
    assert weighted.rescaling_ == pytest.approx(plain.rescaling_)
    np.testing.assert_allclose(weighted.coef_, plain.coef_, rtol=1e-7, atol=1e-9)


def test_noise_is_shrunk_away():
    """Where nothing matters, little is predicted, and the choice of lam alone predicts more."""
    shrunk, plain = [], []
    for seed in range(20):
        rng = np.random.default_rng([9, seed])
        X, y = rng.normal(size=(60, 15)), rng.normal(size=60)
        shrunk.append(np.sum(L0RegressorCV(ridge="cv", n_repeats=2).fit(X, y).coef_ ** 2))
        plain.append(np.sum(L0RegressorCV(n_repeats=2).fit(X, y).coef_ ** 2))
    assert np.mean(shrunk) < 0.75 * np.mean(plain)


def test_threads_and_solver():
    X, y = weak(7)
    one, two = (L0RegressorCV(ridge="cv", n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    sbr = L0RegressorCV(ridge="cv", solver="sbr", n_repeats=1).fit(X, y)
    assert 1 <= sbr.rescaling_ <= 1 + sbr.ridge_
    with pytest.raises(ValueError, match="ridge"):
        L0RegressorCV(ridge="lots").fit(X, y)


@pytest.mark.parametrize("ridge", [0.0, 0.7, "cv"])
def test_what_r2_loses_without_a_variable(ridge):
    X, y = weak(2)
    model = L0RegressorCV(ridge=ridge, n_repeats=1).fit(X, y)
    assert model.support_.size > 2
    table = model.summary()
    for j in model.support_:
        others = model.support_[model.support_ != j]
        Z = X[:, others] - X[:, others].mean(axis=0)
        Z = Z / np.linalg.norm(Z, axis=0)
        beta = np.linalg.solve(Z.T @ Z + model.ridge_ * np.eye(len(others)), Z.T @ (y - y.mean()))
        left = y - y.mean() - model.rescaling_ * Z @ beta
        then = 1 - left @ left / np.sum((y - y.mean()) ** 2)
        lost = model.score(X, y) - then
        assert table.loc[f"x{j}", "r2_lost"] == pytest.approx(lost, rel=1e-8, abs=1e-10)
    at = model.frontier_.at(lam=model.lam_)
    order = table.index.get_indexer([f"x{j}" for j in model.support_])
    np.testing.assert_allclose(model.frontier_._r2_lost(at), table["r2_lost"].to_numpy()[order])


@pytest.mark.parametrize("ridge", [0.0, "cv"])
def test_intervals_a_few_at_a_time_make_the_same_curve(ridge, monkeypatch):
    X, y = weak(3)
    whole = L0RegressorCV(cv=5, n_repeats=2, ridge=ridge).fit(X, y)
    monkeypatch.setattr(_cv_curve, "_AT_A_TIME", 70)  # seven intervals of ten folds
    model = L0RegressorCV(cv=5, n_repeats=2, ridge=ridge).fit(X, y)
    assert (model.lam_, model.ridge_) == (whole.lam_, whole.ridge_)
    for name, values in whole.cv_results_.items():
        np.testing.assert_allclose(model.cv_results_[name], values, rtol=1e-10, atol=1e-12)


def test_what_rounding_alone_would_choose_is_not_stretched(rng):
    # Of one fold with a variable, what any factor saves is as much as its luck.
    X = rng.normal(size=(60, 30))
    y = 2 * X[:, 0] + rng.normal(size=60)
    results = L0RegressorCV(ridge="cv", n_repeats=1, max_size=8).fit(X, y).cv_results_
    lone = results["mean_size"] == 0.1
    assert lone.sum() > 3
    np.testing.assert_array_equal(results["rescaling"][lone], 1)
