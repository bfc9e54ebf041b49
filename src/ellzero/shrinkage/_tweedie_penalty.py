"""The penalty whose proximal operator is a posterior mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ellzero._normal_means.prior import NormalMeansPrior, check_positive
from ellzero._normal_means.root import invert_increasing
from ellzero._normal_means.rule import Floats
from ellzero.shrinkage._penalty import Penalty

__all__ = ["TweediePenalty"]


@dataclass(frozen=True)
class TweediePenalty(Penalty):
    r"""The penalty whose regularised solution is a posterior mean.

    .. math:: E[\beta \mid y] = \arg\min_z \frac{(y - z)^2}{2 \sigma_e^2} + \phi(z)

    At ``step = sigma_e**2`` the proximal operator is the prior's posterior mean, and the Moreau
    envelope is minus the log of the marginal density, up to a constant. For smaller steps it is
    single-valued and increasing too. For larger ones it need not be, and they are refused. (With a
    least-squares loss ``|y - X b|^2 / (2 sigma_e^2)`` and columns of unit norm, ``1/L`` is never
    larger.)

    Parameters
    ----------
    prior : prior
        Any prior of :mod:`ellzero.shrinkage`.
    sigma_e : float
        Standard deviation of the noise, in the units of the coefficients.

    Examples
    --------
    >>> from ellzero.shrinkage import BernoulliGaussian, TweediePenalty
    >>> prior = BernoulliGaussian(0.2, 2.0)
    >>> TweediePenalty(prior, sigma_e=1.0).prox([1.5, 4.0], step=1.0).round(4)
    array([0.2588, 3.1531])
    >>> prior.posterior_mean([1.5, 4.0]).round(4)
    array([0.2588, 3.1531])
    """

    prior: NormalMeansPrior
    sigma_e: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.prior, NormalMeansPrior):
            raise TypeError(f"prior must be a prior of ellzero.shrinkage; got {self.prior!r}.")
        check_positive("sigma_e", self.sigma_e)

    @property
    def max_step(self) -> float:
        """``sigma_e**2``."""
        return float(self.sigma_e) ** 2

    def _value(self, x: Floats) -> float:
        return float(np.sum(self.prior.penalty(x, sigma_e=self.sigma_e)))

    def _prox(self, x: Floats, step: float) -> Floats:
        share = step / self.sigma_e**2
        if share > 1 + 1e-12:
            raise ValueError(
                "step must be at most sigma_e**2, where the prox is the posterior mean; "
                f"got {step!r} for sigma_e {self.sigma_e!r}."
            )
        if share > 1 - 1e-12:
            return np.asarray(self.prior.posterior_mean(x, sigma_e=self.sigma_e))
        rule = self.prior._rule(float(self.sigma_e))
        target = x.ravel() / self.sigma_e
        sign = np.sign(target)
        if rule.symmetric:
            target = np.abs(target)

        # z = mean(u) minimises if x = z + step penalty'(z), and penalty'(z) = (u - z) / sigma_e^2.
        def mixed(u: Floats) -> tuple[Floats, Floats]:
            mean = rule.terms(u).mean
            return share * u + (1 - share) * mean, share + (1 - share) * rule.variance(u)

        u = invert_increasing(mixed, target, target, target if rule.symmetric else None)
        mean = rule.terms(u).mean * self.sigma_e
        return (mean * sign if rule.symmetric else mean).reshape(x.shape)
