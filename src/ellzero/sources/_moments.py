r"""Moments of rows that are read once, block by block.

All is counted from a shift, a first row that the whole job shares, so that large means cost no
digits. Every block is counted from a middle of its own before its products are taken, and a column
of ones among them gives the sums. Blocks are then put together by

.. math:: C = C_1 + C_2 + \frac{w_1 w_2}{w_1 + w_2} (m_1 - m_2)(m_1 - m_2)'

(Chan, Golub and LeVeque 1983), in an order that does not depend on who read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero import _core

__all__ = [
    "Block",
    "Moments",
    "NotFiniteError",
    "assign_folds",
    "block_moments",
    "merge",
    "pool",
    "rebase",
    "room_for",
    "sum_folds",
]

_Floats = NDArray[np.float64]
# Rows whose medians are taken for the middle of a block.
_MIDDLE = 63


class NotFiniteError(Exception):
    """A value that is missing or infinite: its part, its row there, and its column."""

    def __init__(self, part: int, row: int, column: int) -> None:
        super().__init__(part, row, column)
        self.part, self.row, self.column = part, row, column


class Moments(NamedTuple):
    """What is known of some rows; the last column is the response."""

    rows: int
    weight: float
    mean: _Floats  # of every column, counted from the shift
    # Sums of products of deviations from these means: while rows are read, the upper triangle, row
    # after row, which is half to hold, to merge and to send; in statistics, all of them
    products: _Floats

    @classmethod
    def of_nothing(cls, count: int) -> Moments:
        """Return those of no rows."""
        return cls(0, 0.0, np.zeros(count), np.zeros(packed_size(count)))

    def mirrored(self) -> Moments:
        """Return the same with all products instead of their upper triangle."""
        products = np.empty((len(self.mean), len(self.mean)))
        _core.mirror_triangle(self.products, products)
        return self._replace(products=products)


def packed_size(count: int) -> int:
    """Return how many products of so many columns a triangle has."""
    return count * (count + 1) // 2


def room_for(folds: int, count: int) -> _Floats:
    """Return room for the products of every fold."""
    return np.empty((max(folds, 1), packed_size(count)))


class Block(NamedTuple):
    """Rows that follow each other, as they were read.

    Either a table of rows, or one array for every column: what needs no rearranging.
    """

    part: int  # the number of what they are part of, a file say
    start: int  # the number of the first row in it
    table: NDArray[np.number] | None  # without the response
    columns: Sequence[NDArray[np.number]]  # all of them, or the response alone beside a table
    weight: _Floats | None

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.columns[-1])

    def first_row(self) -> _Floats:
        """Return the values of the first row, the response last."""
        own = [float(column[0]) for column in self.columns]
        table = [] if self.table is None else np.asarray(self.table[0], dtype=np.float64).tolist()
        return np.array([*table, *own])

    def middle(self) -> _Floats:
        """Return the medians of some rows, spread evenly: near the means, outliers or not."""
        rows = np.linspace(0, self.rows - 1, min(self.rows, _MIDDLE)).astype(np.int64)
        some = [np.asarray(column[rows], dtype=np.float64) for column in self.columns]
        values = np.array(some)
        if self.table is not None:
            values = np.concatenate([np.asarray(self.table[rows], dtype=np.float64).T, values])
        middle = np.median(values, axis=1)
        middle[~np.isfinite(middle)] = 0.0
        return middle


def assign_folds(
    part: int, start: int, count: int, *, folds: int, seed: int
) -> NDArray[np.int64] | None:
    """Return the fold of each of some rows, by their place and a seed; None if there are none.

    The bits of seed, part and row are mixed by the finaliser of splitmix64: whoever reads a row,
    and however often, puts it into the same fold.
    """
    if folds < 2:
        return None
    golden = 0x9E3779B97F4A7C15
    key = _mix(np.array([(seed * golden + part) % 2**64], dtype=np.uint64))
    key = _mix(key + np.uint64(golden))
    rows = np.arange(start, start + count, dtype=np.uint64)
    mixed = _mix(rows * np.uint64(golden) + key) >> np.uint64(32)
    return ((mixed * np.uint64(folds)) >> np.uint64(32)).astype(np.int64)


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def block_moments(
    block: Block, shift: _Floats, *, folds: int, seed: int, room: _Floats | None = None
) -> list[Moments]:
    """Return the moments of every fold's share of a block; of all of it, without folds.

    They lie in ``room``, as `room_for` makes it, if that is given.

    Raises
    ------
    NotFiniteError
        If a value is missing or infinite.
    """
    if room is None:
        room = room_for(folds, len(shift))
    if block.rows == 0:
        return [Moments.of_nothing(len(shift)) for _ in room]
    fold = assign_folds(block.part, block.start, block.rows, folds=folds, seed=seed)
    return sum_folds(block, shift, fold, room)


def sum_folds(
    block: Block, shift: _Floats, fold: NDArray[np.int64] | None, room: _Floats
) -> list[Moments]:
    """Return the same where the fold of every row is known; None if there is one."""
    with np.errstate(invalid="ignore", over="ignore"):
        middle = block.middle()
    weight = block.weight
    sums = _core.block_products(
        None if block.table is None else _plain(block.table, rows=True),
        [_plain(column) for column in block.columns],
        middle,
        fold,
        None if weight is None else np.sqrt(weight),
        room,
    )
    if not np.isfinite(sums).all():
        _find(block)
    which = np.zeros(block.rows, dtype=np.int64) if fold is None else fold
    rows = np.bincount(which, minlength=len(room))
    weights = rows if weight is None else np.bincount(which, weight, minlength=len(room))
    out = []
    for count, total, own, products in zip(
        rows.tolist(), weights.tolist(), sums, room, strict=True
    ):
        if total == 0:
            out.append(Moments.of_nothing(len(shift))._replace(rows=count))
            continue
        mean = (middle - shift) + own / total
        out.append(Moments(count, float(total), mean, products))
    return out


def _plain(values: NDArray[Any], *, rows: bool = False) -> NDArray[Any]:
    """Return values as the core reads them: a column, or a table whose rows lie together."""
    kept = values.dtype in (np.float64, np.float32) if rows else values.dtype == np.float64
    whole = all(stride % values.itemsize == 0 for stride in values.strides)
    if kept and whole and values.flags.aligned and values.strides[-1] == values.itemsize:
        return values
    return np.require(values, np.float64, ["C", "A"])


def _find(block: Block) -> None:
    """Raise for the first value that is not finite, if there is one."""
    places = []
    p = 0 if block.table is None else block.table.shape[1]
    for j, values in enumerate(block.columns):
        bad = np.flatnonzero(~np.isfinite(np.asarray(values, dtype=np.float64)))
        places += [(int(bad[0]), p + j)] if bad.size else []
    if block.table is not None:
        rows, columns = np.nonzero(~np.isfinite(np.asarray(block.table, dtype=np.float64)))
        places += [(int(rows[0]), int(columns[0]))] if rows.size else []
    if places:
        row, column = min(places)
        raise NotFiniteError(block.part, block.start + row, column)


def merge(one: Moments, other: Moments) -> Moments:
    """Put the rows of both together; the products of the first are overwritten."""
    rows, weight = one.rows + other.rows, one.weight + other.weight
    if other.weight == 0:
        return one._replace(rows=rows)
    if one.weight == 0:
        one.products[:] = other.products
        return Moments(rows, weight, other.mean.copy(), one.products)
    between = other.mean - one.mean
    factor = one.weight * (other.weight / weight)
    _core.merge_products(one.products, other.products, between, factor)
    return Moments(rows, weight, one.mean + between * (other.weight / weight), one.products)


def pool(parts: Sequence[Moments]) -> Moments:
    """Put the rows of several parts together; these stay as they are."""
    out = parts[0]._replace(products=parts[0].products.copy())
    for part in parts[1:]:
        out = merge(out, part)
    return out


def rebase(moments: Moments, old: _Floats, new: _Floats) -> Moments:
    """Count means from another shift."""
    return moments._replace(mean=moments.mean + (old - new))
