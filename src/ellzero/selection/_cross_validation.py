"""Cross-validation in which the features are learned anew in every fold.

Means that stand for missing values, and that products deviate from, are computed from the training
rows of the fold alone. The path of each fold is exact in lam, and so is the curve through them: as
in :class:`ellzero.L0RegressorCV`, errors are computed between breakpoints and prices are compared
per unit of weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ellzero.regression import Frontier, l0_frontier
from ellzero.regression._cv_curve import Curve, FoldPath, make_curve
from ellzero.tables import Features, Table

__all__ = ["cross_validate"]

_Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]
_FIRST_SIZE = 20
# Frontiers of all folds, with their designs, are kept between rounds if they fit into this.
_MEMORY = 1e9


@dataclass
class _Fold:
    X: _Floats
    y: _Floats
    weights: _Floats | None
    frontier: Frontier
    test_design: _Floats
    test_y: _Floats
    test_weights: _Floats | None


def cross_validate(
    features: Features,
    table: Table,
    y: _Floats,
    weights: _Floats | None,
    splits: list[tuple[_Rows, _Rows]],
    *,
    ridge: float,
    forced: _Rows,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Curve, int]:
    """Return the error as a function of lam, and the largest size that was looked at.

    Grows the models until the error of every fold has long been rising, as L0RegressorCV does.
    """
    n, p = len(y), len(features)
    weight = float(n) if weights is None else float(weights.sum())

    def make(train: _Rows, test: _Rows, size: int) -> _Fold:
        w, v = (None, None) if weights is None else (weights[train], weights[test])
        means = features.learn(table, train, w)
        X = features.build(table, train, means)
        frontier = l0_frontier(
            X, y[train], max_size=size, ridge=ridge, always_include=forced, sample_weight=w
        )
        return _Fold(X, y[train], w, frontier, features.build(table, test, means), y[test], v)

    counted = np.ones(n) if weights is None else weights
    splits = [split for split in splits if all(counted[rows].any() for rows in split)]
    least = min(float(counted[train].sum()) for train, _ in splits)
    most = min(p, forced.size + max(40, int(least / 2)))
    size = min(most, forced.size + _FIRST_SIZE)
    kept: list[_Fold | None] = [None] * len(splits)
    keeps = len(splits) * n * p * 8 < _MEMORY
    while True:
        paths = []
        for place, (train, test) in enumerate(splits):
            fold = kept[place]
            if fold is None:
                fold = make(train, test, size)
            elif fold.frontier.sizes[-1] < size:
                fold.frontier.grow(size)
            if keeps:
                kept[place] = fold
            paths.append(_path(fold, weight))
            if progress is not None:
                progress(place + 1, len(splits))
        lowest = max(int(path.sizes[np.argmin(path.errors)]) for path in paths)
        wanted = forced.size + 2 * (lowest - forced.size) + 10
        if size >= most or size >= wanted or all(path.end == 0 for path in paths):
            centred = y - np.average(y, weights=counted)
            variance = float(np.average(centred**2, weights=counted))
            return make_curve(paths, 1e-12 * variance), size
        size = min(most, max(wanted, size + 10))


def _path(fold: _Fold, weight: float) -> FoldPath:
    """Judge the solutions of a fold by its test rows; prices as for all rows."""
    frontier = fold.frontier
    errors = []
    for size in frontier.hull_sizes:
        model = frontier.at(size=int(size))
        predicted = fold.test_design[:, model.support] @ model.coef[model.support] + model.intercept
        errors.append(np.average((fold.test_y - predicted) ** 2, weights=fold.test_weights))
    train_weight = float(len(fold.y)) if fold.weights is None else float(fold.weights.sum())
    test_weight = (
        float(len(fold.test_y)) if fold.test_weights is None else float(fold.test_weights.sum())
    )
    interval = frontier.interval(int(frontier.hull_sizes[-1]))
    end = 0.0 if interval is None else interval[0]
    scale = weight / train_weight
    return FoldPath(
        frontier.lambdas * scale, end * scale, frontier.hull_sizes, np.array(errors), test_weight
    )
