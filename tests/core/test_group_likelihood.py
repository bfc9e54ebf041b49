"""Likelihoods of groups of columns, and the frontier under rules, against every set fitted."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.group_likelihood import all_models, coefficients, fit
from reference.groups import best_at, best_of_each, is_closed, worth_having

from ellzero import _core
from ellzero.regression._losses import Loss
from ellzero.regression._problem import make_likelihood

LOSSES = ["logistic", "poisson"]


def response(rng, loss, eta):
    if loss == "logistic":
        return (rng.random(len(eta)) < 1 / (1 + np.exp(-eta))).astype(float)
    return rng.poisson(np.exp(0.5 + 0.6 * eta)).astype(float)


def problem(seed, loss, n=80, n_groups=8, widest=3, correlation=0.5, scale=1.5):
    rng = np.random.default_rng(seed)
    widths = rng.integers(1, widest + 1, n_groups)
    labels = np.repeat(np.arange(n_groups), widths)
    shared = np.sqrt(correlation) * rng.normal(size=(n, 1))
    X = shared + np.sqrt(1 - correlation) * rng.normal(size=(n, labels.size))
    active = np.isin(labels, rng.choice(n_groups, n_groups // 2, replace=False))
    eta = X @ np.where(active, rng.normal(size=labels.size), 0.0)
    y = response(rng, loss, scale * (eta - eta.mean()) / eta.std())
    return X, y, [np.flatnonzero(labels == unit).tolist() for unit in range(n_groups)]


def flat(lists):
    """Return where each list begins, and the lists one after the other."""
    begins = np.cumsum([0, *[len(one) for one in lists]])
    return begins, np.array([value for one in lists for value in one], dtype=np.int64)


def ridge_of(y):
    return 1 / (100 * len(y))


def engine_on(loss, X, y, groups, ridge=None):
    likelihood = make_likelihood(X, y, None, Loss(loss), fit_intercept=True)
    ridge = ridge_of(y) if ridge is None else ridge
    return _core.GroupLikelihood(likelihood.rows, likelihood.weight, *flat(groups), ridge, 1e9, 1)


def frontier_on(engine, max_size, parents=(), **rules):
    begins, parents = flat(parents)
    usual = {
        "forced": [],
        "price": [],
        "by_columns": False,
        "strong": True,
        "caps": [],
        "signs": [],
        "swaps": True,
    }
    of_units = {"parent_begins": begins, "parents": parents}
    frontier = _core.GroupFrontier(engine, **{**usual, **of_units, **rules})
    frontier.grow(max_size, None)
    return frontier


def units_of(*units):
    return np.array(units, dtype=np.int64)


def count_missed(frontier, best):
    """Count the sizes whose model is not the best; none can be better than that."""
    found = {model.size: model.energy for model in frontier.models()}
    assert set(found) <= set(best) | {0}
    for size, energy in found.items():
        assert energy >= best[size] * (1 - 1e-8)
    return sum(found.get(size, np.inf) > energy * (1 + 1e-7) for size, energy in best.items())


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_energies_and_promises_are_those_of_refits(loss, ridge):
    X, y, groups = problem(3, loss, n=120)

    def energy(units):
        return fit(loss, X, y, [groups[unit] for unit in units], ridge=ridge)[1]

    members = [2, 6, 5]
    engine = engine_on(loss, X, y, groups, ridge)
    engine.move_to(units_of(*members))
    assert engine.energy == pytest.approx(energy(members), rel=1e-9)
    outside = [unit for unit in range(8) if unit not in members]
    gains = engine.insertion_gains()
    assert (gains[members] < 0).all()
    # What is promised most has been refitted, and is the best.
    best = max(outside, key=lambda unit: engine.energy - energy([*members, unit]))
    assert gains.argmax() == best
    assert gains[best] == pytest.approx(engine.energy - energy([*members, best]), rel=1e-4)
    costs = [energy([u for u in members if u != leaving]) - engine.energy for leaving in members]
    np.testing.assert_allclose(engine.removal_costs(), costs, rtol=0.2)
    assert min(engine.removal_costs()) == pytest.approx(min(costs), rel=1e-4)
    together = engine.energy - energy([*members, 0, 7])
    assert engine.joint_gain(units_of(0, 7)) == pytest.approx(together, rel=1e-4)
    # To second order
    both = energy([2]) - engine.energy
    assert engine.joint_removal_cost(units_of(6, 5)) == pytest.approx(both, rel=0.3)
    solution = engine.solution_of(units_of(2, 5, 6))
    np.testing.assert_allclose(solution.removal_cost, [costs[0], costs[2], costs[1]], rtol=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_energy_does_not_depend_on_the_way(loss):
    rng = np.random.default_rng(5)
    X, y, groups = problem(11, loss, n=120, n_groups=14, widest=4)
    engine = engine_on(loss, X, y, groups)
    for _ in range(300):
        unit = rng.integers(14)
        if engine.members.size < 6 or unit in engine.members:
            engine.flip(unit)
        else:
            engine.flip(rng.choice(engine.members))
    fresh = engine_on(loss, X, y, groups)
    fresh.start_at(engine.members)
    assert engine.rank == fresh.rank
    assert engine.energy == pytest.approx(fresh.energy, rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("by_columns", [False, True])
def test_best_of_every_size_is_that_of_brute_force(loss, by_columns):
    missed = 0
    for seed in range(5):
        X, y, groups = problem(100 + seed, loss, scale=1 + seed % 3)
        frontier = frontier_on(engine_on(loss, X, y, groups), 30, by_columns=by_columns)
        models = all_models(loss, X, y, groups, ridge=ridge_of(y))
        missed += count_missed(frontier, worth_having(best_of_each(models, by_columns)))
    assert missed == 0


def products(seed, loss, n=100):
    """Return four main effects and five products of them, and whose products they are."""
    rng = np.random.default_rng(seed)
    main = rng.normal(size=(n, 4)) + 0.5 * rng.normal(size=(n, 1))
    pairs = [(a, b) for a in range(4) for b in range(a, 4)][:5]
    X = np.column_stack([main, *[main[:, a] * main[:, b] for a, b in pairs]])
    parents = [[], [], [], [], *[sorted({a, b}) for a, b in pairs]]
    eta = X @ np.where(rng.random(9) < 0.4, rng.normal(size=9), 0.0)
    return X, response(rng, loss, 1.5 * (eta - eta.mean()) / max(eta.std(), 1.0)), parents


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("strong", [True, False])
def test_heredity_finds_the_best_closed_supports(loss, strong):
    missed = 0
    for seed in range(5):
        X, y, parents = products(200 + seed, loss)
        groups = [[j] for j in range(9)]
        rules = {"parents": parents, "strong": strong}
        frontier = frontier_on(engine_on(loss, X, y, groups), 9, **rules)
        for model in frontier.models():
            assert is_closed(model.units.tolist(), parents, strong)
        models = all_models(loss, X, y, groups, ridge=ridge_of(y), **rules)
        missed += count_missed(frontier, worth_having(best_of_each(models)))
    assert missed == 0


@pytest.mark.parametrize("loss", LOSSES)
def test_prices_limits_and_signs(loss):
    missed = 0
    for seed in range(4):
        rng = np.random.default_rng(300 + seed)
        X, y, groups = problem(300 + seed, loss)
        ridge = ridge_of(y)
        price = rng.choice([0.25, 0.5, 1, 2, 4], 8).tolist()
        models = all_models(loss, X, y, groups, ridge=ridge, price=price)
        hull = frontier_on(engine_on(loss, X, y, groups), 8, price=price).hull()
        for lam in np.geomspace(0.05, 20, 20):
            found = min(model.energy + lam * model.price for model in hull)
            missed += found > best_at(models, lam) * (1 + 1e-7)
        caps = [([0, 1, 2], 1), ([3, 4, 5, 6], 2)]
        limited = [
            model
            for model in models
            if all(len(set(of) & set(model.units)) <= most for of, most in caps)
        ]
        frontier = frontier_on(engine_on(loss, X, y, groups), 8, caps=caps)
        missed += count_missed(frontier, worth_having(best_of_each(limited)))
        X, y, groups = problem(300 + seed, loss, widest=1)
        signs = np.where(rng.random(8) < 0.8, 1, 0)
        models = all_models(loss, X, y, groups, ridge=ridge, signs=signs)
        frontier = frontier_on(engine_on(loss, X, y, groups), 8, signs=signs.tolist())
        missed += count_missed(frontier, worth_having(best_of_each(models)))
    assert missed == 0


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("ridge", [0.0, None])
def test_dependent_columns_between_groups_are_ordinary(loss, ridge):
    rng = np.random.default_rng(4)
    region = rng.integers(0, 6, 150)
    country = region // 2
    X = np.column_stack(
        [*[region == level for level in range(6)], *[country == level for level in range(3)]]
    ).astype(float)
    y = response(rng, loss, np.array([-1.0, 1, 0, 0.5, -0.5, 2])[region])
    groups = [list(range(6)), [6, 7, 8]]
    engine = engine_on(loss, X, y, groups, ridge)
    both = engine.solution_of(units_of(0, 1))
    one = engine.solution_of(units_of(0))
    assert one.ranks.tolist() == [5]
    assert both.ranks.sum() == 5
    assert both.rss == pytest.approx(one.rss, rel=1e-4)
    # Whichever comes first: regions take the place of a country that leaves.
    nested = engine.solution_of(units_of(1, 0))
    assert nested.units.tolist() == [0, 1]
    assert nested.ranks.sum() == 5
    cost = 0.5 * (engine.solution_of(units_of(1)).rss - nested.rss)
    np.testing.assert_allclose(nested.removal_cost, [cost, 0], rtol=1e-3, atol=1e-2)
    if ridge == 0:
        rank, energy, _, _ = fit(loss, X, y, [groups[0]])
        assert (rank, one.rss) == (5, pytest.approx(2 * energy, rel=1e-9))


class StopError(Exception):
    """Raised in the middle of the work."""


def test_an_interrupted_search_goes_on():
    X, y, groups = problem(21, "logistic", n=150, n_groups=20)
    whole = frontier_on(engine_on("logistic", X, y, groups), 8).models()
    calls = []

    def stop_now_and_then(size):
        calls.append(size)
        if len(calls) % 7 == 0:
            raise StopError

    frontier = frontier_on(engine_on("logistic", X, y, groups), 0)
    for _ in range(100):
        with suppress(StopError):
            frontier.grow(8, stop_now_and_then)
            break
    assert len(calls) > 14
    # What it had tried before is remembered, so that it may come by another way.
    np.testing.assert_allclose(
        [model.energy for model in frontier.models()], [model.energy for model in whole], rtol=0.02
    )


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_rules_are_never_broken(seed):
    """On small integers, so that columns depend on each other, classes part and energies tie."""
    rng = np.random.default_rng(seed)
    loss = LOSSES[seed % 2]
    n, n_groups = int(rng.integers(6, 30)), int(rng.integers(2, 8))
    widths = rng.integers(1, 4, n_groups)
    X = rng.integers(-1, 2, size=(n, widths.sum())).astype(float)
    y = rng.integers(0, 2 if loss == "logistic" else 4, size=n).astype(float)
    y[:2] = 0, 1
    labels = np.repeat(np.arange(n_groups), widths)
    groups = [np.flatnonzero(labels == unit).tolist() for unit in range(n_groups)]
    parents = [
        sorted(set(rng.integers(0, unit, 2).tolist())) if unit > 2 else []
        for unit in range(n_groups)
    ]
    strong = bool(rng.integers(2))
    signs = rng.choice([-1, 0, 0, 1], labels.size)
    caps = [(rng.choice(n_groups, 2, replace=False).tolist(), 1)]
    frontier = frontier_on(
        engine_on(loss, X, y, groups),
        n_groups,
        parents=parents,
        strong=strong,
        signs=signs.tolist(),
        caps=caps,
        price=rng.choice([0.5, 1.0, 2.0], n_groups).tolist(),
    )
    for model in [*frontier.models(), *frontier.hull()]:
        units = model.units.tolist()
        assert is_closed(units, parents, strong)
        assert len(set(caps[0][0]) & set(units)) <= 1
        own = [groups[unit] for unit in units]
        columns = [j for group in own for j in group]
        rank, energy, _, eta = fit(loss, X, y, own, ridge=ridge_of(y))
        assert model.energy == pytest.approx(energy, rel=1e-6, abs=1e-8)
        if rank == len(columns):  # else the coefficients are not unique
            coef = coefficients(X, columns, eta)
            assert (signs * coef > -1e-6 * (1 + np.abs(coef).max(initial=0))).all()
