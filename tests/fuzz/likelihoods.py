"""Likelihoods on hostile tables against refits of all subsets."""

import warnings

import numpy as np
import pytest
from reference.group_likelihood import fit as fit_groups
from reference.likelihood import all_energies, nll, refit, standardise

from ellzero import L0Classifier, L0PoissonRegressor, _core, l0_frontier
from ellzero._warnings import SeparationWarning
from fuzz import hostile

# Columns that depend on others more nearly than this may be left aside.
SPAN = 100 * _core.SPAN
# What energies are known to, as a share of that without variables.
ROUNDING = 2e-10
# The oracle takes seconds on more.
MOST_ROWS, MOST_COLUMNS = 14, 5


def response(rng, loss, X):
    """Draw classes or counts that hang on a column, or don't."""
    n, p = X.shape
    x = X[:, rng.integers(p)]
    x = x - x.mean()
    spread = np.abs(x).max()
    eta = rng.choice([0.0, 1.0, 5.0]) * (x / spread if spread > 0 else x)
    if loss == "logistic":
        return (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(float)
    y = rng.poisson(np.exp(eta + rng.choice([-1.0, 0.0, 3.0]))).astype(float)
    return y * (10 ** rng.uniform(-8, 8) if rng.random() < 0.2 else 1.0)


def is_one_kind(loss, y, weights):
    counted = y if weights is None else y[weights > 0]
    return counted.min() == counted.max() if loss == "logistic" else not counted.any()


def check_likelihood(rng):
    """Every model of a frontier, and what estimators choose, against the oracle."""
    table = hostile.table(rng, most_rows=MOST_ROWS, most_columns=MOST_COLUMNS)
    loss = str(rng.choice(["logistic", "poisson"]))
    X, weights, intercept = table.X, table.weights, table.intercept
    y = response(rng, loss, X)
    n = float(len(y) if weights is None else weights.sum())
    ridge = 1 / (100 * n) if rng.random() < 0.5 else table.ridge
    kind = L0Classifier if loss == "logistic" else L0PoissonRegressor
    options = {**table.options(), "ridge": ridge}
    if is_one_kind(loss, y, weights):
        with pytest.raises(ValueError, match="y must"):
            kind(**options).fit(X, y, sample_weight=weights)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        warnings.simplefilter("ignore", UserWarning)  # of forced columns that can't be
        frontier = l0_frontier(X, y, loss=loss, sample_weight=weights, **options)
        lam = float(frontier.energies[0] * 10 ** rng.uniform(-6, 0.3))
        solver = str(rng.choice(["frontier", "sbr"]))
        model = kind(lam, solver=solver, **options).fit(X, y, sample_weight=weights)
        by_criterion = kind("bic", solver=solver, **options).fit(X, y, sample_weight=weights)
    for each in (model, by_criterion):
        assert np.isfinite(each.coef_).all(), f"{each}: coefficients {each.coef_}"
        assert np.isfinite(each.intercept_).all(), f"{each}: intercept {each.intercept_}"
        assert np.isfinite(each.objective_), f"{each}: objective {each.objective_}"

    how = {"ridge": ridge, "weights": weights, "intercept": intercept}
    Z = standardise(X, weights, intercept)
    scale = refit(loss, Z, y, (), **how).energy
    rounding = ROUNDING * scale + 1e-14 * float(np.abs(y).sum())
    sizes, energies = frontier.sizes, frontier.energies
    assert sizes.tolist() == list(range(sizes[0], sizes[-1] + 1))
    # Energies up to a hundred times their rounding are those of exact fits, which are all equal.
    assert (np.diff(energies) <= 100 * rounding).all(), f"energies {energies} rise"
    far = np.abs(X.mean(axis=0)) > 1e4 * X.std(axis=0)  # digits are lost in the intercept
    for size, support in zip(sizes.tolist(), frontier.supports, strict=True):
        found = frontier.at(size=size)
        assert np.isfinite(found.coef).all(), f"coefficients {found.coef} of {support}"
        assert np.isfinite(found.removal_cost).all(), f"costs {found.removal_cost} of {support}"
        fit = refit(loss, Z, y, support, **how)
        slack = rounding + 1e-6 * fit.energy
        # Where a fit runs off to infinity for want of a ridge, or has very far to go, neither has
        # come to an end; near dependence costs both digits.
        runs_off = np.abs(fit.eta).max() > (12 if ridge < 1e-6 else 40)
        if independence(Z[:, support], weights, ridge) > SPAN and not runs_off:
            assert abs(found.energy - fit.energy) <= slack, (
                f"energy {found.energy!r} of {support}, refitted {fit.energy!r}"
            )
        if ridge > 0 and not far[support].any():
            value = nll(loss, X @ found.coef + found.intercept, y, weights)
            assert abs(value - 0.5 * found.rss) <= 1e-5 * (value + scale) + rounding, (
                f"{support}: its coefficients have a loss of {value!r}, not {0.5 * found.rss!r}"
            )
    if table.forced and sizes[0] < len(table.forced):
        return
    if ridge < 1e-6:
        return
    every = all_energies(loss, Z, y, table.forced, **how)
    for size, energy in zip(sizes.tolist(), energies, strict=True):
        least = min(value for support, value in every.items() if len(support) == size)
        assert energy >= least - rounding - 1e-6 * least, f"size {size}: {energy!r} < {least!r}"
    support = tuple(model.support_.tolist())
    priced = len(support) - len(table.forced)
    expected = every[support] + (lam * priced if priced else 0)
    assert abs(model.objective_ - expected) <= rounding + 1e-6 * expected, (
        f"objective {model.objective_!r} of {support}, refitted {expected!r}"
    )
    start = every[tuple(sorted(table.forced))]
    assert model.objective_ <= start + rounding + 1e-6 * start, "worse than where it starts"


def check_group_likelihood(rng):
    """Every model of groups on a frontier against its refit, and none better than all of a size."""
    table = hostile.table(rng, most_rows=MOST_ROWS, most_columns=6)
    loss = str(rng.choice(["logistic", "poisson"]))
    X, weights, intercept = table.X, table.weights, table.intercept
    y = response(rng, loss, X)
    if is_one_kind(loss, y, weights):
        return
    n = float(len(y) if weights is None else weights.sum())
    ridge = 1 / (100 * n) if rng.random() < 0.7 else table.ridge
    labels = np.sort(rng.integers(0, max(1, X.shape[1] - 1), X.shape[1]))
    by_columns = bool(rng.random() < 0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        frontier = l0_frontier(
            X,
            y,
            loss=loss,
            feature_groups=labels,
            size_in="columns" if by_columns else "groups",
            ridge=ridge,
            sample_weight=weights,
            fit_intercept=intercept,
        )
    how = {"ridge": ridge, "weights": weights, "intercept": intercept}
    scale = fit_groups(loss, X, y, [], **how)[1]
    rounding = ROUNDING * scale + 1e-14 * float(np.abs(y).sum())
    for size in frontier.sizes.tolist():
        found = frontier.at(size=size)
        assert np.isfinite(found.coef).all(), f"coefficients {found.coef} of {found.groups}"
        assert np.isfinite(found.group_cost).all(), f"costs {found.group_cost} of {found.groups}"
        assert (found.df >= 0).all()
        if ridge < 1e-6:  # dependence and separation leave both somewhere
            continue
        own = [np.flatnonzero(labels == int(label)).tolist() for label in found.groups]
        energy, eta = fit_groups(loss, X, y, own, **how)[1::2]
        if np.abs(eta).max() > 40 or any(nearly_dependent(X, g, weights, intercept) for g in own):
            continue
        assert abs(found.energy - energy) <= rounding + 1e-6 * energy, (
            f"energy {found.energy!r} of {found.groups}, refitted {energy!r}"
        )


def nearly_dependent(X, group, weights, intercept):
    """Whether a group has a column that is nearly, or just, in the span of the others."""
    Z = standardise(X[:, group], weights, intercept)
    root = np.ones(len(X)) if weights is None else np.sqrt(weights)
    spread = np.linalg.svd(root[:, None] * Z, compute_uv=False)
    return bool(np.any((spread > 1e-12) & (spread < 1e-3)))


def independence(Z, weights, ridge):
    """Return the least share of a column that the others leave over; 1 where there is a ridge."""
    if ridge > 1e-6 or not Z.shape[1]:
        return 1.0
    A = Z if weights is None else Z * np.sqrt(weights)[:, None]
    return float(np.linalg.svd(A, compute_uv=False)[-1] ** 2) if len(A) >= Z.shape[1] else 0.0
