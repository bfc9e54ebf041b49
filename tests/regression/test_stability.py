"""Frequencies on halves of the rows, against a literal loop over the same halves."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ellzero import L0Regressor, l0_frontier, stability
from ellzero.datasets import make_collinear
from ellzero.regression import _halves
from ellzero.regression._half_designs import half_designs


def literal(X, y, halves, size, weights=None, **options):
    """Count what a frontier of its own finds on every half."""
    p = X.shape[1]
    counts, signs = np.zeros((size + 1, p)), np.zeros((size + 1, p))
    supports = []
    for half in halves:
        w = None if weights is None else weights[half]
        frontier = l0_frontier(
            X[half], y[half], max_size=size, swaps=False, sample_weight=w, **options
        )
        supports.append([support.tolist() for support in frontier.supports])
        for k, support in zip(frontier.sizes, frontier.supports, strict=True):
            counts[k, support] += 1
            signs[k, support] += np.sign(frontier.at(size=int(k)).coef[support])
    return supports, counts / len(halves), signs / np.where(counts > 0, counts, np.nan)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("forced", [[], [3]])
@pytest.mark.parametrize(("n", "p"), [(60, 12), (25, 8), (200, 30)])
def test_it_is_the_frontier_of_every_half(rng, n, p, forced, weighted):
    X, y, _ = make_collinear(n, p, coefficients=(2, -1, 1), snr_db=3, random_state=1)
    weights = rng.integers(1, 4, n).astype(float) if weighted else None
    found = stability(X, y, max_size=5, n_pairs=8, always_include=forced, sample_weight=weights)
    supports, frequencies, signs = literal(
        X, y, found.halves, 5, weights, always_include=forced or None
    )
    assert [[s.tolist() for s in models] for models in found.supports] == supports
    first = len(forced)
    np.testing.assert_allclose(found.frequencies, frequencies[first:])
    np.testing.assert_allclose(found.signs, signs[first:])
    assert found.sizes.tolist() == list(range(first, 6))
    whole = L0Regressor(always_include=forced).fit(X, y, sample_weight=weights)
    assert found.size == min(5, whole.support_.size)


@pytest.mark.parametrize("intercept", [False, True])
def test_halves_of_products_are_those_of_rows(rng, monkeypatch, intercept):
    made = []

    def make(*arguments, **more):
        made.append(half_designs(*arguments, **more))
        return made[-1]

    monkeypatch.setattr(_halves, "half_designs", make)
    X, y, _ = make_collinear(400, 20, coefficients=(2, -1, 1), snr_db=3, random_state=2)
    X[:, 7] = 5.0
    X, y, groups = X + 2, y + 4, rng.integers(0, 90, 400)
    options = {"max_size": 6, "n_pairs": 30, "groups": groups, "fit_intercept": intercept}
    of_rows = stability(X, y, **options)
    assert not made
    monkeypatch.setattr(_halves, "pays", lambda X, weight, *_: weight is None)
    of_products = stability(X, y, **options)
    assert [len(designs) for designs in made] == [51, 11]
    np.testing.assert_array_equal(of_products.frequencies, of_rows.frequencies)
    np.testing.assert_array_equal(of_products.signs, of_rows.signs)
    assert of_products.size == of_rows.size
    # Products know too little of what is all but determined: rows are asked.
    found = stability(X, X[:, 3] + 1e-6 * rng.normal(size=400), **options)
    assert made[-1] is None
    assert found.frequencies[1, 3] == 1


@pytest.mark.parametrize("n", [2, 3, 7, 15, 16, 17, 31, 100, 333])
def test_halves_are_complementary_and_even(rng, n):
    found = stability(rng.normal(size=(n, 2)), rng.normal(size=n), max_size=1, n_pairs=40)
    assert len(found.halves) == 80
    for one, other in zip(found.halves[::2], found.halves[1::2], strict=True):
        assert sorted([*one, *other]) == list(range(n))
        assert abs(len(one) - len(other)) <= 1
    if n >= 15:  # every row is in a first half about half the time
        share = np.mean([np.isin(np.arange(n), half) for half in found.halves[::2]], axis=0)
        assert abs(share - 0.5).max() < 0.4


def test_groups_stay_together(rng):
    groups = rng.choice(list("abcdefghijklmnopqrstuvwxyz"), 150)
    found = stability(rng.normal(size=(150, 3)), rng.normal(size=150), groups=groups, n_pairs=10)
    for one, other in zip(found.halves[::2], found.halves[1::2], strict=True):
        assert not set(groups[one]) & set(groups[other])
        assert sorted([*one, *other]) == list(range(150))


def test_jobs_and_layouts_change_no_frequency(rng):
    X, y, _ = make_collinear(80, 20, random_state=2)
    X[np.abs(X) < 0.3] = 0
    plain = stability(X, y, n_pairs=10)
    for other in (
        stability(X, y, n_pairs=10, n_jobs=2),
        stability(np.asfortranarray(X), y, n_pairs=10),
        stability(sparse.csr_matrix(X), y, n_pairs=10),
        stability(X, y, n_pairs=10, random_state=np.random.RandomState(0)),
    ):
        np.testing.assert_array_equal(other.frequencies, plain.frequencies)
        np.testing.assert_array_equal(other.signs, plain.signs)
    again = stability(X, y, n_pairs=10, random_state=1)
    assert not np.array_equal(again.frequencies, plain.frequencies)


def test_columns_that_are_alike_are_chosen_alike(rng):
    """Ten noisy copies of one thing: exchangeable, so their frequencies are equal within error."""
    total = np.zeros(10)
    for _ in range(20):
        thing = rng.normal(size=200)
        X = thing[:, None] + 0.5 * rng.normal(size=(200, 10))
        total += stability(X, thing + rng.normal(size=200), max_size=3, n_pairs=10).frequencies[3]
    assert total.sum() == pytest.approx(60)
    assert abs(total / 20 - 0.3).max() < 0.25


def test_the_bound_holds_in_noise():
    """Nothing is true: all that is selected is false, and not more of it than the bound says."""
    counts = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        found = stability(rng.normal(size=(80, 20)), rng.normal(size=80), max_size=4, n_pairs=25)
        counts.append([found.selected(0.6, k).size for k in (1, 2, 4)])
    bounds = [found.bound(0.6, k) for k in (1, 2, 4)]
    np.testing.assert_allclose(bounds, [k**2 / (0.2 * 20) for k in (1, 2, 4)])
    assert np.all(np.mean(counts, axis=0) <= bounds)


def test_what_is_selected_and_shown(rng):
    X = pd.DataFrame(rng.normal(size=(200, 6)), columns=list("abcdef"))
    X["b"] = X["a"] + 0.01 * rng.normal(size=200)  # they take each other's place
    y = 2 * X["a"] - X["c"] + 0.5 * rng.normal(size=200)
    found = stability(X, y, max_size=4)
    assert found.size == 2
    assert found.selected().tolist() == [2]
    assert found.selected(0.01, 2).tolist() == [0, 1, 2]
    table = found.to_frame()
    assert table.index[0] == "c"
    assert table.loc["c"].tolist() == [1.0, -1, 1.0]
    pairs = found.stand_ins()
    assert set(pairs.iloc[0][["variable", "stand_in"]]) == {"a", "b"}
    assert pairs.iloc[0][["either", "both"]].tolist() == [1.0, 0.0]
    assert repr(found) == "<Stability: 100 halves, sizes 0 to 4 of 6 columns>"
    forced = stability(X, y, max_size=4, always_include=["c"])
    assert forced.frequencies[0].tolist() == [0, 0, 1, 0, 0, 0]
    assert 2 not in forced.selected(0.5)
    assert forced.bound(0.75, 3) == pytest.approx(2**2 / (0.5 * 5))
    ax = found.plot()
    assert ax.get_xlabel() == "number of variables"
    assert found.plot(ax=ax) is ax


def test_more_columns_than_rows_and_dependent_ones(rng):
    X = rng.normal(size=(24, 60))
    found = stability(X, rng.normal(size=24), n_pairs=5)
    assert found.sizes[-1] <= 12
    X = np.column_stack([X[:, :2], X[:, 0] + X[:, 1], np.ones(24)])
    found = stability(X, rng.normal(size=24), n_pairs=5)
    assert found.sizes.tolist() == [0, 1, 2]
    np.testing.assert_allclose(found.frequencies.sum(axis=1), [0, 1, 2])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_pairs": 0}, "'n_pairs' parameter of stability must be"),
        ({"max_size": 0}, "'max_size' parameter of stability must be"),
        ({"max_size": 1, "always_include": [0, 1]}, "2 columns are to be in the model"),
        ({"groups": np.zeros(30)}, "two groups at least"),
        ({"groups": [None] * 30}, "groups must hold numbers, or texts, and none missing"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"groups": np.zeros(4)}, "one entry for each of the 30 rows"),
        ({"sample_weight": np.eye(30)[0]}, "zero for all rows of a half"),
    ],
)
def test_bad_input(rng, arguments, message):
    with pytest.raises(ValueError, match=message):
        stability(rng.normal(size=(30, 4)), rng.normal(size=30), **arguments)


def test_bad_questions(rng):
    found = stability(rng.normal(size=(30, 4)), rng.normal(size=30), max_size=3, n_pairs=3)
    with pytest.raises(ValueError, match="not one of the sizes known, 0 to 3"):
        found.selected(size=4)
    with pytest.raises(ValueError, match=r"a float in the range \(0.5, 1.0\]"):
        found.bound(0.5)
    with pytest.raises(ValueError, match="'threshold' parameter"):
        found.selected(1.5)
    with pytest.raises(TypeError, match="matplotlib Axes"):
        found.plot(ax=3)


def test_nothing_is_warned_of(rng):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stability(rng.normal(size=(10, 4)), np.ones(10), n_pairs=3)
        stability(rng.normal(size=(9, 4)), rng.normal(size=9), n_pairs=3)
