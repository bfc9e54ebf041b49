"""Data that need not fit into memory: statistics of rows, in one pass, or columns, in a few."""

from ellzero.sources._array_source import ArraySource, DaskSource
from ellzero.sources._column_source import ColumnSource
from ellzero.sources._statistics import SufficientStatistics

__all__ = ["ArraySource", "ColumnSource", "DaskSource", "SufficientStatistics"]
