"""Draws from the prior of a spike-and-slab classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero._columns import resolve_columns
from ellzero._engine import make_columns, make_design_on, thread_count
from ellzero.posterior._counts import count_rows
from ellzero.posterior._draws import PosteriorDraws, groups_of
from ellzero.posterior._logit_prior import (
    check_logit_settings,
    check_unit_settings,
    make_logit_prior,
    unit_log_odds,
)
from ellzero.posterior._model_prior import ModelPrior
from ellzero.posterior._prior_draws import UnitColumns, draw_spike_slab
from ellzero.posterior._unit_prior import theta_rate, units_of

__all__ = ["draw_classifier_prior"]

_Floats = NDArray[np.float64]


def draw_classifier_prior(
    estimator: Any,
    X: Any,
    y: _Floats,
    sample_weight: _Floats | None,
    n_draws: int,
    rng: np.random.Generator,
) -> PosteriorDraws:
    """Draw coefficients, intercepts and hyperparameters; y is of zeros and ones."""
    names, p = getattr(estimator, "feature_names_in_", None), X.shape[1]
    units = units_of(estimator, p, names)
    table, counts, successes = count_rows(X, y, sample_weight)
    columns = make_columns(table)
    design = make_design_on(
        columns, successes / counts, counts, estimator.fit_intercept, thread_count()
    )
    mean = float(successes.sum() / counts.sum())
    nothing = np.empty(0, dtype=np.int64)
    if units is None:
        settings = check_logit_settings(
            estimator.theta, estimator.sigma_beta, estimator.expected_size, p, names
        )
        forced = resolve_columns("always_include", estimator.always_include, p, names)
        prior = make_logit_prior(design, settings, forced, names, mean)
        log_odds, groups = np.array(prior.log_odds), [np.array([j]) for j in range(p)]
        b = prior.theta_b
    else:
        settings = check_unit_settings(estimator, units, names)
        given = None if settings.theta is None else np.full(p, 0.5)
        prior = make_logit_prior(design, settings._replace(theta=given), nothing, names, mean)
        log_odds, groups = unit_log_odds(settings.theta, units), units.columns
        b = prior.theta_b
        if settings.theta is None:
            b = theta_rate(settings.expected_size, units.count, units.parents, units.strong)
    alive = np.array([bool((design.inverse_scale[own] > 0).any()) for own in groups])
    models = ModelPrior(
        count=len(groups),
        free=np.flatnonzero(np.isfinite(log_odds) & alive),
        always=np.flatnonzero(np.isposinf(log_odds) & alive),
        forced=np.flatnonzero(np.isposinf(log_odds)),
        theta=settings.theta,
        a=1.0,
        b=b,
        parents=None if units is None else units.parents,
        strong=False if units is None else units.strong,
    )
    own = UnitColumns(design, groups, None)
    coef, spread, theta = draw_spike_slab(prior, "gaussian", models, own, 1.0, n_draws, rng)
    intercept = np.zeros((1, n_draws))
    if estimator.fit_intercept:
        intercept = rng.standard_normal((1, n_draws)) / np.sqrt(prior.intercept_precision)
        intercept = intercept - np.asarray(coef @ design.mean).reshape(1, n_draws)
    return PosteriorDraws(
        coef=coef,
        intercept=intercept,
        sigma_beta=None if spread is None else np.sqrt(spread)[None, :],
        theta=None if theta is None else theta[None, :],
        groups=None if units is None else groups_of(coef, units.home),
    )
