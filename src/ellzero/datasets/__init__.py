"""The data of the paper: its simulated design, and diabetes with interactions."""

from ellzero.datasets._collinear import make_collinear
from ellzero.datasets._diabetes import load_diabetes_interactions

__all__ = ["load_diabetes_interactions", "make_collinear"]
