"""Designs of halves of the rows, by products of parts of them that halves share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero._engine import CACHE_BYTES, thread_count
from ellzero.sources import SufficientStatistics
from ellzero.sources._moments import pool
from ellzero.sources._ready import has_digits, part_moments

__all__ = ["TOGETHER", "half_designs"]

_Rows = NDArray[np.int64]
_Floats = NDArray[np.float64]
# So many halves are made of the same few parts of the rows: see `_make_halves`.
TOGETHER, MOST_PARTS = 50, 32


def half_designs(
    X: NDArray[np.floating], y: _Floats, halves: list[_Rows], *, fit_intercept: bool
) -> list[_core.Quadratic] | None:
    """Return the designs of up to 64 halves, and that of all rows after them.

    None if the rows are in too many parts, or if too few digits would be known.
    """
    # Which halves a row is in, the first in the highest bit
    member = np.zeros(len(y), dtype=np.uint64)
    bits = [np.uint64(1 << (63 - place)) for place in range(len(halves))]
    for bit, rows in zip(bits, halves, strict=True):
        member[rows] |= bit
    kinds, part_of = np.unique(member, return_inverse=True)
    if len(kinds) > MOST_PARTS:
        return None
    part_of = part_of.reshape(-1).astype(np.int64, copy=False)
    shift, parts = part_moments(X, y, thread_count(), part_of, len(kinds))
    total = pool(parts).mirrored()
    if not has_digits(total.products):
        return None
    pools = [[part for part, kind in zip(parts, kinds, strict=True) if kind & bit] for bit in bits]
    return [
        SufficientStatistics([moments], shift, None, "")._design(fit_intercept, CACHE_BYTES)
        for moments in (*(pool(own).mirrored() for own in pools), total)
    ]
