"""Folds for targets that are binary or counts, and how probabilities do on rows held out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.likelihood._folds import (
    LikelihoodFold,
    LikelihoodFolds,
    can_train,
    open_search,
)
from ellzero.likelihood._scores import Score, log_loss, one_less_auc, poisson_deviance
from ellzero.regression._fold_data import Data
from ellzero.regression._folds import Turn
from ellzero.regression._losses import Loss
from ellzero.regression._problem import Likelihood, make_likelihood
from ellzero.selection._feature_matrix import FeatureMatrix
from ellzero.selection._prepare import PreparedTable

__all__ = ["LearnedLikelihoodFolds", "calibration", "make_likelihood_folds", "roc", "sound_splits"]

_Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]
_Splits = list[tuple[_Rows, _Rows]]
_Make = Callable[[_Rows, _Rows], tuple[Data, Data]]


def score_of(loss: Loss) -> Score:
    """Return what folds are judged by."""
    return log_loss if loss is Loss.LOGISTIC else poisson_deviance


def sound_splits(
    repeats: list[_Splits], y: _Floats, weights: _Floats | None, loss: Loss
) -> list[_Splits]:
    """Leave out folds whose training rows can't be fitted: of one class, or of zeros alone."""
    counted = np.ones_like(y) if weights is None else weights
    kept = [
        [(a, b) for a, b in splits if can_train(loss, y[a], counted[a]) and counted[b].any()]
        for splits in repeats
    ]
    return [splits for splits in kept if splits]


class LearnedLikelihoodFolds:
    """Folds whose columns are made anew from their own training rows.

    Parameters
    ----------
    make : callable
        Given the training and test rows of a fold, returns the data of both.
    splits : list of pairs of ndarray
        The rows of each fold.
    whole : Likelihood
        All rows.
    score : callable
        What a fold is judged by.
    weights : ndarray
        Of all rows, zero for those that are out altogether.
    """

    def __init__(
        self, make: _Make, splits: _Splits, whole: Likelihood, score: Score, weights: _Floats
    ) -> None:
        self._make, self._splits, self._weights = make, splits, weights
        self._likelihood, self._score = whole, score
        self.whole = whole.design
        self.least_weight = min(float(weights[train].sum()) for train, _ in splits)

    @property
    def footprint(self) -> float:
        """The bytes that a search on them keeps, roughly."""
        return len(self._splits) * 8.0 * len(self._weights) * self.whole.columns

    @property
    def error_scale(self) -> float:
        """What errors are a share of."""
        return 1.0

    def _fold(self, train: _Rows, test: _Rows) -> LikelihoodFold:
        fitted, held_out = self._make(train, test)
        X = np.asfortranarray(np.concatenate([fitted.X, held_out.X]))
        y = np.concatenate([fitted.y, held_out.y])
        weight = np.concatenate([self._weights[train], self._weights[test]])
        likelihood = make_likelihood(X, y, weight, self._likelihood.loss, fit_intercept=True)
        places = np.arange(len(train), len(y))
        training = np.where(np.arange(len(y)) < len(train), weight, 0.0)
        return LikelihoodFold(likelihood, training, places, weight[places], self._score)

    def batches(self) -> list[Callable[[], list[LikelihoodFold]]]:
        """Return what makes the folds, one by one: each has a copy of X."""
        return [partial(self._some, split) for split in self._splits]

    def _some(self, split: tuple[_Rows, _Rows]) -> list[LikelihoodFold]:
        return [self._fold(*split)]

    def open(self, batch: list[LikelihoodFold], *how: Any) -> _core.LikelihoodFolds:
        """Return the searches of some folds: see `open_search`."""
        return open_search(batch, *how)

    def one_by_one(self) -> Iterator[Turn]:
        """Make one fold after the other."""
        for place, split in enumerate(self._splits):
            yield Turn(self._fold(*split), split[1], partial(self._inside, place))

    def _inside(self, place: int) -> LearnedLikelihoodFolds | None:
        """Return the other folds less the test rows of one, on its training rows; None if none."""
        kept = np.zeros(len(self._weights), dtype=bool)
        kept[self._splits[place][0]] = True
        others = [split for g, split in enumerate(self._splits) if g != place]
        inner = [(a[kept[a]], b[kept[b]]) for a, b in others]
        inner = [(a, b) for a, b in inner if len(a) and len(b)]
        y, loss = self._likelihood.y, self._likelihood.loss
        sound = sound_splits([inner], y, self._weights, loss)
        if not sound:
            return None
        return LearnedLikelihoodFolds(
            self._make, sound[0], self._likelihood, self._score, self._weights
        )


def make_likelihood_folds(
    matrix: FeatureMatrix, data: PreparedTable, repeats: list[_Splits], make: _Make
) -> tuple[Likelihood, Sequence[LikelihoodFolds] | Sequence[LearnedLikelihoodFolds]]:
    """Return the likelihood of all rows, and the folds of every repeat."""
    whole = make_likelihood(matrix.X, data.y, data.weights, data.loss, fit_intercept=True)
    score = score_of(data.loss)
    if not matrix.plan.features.learns:
        return whole, [LikelihoodFolds(whole, splits, score) for splits in repeats]
    return whole, [
        LearnedLikelihoodFolds(make, splits, whole, score, whole.weight) for splits in repeats
    ]


def calibration(
    predictor: _Floats, y: _Floats, weights: _Floats, bins: int = 10
) -> list[list[float]]:
    """Return, for groups of rows of rising probability, what was said and what came true.

    A row for each: the mean probability, the share of ones, its standard error and the weight.
    """
    probability = Loss.LOGISTIC.mean(predictor)
    order = np.argsort(probability, kind="stable")
    reached = np.cumsum(weights[order])
    group = np.minimum((reached - 0.5 * weights[order]) / reached[-1] * bins, bins - 1).astype(int)
    # Rows of the same probability are told apart by nothing.
    _, first = np.unique(probability[order], return_index=True)
    group = np.repeat(group[first], np.diff([*first, len(order)]))
    out = []
    for g in np.unique(group):
        rows = order[group == g]
        weight = float(weights[rows].sum())
        if weight > 0:
            said, came = (
                float(np.average(v[rows], weights=weights[rows])) for v in (probability, y)
            )
            out.append([said, came, float(np.sqrt(came * (1 - came) / weight)), weight])
    return out


def roc(
    predictor: _Floats, y: _Floats, weights: _Floats, folds: _Rows, points: int = 101
) -> tuple[float, list[list[float]]]:
    """Return the area under the ROC and the curve: per fold, then averaged.

    Ranks in one fold can't be compared with those in another. The curve has, for false alarms from
    0 to 1, the mean share of ones that are found. NaN and nothing if no fold has both classes.
    """
    grid = np.linspace(0, 1, points)
    areas, curves, shares = [], [], []
    for fold in np.unique(folds):
        mine = (folds == fold) & (weights > 0)
        truth, weight, eta = y[mine], weights[mine], predictor[mine]
        if not mine.any() or truth.min() == truth.max():
            continue
        areas.append(1 - float(one_less_auc(eta[None, :], truth, weight)[0]))
        values, rank = np.unique(-eta, return_inverse=True)
        hits = np.bincount(rank, weight * truth, len(values)).cumsum()
        alarms = np.bincount(rank, weight * (1 - truth), len(values)).cumsum()
        curves.append(
            np.interp(grid, np.append(0, alarms / alarms[-1]), np.append(0, hits / hits[-1]))
        )
        shares.append(float(weight.sum()))
    if not areas:
        return float("nan"), []
    curve = np.average(curves, axis=0, weights=shares)
    area = float(np.average(areas, weights=shares))
    return area, [[float(a), float(b)] for a, b in zip(grid, curve, strict=True)]
