"""Priors on a coefficient, each one class for the whole library."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_X_y

__all__ = ["BernoulliGaussian"]


def _check_positive(name: str, value: float) -> float:
    if not (isinstance(value, Real) and 0 < value < 1e150):
        raise ValueError(f"{name} must be a positive finite number; got {value!r}.")
    return float(value)


@dataclass(frozen=True)
class BernoulliGaussian:
    r"""The spike-and-slab prior: zero, or Gaussian.

    .. math:: \beta_i \sim (1 - \theta)\, \delta_0 + \theta\, N(0, \sigma_\beta^2)

    Under ``y = X beta + e`` with ``e ~ N(0, sigma_e^2 I)`` and beta written as ``gamma * alpha``
    (an indicator times a slab value), the mode of the joint posterior of ``(gamma, alpha)``
    minimises the l0-regularised objective

    .. math:: \tfrac12 \|y - X\beta\|^2 + \tfrac12\, \mathrm{ridge}\, \|\beta\|^2
              + \mathrm{lam}\, \|\beta\|_0

    with ``lam = sigma_e^2 log((1 - theta) / theta)`` and ``ridge = sigma_e^2 / sigma_beta^2``
    (Polson and Sun, Section 2). This joint mode ignores the slab's normalising constant; the mode
    of ``p(gamma | y)``, with the coefficients integrated out, is another estimator.

    Parameters
    ----------
    theta : float
        Prior probability that a coefficient is not zero, strictly between 0 and 1.
    sigma_beta : float
        Standard deviation of the slab, in units of the coefficients of unit-l2-norm columns.
        ``inf`` means a flat slab: no ridge.

    Examples
    --------
    >>> from ellzero import BernoulliGaussian
    >>> prior = BernoulliGaussian(theta=0.1, sigma_beta=2.0)
    >>> round(prior.lam(sigma_e=1.0), 4), prior.ridge(sigma_e=1.0)
    (2.1972, 0.25)
    """

    theta: float
    sigma_beta: float

    def __post_init__(self) -> None:
        if not (isinstance(self.theta, Real) and 0 < self.theta < 1):
            raise ValueError(f"theta must be strictly between 0 and 1; got {self.theta!r}.")
        wide = isinstance(self.sigma_beta, Real) and self.sigma_beta == math.inf
        if not (wide or (isinstance(self.sigma_beta, Real) and 1e-150 < self.sigma_beta < 1e300)):
            raise ValueError(f"sigma_beta must be positive (inf allowed); got {self.sigma_beta!r}.")

    def lam(self, sigma_e: float) -> float:
        """Penalty of each variable: ``sigma_e^2 log((1 - theta) / theta)``.

        Parameters
        ----------
        sigma_e : float
            Standard deviation of the noise, in the units of y.

        Returns
        -------
        float
            On the ``1/2 RSS + lam * k`` scale, in squared units of y.

        Raises
        ------
        ValueError
            If ``theta >= 1/2``: the prior then favours inclusion and there is no l0 penalty.

        Examples
        --------
        >>> BernoulliGaussian(0.5, 1.0).lam(1.0)
        Traceback (most recent call last):
        ...
        ValueError: theta must be below 1/2 for the joint MAP to have an l0 penalty; got 0.5.
        """
        sigma_e = _check_positive("sigma_e", sigma_e)
        if self.theta >= 0.5:
            raise ValueError(
                "theta must be below 1/2 for the joint MAP to have an l0 penalty; "
                f"got {self.theta!r}."
            )
        return sigma_e**2 * (math.log1p(-self.theta) - math.log(self.theta))

    def ridge(self, sigma_e: float) -> float:
        """Ridge penalty: ``sigma_e^2 / sigma_beta^2``, zero for a flat slab.

        Parameters
        ----------
        sigma_e : float
            Standard deviation of the noise, in the units of y.

        Returns
        -------
        float
            For columns of unit l2 norm.

        Examples
        --------
        >>> BernoulliGaussian(0.1, float("inf")).ridge(1.0)
        0.0
        """
        ratio = _check_positive("sigma_e", sigma_e) / float(self.sigma_beta)
        if ratio > 1e150:
            raise ValueError(
                f"sigma_beta is too small beside sigma_e: {self.sigma_beta!r} against {sigma_e!r}."
            )
        return ratio**2

    def map_objective(self, X: ArrayLike, y: ArrayLike, beta: ArrayLike, sigma_e: float) -> float:
        """Negative log of the joint posterior at ``beta``, times ``sigma_e^2``, up to a constant.

        ``1/2 |y - X beta|^2 + 1/2 ridge |beta|^2 + lam |beta|_0``: half the paper's MAP objective.
        X and y are taken as they are: nothing is centred or scaled.

        Parameters
        ----------
        X : array-like of shape (n, p)
            The design, with columns of unit l2 norm if ``sigma_beta`` is to mean what it says.
        y : array-like of shape (n,)
            The response.
        beta : array-like of shape (p,)
            Coefficients.
        sigma_e : float
            Standard deviation of the noise, in the units of y.

        Returns
        -------
        float
            The objective, in squared units of y.

        Examples
        --------
        >>> prior = BernoulliGaussian(0.1, 2.0)
        >>> round(prior.map_objective([[1.0], [0.0]], [3.0, 1.0], [2.0], sigma_e=1.0), 4)
        3.6972
        """
        design, response = check_X_y(X, y, dtype=np.float64, y_numeric=True)
        coefficients = check_array(beta, dtype=np.float64, ensure_2d=False, input_name="beta")
        if coefficients.shape != design.shape[1:]:
            raise ValueError(f"beta must have shape {design.shape[1:]}; got {coefficients.shape}.")
        residual = response - design @ coefficients
        penalty = self.lam(sigma_e) * np.count_nonzero(coefficients)
        shrinkage = 0.5 * self.ridge(sigma_e) * (coefficients @ coefficients)
        return float(0.5 * (residual @ residual) + shrinkage + penalty)
