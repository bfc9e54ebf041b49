"""The whole job on a table of many files that need not fit into memory."""

from ellzero.streams._memory import Budget, parse_memory
from ellzero.streams._prepare import PreparedStream, prepare_stream
from ellzero.streams._select import select_stream

__all__ = ["Budget", "PreparedStream", "parse_memory", "prepare_stream", "select_stream"]
