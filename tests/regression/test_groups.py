"""Groups of columns, heredity, prices, signs and limits, as users ask for them."""

import pickle

import numpy as np
import pandas as pd
import pytest
from reference.groups import all_models, best_at, best_of_each, fit
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from ellzero import L0Regressor, L0RegressorCV, l0_frontier, stability
from ellzero.datasets import load_diabetes_interactions


def grouped(seed, n=80, widths=(1, 2, 3, 4, 2, 1, 3, 2), active=(2, 5)):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(widths)), widths)
    X = rng.normal(size=(n, labels.size)) + 0.7 * rng.normal(size=(n, 1))
    y = X[:, np.isin(labels, active)].sum(axis=1) + rng.normal(size=n)
    return X, y, labels


def factors(seed, n=120, levels=(4, 3, 5), reference=0):
    """Return dummies of some factors, all but one level of each, and their labels."""
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, count, n) for count in levels]
    kept = [[lv for lv in range(count) if lv != reference % count] for count in levels]
    X = np.column_stack(
        [code == level for code, own in zip(codes, kept, strict=True) for level in own]
    ).astype(float)
    labels = np.repeat(list("abc"), [count - 1 for count in levels])
    y = np.array([0.0, 1.0, -1.0, 0.5])[codes[0]] + 0.8 * rng.normal(size=n)
    return X, y, labels


def test_the_frontier_is_the_best_of_each_size():
    X, y, labels = grouped(0)
    groups = [np.flatnonzero(labels == unit).tolist() for unit in range(8)]
    models = all_models(X, y, groups)
    by_groups = l0_frontier(X, y, feature_groups=labels)
    assert by_groups.sizes.tolist() == list(range(9))
    np.testing.assert_allclose(by_groups.energies, list(best_of_each(models).values()), rtol=1e-9)
    by_columns = l0_frontier(X, y, feature_groups=labels, size_in="columns")
    best = best_of_each(models, by_columns=True)
    for size, energy in zip(by_columns.sizes, by_columns.energies, strict=True):
        assert energy == pytest.approx(best[size], rel=1e-9)
    model = by_groups.at(size=2)
    assert model.groups == ["2", "5"]
    assert model.df.tolist() == [3, 1]
    assert model.size == 2
    np.testing.assert_allclose(X @ model.coef + model.intercept, _fitted(X, y, model.support))


def _fitted(X, y, support):
    A = np.column_stack([np.ones(len(y)), X[:, support]])
    return A @ np.linalg.lstsq(A, y, rcond=None)[0]


@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_the_reference_level_and_the_order_of_columns_change_no_fit(ridge):
    fits = []
    for reference in range(3):
        X, y, labels = factors(1, reference=reference)
        model = L0Regressor(size=2, feature_groups=labels, ridge=ridge).fit(X, y)
        fits.append((model.groups_, model.predict(X), model.objective_))
        order = np.random.default_rng(reference).permutation(X.shape[1])
        turned = L0Regressor(size=2, feature_groups=labels[order], ridge=ridge)
        turned.fit(X[:, order], y)
        assert sorted(turned.groups_) == sorted(model.groups_)
        np.testing.assert_allclose(turned.predict(X[:, order]), model.predict(X), rtol=1e-9)
    for groups, predicted, objective in fits[1:]:
        assert groups == fits[0][0]
        np.testing.assert_allclose(predicted, fits[0][1], rtol=1e-9)
        assert objective == pytest.approx(fits[0][2], rel=1e-9)


def test_all_dummies_of_a_factor_are_as_good_as_all_but_one():
    X, y, labels = factors(2)
    every = np.column_stack([X, 1 - X[:, labels == "a"].sum(axis=1)])
    whole = L0Regressor(feature_groups=[*labels, "a"]).fit(every, y)
    less = L0Regressor(feature_groups=labels).fit(X, y)
    assert whole.groups_ == less.groups_ == ["a"]
    np.testing.assert_allclose(whole.predict(every), less.predict(X), rtol=1e-9)
    assert whole.summary().loc[("a", ""), "df"] == 3


def test_criteria_are_least_over_both_tables():
    found_elsewhere = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        widths = rng.integers(1, 6, 10)
        X, y, labels = grouped(seed, widths=widths, active=rng.choice(10, 4, replace=False))
        groups = [np.flatnonzero(labels == unit).tolist() for unit in range(10)]
        models = all_models(X, y, groups)
        n, log_n = len(y), np.log(len(y))
        bic = [n * np.log(2 * model.energy / n) + model.rank * log_n for model in models]
        frontier = l0_frontier(X, y, feature_groups=labels, max_size=10)
        chosen = frontier.at(criterion="bic")
        assert tuple(int(name) for name in chosen.groups) == models[np.argmin(bic)].units
        found_elsewhere += frontier.criterion("bic").min() > min(bic) + 1e-9
    assert found_elsewhere > 0


def test_groups_of_one_have_the_criteria_of_columns():
    X, y, _ = grouped(3)
    grouped_one = l0_frontier(X, y, feature_groups=np.arange(X.shape[1]), max_size=6)
    plain = l0_frontier(X, y, max_size=6)
    np.testing.assert_allclose(grouped_one.energies, plain.energies, rtol=1e-9)
    for name in ("bic", "ebic", "ric"):
        np.testing.assert_allclose(grouped_one.criterion(name), plain.criterion(name), rtol=1e-9)
    np.testing.assert_allclose(grouped_one.lambdas[:4], plain.lambdas[:4], rtol=1e-7)


def test_lam_is_per_group_or_per_column():
    X, y, labels = grouped(4)
    groups = [np.flatnonzero(labels == unit).tolist() for unit in range(8)]
    models = all_models(X, y, groups)
    for lam in (0.5, 3.0, 20.0):
        per_group = L0Regressor(lam=lam, feature_groups=labels).fit(X, y)
        assert per_group.objective_ == pytest.approx(best_at(models, lam), rel=1e-9)
        per_column = L0Regressor(lam=lam, feature_groups=labels, size_in="columns").fit(X, y)
        best = min(model.energy + lam * model.rank for model in models)
        assert per_column.objective_ == pytest.approx(best, rel=1e-9)


def test_a_table_by_columns_that_has_room_for_no_more_is_not_the_end():
    X, y, labels = grouped(4, widths=(4, 4, 4))
    frontier = l0_frontier(X, y, feature_groups=labels, size_in="columns", max_size=6)
    assert frontier.sizes.tolist() == [0, 4]
    with pytest.raises(ValueError, match="begin to pay"):
        frontier.at(lam=1e-9)
    assert frontier.grow(lam=1e-9).at(lam=1e-9).size == 12


def test_factors_of_the_price():
    X, y, labels = grouped(5, widths=(1,) * 10, active=(2, 5, 7))
    price = np.random.default_rng(5).choice([0.2, 0.5, 1.0, 3.0], 10)
    models = all_models(X, y, [[j] for j in range(10)], price=price)
    for lam in np.geomspace(0.3, 30, 12):
        model = L0Regressor(lam=lam, penalty_factor=price).fit(X, y)
        assert model.objective_ == pytest.approx(best_at(models, lam), rel=1e-9)
    by_name = {str(j): float(price[j]) for j in range(10)}
    same = L0Regressor(lam=3.0, feature_groups=labels, penalty_factor=by_name).fit(X, y)
    plain = L0Regressor(lam=3.0, penalty_factor=price).fit(X, y)
    assert same.support_.tolist() == plain.support_.tolist()


@pytest.mark.parametrize("heredity", ["strong", "weak"])
def test_heredity_by_names(heredity):
    diabetes = load_diabetes_interactions()
    frontier = l0_frontier(diabetes.data, diabetes.target, max_size=15, heredity=heredity)
    judge = all if heredity == "strong" else any
    products = 0
    for size in frontier.sizes:
        names = set(frontier.at(size=int(size)).groups)
        for name in names:
            parts = [name[:-2]] if name.endswith("^2") else name.split(":")
            if len(parts) > 1 or name.endswith("^2"):
                products += 1
                assert judge(part in names for part in parts)
    assert products > 0
    free = l0_frontier(diabetes.data, diabetes.target, max_size=15)
    assert (frontier.energies >= free.energies[: len(frontier.sizes)] - 1e-6).all()


def test_polynomial_names_and_mappings_say_the_same():
    rng = np.random.default_rng(0)
    base = rng.normal(size=(60, 3))
    columns = [*base.T, base[:, 0] * base[:, 1], base[:, 2] ** 2, base[:, 0] ** 2 * base[:, 1]]
    names = ["a", "b", "c", "a b", "c^2", "a^2 b"]
    X = pd.DataFrame(np.column_stack(columns), columns=names)
    y = X["a^2 b"] + rng.normal(size=60)
    by_name = l0_frontier(X, y, heredity="strong")
    parents = {"a b": ["a", "b"], "c^2": "c", "a^2 b": ["a b", "a", "b"]}
    by_mapping = l0_frontier(X, y, heredity="strong", parents=parents)
    assert by_name.sizes.tolist() == by_mapping.sizes.tolist()
    for size in by_name.sizes.tolist():
        assert by_name.at(size=size).groups == by_mapping.at(size=size).groups
    first = next(k for k in by_name.sizes if "a^2 b" in by_name.at(size=int(k)).groups)
    assert first == 4
    always = L0Regressor(size=4, heredity="strong", always_include=["a^2 b"]).fit(X, y)
    assert set(always.groups_) == {"a", "b", "a b", "a^2 b"}


def test_signs_are_those_of_least_squares():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 8)) + rng.normal(size=(60, 1))
    y = X @ np.array([1, -1, 0.5, 0, 0, -0.5, 0, 0]) + rng.normal(size=60)
    frontier = l0_frontier(X, y, positive=True)
    for support in frontier.supports:
        coef = fit(X - X.mean(0), y - y.mean(), support.tolist())[2]
        assert (coef[support] > 0).all()
    model = L0Regressor(lam=0.5, positive={0: 1, 1: -1, 2: -1}).fit(X, y)
    assert model.coef_[0] >= 0
    assert model.coef_[1] <= 0
    assert model.coef_[2] <= 0
    some = L0Regressor(lam=0.5, positive=[1, 5]).fit(X, y)
    assert (some.coef_[[1, 5]] >= 0).all()


def test_at_most_so_many_columns_of_a_group():
    X, y, labels = grouped(6)
    free = L0Regressor(lam=2.0, feature_groups=labels).fit(X, y)
    assert {"2", "5"} <= set(free.groups_)
    model = L0Regressor(lam=2.0, feature_groups=labels, at_most={"2": 1}).fit(X, y)
    assert np.isin(model.support_, np.flatnonzero(labels == 2)).sum() == 1
    none = L0Regressor(lam=2.0, feature_groups=labels, at_most={"2": 0}).fit(X, y)
    assert not np.isin(none.support_, np.flatnonzero(labels == 2)).any()


def test_summary_has_a_row_per_group():
    X, y, labels = grouped(7)
    table = pd.DataFrame(X, columns=[f"v{j}" for j in range(X.shape[1])])
    model = L0Regressor(size=2, feature_groups=labels, ridge=0.2).fit(table, y)
    summary = model.summary()
    assert summary.index.names == ["group", "variable"]
    assert summary.loc[("2", ""), "df"] == 3
    assert summary.loc[("5", "v12"), "df"] == 1
    assert summary["removal_cost"].notna().sum() == 2
    alone = L0Regressor(size=1, always_include=["5"], feature_groups=labels, ridge=0.2)
    lost = model.score(table, y) - alone.fit(table, y).score(table, y)
    assert summary.loc[("2", ""), "r2_lost"] == pytest.approx(lost, rel=1e-9)


def test_sparse_weights_and_pickles():
    X, y, labels = factors(3)
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    dense = L0Regressor(size=2, feature_groups=labels).fit(X, y, weights)
    thin = L0Regressor(size=2, feature_groups=labels).fit(sparse.csc_array(X), y, weights)
    again = L0Regressor(size=2, feature_groups=labels)
    again.fit(np.repeat(X, weights.astype(int), axis=0), np.repeat(y, weights.astype(int)))
    for other in (thin, again):
        assert other.groups_ == dense.groups_
        np.testing.assert_allclose(other.coef_, dense.coef_, rtol=1e-8)
    assert clone(dense).fit(X, y, weights).groups_ == dense.groups_
    frontier = l0_frontier(X, y, feature_groups=labels)
    copy = pickle.loads(pickle.dumps(frontier))
    assert copy.at(size=1).groups == frontier.at(size=1).groups
    with pytest.raises(ValueError, match="A copy of a frontier has no data"):
        copy.grow(3)


def test_a_plain_fit_after_one_with_groups_has_none():
    X, y, labels = grouped(8)
    model = L0Regressor(feature_groups=labels).fit(X, y)
    assert model.groups_
    model.set_params(feature_groups=None).fit(X, y)
    assert not hasattr(model, "groups_")
    assert model.summary().index.name == "variable"


def test_a_small_max_size_is_warned_of():
    X, y, labels = grouped(9)
    with pytest.warns(ConvergenceWarning, match="max_size=1"):
        L0Regressor(lam=1e-3, max_size=1, feature_groups=labels).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="max_size=1"):
        L0Regressor(max_size=1, feature_groups=labels).fit(X, y)


X4 = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 4)), columns=["a", "b", "a:b", "c"])
Y4 = np.random.default_rng(1).normal(size=20)
BAD = [
    ({"feature_groups": [0, 1]}, "feature_groups has 2 labels, but X has 4 columns"),
    ({"feature_groups": {"g": ["a", "b"], "h": ["b"]}}, "column 'b' is in two groups, 'g' and 'h'"),
    ({"feature_groups": {"g": []}}, "group 'g' is empty"),
    ({"feature_groups": {"g": ["x"]}}, "feature_groups names column 'x', which X does not have"),
    ({"feature_groups": {"c": ["a", "b"]}}, "'c' is the name of a group and of a column"),
    ({"size_in": "rows"}, "size_in must be 'groups' or 'columns'; got 'rows'"),
    ({"heredity": "some"}, "heredity must be 'strong', 'weak' or None; got 'some'"),
    ({"parents": {"c": ["a"]}}, "parents needs heredity"),
    ({"heredity": "weak", "parents": {"c": ["z"]}}, "parents names 'z'"),
    ({"heredity": "weak", "parents": {"a": ["b"], "b": ["a"]}}, "a parent of itself"),
    ({"penalty_factor": [1.0, 2.0]}, "penalty_factor has 2 numbers, but there are 4 columns"),
    ({"penalty_factor": {"a": 0.0}}, "penalty_factor must hold positive numbers; got 0.0"),
    ({"positive": {"a": 2}}, r"positive\['a'\] must be 1 or -1; got 2"),
    ({"positive": ["z"]}, "positive names column 'z'"),
    ({"at_most": {"g": 1}}, "at_most names 'g', which is no group"),
    ({"at_most": {"a": -1}}, r"at_most\['a'\] must be a whole number from 0; got -1"),
    ({"positive": True, "always_include": ["a"]}, "positive can't be asked of columns that are"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD, ids=[words[:30] for _, words in BAD])
def test_bad_input_gets_a_sentence(arguments, words):
    with pytest.raises(ValueError, match=words):
        l0_frontier(X4, Y4, **arguments)
    with pytest.raises(ValueError, match=words):
        L0Regressor(**arguments).fit(X4, Y4)


def test_more_sentences():
    with pytest.raises(ValueError, match="heredity needs columns with names"):
        l0_frontier(X4.to_numpy(), Y4, heredity="strong")
    with pytest.raises(ValueError, match="no column has the name of a product"):
        l0_frontier(X4[["a", "b"]], Y4, heredity="strong")
    with pytest.raises(ValueError, match="'a:b' looks like a product, but X has no column 'b'"):
        l0_frontier(X4[["a", "a:b"]], Y4, heredity="strong")
    with pytest.raises(ValueError, match="none of its parents"):
        l0_frontier(X4, Y4, heredity="weak", always_include=["a:b"])
    with pytest.raises(ValueError, match="knows single columns only"):
        L0Regressor(lam=1.0, solver="sbr", heredity="strong").fit(X4, Y4)
    with pytest.raises(ValueError, match="not one of the sizes known"):
        l0_frontier(X4, Y4, heredity="strong").at(size=7)
    with pytest.raises(ValueError, match="certify proves models of single columns"):
        l0_frontier(X4, Y4, heredity="strong").certify(size=1)
    with pytest.raises(ValueError, match="max_size=1, but 2 groups are to be in"):
        l0_frontier(X4, Y4, heredity="strong", max_size=1, always_include=["a", "b"])


def test_cross_validation_finds_groups():
    X, y, labels = grouped(10, n=150)
    model = L0RegressorCV(feature_groups=labels, n_repeats=2).fit(X, y)
    assert {"2", "5"} <= set(model.groups_)
    assert model.frontier_.at(lam=model.lam_).groups == model.groups_
    assert model.summary().attrs["note"]
    # The error at the largest price is that of the mean of the training rows.
    cv = KFold(5)
    model = L0RegressorCV(feature_groups=labels, cv=cv, rule="1se").fit(X, y)
    errors = [np.mean((y[test] - y[train].mean()) ** 2) for train, test in cv.split(X)]
    weights = [test.size for _, test in cv.split(X)]
    first = model.cv_results_["mean_error"][0]
    assert first == pytest.approx(np.average(errors, weights=weights), rel=1e-9)


def test_cross_validation_at_a_price_is_that_of_refits():
    X, y, labels = grouped(11, n=90)
    cv = KFold(3)
    model = L0RegressorCV(feature_groups=labels, cv=cv, max_size=8, ridge=0.1).fit(X, y)
    table = model.cv_results_
    place = len(table["lam_low"]) // 2
    lam = np.sqrt(table["lam_low"][place] * table["lam_high"][place])
    errors = []
    for train, test in cv.split(X):
        share = train.size / len(y)
        fold = L0Regressor(lam=lam * share, feature_groups=labels, ridge=0.1)
        errors.append(np.mean((y[test] - fold.fit(X[train], y[train]).predict(X[test])) ** 2))
    assert table["mean_error"][place] == pytest.approx(np.mean(errors), rel=1e-8)


def test_cross_validation_chooses_how_much_to_shrink_groups():
    rng = np.random.default_rng(12)
    labels = np.repeat(np.arange(15), 3)
    X = rng.normal(size=(80, 45))
    y = 0.3 * X[:, :15].sum(axis=1) + 2 * rng.normal(size=80)
    plain = L0RegressorCV(feature_groups=labels, n_repeats=2).fit(X, y)
    shrunk = L0RegressorCV(feature_groups=labels, ridge="cv", n_repeats=2).fit(X, y)
    assert shrunk.ridge_ > 0
    assert shrunk.rescaling_ >= 1
    assert shrunk.cv_results_["mean_error"].min() < plain.cv_results_["mean_error"].min()
    # The same fit, at the ridge, stretched
    model = shrunk.frontier_.at(lam=shrunk.lam_)
    np.testing.assert_allclose(model.coef, shrunk.coef_, rtol=1e-9)
    at_ridge = l0_frontier(X, y, feature_groups=labels, ridge=shrunk.ridge_)
    unstretched = at_ridge.at(size=model.size)
    np.testing.assert_allclose(shrunk.coef_, shrunk.rescaling_ * unstretched.coef, rtol=1e-6)
    rest = y - y.mean() - (X - X.mean(0)) @ shrunk.coef_
    assert model.rss == pytest.approx(rest @ rest, rel=1e-9)


@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_groups_of_one_are_columns_to_the_last_bit(ridge):
    X, y, _ = grouped(14)
    order = np.random.default_rng(0).permutation(X.shape[1])
    labels = [f"g{j}" for j in order]
    plain = L0Regressor(ridge=ridge, always_include=[3]).fit(X, y)
    groups = L0Regressor(ridge=ridge, feature_groups=labels, always_include=[labels[3]]).fit(X, y)
    np.testing.assert_array_equal(groups.coef_, plain.coef_)
    assert groups.lam_ == plain.lam_
    assert groups.groups_ == [labels[j] for j in plain.support_]
    table, own = groups.summary(), plain.summary()
    assert table["df"].tolist() == [1.0] * plain.support_.size
    np.testing.assert_array_equal(table["r2_lost"], own["r2_lost"])
    assert list(table.index.get_level_values("variable")) == list(own.index)


def test_columns_by_themselves_are_cross_validated_as_groups_of_one():
    rng = np.random.default_rng(13)
    X = rng.normal(size=(60, 8))
    y = X[:, 0] - X[:, 3] + rng.normal(size=60)
    by_columns = L0RegressorCV(ridge="cv", n_repeats=2).fit(X, y)
    as_groups = L0RegressorCV(feature_groups=list("abcdefgh"), ridge="cv", n_repeats=2).fit(X, y)
    assert as_groups.ridge_ == by_columns.ridge_
    assert as_groups.lam_ == pytest.approx(by_columns.lam_, rel=1e-6)
    np.testing.assert_allclose(as_groups.coef_, by_columns.coef_, rtol=1e-6)


@pytest.mark.parametrize("argument", [{"solver": "sbr"}, {"nested": True}])
def test_what_cross_validation_of_groups_refuses(argument):
    X, y, labels = grouped(11)
    with pytest.raises(ValueError, match="single columns only"):
        L0RegressorCV(feature_groups=labels, **argument).fit(X, y)


def test_stability_counts_groups():
    X, y, labels = grouped(12, n=150)
    found = stability(X, y, feature_groups=labels, n_pairs=10, max_size=4)
    assert found.frequencies.shape == (5, 8)
    assert found.feature_names == [str(unit) for unit in range(8)]
    assert found.frequencies[2, [2, 5]].min() > 0.8
    np.testing.assert_allclose(found.frequencies.sum(axis=1), found.sizes)
    table = found.to_frame(2)
    assert table.loc["2", "sign"] == 0
    assert table.loc["5", "sign"] == 1
    half = found.halves[3]
    alone = l0_frontier(X[half], y[half], feature_groups=labels, swaps=False, max_size=4)
    assert found.supports[3][2].tolist() == [int(name) for name in alone.at(size=2).groups]
