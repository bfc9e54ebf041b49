"""How memory is shared out among columns of products: of the parts of the rows, and of folds.

With p columns of X, a column of products takes 8 p bytes for every part, and as many for every fold
that has it in its model. What does not fit is dropped and made again when it is asked for, to the
same bits; where the models of all folds do not fit, folds are searched some at a time.
"""

from __future__ import annotations

from typing import NamedTuple

from ellzero._engine import CACHE_BYTES
from ellzero._memory import bytes_of
from ellzero.sources._column_source import BLOCK_BYTES

__all__ = ["Room", "cache_bytes", "check_memory", "plan_room"]

# Numbers for every column of X, beside its products: means, scales, products with y and shares of
# every part; the same and gains for every fold.
_OF_PART, _OF_FOLD = 4, 7
# Columns of products beyond those of a model: of moves that are looked at.
_MORE = 4
# What products of parts may take however small X is.
_LEAST_PARTS = 256e6
# Blocks that are read and columns that are at hand, and what a process takes anyway.
_BASE = 4.0 * BLOCK_BYTES + 2e8


class Room(NamedTuple):
    """Bytes for columns of products, and how many folds are searched at a time."""

    parts: float
    fold: float
    at_a_time: int


def check_memory(memory: float | str | None) -> float | None:
    """Return a budget in bytes: a number, or a text such as ``"2GB"``; None if there is none."""
    if memory is None:
        return None
    found = bytes_of(memory) if isinstance(memory, str) else float(memory)
    if found is None:
        raise ValueError(f"memory must be like 2GB or 500MB; got {memory!r}.")
    return found


def cache_bytes(memory: float | None, columns: int) -> float:
    """Return what the columns of products of one design may take."""
    if memory is None:
        return CACHE_BYTES
    need = _BASE + 8.0 * columns * (_OF_FOLD + 2 * 16)
    if memory < need:
        raise ValueError(_too_little(memory, need, f"a search among {columns:,} columns takes"))
    return memory - _BASE - 8.0 * columns * _OF_FOLD


def plan_room(
    memory: float | None, columns: int, parts: int, folds: int, largest: int, table: float
) -> Room:
    """Share out a budget for folds that are pools of parts, with models of up to a size.

    ``table`` are the bytes of a dense X in memory; 0 of any other.
    """
    if memory is None:
        # More than X takes would only be written and not be read again: most columns are wanted by
        # all folds at once, or by one.
        room = min(CACHE_BYTES, max(table, _LEAST_PARTS)) if table else CACHE_BYTES
        return Room(room, CACHE_BYTES, folds)
    fixed = _BASE + 8.0 * columns * (_OF_PART * parts + _OF_FOLD * (folds + 1))
    pass_bytes = 8.0 * columns * parts * max(16, parts + 4)
    model_bytes = 8.0 * columns * (largest + _MORE)
    need = fixed + pass_bytes + model_bytes
    if memory < need:
        what = f"{folds} folds of {columns:,} columns with models of up to {largest} variables take"
        raise ValueError(_too_little(memory, need, what))
    at_a_time = int(min(folds, 1 + (memory - need) // (2 * model_bytes)))
    left = memory - fixed - at_a_time * model_bytes
    return Room(left, model_bytes, at_a_time)


def _too_little(memory: float, need: float, what: str) -> str:
    return f"memory={memory / 1e9:.2f} GB is too little: {what} {need / 1e9:.2f} GB."
