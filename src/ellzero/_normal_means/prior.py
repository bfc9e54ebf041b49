"""What every prior offers in the normal means problem."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ellzero._normal_means.root import invert_increasing
from ellzero._normal_means.rule import Floats, Rule

__all__ = ["NormalMeansPrior", "check_positive", "check_values"]

_BLOCK = 8192  # observations at a time, so that what is computed on the way stays in the cache


def check_positive(name: str, value: float) -> float:
    """Return a positive number as a float, or raise ValueError."""
    if not (isinstance(value, Real) and 0 < value < 1e150):
        raise ValueError(f"{name} must be a positive finite number; got {value!r}.")
    return float(value)


def check_values(name: str, values: ArrayLike) -> Floats:
    """Return an array of finite float64 numbers, or raise ValueError."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold real numbers; got {values!r}.") from None
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must hold finite numbers; it has NaN or infinity.")
    return array


class NormalMeansPrior(ABC):
    r"""A prior on beta, and what it makes of an observation of it.

    .. math:: y \mid \beta \sim N(\beta, \sigma_e^2), \qquad \beta \sim p,
              \qquad m(y) = \int N(y; \beta, \sigma_e^2)\, p(\beta)\, d\beta

    All methods take an array of any shape, in the units of y, and the noise's standard deviation as
    a keyword, and return an array of that shape (a number for a number).
    """

    @abstractmethod
    def _rule(self, sigma_e: float) -> Rule:
        """Return the prior in units of the noise."""

    def _in_units(
        self,
        sigma_e: float,
        y: ArrayLike,
        evaluate: Callable[[Rule, Floats], Floats],
        *,
        power: int = 0,
        odd: bool = False,
        name: str = "y",
    ) -> Any:
        """Evaluate on ``y / sigma_e``, of a symmetric prior at its absolute value.

        The result is of a unit that is this power of y's.
        """
        noise = check_positive("sigma_e", sigma_e)
        values = check_values(name, y)
        rule = self._rule(noise)
        flat = values.ravel()
        if flat.size and not max(flat.max(), -flat.min()) < 1e30 * noise:
            raise ValueError(f"{name} is too large beside sigma_e.")
        out = np.empty_like(flat)
        for begin in range(0, len(flat), _BLOCK):
            u = flat[begin : begin + _BLOCK] / noise
            part = evaluate(rule, np.abs(u) if rule.symmetric else u)
            if rule.symmetric and odd:
                part = np.copysign(part, u)
            out[begin : begin + _BLOCK] = part * noise**power if power else part
        return out.reshape(values.shape)[()]

    def log_marginal(self, y: ArrayLike, *, sigma_e: float = 1.0) -> Any:
        r"""Log of the marginal density of y, :math:`\log m(y)`.

        Parameters
        ----------
        y : array-like
            Observations.
        sigma_e : float
            Standard deviation of the noise.

        Returns
        -------
        ndarray or float
            In log of one over the units of y.
        """
        shift = np.log(check_positive("sigma_e", sigma_e))
        return self._in_units(sigma_e, y, lambda rule, u: rule.log_density(u) - shift)

    def score(self, y: ArrayLike, *, sigma_e: float = 1.0) -> Any:
        r"""Score: the derivative of the log marginal density, :math:`(\log m)'(y)`.

        Parameters
        ----------
        y : array-like
            Observations.
        sigma_e : float
            Standard deviation of the noise.

        Returns
        -------
        ndarray or float
            In one over the units of y.
        """
        shrinkage = self._in_units(
            sigma_e, y, lambda rule, u: rule.terms(u).shrinkage, power=-1, odd=True
        )
        return 0.0 - shrinkage

    def posterior_mean(self, y: ArrayLike, *, sigma_e: float = 1.0) -> Any:
        r"""Posterior mean, by Tweedie's formula :math:`y + \sigma_e^2 (\log m)'(y)`.

        Parameters
        ----------
        y : array-like
            Observations.
        sigma_e : float
            Standard deviation of the noise.

        Returns
        -------
        ndarray or float
            In the units of y. Increasing in y.
        """
        return self._in_units(sigma_e, y, lambda rule, u: rule.terms(u).mean, power=1, odd=True)

    def posterior_variance(self, y: ArrayLike, *, sigma_e: float = 1.0) -> Any:
        r"""Posterior variance, :math:`\sigma_e^2 (1 + \sigma_e^2 (\log m)''(y))`.

        Parameters
        ----------
        y : array-like
            Observations.
        sigma_e : float
            Standard deviation of the noise.

        Returns
        -------
        ndarray or float
            In squared units of y.
        """
        return self._in_units(sigma_e, y, lambda rule, u: rule.variance(u), power=2)

    def posterior_mean_inverse(self, z: ArrayLike, *, sigma_e: float = 1.0) -> Any:
        """Return the observation whose posterior mean is z.

        Parameters
        ----------
        z : array-like
            Posterior means.
        sigma_e : float
            Standard deviation of the noise.

        Returns
        -------
        ndarray or float
            In the units of y; NaN where no observation has this posterior mean.
        """
        return self._in_units(sigma_e, z, _inverse, power=1, odd=True, name="z")

    def penalty(self, z: ArrayLike, *, sigma_e: float = 1.0) -> Any:
        r"""Penalty whose regularised solution is the posterior mean.

        The :math:`\phi` with

        .. math:: E[\beta \mid y] = \arg\min_z \frac{(y - z)^2}{2 \sigma_e^2} + \phi(z),
                  \qquad \phi(0) = 0,

        that is :math:`-(y - z)^2 / (2 \sigma_e^2) - \log m(y)`, up to a constant, at the y whose
        posterior mean is z (Gribonval 2011). Its Moreau envelope is :math:`-\log m`, up to a
        constant.

        Parameters
        ----------
        z : array-like
            Where to evaluate it.
        sigma_e : float
            Standard deviation of the noise.

        Returns
        -------
        ndarray or float
            Without a unit; infinite where no observation has the posterior mean z.
        """

        def evaluate(rule: Rule, v: Floats) -> Floats:
            if not rule.low < 0 < rule.high:
                raise ValueError(
                    "penalty: zero has to be inside the range of the posterior mean, and is not."
                )
            out = np.full_like(v, np.inf)
            u = _inverse(rule, v)
            known = np.isfinite(u)
            origin = 0.0 if rule.symmetric else float(_inverse(rule, np.zeros(1))[0])
            out[known] = rule.penalty(u[known], origin)
            return out

        return self._in_units(sigma_e, z, evaluate, name="z")

    def penalty_derivative(self, z: ArrayLike, *, sigma_e: float = 1.0) -> Any:
        r"""Slope of the penalty: :math:`\phi'(z) = -(\log m)'(y)` at the y of posterior mean z.

        Parameters
        ----------
        z : array-like
            Where to evaluate it.
        sigma_e : float
            Standard deviation of the noise.

        Returns
        -------
        ndarray or float
            In one over the units of y; NaN where the penalty is infinite.
        """

        def evaluate(rule: Rule, v: Floats) -> Floats:
            out = np.full_like(v, np.nan)
            u = _inverse(rule, v)
            known = np.isfinite(u)
            out[known] = rule.terms(u[known]).shrinkage
            return out

        return self._in_units(sigma_e, z, evaluate, power=-1, odd=True, name="z")

    def bayes_risk(self, *, sigma_e: float = 1.0) -> float:
        r"""Mean squared error of the posterior mean over the prior.

        :math:`\sigma_e^2 (1 - \sigma_e^2 I(m))`, I the Fisher information of the marginal; computed
        as the mean of the posterior variance, which does not cancel.

        Parameters
        ----------
        sigma_e : float
            Standard deviation of the noise.

        Returns
        -------
        float
            In squared units of y. No estimator has a smaller one.
        """
        noise = check_positive("sigma_e", sigma_e)
        return self._rule(noise).bayes_risk() * noise**2


def _inverse(rule: Rule, z: Floats) -> Floats:
    """Return the u with posterior mean z, NaN outside the range of the posterior mean."""
    inside = (z > rule.low) & (z < rule.high)
    out = np.full_like(z, np.nan)
    if rule.symmetric:
        out[z == 0] = 0.0
        inside &= z != 0
    target = z[inside]

    def mean_and_slope(u: Floats) -> tuple[Floats, Floats]:
        return rule.terms(u).mean, rule.variance(u)

    # Of a symmetric prior with its mode at zero u lies beyond z.
    out[inside] = invert_increasing(
        mean_and_slope, target, target, target if rule.symmetric else None
    )
    return out
