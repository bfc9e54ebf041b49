"""Sets of variables of which one is in, against a table of all models and all columns."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import credible_sets as reference

from ellzero import SpikeSlabRegressor
from ellzero.posterior._credible_sets import Correlations, CredibleSet, find_credible_sets
from ellzero.posterior._models import Models


def correlated_in_blocks(blocks, p, rho=0.9):
    matrix = np.eye(p)
    for block in blocks:
        matrix[np.ix_(block, block)] = rho
    np.fill_diagonal(matrix, 1.0)
    return Correlations(np.arange(p), matrix)


def as_models(inside, mass):
    return Models([np.flatnonzero(row) for row in inside], mass)


def random_posterior(seed, p=9):
    """Models of which most have one of a few columns each, and sometimes one more of these."""
    rng = np.random.default_rng(seed)
    blocks = np.split(rng.permutation(p), [2, 5])
    how_many = rng.choice([[0.0, 0.9, 0.1], [0.02, 0.78, 0.2], [0.5, 0.3, 0.2]], len(blocks))
    likely = [rng.dirichlet(np.full(len(block), 0.5)) + 1e-3 for block in blocks]
    inside = np.zeros((80, p), dtype=bool)
    for row in inside:
        for block, count, weight in zip(blocks, how_many, likely, strict=True):
            size = rng.choice(3, p=count)
            row[rng.choice(block, size, replace=False, p=weight / weight.sum())] = True
    inside = np.unique(inside, axis=0)
    rho = rng.uniform(-1, 1, (p, p))
    correlations = np.where(rng.random((p, p)) < 0.5, rho, 0.0)
    correlations = np.triu(correlations, 1) + np.triu(correlations, 1).T + np.eye(p)
    for block in blocks[:2]:
        correlations[np.ix_(block, block)] = 0.8
    np.fill_diagonal(correlations, 1.0)
    mass = rng.dirichlet(np.full(len(inside), 0.5))
    return inside, mass, Correlations(np.arange(p), correlations)


def found_by(inside, mass, correlations, n_draws=np.inf):
    inclusion = mass @ inside
    return find_credible_sets(as_models(inside, mass), inclusion, correlations, 0.95, n_draws)


@pytest.mark.parametrize("seed", range(120))
def test_the_same_sets_as_from_the_whole_table(seed):
    inside, mass, correlations = random_posterior(seed)
    for n_draws in (4000.0, np.inf):
        found = found_by(inside, mass, correlations, n_draws)
        expected = reference.credible_sets(
            inside, mass, mass @ inside, correlations.matrix, n_draws
        )
        assert [s.columns.tolist() for s in found] == expected


def test_random_posteriors_have_sets_of_all_kinds():
    found = [s for seed in range(120) for s in found_by(*random_posterior(seed))]
    assert {len(s.columns) for s in found} >= {1, 2, 3}
    assert any(s.together for s in found)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_probability_is_the_mass_of_models_with_any_of_them(seed):
    inside, mass, correlations = random_posterior(seed)
    found = found_by(inside, mass, correlations)
    columns = [j for s in found for j in s.columns]
    assert len(columns) == len(set(columns))
    for s in found:
        assert s.probability >= 0.95 - 1e-8
        assert s.probability == pytest.approx(mass @ inside[:, s.columns].any(axis=1))
        matrix = np.abs(correlations.matrix[np.ix_(s.columns, s.columns)])
        assert s.purity == pytest.approx(matrix.min())
        for group in s.together:
            assert len(group) > 1
            for i, j in itertools.pairwise(group):
                assert reference.usually_together(inside, mass, i, j)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_permuted_columns_have_permuted_sets(seed):
    inside, mass, (columns, matrix) = random_posterior(seed)
    order = np.random.default_rng(seed).permutation(columns.size)
    permuted = Correlations(columns, matrix[np.ix_(order, order)])
    again = found_by(inside[:, order], mass, permuted)
    expected = [s.columns.tolist() for s in found_by(inside, mass, Correlations(columns, matrix))]
    assert [order[s.columns].tolist() for s in again] == expected


@given(seed=st.integers(0, 10**6), size=st.integers(2, 6))
@settings(max_examples=60, deadline=None)
def test_a_block_of_which_one_is_surely_in_is_met(seed, size):
    # More than one may be in at once, as where the prior is eager.
    rng = np.random.default_rng(seed)
    inside = np.zeros((200, size + 3), dtype=bool)
    inside[np.arange(200), rng.integers(size, size=200)] = True
    inside[:, :size] |= rng.random((200, size)) < rng.uniform(0, 0.5)
    inside[:, size:] = rng.random((200, 3)) < 0.3
    inside[:3, :size] = False
    mass = rng.dirichlet(np.full(200, 50.0))
    found = found_by(inside, mass, correlated_in_blocks([range(size)], size + 3), 200)
    assert mass @ inside[:, :size].any(axis=1) > 0.95
    assert [set(s.columns.tolist()) <= set(range(size)) for s in found][:1] == [True]


def test_one_that_is_sure_is_alone():
    inside = np.array([[1, 1, 0], [1, 0, 1], [1, 0, 0], [0, 1, 0]], dtype=bool)
    mass = np.array([0.4, 0.3, 0.27, 0.03])
    (found,) = found_by(inside, mass, correlated_in_blocks([range(3)], 3))
    assert (found.columns.tolist(), found.together, found.purity) == ([0], [], 1.0)
    assert found.probability == pytest.approx(0.97)


def test_chance_is_no_set():
    # Fifty correlated columns, each in with probability .1 whatever the others do, but none where
    # theta is small: one of them nearly always is in, and none is needed.
    rng = np.random.default_rng(0)
    inside = rng.random((4000, 50)) < 0.1
    inside[:80] = False
    mass = np.full(4000, 1 / 4000)
    assert mass @ inside.any(axis=1) > 0.97
    assert found_by(inside, mass, correlated_in_blocks([range(50)], 50), 4000) == []


def test_members_that_are_in_together():
    # Either both of the first two, or the third.
    inside = np.array([[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1]], dtype=bool)
    mass = np.array([0.55, 0.3, 0.15])
    (found,) = found_by(inside, mass, correlated_in_blocks([range(3)], 4))
    assert (found.columns.tolist(), found.together) == ([0, 1, 2], [(0, 1)])


def test_two_likely_variables_that_do_not_care_for_each_other_are_not_in_together():
    # Two effects, each with a stand-in, all four correlated: two sets.
    inside = np.array([[a, not a, b, not b] for a in (1, 0) for b in (1, 0)], dtype=bool)
    mass = np.array([0.72, 0.08, 0.18, 0.02])
    found = found_by(inside, mass, correlated_in_blocks([range(4)], 4, 0.6))
    assert [s.columns.tolist() for s in found] == [[2, 3], [0, 1]]
    assert [s.together for s in found] == [[], []]


def test_stand_ins_that_are_not_correlated():
    inside = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 1]], dtype=bool)
    mass = np.array([0.6, 0.3, 0.1])
    (found,) = found_by(inside, mass, correlated_in_blocks([], 3))
    assert (found.columns.tolist(), found.purity) == ([0, 1], 0.0)


def test_few_models_of_very_many_columns():
    p = 30_000_000  # a table of these would not fit into memory
    models = Models([np.array([5, p - 1]), np.array([5])], np.array([0.6, 0.4]))
    inclusion = np.zeros(p)
    inclusion[[5, p - 1]] = [1.0, 0.6]
    correlations = Correlations(np.array([5, p - 1]), np.eye(2))
    (found,) = find_credible_sets(models, inclusion, correlations, 0.95, 4000)
    assert (found.columns.tolist(), found.probability) == ([5], 1.0)


def blocks_of_six(seed, rho, n_blocks, effect=0.5, n=200):
    rng = np.random.default_rng(seed)
    shared, own = rng.normal(size=(n, n_blocks, 1)), rng.normal(size=(n, n_blocks, 6))
    X = (np.sqrt(rho) * shared + np.sqrt(1 - rho) * own).reshape(n, -1)
    causal = 6 * np.arange(n_blocks)[: max(n_blocks // 3, 1)] + 2
    return X, effect * X[:, causal].sum(axis=1) + rng.normal(size=n), causal


@pytest.mark.parametrize("rho", [0.8, 0.95, 0.995])
@pytest.mark.parametrize(("solver", "n_blocks"), [("gibbs", 10), ("enumerate", 2)])
def test_causal_variables_are_found(rho, solver, n_blocks):
    n_causal = found = covering = n_sets = 0
    for seed in range(8 if solver == "gibbs" else 4):
        X, y, causal = blocks_of_six(seed, rho, n_blocks)
        model = SpikeSlabRegressor(solver=solver, expected_size=2, random_state=0).fit(X, y)
        inside = model.draws_.coef.toarray() != 0
        sets = [set(s.columns.tolist()) for s in model.credible_sets_]
        reported = set().union(*sets)
        for block in np.arange(X.shape[1]).reshape(-1, 6):
            if inside[:, block].any(axis=1).mean() >= 0.96:
                assert reported & set(block.tolist())
        n_causal += causal.size
        found += len(reported & set(causal.tolist()))
        covering += sum(bool(s & set(causal.tolist())) for s in sets)
        n_sets += len(sets)
    assert found >= 0.9 * n_causal
    assert covering >= 0.9 * n_sets


def test_correlations_are_those_of_the_weighted_design():
    X, y, _ = blocks_of_six(0, 0.9, 2, n=80)
    X[:, 3] = 7.0
    weights = np.arange(80) % 3
    for fit_intercept in (True, False):
        model = SpikeSlabRegressor(fit_intercept=fit_intercept, solver="gibbs", random_state=0).fit(
            X + 2, y, weights
        )
        columns, matrix = model._correlations
        table = (X + 2).repeat(weights, axis=0)[:, columns]
        if fit_intercept:
            assert 3 not in columns
            table = table - table.mean(axis=0)
        table = table / np.linalg.norm(table, axis=0)
        np.testing.assert_allclose(matrix, table.T @ table, atol=1e-9)


def test_noise_has_none_and_a_forced_column_is_one(rng):
    X, y = rng.normal(size=(100, 20)), rng.normal(size=100)
    X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=100)
    model = SpikeSlabRegressor(expected_size=2, random_state=0).fit(X, y)
    assert model.credible_sets_ == []
    model.set_params(always_include=[0]).fit(X, y)
    (found,) = model.credible_sets_
    assert found.columns.tolist() == [0]
    assert found.probability == pytest.approx(1)


def test_printed_it_is_a_sentence():
    found = CredibleSet(
        np.arange(3), np.array([0.6, 0.6, 0.4]), 0.98, ["a", "b", "c"], [("a", "b")], 0.7
    )
    assert str(found) == (
        "At least one of a, b, c is in, with probability 0.980; a and b usually together"
    )
    alone = CredibleSet(np.arange(1), np.array([1.0]), 1.0, ["a"], [], 1.0)
    assert str(alone) == "a is in, with probability 1.000"


def test_columns_of_which_only_the_difference_counts(rng):
    # The first two are in together, with opposite signs, or the third is in their place.
    shared, effect = rng.normal(size=(2, 300)) * [[0.5], [1.0]]
    X = pd.DataFrame({"with": shared + 0.6 * effect, "without": shared - 0.6 * effect})
    X["effect"] = effect + 0.3 * rng.normal(size=300)
    y = 0.5 * effect + rng.normal(size=300)
    model = SpikeSlabRegressor(theta=0.3, sigma_beta=20.0, random_state=0).fit(X, y)
    (found,) = model.credible_sets_
    assert sorted(found.variables) == ["effect", "with", "without"]
    assert [sorted(group) for group in found.together] == [["with", "without"]]
