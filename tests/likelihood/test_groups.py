"""Groups of columns, heredity, prices, signs and limits for binary and count responses."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from reference.group_likelihood import all_models, fit
from reference.groups import best_at, best_of_each
from reference.likelihood import evidence
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold

from ellzero import (
    L0Classifier,
    L0ClassifierCV,
    L0PoissonRegressor,
    L0PoissonRegressorCV,
    l0_frontier,
    stability,
)
from ellzero._warnings import SeparationWarning
from ellzero.likelihood._scores import CLASSIFIER_SCORES, poisson_deviance

LOSSES = ["logistic", "poisson"]
MODELS = {"logistic": L0Classifier, "poisson": L0PoissonRegressor}
WIDTHS = (1, 2, 3, 1, 2, 3, 1)


def response(rng, loss, eta):
    if loss == "logistic":
        return (rng.random(len(eta)) < expit(eta)).astype(float)
    return rng.poisson(np.exp(0.3 + 0.4 * eta)).astype(float)


def grouped(seed, loss, n=150, widths=WIDTHS, active=(2, 3)):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(widths)), widths)
    X = rng.normal(size=(n, labels.size)) + 0.5 * rng.normal(size=(n, 1))
    return X, response(rng, loss, X[:, np.isin(labels, active)].sum(axis=1)), labels


def groups_of(labels):
    return [np.flatnonzero(labels == label).tolist() for label in dict.fromkeys(labels)]


def factors(seed, loss, n=200, levels=(4, 3, 5), reference=0):
    """Return dummies of some factors, all but one level of each, and their labels."""
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, count, n) for count in levels]
    kept = [[lv for lv in range(count) if lv != reference % count] for count in levels]
    X = np.column_stack(
        [code == level for code, own in zip(codes, kept, strict=True) for level in own]
    ).astype(float)
    labels = np.repeat(list("abc"), [count - 1 for count in levels])
    return X, response(rng, loss, np.array([0.0, 2.0, -1.0, 0.5])[codes[0]]), labels


@pytest.mark.parametrize("loss", LOSSES)
def test_the_frontier_is_the_best_of_each_size(loss):
    X, y, labels = grouped(0, loss)
    models = all_models(loss, X, y, groups_of(labels), ridge=1 / (100 * len(y)))
    frontier = l0_frontier(X, y, loss=loss, feature_groups=labels)
    assert frontier.loss == loss
    assert frontier.sizes.tolist() == list(range(8))
    np.testing.assert_allclose(frontier.energies, list(best_of_each(models).values()), rtol=1e-7)
    by_columns = l0_frontier(X, y, loss=loss, feature_groups=labels, size_in="columns")
    best = best_of_each(models, by_columns=True)
    for size, energy in zip(by_columns.sizes, by_columns.energies, strict=True):
        assert energy == pytest.approx(best[size], rel=1e-7)
    model = frontier.at(size=2)
    assert model.groups == ["2", "3"]
    assert model.df.tolist() == [3, 1]
    table = frontier.to_frame()
    assert table.loc[2, "d2"] == pytest.approx(1 - model.rss / (2 * models[0].energy), rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_fits_are_those_of_statsmodels(loss, weighted):
    X, y, labels = grouped(1, loss)
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 4, len(y)).astype(float) if weighted else None
    model = MODELS[loss](size=3, feature_groups=labels, ridge=0).fit(X, y, weights)
    family = sm.families.Binomial() if loss == "logistic" else sm.families.Poisson()
    columns = sm.add_constant(X[:, model.support_])
    peer = sm.GLM(y, columns, family=family, freq_weights=weights).fit(tol=1e-12)
    np.testing.assert_allclose(np.ravel(model.coef_)[model.support_], peer.params[1:], rtol=1e-6)
    assert np.ravel(model.intercept_)[0] == pytest.approx(peer.params[0], rel=1e-6)
    assert model.deviance_ == pytest.approx(peer.deviance, rel=1e-8)
    assert model.null_deviance_ == pytest.approx(peer.null_deviance, rel=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("ridge", [None, 0.5])
def test_the_reference_level_and_the_order_of_columns_change_no_fit(loss, ridge):
    fits = []
    for reference in range(3):
        X, y, labels = factors(1, loss, reference=reference)
        model = MODELS[loss](size=2, feature_groups=labels, ridge=ridge).fit(X, y)
        order = np.random.default_rng(reference).permutation(X.shape[1])
        turned = MODELS[loss](size=2, feature_groups=labels[order], ridge=ridge)
        turned.fit(X[:, order], y)
        eta = X @ np.ravel(model.coef_) + model.intercept_
        again = X[:, order] @ np.ravel(turned.coef_) + turned.intercept_
        assert sorted(turned.groups_) == sorted(model.groups_)
        np.testing.assert_allclose(again, eta, rtol=1e-7, atol=1e-9)
        fits.append((model.groups_, eta, model.objective_))
    for groups, eta, objective in fits[1:]:
        assert groups == fits[0][0]
        np.testing.assert_allclose(eta, fits[0][1], rtol=1e-7, atol=1e-9)
        assert objective == pytest.approx(fits[0][2], rel=1e-9)


def test_all_dummies_of_a_factor_are_as_good_as_all_but_one():
    X, y, labels = factors(2, "logistic")
    every = np.column_stack([X, 1 - X[:, labels == "a"].sum(axis=1)])
    whole = L0Classifier(feature_groups=[*labels, "a"]).fit(every, y)
    less = L0Classifier(feature_groups=labels).fit(X, y)
    assert whole.groups_ == less.groups_ == ["a"]
    np.testing.assert_allclose(whole.predict_proba(every), less.predict_proba(X), rtol=1e-7)
    assert whole.summary().loc[("a", ""), "df"] == 3


def test_columns_that_depend_on_those_of_other_groups_are_not_counted():
    rng = np.random.default_rng(5)
    region = rng.integers(0, 6, 300)
    table = pd.get_dummies(pd.DataFrame({"r": region, "c": region // 2}, dtype=str), dtype=float)
    y = response(rng, "logistic", np.array([-2.0, 2, 0, 1, -1, 2])[region])
    labels = [name[0] for name in table]
    frontier = l0_frontier(table, y, loss="logistic", feature_groups=labels)
    assert frontier.at(size=1).df.tolist() == [5]
    both = L0Classifier(size=2, feature_groups=labels).fit(table, y).summary()
    assert both["df"].sum() == 5


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", ["bic", "ebic", "ric"])
def test_criteria_count_columns_groups_and_evidence(loss, name):
    X, y, labels = grouped(2, loss)
    groups, n, p = groups_of(labels), len(y), X.shape[1]
    frontier = l0_frontier(X, y, loss=loss, feature_groups=labels)
    values = frontier.criterion(name)
    m = evidence(loss, y)
    for place, size in enumerate(frontier.sizes):
        own = [groups[int(unit)] for unit in frontier.at(size=int(size)).groups]
        df, _, nll, _ = fit(loss, X, y, own, ridge=1 / (100 * n))
        price = df * math.log(n) if name == "bic" else 2 * df * math.log(p)
        if name == "ebic":
            r = (df + 2) / (m - df - 2)
            ways = math.comb(7, min(size, 3))
            price = (1 + 2 * r**3) * (df * math.log(n) + 2 * math.log(ways)) if size else 0.0
        assert values[place] == pytest.approx(2 * nll + price, rel=1e-7)
    # The least is over both tables.
    best = frontier.at(criterion=name)
    assert MODELS[loss](name, feature_groups=labels, max_size=7).fit(X, y).groups_ == best.groups


@pytest.mark.parametrize("loss", LOSSES)
def test_groups_of_one_find_what_single_columns_do(loss):
    X, y, _ = grouped(3, loss)
    one = l0_frontier(X, y, loss=loss, feature_groups=range(X.shape[1]), max_size=6)
    plain = l0_frontier(X, y, loss=loss, max_size=6)
    np.testing.assert_allclose(one.energies, plain.energies, rtol=1e-7)
    np.testing.assert_allclose(one.lambdas[:4], plain.lambdas[:4], rtol=1e-4)
    for name in ("bic", "ebic", "ric"):
        np.testing.assert_allclose(one.criterion(name), plain.criterion(name), rtol=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
def test_lam_is_per_group_or_per_column_and_has_factors(loss):
    X, y, labels = grouped(4, loss)
    how = {"ridge": 1 / (100 * len(y))}
    models = all_models(loss, X, y, groups_of(labels), **how)
    price = np.random.default_rng(4).choice([0.2, 0.5, 1.0, 3.0], 7)
    priced = all_models(loss, X, y, groups_of(labels), **how, price=price)
    for lam in (0.3, 2.0, 6.0):
        per_group = MODELS[loss](lam, feature_groups=labels).fit(X, y)
        assert per_group.objective_ == pytest.approx(best_at(models, lam), rel=1e-7)
        per_column = MODELS[loss](lam, feature_groups=labels, size_in="columns").fit(X, y)
        best = min(model.energy + lam * model.rank for model in models)
        assert per_column.objective_ == pytest.approx(best, rel=1e-7)
        dear = MODELS[loss](lam, feature_groups=labels, penalty_factor=price).fit(X, y)
        assert dear.objective_ == pytest.approx(best_at(priced, lam), rel=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("heredity", ["strong", "weak"])
def test_heredity_by_names(loss, heredity):
    rng = np.random.default_rng(6)
    base = rng.normal(size=(300, 4))
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    names = [*"abcd", *["abcd"[a] + ":" + "abcd"[b] for a, b in pairs]]
    columns = [base, *[base[:, [a]] * base[:, [b]] for a, b in pairs]]
    X = pd.DataFrame(np.column_stack(columns), columns=names)
    y = response(rng, loss, (1.5 * X["a:b"] + X["c:d"] + 0.3 * X["a"]).to_numpy())
    judge = all if heredity == "strong" else any
    frontier = l0_frontier(X, y, loss=loss, heredity=heredity)
    products = 0
    for size in frontier.sizes:
        groups = frontier.at(size=int(size)).groups
        for name in (name for name in groups if ":" in name):
            products += 1
            assert judge(part in groups for part in name.split(":"))
    assert products > 0
    model = MODELS[loss](lam=1.0, heredity=heredity).fit(X, y)
    assert {"a:b", "c:d"} <= set(model.groups_)


@pytest.mark.parametrize("loss", LOSSES)
def test_signs_and_limits(loss):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(200, 6)) + rng.normal(size=(200, 1))
    y = response(rng, loss, X @ np.array([1, -1, 0.5, 0, 0, -0.5]))
    frontier = l0_frontier(X, y, loss=loss, positive=True)
    for size in frontier.sizes:
        assert (frontier.at(size=int(size)).coef >= 0).all()
    model = MODELS[loss](lam=0.1, positive={0: 1, 1: -1, 2: -1}).fit(X, y)
    signs = np.sign(np.ravel(model.coef_)[:3])
    assert signs[0] >= 0
    assert (signs[1:] <= 0).all()
    labels = [0, 0, 1, 1, 2, 2]
    few = MODELS[loss](lam=0.1, feature_groups=labels, at_most={"0": 1}).fit(X, y)
    assert np.isin(few.support_, [0, 1]).sum() == 1


def test_always_included_groups():
    X, y, labels = grouped(8, "logistic")
    model = L0Classifier(feature_groups=labels, always_include=["5"]).fit(X, y)
    assert set(model.groups_) == {"2", "3", "5"}
    free = L0Classifier(lam=model.lam_, feature_groups=labels).fit(X, y)
    assert set(free.groups_) == {"2", "3"}
    table = L0Classifier(lam=20.0, feature_groups=labels, always_include=["5"]).fit(X, y)
    assert "5" in table.groups_


@pytest.mark.parametrize("loss", LOSSES)
def test_summary_has_a_row_per_group(loss):
    X, y, labels = grouped(9, loss)
    table = pd.DataFrame(X, columns=[f"v{j}" for j in range(X.shape[1])])
    model = MODELS[loss](size=2, feature_groups=labels).fit(table, y)
    summary = model.summary()
    ratio = "odds_ratio" if loss == "logistic" else "rate_ratio"
    assert summary.index.names == ["group", "variable"]
    assert summary.loc[("2", ""), "df"] == 3
    rows = summary[ratio].notna()
    np.testing.assert_allclose(summary[ratio][rows], np.exp(summary["coefficient"][rows]))
    alone = MODELS[loss](size=1, always_include=["3"], feature_groups=labels).fit(table, y)
    assert summary.loc[("2", ""), "removal_cost"] == pytest.approx(
        alone.objective_ - model.objective_, rel=1e-4
    )
    model.set_params(feature_groups=None).fit(table, y)
    assert not hasattr(model, "groups_")
    assert model.summary().index.name == "variable"


def test_sparse_weights_exposures_and_pickles():
    X, y, labels = factors(3, "poisson")
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    years = np.random.default_rng(1).uniform(0.5, 2, len(y))
    dense = L0PoissonRegressor(size=2, feature_groups=labels).fit(X, y, weights, years)
    thin = clone(dense).fit(sparse.csc_array(X), y, weights, years)
    often = weights.astype(int)
    again = clone(dense).fit(
        *[np.repeat(part, often, axis=0) for part in (X, y)], exposure=np.repeat(years, often)
    )
    for other in (thin, again, pickle.loads(pickle.dumps(dense))):
        assert other.groups_ == dense.groups_
        np.testing.assert_allclose(other.coef_, dense.coef_, rtol=1e-6, atol=1e-9)
    _, energy, _, _ = fit(
        "poisson",
        X,
        y,
        [np.flatnonzero(labels == g) for g in dense.groups_],
        ridge=dense.ridge_,
        weights=weights,
        offset=np.log(years),
    )
    assert dense.objective_ == pytest.approx(energy, rel=1e-8)
    frontier = l0_frontier(X, y, loss="poisson", feature_groups=labels)
    copy = pickle.loads(pickle.dumps(frontier))
    assert copy.at(size=1).groups == frontier.at(size=1).groups


def test_separation_is_warned_of_without_a_ridge():
    X, y, labels = grouped(10, "logistic")
    X[:, 4] = np.where(y == 1, 1, -1) * np.random.default_rng(0).uniform(0.1, 2, len(y))
    with pytest.warns(SeparationWarning, match="'2'.* separate the classes"):
        model = L0Classifier(1.0, feature_groups=labels, ridge=0).fit(X, y)
    assert np.isfinite(model.coef_).all()
    with pytest.warns(SeparationWarning, match="'2'"):
        l0_frontier(X, y, loss="logistic", feature_groups=labels, ridge=0, max_size=2)
    quiet = L0Classifier(1.0, feature_groups=labels).fit(X, y)
    assert "2" in quiet.groups_
    assert np.abs(quiet.coef_).max() < 100


def test_a_small_max_size_is_warned_of():
    X, y, labels = grouped(11, "logistic")
    with pytest.warns(ConvergenceWarning, match="L0Classifier .*max_size=1"):
        L0Classifier(lam=1e-3, max_size=1, feature_groups=labels).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="L0ClassifierCV: max_size=1"):
        L0ClassifierCV(max_size=1, feature_groups=labels, n_repeats=1).fit(X, y)


X4 = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 4)), columns=["a", "b", "a:b", "c"])
Y4 = np.tile([0.0, 1.0], 10)
BAD = [
    ({"feature_groups": [0, 1]}, "feature_groups has 2 labels, but X has 4 columns"),
    ({"feature_groups": {"g": ["a", "b"], "h": ["b"]}}, "column 'b' is in two groups, 'g' and 'h'"),
    ({"size_in": "rows"}, "size_in must be 'groups' or 'columns'; got 'rows'"),
    ({"heredity": "some"}, "heredity must be 'strong', 'weak' or None; got 'some'"),
    ({"parents": {"c": ["a"]}}, "parents needs heredity"),
    ({"penalty_factor": [1.0, 2.0]}, "penalty_factor has 2 numbers, but there are 4 columns"),
    ({"positive": {"a": 2}}, r"positive\['a'\] must be 1 or -1; got 2"),
    ({"at_most": {"g": 1}}, "at_most names 'g', which is no group"),
    ({"positive": True, "always_include": ["a"]}, "positive can't be asked of columns that are"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD, ids=[words[:30] for _, words in BAD])
def test_bad_input_gets_a_sentence(arguments, words):
    for estimator in (L0Classifier, L0ClassifierCV, L0PoissonRegressor, L0PoissonRegressorCV):
        with pytest.raises(ValueError, match=words):
            estimator(**arguments).fit(X4, Y4)
    with pytest.raises(ValueError, match=words):
        l0_frontier(X4, Y4, loss="poisson", **arguments)


def test_more_sentences():
    for estimator in (L0Classifier, L0ClassifierCV, L0PoissonRegressor, L0PoissonRegressorCV):
        with pytest.raises(ValueError, match="knows single columns only"):
            estimator(solver="sbr", heredity="strong").fit(X4, Y4)
    with pytest.raises(ValueError, match="size and lam exclude each other"):
        L0Classifier(lam=1.0, size=2, heredity="strong").fit(X4, Y4)
    with pytest.raises(ValueError, match="y must hold zeros and ones"):
        l0_frontier(X4, np.arange(20), loss="logistic", heredity="strong")
    with pytest.raises(ValueError, match="y must not be negative"):
        L0PoissonRegressor(heredity="strong").fit(X4, -Y4)
    with pytest.raises(ValueError, match="certify proves models of single columns"):
        l0_frontier(X4, Y4, loss="logistic", heredity="strong").certify(size=1)
    with pytest.raises(ValueError, match="max_size=1, but 2 groups are to be in"):
        L0Classifier(heredity="strong", max_size=1, always_include=["a", "b"]).fit(X4, Y4)
    one_class = [(np.arange(0, 20, 2), np.arange(1, 20, 2))]
    with pytest.raises(ValueError, match="trains on one class only"):
        L0ClassifierCV(heredity="strong", cv=one_class).fit(X4, Y4)


@pytest.mark.parametrize("scoring", ["log_loss", "brier", "roc_auc"])
def test_cross_validation_at_a_price_is_that_of_refits(scoring):
    X, y, labels = grouped(12, "logistic", n=120)
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    cv = StratifiedKFold(3)
    how = {"feature_groups": labels, "ridge": 0.1}
    model = L0ClassifierCV(cv=cv, scoring=scoring, max_size=7, **how).fit(X, y, weights)
    assert {"2", "3"} <= set(model.groups_)
    assert model.frontier_.at(lam=model.lam_).groups == model.groups_
    table = model.cv_results_
    for place in (0, len(table["lam_low"]) // 2):
        lam = np.sqrt(table["lam_low"][place] * min(table["lam_high"][place], 1e6))
        errors, sizes = [], []
        for train, test in cv.split(X, y):
            share = weights[train].sum() / weights.sum()
            fold = L0Classifier(lam * share, **how).fit(X[train], y[train], weights[train])
            eta = fold.decision_function(X[test])[None, :]
            errors.append(CLASSIFIER_SCORES[scoring](eta, y[test], weights[test])[0])
            sizes.append(weights[test].sum())
        assert table["mean_error"][place] == pytest.approx(np.average(errors, weights=sizes), 1e-6)


def test_cross_validation_of_counts():
    X, y, labels = grouped(13, "poisson", n=150)
    years = np.random.default_rng(1).uniform(0.5, 2, len(y))
    cv = KFold(3)
    model = L0PoissonRegressorCV(feature_groups=labels, cv=cv, max_size=7, ridge=0.1)
    model.fit(X, y, exposure=years)
    table = model.cv_results_
    place = len(table["lam_low"]) // 2
    lam = np.sqrt(table["lam_low"][place] * table["lam_high"][place])
    errors = []
    for train, test in cv.split(X):
        share = train.size / len(y)
        fold = L0PoissonRegressor(lam * share, feature_groups=labels, ridge=0.1)
        fold.fit(X[train], y[train], exposure=years[train])
        eta = np.log(fold.predict(X[test], years[test]))[None, :]
        errors.append(poisson_deviance(eta, y[test], np.ones(test.size))[0])
    assert table["mean_error"][place] == pytest.approx(np.mean(errors), rel=1e-6)
    assert model.dispersion_ > 0


def test_cross_validation_chooses_a_ridge_and_keeps_heredity():
    rng = np.random.default_rng(14)
    main = rng.normal(size=(200, 3))
    X = pd.DataFrame(main, columns=list("abc"))
    X["a:b"], X["b:c"] = X["a"] * X["b"], X["b"] * X["c"]
    y = response(rng, "logistic", (1.5 * X["a:b"] + X["c"]).to_numpy())
    model = L0ClassifierCV(heredity="strong", ridge=[0.01, 1.0], n_repeats=1).fit(X, y)
    assert model.ridge_ in (0.01, 1.0)
    assert {"a", "b", "a:b", "c"} <= set(model.groups_)
    assert set(model.cv_results_["ridge"]) == {0.01, 1.0}


@pytest.mark.parametrize("loss", LOSSES)
def test_stability_counts_groups(loss):
    X, y, labels = grouped(15, loss, n=500)
    found = stability(X, y, loss=loss, feature_groups=labels, n_pairs=5, max_size=4)
    assert found.frequencies.shape == (5, 7)
    assert found.feature_names == [str(unit) for unit in range(7)]
    assert found.frequencies[2, [2, 3]].min() > 0.8
    np.testing.assert_allclose(found.frequencies.sum(axis=1), found.sizes)
    half = found.halves[3]
    alone = l0_frontier(
        X[half],
        y[half],
        loss=loss,
        feature_groups=labels,
        swaps=False,
        max_size=4,
        ridge=1 / (100 * len(y)),
    )
    assert found.supports[3][2].tolist() == [int(name) for name in alone.at(size=2).groups]
    if loss == "logistic":  # every half has half of each class
        assert abs(y[half].sum() - y.sum() / 2) < 1


def test_stability_refuses_halves_of_one_class():
    X, y, labels = grouped(16, "logistic", n=40)
    y[:] = 0
    y[0] = 1
    with pytest.raises(ValueError, match="y must differ within every half"):
        stability(X, y, loss="logistic", feature_groups=labels, n_pairs=2, max_size=2)
