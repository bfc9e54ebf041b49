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
from ellzero._engine import thread_count
from ellzero.likelihood._scores import Score
from ellzero.regression._cv_curve import FoldPath
from ellzero.regression._folds import Turn
from ellzero.regression._group_search import GroupSearch
from ellzero.regression._hull import Hull
from ellzero.regression._losses import Loss
from ellzero.regression._problem import Likelihood, Problem
from ellzero.regression._units import Units

__all__ = [
    "LikelihoodFold",
    "LikelihoodFolds",
    "can_train",
    "check_training",
    "make_repeats",
    "open_search",
]

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]
_Splits = list[tuple[_Integers, _Integers]]
# What an engine remembers of the supports it has been to, at most
_ENGINE_BYTES = 2e7


class LikelihoodFold(NamedTuple):
    """The weights of the rows that are fitted on, and the rows that it is judged by."""

    likelihood: Likelihood
    weight: _Floats
    test: _Integers
    test_weight: _Floats
    score: Score

    @property
    def y(self) -> _Floats:
        """The response of the rows that it is judged by."""
        return self.likelihood.y[self.test]

    @property
    def trained(self) -> float:
        """The weight of the rows that are fitted on."""
        return float(self.weight.sum())

    @property
    def tested(self) -> float:
        """The weight of the rows that it is judged by."""
        return float(self.test_weight.sum())

    def problem(self, ridge: float, forced: _Integers) -> Problem:
        """Put an engine on the rows that are fitted on, at the forced columns."""
        return self.likelihood.problem(
            ridge, forced, None, None, thread_count(), caller="", weight=self.weight
        )

    def for_groups(self) -> LikelihoodFold:
        """Return the same with a design of its own: bases of groups are of its training rows."""
        return self._replace(likelihood=self.likelihood.reweighted(self.weight))

    def group_search(
        self, units: Units, ridge: float, *, swaps: bool, progress: Any = None
    ) -> GroupSearch:
        """Search over groups on the rows that are fitted on; on what `for_groups` returns."""
        likelihood = self.likelihood
        return GroupSearch(
            likelihood.design,
            units,
            ridge,
            thread_count(),
            swaps=swaps,
            progress=progress,
            likelihood=likelihood,
        )

    def error(self, support: _Integers, beta: _Floats, intercept: float) -> float:
        """Return the error of a model on the rows that it is judged by."""
        eta = self.outcome(support, beta, intercept)
        return float(self.score(eta[None, :], self.y, self.test_weight)[0])

    def judge(self, fits: Sequence[tuple[_Integers, _Floats, float]]) -> _Floats:
        """Return the errors of models, a row for each; fits are not rescaled."""
        return np.array([(self.error(*fit), 0.0, 0.0) for fit in fits])

    def error_of_nothing(self) -> float:
        """Return that of the mean of the rows that are fitted on, of which there is no offset."""
        mean = float(self.weight @ self.likelihood.y) / self.trained
        eta = self.likelihood.loss.link(mean)
        return self.error(np.empty(0, dtype=np.int64), np.empty(0), eta)

    def outcome(self, support: _Integers, beta: _Floats, intercept: float) -> _Floats:
        """Return what a model predicts for each row that it is judged by, before its link."""
        return self.likelihood.rows.predict(support, beta, intercept, self.test)

    def verdicts(self, models: _core.FoldModels) -> tuple[_Floats, _Floats, _Floats]:
        """Return the errors of models on the latter; fits are not rescaled."""
        errors = self.score(models.predictors, self.y, self.test_weight)
        return errors, np.zeros_like(errors), np.zeros_like(errors)

    def path(self, models: _core.FoldModels, factor: float) -> FoldPath:
        """Return the solutions among the models of a frontier, at a lam of so many times theirs."""
        first, energies = int(models.begins[1]), models.energies
        hull = Hull(first, energies, float(energies[-1]) - models.next_gain, models.rounding)
        errors, along, square = (each[hull.sizes - first] for each in self.verdicts(models))
        lambdas, end = hull.lambdas * factor, hull.end * factor
        return FoldPath(lambdas, end, hull.sizes, errors, along, square, self.tested)


def open_search(
    batch: list[LikelihoodFold],
    sbr: bool,
    ridge: float,
    forced: _Integers,
    workers: int,
    threads: int,
) -> _core.LikelihoodFolds:
    """Return the searches of some folds, in so many threads, with so many for passes over X."""
    return _core.LikelihoodFolds(
        [fold.likelihood.rows for fold in batch],
        [fold.weight for fold in batch],
        [fold.test for fold in batch],
        sbr,
        ridge,
        forced,
        workers,
        max(1, threads // workers),
    )


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
            check_training(likelihood.loss, likelihood.y, weight)
            self._splits.append((train, test))
            self.folds.append(LikelihoodFold(likelihood, weight, test, test_weight, score))
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

    def open(self, batch: list[LikelihoodFold], *how: Any) -> _core.LikelihoodFolds:
        """Return the searches of some folds: see `open_search`."""
        return open_search(batch, *how)

    def one_by_one(self) -> Iterator[Turn]:
        """Give each fold, and what makes the others on its training rows."""
        for place, fold in enumerate(self.folds):
            yield Turn(fold, self._splits[place][1], partial(self._inside, place))

    def _inside(self, place: int) -> LikelihoodFolds | None:
        """Return the other folds less the test rows of one, on its training rows; None if none."""
        weight = self.folds[place].weight
        others = [split for g, split in enumerate(self._splits) if g != place]
        y, loss = self.likelihood.y, self.likelihood.loss
        sound = [
            (train, test)
            for train, test in others
            if weight[test].any() and can_train(loss, y[train], weight[train])
        ]
        return LikelihoodFolds(self.likelihood, sound, self.score, weight) if sound else None


def can_train(loss: Loss, y: _Floats, weight: _Floats | None) -> bool:
    """Whether some rows leave something to be fitted."""
    counted = y if weight is None else y[weight > 0]
    if not counted.size or not counted.max() > 0:
        return False
    return bool(loss is not Loss.LOGISTIC or counted.min() < counted.max())


def check_training(loss: Loss, y: _Floats, weight: _Floats) -> None:
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
