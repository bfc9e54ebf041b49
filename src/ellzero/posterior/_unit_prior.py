r"""The prior over sets of units: columns, or groups of them, under heredity.

Every unit that may be in, since it has the parents it needs, is in with probability theta (Chipman
1996). With theta ~ Beta(1, b), a set with k units in of the m that may be has probability

.. math:: B(1 + k, b + m - k) / B(1, b)

and b is such that so many units are expected as the user said.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from ellzero.posterior._by_unit import positions_of
from ellzero.posterior._prior import resolve_theta
from ellzero.regression._parents import Parents
from ellzero.regression._units import Structure, Units, resolve_units

__all__ = [
    "NO_UNITS",
    "count_candidates",
    "is_of_columns",
    "multiply_odds",
    "parents_first",
    "refuse_orphans",
    "resolve_unit_theta",
    "theta_rate",
    "units_of",
]

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]
NO_UNITS: _Integers = np.empty(0, dtype=np.int64)
_NODES = 200  # of the rule that expectations over theta are taken by


def units_of(estimator: Any, n_columns: int, names: Any) -> Units | None:
    """Return the units that an estimator's parameters define; None if they say nothing of any."""
    structure = Structure(
        feature_groups=estimator.feature_groups,
        heredity=estimator.heredity,
        parents=estimator.parents,
        penalty_factor=estimator.penalty_factor,
    )
    if structure.is_plain:
        return None
    units = resolve_units(structure, estimator.always_include, n_columns, names)
    if units.price is not None and isinstance(estimator.theta, str):
        raise ValueError(
            "penalty_factor multiplies the log-odds of a theta that is given: give theta, or leave "
            "penalty_factor out."
        )
    if is_of_columns(units):
        return units
    if getattr(estimator, "slab", "gaussian") not in ("gaussian", "zellner"):
        raise ValueError(
            f"slab={estimator.slab!r} is for single columns without heredity; groups have "
            "'gaussian' and 'zellner'."
        )
    if estimator.solver == "tempered":
        raise ValueError(
            "solver='tempered' is for single columns without heredity; groups have 'enumerate' and "
            "'gibbs'."
        )
    return units


def is_of_columns(units: Units) -> bool:
    """Whether every column is a unit, without heredity."""
    return units.count == units.n_columns and units.parents is None


def resolve_unit_theta(theta: Any, units: Units, names: Any, otherwise: float) -> _Floats | None:
    """Turn a number, an array, a mapping or a Series into one probability per unit."""
    position = positions_of(units, names)
    return resolve_theta(theta, units.count, units.names, otherwise, position=position)


def multiply_odds(theta: _Floats, factors: _Floats) -> _Floats:
    """Return ``1 / (1 + ((1 - theta) / theta)^factor)``: a price's factor, as a probability."""
    with np.errstate(divide="ignore", over="ignore"):
        log_odds = factors * (np.log(theta) - np.log1p(-theta))
        out = 1 / (1 + np.exp(-log_odds))
    # What rounding makes of a probability must not rule a unit in or out
    bounded = np.clip(out, 1e-300, np.nextafter(1.0, 0.0))
    return np.where((theta > 0) & (theta < 1), bounded, theta)


def refuse_orphans(units: Units, always: NDArray[np.bool_]) -> None:
    """Refuse units that theta has in every model without the parents that they need."""
    if units.parents is None:
        return
    for unit in np.flatnonzero(always & ~units.forced):
        of = units.parents.of(int(unit))
        if of.size and not (always[of].all() if units.strong else always[of].any()):
            raise ValueError(
                f"theta is 1 for {units.names[unit]!r}, which needs its parents: name it in "
                "always_include."
            )


def theta_rate(
    expected_size: float,
    n_units: int,
    parents: Parents | None,
    strong: bool,
    flat: _Integers = NO_UNITS,
) -> float:
    """Return b of theta ~ Beta(1, b) under which so many units are expected.

    Under weak heredity parents are taken to be in independently of each other, which those that
    have no parents themselves are. Flat units are always in, and do not count.
    """
    without = (n_units - flat.size) / expected_size - 1
    if parents is None or not _any_waits(n_units, parents, strong, flat):
        return without
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    quantiles, weights = (nodes + 1) / 2, weights / 2
    order = parents_first(n_units, parents)

    def missing(log_b: float) -> float:
        theta = -np.expm1(np.log1p(-quantiles) / np.exp(log_b))
        expected = _expected_size(theta, order, parents, strong, set(flat.tolist()))
        return float(weights @ expected) - expected_size

    high = np.log(without)  # with every unit free to come there would be too many
    low = high - 1.0
    while missing(low) < 0:
        low -= 1.0
    return float(np.exp(brentq(missing, low, high, xtol=1e-12)))


def _any_waits(n_units: int, parents: Parents, strong: bool, flat: _Integers) -> bool:
    """Whether a unit, not flat itself, needs parents that may be out."""
    if not flat.size:
        return True
    for unit in np.setdiff1d(np.arange(n_units), flat):
        there = np.isin(parents.of(int(unit)), flat)
        if there.size and not (there.all() if strong else there.any()):
            return True
    return False


def parents_first(n_units: int, parents: Parents) -> list[int]:
    """Return the units in an order in which all have their parents before them."""
    order: list[int] = []
    done = np.zeros(n_units, dtype=bool)
    while len(order) < n_units:
        ready = [u for u in range(n_units) if not done[u] and done[parents.of(u)].all()]
        done[ready] = True
        order.extend(ready)
    return order


def _expected_size(
    theta: _Floats, order: list[int], parents: Parents, strong: bool, flat: set[int]
) -> _Floats:
    """Return the expected number of units in, but for the flat ones, given each theta."""
    chosen = [unit for unit in order if unit not in flat]
    if strong:  # a unit is in if all that it needs are: one coin for each
        needs: dict[int, set[int]] = {unit: set() for unit in flat}
        for unit in chosen:
            needs[unit] = {unit}.union(*(needs[int(parent)] for parent in parents.of(unit)))
        counts = np.bincount([len(needs[unit]) for unit in chosen])
        return np.asarray(np.polynomial.polynomial.polyval(theta, counts))
    inside = np.ones((len(order), theta.size))
    for unit in chosen:
        of = parents.of(unit)
        none = np.prod(1 - inside[of], axis=0) if of.size else 0.0
        inside[unit] = theta * (1 - none)
    return np.asarray(inside[chosen].sum(axis=0))


def count_candidates(
    contains: Callable[[int], NDArray[np.bool_]],
    n_sets: int,
    free: _Integers,
    parents: Parents | None,
    strong: bool,
) -> _Integers:
    """Count the free units that may be in, for each of some sets.

    ``contains(unit)`` says which of the sets a unit is in.
    """
    counts = np.zeros(n_sets, dtype=np.int64)
    known: dict[int, NDArray[np.bool_]] = {}
    for unit in free.tolist():
        of = [] if parents is None else parents.of(unit).tolist()
        if not of:
            counts += 1
            continue
        for parent in of:
            if parent not in known:
                known[parent] = contains(parent)
        join = np.logical_and if strong else np.logical_or
        counts += join.reduce([known[parent] for parent in of])
    return counts
