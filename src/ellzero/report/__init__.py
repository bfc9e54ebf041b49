"""A selection as one HTML file."""

from ellzero.report._format import number
from ellzero.report._report import make_report, policy_hash

__all__ = ["make_report", "number", "policy_hash"]
