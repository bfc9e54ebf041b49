"""The data of the paper: its simulated design, diabetes with interactions, traces with spikes."""

from ellzero.datasets._collinear import make_collinear
from ellzero.datasets._diabetes import DIABETES_COLUMNS, load_diabetes_interactions
from ellzero.datasets._spikes import make_spikes

__all__ = ["DIABETES_COLUMNS", "load_diabetes_interactions", "make_collinear", "make_spikes"]
