"""Folds as cross-validation over groups wants them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero.regression._cv_curve import FoldPath
from ellzero.regression._group_cv import GroupFold
from ellzero.regression._group_search import GroupSearch
from ellzero.regression._units import Units

__all__ = ["GroupFolds"]

_Floats = NDArray[np.float64]
# Folds are kept together up to this size.
_KEPT_BYTES = 1e9


class GroupFolds(Sequence[Iterable[GroupFold]]):
    """The folds of every repeat: kept if they are small enough, else made one by one.

    Parameters
    ----------
    repeats : sequence of folds
        Of any loss, which can be had one after the other.
    weights : ndarray or None
        Of all rows.
    rescales : bool
        Whether fits may be rescaled.
    """

    def __init__(self, repeats: Sequence[Any], weights: _Floats | None, *, rescales: bool) -> None:
        self._repeats, self._weights, self._rescales = repeats, weights, rescales

    def __len__(self) -> int:
        return len(self._repeats)

    def __getitem__(self, place: Any) -> Any:
        folds = self._repeats[place]
        turns = _Turns(folds, self._weights, self._rescales)
        return list(turns) if folds.footprint <= _KEPT_BYTES else turns


class _Turns:
    """Folds that are made one after the other, each time anew."""

    def __init__(self, folds: Any, weights: _Floats | None, rescales: bool) -> None:
        self._folds, self._weights, self._rescales = folds, weights, rescales

    def __iter__(self) -> Iterator[_Fold]:
        whole, weights = self._folds.whole.weight, self._weights
        for fold, test, _ in self._folds.one_by_one():
            of_rows = np.ones(test.size) if weights is None else weights[test]
            yield _Fold(fold.for_groups(), whole / fold.trained, of_rows, self._rescales)


class _Fold(NamedTuple):
    """Rows to train on and rows held out."""

    fold: Any
    share: float  # what a price on the training rows is multiplied by
    weights: _Floats  # of the rows held out
    rescales: bool

    def search(
        self, units: Units, ridge: float, threads: int, progress: Callable[[int], None] | None
    ) -> GroupSearch:
        """Put a search on the rows to train on."""
        search: GroupSearch = self.fold.group_search(units, ridge, swaps=False, progress=progress)
        return search

    def path(self, search: GroupSearch, size: int) -> FoldPath:
        """Return the solutions up to a size, and their errors on the rows held out."""
        search.grow(size)
        hull = search.hull()
        fits = [(model.support, model.beta, model.intercept) for model in hull.models]
        along, square = np.zeros((2, len(fits)))
        if self.rescales and search.ridge > 0:
            truth = self.fold.outcome(np.empty(0, dtype=np.int64), np.empty(0), 0.0)
            left = np.array([self.fold.outcome(*fit) for fit in fits])
            share = self.weights / self.weights.sum()
            along, square = (left * (truth - left)) @ share, (truth - left) ** 2 @ share
        return FoldPath(
            lambdas=hull.lambdas * self.share,
            end=hull.end * self.share,
            sizes=np.array([model.size for model in hull.models]),
            errors=np.array([self.fold.error(*fit) for fit in fits]),
            along=along,
            square=square,
            weight=float(self.weights.sum()),
        )
