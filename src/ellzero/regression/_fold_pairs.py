"""Folds within folds, of which two at a time are fitted on the same rows.

The fold of f within that of g, and the fold of g within that of f, both leave out the test rows of
f and of g. Ten folds have ninety within them, but forty-five sets of rows to fit on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.regression._fold_parts import Fold, open_search

__all__ = ["Pairs"]


class Pairs:
    """The designs and searches of folds that have had their first turn and wait for the second.

    The second begins where the first size that was asked for has led the first: sizes beyond that
    hang on who judges. So it finds what it would find alone, but for rounding.
    """

    def __init__(self) -> None:
        self._designs: dict[Hashable, _core.Quadratic] = {}
        self._waiting: set[_core.Quadratic] = set()
        self._searches: dict[tuple[_core.Quadratic, float], tuple[_core.Folds, int]] = {}

    def design(self, rows: Hashable, make: Callable[[], _core.Quadratic]) -> _core.Quadratic:
        """Return the design of some rows, made if this is its first turn."""
        design = self._designs.pop(rows, None)
        if design is None:
            design = self._designs[rows] = make()
            self.expect(design)
        else:
            self.expect_no_more(design)
        return design

    def expect(self, design: _core.Quadratic) -> None:
        """Keep what is found on a design for a second turn."""
        self._waiting.add(design)

    def expect_no_more(self, design: _core.Quadratic) -> None:
        """Keep what is found on a design no longer: this is its second turn."""
        self._waiting.discard(design)

    def open(
        self,
        shared: _core.ColumnPasses | None,
        batch: list[Fold],
        sbr: bool,
        ridge: float,
        forced: NDArray[np.int64],
        workers: int,
        threads: int,
    ) -> _core.Folds:
        """Return the searches of some folds, some of which others may have begun."""
        how = (shared, batch, sbr, ridge, forced, workers, threads)
        if sbr:  # which begins anew with every size
            return open_search(*how)
        begun = [self._searches.pop((fold.design, ridge), None) for fold in batch]
        core = open_search(*how, begun)
        for place, fold in enumerate(batch):
            if fold.design in self._waiting:
                core.keep_for_others(place)
                self._searches[fold.design, ridge] = core, place
        return core
