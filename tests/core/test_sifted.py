"""The engine that sifts columns in float32 against the one that looks at all of them in float64."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ellzero import L0RegressorCV, _core, l0_frontier
from ellzero._engine import copy_rows, make_columns, make_design, make_design_on, make_engine

N, P = 80, 300


def _factors(rng, n, p):
    return rng.normal(size=(n, 4)) @ rng.normal(size=(4, p)) + 0.5 * rng.normal(size=(n, p))


def _autoregressive(rng, n, p, rho=0.97):
    X = rng.normal(size=(n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X


def _twins(rng, n, p):
    half = rng.normal(size=(n, p // 2))
    gaps = 10.0 ** rng.uniform(-9, -1, size=p // 2)
    return np.concatenate([half, half + gaps * rng.normal(size=half.shape)], axis=1)


def _outliers(rng, n, p):
    X = rng.normal(size=(n, p))
    X[rng.integers(n, size=p // 4), rng.integers(p, size=p // 4)] *= 1e4
    return X


def _levels(rng, n, p):
    X = (rng.random((n, p)) < rng.uniform(0, 0.3, size=p)).astype(float)
    X[:, 0] = 1
    return X


TABLES = {
    "independent": lambda rng, n, p: rng.normal(size=(n, p)),
    "factors": _factors,
    "autoregressive": _autoregressive,
    "twins": _twins,
    "equal columns": lambda rng, n, p: rng.normal(size=(n, 8))[:, rng.integers(8, size=p)],
    "outliers": _outliers,
    "rare levels": _levels,
    "far from zero": lambda rng, n, p: 1e6 + rng.normal(size=(n, p)),
    "of all scales": lambda rng, n, p: (
        rng.normal(size=(n, p)) * 10.0 ** rng.integers(-80, 80, size=p)
    ),
}


def table(kind, seed, n=N, p=P, true=7, noise=0.3):
    rng = np.random.default_rng(seed)
    X = TABLES[kind](rng, n, p)
    chosen = rng.choice(p, size=true, replace=False)
    Z = X[:, chosen] - X[:, chosen].mean(axis=0)
    Z /= np.maximum(np.linalg.norm(Z, axis=0), 1e-300)
    y = np.sqrt(n) * Z @ (rng.choice([-1.0, 1.0], size=true) * rng.uniform(0.5, 2, size=true))
    return X, y + noise * rng.normal(size=n)


def engines(X, y, ridge=0.0, weights=None, intercept=True):
    """Return the engine that sifts, and the one that does not."""
    tau = np.array(ridge, dtype=np.float64, ndmin=1)
    sifted = _core.SiftedSquares(make_design(X, y, weights, intercept, 1), tau, 1)
    return sifted, make_engine(make_design(X, y, weights, intercept, 1), ridge, 1)


def frontier(engine, max_size, forced=None):
    grown = _core.Frontier(engine, forced, True)
    grown.grow(max_size, None)
    return grown.models()


def assert_same_models(one, other, rel=1e-9):
    assert len(one) == len(other)
    for mine, theirs in zip(one, other, strict=True):
        assert mine.energy == pytest.approx(theirs.energy, rel=rel)
        assert sorted(mine.support) == sorted(theirs.support)


SIFTED_TO_THE_END = {"independent", "factors", "outliers", "rare levels", "far from zero"}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_frontiers_are_the_same(kind, ridge):
    X, y = table(kind, 5)
    sifted, plain = engines(X, y, ridge)
    # Near twins are the better or the worse by rounding.
    rel = 1e-6 if kind in ("twins", "far from zero") else 1e-9
    ours, theirs = frontier(sifted, 12), frontier(plain, 12)
    assert [m.energy for m in ours] == pytest.approx([m.energy for m in theirs], rel=rel)
    if kind not in ("twins", "equal columns"):
        assert_same_models(ours, theirs, rel)
    if kind in SIFTED_TO_THE_END:
        assert sifted.sifts


@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_a_response_of_any_scale(scale):
    """Beyond a float's range: coefficients are combined with columns in float32."""
    X, y = table("factors", 6)
    once, scaled = engines(X, y)[0], engines(X, y * scale)[0]
    for engine in (once, scaled):
        engine.start_at(np.array([3, 60, 200]))
    ours, theirs = (engine.best_insertions(20) for engine in (once, scaled))
    assert [one.unit for one in ours] == [one.unit for one in theirs]
    np.testing.assert_allclose(
        [one.gain * scale**2 for one in ours], [one.gain for one in theirs], rtol=1e-9
    )
    for one, other in zip(frontier(once, 12), frontier(scaled, 12), strict=True):
        assert sorted(one.support) == sorted(other.support)
        assert one.energy * scale**2 == pytest.approx(other.energy, rel=1e-9, abs=0)
    assert scaled.sifts


@pytest.mark.parametrize("kind", ["independent", "factors", "autoregressive"])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_any_layout_and_weights(kind, weighted, intercept, order, dtype, rng):
    X, y = table(kind, 8, p=130)
    X = np.asarray(X, dtype=dtype, order=order)
    weights = rng.integers(0, 4, size=N).astype(float) if weighted else None
    forced = np.isin(np.arange(X.shape[1]), [3, 50])
    pair = engines(X, y, 0.01, weights, intercept)
    for engine in pair:
        engine.move_to(np.array([3, 50]))
    assert_same_models(*[frontier(engine, 9, forced) for engine in pair])


@given(
    kind=st.sampled_from(sorted(TABLES)), seed=st.integers(0, 2**32 - 1), share=st.floats(0.001, 1)
)
def test_sbr_is_the_same(kind, seed, share):
    X, y = table(kind, seed, n=40, p=120)
    sifted, plain = engines(X, y)
    for engine in (sifted, plain):
        engine.sbr(share * y.var(), None, 15, None)
    rel = 1e-5 if kind in ("twins", "far from zero") else 1e-9
    assert sifted.energy == pytest.approx(plain.energy, rel=rel)
    assert len(sifted.members) == len(plain.members)


@given(kind=st.sampled_from(sorted(TABLES)), seed=st.integers(0, 2**32 - 1))
def test_the_best_moves_anywhere(kind, seed):
    """Insertions, gains, swaps and what depends on the members, where an engine is put."""
    rng = np.random.default_rng(seed)
    X, y = table(kind, seed, n=40, p=150)
    sifted, plain = engines(X, y, ridge=0.1)
    for size in rng.integers(0, 9, size=4):
        target = rng.choice(X.shape[1], size=size, replace=False)
        for engine in (sifted, plain):
            engine.move_to(target)
        assert sifted.members.tolist() == plain.members.tolist()
        assert sifted.energy == pytest.approx(plain.energy, rel=1e-9)
        for count in (1, 5):
            ours, theirs = (engine.best_insertions(count) for engine in (sifted, plain))
            assert [one.gain for one in ours] == pytest.approx(
                [one.gain for one in theirs], rel=1e-7
            )
        np.testing.assert_allclose(sifted.insertion_gains(), plain.insertion_gains(), rtol=1e-6)
        np.testing.assert_allclose(sifted.swap_gains(), plain.swap_gains(), rtol=1e-6, atol=1e-9)
        assert sifted.nearly_dependent(1e-13) == plain.nearly_dependent(1e-13)


@pytest.mark.parametrize("ridge", [0.0, 0.3, "per column"])
@pytest.mark.parametrize("kind", ["independent", "factors"])
def test_a_thousand_flips_agree_with_a_fresh_start(kind, ridge, rng):
    X, y = table(kind, 2)
    ridge = np.linspace(0.01, 2, P) if ridge == "per column" else ridge
    sifted, plain = engines(X, y, ridge)
    many = rng.choice(P, size=30, replace=False)
    for j in rng.choice(many, size=1000):
        sifted.flip(int(j))
    plain.start_at(sifted.members)
    assert sifted.sifts
    assert sifted.energy == pytest.approx(plain.energy, rel=1e-10)
    np.testing.assert_allclose(sifted.beta, plain.beta, rtol=1e-8)
    assert sifted.log_determinant == pytest.approx(plain.log_determinant, rel=1e-10)
    ours, theirs = (engine.best_insertions(50) for engine in (sifted, plain))
    assert [one.unit for one in ours] == [one.unit for one in theirs]
    np.testing.assert_allclose([one.gain for one in ours], [one.gain for one in theirs], rtol=1e-8)


def test_excluded_columns_stay_out_until_they_are_allowed():
    X, y = table("factors", 4)
    pair = engines(X, y)
    best = [engine.best_insertions(1)[0].unit for engine in pair]
    for engine, j in zip(pair, best, strict=True):
        engine.exclude(j)
        assert engine.best_insertions(1)[0].unit != j
        engine.insert(0)
        engine.allow(j)
    ours, theirs = (engine.best_insertions(3) for engine in pair)
    assert [one.unit for one in ours] == [one.unit for one in theirs]
    assert [one.gain for one in ours] == pytest.approx([one.gain for one in theirs], rel=1e-9)


def test_it_gives_up_where_nearly_all_columns_depend_on_each_other(rng):
    """Curves: a smooth one is nearly explained by a few others."""
    wave = np.linspace(0, 1, 400)
    X = np.stack(
        [np.exp(-((wave - m) ** 2) / (2 * w**2)) for m, w in rng.uniform(0.05, 1, (60, 2))]
    )
    X = X @ np.diag(np.linspace(1, 2, 400)) + 1e-5 * rng.normal(size=X.shape)
    y = X[:, 100] - X[:, 200] + 1e-3 * rng.normal(size=60)
    sifted, plain = engines(X, y)
    ours, theirs = frontier(sifted, 12), frontier(plain, 12)
    assert not sifted.sifts
    assert [m.energy for m in ours] == pytest.approx([m.energy for m in theirs], rel=1e-6)


def test_exact_fits_are_those_of_the_plain_engine(rng):
    X = rng.integers(-3, 4, size=(30, 90)).astype(float)
    y = X[:, 3] + X[:, 17] - 2 * X[:, 80]
    ours, theirs = (frontier(engine, 6) for engine in engines(X, y))
    assert_same_models(ours[:4], theirs[:4], rel=1e-7)
    assert ours[3].energy < 1e-9


def fold_models(X, y, ridge, threads=1):
    """Return the models of folds as what is left of all rows."""
    columns = make_columns(X)
    whole = make_design_on(columns, y, None, True, 1)
    everything = _core.all_rows(whole, columns, y, None, True, 1)
    parts = np.array_split(np.arange(len(y)), 6)
    designs = [_core.remaining_quadratic(everything, copy_rows(X, p), p, 1e9) for p in parts]
    zeros = [np.zeros(len(part), dtype=np.int64) for part in parts]
    held_out = [
        _core.held_out([columns], zero, part, y[part], None)
        for zero, part in zip(zeros, parts, strict=True)
    ]
    nothing = np.empty(0, dtype=np.int64)
    folds = _core.Folds(designs, held_out, everything, False, ridge, nothing, threads, 1)
    folds.search(10, None)
    return folds.judge(), designs


@pytest.mark.parametrize("kind", ["independent", "factors", "autoregressive", "twins"])
@pytest.mark.parametrize("ridge", [0.0, 0.2])
def test_folds_that_wait_for_each_other_find_what_each_finds_alone(kind, ridge):
    X, y = table(kind, 9, n=60, p=2003)
    assert _core.sifting_pays_in_folds(60, 2003)
    models, designs = fold_models(X, y, ridge)
    for found, design in zip(models, designs, strict=True):
        plain = _core.Frontier(make_engine(design, ridge, 1), None, False)
        plain.grow(10, None)
        rel = 1e-6 if kind == "twins" else 1e-8
        np.testing.assert_allclose(found.energies, plain.energies, rtol=rel)
    again, _ = fold_models(X, y, ridge, threads=3)
    for one, other in zip(models, again, strict=True):
        np.testing.assert_array_equal(one.support, other.support)
        np.testing.assert_array_equal(one.energies, other.energies)


@pytest.mark.parametrize("outlier", [1e3, 1e7])
@pytest.mark.parametrize("repeats", [1, 2])
def test_an_outlier_that_a_fold_leaves_out_costs_no_digits(outlier, repeats):
    """In terms of it all that is left of its column would be rounding."""
    X, y = table("factors", 3, n=100, p=2200)
    X[7, 11] = outlier
    sifted = L0RegressorCV(n_repeats=repeats, random_state=0).fit(X, y)
    # With a budget folds are pools of parts, which are not sifted.
    pooled = L0RegressorCV(n_repeats=repeats, random_state=0, memory="4GB").fit(X, y)
    np.testing.assert_array_equal(sifted.get_support(), pooled.get_support())
    np.testing.assert_allclose(
        sifted.cv_results_["mean_error"], pooled.cv_results_["mean_error"], rtol=1e-8
    )


def test_users_meet_it_where_columns_are_many(rng):
    X, y = table("factors", 1, n=60, p=1500)
    found = l0_frontier(X, y, max_size=8)
    plain = frontier(engines(X, y)[1], 8)
    np.testing.assert_allclose(found.energies, [model.energy for model in plain], rtol=1e-9)
    for support, model in zip(found.supports, plain, strict=True):
        assert sorted(support) == sorted(model.support)
