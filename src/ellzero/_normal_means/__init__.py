"""Normal means: ``y = beta + e``, what a prior on beta makes of y, in units of the noise."""

from ellzero._normal_means.prior import NormalMeansPrior, check_positive
from ellzero._normal_means.rule import Rule, Terms

__all__ = ["NormalMeansPrior", "Rule", "Terms", "check_positive"]
