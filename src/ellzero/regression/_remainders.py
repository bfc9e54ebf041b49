"""Folds as what is left of all rows without those that they leave out."""

from __future__ import annotations

import math

import numpy as np

from ellzero import _core
from ellzero._engine import CACHE_BYTES
from ellzero._splits import Split
from ellzero.regression._fold_data import Data
from ellzero.regression._fold_parts import Fold

__all__ = ["Remainders"]

_LARGE = 1e100


class Remainders:
    """Folds as what is left of all rows without those that they leave out.

    Repeats of folds share the products of all rows.
    """

    def __init__(self, data: Data, whole: _core.Quadratic | None) -> None:
        self._data, self._columns = data, data.columns()
        self.whole = data.design(self._columns) if whole is None else whole
        self._large = self._has_large_numbers()
        self.shared = None
        if not self._large and not data.is_screened:
            self.shared = _core.all_rows(
                self.whole,
                self._columns,
                data.y,
                data.sample_weight,
                data.fit_intercept,
                data.threads,
            )

    def _has_large_numbers(self) -> bool:
        """Whether a weight of zero may not be enough to leave a row out."""
        data, whole = self._data, self.whole
        if data.sample_weight is None:
            # No number is farther from zero than the mean of its column and the column's norm.
            alive = whole.inverse_scale > 0
            norms = np.append(1 / whole.inverse_scale[alive], math.sqrt(whole.yy))
            far = max(float(norms.max()), float(np.abs(whole.mean).max(initial=0)))
            return max(far, abs(whole.mean_y)) > _LARGE / 4
        numbers = (data.numbers(), data.y)
        return any(
            max(float(each.max(initial=0)), -float(each.min(initial=0))) > _LARGE
            for each in numbers
        )

    def folds(self, splits: list[Split]) -> list[Fold]:
        """Return all folds."""
        return [self._fold(split, self._design(split)) for split in splits]

    def sound_folds(self, splits: list[Split]) -> list[Fold] | None:
        """Return all folds; None if too little of anything is left in one of them."""
        folds = []
        for split in splits:
            design = self._rest(split)
            if design is None:
                return None
            folds.append(self._fold(split, design))
        return folds

    def _fold(self, split: Split, design: _core.Quadratic) -> Fold:
        where = np.zeros(len(split.test), dtype=np.int64)
        held_out = self._data.held_out(split.test, [self._columns], where, split.test)
        return Fold(design, held_out)

    def _rest(self, split: Split) -> _core.Quadratic | None:
        """Return what is left of all rows; None if that is too little."""
        left_out = split.left_out()
        if self.shared is None or left_out is None or 2 * len(left_out) > len(self._data.y):
            return None
        columns = self._data.columns_left_out(left_out)
        return _core.remaining_quadratic(self.shared, columns, left_out, CACHE_BYTES)

    def _design(self, split: Split) -> _core.Quadratic:
        found = self._rest(split)
        if found is not None:
            return found
        data, left_out = self._data, split.left_out()
        if left_out is None or 2 * len(left_out) > len(data.y) or self._large:
            return data.rows(split.rows()[0]).design()
        return data.most_rows(left_out, self._columns)
