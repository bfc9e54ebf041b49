"""Every set of groups fitted, one by one: which of them are models, and which are the best."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np


class Model(NamedTuple):
    """A set of groups."""

    units: tuple[int, ...]
    rank: int
    price: float
    energy: float
    coef: np.ndarray


def fit(Z, y, columns, groups=(), ridge=0.0):
    """Return the rank, the energy and the coefficients of some columns, centred beforehand.

    The ridge is one on the fits of the groups: 1/2 ridge sum of |Z_g b_g|^2.
    """
    coef = np.zeros(Z.shape[1])
    if not len(columns):
        return 0, 0.5 * y @ y, coef
    rows, target = [Z], [y]
    for group in groups if ridge else ():
        shrunk = np.zeros_like(Z)
        shrunk[:, group] = np.sqrt(ridge) * Z[:, group]
        rows.append(shrunk)
        target.append(np.zeros_like(y))
    A, t = np.concatenate(rows)[:, columns], np.concatenate(target)
    scale = np.linalg.norm(Z[:, columns], axis=0)
    scale[scale == 0] = 1
    b, _, rank, _ = np.linalg.lstsq(A / scale, t, rcond=1e-6)
    coef[columns] = b / scale
    rest = t - A @ coef[columns]
    return int(rank), 0.5 * rest @ rest, coef


def is_closed(units, parents, strong):
    """Whether every unit has the parents it needs."""
    inside = set(units)
    for unit in units:
        of = parents[unit] if parents else []
        if of and not (all if strong else any)(parent in inside for parent in of):
            return False
    return True


def all_models(
    X,
    y,
    groups,
    *,
    ridge=0.0,
    price=None,
    parents=None,
    strong=True,
    caps=(),
    signs=None,
    forced=(),
    most=None,
):
    """Return every set of groups that keeps the rules, fitted."""
    Z, t = X - X.mean(0), y - y.mean()
    found = []
    for size in range(len(groups) + 1):
        for units in combinations(range(len(groups)), size):
            if (most is not None and size > most) or not set(forced) <= set(units):
                continue
            if not is_closed(units, parents, strong):
                continue
            if any(len(set(of) & set(units)) > limit for of, limit in caps):
                continue
            columns = [j for unit in units for j in groups[unit]]
            rank, energy, coef = fit(Z, t, columns, [groups[u] for u in units], ridge)
            if signs is not None and np.any(np.asarray(signs) * coef < 0):
                continue
            cost = sum(1.0 if price is None else price[u] for u in units if u not in forced)
            found.append(Model(units, rank, cost, energy, coef))
    return found


def best_of_each(models, by_columns=False):
    """Return the least energy of each size, by groups or by columns."""
    best: dict[int, float] = {}
    for model in models:
        size = model.rank if by_columns else len(model.units)
        best[size] = min(best.get(size, np.inf), model.energy)
    return best


def worth_having(best):
    """Return those that are better than all smaller ones."""
    kept: dict[int, float] = {}
    for size in sorted(best):
        if all(best[size] < energy * (1 - 1e-9) for energy in kept.values()):
            kept[size] = best[size]
    return kept


def best_at(models, lam):
    """Return the least ``energy + lam * price``."""
    return min(model.energy + lam * model.price for model in models)
