"""A selection as one HTML file."""

from ellzero.report._report import make_report, write_report

__all__ = ["make_report", "write_report"]
