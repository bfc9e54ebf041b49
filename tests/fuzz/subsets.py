"""The frontier, L0Regressor and L0RegressorCV against all subsets."""

import numpy as np
from reference.subsets import AllSubsets

from ellzero import L0Regressor, L0RegressorCV, _core, l0_frontier
from fuzz import hostile

# Columns that depend on others more nearly than this may be left aside, and are by what comes near.
SPAN = 4 * _core.SPAN


def oracle_of(table):
    return AllSubsets(
        table.X, table.y, weights=table.weights, intercept=table.intercept, ridge=table.ridge
    )


def rounding(oracle):
    """What energies may differ by."""
    return 1e-10 * oracle.total


def assert_fits(table, oracle, support, coef, intercept, energy):
    """The energy is that of the support, and of the coefficients; return what rounding may do."""
    support = tuple(int(j) for j in support)
    assert list(support) == sorted(set(support)), f"support {support} is not sorted"
    assert np.isfinite(coef).all(), f"coefficients {coef} of {support}"
    assert np.isfinite(intercept), f"intercept {intercept} of {support}"
    outside = np.delete(np.arange(len(coef)), list(support))
    assert not coef[outside].any(), f"coefficients outside {support}"
    w = np.ones(len(table.y)) if table.weights is None else table.weights
    X, y = np.asarray(table.X, np.longdouble), np.asarray(table.y, np.longdouble)
    residual = y - X @ coef.astype(np.longdouble) - intercept
    sizes = np.abs(X * coef).max(axis=1) + np.abs(y) + abs(intercept)
    # The intercept is rounded, which counts where columns or y are far from zero.
    noise = float(1e-14 * np.sqrt((w * sizes**2).sum()))
    wanted = oracle.energies[support]
    slack = rounding(oracle) + 1e-7 * wanted + noise * (noise + np.sqrt(2 * wanted))
    assert abs(energy - wanted) <= slack, (
        f"energy {energy!r} of {support}, but lstsq says {wanted!r}; y'y is {oracle.total!r}"
    )
    rss = float((w * residual**2).sum())
    scales = np.sqrt(
        (w[:, None] * (X - table.intercept * np.average(X, axis=0, weights=w)) ** 2).sum(0)
    )
    found = 0.5 * rss + 0.5 * table.ridge * float(((coef * scales) ** 2).sum())
    assert found <= wanted + slack, (
        f"the coefficients of {support} have energy {found!r}, not {wanted!r}"
    )
    return slack


def assert_no_neighbour_is_better(table, oracle, support, lam, swaps=True):
    """No insertion, removal or swap lowers energy + lam size, those left aside excepted."""
    support = {int(j) for j in support}
    forced, p = set(table.forced), table.X.shape[1]
    inside, outside = support - forced, set(range(p)) - support

    def objective(some):
        return oracle.energies[tuple(sorted(some))] + lam * len(some)

    moves = [support | {j} for j in outside] + [support - {j} for j in inside]
    if swaps:
        moves += [support - {j} | {k} for j in inside for k in outside]
    here = objective(support)
    for other in moves:
        if oracle.independence(sorted(other)) < SPAN and len(other) >= len(support):
            continue
        gain = here - objective(other)
        assert gain <= 2 * rounding(oracle) + 1e-9 * abs(here), (
            f"{sorted(support)} at lam={lam!r}: {sorted(other)} is better by {gain!r}, "
            f"y'y is {oracle.total!r}"
        )


def some_size(rng, table):
    p, forced = table.X.shape[1], len(table.forced)
    return None if rng.random() < 0.6 else int(rng.integers(forced, p + 1))


def check_frontier(rng):
    """Every model of it, its intervals, and what it says of the solution at any price."""
    table = hostile.table(rng)
    most = some_size(rng, table)
    frontier = l0_frontier(
        table.X, table.y, max_size=most, sample_weight=table.weights, **table.options()
    )
    oracle = oracle_of(table)
    sizes, energies = frontier.sizes, frontier.energies
    assert sizes.tolist() == list(range(sizes[0], sizes[-1] + 1))
    assert [len(support) for support in frontier.supports] == sizes.tolist()
    models = [frontier.at(size=size) for size in sizes.tolist()]
    slack = [
        assert_fits(table, oracle, model.support, model.coef, model.intercept, model.energy)
        for model in models
    ]
    assert (np.diff(energies) <= slack[1:]).all(), (
        f"energies {energies} rise; y'y is {oracle.total!r}"
    )
    assert (np.diff(frontier.lambdas) < 0).all(), f"breakpoints {frontier.lambdas}"
    for size in sizes.tolist():
        ends = frontier.interval(size)
        if ends is None:
            continue
        low, high = ends
        assert low <= high, f"interval {ends} of {size}"
        middle = 2 * low + 1e-3 * oracle.total if np.isinf(high) else 0.5 * (low + high)
        best = (energies + middle * sizes).min()
        mine = energies[size - sizes[0]] + middle * size
        assert mine <= best * (1 + 1e-12) + rounding(oracle), f"size {size} in {ends}"
    for lam in (0.5 * oracle.total * 10 ** rng.uniform(-8, 0, 3)).tolist():
        if lam < frontier.lambdas.min(initial=np.inf) and most is not None:
            continue
        frontier.grow(lam=lam)
        model = frontier.at(lam=lam)
        assert_no_neighbour_is_better(table, oracle, model.support, lam)


def check_regressor(rng):
    """L0Regressor at a price or by a criterion: its objective, and what its certificate says."""
    table = hostile.table(rng)
    oracle = oracle_of(table)
    lam = 0.5 * oracle.total * 10 ** rng.uniform(-9, 0.5)
    if rng.random() < 0.1:
        lam = 0.0
    if rng.random() < 0.4:
        lam = rng.choice(["bic", "ebic", "ric"])
    solver = "frontier" if rng.random() < 0.7 else "sbr"
    most = some_size(rng, table)
    settings = {"lam": lam, "max_size": most, **table.options()}
    model = L0Regressor(solver=solver, **settings).fit(table.X, table.y, table.weights)
    priced = len(set(model.support_.tolist()) - set(table.forced))
    energy = model.objective_ - (model.lam_ * priced if priced else 0.0)
    if np.isfinite(model.objective_) and model.lam_ * priced < 1e3 * oracle.total:
        assert_fits(table, oracle, model.support_, model.coef_, model.intercept_, energy)
    says = str(model.certificate_)
    if "no insertion" in says and model.support_.size < (most or np.inf):
        swaps = "swap" in says
        assert_no_neighbour_is_better(table, oracle, model.support_, model.lam_, swaps)
    if "stopped at max_size" in says and "more variables" in says:
        # One more variable would not do, but a model beyond the largest size is better.
        larger = [e for support, e in oracle.energies.items() if len(support) == most + 1]
        rise = most + 1 - model.support_.size
        here = oracle.energies[tuple(sorted(model.support_.tolist()))]
        assert rise > 1, says
        assert here - min(larger) > model.lam_ * rise - rounding(oracle), says
    elif "stopped at max_size" in says and isinstance(lam, float):
        assert model.support_.size == most or model.support_.size == 40, says
        inside = set(model.support_.tolist())
        here = oracle.energies[tuple(sorted(inside))]
        others = [oracle.energies[tuple(sorted(inside | {j}))] for j in range(table.X.shape[1])]
        assert here - min(others) > model.lam_ - rounding(oracle), f"{says}: none lowers it"
    if solver == "frontier" and isinstance(lam, float):
        other = L0Regressor(solver="sbr", **settings).fit(table.X, table.y, table.weights)
        near = oracle.independence(other.support_.tolist()) < SPAN
        assert near or model.objective_ <= other.objective_ + rounding(oracle), (
            f"{model.support_} has objective {model.objective_!r}, SBR's "
            f"{other.support_} {other.objective_!r}"
        )


def check_cross_validation(rng):
    """The curve, and the model chosen on all rows."""
    table = hostile.table(rng, most_rows=20)
    n = len(table.y)
    solver = "frontier" if rng.random() < 0.7 else "sbr"
    folds = int(rng.integers(2, min(n, 5) + 1))
    model = L0RegressorCV(
        cv=folds,
        n_repeats=int(rng.integers(1, 4)),
        rule=rng.choice(["min", "1se"]),
        solver=solver,
        max_size=some_size(rng, table),
        random_state=int(rng.integers(1000)),
        **table.options(),
    )
    try:
        model.fit(table.X, table.y, table.weights)
    except ValueError as error:
        if "zero for all rows that a fold" in str(error) or "sample_weight" in str(error):
            return
        raise
    oracle = oracle_of(table)
    results = model.cv_results_
    assert (results["lam_low"] <= results["lam_high"]).all()
    assert (results["lam_high"][1:] == results["lam_low"][:-1]).all()
    assert np.isfinite(results["mean_error"]).all()
    assert (results["mean_error"] >= 0).all()
    priced = len(set(model.support_.tolist()) - set(table.forced))
    energy = model.objective_ - (model.lam_ * priced if priced else 0.0)
    if np.isfinite(model.objective_) and model.lam_ * priced < 1e3 * oracle.total:
        assert_fits(table, oracle, model.support_, model.coef_, model.intercept_, energy)
    if model.max_size is None and "no insertion" in str(model.certificate_):
        swaps = "swap" in str(model.certificate_)
        assert_no_neighbour_is_better(table, oracle, model.support_, model.lam_, swaps)
