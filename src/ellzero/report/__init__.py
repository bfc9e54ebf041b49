"""A selection, or a series, as one HTML file."""

from ellzero._format import number
from ellzero.report._report import make_report, policy_hash
from ellzero.report._series_report import make_series_report

__all__ = ["make_report", "make_series_report", "number", "policy_hash"]
