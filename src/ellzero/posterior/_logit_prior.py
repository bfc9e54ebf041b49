"""From the parameters of a spike-and-slab classifier to the prior that the core samples under."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln

from ellzero import _core
from ellzero._columns import column_name
from ellzero.posterior._prior import check_sigma, expected_size_of, resolve_theta
from ellzero.posterior._unit_prior import multiply_odds, refuse_orphans, resolve_unit_theta
from ellzero.regression._units import Units

__all__ = [
    "LogitSettings",
    "check_logit_settings",
    "check_unit_settings",
    "log_prior_constant",
    "make_logit_prior",
    "unit_log_odds",
]

# The intercept's, in log-odds: from .00005 to .99995 within one standard deviation.
_INTERCEPT_SD = 10.0
# sigma_beta^2 / n ~ InvGamma(_SHAPE, _RATE / (m (1 - m))), m the share of ones: of mean 4 where
# classes are balanced, that of a log-odds ratio per standard deviation of a column of about 2, and
# more where one is rare, since a row tells less there. With shape 2 a coefficient is Student's t
# with 4 degrees of freedom before the data, so that it has a variance after them whatever they are:
# also where classes are separated and the likelihood does not fall off. The rate was chosen on
# simulated tables with nothing in them: one half of it finds too much there.
_SHAPE, _RATE = 2.0, 1.0
_LEAST_SIGMA, _GREATEST_SIGMA = 1e-5, 1e5


class LogitSettings(NamedTuple):
    """What the user said, checked."""

    theta: NDArray[np.float64] | None  # by column; None if it is learned
    sigma_beta: float | None  # None if learned
    expected_size: float


def check_logit_settings(
    theta: Any, sigma_beta: Any, expected_size: Any, n_columns: int, names: Any
) -> LogitSettings:
    """Check the parameters of the prior."""
    size = expected_size_of(expected_size, n_columns, "selection")
    sigma = check_sigma("sigma_beta", sigma_beta)
    if sigma is not None and not _LEAST_SIGMA <= sigma <= _GREATEST_SIGMA:
        raise ValueError(
            f"sigma_beta must be between {_LEAST_SIGMA:g} and {_GREATEST_SIGMA:g}; got {sigma:g}."
        )
    return LogitSettings(resolve_theta(theta, n_columns, names, size / n_columns), sigma, size)


def check_unit_settings(estimator: Any, units: Units, names: Any) -> LogitSettings:
    """Check the parameters of a prior over groups; theta is by unit."""
    size = expected_size_of(estimator.expected_size, units.count, "selection", "groups")
    known = check_logit_settings("learn", estimator.sigma_beta, None, 1, None)
    theta = resolve_unit_theta(estimator.theta, units, names, size / units.count)
    if theta is not None and units.price is not None:
        theta = multiply_odds(theta, units.price)
    return LogitSettings(theta, known.sigma_beta, size)


def unit_log_odds(theta: NDArray[np.float64] | None, units: Units) -> NDArray[np.float64]:
    """Return the log-odds of every unit: zero if theta is learned, infinite if it is always in."""
    log_odds = np.zeros(units.count)
    if theta is not None:
        with np.errstate(divide="ignore"):
            log_odds = np.log(theta) - np.log1p(-theta)
        refuse_orphans(units, np.isposinf(log_odds))
    contrary = units.forced_units[log_odds[units.forced_units] == -np.inf]
    if contrary.size:
        raise ValueError(
            f"always_include names {units.names[contrary[0]]!r}, but theta is 0 there."
        )
    log_odds[units.forced_units] = np.inf
    return log_odds


def make_logit_prior(
    design: _core.Quadratic,
    settings: LogitSettings,
    forced: NDArray[np.int64],
    names: Any,
    share: float,
) -> _core.LogitPrior:
    """Make the core's prior, for columns of unit norm and that share of ones."""
    prior = _core.LogitPrior()
    variance = _core.Variance()
    variance.learned = settings.sigma_beta is None
    if settings.sigma_beta is None:
        variance.shape, variance.rate = _SHAPE, _RATE * design.weight / (share * (1 - share))
        variance.value = variance.rate / (_SHAPE + 1)
    else:
        variance.value = settings.sigma_beta**2
    prior.slab_variance = variance
    prior.intercept_precision = _INTERCEPT_SD**-2
    log_odds = np.zeros(design.columns)
    if settings.theta is None:
        prior.learn_theta = True
        prior.theta_a, prior.theta_b = 1.0, design.columns / settings.expected_size - 1
    else:
        with np.errstate(divide="ignore"):
            log_odds = np.log(settings.theta) - np.log1p(-settings.theta)
    contrary = forced[log_odds[forced] == -np.inf]
    if contrary.size:
        raise ValueError(
            f"always_include names column {column_name(int(contrary[0]), names)!r}, but theta is 0 "
            "there."
        )
    log_odds[forced] = np.inf
    prior.log_odds = log_odds.tolist()
    return prior


def log_prior_constant(
    prior: _core.LogitPrior, settings: LogitSettings, free: NDArray[np.int64]
) -> float:
    """Return what the core leaves out of the log mass of models before the data."""
    if settings.theta is not None:
        return float(np.log1p(-settings.theta[free]).sum())
    a, b = prior.theta_a, prior.theta_b
    return -float(betaln(a, b) + gammaln(a + b + free.size))
