r"""The last pass: what models leave of the rows, which statistics can't tell.

Sums of squared residuals are differences in statistics, and cancel beside a fit that is all but
exact. Here they are summed row by row. With D the deviations of the features from their means and
r the residuals, one step of refinement,

.. math:: b \leftarrow b + (D'WD)^{-1} D'W r

gives the chosen coefficients digits that ill-conditioned products have lost. Only columns that the
models need are read.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero._progress import PartProgress
from ellzero.selection._intervals import Distances
from ellzero.selection._settings import Settings
from ellzero.sources._moments import assign_folds
from ellzero.streams._memory import Shape
from ellzero.streams._prepare import PreparedStream
from ellzero.streams._recipe import Recipe, Stretch, stretches
from ellzero.streams._runner import in_order
from ellzero.tables._parts import Layout, Part

__all__ = ["Fitted", "Residuals", "sum_residuals"]

_Floats = NDArray[np.float64]
_Places = NDArray[np.int64]
# Distances are counted in bins of half a percent, from 2^-40 to 2^24 times the scale.
_STEPS, _LOW, _HIGH = 128, -40, 24
_LARGEST = 200
# So many rows are drawn, about, and kept as examples.
_SHOWN = 5000


class Fitted(NamedTuple):
    """A linear model of features, about their means."""

    places: _Places  # of its features, in the recipe
    coef: _Floats
    means: _Floats  # of these features
    mean: float  # of the response

    def residuals(self, columns: list[_Floats], y: _Floats) -> _Floats:
        """Return what it leaves of some rows."""
        out = y - self.mean
        for place, value, mean in zip(self.places, self.coef, self.means, strict=True):
            out -= value * (columns[place] - mean)
        return out


class Residuals(NamedTuple):
    """Sums over rows.

    Attributes
    ----------
    squares, total : float
        Of squared residuals of the chosen model, and of residuals, by weight.
    products : ndarray
        Of residuals with deviations of its features from their means.
    weights, errors, bases : ndarray
        By fold: the weight of its rows, and the sum of squares of what the model of the other folds
        leaves of them, and of what the mean of the others leaves.
    bins : ndarray
        The weight of rows by the distance of that model from them.
    largest : ndarray
        The largest distances.
    shown : ndarray of shape (2, rows)
        Fitted values and residuals of some rows.
    """

    squares: float
    total: float
    products: _Floats
    weights: _Floats
    errors: _Floats
    bases: _Floats
    bins: _Floats
    largest: _Floats
    shown: _Floats

    def plus(self, other: Residuals) -> Residuals:
        """Return the sums over both."""
        largest = np.sort(np.concatenate([self.largest, other.largest]))[-_LARGEST:]
        return Residuals(
            self.squares + other.squares,
            self.total + other.total,
            self.products + other.products,
            self.weights + other.weights,
            self.errors + other.errors,
            self.bases + other.bases,
            self.bins + other.bins,
            largest,
            np.concatenate([self.shown, other.shown], axis=1),
        )

    def distances(self, scale: float, rows: float) -> Distances | None:
        """Return how far predictions were off: each as the upper end of its bin."""
        weight = float(self.bins.sum())
        if not weight > 0 or not scale > 0:
            return None
        used = np.flatnonzero(self.bins)
        ends = scale * 2.0 ** (_LOW + (used + 1) / _STEPS)
        ends = np.minimum(ends, self.largest[-1])
        shares = np.cumsum(self.bins[used]) / weight
        shares[-1] = 1.0
        return Distances(rows, tuple(ends.tolist()), tuple(shares.tolist()))


class _Job(NamedTuple):
    """What is done with every stretch of rows."""

    recipe: Recipe
    chosen: Fitted
    of_folds: list[Fitted]
    scale: float
    folds: int
    seed: int
    stride: int
    factor: float  # that weights are multiplied by

    def run(self, stretch: Stretch) -> Residuals:
        """Return the sums over some rows."""
        rows = self.recipe.make(stretch)
        n = len(rows.y)
        weights = np.ones(n) if rows.weights is None else self.factor * rows.weights
        left = self.chosen.residuals(rows.columns, rows.y)
        heavy = weights * left
        deviations = [
            rows.columns[place] - mean
            for place, mean in zip(self.chosen.places, self.chosen.means, strict=True)
        ]
        fold = assign_folds(stretch.part, stretch.start, n, folds=self.folds, seed=self.seed)
        assert fold is not None
        away, base = np.zeros(n), np.zeros(n)
        for f, model in enumerate(self.of_folds):
            mine = np.flatnonzero(fold == f)
            own = [column[mine] for column in rows.columns]
            away[mine] = model.residuals(own, rows.y[mine])
            base[mine] = rows.y[mine] - model.mean

        def by_fold(values: _Floats) -> _Floats:
            return np.asarray(np.bincount(fold, values, minlength=self.folds), dtype=np.float64)

        distances = np.abs(away)
        with np.errstate(divide="ignore"):
            places = np.floor(_STEPS * (np.log2(distances / self.scale) - _LOW))
        bins = _STEPS * (_HIGH - _LOW)
        places = np.clip(places, 0, bins - 1).astype(np.int64)
        shown = np.arange(n)
        if self.stride > 1:
            drawn = assign_folds(
                stretch.part, stretch.start, n, folds=self.stride, seed=self.seed + 1
            )
            shown = np.flatnonzero(drawn == 0)
        return Residuals(
            float(heavy @ left),
            float(heavy.sum()),
            np.array([float(heavy @ column) for column in deviations]),
            by_fold(weights),
            by_fold(weights * away**2),
            by_fold(weights * base**2),
            np.bincount(places, weights, minlength=bins).astype(np.float64),
            np.sort(distances[weights > 0])[-_LARGEST:],
            np.array([rows.y[shown] - left[shown], left[shown]]),
        )


def sum_residuals(
    data: PreparedStream,
    settings: Settings,
    recipe: Recipe,
    chosen: Fitted,
    of_folds: list[Fitted],
    say: Callable[[str], None],
) -> Residuals:
    """Go through the columns that models need once more.

    Parameters
    ----------
    data : PreparedStream
        The files.
    settings : Settings
        What is asked.
    recipe : Recipe
        Makes the features of all models.
    chosen : Fitted
        The model chosen.
    of_folds : list of Fitted
        The model that the rows of each fold are judged by.
    say : callable
        Called with what is going on, in words.

    Returns
    -------
    Residuals
        Sums over all rows, whose bits depend on the parts alone.
    """
    layout = data.layout
    shape = data.budget.shape(len(recipe.columns), len(recipe.model.features), 1, 1)
    weighted = settings.weights is not None and not settings.frequency
    factor = data.weight / _sum_of_weights(data, settings) if weighted else 1.0
    stride = int(min(max(data.n_fitted // _SHOWN, 1), 2**31))
    scale = float(np.sqrt(data.total / data.weight))
    job = _Job(recipe, chosen, of_folds, scale, data.folds, settings.seed, stride, factor)
    telling = PartProgress(say, "Looking at residuals", [float(p.size) for p in layout.parts])
    total: Residuals | None = None
    work = partial(_one_part, layout=layout, job=job, shape=shape)
    for part, found in data.runner.map(work, layout.parts):
        if found is not None:
            total = found if total is None else total.plus(found)
        telling.done(part.number + 1)
    assert total is not None
    return total


def _one_part(part: Part, layout: Layout, job: _Job, shape: Shape) -> Residuals | None:
    total: Residuals | None = None
    read = stretches(layout, part, job.recipe.columns, shape.rows)
    for found in in_order(shape.threads, job.run, read):
        total = found if total is None else total.plus(found)
    return total


def _sum_of_weights(data: PreparedStream, settings: Settings) -> float:
    from ellzero.tables._digests import NumberDigest

    column = data.table.columns[settings.weights or ""]
    assert isinstance(column, NumberDigest)
    return column.facts.weight
