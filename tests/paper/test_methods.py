"""The methods compared, and the problems they are given."""

import numpy as np
import pytest
from reference.stepwise import forward_stepwise as literal_stepwise
from sklearn.model_selection import KFold

from ellzero.paper._methods import (
    BRIDGE,
    ELASTIC_NET,
    LASSO,
    METHODS,
    OLS,
    SBR,
    SELECTING,
    SPIKE_SLAB,
)
from ellzero.paper._simulated_problems import simulate_problem
from ellzero.paper._stepwise import forward_stepwise


@pytest.mark.parametrize("trial", [0, 1, 999])
def test_the_papers_design(trial):
    X, y, beta, _ = simulate_problem(0, 120, 100, trial)
    np.testing.assert_allclose(X.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose((X**2).sum(axis=0), 1)
    assert sorted(beta[beta != 0]) == [-5, -4, -3, -2, -1, 1, 2, 3, 4, 5]
    # LL' + I with five factors: five eigenvalues stand out from the rest
    spectrum = np.linalg.svd(X, compute_uv=False) ** 2
    assert spectrum[4] > 2 * spectrum[5]
    assert spectrum[:5].sum() > 0.6 * spectrum.sum()
    noise = y - X @ beta
    ratio = 10 * np.log10((X @ beta).var() / (noise**2).mean())
    assert ratio == pytest.approx(20, abs=2)  # a sample of 120


def test_20_decibels_over_many_problems():
    ratios = []
    for trial in range(200):
        X, y, beta, _ = simulate_problem(0, 120, 100, trial)
        ratios.append(((y - X @ beta) ** 2).mean() / (X @ beta).var())
    assert 10 * np.log10(1 / np.mean(ratios)) == pytest.approx(20, abs=0.15)


def test_a_problem_depends_on_its_numbers_alone():
    first, again = simulate_problem(3, 50, 20, 7), simulate_problem(3, 50, 20, 7)
    np.testing.assert_array_equal(first.X, again.X)
    assert first.seed == again.seed
    others = [simulate_problem(*numbers) for numbers in ((4, 50, 20, 7), (3, 50, 20, 8))]
    assert all(not np.array_equal(first.y, other.y) for other in others)
    assert len({first.seed, *(other.seed for other in others)}) == 3


@pytest.mark.parametrize("seed", range(3))
def test_forward_stepwise_is_what_its_name_says(seed):
    X, y, _, _ = simulate_problem(seed, 30, 15, 0)
    folds = KFold(5, shuffle=True, random_state=seed)
    literal = literal_stepwise(X, y, folds, max_size=15)
    np.testing.assert_allclose(forward_stepwise(X, y, folds), literal, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("method", [OLS, LASSO, ELASTIC_NET, SBR])
def test_the_unit_of_a_column_does_not_matter(method):
    """It would to scikit-learn's elastic net as it is, whose ridge has a unit, unlike glmnet's."""
    X, y, _, seed = simulate_problem(0, 60, 20, 0)
    units = np.geomspace(0.01, 100, 20)
    plain, scaled = METHODS[method](X, y, seed), METHODS[method](X * units, 7 * y + 3, seed)
    np.testing.assert_allclose(scaled.coef * units, 7 * plain.coef, rtol=1e-4, atol=1e-5)


def test_the_elastic_net_solves_glmnets_problem():
    """RSS / (2 n) + alpha (|b|_1 / 2 + |b|^2 / 4), everything of variance 1: its conditions."""
    X, y, _, seed = simulate_problem(0, 120, 100, 0)
    coef = METHODS[ELASTIC_NET](X, y, seed).coef
    Z, z, b = X / X.std(axis=0), (y - y.mean()) / y.std(), coef * X.std(axis=0) / y.std()
    slope = Z.T @ (z - Z @ b) / len(z)
    # For coefficients that are not zero: slope = alpha (sign + b) / 2
    used = b != 0
    alphas = 2 * slope[used] / (np.sign(b[used]) + b[used])
    alpha = np.median(alphas)
    np.testing.assert_allclose(alphas, alpha, rtol=0.05)
    assert np.abs(slope[~used]).max() <= alpha / 2 * 1.05


def test_who_selects():
    X, y, _, seed = simulate_problem(0, 60, 20, 0)
    for name, method in METHODS.items():
        selected = method(X, y, seed).selected
        assert (selected is None) == (name not in SELECTING)
        if selected is not None:
            assert selected.dtype == bool
    assert {OLS, BRIDGE}.isdisjoint(SELECTING)
    assert SPIKE_SLAB in SELECTING
