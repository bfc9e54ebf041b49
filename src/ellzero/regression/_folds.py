"""The rows that every fold trains on and is judged by, as designs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero._engine import CACHE_BYTES, make_search_engine, thread_count
from ellzero._splits import Split
from ellzero.regression._fold_data import Data
from ellzero.regression._group_search import GroupSearch
from ellzero.regression._problem import Problem
from ellzero.regression._room import Room, plan_room
from ellzero.regression._units import Units
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
]

_Integers = NDArray[np.int64]
_Floats = NDArray[np.float64]
_Splits = list[tuple[_Integers, _Integers]]
# More parts than this and adding them up costs more than passes over X of the folds' own.
_MOST_PARTS = 32
_LARGE = 1e100
# Designs of folds that share nothing are kept in memory together up to this size.
_DESIGN_BYTES = 1e9
# So many columns of products are made for each part and each fold, roughly.
_PRODUCTS = 400
# Of repeats of an X of so many bytes and more one at a time is kept: each has a copy of X.
_LARGE_BYTES = 16e6


class Fold(NamedTuple):
    """What is fitted on, and the rows that it is judged by."""

    design: _core.Quadratic
    held_out: _core.HeldOut

    @property
    def trained(self) -> float:
        """The weight of the rows that are fitted on."""
        return self.design.weight

    @property
    def tested(self) -> float:
        """The weight of the rows that it is judged by."""
        return self.held_out.weight

    def problem(self, ridge: float, forced: _Integers) -> Problem:
        """Put an engine on the rows that are fitted on, at the forced columns."""
        engine = make_search_engine(self.design, ridge, thread_count())
        engine.move_to(forced)
        return Problem(engine, self.design, forced, None, None, ridge)

    def for_groups(self) -> Fold:
        """Return what searches over groups are put on."""
        return self

    def group_search(
        self, units: Units, ridge: float, *, swaps: bool, progress: Any = None
    ) -> GroupSearch:
        """Search over groups on the rows that are fitted on."""
        threads = thread_count()
        return GroupSearch(self.design, units, ridge, threads, swaps=swaps, progress=progress)

    def error(self, support: _Integers, beta: _Floats, intercept: float = 0.0) -> float:
        """Return the mean squared error of a model on the rows that it is judged by."""
        return self.held_out.error(self.design, support, beta)

    def verdict(
        self, support: _Integers, beta: _Floats, intercept: float = 0.0
    ) -> tuple[float, float, float]:
        """Return the same, and how it changes if the fit is rescaled: see `verdicts`."""
        return self.held_out.verdict(self.design, support, beta)

    def error_of_nothing(self) -> float:
        """Return that of the mean of the rows that are fitted on."""
        return self.error(np.empty(0, dtype=np.int64), np.empty(0))

    def outcome(self, support: _Integers, beta: _Floats, intercept: float) -> _Floats:
        """Return what a model leaves of each row that it is judged by."""
        return self.held_out.residuals(self.design, support, beta)

    def verdicts(self, models: _core.FoldModels) -> tuple[_Floats, _Floats, _Floats]:
        """Return the errors of models on the latter, and how they change if fits are rescaled."""
        return models.errors, models.along, models.square


class Pooled(Protocol):
    """Parts of the rows that designs are pools of."""

    @property
    def core(self) -> _core.Parts:
        """The parts, as the core has them."""


def open_search(
    parts: Pooled | None,
    batch: list[Fold],
    sbr: bool,
    ridge: float,
    forced: _Integers,
    workers: int,
    threads: int,
) -> _core.Folds:
    """Return the searches of some folds, in so many threads, with so many for passes over X."""
    return _core.Folds(
        [fold.design for fold in batch],
        [fold.held_out for fold in batch],
        None if parts is None else parts.core,
        sbr,
        ridge,
        forced,
        workers,
        threads if parts is not None else max(1, threads // workers),
    )


class Turn(NamedTuple):
    """A fold whose turn it is."""

    fold: Any  # a Fold, or a LikelihoodFold
    test: _Integers  # the rows that it is judged by
    inside: Callable[[], Any]  # returns the other folds, on its training rows; None if none


class _Parts(NamedTuple):
    """Rows that are in the training sets of the same folds, part by part."""

    data: Data
    columns: list[_core.Columns]
    core: _core.Parts
    trained_on: NDArray[np.bool_]  # by part and split
    part_of: _Integers  # by row
    place: _Integers  # of each row in its part
    room: Room

    def fold(self, trained_on: NDArray[np.bool_], test: _Integers) -> Fold:
        """Return the fold that trains on some of the parts."""
        design = self.pool(np.flatnonzero(trained_on))
        part_of, place = self.part_of[test], self.place[test]
        return Fold(design, self.data.held_out(test, self.columns, part_of, place))

    def pool(self, which: _Integers) -> _core.Quadratic:
        """Return the design of some parts together."""
        return _core.pooled_quadratic(self.core, which, self.room.fold)


class SharedFolds(NamedTuple):
    """The folds that have rows of some weight to train and to test on, and all rows."""

    data: Data
    splits: list[Split]
    folds: list[Fold | None]  # one per split
    parts: _Parts | None  # what their designs are pools of
    whole: _core.Quadratic

    @property
    def error_scale(self) -> float:
        """What errors are a share of: the variance of y."""
        return self.whole.yy / self.whole.weight

    def open(self, batch: list[Fold], *how: Any) -> _core.Folds:
        """Return the searches of some folds: see `open_search`."""
        return open_search(self.parts, batch, *how)

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
        for place, fold in enumerate(self.folds):
            if fold is not None and fold.held_out.weight > 0 and fold.design.weight > 0:
                yield Turn(fold, self.splits[place].test, partial(self.inside, place))

    def inside(self, place: int) -> SharedFolds | None:
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
                folds.append(self.parts.fold(which, test) if which.any() and len(test) else None)
            made = self._replace(splits=others, folds=folds, whole=outer.design)
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
    are asked for, since each has a copy of X.

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
        if len(repeats) > 1 and data.nbytes >= _LARGE_BYTES:
            self.whole = data.searchable_design()
        else:
            self._first = self._make(0)
            self.whole = self._first.whole

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
        folds = make_folds(self._data, self._repeats[repeat], whole)
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
    parts = _make_parts(data, [Split(rows, rows, n) for rows in subsets])
    if parts is None:
        designs = [data.rows(rows).design() for rows in subsets]
        return Subsets(designs, None, data.design(), data)
    designs = [parts.pool(np.flatnonzero(which)) for which in parts.trained_on.T]
    return Subsets(designs, parts.core, parts.pool(np.arange(len(parts.columns))), parts)


def _compact(data: Data, splits: Sequence[Split] | _Splits) -> list[Split]:
    n = len(data.y)
    return [split if isinstance(split, Split) else Split.of(*split, n) for split in splits]


def make_folds(
    data: Data, splits: Sequence[Split] | _Splits, whole: _core.Quadratic | None = None
) -> SharedFolds:
    """Return the folds and the design of all rows, which may be at hand.

    Rows that are in the training sets of the same folds make up a part. If parts are few, the
    statistics of each are computed once and added up for every fold that trains on it. Else what
    the rows that a fold leaves out have to do with those of all rows is taken away.
    """
    splits = _compact(data, splits)
    parts = _make_parts(data, splits)
    if parts is None and isinstance(data.X, ColumnSource):
        raise ValueError(
            f"cv must cut the rows of a {type(data.X).__name__} into {_MOST_PARTS} parts or "
            "fewer, with no row in a training set twice."
        )
    folds: list[Fold | None]
    if parts is None:
        remainders = _Remainders(data, whole)
        whole, folds = remainders.whole, [remainders.fold(split) for split in splits]
    else:
        whole = parts.pool(np.arange(len(parts.columns))) if whole is None else whole
        folds = [
            parts.fold(which, split.test)
            for which, split in zip(parts.trained_on.T, splits, strict=True)
        ]
    return SharedFolds(data, splits, folds, parts, whole)


class _Remainders:
    """Folds as what is left of all rows without those that they leave out."""

    def __init__(self, data: Data, whole: _core.Quadratic | None) -> None:
        self._data, self._columns = data, data.columns()
        self.whole = data.design(self._columns) if whole is None else whole
        # Beyond that a weight of zero may not be enough to leave a row out.
        self._large = any(np.abs(each).max(initial=0) > _LARGE for each in (data.numbers(), data.y))
        self._all = None
        if not self._large and not data.is_screened:
            self._all = _core.all_rows(
                self.whole,
                self._columns,
                data.y,
                data.sample_weight,
                data.fit_intercept,
                data.threads,
            )

    def fold(self, split: Split) -> Fold:
        """Return a fold."""
        where = np.zeros(len(split.test), dtype=np.int64)
        held_out = self._data.held_out(split.test, [self._columns], where, split.test)
        return Fold(self._design(split), held_out)

    def _design(self, split: Split) -> _core.Quadratic:
        data, left_out = self._data, split.left_out()
        if left_out is None or 2 * len(left_out) > len(data.y) or self._large:
            return data.rows(split.rows()[0]).design()
        if self._all is not None:
            columns = data.columns_of(left_out)
            found = _core.remaining_quadratic(self._all, columns, left_out, CACHE_BYTES)
            if found is not None:
                return found
        return data.most_rows(left_out, self._columns)


def _make_parts(data: Data, splits: list[Split]) -> _Parts | None:
    """Cut the rows into parts; None if they are many, or no part of them can stand alone.

    Nor are there parts of very many sparse columns, of which no products with all are made.
    """
    if data.is_screened:
        return None
    if len(splits) > _MOST_PARTS:  # those of some splits are enough where they are too many
        some = _membership(splits[: 2 * _MOST_PARTS], len(data.y))
        if some is None or len(np.unique(_patterns(some))) > _MOST_PARTS:
            return None
    member = _membership(splits, len(data.y))
    if member is None:
        return None
    _, first, part_of = np.unique(_patterns(member), return_index=True, return_inverse=True)
    if len(first) > _MOST_PARTS:
        return None
    part_of = part_of.reshape(-1).astype(np.int64, copy=False)
    rows = [np.flatnonzero(part_of == b) for b in range(len(first))]
    place = np.empty(len(data.y), dtype=np.int64)
    for which in rows:
        place[which] = np.arange(len(which))
    trained_on = np.ascontiguousarray(member[:, first].T)
    room = plan_room(data.memory, data.X.shape[1], len(rows), len(splits), data.largest)
    if isinstance(data.X, ColumnSource):
        columns, designs, owner = data.source_parts(rows)
        core = _core.make_parts(designs, room.parts, owner)
        return _Parts(data, columns, core, trained_on, part_of, place, room)
    # Where the numbers of a part alone are too small to be squared, whole folds may be fine.
    with contextlib.suppress(ValueError):
        products = data.ready_products(part_of, len(rows))
        columns = [data.columns_beside(*part) for part in zip(rows, products, strict=True)]
        designs = [data.design_of(*part) for part in zip(rows, columns, products, strict=True)]
        core = _core.make_parts(designs, room.parts)
        return _Parts(data, columns, core, trained_on, part_of, place, room)
    return None


def _membership(splits: list[Split], n: int) -> NDArray[np.bool_] | None:
    """Return, by split and row, who is trained on; None if a row counts twice."""
    member = np.empty((len(splits), n), dtype=bool)
    for mask, split in zip(member, splits, strict=True):
        if not split.mark(mask):
            return None
    return member


def _patterns(member: NDArray[np.bool_]) -> NDArray[np.void]:
    """Return by row, as one thing each, the splits that train on it."""
    packed = np.ascontiguousarray(np.packbits(member, axis=0).T)
    return packed.view(f"V{packed.shape[1]}").reshape(-1)
