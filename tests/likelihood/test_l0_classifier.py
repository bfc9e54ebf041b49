"""L0Classifier: its fits against statsmodels, its choices against the frontier, and the API."""

import pickle

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from estimator_checks import WRONG_FOR_TWO_CLASSES, assert_passes_every_check
from hypothesis import given, settings
from hypothesis import strategies as st
from likelihood_tables import draw
from reference.likelihood import criterion, evidence, nll, refit, standardise
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ellzero import L0Classifier, l0_frontier


@pytest.fixture(scope="module")
def table():
    return draw("logistic", 5, n=150, p=10)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_fits_are_those_of_statsmodels(table, rng, intercept, weighted):
    X, y = table
    X = X + 0.5
    weights = rng.integers(0, 4, len(y)) if weighted else None
    model = L0Classifier(size=4, ridge=0.0, fit_intercept=intercept).fit(X, y, weights)
    A = X[:, model.support_]
    A = np.column_stack([np.ones(len(y)), A]) if intercept else A
    fit = sm.GLM(y, A, family=sm.families.Binomial(), freq_weights=weights).fit(tol=1e-12)
    coefficients = fit.params[1:] if intercept else fit.params
    np.testing.assert_allclose(model.coef_[0, model.support_], coefficients, rtol=1e-7)
    if intercept:
        assert model.intercept_[0] == pytest.approx(fit.params[0], rel=1e-7)
        assert model.null_deviance_ == pytest.approx(fit.null_deviance, rel=1e-8)
    else:
        assert model.intercept_[0] == 0
    assert model.deviance_ == pytest.approx(fit.deviance, rel=1e-8)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], fit.predict(A), rtol=1e-7)


@pytest.mark.parametrize("lam", [0.5, 2.0, "bic", "ebic", "ric"])
def test_the_objective_and_the_choice(table, lam):
    X, y = table
    model = L0Classifier(lam).fit(X, y)
    assert model.ridge_ == 1 / (100 * 150)
    Z, k = standardise(X), model.support_.size
    fit = refit("logistic", Z, y, model.support_, ridge=model.ridge_)
    assert model.deviance_ == pytest.approx(2 * fit.nll, rel=1e-8)
    priced = 0 if np.isnan(model.lam_) else model.lam_ * k
    assert model.objective_ == pytest.approx(fit.energy + priced, rel=1e-9)
    frontier = l0_frontier(X, y, loss="logistic")
    chosen = frontier.at(criterion=lam) if isinstance(lam, str) else frontier.at(lam=lam)
    np.testing.assert_array_equal(model.support_, chosen.support)
    if isinstance(lam, str):
        values = [
            criterion(lam, refit("logistic", Z, y, s, ridge=model.ridge_).nll, len(s), 150, 10, m=m)
            for s in frontier.supports
            for m in [evidence("logistic", y)]
        ]
        assert k == np.argmin(values)
    # No insertion, removal or swap is better.
    here = set(model.support_.tolist())
    outside = set(range(10)) - here
    price = model.lam_
    if not np.isnan(price):
        near = [here | {j} for j in outside] + [here - {j} for j in here]
        near += [here - {j} | {i} for j in here for i in outside]
        for other in near:
            energy = refit("logistic", Z, y, sorted(other), ridge=model.ridge_).energy
            assert energy + price * len(other) >= model.objective_ - 1e-7


@pytest.mark.parametrize("solver", ["frontier", "sbr"])
def test_weights_are_rows_repeated_and_weight_zero_is_no_row(table, rng, solver):
    X, y = table
    weights = rng.integers(0, 3, len(y))
    weighted = L0Classifier(1.0, solver=solver).fit(X, y, weights)
    repeated = L0Classifier(1.0, solver=solver).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    X, y = X.copy(), y.copy()
    X[weights == 0] = 1e6
    without = L0Classifier(1.0, solver=solver).fit(X, y, weights)
    for other in (repeated, without):
        np.testing.assert_array_equal(weighted.support_, other.support_)
        np.testing.assert_allclose(weighted.coef_, other.coef_, rtol=1e-5)
        assert weighted.ridge_ == pytest.approx(other.ridge_)
        assert weighted.objective_ == pytest.approx(other.objective_, rel=1e-8)


@given(seed=st.integers(0, 1000))
@settings(max_examples=15)
def test_order_scale_and_place_of_columns_do_not_matter(seed):
    X, y = draw("logistic", seed, n=60, p=8)
    rng = np.random.default_rng(seed)
    order, factors = rng.permutation(8), 10.0 ** rng.uniform(-6, 6, size=8)
    plain = l0_frontier(X, y, loss="logistic", ridge=0.1)
    moved = l0_frontier((X * factors + factors)[:, order], y, loss="logistic", ridge=0.1)
    np.testing.assert_allclose(moved.energies, plain.energies, rtol=1e-7)
    for ours, theirs in zip(plain.supports, moved.supports, strict=True):
        assert sorted(order[theirs]) == ours.tolist()
    inverse = np.argsort(order)
    np.testing.assert_allclose(
        moved.at(size=4).coef[inverse] * factors, plain.at(size=4).coef, rtol=1e-4, atol=1e-7
    )


@given(seed=st.integers(0, 1000))
@settings(max_examples=10)
def test_the_other_class_flips_signs(seed):
    X, y = draw("logistic", seed, n=60, p=8)
    one, other = (L0Classifier(size=3).fit(X, labels) for labels in (y, 1 - y))
    np.testing.assert_array_equal(one.support_, other.support_)
    np.testing.assert_allclose(one.coef_, -other.coef_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(one.intercept_, -other.intercept_, rtol=1e-4, atol=1e-6)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-8)


@pytest.mark.parametrize(
    "labels", [["no", "yes"], [False, True], [-1, 1], [3.0, 7.0]], ids=lambda labels: str(labels)
)
def test_any_two_labels(table, labels):
    X, y = table
    plain = L0Classifier(size=3).fit(X, y)
    named = L0Classifier(size=3).fit(X, np.array(labels)[y.astype(int)])
    assert named.classes_.tolist() == labels
    np.testing.assert_array_equal(named.coef_, plain.coef_)
    predicted = named.predict(X)
    assert predicted.dtype == named.classes_.dtype
    assert predicted.tolist() == [labels[int(k)] for k in plain.predict(X)]


def test_probabilities(table):
    X, y = table
    model = L0Classifier(size=3).fit(X, y)
    log_odds = X @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X), log_odds, rtol=1e-12)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-14)
    np.testing.assert_allclose(probabilities[:, 1], expit(log_odds), rtol=1e-12)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(probabilities), rtol=1e-10)
    np.testing.assert_array_equal(model.predict(X), model.classes_[(log_odds > 0).astype(int)])
    assert model.score(X, y) == np.mean(model.predict(X) == y)
    assert 0.5 * model.deviance_ == pytest.approx(nll("logistic", log_odds, y), rel=1e-8)


def test_class_weight_multiplies_the_weights_of_rows(table, rng):
    X, y = table
    rows = rng.integers(1, 3, len(y)).astype(float)
    labels = np.array(["a", "b"])[y.astype(int)]
    by_class = L0Classifier(1.0, class_weight={"b": 3}).fit(X, labels, rows)
    by_row = L0Classifier(1.0).fit(X, labels, rows * np.where(y == 1, 3, 1))
    np.testing.assert_array_equal(by_class.coef_, by_row.coef_)
    balanced = L0Classifier(1.0, class_weight="balanced").fit(X, labels, rows)
    total, ones = rows.sum(), rows @ y
    factors = np.where(y == 1, 0.5 * total / ones, 0.5 * total / (total - ones))
    by_row = L0Classifier(1.0).fit(X, labels, rows * factors)
    np.testing.assert_allclose(balanced.coef_, by_row.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("class_weight", "words"),
    [
        ({"c": 1}, "class_weight names class 'c', but the classes are 'a', 'b'"),
        ({"a": -1}, "class_weight must hold finite numbers from 0"),
        ({"a": np.nan}, "class_weight must hold finite numbers from 0"),
        ({"a": "x"}, "class_weight must hold finite numbers from 0"),
        ({"a": 0, "b": 0}, "class_weight must not be zero for every row"),
        ({"a": 0}, "y must hold two classes"),
    ],
    ids=str,
)
def test_class_weights_that_make_no_sense(table, class_weight, words):
    X, y = table
    with pytest.raises(ValueError, match=words):
        L0Classifier(class_weight=class_weight).fit(X, np.array(["a", "b"])[y.astype(int)])


def test_always_include_and_size(table):
    X, y = table
    frame = pd.DataFrame(X).add_prefix("v")
    model = L0Classifier(size=3, always_include=["v9", "v8"]).fit(frame, y)
    assert {8, 9} < set(model.support_.tolist())
    assert model.support_.size == 3
    assert list(model.get_feature_names_out()) == [f"v{j}" for j in model.support_]
    none = L0Classifier(1e9, always_include=[9]).fit(X, y)
    assert none.support_.tolist() == [9]
    assert none.objective_ == pytest.approx(
        refit("logistic", standardise(X), y, [9], ridge=none.ridge_).energy
    )
    for options, words in [
        ({"size": 11}, "size=11, but X has 10 columns"),
        ({"size": 1, "always_include": [1, 2]}, "size=1, but always_include names 2 columns"),
        ({"size": 3, "lam": 1.0}, "size and lam exclude each other"),
        ({"size": 3, "solver": "sbr"}, 'size needs solver="frontier"'),
    ]:
        with pytest.raises(ValueError, match=words):
            L0Classifier(**options).fit(X, y)


def test_sbr_is_never_better_and_stops_where_no_single_move_helps(table):
    X, y = table
    Z = standardise(X)
    for lam in (0.3, 1.0, 4.0):
        sbr = L0Classifier(lam, solver="sbr").fit(X, y)
        best = L0Classifier(lam).fit(X, y)
        assert best.objective_ <= sbr.objective_ + 1e-8
        nothing = 0.5 * sbr.null_deviance_
        assert sbr.objective_ <= nothing + 1e-9  # never worse than where it starts
        here = set(sbr.support_.tolist())
        for other in [here ^ {j} for j in range(10)]:
            energy = refit("logistic", Z, y, sorted(other), ridge=sbr.ridge_).energy
            assert energy + lam * len(other) >= sbr.objective_ - 1e-7


def test_max_size_warns_where_it_holds_back(table):
    X, y = table
    for options in ({"lam": 0.01}, {"lam": 0.01, "solver": "sbr"}):
        with pytest.warns(ConvergenceWarning, match="L0Classifier stopped at max_size=2"):
            model = L0Classifier(max_size=2, **options).fit(X, y)
        assert model.support_.size == 2
    with pytest.warns(ConvergenceWarning, match="max_size=1"):
        L0Classifier("bic", max_size=1).fit(X, y)


def test_storage_does_not_matter(table):
    X, y = table
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    dense = L0Classifier(1.0).fit(X, y)
    for other in (sparse.csr_array(X), sparse.csc_matrix(X), np.asfortranarray(X)):
        model = L0Classifier(1.0).fit(other, y)
        np.testing.assert_allclose(model.coef_, dense.coef_, rtol=1e-6)
        np.testing.assert_allclose(model.predict_proba(other), dense.predict_proba(X), rtol=1e-6)
    narrow = L0Classifier(1.0).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(narrow.coef_, dense.coef_, rtol=1e-3)


def test_selection(table):
    X, y = table
    model = L0Classifier(size=3).fit(X, y)
    kept = model.transform(X)
    np.testing.assert_array_equal(kept, X[:, model.support_])
    back = model.inverse_transform(kept)
    np.testing.assert_array_equal(back, X * model.get_support())
    empty = L0Classifier(1e9).fit(X, y)
    assert empty.transform(X).shape == (150, 0)
    assert empty.inverse_transform(np.zeros((4, 0))).shape == (4, 10)
    np.testing.assert_allclose(empty.predict_proba(X)[:, 1], y.mean(), rtol=1e-9)


def test_scikit_learns_tools(table):
    X, y = table
    pipe = make_pipeline(StandardScaler(), L0Classifier())
    search = GridSearchCV(pipe, {"l0classifier__lam": [0.5, 5.0, "bic"]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.6
    assert len(cross_val_score(L0Classifier(size=2), X, y, cv=3, scoring="neg_log_loss")) == 3
    model = L0Classifier(size=3).fit(X, y)
    again = clone(model).fit(X, y)
    assert again.coef_.tobytes() == model.coef_.tobytes()
    copy = pickle.loads(pickle.dumps(model))
    assert copy.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert copy.summary().equals(model.summary())


def test_the_summary(table):
    X, y = table
    model = L0Classifier(size=3).fit(X * 100, y)
    summary = model.summary()
    Z = standardise(X)
    here = refit("logistic", Z, y, model.support_, ridge=model.ridge_)
    order = [int(name.removeprefix("x")) for name in summary.index]
    coefficients = model.coef_[0, order]
    np.testing.assert_allclose(summary["odds_ratio"], np.exp(coefficients))
    np.testing.assert_allclose(summary["standardised"], coefficients * 100 * X[:, order].std(0))
    np.testing.assert_allclose(summary["odds_ratio_per_sd"], np.exp(summary["standardised"]))
    for j, cost, lost in zip(order, summary["removal_cost"], summary["d2_lost"], strict=True):
        rest = [i for i in order if i != j]
        expected = refit("logistic", Z, y, rest, ridge=model.ridge_).energy - here.energy
        assert cost == pytest.approx(expected, rel=1e-4)
        assert lost == pytest.approx(2 * expected / model.null_deviance_, rel=1e-4)
    assert summary["removal_cost"].is_monotonic_decreasing


@pytest.mark.parametrize("options", ["", "solver='sbr'"])
def test_scikit_learns_own_checks(options):
    assert_passes_every_check(f"L0Classifier({options})", at_least=51, wrong=WRONG_FOR_TWO_CLASSES)
