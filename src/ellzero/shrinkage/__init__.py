"""Posterior means as penalties: Tweedie's formula, proximal operators and solvers built on them."""

from ellzero.priors import BernoulliGaussian, BernoulliLaplace
from ellzero.shrinkage._horseshoe import Horseshoe
from ellzero.shrinkage._normal_mixture import NormalMixture
from ellzero.shrinkage._spike_slab_lasso import SpikeSlabLasso

__all__ = [
    "BernoulliGaussian",
    "BernoulliLaplace",
    "Horseshoe",
    "NormalMixture",
    "SpikeSlabLasso",
]
