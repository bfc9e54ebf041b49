"""Folds as what is left of all rows without those that they leave out."""

from __future__ import annotations

import numpy as np

from ellzero import _core
from ellzero._engine import CACHE_BYTES
from ellzero._splits import Split
from ellzero.regression._fold_data import Data
from ellzero.regression._fold_parts import Fold

__all__ = ["Remainders"]

_LARGE = 1e100


class Remainders:
    """Folds as what is left of all rows without those that they leave out."""

    def __init__(self, data: Data, whole: _core.Quadratic | None) -> None:
        self._data, self._columns = data, data.columns()
        self.whole = data.design(self._columns) if whole is None else whole
        # Beyond that a weight of zero may not be enough to leave a row out.
        self._large = any(np.abs(each).max(initial=0) > _LARGE for each in (data.numbers(), data.y))
        self._all = None
        if not self._large and not data.is_screened:
            self._all = _core.all_rows(
                self.whole,
                self._columns,
                data.y,
                data.sample_weight,
                data.fit_intercept,
                data.threads,
            )

    def fold(self, split: Split) -> Fold:
        """Return a fold."""
        where = np.zeros(len(split.test), dtype=np.int64)
        held_out = self._data.held_out(split.test, [self._columns], where, split.test)
        return Fold(self._design(split), held_out)

    def _design(self, split: Split) -> _core.Quadratic:
        data, left_out = self._data, split.left_out()
        if left_out is None or 2 * len(left_out) > len(data.y) or self._large:
            return data.rows(split.rows()[0]).design()
        if self._all is not None:
            columns = data.columns_of(left_out)
            found = _core.remaining_quadratic(self._all, columns, left_out, CACHE_BYTES)
            if found is not None:
                return found
        return data.most_rows(left_out, self._columns)
