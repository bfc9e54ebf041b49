"""The rows that every fold trains on and is judged by, as designs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero._splits import Split
from ellzero.regression._fold_data import Data
from ellzero.regression._fold_pairs import Pairs
from ellzero.regression._fold_parts import MOST_PARTS, Fold, Parts, make_parts, open_search
from ellzero.regression._remainders import Remainders
from ellzero.sources._column_source import ColumnSource

__all__ = [
    "Fold",
    "Folds",
    "LearnedFolds",
    "RepeatedFolds",
    "SharedFolds",
    "Subsets",
    "Turn",
    "make_folds",
    "make_subsets",
    "open_search",
]

_Integers = NDArray[np.int64]
_Floats = NDArray[np.float64]
_Splits = list[tuple[_Integers, _Integers]]
# Designs of folds that share nothing are kept in memory together up to this size.
_DESIGN_BYTES = 1e9
# Searches of folds within folds are kept for their second turn up to this size of all folds.
_PAIRED_BYTES = 16e6
# So many columns of products are made for each part and each fold, roughly.
_PRODUCTS = 400
# Of repeats of an X of so many bytes and more one at a time is kept: each has a copy of X.
_LARGE_BYTES = 16e6


class Turn(NamedTuple):
    """A fold whose turn it is."""

    fold: Any  # a Fold, or a LikelihoodFold
    test: _Integers  # the rows that it is judged by
    inside: Callable[[], Any]  # returns the other folds, on its training rows; None if none


class SharedFolds(NamedTuple):
    """The folds that have rows of some weight to train and to test on, and all rows."""

    data: Data
    splits: list[Split]
    folds: list[Fold | None]  # one per split
    parts: Parts | None  # what their designs are pools of
    whole: _core.Quadratic
    remainders: Remainders | None  # or what they are left of
    pairs: Pairs | None = None  # of folds within folds

    @property
    def shared(self) -> _core.ColumnPasses | None:
        """The passes over X that their designs are made in; None if nobody waits for others."""
        if self.parts is not None:
            return self.parts.core
        # Of many folds most find what they want made already: waiting would take longer.
        few = len(self.splits) <= MOST_PARTS
        return self.remainders.shared if few and self.remainders is not None else None

    @property
    def error_scale(self) -> float:
        """What errors are a share of: the variance of y."""
        return self.whole.yy / self.whole.weight

    def open(self, batch: list[Fold], *how: Any) -> _core.Folds:
        """Return the searches of some folds: see `open_search`."""
        if self.pairs is not None:
            return self.pairs.open(self.shared, batch, *how)
        return open_search(self.shared, batch, *how)

    @property
    def usable(self) -> list[Fold]:
        """The folds whose test rows weigh anything."""
        return [fold for fold in self.folds if fold is not None and fold.held_out.weight > 0]

    @property
    def least_weight(self) -> float:
        """The least weight of rows that a fold trains on."""
        return min(fold.design.weight for fold in self.usable)

    @property
    def footprint(self) -> float:
        """The bytes that a search on them keeps, roughly."""
        rows, p = len(self.data.y), self.whole.columns
        tables = len(self.folds)
        if self.parts is None:
            rows = sum(rows - split.trained for split in self.splits)
        else:
            tables += len(self.parts.columns)
        return 8.0 * p * (rows + tables * min(p, _PRODUCTS))

    def batches(self) -> list[Callable[[], list[Fold]]]:
        """Return what makes the folds, those together that are searched together."""
        folds = self.usable
        count = len(folds) if self.parts is None else self.parts.room.at_a_time
        some = [folds[start : start + count] for start in range(0, len(folds), count)]
        return [partial(list, own) for own in some]

    def one_by_one(self) -> Iterator[Turn]:
        """Give each fold that has rows of some weight."""
        pairs = Pairs() if self.footprint <= _PAIRED_BYTES else None
        by_parts = cache(self._by_parts)

        def inside(place: int) -> SharedFolds | None:
            return by_parts().inside(place, pairs)

        for place, fold in enumerate(self.folds):
            if fold is not None and fold.held_out.weight > 0 and fold.design.weight > 0:
                yield Turn(fold, self.splits[place].test, partial(inside, place))

    def _by_parts(self) -> SharedFolds:
        """Return the same as pools of parts, if these are few: then folds within folds are too."""
        parts = make_parts(self.data, self.splits) if self.parts is None else None
        return self if parts is None else _pool_folds(self.data, self.splits, parts, self.whole)

    def inside(self, place: int, pairs: Pairs | None = None) -> SharedFolds | None:
        """Return the other folds less the test rows of one, on its training rows; None if none.

        They need no further pass over X where folds share their parts.
        """
        outer = self.folds[place]
        others = [split for g, split in enumerate(self.splits) if g != place]
        if outer is None:
            return None
        if self.parts is None:
            train, _ = self.splits[place].rows()
            number = np.full(len(self.data.y), -1)
            number[train] = np.arange(len(train))
            inner = [(number[a], number[b]) for a, b in (split.rows() for split in others)]
            inner = [(a[a >= 0], b[b >= 0]) for a, b in inner]
            inner = [split for split in inner if len(split[0]) and len(split[1])]
            made = make_folds(self.data.rows(train), inner) if inner else None
        else:
            of_outer = self.parts.trained_on[:, place]
            of_others = np.delete(self.parts.trained_on, place, axis=1).T
            folds: list[Fold | None] = []
            for of_fold, split in zip(of_others, others, strict=True):
                which = of_outer & of_fold
                test = split.test[of_outer[self.parts.part_of[split.test]]]
                some = which.any() and len(test)
                folds.append(self.parts.fold(which, test, pairs) if some else None)
            made = self._replace(splits=others, folds=folds, whole=outer.design, pairs=pairs)
        if made is None:
            return None
        sound = [fold if fold and fold.design.weight > 0 else None for fold in made.folds]
        made = made._replace(folds=sound)
        return made if made.usable else None


class LearnedFolds:
    """Folds whose columns are made anew from their own training rows.

    They share no passes over X; where they do not fit into memory together they are made, and
    searched, some at a time.

    Parameters
    ----------
    make : callable
        Given the training and test rows of a fold, returns the data of both.
    splits : list of pairs of ndarray
        The rows of each fold. Folds with no row of positive weight on one side are left out.
    whole : Quadratic
        All rows.
    weights : ndarray or None
        Of all rows.
    """

    parts = None

    def __init__(
        self,
        make: Callable[[_Integers, _Integers], tuple[Data, Data]],
        splits: _Splits,
        whole: _core.Quadratic,
        weights: NDArray[np.float64] | None,
    ) -> None:
        self._make, self.whole = make, whole
        n = max(int(rows.max()) for split in splits for rows in split) + 1
        counted = np.ones(n) if weights is None else weights
        self._splits = [split for split in splits if all(counted[rows].any() for rows in split)]
        if not self._splits:
            raise ValueError("No fold has rows of positive weight both to train and to test on.")
        self._counted = counted
        self.least_weight = min(float(counted[train].sum()) for train, _ in self._splits)

    @property
    def error_scale(self) -> float:
        """What errors are a share of: the variance of y."""
        return self.whole.yy / self.whole.weight

    def open(self, batch: list[Fold], *how: Any) -> _core.Folds:
        """Return the searches of some folds: see `open_search`."""
        return open_search(None, batch, *how)

    @property
    def footprint(self) -> float:
        """The bytes that a search on them keeps, roughly."""
        rows = sum(len(train) + len(test) for train, test in self._splits)
        return min(8.0 * rows * self.whole.columns, _DESIGN_BYTES)

    def _fold(self, train: _Integers, test: _Integers) -> Fold:
        data, others = self._make(train, test)
        rows = np.arange(len(test))
        held_out = others.held_out(rows, [others.columns()], np.zeros_like(rows), rows)
        return Fold(data.design(), held_out)

    def one_by_one(self) -> Iterator[Turn]:
        """Make one fold after the other."""
        for place, split in enumerate(self._splits):
            fold = self._fold(*split)
            yield Turn(fold, split[1], partial(self._inside, place, fold.design))

    def _inside(self, place: int, design: _core.Quadratic) -> LearnedFolds | None:
        """Return the other folds less the test rows of one, on its training rows; None if none."""
        kept = np.zeros(len(self._counted), dtype=bool)
        kept[self._splits[place][0]] = True
        others = [split for g, split in enumerate(self._splits) if g != place]
        inner = [(a[kept[a]], b[kept[b]]) for a, b in others]
        inner = [split for split in inner if all(self._counted[rows].any() for rows in split)]
        return LearnedFolds(self._make, inner, design, self._counted) if inner else None

    def batches(self) -> list[Callable[[], list[Fold]]]:
        """Return what makes the folds, those together that are searched together."""
        longest = max(len(train) + len(test) for train, test in self._splits)
        count = max(1, int(_DESIGN_BYTES / (8.0 * longest * self.whole.columns)))

        def batch(splits: _Splits) -> Callable[[], list[Fold]]:
            return lambda: [self._fold(*split) for split in splits]

        starts = range(0, len(self._splits), count)
        return [batch(self._splits[start : start + count]) for start in starts]


Folds = SharedFolds | LearnedFolds


class RepeatedFolds(Sequence[SharedFolds]):
    """Several sets of folds of the same rows, which share the design of all rows.

    The one asked for last is kept, and of a small X the first; the others are made whenever they
    are asked for, since each may have a copy of X.

    Parameters
    ----------
    data : Data
        The rows.
    repeats : list of lists of Split, or of pairs of ndarray
        The training and test rows of every fold, by repeat.
    """

    def __init__(self, data: Data, repeats: Sequence[Sequence[Split] | _Splits]) -> None:
        self._data = data
        self._repeats = [_compact(data, splits) for splits in repeats]
        self._first: SharedFolds | None = None
        self._last: tuple[int, SharedFolds] | None = None
        self._remainders: Remainders | None = None
        whole = None
        if len(repeats) > 1 and data.nbytes >= _LARGE_BYTES:
            whole = data.searchable_design()
        if data.prefers_remainders(len(repeats), len(repeats[0])):
            self._remainders = Remainders(data, whole)
            whole = self._remainders.whole
        if whole is None:
            self._first = self._make(0)
            whole = self._first.whole
        self.whole = whole

    @property
    def error_scale(self) -> float:
        """What errors are a share of: the variance of y."""
        return self.whole.yy / self.whole.weight

    def __len__(self) -> int:
        return len(self._repeats)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[i] for i in range(len(self))[place]]
        place = range(len(self))[place]
        if place == 0 and self._first is not None:
            return self._first
        if self._last is None or self._last[0] != place:
            self._last = None  # before the next is made
            rows, columns = self._data.X.shape
            if self._data.nbytes >= _LARGE_BYTES and rows >= columns:
                # Or it takes room beside the next. Of a wide X it is products, which are as large
                # again in the next: getting that back would take a fifth of the time.
                _core.return_memory()
            self._last = place, self._make(place, self.whole)
        return self._last[1]

    def _make(self, repeat: int, whole: _core.Quadratic | None = None) -> SharedFolds:
        """Make the folds of a repeat; on a source, from its checkpoint if it has one."""
        folds = make_folds(self._data, self._repeats[repeat], whole, self._remainders)
        X = self._data.X
        if isinstance(X, ColumnSource) and X.checkpoint is not None and folds.parts is not None:
            folds.parts.core.keep_in(X.checkpoint_of(repeat))
        return folds


class Subsets(NamedTuple):
    """Several selections of the same rows."""

    designs: list[_core.Quadratic]
    parts: _core.Parts | None  # what they are pools of
    whole: _core.Quadratic
    owner: Any  # keeps what the designs are made of


def make_subsets(data: Data, subsets: list[_Integers]) -> Subsets:
    """Return the designs of some of the rows, time after time, and that of all.

    They share passes over X where rows that are always together make up few parts.
    """
    n = len(data.y)
    parts = make_parts(data, [Split(rows, rows, n) for rows in subsets])
    if parts is None:
        designs = [data.rows(rows).design() for rows in subsets]
        return Subsets(designs, None, data.design(), data)
    designs = [parts.pool(np.flatnonzero(which)) for which in parts.trained_on.T]
    return Subsets(designs, parts.core, parts.pool(np.arange(len(parts.columns))), parts)


def _compact(data: Data, splits: Sequence[Split] | _Splits) -> list[Split]:
    n = len(data.y)
    return [split if isinstance(split, Split) else Split.of(*split, n) for split in splits]


def make_folds(
    data: Data,
    splits: Sequence[Split] | _Splits,
    whole: _core.Quadratic | None = None,
    remainders: Remainders | None = None,
) -> SharedFolds:
    """Return the folds and the design of all rows, which may be at hand.

    Rows that are in the training sets of the same folds make up a part. If parts are few, the
    statistics of each are computed once and added up for every fold that trains on it. Else, or
    where there are ``remainders`` that can do so without losing digits, what the rows that a fold
    leaves out have to do with those of all rows is taken away.
    """
    splits = _compact(data, splits)
    left = None if remainders is None else remainders.sound_folds(splits)
    if remainders is not None and left is not None:
        return SharedFolds(data, splits, [*left], None, remainders.whole, remainders)
    parts = make_parts(data, splits)
    if parts is not None:
        return _pool_folds(data, splits, parts, whole)
    if isinstance(data.X, ColumnSource):
        raise ValueError(
            f"cv must cut the rows of a {type(data.X).__name__} into {MOST_PARTS} parts or "
            "fewer, with no row in a training set twice."
        )
    remainders = Remainders(data, whole) if remainders is None else remainders
    left = remainders.folds(splits)
    return SharedFolds(data, splits, [*left], None, remainders.whole, remainders)


def _pool_folds(
    data: Data, splits: list[Split], parts: Parts, whole: _core.Quadratic | None
) -> SharedFolds:
    folds: list[Fold | None] = [*parts.folds(splits)]
    whole = parts.pool(np.arange(len(parts.columns))) if whole is None else whole
    return SharedFolds(data, splits, folds, parts, whole, None)
