"""The frontier against all subsets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.subsets import best_subsets, energy, preprocess

from ellzero import _core
from ellzero._engine import make_design, make_engine
from ellzero.datasets import make_collinear


def problem(seed, n=30, p=10, n_factors=3):
    coefficients = (2, -2, 1, 1)
    return make_collinear(
        n, p, n_factors=n_factors, coefficients=coefficients, snr_db=5, random_state=seed
    )[:2]


def models_of(frontier):
    """Return the support and the energy of each size."""
    return [(model.support, model.energy) for model in frontier.models()]


def frontier_of(X, y, max_size, *, swaps=True, forced=(), ridge=0.0):
    engine = make_engine(make_design(X, y, None, True, 1), ridge, 1)
    engine.move_to(np.array(forced, dtype=np.int64))
    mask = np.isin(np.arange(X.shape[1]), forced)
    frontier = _core.Frontier(engine, mask, swaps)
    frontier.grow(max_size, None)
    return frontier


def neighbours(support, p, forced=()):
    inside = [j for j in support if j not in forced]
    outside = [j for j in range(p) if j not in support]
    for i in outside:
        yield [*support, i]
    for r in inside:
        rest = [j for j in support if j != r]
        yield rest
        for i in outside:
            yield [*rest, i]


@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_nearly_always_the_best_of_all_subsets(ridge):
    found = np.zeros(11)
    for seed in range(40):
        X, y = problem(seed)
        Z, target = preprocess(X, y)
        best = best_subsets(Z, target, ridge)
        models = models_of(frontier_of(X, y, 10, ridge=ridge))
        assert len(models) == 11
        for k, ((support, value), (optimum, _)) in enumerate(zip(models, best, strict=True)):
            assert support.size == k
            assert value == pytest.approx(energy(Z, target, support, ridge), rel=1e-9, abs=1e-12)
            assert value >= optimum - 1e-10
            found[k] += value <= optimum * (1 + 1e-9) + 1e-12
    assert found.min() >= 39


@given(
    seed=st.integers(0, 10_000),
    forced=st.lists(st.integers(0, 9), unique=True, max_size=2),
    max_size=st.integers(2, 8),
)
def test_no_insertion_removal_or_swap_improves_any_size(seed, forced, max_size):
    X, y = problem(seed)
    Z, target = preprocess(X, y)
    models = models_of(frontier_of(X, y, max_size, forced=forced))
    values = {support.size: value for support, value in models}
    assert sorted(values) == list(range(len(forced), max_size + 1))
    for support, _ in models:
        assert set(forced) <= set(support.tolist())
        for other in neighbours(support.tolist(), 10, forced):
            if len(other) in values:
                assert energy(Z, target, other) >= values[len(other)] - 1e-9


@given(seed=st.integers(0, 10_000))
def test_swaps_never_hurt(seed):
    X, y = problem(seed)
    plain = models_of(frontier_of(X, y, 8, swaps=False))
    for (_, without), (_, value) in zip(plain, models_of(frontier_of(X, y, 8)), strict=True):
        assert value <= without + 1e-10


def test_growing_goes_on_from_where_it_was():
    X, y = make_collinear(120, 100, random_state=0)[:2]
    frontier = frontier_of(X, y, 10)
    before, tried = models_of(frontier), frontier.tried
    frontier.grow(20, None)
    assert len(models_of(frontier)) == 21
    for (_, old), (_, new) in zip(before, models_of(frontier), strict=False):
        assert new <= old + 1e-12
    frontier.grow(20, None)
    whole = frontier_of(X, y, 20)
    assert frontier.tried - tried < whole.tried


def test_it_ends_at_the_rank(rng):
    X = rng.normal(size=(8, 30))
    X[:, 3] = 1.0
    models = models_of(frontier_of(X, rng.normal(size=8), 20))
    assert [support.size for support, _ in models] == list(range(8))
    assert models[-1][1] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("swaps", [True, False])
def test_it_goes_on_after_an_interruption_at_any_time(swaps):
    X, y = make_collinear(60, 40, random_state=0)[:2]
    Z, target = preprocess(X, y)
    for stop in range(0, 150, 7):
        frontier = frontier_of(X, y, 3, swaps=swaps)
        calls = iter(range(stop))

        def report(_size, calls=calls):
            if next(calls, None) is None:
                raise KeyboardInterrupt

        try:
            frontier.grow(12, report)
        except KeyboardInterrupt:
            frontier.grow(5, None)
            assert len(models_of(frontier)) <= 13
        frontier.grow(12, None)
        assert [support.size for support, _ in models_of(frontier)] == list(range(13))
        for support, value in models_of(frontier):
            assert value == pytest.approx(energy(Z, target, support), rel=1e-9)
