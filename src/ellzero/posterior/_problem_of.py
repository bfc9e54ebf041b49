"""From what users say of a spike-and-slab regression to the posterior that is computed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero._columns import resolve_columns
from ellzero.posterior._flat import resolve_flat
from ellzero.posterior._prior import (
    PriorSettings,
    check_ratio,
    check_scaled_ratio,
    check_sigma,
    expected_size_of,
    resolve_slab_scale,
    resolve_theta,
)
from ellzero.posterior._problems import ColumnProblem, make_problem
from ellzero.posterior._student import check_noise, make_student_problem
from ellzero.posterior._unit_prior import multiply_odds, resolve_unit_theta, units_of
from ellzero.regression._units import Units

__all__ = ["problem_of"]


def problem_of(
    estimator: Any, X: Any, y: NDArray[np.float64], sample_weight: NDArray[np.float64] | None
) -> tuple[ColumnProblem, PriorSettings, NDArray[np.int64]]:
    """Return the posterior to compute, what the user said of it, and the units always in."""
    names = getattr(estimator, "feature_names_in_", None)
    units = units_of(estimator, X.shape[1], names)
    df = check_noise(estimator, units)
    flat = resolve_flat(estimator.flat, estimator.always_include, X.shape[1], names, units)
    settings = _settings(estimator, X.shape[1], names, units, flat)
    if estimator.n_jobs == 0:
        raise ValueError("n_jobs must not be 0.")
    if units is None:
        forced = resolve_columns("always_include", estimator.always_include, X.shape[1], names)
    else:
        forced = units.forced_units
    if estimator.noise == "student":
        student = make_student_problem(estimator, X, y, sample_weight, settings, df, forced, names)
        return student, settings, forced
    design = estimator._make_design(X, y, sample_weight)
    problem = make_problem(
        design,
        settings,
        units,
        forced,
        fit_intercept=estimator.fit_intercept,
        names=names,
        flat=flat,
    )
    return problem, settings, forced


def _settings(
    estimator: Any,
    n_columns: int,
    names: Any,
    units: Units | None,
    flat: NDArray[np.int64],
) -> PriorSettings:
    count = (n_columns if units is None else units.count) - flat.size
    what = ("columns of X" if units is None else "groups") + (" not flat" if flat.size else "")
    size = expected_size_of(estimator.expected_size, count, estimator.scale_prior, what)
    sigma_beta, sigma_e = (check_sigma(n, getattr(estimator, n)) for n in ("sigma_beta", "sigma_e"))
    if sigma_beta is not None and estimator.slab in ("zellner", "boom"):
        raise ValueError(f"sigma_beta is not part of slab={estimator.slab!r}; leave it out.")
    if estimator.scale_prior != "selection":
        if estimator.slab in ("zellner", "boom"):
            raise ValueError(f"scale_prior is not part of slab={estimator.slab!r}; leave it out.")
        if sigma_beta is not None:
            raise ValueError(f"sigma_beta={sigma_beta:g} is given: scale_prior has no use.")
    check_ratio(sigma_e, sigma_beta)
    if estimator.g is not None and estimator.slab != "zellner":
        raise ValueError(f'g is for slab="zellner" only; got slab={estimator.slab!r}.')
    if estimator.g is not None and not 1e-9 < float(estimator.g) < 1e15:
        raise ValueError(f"g must be between 1e-9 and 1e15; got {estimator.g!r}.")
    if units is None:
        theta = resolve_theta(estimator.theta, n_columns, names, size / count)
    else:
        theta = resolve_unit_theta(estimator.theta, units, names, size / count)
        if theta is not None and units.price is not None:
            theta = multiply_odds(theta, units.price)
    g = None if estimator.g is None else float(estimator.g)
    scale = resolve_slab_scale(estimator.slab_scale, estimator.slab, n_columns, names, units, flat)
    check_scaled_ratio(sigma_e, sigma_beta, scale)
    return PriorSettings(
        theta, sigma_beta, sigma_e, size, estimator.slab, g, estimator.scale_prior, scale
    )
