"""The engine that screens sparse columns against the one that looks at all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ellzero import _core
from ellzero._engine import make_design, make_engine

N, P = 150, 1500  # more columns than are looked at from the start


def words(seed, n=N, p=P, mean=4.0, true=8, noise=0.5):
    """Return counts of words, some of them frequent and most rare, and what a few of them explain.

    Some columns are empty, and some are equal, as words are that occur once in the same text.
    """
    rng = np.random.default_rng(seed)
    often = np.minimum(rng.pareto(1.2, size=p) * mean / 3, 0.6 * n).astype(int)
    rows = np.concatenate([rng.choice(n, size=count, replace=False) for count in often])
    values = 1.0 + rng.poisson(0.4, size=len(rows))
    X = sparse.csc_array((values, (rows, np.repeat(np.arange(p), often))), shape=(n, p))
    X = sparse.csc_array(sparse.hstack([X[:, :-2], X[:, [3, 5]]]))
    counts = np.diff(X.indptr)
    chosen = rng.choice(np.flatnonzero(counts > 1), size=true, replace=False)
    beta = rng.choice([-1.0, 1.0], size=true) * rng.uniform(0.5, 2, size=true)
    y = X[:, chosen] @ beta + noise * rng.normal(size=n)
    return X, y


def engines(X, y, ridge=0.0, weights=None, intercept=True):
    """Return the engine that screens, and the one that does not."""
    design = make_design(X, y, weights, intercept, 1)
    tau = np.array(ridge, dtype=np.float64, ndmin=1)
    return _core.ScreenedSquares(design, tau, 1), make_engine(design, ridge, 1)


def frontiers(pair, max_size, forced=None):
    """Return the models of both, and the screened engine's."""
    out = []
    for engine in pair:
        frontier = _core.Frontier(engine, forced, True)
        frontier.grow(max_size, None)
        out.append(frontier.models())
    return out


def assert_same_models(screened, plain):
    assert len(screened) == len(plain)
    for one, other in zip(screened, plain, strict=True):
        assert sorted(one.support) == sorted(other.support)
        assert one.energy == pytest.approx(other.energy, rel=1e-10)


@pytest.mark.parametrize("ridge", [0.0, 0.5])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
def test_frontiers_are_the_same(rng, ridge, weighted, intercept):
    X, y = words(3)
    weights = rng.integers(0, 4, size=N).astype(float) if weighted else None
    pair = engines(X, y, ridge, weights, intercept)
    assert pair[0].active < P // 2
    assert_same_models(*frontiers(pair, 15))
    assert pair[0].active < P  # the rest was never looked at


@given(seed=st.integers(0, 2**32 - 1), share=st.floats(0.001, 0.2))
def test_sbr_is_the_same(seed, share):
    X, y = words(seed % 1000, n=60, p=700)
    pair = engines(X, y)
    runs = [engine.sbr(share * y.var() * 60, None, 30, None) for engine in pair]
    assert sorted(pair[0].members) == sorted(pair[1].members)
    assert pair[0].energy == pytest.approx(pair[1].energy, rel=1e-10)
    assert runs[0].lam_low == pytest.approx(runs[1].lam_low, rel=1e-9)
    assert runs[0].lam_high == pytest.approx(runs[1].lam_high, rel=1e-9)


@given(seed=st.integers(0, 2**32 - 1))
def test_the_best_insertions_anywhere(seed):
    rng = np.random.default_rng(seed)
    X, y = words(seed % 7, n=60, p=900)
    pair = engines(X, y, ridge=0.1)
    for size in rng.integers(0, 9, size=4):
        target = rng.choice(X.shape[1], size=size, replace=False)
        for engine in pair:
            engine.move_to(target)
        assert pair[0].members.tolist() == pair[1].members.tolist()
        best = [engine.best_insertions(3) for engine in pair]
        for one, other in zip(*best, strict=True):
            assert one.unit == other.unit
            assert one.gain == pytest.approx(other.gain, rel=1e-9)


def assert_same_state(screened, plain, tolerance):
    assert sorted(screened.members) == sorted(plain.members)
    outside = np.setdiff1d(np.arange(len(plain.c)), plain.members)
    np.testing.assert_allclose(screened.c[outside], plain.c[outside], atol=tolerance)
    np.testing.assert_allclose(screened.d[outside], plain.d[outside], atol=tolerance)
    np.testing.assert_allclose(screened.beta, plain.beta, atol=tolerance, rtol=10 * tolerance)
    assert screened.energy == pytest.approx(plain.energy, abs=tolerance)
    assert screened.log_determinant == pytest.approx(plain.log_determinant, abs=tolerance)


@pytest.mark.parametrize("ridge", [0.0, 0.3, "per column"])
def test_a_thousand_flips_agree_with_a_fresh_start(rng, ridge):
    X, y = words(5, n=80, p=700)
    ridge = np.linspace(0.01, 2, 700) if ridge == "per column" else ridge
    screened, plain = engines(X, y, ridge)
    many = rng.choice(700, size=20, replace=False)
    for j in rng.choice(many, size=1000):
        screened.flip(int(j))
    plain.start_at(screened.members)
    assert_same_state(screened, plain, 1e-9)
    best = [engine.best_insertions(100) for engine in (screened, plain)]
    assert [one.unit for one in best[0]][:20] == [one.unit for one in best[1]][:20]
    np.testing.assert_allclose(*[[one.gain for one in found] for found in best], atol=1e-9)
    np.testing.assert_allclose(screened.swap_gains(), plain.swap_gains(), atol=1e-9)


@pytest.mark.parametrize("far", [1e3, 1e7])
def test_dense_columns_far_from_zero(rng, far):
    X, y = words(8)
    numbers = far + rng.normal(size=(N, 3))
    X = sparse.csc_array(sparse.hstack([X[:, :700], numbers, X[:, 700:]]))
    y = y + 2 * (numbers[:, 1] - far)
    pair = engines(X, y)
    models = frontiers(pair, 8)
    assert 701 in models[0][-1].support
    for one, other in zip(*models, strict=True):
        assert sorted(one.support) == sorted(other.support)
        assert one.energy == pytest.approx(other.energy, rel=1e-10 * max(1, far / 1e4))


def test_equal_columns_are_entered_in_the_same_order():
    X, y = words(11)
    X = sparse.csc_array(sparse.hstack([X, X]))  # every column twice
    screened, plain = frontiers(engines(X, y), 12)
    assert_same_models(screened, plain)
    assert max(screened[-1].support) < P


def test_single_precision_and_long_indices():
    X, y = words(13)
    single, double = X.astype(np.float32), X.astype(np.float32).astype(np.float64)
    double.indices, double.indptr = double.indices.astype("i8"), double.indptr.astype("i8")
    assert_same_models(frontiers(engines(single, y), 8)[0], frontiers(engines(double, y), 8)[1])


def test_forced_and_excluded_columns():
    X, y = words(17)
    pair = engines(X, y)
    last = int(np.flatnonzero(np.diff(X.indptr) == 1)[-1])  # one that is not looked at
    best = pair[1].best_insertions(1)[0].unit
    forced = np.zeros(P, dtype=bool)
    forced[last] = True
    for engine in pair:
        engine.exclude(best)
        engine.move_to(np.array([last]))
    models = frontiers(pair, 8, forced)
    assert_same_models(*models)
    assert all(last in model.support and best not in model.support for model in models[0])
    for engine in pair:
        engine.allow(best)
        engine.move_to(np.array([last]))
    assert pair[0].best_insertions(1)[0].unit == best


def test_exact_fits_look_at_every_column():
    X, y = words(19, n=20, p=800, noise=0.0, true=3)
    assert_same_models(*frontiers(engines(X, y), 6))


def test_it_pays_where_columns_are_many_and_sparse():
    assert _core.screening_pays(50_000, 500_000, 4_300_000)
    assert not _core.screening_pays(50_000, 500, 4_300)
    assert not _core.screening_pays(1_000, 50_000, 500_000)
    assert not _core.screening_pays(100_000, 50_000, 5_000_000)
