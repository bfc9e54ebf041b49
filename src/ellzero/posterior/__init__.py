"""The whole posterior: which variables are in, and how surely."""

from ellzero.posterior._bridge import BayesianBridgeRegressor
from ellzero.posterior._credible_sets import CredibleSet
from ellzero.posterior._draws import PosteriorDraws
from ellzero.posterior._horseshoe import HorseshoeRegressor
from ellzero.posterior._marginal_map import MarginalMap, marginal_map
from ellzero.posterior._sensitivity import Sensitivity
from ellzero.posterior._spike_slab import SpikeSlabRegressor
from ellzero.posterior._spike_slab_classifier import SpikeSlabClassifier
from ellzero.posterior._units import from_standardised, to_standardised

__all__ = [
    "BayesianBridgeRegressor",
    "CredibleSet",
    "HorseshoeRegressor",
    "MarginalMap",
    "PosteriorDraws",
    "Sensitivity",
    "SpikeSlabClassifier",
    "SpikeSlabRegressor",
    "from_standardised",
    "marginal_map",
    "to_standardised",
]
