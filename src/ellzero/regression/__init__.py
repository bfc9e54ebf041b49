"""Estimators that choose columns: l0-regularised least squares."""

from ellzero.regression._l0 import L0Regressor

__all__ = ["L0Regressor"]
