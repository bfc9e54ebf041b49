"""A selection, a posterior, or a series, as one HTML file."""

from ellzero._format import number
from ellzero.report._page import policy_hash
from ellzero.report._posterior_report import make_posterior_report
from ellzero.report._report import make_report
from ellzero.report._series_report import make_series_report

__all__ = ["make_posterior_report", "make_report", "make_series_report", "number", "policy_hash"]
