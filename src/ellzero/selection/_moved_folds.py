"""Folds of a tall table, by products of parts of its rows.

Where features are products, each fold counts them from the means of its own training rows.

A product of two columns counted from other means is the product, less some of either column:

    (a - m - d)(b - n - e) = (a - m)(b - n) - e (a - m) - d (b - n) + d e

So with x the features of a row as all rows have them, those of a fold are T'x and a constant, where
T has ones on its diagonal, and -e and -d above it. With C the products of deviations of any rows
from their means, those of the fold's features are T'C T: one pass over the rows, which sums the
products of every part, serves all folds, and the folds within them.

Products know fewer digits than rows do: where features all but determine the target, the rows are
asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero._engine import CACHE_BYTES, make_design_on, thread_count
from ellzero.regression._fold_data import Data
from ellzero.regression._fold_pairs import Pairs
from ellzero.regression._folds import Fold, Turn
from ellzero.regression._group_search import GroupSearch
from ellzero.regression._units import Units
from ellzero.sources import SufficientStatistics
from ellzero.sources._moments import Moments, pool
from ellzero.sources._ready import has_digits, part_moments, pays, pays_by_parts
from ellzero.tables import Features

__all__ = ["MovedFolds", "MovedRepeats", "can_be_moved"]

_Integers = NDArray[np.int64]
_Floats = NDArray[np.float64]
_Splits = list[tuple[_Integers, _Integers]]


def can_be_moved(data: Data, features: Features, repeats: list[_Splits], *, gaps: bool) -> bool:
    """Whether folds can be had of products, and it pays.

    Each has to train on all rows but its own, and no mean may stand for a missing value.
    """
    X, weight = data.X, data.sample_weight
    # Folds that all count from the same means share what they need of the rows anyway.
    alike = not _Products.of(features).places.size
    return (
        not gaps
        and (pays(X, weight, data.largest, len(repeats[0])) if alike else pays_by_parts(X, weight))
        and all(_cuts(splits, len(data.y)) for splits in repeats)
    )


def _cuts(splits: _Splits, n: int) -> bool:
    """Whether every row is in one test set, and in all other training sets."""
    tests = np.concatenate([test for _, test in splits])
    whole = len(splits) > 1 and len(tests) == n == np.unique(tests).size
    return whole and all(
        len(train) == n - len(test) and not np.isin(test, train).any() for train, test in splits
    )


class MovedRepeats(Sequence["MovedFolds"]):
    """Several sets of folds of the same rows; all but the first are made when they are asked for.

    Parameters
    ----------
    data : Data
        The rows, with the features that all of them have.
    features : Features
        What these are made of.
    means : ndarray
        What their products are counted from.
    repeats : list of lists of pairs of ndarray
        The training and test rows of every fold, by repeat.

    Attributes
    ----------
    has_digits : bool
        Whether enough digits are known to fit on products.
    """

    def __init__(
        self, data: Data, features: Features, means: _Floats, repeats: list[_Splits]
    ) -> None:
        self._data, self._means, self._repeats = data, means, repeats
        self._products = _Products.of(features)
        first = self._rows(repeats[0])
        total = first.pool(list(range(len(first.parts))))
        self.has_digits = has_digits(total.products)
        columns, products = data.columns(), np.ascontiguousarray(total.products[:-1, :-1])
        how = (data.sample_weight, data.fit_intercept, data.threads)
        self.whole = make_design_on(columns, data.y, *how, CACHE_BYTES, products)
        self._first = self._folds(first) if self.has_digits else None

    def __len__(self) -> int:
        return len(self._repeats)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[i] for i in range(len(self))[place]]
        splits = self._repeats[place]
        return self._first if splits is self._repeats[0] else self._folds(self._rows(splits))

    def _rows(self, splits: _Splits) -> _Rows:
        data = self._data
        part_of = np.empty(len(data.y), dtype=np.int64)
        for place, (_, test) in enumerate(splits):
            part_of[test] = place
        shift, parts = part_moments(data.X, data.y, data.threads, part_of, len(splits))
        tests = [test for _, test in splits]
        return _Rows(data, self._products, self._means, shift, parts, tests, {}, {}, Pairs())

    def _folds(self, rows: _Rows) -> MovedFolds:
        return MovedFolds(rows, list(range(len(rows.parts))), self.whole)


class _Rows(NamedTuple):
    """The rows of a table, and the moments of every part of them."""

    data: Data
    products: _Products
    means: _Floats  # what these are counted from in all rows; 0 of products themselves
    shift: _Floats
    parts: list[Moments]
    tests: list[_Integers]  # by part
    searches: dict[tuple[frozenset[int], float], GroupSearch]  # that are used once more
    designs: dict[frozenset[int], _Trained]  # the same
    pairs: Pairs

    def pool(self, which: list[int]) -> Moments:
        """Return the moments of some parts together."""
        return pool([self.parts[part] for part in which]).mirrored()

    def fold(self, train: list[int], test: int) -> MovedFold:
        """Return the fold that is trained on some parts and judged by another."""
        trained_on = frozenset(train)
        design, move, means = self._trained(trained_on)
        held_out = _core.held_out_statistics(self._design(self.parts[test].mirrored(), move))
        fold = MovedFold(design, held_out)
        fold.rows, fold.trained_on, fold.test = self, trained_on, self.tests[test]
        fold.move, fold.means = move, means
        return fold

    def _trained(self, parts: frozenset[int]) -> _Trained:
        """Return what is fitted on some parts: all but two of them are asked for twice."""
        if parts in self.designs:
            made = self.designs.pop(parts)
            self.pairs.expect_no_more(made.design)
            return made
        trained = self.pool(sorted(parts))
        means = (self.shift + trained.mean)[:-1]
        move = self.products.move(means - self.means)
        made = _Trained(self._design(trained, move), move, means)
        if self.is_shared(parts):
            self.designs[parts] = made
            self.pairs.expect(made.design)
        return made

    def is_shared(self, parts: frozenset[int]) -> bool:
        """Whether two folds are fitted on these: each of two left out of all but the other."""
        return len(parts) == len(self.parts) - 2

    def _design(self, moments: Moments, move: _Move) -> _core.Quadratic:
        """Return the quadratic of some rows, in terms of a fold's features."""
        means = self.shift + moments.mean
        means[:-1] = move.row(means[:-1] - self.means, self.means)
        once = move.columns(moments.products)
        products = move.columns(np.ascontiguousarray(once.T))
        made = moments._replace(mean=np.zeros_like(means), products=products)
        return SufficientStatistics([made], means, None, "")._design(True, CACHE_BYTES)


class _Trained(NamedTuple):
    """What is fitted on some parts of the rows."""

    design: _core.Quadratic
    move: _Move  # of products, from the means of all rows to those of these
    means: _Floats  # of the features of all rows, over these


class _Products(NamedTuple):
    """Which features are products, and of which others."""

    places: _Integers
    left: _Integers
    right: _Integers

    @classmethod
    def of(cls, features: Features) -> _Products:
        """Find those among some features."""
        found = [(j, *one.factors) for j, one in enumerate(features.features) if one.factors]
        return cls(*np.array(found, dtype=np.int64).reshape(-1, 3).T)

    def move(self, by: _Floats) -> _Move:
        """Count them from means that are larger by so much."""
        return _Move(self, by[self.right], by[self.left])


class _Move(NamedTuple):
    """How products change with the means that they are counted from."""

    products: _Products
    of_left: _Floats  # how much of the left factor goes: the move of the right one's mean
    of_right: _Floats

    def columns(self, table: _Floats) -> _Floats:
        """Return A T."""
        out, (places, left, right) = table.copy(), self.products
        out[:, places] -= table[:, left] * self.of_left + table[:, right] * self.of_right
        return out

    def row(self, deviations: _Floats, means: _Floats) -> _Floats:
        """Return the features of a row, given by its deviations from the means of all rows."""
        out, (places, left, right) = deviations + means, self.products
        out[places] -= deviations[left] * self.of_left + deviations[right] * self.of_right
        out[places] += self.of_left * self.of_right
        return out

    def back(self, coef: _Floats) -> _Floats:
        """Return T c: the coefficients of the features of all rows that predict the same."""
        out, (places, left, right) = coef.copy(), self.products
        np.subtract.at(out, left, coef[places] * self.of_left)
        np.subtract.at(out, right, coef[places] * self.of_right)
        return out


class MovedFold(Fold):
    """What is fitted on, and the rows that it is judged by."""

    rows: _Rows
    trained_on: frozenset[int]  # parts
    test: _Integers
    move: _Move
    means: _Floats  # of the features of all rows, over the rows that are fitted on

    def group_search(
        self, units: Units, ridge: float, *, swaps: bool, progress: Any = None
    ) -> GroupSearch:
        """Search over groups on the rows that are fitted on.

        The fold that is left out of all but another, and that other left out of all but this one,
        are fitted on the same rows: the second goes on where the first has come to.
        """
        key, searches = (self.trained_on, ridge), self.rows.searches
        if not swaps and key in searches:
            return searches.pop(key)
        search = GroupSearch(
            self.design, units, ridge, thread_count(), swaps=swaps, progress=progress
        )
        if not swaps and self.rows.is_shared(self.trained_on):
            searches[key] = search
        return search

    def outcome(self, support: _Integers, beta: _Floats, intercept: float) -> _Floats:
        """Return what a model leaves of each row that it is judged by."""
        of_fold = np.zeros(self.design.columns)
        of_fold[support] = beta * self.design.inverse_scale[support]
        coef, data = self.move.back(of_fold), self.rows.data
        used = np.flatnonzero(coef)
        rows = data.X[np.ix_(self.test, used)] - self.means[used]
        return np.asarray(data.y[self.test] - self.design.mean_y - rows @ coef[used])


class MovedFolds:
    """Some parts of the rows, each of which judges what the others are fitted on.

    Parameters
    ----------
    rows : _Rows
        The parts.
    which : list of int
        Those that take part.
    whole : Quadratic
        All rows of these.
    """

    parts = None

    def __init__(self, rows: _Rows, which: list[int], whole: _core.Quadratic) -> None:
        self._rows, self._which, self.whole = rows, which, whole
        self._folds = [rows.fold([g for g in which if g != f], f) for f in which]

    @property
    def error_scale(self) -> float:
        """What errors are a share of: the variance of y."""
        return self.whole.yy / self.whole.weight

    @property
    def least_weight(self) -> float:
        """The least weight of rows that a fold trains on."""
        return min(fold.trained for fold in self._folds)

    @property
    def footprint(self) -> float:
        """The bytes that a search on them keeps, roughly."""
        return 8.0 * self.whole.columns**2 * 4 * len(self._folds)

    def open(self, batch: list[Any], *how: Any) -> _core.Folds:
        """Return the searches of some folds: see `open_search`."""
        return self._rows.pairs.open(None, batch, *how)

    def batches(self) -> list[Callable[[], list[Any]]]:
        """Return what makes the folds, those together that are searched together."""
        return [lambda: list(self._folds)]

    def one_by_one(self) -> Iterator[Turn]:
        """Give each fold."""
        for f, fold in zip(self._which, self._folds, strict=True):
            yield Turn(fold, self._rows.tests[f], partial(self._inside, f, fold.design))

    def _inside(self, place: int, design: _core.Quadratic) -> MovedFolds | None:
        others = [f for f in self._which if f != place]
        return MovedFolds(self._rows, others, design) if len(others) > 1 else None
