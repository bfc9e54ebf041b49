"""The engine of likelihoods against refits, and the promises it makes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from likelihood_tables import LOSSES, draw
from reference.likelihood import refit, row_losses, standardise

from ellzero import _core
from ellzero._engine import make_columns, make_design_on


def engine_on(loss, X, y, *, ridge=0.05, weights=None, offset=None, intercept=True, prepared=None):
    """Put an engine on rows; ``prepared`` are other weights that the columns are prepared with."""
    columns = make_columns(X)
    prepared = weights if prepared is None else prepared
    design = make_design_on(columns, y, prepared, intercept, 1)
    rows = _core.make_rows(columns, design, loss, y, offset, intercept)
    return _core.Likelihood(rows, np.ones_like(y) if weights is None else weights, ridge, 1)


def stand(engine, members):
    engine.start_at(np.array(members, dtype=np.int64))
    return engine


def energy_at(members, *args, **options):
    return stand(engine_on(*args, **options), members).energy


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_energies_and_coefficients_are_those_of_refits(loss, intercept, weighted, rng):
    X, y = draw(loss, 60)
    weights = rng.integers(0, 4, len(y)).astype(float) if weighted else None
    offset = rng.normal(size=len(y))
    how = {"ridge": 0.3, "weights": weights, "offset": offset, "intercept": intercept}
    Z = standardise(X, weights, intercept)
    for members in ([], [3], [5, 0], [1, 7, 2, 4]):
        engine = stand(engine_on(loss, X, y, **how), members)
        fit = refit(loss, Z, y, members, **how)
        assert engine.energy == pytest.approx(fit.energy, rel=1e-9)
        solution = engine.solution()
        order = np.argsort(members)
        np.testing.assert_allclose(solution.beta, fit.beta[order], rtol=1e-6)
        assert solution.intercept == pytest.approx(fit.intercept, abs=1e-8)
        assert 0.5 * solution.rss == pytest.approx(fit.nll, rel=1e-6)
        assert 0.5 * solution.rss + solution.ridge_energy == pytest.approx(engine.energy)
    assert engine.null_energy == pytest.approx(refit(loss, Z, y, [], **how).energy, rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_rows_without_weight_do_not_count_whatever_columns_were_prepared_with(loss):
    X, y = draw(loss, 61)
    inside = np.where(np.arange(60) % 4 > 0, 1.0, 0.0)
    fold = stand(engine_on(loss, X, y, weights=inside, prepared=np.ones(60)), [0, 2, 5])
    alone = stand(engine_on(loss, X[inside > 0], y[inside > 0]), [0, 2, 5])
    assert fold.energy == pytest.approx(alone.energy, rel=1e-9)
    assert fold.null_energy == pytest.approx(alone.null_energy, rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_slopes_of_the_energy_by_finite_differences(loss, rng):
    """By the envelope theorem: at the minimum, only what is changed itself counts."""
    X, y = draw(loss, 62)
    members, step = [0, 3, 6], 1e-4
    w, offset = rng.uniform(0.5, 2, len(y)), 0.3 * rng.normal(size=len(y))
    how = {"weights": w, "offset": offset, "ridge": 0.4}
    Z = standardise(X, w)
    fit = refit(loss, Z, y, members, **how)
    mean = 1 / (1 + np.exp(-fit.eta)) if loss == "logistic" else np.exp(fit.eta)

    def slope(**changes):
        values = [
            energy_at(
                members, loss, X, y, prepared=w, **{**how, **dict(zip(changes, each, strict=True))}
            )
            for each in zip(*changes.values(), strict=True)
        ]
        return (values[1] - values[0]) / (2 * step)

    ridges = slope(ridge=[0.4 - step, 0.4 + step])
    assert ridges == pytest.approx(0.5 * fit.beta @ fit.beta, rel=1e-5)
    for j in (1, 5):  # by columns that are not members
        by_offset = slope(offset=[offset - step * Z[:, j], offset + step * Z[:, j]])
        assert by_offset == pytest.approx(-(w * (y - mean)) @ Z[:, j], abs=1e-5)
    for r in (0, 11):  # by weights, which without a ridge count in the losses alone
        how["ridge"] = 0.0
        unit = step * (np.arange(len(y)) == r)
        by_weight = slope(weights=[w - unit, w + unit])
        free = refit(loss, Z, y, members, **how)
        assert by_weight == pytest.approx(row_losses(loss, free.eta, y)[r], rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("ridge", [0.0, 0.05, 2.0])
def test_a_promise_once_taken_is_kept(loss, ridge):
    for seed in range(10):
        X, y = draw(loss, seed, n=80, p=12, shared=1.5)
        engine = engine_on(loss, X, y, ridge=ridge)
        for _ in range(6):
            gains = engine.insertion_gains()
            best, before = int(gains.argmax()), engine.energy
            assert (gains[engine.members] < 0).all()
            assert engine.insert(best)
            # A trial ends when less than this share of what it has changed is left.
            assert before - engine.energy == pytest.approx(gains[best], rel=1e-5, abs=1e-8)
        for _ in range(5):
            costs, before, members = engine.removal_costs(), engine.energy, engine.members
            cheapest = int(costs.argmin())
            engine.move_to(np.delete(members, cheapest))
            rise = engine.energy - before
            assert rise == pytest.approx(costs[cheapest], rel=0.05, abs=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_what_was_inserted_costs_what_it_gained(loss):
    X, y = draw(loss, 63)
    X = np.hstack([X, X])  # of two that are the same either could go
    engine = engine_on(loss, X, y, ridge=0.1)
    for _ in range(5):
        before = engine.energy
        assert engine.insert(int(engine.insertion_gains().argmax()))
        gained = before - engine.energy
        assert engine.removal_costs()[-1] == pytest.approx(gained, abs=engine.rounding)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_costs_in_a_solution_are_those_of_refits(loss):
    X, y = draw(loss, 64)
    Z = standardise(X)
    engine = stand(engine_on(loss, X, y), [1, 4, 0, 6])
    found = engine.solution()
    for j, cost in zip(found.support, found.removal_cost, strict=True):
        rest = [i for i in found.support.tolist() if i != j]
        rise = refit(loss, Z, y, rest, ridge=0.05).energy - engine.energy
        assert cost == pytest.approx(rise, rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("ridge", [0.0, 0.05])
def test_300_random_moves_end_where_a_fresh_start_does(loss, ridge, rng):
    X, y = draw(loss, 65, p=12)
    engine = engine_on(loss, X, y, ridge=ridge)
    for step, j in enumerate(rng.integers(12, size=300)):
        members = engine.members
        target = members[members != j] if j in members else np.append(members, j)
        if step % 3:
            engine.move_to(target)
        else:
            engine.flip(int(j))
        if step % 20 == 19:
            engine.insertion_gains(), engine.removal_costs()  # which fill what it remembers
            fresh = stand(engine_on(loss, X, y, ridge=ridge), engine.members)
            assert engine.energy == pytest.approx(fresh.energy, abs=engine.rounding)


@given(seed=st.integers(0, 200), members=st.lists(st.integers(0, 7), unique=True, max_size=5))
@settings(max_examples=25)
def test_the_way_to_a_support_leaves_no_bits_in_a_start(seed, members):
    X, y = draw("logistic", seed)
    engine = engine_on("logistic", X, y)
    direct = stand(engine, members).energy
    engine.sbr(0.1, None, 8, None)
    engine.move_to(np.array([7, 1], dtype=np.int64))
    assert stand(engine, members).energy == direct


@pytest.mark.parametrize("loss", LOSSES)
def test_what_depends_on_the_members_is_left_out(loss):
    X, y = draw(loss, 66, p=4)
    X = np.column_stack([X, X[:, 0] - X[:, 1], np.full(60, 3.0)])
    engine = stand(engine_on(loss, X, y, ridge=0.0), [0, 1, 4, 5, 2])
    assert engine.members.tolist() == [0, 1, 2]
    assert not engine.insert(4)
    assert not engine.insert(5)
    assert engine.energy == pytest.approx(refit(loss, standardise(X), y, [0, 1, 2]).energy)
    assert engine.insertion_gains().argmax() == 3


@pytest.mark.parametrize("loss", LOSSES)
def test_excluded_columns_are_not_promised(loss):
    X, y = draw(loss, 67)
    engine = stand(engine_on(loss, X, y), [2])
    best = int(engine.insertion_gains().argmax())
    engine.exclude(best)
    assert engine.insertion_gains()[best] < 0
    assert engine.insertion_gains().argmax() != best
    engine.allow(best)
    assert engine.insertion_gains().argmax() == best


@pytest.mark.parametrize("level", [1.0, 33.0, 1e3, 1e9])
def test_large_counts_without_an_intercept_are_fitted_by_every_way(level):
    """Where nothing is fitted yet, a step by the curvature there goes much too far."""
    rng = np.random.default_rng(68)
    X = 1 + 0.1 * rng.normal(size=(40, 3))
    y = level * rng.poisson(2.0, 40)
    for members in ([0], [0, 1], [2, 1, 0]):
        fit = refit("poisson", standardise(X, None, False), y, members, ridge=0.01, intercept=False)
        moved, started = (engine_on("poisson", X, y, ridge=0.01, intercept=False) for _ in "ab")
        moved.move_to(np.array(members))
        stand(started, members)
        one_by_one = engine_on("poisson", X, y, ridge=0.01, intercept=False)
        for j in members:
            assert one_by_one.insert(j)
        for engine in (moved, started, one_by_one):
            assert engine.energy == pytest.approx(fit.energy, abs=engine.rounding)
