"""Products of all columns of rows in memory, where they cost less at once than one by one.

A search asks for some forty columns of products and more, each a pass over X; all of them at once
are one pass with as many products as columns, and such a product costs a seventh of one in a pass
of its own (measured from 50 to 500 columns). So with few columns, or sizes that go far, it pays to
make all of them before the search. They take the memory of a table of p rows for every part.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero.sources._accumulate import accumulate
from ellzero.sources._arrays import cut_arrays
from ellzero.sources._moments import Block, Moments, room_for, sum_folds

__all__ = ["has_digits", "part_moments", "pays", "pays_by_parts", "ready_products"]

_Floats = NDArray[np.float64]
# Below so many entries of X all of this takes no time.
_LEAST_ENTRIES = 1_000_000
# Of fewer columns passes are as quick; of more, sorted rows do not stay in a cache.
_FEWEST_COLUMNS, _MOST_COLUMNS = 30, 256
# A product in a pass of its own costs so many of those made at once; less some, to be safe.
_CHEAPER = 5
# Passes make a few columns that are not needed in the end.
_COME_ALONG = 10
# X has so many times the rows that products of all parts have: they are small beside it.
_TALL = 5
# Products know few digits of what is left if that is a smaller share than this.
_FEW_DIGITS = 1e-7


def pays(X: Any, sample_weight: Any, largest: int, parts: int = 1) -> bool:
    """Whether a search up to some size is quicker with all products made before it."""
    if sample_weight is not None or not isinstance(X, np.ndarray):
        return False
    n, p = (int(side) for side in X.shape)
    return (
        n * p >= _LEAST_ENTRIES
        and _FEWEST_COLUMNS <= p <= min(_MOST_COLUMNS, _CHEAPER * (largest + _COME_ALONG))
        and n >= _TALL * parts * p
    )


def pays_by_parts(X: Any, sample_weight: Any) -> bool:
    """Whether many fits on rows that share parts are quicker on products of these alone."""
    if sample_weight is not None or not isinstance(X, np.ndarray):
        return False
    n, p = (int(side) for side in X.shape)
    return n * p >= _LEAST_ENTRIES and n >= 2 * _TALL * p and p <= 2 * _MOST_COLUMNS


def has_digits(products: _Floats) -> bool:
    """Whether what all columns together leave of the last is more than rounding of products."""
    scale = np.sqrt(np.diag(products))
    scale[scale == 0] = 1.0
    unit = products / scale[:, None] / scale
    if not np.isfinite(unit).all():
        return False
    values, vectors = np.linalg.eigh(unit[:-1, :-1])
    sound = values > 1e-12 * values[-1]
    along = (vectors.T @ unit[:-1, -1])[sound]
    return bool(1 - along @ (along / values[sound]) > _FEW_DIGITS)


class _KnownParts(NamedTuple):
    """What is done with every block of rows whose parts are known."""

    shift: _Floats
    part_of: NDArray[np.int64] | None
    parts: int

    def run(self, block: Block, room: _Floats | None = None) -> list[Moments]:
        """Return the moments of every part's rows of a block."""
        rows = slice(block.start, block.start + block.rows)
        own = None if self.part_of is None else self.part_of[rows]
        return sum_folds(block, self.shift, own, self.make_room() if room is None else room)

    def make_room(self) -> _Floats:
        """Return room for the moments of a block."""
        return room_for(self.parts, len(self.shift))


def part_moments(
    X: NDArray[np.floating],
    y: _Floats,
    threads: int,
    part_of: NDArray[np.int64] | None = None,
    parts: int = 1,
) -> tuple[_Floats, list[Moments]]:
    """Return what means are counted from, and the moments of every part of the rows.

    ``part_of`` is by row; None if there is one part.
    """
    shift = np.append(np.asarray(X[0], dtype=np.float64), y[0])
    blocks = cut_arrays(0, "X", X, y, None)
    found = accumulate(blocks, _KnownParts(shift, part_of, parts), threads=threads)
    assert found is not None
    return shift, found


def ready_products(
    X: NDArray[np.floating],
    y: _Floats,
    fit_intercept: bool,
    threads: int,
    part_of: NDArray[np.int64] | None = None,
    parts: int = 1,
) -> list[_Floats]:
    """Return the products of deviations of columns from their means, for every part of the rows.

    Without an intercept they are of deviations from zero. ``part_of`` is by row; None if there is
    one part.
    """
    shift, found = part_moments(X, y, threads, part_of, parts)
    out = []
    for moments in found:
        products = np.ascontiguousarray(moments.mirrored().products[:-1, :-1])
        if not fit_intercept:
            mean = (shift + moments.mean)[:-1]
            products += moments.weight * np.multiply.outer(mean, mean)
        out.append(products)
    return out
