"""The most probable model, coefficients integrated out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero._certificate import Certificate
from ellzero._columns import resolve_columns
from ellzero._engine import make_design, make_engine, thread_count
from ellzero._sklearn import check_parameters, check_table
from ellzero.posterior._flat import resolve_flat, take_out
from ellzero.posterior._modes import find_modes
from ellzero.posterior._prior import (
    PriorSettings,
    check_ratio,
    check_scaled_ratio,
    check_sigma,
    make_prior,
    resolve_slab_scale,
)
from ellzero.posterior._starts import make_supports, ridge_of
from ellzero.priors import BernoulliGaussian

__all__ = ["MarginalMap", "marginal_map"]

_FRONTIER_SIZE = 20
_PARAMETERS: dict[str, list[Any]] = {
    "prior": [BernoulliGaussian],
    "always_include": ["array-like", str, set, None],
    "flat": ["array-like", str, set, None],
    "slab_scale": ["array-like", Mapping, None],
    "fit_intercept": ["boolean"],
}


@dataclass(frozen=True)
class MarginalMap:
    """The most probable model that was found.

    Attributes
    ----------
    support : ndarray of int
        Sorted indices of the columns in the model, flat ones among them.
    coef : ndarray of shape (p,)
        Posterior mean of the coefficients given the model, in units of y per unit of the column.
    intercept : float
        In units of y.
    log_posterior : float
        ``log p(S | y)`` up to a constant that is the same for all models of these data and prior.
    certificate : Certificate
        What is known about the model.
    """

    support: NDArray[np.int64]
    coef: NDArray[np.float64]
    intercept: float
    log_posterior: float
    certificate: Certificate


def marginal_map(
    X: Any,
    y: Any,
    prior: BernoulliGaussian,
    sigma_e: float,
    *,
    sample_weight: Any = None,
    always_include: Any = None,
    flat: Any = None,
    slab_scale: Any = None,
    fit_intercept: bool = True,
) -> MarginalMap:
    r"""Find the mode of ``p(gamma | y)``: the most probable model.

    Under the spike-and-slab prior with sigma_e given,

    .. math:: \log p(\gamma \mid y) = |\gamma| \log\frac{\theta}{1 - \theta}
              + \tfrac12 \log\det(\tau I) - \tfrac12 \log\det(X_\gamma'X_\gamma + \tau I)
              - E(\gamma) / \sigma_e^2

    with :math:`\tau = \sigma_e^2 / \sigma_\beta^2` and E the energy
    :math:`\min \tfrac12 |y - X_\gamma b|^2 + \tfrac12 \tau |b|^2`. The paper's MAP, which
    :class:`ellzero.L0Regressor` finds, is the joint mode of gamma and the coefficients: it leaves
    out the determinants, and so the slab's normalising constant. A wide slab makes no difference to
    the joint mode, and a smaller model of the marginal one.

    The search flips or swaps the variables that raise ``p(gamma | y)`` most until none does, from
    the empty model and from the frontier's models of 1 to 20 variables; then from what it found,
    with each of its variables left out in turn.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p)
        The columns to choose from; centred and scaled to unit l2 norm inside.
    y : array-like of shape (n,)
        The response.
    prior : BernoulliGaussian
        The prior; any theta. ``sigma_beta`` is for columns of unit l2 norm and at most 1e5 times
        ``sigma_e``: for ever wider slabs the mode is the empty model.
    sigma_e : float
        Standard deviation of the noise, in units of y.
    sample_weight : array-like of shape (n,), default=None
        Frequency weights, not negative.
    always_include : sequence of names, integers, or mask, default=None
        Columns that are in every model.
    flat : sequence of names, integers, or mask, default=None
        Columns that are in every model under a flat prior, like the intercept: y and the other
        columns are what these leave of them, but ``sigma_beta`` is for columns of unit l2 norm as
        they are. :class:`SpikeSlabRegressor` has the same.
    slab_scale : array of shape (p,), mapping or Series, default=None
        What ``sigma_beta`` is multiplied by for each column: from .001 to 1000; 1 for columns that
        a mapping leaves out.
    fit_intercept : bool, default=True
        Whether to centre y and the columns of X and to fit an intercept.

    Returns
    -------
    MarginalMap
        The best model found.

    Examples
    --------
    >>> from ellzero import BernoulliGaussian, marginal_map
    >>> from ellzero.datasets import load_diabetes_interactions
    >>> diabetes = load_diabetes_interactions()
    >>> best = marginal_map(
    ...     diabetes.data, diabetes.target, BernoulliGaussian(0.1, 500.0), sigma_e=54.0
    ... )
    >>> [diabetes.feature_names[j] for j in best.support]
    ['sex', 'bmi', 'map', 'hdl', 'ltg', 'age:sex', 'bmi:map']
    """
    check_parameters(
        "marginal_map",
        _PARAMETERS,
        prior=prior,
        always_include=always_include,
        flat=flat,
        slab_scale=slab_scale,
        fit_intercept=fit_intercept,
    )
    sigma_beta = check_sigma("sigma_beta", prior.sigma_beta)
    noise = _check_noise(sigma_e)
    check_ratio(noise, sigma_beta)
    table, response, weights, names = check_table(
        "marginal_map", X, y, sample_weight, statistics=True
    )
    n_columns = table.shape[1]
    forced = resolve_columns("always_include", always_include, n_columns, names)
    threads = thread_count()
    design = make_design(table, response, weights, fit_intercept, threads)
    theta = np.full(n_columns, float(prior.theta))
    unchosen = resolve_flat(flat, always_include, n_columns, names)
    scale = resolve_slab_scale(slab_scale, "gaussian", n_columns, names, None, unchosen)
    check_scaled_ratio(noise, sigma_beta, scale)
    settings = PriorSettings(theta, sigma_beta, noise, 1.0, "gaussian", None, "selection", scale)
    terms = None
    if unchosen.size:
        terms = take_out(design, unchosen, None, fit_intercept=fit_intercept)
        design = terms.design
    compiled = make_prior(
        design, settings, forced, fit_intercept=fit_intercept, names=names, flat=terms
    )
    ridge = ridge_of(compiled)
    starts = make_supports(design, ridge, forced, _FRONTIER_SIZE, threads)
    best = find_modes(design, compiled, [[], *starts], threads)[0]
    support, log_posterior = best.support, best.log_posterior

    engine = make_engine(design, ridge, threads)
    engine.move_to(support)
    solved = engine.solution()
    coef = np.zeros(n_columns)
    coef[solved.support] = solved.beta * solved.inverse_scale
    if terms is not None:
        coef = terms.complete(coef)
        support = np.union1d(support, terms.columns)
    certificate = Certificate.of_search(effect="raises p(gamma | y)")
    return MarginalMap(
        support=support,
        coef=coef,
        intercept=design.mean_y - float(design.mean @ coef),
        log_posterior=log_posterior,
        certificate=certificate.with_objective(log_posterior),
    )


def _check_noise(sigma_e: Any) -> float:
    try:
        checked = check_sigma("sigma_e", sigma_e)
    except TypeError:
        checked = None
    if checked is None:
        raise ValueError(f"sigma_e must be a number between 1e-120 and 1e120; got {sigma_e!r}.")
    return checked
