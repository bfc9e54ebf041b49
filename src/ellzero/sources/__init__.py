"""Rows that need not fit into memory: what least squares needs of them, in one pass."""

from ellzero.sources._statistics import SufficientStatistics

__all__ = ["SufficientStatistics"]
