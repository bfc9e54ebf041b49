"""Choosing columns: l0-regularised least squares and the best subset of every size."""

from ellzero.regression._frontier import Frontier
from ellzero.regression._frontier_model import FrontierModel
from ellzero.regression._group_frontier import GroupFrontier, GroupModel
from ellzero.regression._halves import stability
from ellzero.regression._l0 import L0Regressor
from ellzero.regression._l0_cv import L0RegressorCV
from ellzero.regression._l0_frontier import l0_frontier
from ellzero.regression._stability import Stability

__all__ = [
    "Frontier",
    "FrontierModel",
    "GroupFrontier",
    "GroupModel",
    "L0Regressor",
    "L0RegressorCV",
    "Stability",
    "l0_frontier",
    "stability",
]
