"""Cross-validation of a likelihood over groups of columns under rules.

A fold is weights of all rows, zero for those it does not train on. Every fold is a search of its
own, without swaps, with its own means, scales and bases of groups.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ellzero.likelihood._folds import check_training
from ellzero.likelihood._scores import Score
from ellzero.regression._cv_curve import FoldPath
from ellzero.regression._group_cv import GroupFold
from ellzero.regression._group_search import GroupSearch
from ellzero.regression._structured import GroupData
from ellzero.regression._units import Units

__all__ = ["make_group_likelihood_folds"]

_Integers = NDArray[np.int64]
_Splits = list[tuple[_Integers, _Integers]]


class _Fold:
    """Weights of the rows that are fitted on, and rows that models are judged by."""

    def __init__(self, data: GroupData, train: _Integers, test: _Integers, score: Score) -> None:
        whole = np.ones_like(data.y) if data.sample_weight is None else data.sample_weight
        weight = whole * np.bincount(train, minlength=data.y.size)
        self._data, self._test, self._score = data._replace(sample_weight=weight), test, score
        self._test_weight = whole[test]
        self.weight = float(self._test_weight.sum())
        if self.weight > 0:
            check_training(data.loss, data.y, weight)
            self._share = float(whole.sum() / weight.sum())

    def search(
        self, units: Units, ridge: float, threads: int, progress: Callable[[int], None] | None
    ) -> GroupSearch:
        return self._data.search(units, ridge, threads, swaps=False, progress=progress)

    def path(self, search: GroupSearch, size: int) -> FoldPath:
        search.grow(size)
        hull = search.hull()
        assert search.likelihood is not None
        predict = search.likelihood.rows.predict
        eta = np.array(
            [predict(one.support, one.beta, one.intercept, self._test) for one in hull.models]
        )
        errors = self._score(eta, self._data.y[self._test], self._test_weight)
        nothing = np.zeros_like(errors)
        return FoldPath(
            lambdas=hull.lambdas * self._share,
            end=hull.end * self._share,
            sizes=np.array([model.size for model in hull.models]),
            errors=errors,
            along=nothing,
            square=nothing,
            weight=self.weight,
        )


def make_group_likelihood_folds(
    data: GroupData, splits: _Splits, n_repeats: int, score: Score
) -> list[list[GroupFold]]:
    """Return the folds of every repeat, which follow each other among the splits."""
    count = len(splits) // n_repeats
    repeats: list[list[GroupFold]] = []
    for first in range(0, len(splits), count):
        folds = [_Fold(data, *split, score) for split in splits[first : first + count]]
        repeats.append([fold for fold in folds if fold.weight > 0])
        if not repeats[-1]:
            raise ValueError("cv must give rows of some weight to test on.")
    return repeats
