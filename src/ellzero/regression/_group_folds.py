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
_Integers = NDArray[np.int64]
# Folds are kept together up to this size.
_KEPT_BYTES = 1e9


class GroupFolds(Sequence[Iterable[GroupFold]]):
    """The folds of every repeat: kept if they are small enough, else made one by one.

    Parameters
    ----------
    repeats : sequence of folds
        Of any loss, which can be had one after the other.
    rescales : bool
        Whether fits may be rescaled.
    """

    def __init__(self, repeats: Sequence[Any], *, rescales: bool) -> None:
        self._repeats, self._rescales = repeats, rescales

    def __len__(self) -> int:
        return len(self._repeats)

    def __getitem__(self, place: Any) -> Any:
        folds = self._repeats[place]
        turns = _Turns(folds, self._rescales)
        return list(turns) if folds.footprint <= _KEPT_BYTES else turns


class _Turns:
    """Folds that are made one after the other, each time anew."""

    def __init__(self, folds: Any, rescales: bool) -> None:
        self._folds, self._rescales = folds, rescales

    def __iter__(self) -> Iterator[_Fold]:
        whole = self._folds.whole.weight
        for turn in self._folds.one_by_one():
            fold = turn.fold.for_groups()
            yield _Fold(fold, whole / fold.trained, self._rescales, {})


class _Fold(NamedTuple):
    """Rows to train on and rows held out."""

    fold: Any
    share: float  # what a price on the training rows is multiplied by
    rescales: bool
    judged: dict[Any, _Floats]  # models, by their ridge and units

    def search(
        self, units: Units, ridge: float, threads: int, progress: Callable[[int], None] | None
    ) -> GroupSearch:
        """Put a search on the rows to train on."""
        search: GroupSearch = self.fold.group_search(units, ridge, swaps=False, progress=progress)
        return search

    def path(self, search: GroupSearch, size: int) -> FoldPath:
        """Return the solutions up to a size, and their errors on the rows held out."""
        search.grow(size)
        hull = search.outline()
        errors, along, square = self._judge(search, [model.units for model in hull.models]).T
        return FoldPath(
            lambdas=hull.lambdas * self.share,
            end=hull.end * self.share,
            sizes=np.array([model.size for model in hull.models]),
            errors=errors,
            along=along,
            square=square,
            weight=self.fold.tested,
        )

    def _judge(self, search: GroupSearch, models: list[_Integers]) -> _Floats:
        """Return the error of every set of units, and how it changes if the fit is rescaled."""
        keys = [(search.ridge, *units.tolist()) for units in models]
        pairs = zip(keys, models, strict=True)
        fits = {key: search.coefficients(units) for key, units in pairs if key not in self.judged}
        if fits:
            found = self.fold.judge(list(fits.values()))
            if not self.rescales or search.ridge == 0:
                found[:, 1:] = 0.0
            self.judged.update(zip(fits, found, strict=True))
        return np.array([self.judged[key] for key in keys])
