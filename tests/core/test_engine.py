"""The engine against regressions fitted one at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.subsets import energy, preprocess, solve
from scipy import sparse

from ellzero import _core
from ellzero._engine import make_design, make_engine
from ellzero.datasets import make_collinear


def problem(seed, n=40, p=15, n_factors=2):
    X, y, _ = make_collinear(n, p, n_factors=n_factors, coefficients=(3, -2, 1), random_state=seed)
    return X, y


def engine_on(X, y, ridge=0.0, weights=None, intercept=True, threads=1, screened=False, **options):
    if not screened:
        design = make_design(X, y, weights, intercept, threads, **options)
        return make_engine(design, ridge, threads)
    design = make_design(sparse.csc_array(X), y, weights, intercept, threads, **options)
    return _core.ScreenedSquares(design, np.array(ridge, dtype=np.float64, ndmin=1), threads)


def stand(engine, members):
    engine.move_to(np.array(members, dtype=np.int64))
    return engine


both_engines = pytest.mark.parametrize("screened", [False, True], ids=["all", "screened"])
RIDGES = [0.0, 0.3, np.linspace(0.01, 2, 15)]


@pytest.mark.parametrize("ridge", RIDGES, ids=["none", "one", "per column"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@both_engines
def test_scores_equal_refits(rng, ridge, intercept, weighted, screened):
    X, y = problem(1)
    X = X + rng.normal(size=X.shape[1])
    weights = rng.integers(0, 4, size=len(y)).astype(float) if weighted else None
    Z, target = preprocess(X, y, weights=weights, intercept=intercept)
    members = [3, 7, 1, 12]
    engine = stand(engine_on(X, y, ridge, weights, intercept, screened=screened), members)

    beta, base = solve(Z, target, members, ridge)
    assert engine.members.tolist() == members
    np.testing.assert_allclose(engine.beta, beta, rtol=1e-9)
    assert engine.energy == pytest.approx(base, rel=1e-10)
    tau = np.broadcast_to(ridge, 15)[members]
    A = Z[:, members].T @ Z[:, members] + np.diag(tau)
    assert engine.log_determinant == pytest.approx(np.linalg.slogdet(A)[1], abs=1e-10)

    outside = [i for i in range(15) if i not in members]
    gains = engine.insertion_gains()
    assert (gains[members] < 0).all()
    for i in outside:
        assert gains[i] == pytest.approx(base - energy(Z, target, [*members, i], ridge), abs=1e-11)
    for cost, r in zip(engine.removal_costs(), members, strict=True):
        rest = [m for m in members if m != r]
        assert cost == pytest.approx(energy(Z, target, rest, ridge) - base, abs=1e-11)
    swaps = engine.swap_gains()
    for row, r in zip(swaps, members, strict=True):
        assert np.isneginf(row[members]).all()
        for i in outside:
            swapped = [m for m in members if m != r] + [i]
            assert row[i] == pytest.approx(base - energy(Z, target, swapped, ridge), abs=1e-11)


def assert_same_state(engine, fresh, tolerance):
    assert sorted(engine.members) == sorted(fresh.members)
    outside = np.setdiff1d(np.arange(len(engine.c)), engine.members)
    np.testing.assert_allclose(engine.c, fresh.c, atol=tolerance)
    np.testing.assert_allclose(engine.d[outside], fresh.d[outside], atol=tolerance)
    assert engine.energy == pytest.approx(fresh.energy, abs=tolerance)
    assert engine.log_determinant == pytest.approx(fresh.log_determinant, abs=tolerance)
    order = np.argsort(engine.members), np.argsort(fresh.members)
    np.testing.assert_allclose(
        engine.beta[order[0]], fresh.beta[order[1]], atol=tolerance * 10, rtol=tolerance * 10
    )


@pytest.mark.parametrize("ridge", RIDGES, ids=["none", "one", "per column"])
@pytest.mark.parametrize("n_factors", [0, 2, 5])
@both_engines
def test_a_thousand_flips_agree_with_a_fresh_start(rng, ridge, n_factors, screened):
    X, y = problem(2, n_factors=n_factors)
    engine = engine_on(X, y, ridge, screened=screened)
    for j in rng.integers(15, size=1000):
        assert engine.flip(int(j))
    assert_same_state(engine, stand(engine_on(X, y, ridge), engine.members), 1e-9)


@pytest.mark.parametrize("cache_bytes", [1e9, 1e3], ids=["roomy", "tight"])
@pytest.mark.parametrize("p", [15, 700])
@both_engines
def test_moves_of_many_flips_agree_with_a_fresh_start(rng, p, cache_bytes, screened):
    X, y = problem(4, n=60, p=p)
    engine = engine_on(X, y, 0.1, cache_bytes=cache_bytes, screened=screened)
    for size in rng.integers(0, 9, size=40):
        stand(engine, rng.permutation(p)[:size])
        kept = rng.permutation(engine.members)[: size // 2]
        stand(engine, np.union1d(kept, rng.integers(0, p, size=3)))
        assert_same_state(engine, stand(engine_on(X, y, 0.1), engine.members), 1e-9)


@both_engines
def test_a_thousand_flips_among_nearly_equal_columns(rng, screened):
    X, y = problem(3, p=8)
    X = np.hstack([X, X[:, :4] + 1e-4 * rng.normal(size=(40, 4)) / np.sqrt(40)])
    engine = engine_on(X, y, screened=screened)
    for j in rng.integers(12, size=1000):
        assert engine.flip(int(j))
    assert_same_state(engine, stand(engine_on(X, y), engine.members), 1e-9)


@given(
    seed=st.integers(0, 50),
    members=st.lists(st.integers(0, 14), unique=True, max_size=8),
    j=st.integers(0, 14),
)
@both_engines
def test_flip_and_flip_back_is_the_identity(screened, seed, members, j):
    X, y = problem(seed)
    engine, still = (stand(engine_on(X, y, screened=screened), members) for _ in range(2))
    engine.flip(j)
    engine.flip(j)
    assert_same_state(engine, still, 1e-11)


@given(seed=st.integers(0, 50), members=st.lists(st.integers(0, 14), unique=True, max_size=8))
def test_refresh_changes_nothing(seed, members):
    X, y = problem(seed)
    engine, still = (stand(engine_on(X, y), members) for _ in range(2))
    engine.refresh()
    assert_same_state(engine, still, 1e-12)


@given(
    seed=st.integers(0, 50),
    members=st.lists(st.integers(0, 14), unique=True, max_size=8),
    shuffle=st.randoms(use_true_random=False),
)
def test_order_of_columns_does_not_matter(seed, members, shuffle):
    X, y = problem(seed)
    order = list(range(15))
    shuffle.shuffle(order)
    engine = stand(engine_on(X, y), members)
    permuted = stand(engine_on(X[:, order], y), [order.index(m) for m in members])
    np.testing.assert_array_equal(permuted.c, engine.c[order])
    np.testing.assert_array_equal(permuted.d, engine.d[order])
    assert permuted.energy == engine.energy


@given(
    seed=st.integers(0, 50),
    members=st.lists(st.integers(0, 14), unique=True, max_size=8),
    scales=st.lists(st.floats(-3, 3), min_size=15, max_size=15),
)
def test_scale_and_shift_of_columns_do_not_matter(seed, members, scales):
    X, y = problem(seed)
    engine = stand(engine_on(X, y), members)
    scaled = stand(engine_on(X * 10.0 ** np.array(scales) + np.array(scales), y + 7), members)
    np.testing.assert_allclose(scaled.c, engine.c, atol=1e-9)
    assert scaled.energy == pytest.approx(engine.energy, abs=1e-10)


def test_a_dependent_column_cannot_be_inserted(rng):
    X, y = problem(4)
    X = np.column_stack([X, X[:, 0] - 2 * X[:, 1], np.ones(len(y)), X[:, 2]])
    engine = stand(engine_on(X, y), [0, 1, 2])
    before = engine.energy
    for j in (15, 16, 17):
        assert engine.insertion_gains()[j] < 0
        assert not engine.insert(j)
    assert engine.members.tolist() == [0, 1, 2]
    assert engine.energy == before
    # One of the pair out: the other can come in.
    assert engine.flip(0)
    assert engine.insert(15)


def test_a_ridge_makes_dependent_columns_ordinary():
    X, y = problem(5)
    X = np.column_stack([X, X[:, 0], np.ones(len(y))])
    engine = stand(engine_on(X, y, 0.1), [0, 15, 16])
    beta = dict(zip(engine.members.tolist(), engine.beta, strict=True))
    assert beta[0] == pytest.approx(beta[15])
    assert 16 not in beta  # a constant can't be told from the intercept, ridge or not


def test_an_excluded_column_stays_out_until_it_is_allowed(rng):
    X, y = rng.normal(size=(60, 12)), rng.normal(size=60)
    y += 3 * X[:, 4] + X[:, 7]
    design = make_design(X, y, None, True, 1)
    engine, free = (make_engine(design, 0.1, 1) for _ in range(2))
    engine.insert(4)
    engine.exclude(4)  # a member leaves
    assert engine.members.size == 0
    for j in (2, 7, 9, 2, 7, 7):
        engine.flip(j)
        engine.refresh()
        assert engine.insertion_gains()[4] < 0
        assert not engine.insert(4)
        engine.move_to(np.array([4, 7, 9]))
        assert sorted(engine.members.tolist()) == [7, 9]
    engine.allow(4)
    free.move_to(engine.members)
    np.testing.assert_allclose(engine.c, free.c, atol=1e-12)
    np.testing.assert_allclose(engine.insertion_gains(), free.insertion_gains(), rtol=1e-10)
    assert engine.insert(4)
