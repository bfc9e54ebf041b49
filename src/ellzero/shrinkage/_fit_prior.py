"""Marginal maximum likelihood of a spike-and-slab prior."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize

from ellzero._normal_means.prior import check_positive, check_values
from ellzero._normal_means.rule import Floats
from ellzero.priors import BernoulliGaussian, BernoulliLaplace
from ellzero.shrinkage._binning import bin_values

__all__ = ["FittedPrior", "check_sample", "fit_prior", "noise_scale"]

_FAMILIES: dict[str, type[BernoulliGaussian] | type[BernoulliLaplace]] = {
    "bernoulli-gaussian": BernoulliGaussian,
    "bernoulli-laplace": BernoulliLaplace,
}
_WIDTH = 0.01  # of the cells of |y|, in units of its scale
_STARTS = [(0.02, 6.0), (0.1, 3.0), (0.4, 3.0), (0.4, 1.0)]  # theta, and sigma_beta over the noise


@dataclass(frozen=True)
class FittedPrior:
    """A prior fitted to observations.

    Attributes
    ----------
    prior : BernoulliGaussian or BernoulliLaplace
        With the parameters that maximise the marginal likelihood.
    sigma_e : float
        The noise's standard deviation, estimated or as given.
    log_likelihood : float
        The maximum, over all observations.
    """

    prior: BernoulliGaussian | BernoulliLaplace
    sigma_e: float
    log_likelihood: float


def check_sample(y: ArrayLike) -> Floats:
    """Return a sample of observations, or raise ValueError."""
    values = check_values("y", y)
    if values.ndim != 1 or len(values) < 2:
        raise ValueError(f"y must be a list of two numbers or more; got the shape {values.shape}.")
    if not values.any():
        raise ValueError("y must not be zero throughout.")
    top = float(np.abs(values).max())
    if not 1e-140 < top < 1e140:
        raise ValueError(f"y must be in other units: its largest absolute value is {top:.3g}.")
    return values


def noise_scale(y: Floats) -> float:
    """Return the noise's scale if most means are zero: the median of |y| over that of N(0, 1)."""
    scale = float(np.median(np.abs(y))) / 0.6744897501960817
    return scale if scale > 0 else float(np.sqrt(np.mean(y**2)))


def fit_prior(
    y: ArrayLike, family: str = "bernoulli-gaussian", *, sigma_e: float | None = None
) -> FittedPrior:
    r"""Fit a spike-and-slab prior to observations, by maximum marginal likelihood.

    .. math:: \max_{\theta, \sigma_\beta, (\sigma_e)} \sum_i \log m(y_i)

    The search works on cells of ``|y|`` a hundredth of the noise wide; two Newton steps on all
    observations remove what the cells left.

    Parameters
    ----------
    y : array-like of shape (n,)
        Observations ``y_i = beta_i + e_i``.
    family : "bernoulli-gaussian" or "bernoulli-laplace"
        Of the slab.
    sigma_e : float or None
        Standard deviation of the noise; estimated with the rest if not given.

    Returns
    -------
    FittedPrior
        The prior, the noise and the log-likelihood. The likelihood can have several maxima; four
        starts are tried.

    Examples
    --------
    >>> import numpy as np
    >>> from ellzero.shrinkage import fit_prior
    >>> rng = np.random.default_rng(0)
    >>> beta = np.where(rng.random(10_000) < 0.1, rng.normal(scale=4.0, size=10_000), 0.0)
    >>> fitted = fit_prior(beta + 0.5 * rng.normal(size=10_000))
    >>> round(fitted.prior.theta, 2), round(fitted.prior.sigma_beta, 1), round(fitted.sigma_e, 2)
    (0.1, 4.1, 0.5)
    """
    values = check_sample(y)
    if family not in _FAMILIES:
        raise ValueError(f"family must be one of {', '.join(_FAMILIES)}; got {family!r}.")
    make = _FAMILIES[family]
    if sigma_e is not None:
        sigma_e = check_positive("sigma_e", sigma_e)
    scale = sigma_e or noise_scale(values)
    known = 2 if sigma_e is not None else 3

    def likelihood(points: Floats, shares: Floats | None) -> Callable[[Floats], float]:
        def negative(parameters: Floats) -> float:
            theta = 1 / (1 + math.exp(-parameters[0]))
            noise = math.exp(parameters[2]) if known == 3 else 1.0
            prior = make(theta, math.exp(parameters[1]))
            logs = prior.log_marginal(points, sigma_e=noise)
            return -float(logs.mean() if shares is None else shares @ logs)

        return negative

    everything = np.abs(values) / scale
    objective = likelihood(*bin_values(everything, _WIDTH))
    bounds = [(-25.0, 25.0), (-7.0, 14.0), (-7.0, 3.0)][:known]
    fits = []
    for theta, ratio in _STARTS:
        start = np.array([math.log(theta / (1 - theta)), math.log(ratio), 0.0][:known])
        fits.append(
            optimize.minimize(
                objective,
                start,
                jac="3-point",
                method="L-BFGS-B",
                bounds=bounds,
                options={"ftol": 1e-14, "gtol": 1e-8},
            )
        )
    found = min(fits, key=lambda fit: float(fit.fun)).x
    exact = likelihood(everything, None)
    found, least = _polish(objective, exact, found, bounds)
    theta = 1 / (1 + math.exp(-found[0]))
    noise = math.exp(found[2]) * scale if known == 3 else scale
    log_likelihood = -len(values) * (least + math.log(scale))
    return FittedPrior(make(theta, math.exp(found[1]) * scale), noise, log_likelihood)


def _polish(
    binned: Callable[[Floats], float],
    exact: Callable[[Floats], float],
    at: Floats,
    bounds: list[tuple[float, float]],
) -> tuple[Floats, float]:
    """Take Newton steps on all observations, with the Hessian of the cells."""
    least = exact(at)
    low, high = np.array(bounds).T
    if ((at <= low + 0.1) | (at >= high - 0.1)).any():
        return at, least  # at an end of the range: no sign of a slab, say
    hessian = _hessian(binned, at)
    if np.linalg.eigvalsh(hessian)[0] <= 0:
        return at, least
    for _ in range(2):
        gradient = np.array(
            [(exact(at + h) - exact(at - h)) / 2e-4 for h in 1e-4 * np.eye(len(at))]
        )
        following = np.clip(at - np.linalg.solve(hessian, gradient), low, high)
        value = exact(following)
        if not value < least:
            break
        at, least = following, value
    return at, least


def _hessian(function: Callable[[Floats], float], at: Floats) -> Floats:
    h = 1e-3
    units = h * np.eye(len(at))
    out = np.empty((len(at), len(at)))
    for i, a in enumerate(units):
        for j, b in enumerate(units):
            corners = function(at + a + b) - function(at + a - b) - function(at - a + b)
            out[i, j] = (corners + function(at - a - b)) / (4 * h * h)
    return (out + out.T) / 2
