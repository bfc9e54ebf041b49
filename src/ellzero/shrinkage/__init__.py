"""Posterior means as penalties: Tweedie's formula, proximal operators and solvers built on them."""

from ellzero.priors import BernoulliGaussian, BernoulliLaplace
from ellzero.shrinkage._discrete_first_order import discrete_first_order
from ellzero.shrinkage._empirical_tweedie import EmpiricalTweedie
from ellzero.shrinkage._fit_prior import FittedPrior, fit_prior
from ellzero.shrinkage._groups import GroupL0, GroupL1
from ellzero.shrinkage._horseshoe import Horseshoe
from ellzero.shrinkage._implied_prior import ImpliedPrior, implied_prior
from ellzero.shrinkage._k_sparse import KSparse
from ellzero.shrinkage._loss import LeastSquares, Loss
from ellzero.shrinkage._lq import Lq
from ellzero.shrinkage._normal_mixture import NormalMixture
from ellzero.shrinkage._penalty import Penalty
from ellzero.shrinkage._piecewise import L0, L1, L2, MCP, SCAD, ElasticNet
from ellzero.shrinkage._proximal_gradient import (
    ProximalSolution,
    iterative_hard_thresholding,
    proximal_gradient,
    proximal_path,
)
from ellzero.shrinkage._spike_slab_lasso import SpikeSlabLasso
from ellzero.shrinkage._spike_slab_score import spike_slab_score
from ellzero.shrinkage._tweedie_penalty import TweediePenalty
from ellzero.shrinkage._tweedie_regression import tweedie_regression

__all__ = [
    "L0",
    "L1",
    "L2",
    "MCP",
    "SCAD",
    "BernoulliGaussian",
    "BernoulliLaplace",
    "ElasticNet",
    "EmpiricalTweedie",
    "FittedPrior",
    "GroupL0",
    "GroupL1",
    "Horseshoe",
    "ImpliedPrior",
    "KSparse",
    "LeastSquares",
    "Loss",
    "Lq",
    "NormalMixture",
    "Penalty",
    "ProximalSolution",
    "SpikeSlabLasso",
    "TweediePenalty",
    "discrete_first_order",
    "fit_prior",
    "implied_prior",
    "iterative_hard_thresholding",
    "proximal_gradient",
    "proximal_path",
    "spike_slab_score",
    "tweedie_regression",
]
