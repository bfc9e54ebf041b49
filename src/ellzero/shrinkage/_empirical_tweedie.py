"""Tweedie's formula with the marginal estimated from the observations themselves."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ellzero._normal_means.prior import check_positive
from ellzero._normal_means.rule import Floats
from ellzero.shrinkage._binning import bin_values
from ellzero.shrinkage._fit_prior import check_sample, fit_prior
from ellzero.shrinkage._normal_mixture import NormalMixture
from ellzero.shrinkage._npmle import fit_mixture
from ellzero.shrinkage._npmle_condition import density

__all__ = ["EmpiricalTweedie"]

_EXACT_UP_TO = 5000
_WIDTH = 0.01
_MOST_CELLS = 100_000
_NEAR = 1e-12  # beside a density so large, what is far away does not count


class EmpiricalTweedie(BaseEstimator):  # type: ignore[misc]
    r"""Posterior means without a prior: the plug-in rule of empirical Bayes.

    .. math:: \hat\beta(y) = y + \hat\sigma_e^2 \, (\log \hat m)'(y)

    The marginal density is estimated as the nonparametric maximum-likelihood mixture of normals,
    :math:`\hat m = \int N(\cdot; t, \sigma_e^2) \, d\hat G(t)` (Kiefer and Wolfowitz 1956; Jiang
    and Zhang 2009). The problem is convex, and its optimality condition certifies the answer:
    ``gap_`` bounds how much larger any other mixture could make the average log-likelihood.

    Parameters
    ----------
    sigma_e : float or None
        Standard deviation of the noise. If not given it is estimated as that of
        ``fit_prior(y, "bernoulli-gaussian")``: it has to be told from the means by something, here
        by many of them being zero. (The likelihood of a free mixture only grows as the noise
        shrinks.)
    bin_width : float or None
        Observations in cells of this width, in units of the noise, are represented by their mean.
        Zero: every observation for itself. By default zero up to 5,000 observations, 0.01 above,
        doubled until there are no more than 100,000 cells.
    tol : float
        The ``gap_`` to stop at.
    max_rounds : int
        The most rounds of adding centres where the condition fails.

    Attributes
    ----------
    prior_ : NormalMixture
        The estimated distribution of the means, a set of point masses; with all methods of a prior.
    sigma_e_ : float
        The noise, as given or estimated.
    gap_ : float
        The average log-likelihood (of the cells) is at most this far below the maximum over all
        mixtures.
    log_likelihood_ : float
        Of the observations themselves, not the cells.
    bin_width_ : float
        The width of the cells.
    binning_error_ : float
        The average log-likelihood of the observations minus that of the cells, both under
        ``prior_``: what the cells cost.
    n_rounds_ : int
        Rounds taken.

    Examples
    --------
    >>> import numpy as np
    >>> from ellzero.shrinkage import EmpiricalTweedie
    >>> rng = np.random.default_rng(0)
    >>> beta = np.where(rng.random(5_000) < 0.1, 4.0, 0.0)
    >>> y = beta + rng.normal(size=5_000)
    >>> rule = EmpiricalTweedie(sigma_e=1.0).fit(y)
    >>> rule.gap_ < 1e-6
    True
    >>> errors = [((estimate - beta) ** 2).mean() for estimate in (y, rule.posterior_mean(y))]
    >>> [round(float(error), 2) for error in errors]
    [1.01, 0.16]
    """

    prior_: NormalMixture
    sigma_e_: float

    def __init__(
        self,
        sigma_e: float | None = None,
        *,
        bin_width: float | None = None,
        tol: float = 1e-6,
        max_rounds: int = 30,
    ) -> None:
        self.sigma_e = sigma_e
        self.bin_width = bin_width
        self.tol = tol
        self.max_rounds = max_rounds

    def fit(self, y: ArrayLike) -> EmpiricalTweedie:
        """Estimate the distribution of the means.

        Parameters
        ----------
        y : array-like of shape (n,)
            Observations ``y_i = beta_i + e_i``.

        Returns
        -------
        EmpiricalTweedie
            Itself.
        """
        values = check_sample(y)
        width = self.bin_width
        if width is None:
            width = 0.0 if len(values) <= _EXACT_UP_TO else _WIDTH
        if not (isinstance(width, Real) and 0 <= width < 1):
            raise ValueError(f"bin_width must be from 0 to 1, or None; got {width!r}.")
        if not (isinstance(self.tol, Real) and self.tol > 0):
            raise ValueError(f"tol must be positive; got {self.tol!r}.")
        if not (isinstance(self.max_rounds, Integral) and self.max_rounds >= 1):
            raise ValueError(f"max_rounds must be a positive integer; got {self.max_rounds!r}.")
        if self.sigma_e is None:
            noise = fit_prior(values).sigma_e
        else:
            noise = check_positive("sigma_e", self.sigma_e)
        if float(np.abs(values).max()) > 1e12 * noise:
            raise ValueError("y is too large beside sigma_e.")
        points, shares = bin_values(values / noise, float(width))
        while self.bin_width is None and len(points) > _MOST_CELLS:
            width = 2 * width
            points, shares = bin_values(values / noise, float(width))
        self.bin_width_ = float(width)
        mixture = fit_mixture(points, shares, float(self.tol), int(self.max_rounds))
        self.sigma_e_ = noise
        self.prior_ = NormalMixture(
            mixture.masses, np.zeros(len(mixture.masses)), means=mixture.centres * noise
        )
        self.gap_, self.n_rounds_ = mixture.gap, mixture.rounds
        logs = self._log_marginal(np.sort(values) / noise)
        self.log_likelihood_ = float(logs.sum())
        cells = float(shares @ self._log_marginal(points))
        self.binning_error_ = float(logs.mean()) - cells if width else 0.0
        return self

    def _log_marginal(self, points: Floats) -> Floats:
        """Return the log density of observations in units of the noise, ascending.

        Of all centres only those within reach of a point are looked at, where there are some.
        """
        noise, prior = self.sigma_e_, self.prior_
        centres, masses = np.asarray(prior.means) / noise, np.asarray(prior.weights)
        out = density(centres, masses, points)
        if not (out > _NEAR).all():
            return np.asarray(prior.log_marginal(points * noise, sigma_e=noise))
        return np.log(out) - math.log(noise * math.sqrt(2 * math.pi))

    def posterior_mean(self, y: ArrayLike) -> Any:
        """Tweedie's formula with the estimated marginal.

        Parameters
        ----------
        y : array-like
            Observations, those of the fit or others.

        Returns
        -------
        ndarray or float
            Estimates of their means.
        """
        check_is_fitted(self)
        return self.prior_.posterior_mean(y, sigma_e=self.sigma_e_)

    def posterior_variance(self, y: ArrayLike) -> Any:
        """Variance of the means given their observations, under the estimated distribution.

        Parameters
        ----------
        y : array-like
            Observations.

        Returns
        -------
        ndarray or float
            In squared units of y.
        """
        check_is_fitted(self)
        return self.prior_.posterior_variance(y, sigma_e=self.sigma_e_)
