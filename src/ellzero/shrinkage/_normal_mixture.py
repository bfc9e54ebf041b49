"""Any mixture of normals as a prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from ellzero._normal_means.mixture import NormalMixtureRule
from ellzero._normal_means.prior import NormalMeansPrior, check_values
from ellzero._normal_means.rule import Floats

__all__ = ["NormalMixture"]


@dataclass(frozen=True, eq=False)
class NormalMixture(NormalMeansPrior):
    r"""A mixture of normals, some of which may be point masses.

    .. math:: \beta \sim \sum_j w_j N(\mu_j, s_j^2), \qquad s_j \ge 0

    Parameters
    ----------
    weights : array-like of shape (k,)
        Positive; they are divided by their sum.
    scales : array-like of shape (k,)
        Standard deviations, in the units of beta. Zero is a point mass.
    means : array-like of shape (k,) or None
        Means, in the units of beta; all zero if not given.

    Examples
    --------
    >>> from ellzero.shrinkage import NormalMixture
    >>> prior = NormalMixture([0.8, 0.15, 0.05], scales=[0.0, 1.0, 5.0])
    >>> prior.posterior_mean([1.0, 3.0, 9.0], sigma_e=1.0).round(4)
    array([0.0875, 1.4325, 8.6538])
    >>> NormalMixture([1, 1], scales=[0, 0], means=[-1, 1]).posterior_mean(0.5).round(4)
    np.float64(0.4621)
    """

    weights: ArrayLike
    scales: ArrayLike
    means: ArrayLike | None = None

    def __post_init__(self) -> None:
        weights = check_values("weights", self.weights)
        scales = check_values("scales", self.scales)
        means = np.zeros_like(weights) if self.means is None else check_values("means", self.means)
        if weights.ndim != 1 or not weights.size:
            raise ValueError(f"weights must be a list of numbers; got the shape {weights.shape}.")
        for name, values in (("scales", scales), ("means", means)):
            if values.shape != weights.shape:
                raise ValueError(
                    f"{name} must have one number a component, {len(weights)}; "
                    f"got the shape {values.shape}."
                )
        if (weights <= 0).any():
            raise ValueError("weights must be positive.")
        if (scales < 0).any():
            raise ValueError("scales must not be negative.")
        for name, values in (("weights", weights / weights.sum()), ("scales", scales)):
            object.__setattr__(self, name, values)
        object.__setattr__(self, "means", means)

    def _rule(self, sigma_e: float) -> NormalMixtureRule:
        centres, scales = cast(Floats, self.means) / sigma_e, cast(Floats, self.scales) / sigma_e
        if not max(np.abs(centres).max(), scales.max()) < 1e20:
            raise ValueError("means and scales must be within 20 orders of magnitude of sigma_e.")
        return NormalMixtureRule(cast(Floats, self.weights), centres, scales)

    def inclusion_probability(self, y: ArrayLike, *, sigma_e: float = 1.0) -> Any:
        """Posterior probability that beta is not at the point mass at zero.

        Parameters
        ----------
        y : array-like
            Observations.
        sigma_e : float
            Standard deviation of the noise.

        Returns
        -------
        ndarray or float
            One if there is no point mass at zero.

        Examples
        --------
        >>> from ellzero.shrinkage import NormalMixture
        >>> NormalMixture([0.9, 0.1], scales=[0, 3]).inclusion_probability(4.0).round(3)
        np.float64(0.979)
        """
        return self._in_units(
            sigma_e, y, lambda rule, u: cast(NormalMixtureRule, rule).inclusion(u)
        )

    def mode(self, y: ArrayLike, *, sigma_e: float = 1.0) -> Any:
        """Joint posterior mode over the component and the values of all components.

        As in the paper, the components' normalising constants are ignored.

        Parameters
        ----------
        y : array-like
            Observations.
        sigma_e : float
            Standard deviation of the noise.

        Returns
        -------
        ndarray or float
            In the units of y. Ties go to the component listed first.

        Examples
        --------
        >>> from ellzero.shrinkage import NormalMixture
        >>> NormalMixture([0.9, 0.1], scales=[0, 3]).mode([2.0, 4.0])
        array([0. , 3.6])
        """
        return self._in_units(
            sigma_e, y, lambda rule, u: cast(NormalMixtureRule, rule).mode(u), power=1, odd=True
        )
