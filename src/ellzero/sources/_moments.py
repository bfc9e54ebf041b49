r"""Moments of rows that are read once, block by block.

All is counted from a shift, a first row that the whole job shares, so that large means cost no
digits. Every block is counted from a middle of its own before its products are taken, and a column
of ones among them gives the sums. Blocks are then put together by

.. math:: C = C_1 + C_2 + \frac{w_1 w_2}{w_1 + w_2} (m_1 - m_2)(m_1 - m_2)'

(Chan, Golub and LeVeque 1983), in an order that does not depend on who read them.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Block", "Moments", "NotFiniteError", "assign_folds", "block_moments", "merge", "rebase"]

_Floats = NDArray[np.float64]
# Products are put together this many at a time, so that they stay in the processor's cache.
_TOGETHER = 1 << 15
# Rows whose medians are taken for the middle of a block.
_MIDDLE = 63


class _Scratch(threading.local):
    """Room that a thread uses again and again: fresh memory costs as much as filling it."""

    numbers = np.empty(0)

    def take(self, count: int) -> _Floats:
        """Return so many numbers, which hold anything."""
        if self.numbers.size < count:
            self.numbers = np.empty(count)
        return self.numbers[:count]


_scratch = _Scratch()


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
    products: _Floats  # sums of products of deviations from these means

    @classmethod
    def of_nothing(cls, count: int) -> Moments:
        """Return those of no rows."""
        return cls(0, 0.0, np.zeros(count), np.zeros((count, count)))


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

    def deviations(self, order: NDArray[np.int64] | None, middle: _Floats) -> _Floats:
        """Return deviations from the middle, one row per column, and a last row of ones.

        They lie where those of the last block of this thread were.
        """
        numbers = _scratch.take((len(middle) + 1) * self.rows)
        if self.table is None:
            out = numbers.reshape(len(middle) + 1, self.rows)
            for own, column, value in zip(out[:-1], self.columns, middle, strict=True):
                values = column if order is None else column[order]
                np.subtract(values, value, out=own, dtype=np.float64)
            out[-1] = 1.0
            return out
        # By rows in memory: some at a time, so that they stay in the processor's cache
        by_rows = numbers.reshape(self.rows, len(middle) + 1)
        step = max(1, _TOGETHER // len(middle))
        for begin in range(0, self.rows, step):
            some = slice(begin, begin + step)
            rows = some if order is None else order[some]
            table, response = self.table[rows], self.columns[0][rows]
            np.subtract(table, middle[:-1], out=by_rows[some, :-2], dtype=np.float64)
            np.subtract(response, middle[-1], out=by_rows[some, -2], dtype=np.float64)
        by_rows[:, -1] = 1.0
        return by_rows.T


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

    They lie in ``room``, of shape (folds, columns + 1, columns + 1), if that is given.

    Raises
    ------
    NotFiniteError
        If a value is missing or infinite.
    """
    if room is None:
        room = np.empty((max(folds, 1), len(shift) + 1, len(shift) + 1))
    if block.rows == 0:
        return [Moments.of_nothing(len(shift)) for _ in room]
    fold = assign_folds(block.part, block.start, block.rows, folds=folds, seed=seed)
    if fold is None:
        order, bounds = None, np.array([0, block.rows])
    else:
        order = np.argsort(fold, kind="stable")
        bounds = np.searchsorted(fold[order], np.arange(folds + 1))
    with np.errstate(invalid="ignore", over="ignore"):
        middle = block.middle()
        deviations = block.deviations(order, middle)
        weight = block.weight
        if weight is not None:
            weight = weight if order is None else weight[order]
            deviations *= np.sqrt(weight)
        out = []
        for own, (low, high) in zip(room, pairwise(bounds.tolist()), strict=True):
            total = float(high - low if weight is None else weight[low:high].sum())
            out.append(_moments(deviations[:, low:high], total, middle - shift, own))
    if not all(np.isfinite(moments.mean).all() for moments in out):
        _find(block)
    return out


def _moments(deviations: _Floats, weight: float, middle: _Floats, room: _Floats) -> Moments:
    """Return the moments of rows of some weight; the middle, too, is counted from the shift."""
    rows = deviations.shape[1]
    if weight == 0:
        return Moments.of_nothing(len(middle))._replace(rows=rows)
    products = np.matmul(deviations, deviations.T, out=room)
    sums, products = products[-1, :-1].copy(), products[:-1, :-1]
    _add_outer(products, sums, -1 / weight)
    return Moments(rows, weight, middle + sums / weight, products)


def _add_outer(
    products: _Floats, vector: _Floats, factor: float, others: _Floats | None = None
) -> None:
    """Add factor * vector vector' to products, and other products; symmetry is kept to the bit."""
    step = max(1, _TOGETHER // len(vector))
    for begin in range(0, len(vector), step):
        some = slice(begin, begin + step)
        own = np.multiply.outer(vector[some], vector)
        own *= factor
        if others is not None:
            own += others[some]
        products[some] += own


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
    _add_outer(one.products, between, factor, other.products)
    return Moments(rows, weight, one.mean + between * (other.weight / weight), one.products)


def rebase(moments: Moments, old: _Floats, new: _Floats) -> Moments:
    """Count means from another shift."""
    return moments._replace(mean=moments.mean + (old - new))
