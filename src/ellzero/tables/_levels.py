"""Levels of categories: rare ones are pooled, since an indicator of few rows fits these alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ellzero.tables._columns import TextColumn

__all__ = ["Pool", "least_rows", "pool_rare", "pool_unknown"]

_FEWEST = 5
_SHARE = 0.01
_NAME = "other"


@dataclass(frozen=True)
class Pool:
    """Levels of a category that count as one.

    Attributes
    ----------
    level : str
        What they are called together.
    rare : tuple of str
        The levels.
    """

    level: str
    rare: tuple[str, ...]


def least_rows(rare: int | None, n_rows: int) -> int:
    """Return how many rows a level needs not to be rare."""
    return max(_FEWEST, math.ceil(_SHARE * n_rows)) if rare is None else rare


def pool_rare(column: TextColumn, least: int) -> tuple[TextColumn, Pool | None]:
    """Pool levels of fewer than ``least`` rows; those without any row are left out.

    The pooled level comes last, and there is none if no level is rare.
    """
    levels = column.levels or []
    counts = column.counts
    frequent = [levels[code] for code in np.flatnonzero(counts >= max(least, 1))]
    rare = tuple(levels[code] for code in np.flatnonzero((counts > 0) & (counts < least)))
    if not rare:
        if len(frequent) == len(levels):
            return column, None
        return column.recode(frequent, -1), None
    pool = Pool(_own_name(frequent), rare)
    return column.recode([*frequent, pool.level], len(frequent)), pool


def pool_unknown(column: TextColumn, known: Sequence[str], pool: str) -> TextColumn:
    """Make all levels one that are not known; ``pool``, which is known, is its name."""
    return column.recode(list(known), list(known).index(pool))


def _own_name(taken: Sequence[str]) -> str:
    folded = {level.casefold() for level in taken}
    name, count = _NAME, 1
    while name in folded:
        name = f"{_NAME} (rare)" if count == 1 else f"{_NAME} (rare {count})"
        count += 1
    return name
