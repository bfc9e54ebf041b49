"""Priors on a coefficient, each one class for the whole library."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_X_y

from ellzero._normal_means import NormalMeansPrior
from ellzero._normal_means import check_positive as _check_positive
from ellzero._normal_means.components import Component, Laplace, Normal, PointMass
from ellzero._normal_means.spike_and_slab import SpikeAndSlab

__all__ = ["BernoulliGaussian", "BernoulliLaplace"]


def check_theta(theta: float) -> None:
    if not (isinstance(theta, Real) and 0 < theta < 1):
        raise ValueError(f"theta must be strictly between 0 and 1; got {theta!r}.")


def in_noise(name: str, scale: float, sigma_e: float) -> float:
    """Return a scale in units of the noise."""
    ratio = float(scale) / sigma_e
    if not 1e-20 < ratio < 1e20:
        raise ValueError(
            f"{name} must be finite and within 20 orders of magnitude of sigma_e for the posterior "
            f"of a normal mean; got {scale!r} and {sigma_e!r}."
        )
    return ratio


class TwoGroups(NormalMeansPrior):
    """A prior with an indicator: spike or slab."""

    theta: float

    @abstractmethod
    def _components(self, sigma_e: float) -> tuple[Component, Component]:
        """Return spike and slab in units of the noise."""

    def _rule(self, sigma_e: float) -> SpikeAndSlab:
        return SpikeAndSlab(float(self.theta), *self._components(sigma_e))

    def inclusion_probability(self, y: ArrayLike, *, sigma_e: float = 1.0) -> Any:
        """Posterior probability that beta comes from the slab.

        Parameters
        ----------
        y : array-like
            Observations.
        sigma_e : float
            Standard deviation of the noise.

        Returns
        -------
        ndarray or float
            Increasing in the absolute value of y.

        Examples
        --------
        >>> from ellzero import BernoulliGaussian
        >>> BernoulliGaussian(0.1, 3.0).inclusion_probability([0.0, 2.0, 4.0]).round(3)
        array([0.034, 0.175, 0.979])
        """
        return self._in_units(sigma_e, y, lambda rule, u: cast(SpikeAndSlab, rule).inclusion(u))

    def mode(self, y: ArrayLike, *, sigma_e: float = 1.0) -> Any:
        r"""Joint posterior mode over the indicator and the slab's value, as in the paper.

        With ``beta = gamma alpha``, the maximiser over both of
        :math:`p(\gamma, \alpha \mid y)`. It ignores the slab's normalising constant. For
        ``theta >= 1/2`` there is no price on inclusion and the slab is always chosen.

        Parameters
        ----------
        y : array-like
            Observations.
        sigma_e : float
            Standard deviation of the noise.

        Returns
        -------
        ndarray or float
            In the units of y. At the threshold, where both are modes, the spike's.

        Examples
        --------
        >>> from ellzero import BernoulliGaussian
        >>> BernoulliGaussian(0.1, 3.0).mode([2.0, 4.0])
        array([0. , 3.6])
        """
        return self._in_units(
            sigma_e, y, lambda rule, u: cast(SpikeAndSlab, rule).mode(u), power=1, odd=True
        )


@dataclass(frozen=True)
class BernoulliGaussian(TwoGroups):
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

    For a likelihood without a variance of its own, as of :class:`ellzero.L0Classifier` and
    :class:`ellzero.L0PoissonRegressor`, the same holds with its negative logarithm for the first
    term and ``sigma_e = 1``.

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
    >>> prior.posterior_mean([0.5, 1.5, 4.0], sigma_e=1.0).round(4)
    array([0.0208, 0.1307, 3.0965])
    """

    theta: float
    sigma_beta: float

    def __post_init__(self) -> None:
        check_theta(self.theta)
        wide = isinstance(self.sigma_beta, Real) and self.sigma_beta == math.inf
        if not (wide or (isinstance(self.sigma_beta, Real) and 1e-150 < self.sigma_beta < 1e300)):
            raise ValueError(f"sigma_beta must be positive (inf allowed); got {self.sigma_beta!r}.")

    def _components(self, sigma_e: float) -> tuple[Component, Component]:
        return PointMass(), Normal(in_noise("sigma_beta", self.sigma_beta, sigma_e))

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


@dataclass(frozen=True)
class BernoulliLaplace(TwoGroups):
    r"""The spike-and-slab prior with a heavier slab: zero, or Laplace.

    .. math:: \beta \sim (1 - \theta)\, \delta_0
              + \theta\, \tfrac{1}{\sqrt 2 \sigma_\beta} e^{-\sqrt 2 |\beta| / \sigma_\beta}

    Large observations are shifted by ``sqrt(2) sigma_e^2 / sigma_beta``, as by soft-thresholding,
    where a Gaussian slab scales them.

    Parameters
    ----------
    theta : float
        Prior probability that beta is not zero, strictly between 0 and 1.
    sigma_beta : float
        Standard deviation of the slab, in the units of beta.

    Examples
    --------
    >>> from ellzero import BernoulliLaplace
    >>> prior = BernoulliLaplace(theta=0.2, sigma_beta=2.0)
    >>> prior.posterior_mean([0.5, 1.5, 4.0], sigma_e=1.0).round(4)
    array([0.0379, 0.2084, 3.229 ])
    """

    theta: float
    sigma_beta: float

    def __post_init__(self) -> None:
        check_theta(self.theta)
        _check_positive("sigma_beta", self.sigma_beta)

    def _components(self, sigma_e: float) -> tuple[Component, Component]:
        return PointMass(), Laplace(in_noise("sigma_beta", self.sigma_beta, sigma_e))
