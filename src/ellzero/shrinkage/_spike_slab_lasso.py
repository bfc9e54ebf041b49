"""The spike-and-slab lasso: two Laplaces."""

from __future__ import annotations

from dataclasses import dataclass

from ellzero._normal_means.components import Component, Laplace
from ellzero._normal_means.prior import check_positive
from ellzero.priors import TwoGroups, check_theta, in_noise

__all__ = ["SpikeSlabLasso"]


@dataclass(frozen=True)
class SpikeSlabLasso(TwoGroups):
    r"""A narrow Laplace, the spike, and a wide one, the slab (Rockova and George 2018).

    .. math:: \beta \sim (1 - \theta)\, \mathrm{Laplace}(\sigma_0) + \theta\,
              \mathrm{Laplace}(\sigma_\beta), \qquad
              \mathrm{Laplace}(\sigma) = \tfrac{1}{\sqrt 2 \sigma} e^{-\sqrt 2 |\beta| / \sigma}

    As ``sigma_spike`` tends to zero this becomes :class:`ellzero.BernoulliLaplace`.

    Parameters
    ----------
    theta : float
        Prior probability of the slab, strictly between 0 and 1.
    sigma_spike : float
        Standard deviation of the spike, in the units of beta.
    sigma_beta : float
        Standard deviation of the slab; larger than the spike's.

    Examples
    --------
    >>> from ellzero.shrinkage import SpikeSlabLasso
    >>> prior = SpikeSlabLasso(theta=0.2, sigma_spike=0.1, sigma_beta=2.0)
    >>> prior.posterior_mean([0.5, 1.5, 4.0], sigma_e=1.0).round(4)
    array([0.0422, 0.2191, 3.2249])
    """

    theta: float
    sigma_spike: float
    sigma_beta: float

    def __post_init__(self) -> None:
        check_theta(self.theta)
        check_positive("sigma_spike", self.sigma_spike)
        check_positive("sigma_beta", self.sigma_beta)
        if not self.sigma_spike < self.sigma_beta:
            raise ValueError(
                f"sigma_spike must be less than sigma_beta; got {self.sigma_spike!r} and "
                f"{self.sigma_beta!r}."
            )

    def _components(self, sigma_e: float) -> tuple[Component, Component]:
        return (
            Laplace(in_noise("sigma_spike", self.sigma_spike, sigma_e)),
            Laplace(in_noise("sigma_beta", self.sigma_beta, sigma_e)),
        )
