"""Which variables matter, and how much.

l0-regularised least squares and its Bayesian twin, the spike-and-slab prior, after Polson and Sun,
"Bayesian l0 Regularized Least Squares".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ellzero import datasets
    from ellzero._certificate import Certificate
    from ellzero.genotypes import Genotypes, read_genotypes
    from ellzero.likelihood import (
        L0Classifier,
        L0ClassifierCV,
        L0PoissonRegressor,
        L0PoissonRegressorCV,
    )
    from ellzero.posterior import (
        BayesianBridgeRegressor,
        HorseshoeRegressor,
        SpikeSlabClassifier,
        SpikeSlabRegressor,
        marginal_map,
    )
    from ellzero.priors import BernoulliGaussian, BernoulliLaplace
    from ellzero.regression import (
        Frontier,
        FrontierModel,
        GroupFrontier,
        GroupModel,
        L0Regressor,
        L0RegressorCV,
        Stability,
        l0_frontier,
        stability,
    )
    from ellzero.segmentation import (
        L0SegmentDenoiser,
        NoiseEstimate,
        PenaltyCurve,
        Segmentation,
        SegmentationPath,
        estimate_decay,
        estimate_noise,
        lam_for_jump,
        segment,
        segment_path,
    )
    from ellzero.sources import SufficientStatistics

    __version__: str

__all__ = [
    "BayesianBridgeRegressor",
    "BernoulliGaussian",
    "BernoulliLaplace",
    "Certificate",
    "Frontier",
    "FrontierModel",
    "Genotypes",
    "GroupFrontier",
    "GroupModel",
    "HorseshoeRegressor",
    "L0Classifier",
    "L0ClassifierCV",
    "L0PoissonRegressor",
    "L0PoissonRegressorCV",
    "L0Regressor",
    "L0RegressorCV",
    "L0SegmentDenoiser",
    "NoiseEstimate",
    "PenaltyCurve",
    "Segmentation",
    "SegmentationPath",
    "SpikeSlabClassifier",
    "SpikeSlabRegressor",
    "Stability",
    "SufficientStatistics",
    "__version__",
    "datasets",
    "estimate_decay",
    "estimate_noise",
    "l0_frontier",
    "lam_for_jump",
    "marginal_map",
    "read_genotypes",
    "segment",
    "segment_path",
    "stability",
]

# Where a name is found when it is first used: the command line must not wait for scikit-learn
# where it does not need it.
_MODULES = (
    "datasets",
    "genotypes",
    "likelihood",
    "paper",
    "posterior",
    "priors",
    "regression",
    "segmentation",
    "shrinkage",
    "sources",
)
_HOMES = {
    "BayesianBridgeRegressor": "posterior",
    "BernoulliGaussian": "priors",
    "BernoulliLaplace": "priors",
    "Certificate": "_certificate",
    "Frontier": "regression",
    "FrontierModel": "regression",
    "Genotypes": "genotypes",
    "GroupFrontier": "regression",
    "GroupModel": "regression",
    "HorseshoeRegressor": "posterior",
    "L0Classifier": "likelihood",
    "L0ClassifierCV": "likelihood",
    "L0PoissonRegressor": "likelihood",
    "L0PoissonRegressorCV": "likelihood",
    "L0Regressor": "regression",
    "L0RegressorCV": "regression",
    "L0SegmentDenoiser": "segmentation",
    "NoiseEstimate": "segmentation",
    "PenaltyCurve": "segmentation",
    "Segmentation": "segmentation",
    "SegmentationPath": "segmentation",
    "SpikeSlabClassifier": "posterior",
    "SpikeSlabRegressor": "posterior",
    "Stability": "regression",
    "SufficientStatistics": "sources",
    "estimate_decay": "segmentation",
    "estimate_noise": "segmentation",
    "l0_frontier": "regression",
    "lam_for_jump": "segmentation",
    "marginal_map": "posterior",
    "read_genotypes": "genotypes",
    "segment": "segmentation",
    "segment_path": "segmentation",
    "stability": "regression",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"ellzero.{name}")
    if name in _HOMES:
        value = getattr(import_module(f"ellzero.{_HOMES[name]}"), name)
    elif name == "__version__":
        from importlib.metadata import version

        value = version("ellzero")
    else:
        raise AttributeError(f"module 'ellzero' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
