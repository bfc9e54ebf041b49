"""Folds of a likelihood: the same rows for all, with weights that are zero where a row is not used.

So they share columns, and the Gram matrix that ranks moves; a fold's fit is that of its training
rows alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.likelihood._scores import Score
from ellzero.regression._losses import Loss
from ellzero.regression._problem import Likelihood

__all__ = ["LikelihoodFold", "LikelihoodFolds", "make_repeats"]

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]
_Splits = list[tuple[_Integers, _Integers]]
# What an engine remembers of the supports it has been to, at most
_ENGINE_BYTES = 2e7


class LikelihoodFold(NamedTuple):
    """The weights of the rows that are fitted on, and the rows that it is judged by."""

    rows: _core.Rows
    weight: _Floats
    test: _Integers
    y: _Floats  # of these rows
    test_weight: _Floats
    score: Score

    @property
    def trained(self) -> float:
        """The weight of the rows that are fitted on."""
        return float(self.weight.sum())

    @property
    def tested(self) -> float:
        """The weight of the rows that it is judged by."""
        return float(self.test_weight.sum())

    def verdicts(self, models: _core.FoldModels) -> tuple[_Floats, _Floats, _Floats]:
        """Return the errors of models on the latter; fits are not rescaled."""
        errors = self.score(models.predictors, self.y, self.test_weight)
        return errors, np.zeros_like(errors), np.zeros_like(errors)


class LikelihoodFolds:
    """All folds of one repeat.

    Parameters
    ----------
    likelihood : Likelihood
        All rows, with their weights.
    splits : list of pairs of ndarray
        The training and test rows of each fold; those without test rows of some weight are left
        out.
    score : callable
        What a fold is judged by.
    within : ndarray or None
        The weights to begin with, zero for rows that are out altogether.
    """

    def __init__(
        self,
        likelihood: Likelihood,
        splits: _Splits,
        score: Score,
        within: _Floats | None = None,
    ) -> None:
        self.likelihood, self.score = likelihood, score
        self._within = likelihood.weight if within is None else within
        self.whole = likelihood.design
        self.folds: list[LikelihoodFold] = []
        self._splits: _Splits = []
        for train, test in splits:
            weight = self._within * np.bincount(train, minlength=len(likelihood.y))
            test_weight = self._within[test]
            if not test_weight.any():
                continue
            _check_training(likelihood.loss, likelihood.y, weight)
            self._splits.append((train, test))
            self.folds.append(
                LikelihoodFold(
                    likelihood.rows, weight, test, likelihood.y[test], test_weight, score
                )
            )
        if not self.folds:
            raise ValueError("cv must give rows of some weight to test on.")

    @property
    def least_weight(self) -> float:
        """The least weight of rows that a fold trains on."""
        return min(fold.trained for fold in self.folds)

    @property
    def footprint(self) -> float:
        """The bytes that a search on them keeps, roughly."""
        return len(self.folds) * (_ENGINE_BYTES + 100.0 * len(self.likelihood.y))

    @property
    def error_scale(self) -> float:
        """What errors are a share of."""
        return 1.0

    def batches(self) -> list[Callable[[], list[LikelihoodFold]]]:
        """Return what makes the folds, all together."""
        return [lambda: self.folds]

    def open(
        self,
        batch: list[LikelihoodFold],
        sbr: bool,
        ridge: float,
        forced: _Integers,
        workers: int,
        threads: int,
    ) -> _core.LikelihoodFolds:
        """Return the searches of some folds, in so many threads, with so many for passes over X."""
        return _core.LikelihoodFolds(
            [fold.rows for fold in batch],
            [fold.weight for fold in batch],
            [fold.test for fold in batch],
            sbr,
            ridge,
            forced,
            workers,
            max(1, threads // workers),
        )

    def one_by_one(self) -> Iterator[tuple[LikelihoodFold, Callable[[], LikelihoodFolds]]]:
        """Give each fold, and what makes the others on its training rows."""
        for place, fold in enumerate(self.folds):
            others = [split for g, split in enumerate(self._splits) if g != place]
            if others:
                yield (
                    fold,
                    partial(LikelihoodFolds, self.likelihood, others, self.score, fold.weight),
                )


def _check_training(loss: Loss, y: _Floats, weight: _Floats) -> None:
    """Raise if a fold's training rows leave nothing to be fitted."""
    counted = y[weight > 0]
    if not counted.size:
        raise ValueError("sample_weight must not be zero for all rows that a fold trains on.")
    if loss is Loss.LOGISTIC and counted.min() == counted.max():
        raise ValueError("cv gives a fold that trains on one class only: use fewer folds.")
    if loss is Loss.POISSON and not counted.max() > 0:
        raise ValueError("cv gives a fold that trains on zeros only: use fewer folds.")


class _Repeats(Sequence[LikelihoodFolds]):
    """Repeats, each made when it is asked for."""

    def __init__(self, likelihood: Likelihood, repeats: list[_Splits], score: Score) -> None:
        self._make = partial(LikelihoodFolds, likelihood, score=score)
        self._repeats = repeats

    def __len__(self) -> int:
        return len(self._repeats)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[i] for i in range(len(self))[place]]
        return self._make(splits=self._repeats[place])


def make_repeats(
    likelihood: Likelihood, splits: _Splits, n_repeats: int, score: Score
) -> Sequence[LikelihoodFolds]:
    """Return the folds of every repeat, which follow each other among the splits."""
    count = len(splits) // n_repeats
    repeats = [splits[first : first + count] for first in range(0, len(splits), count)]
    made = _Repeats(likelihood, repeats, score)
    for place in range(len(made)):
        made[place]  # or an error, before any work
    return made
