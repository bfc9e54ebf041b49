"""How much memory is held: blocks that are worked on, and products of features, by fold.

With q features and the target, F folds and T threads, that is about

    T + 2 blocks as they are read, as many as features, T of deviations,
    8 F (q + 1)^2 bytes, once for every thread and two more, for a part and for every level of the
    tree that parts are put together in; the search has fewer of them.
"""

from __future__ import annotations

from typing import NamedTuple

from ellzero._memory import bytes_of
from ellzero._messages import Argument
from ellzero.sources._accumulate import Tree, rows_per_block
from ellzero.tables import DataError

__all__ = ["Budget", "Shape", "parse_memory"]

# What Python, its libraries and Arrow's buffers take before there is any row.
_BASE = 4e8
# Blocks have as many rows as if so many threads were at work: bits do not depend on how many are.
_NOMINAL_THREADS = 4
_LEAST_ROWS = 1 << 10


def parse_memory(text: str) -> float:
    """Return the bytes that a text such as ``2GB`` or ``500 MB`` means."""
    found = bytes_of(text)
    if found is None:
        raise DataError(Argument("memory"), f" must be like 2GB or 500MB; got {text!r}.")
    return found


class Shape(NamedTuple):
    """How work is cut."""

    rows: int  # of a block
    threads: int


class Budget(NamedTuple):
    """What may be held.

    Attributes
    ----------
    most : float
        Bytes.
    threads : int
        So many blocks are worked on at a time at most.
    """

    most: float
    threads: int

    def shape(self, columns: int, features: int, folds: int, parts: int) -> Shape:
        """Return how many rows a block has, and how many are worked on at a time.

        Raises
        ------
        DataError
            If the products of the features alone are too large.
        """
        width = columns + 2 * features
        rows = rows_per_block(features + 1)
        while (
            rows > _LEAST_ROWS
            and self._need(width, features, folds, parts, Shape(rows, _NOMINAL_THREADS)) > self.most
        ):
            rows //= 2
        for threads in range(self.threads, 0, -1):
            if self._need(width, features, folds, parts, Shape(rows, threads)) <= self.most:
                return Shape(rows, threads)
        least = self._need(width, features, folds, parts, Shape(rows, 1))
        raise DataError(
            Argument("memory"),
            f" is too little: products of {features:,} features in {max(folds, 1)} folds, and "
            f"blocks of rows, take {least / 1e9:.1f} GB. Give as much, take fewer ",
            Argument("folds"),
            " or leave out columns with ",
            Argument("drop"),
            ".",
        )

    @staticmethod
    def _need(width: int, features: int, folds: int, parts: int, shape: Shape) -> float:
        products = 8.0 * max(folds, 1) * (features + 2) ** 2
        levels = 1 + Tree.depth(parts)
        blocks = 8.0 * shape.rows * width * (shape.threads + 2)
        return _BASE + blocks + products * (shape.threads + 3 + levels)
