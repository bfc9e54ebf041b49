"""From the rows of a file to features: the same as are made of a table in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero.selection._linear_model import LinearModel, make_linear_model
from ellzero.sources._moments import Block, Moments, block_moments, room_for
from ellzero.streams._survey import gather, known_rows
from ellzero.tables import Column, DateColumn, Features, Plan, Table, TextColumn, ValueColumn
from ellzero.tables._parts import Layout, Part, read_part
from ellzero.tables._read import kind_of_type

__all__ = ["Recipe", "Rows", "RowsJob", "Stretch", "make_recipe", "stretches"]

_Floats = NDArray[np.float64]


class Stretch(NamedTuple):
    """Rows that follow each other in a part, as they were read."""

    part: int
    start: int
    batches: list[Any]
    types: dict[str, Any]
    label: str


class Rows(NamedTuple):
    """Rows as features: one array for each, the response, and weights."""

    columns: list[_Floats]
    y: _Floats
    weights: _Floats | None


@dataclass(frozen=True)
class Recipe:
    """How features are made of rows.

    Attributes
    ----------
    model : LinearModel
        The features, with the levels, pools, date parts and means that they are made with.
    weights : str or None
        The column that holds weights.
    present : tuple of str
        Rows that lack one of these are left out.
    kinds : dict
        What columns are, as the whole table says.
    """

    model: LinearModel
    weights: str | None
    present: tuple[str, ...]
    kinds: dict[str, str]

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        weights = [] if self.weights is None else [self.weights]
        return list(
            dict.fromkeys([*self.model.columns, self.model.target, *weights, *self.present])
        )

    def make(self, stretch: Stretch) -> Rows:
        """Return the features of some rows."""
        batches = list(known_rows(stretch.batches, self.present))
        n = sum(batch.num_rows for batch in batches)
        made = {
            name: self._column(name, stretch, [batch.column(name) for batch in batches])
            for name in self.columns
        }
        table = Table(made, n, stretch.label, "")
        y = getattr(made[self.model.target], "values", np.empty(0))
        weights = None if self.weights is None else getattr(made[self.weights], "values", None)
        if n == 0:
            return Rows([np.empty(0) for _ in self.model.features], np.empty(0), weights)
        self.model.check(table, lenient=False)
        features = self.model.features
        if all(feature.kind == "number" for feature in features) and not self.model.fills:
            numbers = [table.columns[feature.column] for feature in features]
            values = [column.values for column in numbers if isinstance(column, ValueColumn)]
            return Rows(values, y, weights)
        X = Features(features, learns=self.model.fills).build(
            table, None, np.array(self.model.means)
        )
        return Rows(list(X.T), y, weights)

    def _column(self, name: str, stretch: Stretch, arrays: list[Any]) -> Column:
        """Return a column as what it is in the whole table, also if it has no values here."""
        here = kind_of_type(stretch.label, name, stretch.types[name], self.kinds[name] == "text")
        if here == "text" and self.kinds[name] == "date":
            found = gather(name, "text", arrays, self.model.day_first.get(name), plain=False)
        else:
            found = gather(name, here, arrays)
        if self.kinds[name] == "date" and not isinstance(found, DateColumn):
            return DateColumn(name, np.full(len(found.missing), np.nan))
        if self.kinds[name] == "text" and not isinstance(found, TextColumn):
            return TextColumn(name, np.full(len(found.missing), -1, dtype=np.int32), [])
        assert isinstance(found, Column)
        return found


def make_recipe(
    plan: Plan,
    means: _Floats,
    target: str,
    weights: str | None,
    present: tuple[str, ...],
    kinds: dict[str, str],
    some: NDArray[np.int64] | None = None,
) -> Recipe:
    """Return how features of a plan are made: all of them, or some and their factors."""
    some = np.arange(len(plan.features)) if some is None else some
    model = make_linear_model(target, 0.0, plan, np.zeros(len(plan.features)), some, means, {})
    return Recipe(model, weights, present, kinds)


def stretches(layout: Layout, part: Part, columns: list[str], rows: int) -> Iterator[Stretch]:
    """Read some columns of a part."""
    start = 0
    for attempt, batches in read_part(layout, part, columns, rows):
        yield Stretch(part.number, start, batches, attempt.types, str(part))
        start += sum(batch.num_rows for batch in batches)


class RowsJob(NamedTuple):
    """What is done with every stretch: its features, and their moments by fold."""

    recipe: Recipe
    shift: _Floats
    folds: int
    seed: int

    def block(self, stretch: Stretch) -> Block:
        """Return the features of some rows as a block."""
        rows = self.recipe.make(stretch)
        return Block(stretch.part, stretch.start, None, [*rows.columns, rows.y], rows.weights)

    def run(self, stretch: Any, room: _Floats | None = None) -> list[Moments]:
        """Return the moments of every fold's rows, which lie in some room."""
        return block_moments(
            self.block(stretch), self.shift, folds=self.folds, seed=self.seed, room=room
        )

    def make_room(self) -> _Floats:
        """Return room for the moments of a block."""
        return room_for(self.folds, len(self.shift))
