"""Copies of an allele as two bits each, four to a byte, and back.

The first of four is in the lowest bits: 00 is two copies, 10 one, 11 none, 01 not known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["byte_count", "pack_copies", "unpack_copies"]

_Bytes = NDArray[np.uint8]
_CODE_OF = np.array([3, 2, 0, 1], dtype=np.uint8)  # none, one, two, missing
_COPIES = np.array([2.0, np.nan, 1.0, 0.0])  # by code
_BLOCK = 1024  # columns at a time


def byte_count(rows: int) -> int:
    """Return how many bytes a column of so many rows takes."""
    return (rows + 3) // 4


def pack_copies(copies: Any) -> _Bytes:
    """Pack a table of 0, 1 and 2; what is negative or NaN is missing. A row for each column.

    Raises
    ------
    ValueError
        If it holds anything else.
    """
    n, p = copies.shape
    out = np.empty((p, byte_count(n)), dtype=np.uint8)
    for begin in range(0, p, _BLOCK):
        block = np.asarray(copies[:, begin : begin + _BLOCK])
        missing = (block < 0) | (block != block)
        known = ((block == 0) | (block == 1) | (block == 2) | missing).all()
        if not known:
            wrong = block[~missing & (block != 0) & (block != 1) & (block != 2)][0].item()
            raise ValueError(
                f"copies must hold 0, 1 and 2, and what is missing as NaN or negative; got {wrong}."
            )
        codes = np.zeros((block.shape[1], 4 * byte_count(n)), dtype=np.uint8)
        codes[:, :n] = _CODE_OF[np.where(missing, 3, block).astype(np.uint8)].T
        first, second, third, fourth = (codes[:, i::4] for i in range(4))
        out[begin : begin + _BLOCK] = first | second << 2 | third << 4 | fourth << 6
    return out


def unpack_copies(packed: _Bytes, rows: int) -> NDArray[np.float64]:
    """Return the table of some packed columns; what is missing is NaN."""
    codes = (packed[:, :, None] >> np.array([0, 2, 4, 6], dtype=np.uint8)) & 3
    table = _COPIES[codes.reshape(len(packed), 4 * packed.shape[1])[:, :rows]]
    return np.asarray(table.T, order="F")
