"""Folds as pools of parts of the rows, whose products are made once for all of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero import _core
from ellzero._engine import make_search_engine, thread_count
from ellzero._splits import Split
from ellzero.regression._cv_curve import FoldPath
from ellzero.regression._fold_data import Data
from ellzero.regression._group_search import GroupSearch
from ellzero.regression._problem import Problem
from ellzero.regression._room import Room, plan_room
from ellzero.regression._units import Units
from ellzero.sources._column_source import ColumnSource

__all__ = ["MOST_PARTS", "Fold", "Parts", "make_parts", "open_search"]

_Integers = NDArray[np.int64]
_Floats = NDArray[np.float64]
# More parts than this and adding them up costs more than taking away what a fold leaves out.
MOST_PARTS = 32


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

    def judge(self, fits: Sequence[tuple[_Integers, _Floats, float]]) -> _Floats:
        """Return the errors of models, a row for each, and how they change if fits are rescaled."""
        supports, betas = [fit[0] for fit in fits], [fit[1] for fit in fits]
        return self.held_out.verdicts(self.design, supports, betas)

    def error_of_nothing(self) -> float:
        """Return that of the mean of the rows that are fitted on."""
        return self.error(np.empty(0, dtype=np.int64), np.empty(0))

    def outcome(self, support: _Integers, beta: _Floats, intercept: float) -> _Floats:
        """Return what a model leaves of each row that it is judged by."""
        return self.held_out.residuals(self.design, support, beta)

    def verdicts(self, models: _core.FoldModels) -> tuple[_Floats, _Floats, _Floats]:
        """Return the errors of models on the latter, and how they change if fits are rescaled."""
        return models.errors, models.along, models.square

    def path(self, models: _core.FoldModels, factor: float) -> FoldPath:
        """Return the solutions among the models of a frontier, at a lam of so many times theirs."""
        return models.path(factor, self.tested)


class Designs(Protocol):
    """Designs that may be at hand."""

    def design(self, rows: Hashable, make: Callable[[], _core.Quadratic]) -> _core.Quadratic:
        """Return the design of some rows."""


def open_search(
    shared: _core.ColumnPasses | None,
    batch: list[Fold],
    sbr: bool,
    ridge: float,
    forced: _Integers,
    workers: int,
    threads: int,
    begun: Sequence[tuple[_core.Folds, int] | None] = (),
) -> _core.Folds:
    """Return the searches of some folds, in so many threads, with so many for passes over X.

    Those that others have begun are taken from these.
    """
    return _core.Folds(
        [fold.design for fold in batch],
        [fold.held_out for fold in batch],
        shared,
        sbr,
        ridge,
        forced,
        workers,
        threads if shared is not None else max(1, threads // workers),
        list(begun),
    )


class Parts(NamedTuple):
    """Rows that are in the training sets of the same folds, part by part."""

    data: Data
    columns: list[_core.Columns]
    core: _core.Parts
    trained_on: NDArray[np.bool_]  # by part and split
    part_of: _Integers  # by row
    place: _Integers  # of each row in its part
    room: Room
    # Where part f is what split f is judged by: the responses and weights of every part
    tested: list[tuple[_Floats, _Floats | None]] | None

    def folds(self, splits: list[Split]) -> list[Fold]:
        """Return the folds that train on the parts of each split."""
        count = len(self.columns)
        places = np.flatnonzero(self.trained_on.T)  # by split and part
        begins = np.searchsorted(places, count * np.arange(len(splits) + 1)).tolist()
        parts = places % count
        designs = [self.pool(parts[begin:end]) for begin, end in pairwise(begins)]
        if self.tested is None:
            held_out = [self._held_out(split.test) for split in splits]
        else:
            pairs = zip(self.columns, self.tested, strict=True)
            held_out = [_core.hold_out_all(own, *targets) for own, targets in pairs]
        return [Fold(*each) for each in zip(designs, held_out, strict=True)]

    def fold(
        self, trained_on: NDArray[np.bool_], test: _Integers, pairs: Designs | None = None
    ) -> Fold:
        """Return the fold that trains on some of the parts; its design may be among others."""

        def make() -> _core.Quadratic:
            return self.pool(np.flatnonzero(trained_on))

        design = make() if pairs is None else pairs.design(trained_on.tobytes(), make)
        return Fold(design, self._held_out(test))

    def _held_out(self, test: _Integers) -> _core.HeldOut:
        return self.data.held_out(test, self.columns, self.part_of[test], self.place[test])

    def pool(self, which: _Integers) -> _core.Quadratic:
        """Return the design of some parts together."""
        return _core.pooled_quadratic(self.core, which, self.room.fold)


def make_parts(data: Data, splits: list[Split]) -> Parts | None:
    """Cut the rows into parts; None if they are many, or no part of them can stand alone.

    Nor are there parts of very many sparse columns, of which no products with all are made.
    """
    if data.is_screened:
        return None
    found = _tests_as_parts(splits, len(data.y))
    at_tests = found is not None
    found = found or _find_parts(splits, len(data.y))
    if found is None:
        return None
    rows, part_of, trained_on = found
    lengths = [len(which) for which in rows]
    ends = np.cumsum(lengths)
    order = np.concatenate(rows)
    place = np.empty(len(data.y), dtype=np.int64)
    place[order] = np.arange(len(order)) - np.repeat(ends - lengths, lengths)
    table = data.X.nbytes if isinstance(data.X, np.ndarray) else 0
    room = plan_room(data.memory, data.X.shape[1], len(rows), len(splits), data.largest, table)
    if isinstance(data.X, ColumnSource):
        columns, designs, owner = data.source_parts(rows)
        core = _core.make_parts(designs, room.parts, owner, at_once=True)
        return Parts(data, columns, core, trained_on, part_of, place, room, None)
    # Where the numbers of a part alone are too small to be squared, whole folds may be fine.
    with contextlib.suppress(ValueError):
        products = data.ready_products(part_of, len(rows))
        targets = data.targets_of_parts(order, ends.tolist())
        columns = data.columns_of_parts(rows, products)
        designs = [data.design_on(*part) for part in zip(columns, targets, products, strict=True)]
        # Products of sparse columns cost by entries.
        at_once = not sparse.issparse(data.X)
        core = _core.make_parts(designs, room.parts, at_once=at_once)
        tested = targets if at_tests else None
        return Parts(data, columns, core, trained_on, part_of, place, room, tested)
    return None


_Found = tuple[list[_Integers], _Integers, NDArray[np.bool_]]


def _tests_as_parts(splits: list[Split], n: int) -> _Found | None:
    """Return the rows of every part, the part of every row and the splits that train on each.

    None unless every split trains on all rows but its own, as those of KFold do, and they are few.
    """
    count = len(splits)
    if count > MOST_PARTS or any(split.train is not None for split in splits):
        return None
    rows = [split.test for split in splits]
    lengths = [len(test) for test in rows]
    if sum(lengths) != n or min(lengths) == 0:
        return None
    part_of = np.full(n, -1)
    part_of[np.concatenate(rows)] = np.repeat(np.arange(count), lengths)
    if part_of.min() < 0:  # one is in two of them
        return None
    order = np.argsort(part_of.astype(np.uint8), kind="stable")  # by part, and sorted in each
    ends = accumulate(lengths)
    sorted_rows = [order[end - length : end] for end, length in zip(ends, lengths, strict=True)]
    return sorted_rows, part_of, ~np.eye(count, dtype=bool)


def _find_parts(splits: list[Split], n: int) -> _Found | None:
    """Return the same of any splits: rows that the same ones train on are a part."""
    if len(splits) > MOST_PARTS:  # those of some splits are enough where they are too many
        some = _membership(splits[: 2 * MOST_PARTS], n)
        if some is None or len(np.unique(_patterns(some))) > MOST_PARTS:
            return None
    member = _membership(splits, n)
    if member is None:
        return None
    _, first, part_of = np.unique(_patterns(member), return_index=True, return_inverse=True)
    if len(first) > MOST_PARTS:
        return None
    part_of = part_of.reshape(-1).astype(np.int64, copy=False)
    rows = [np.flatnonzero(part_of == b) for b in range(len(first))]
    return rows, part_of, np.ascontiguousarray(member[:, first].T)


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
