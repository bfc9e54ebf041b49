"""Which variables matter, and how much.

l0-regularised least squares and its Bayesian twin, the spike-and-slab prior, after Polson and Sun,
"Bayesian l0 Regularized Least Squares".
"""

from importlib.metadata import version

from ellzero import datasets
from ellzero.posterior import (
    BayesianBridgeRegressor,
    HorseshoeRegressor,
    SpikeSlabRegressor,
    marginal_map,
)
from ellzero.priors import BernoulliGaussian, BernoulliLaplace
from ellzero.regression import (
    Frontier,
    FrontierModel,
    L0Regressor,
    L0RegressorCV,
    l0_frontier,
)
from ellzero.segmentation import (
    L0SegmentDenoiser,
    PenaltyCurve,
    Segmentation,
    SegmentationPath,
    estimate_decay,
    estimate_noise,
    lam_for_jump,
    segment,
    segment_path,
)

__version__ = version("ellzero")

__all__ = [
    "BayesianBridgeRegressor",
    "BernoulliGaussian",
    "BernoulliLaplace",
    "Frontier",
    "FrontierModel",
    "HorseshoeRegressor",
    "L0Regressor",
    "L0RegressorCV",
    "L0SegmentDenoiser",
    "PenaltyCurve",
    "Segmentation",
    "SegmentationPath",
    "SpikeSlabRegressor",
    "__version__",
    "datasets",
    "estimate_decay",
    "estimate_noise",
    "l0_frontier",
    "lam_for_jump",
    "marginal_map",
    "segment",
    "segment_path",
]
