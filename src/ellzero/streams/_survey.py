"""The first pass: what the columns of a table in many files are."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.tables import DataError, DateColumn, NumberColumn, Table, TextColumn
from ellzero.tables._arrays import to_numpy
from ellzero.tables._columns import Gatherer, numbers_of
from ellzero.tables._csv import TypeMismatchError
from ellzero.tables._digests import make_digest
from ellzero.tables._facts import (
    DateFacts,
    Facts,
    NumberFacts,
    TextFacts,
    facts_from,
    facts_to,
    look_at_dates,
)
from ellzero.tables._parts import Layout, Part, read_part
from ellzero.tables._read import kind_of_type

__all__ = ["Question", "Survey", "known_rows", "survey_part"]

_Floats = NDArray[np.float64]
# Rows that are looked at together.
_ROWS = 1 << 16
_KINDS = {NumberFacts: "numbers", TextFacts: "texts", DateFacts: "dates"}


@dataclass(frozen=True)
class Question:
    """What is asked of every part.

    Attributes
    ----------
    columns : tuple of str
        The columns.
    weights : str or None
        The one that holds weights.
    parts_of_dates : bool
        Whether years, months and weekdays are looked at.
    present : tuple of str
        Rows that lack one of these are left out.
    """

    columns: tuple[str, ...]
    weights: str | None
    parts_of_dates: bool
    present: tuple[str, ...] = ()


@dataclass
class Survey:
    """What is known of the parts that have been looked at.

    Attributes
    ----------
    done : int
        How many parts these are.
    read, kept : int
        Rows that they have, and those that were not left out.
    facts : dict
        What is known of each column.
    ways : dict
        How text files are read: see `Layout`.
    empty : list of str
        The parts without rows.
    """

    done: int = 0
    read: int = 0
    kept: int = 0
    facts: dict[str, Facts] = field(default_factory=dict)
    ways: dict[int, int] = field(default_factory=dict)
    empty: list[str] = field(default_factory=list)

    def add(self, part: Part, other: Survey) -> None:
        """Take what the next part has."""
        self.done += 1
        self.read += other.read
        self.kept += other.kept
        self.ways.update(other.ways)
        self.empty += [] if other.read else [str(part)]
        for name, facts in other.facts.items():
            self.facts[name] = _both(name, self.facts.get(name), facts, part)

    def table(self, layout: Layout) -> Table:
        """Return the table as columns of which facts are known."""
        columns = {name: make_digest(name, facts) for name, facts in self.facts.items()}
        return Table(columns, self.kept, layout.name, layout.mark, layout.unread)

    def to_json(self) -> dict[str, Any]:
        """Return plain numbers and texts."""
        facts = {name: facts_to(facts) for name, facts in self.facts.items()}
        ways = {str(number): way for number, way in self.ways.items()}
        return {**vars(self), "facts": facts, "ways": ways}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Survey:
        """Return what these were made of."""
        facts = {name: facts_from(facts) for name, facts in content["facts"].items()}
        ways = {int(number): way for number, way in content["ways"].items()}
        return cls(**{**content, "facts": facts, "ways": ways})


def _both(name: str, one: Facts | None, two: Facts, part: Part) -> Facts:
    """Put facts together; a column without values is of any kind."""
    if one is None or (type(one) is not type(two) and one.rows == one.n_missing):
        return _without_values(one, two).then(two) if one is not None else two  # type: ignore[arg-type]
    if type(one) is not type(two):
        if two.rows > two.n_missing:
            raise DataError(
                f"{part}: column {name!r} holds {_KINDS[type(two)]}, but {_KINDS[type(one)]} in "
                "the parts before it: all parts need the same kinds of columns."
            )
        two = _without_values(two, one)
    return one.then(two)  # type: ignore[arg-type]


def _without_values(facts: Facts, like: Facts) -> Facts:
    """Return the facts of a column without values, as of another kind."""
    if isinstance(like, NumberFacts):
        return NumberFacts.of_nothing(facts.rows)
    if isinstance(like, TextFacts):
        return TextFacts.of_nothing(facts.rows, limited=like.limited)
    return DateFacts(facts.rows, facts.rows, like.calendar)


def survey_part(layout: Layout, part: Part, question: Question, threads: int) -> Survey:
    """Look at the columns of one part."""
    for way in (layout.ways.get(part.number, 0), 1):
        try:
            chosen = Layout(
                layout.parts,
                layout.names,
                layout.unread,
                layout.options,
                layout.text,
                {part.number: way} if way else {},
            )
            return _survey(chosen, part, question, threads)
        except TypeMismatchError:
            continue
    raise DataError(f"{part}: the types of its columns change from row to row.")


def _survey(layout: Layout, part: Part, question: Question, threads: int) -> Survey:
    found = Survey(ways=dict(layout.ways))
    undated: set[str] = set()
    columns = list(question.columns)
    with ThreadPoolExecutor(threads) as pool:
        for attempt, stretch in read_part(layout, part, columns, _ROWS):
            found.read += sum(batch.num_rows for batch in stretch)
            batches = list(known_rows(stretch, question.present))
            found.kept += sum(batch.num_rows for batch in batches)
            weights = _weights(batches, question.weights)

            def look(
                name: str,
                types: Mapping[str, Any] = attempt.types,
                batches: list[Any] = batches,
                weights: _Floats | None = weights,
            ) -> Facts:
                kind = kind_of_type(part, name, types[name], name in layout.text)
                arrays = [batch.column(name) for batch in batches]
                if kind == "number":
                    return NumberFacts.of(_join(arrays), weights)
                if kind == "date":
                    dates = gather(name, "date", arrays)
                    assert isinstance(dates, DateColumn)
                    return DateFacts.of(dates, weights, parts=question.parts_of_dates)
                limited = name not in layout.text
                skip = not limited or name in undated
                return _look_at_text(name, arrays, weights, limited, skip, question.parts_of_dates)

            for name, facts in zip(columns, pool.map(look, columns), strict=True):
                found.facts[name] = _both(name, found.facts.get(name), facts, part)
                known = facts.rows > facts.n_missing
                if isinstance(facts, TextFacts) and known and facts.dates is None:
                    undated.add(name)
    return found


def _weights(batches: Sequence[Any], name: str | None) -> _Floats | None:
    if name is None:
        return None
    try:
        values = _join([batch.column(name) for batch in batches])
    except (ValueError, TypeError):  # not numbers, which will be said of it
        return None
    return np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)


def _join(arrays: Sequence[Any]) -> _Floats:
    numbers = [numbers_of(array) for array in arrays]
    if not numbers:
        return np.empty(0)
    return numbers[0] if len(numbers) == 1 else np.concatenate(numbers)


def gather(
    name: str,
    kind: str,
    arrays: Sequence[Any],
    day_first: bool | None = None,
    *,
    plain: bool = True,
) -> Any:
    """Return a column of Arrow arrays; ``plain`` texts are no dates, whatever they hold."""
    if kind == "number":
        return NumberColumn(name, _join(arrays))
    gatherer = Gatherer(name, kind, kind == "text" and plain, day_first)
    for array in arrays:
        gatherer.add(array)
    return gatherer.finish()


def _look_at_text(
    name: str,
    arrays: Sequence[Any],
    weights: _Floats | None,
    limited: bool,
    undated: bool,
    parts: bool,
) -> TextFacts:
    import pyarrow as pa

    column = gather(name, "text", arrays)
    assert isinstance(column, TextColumn)
    facts = TextFacts.of(column, weights, limited=limited)
    if undated or facts.rows == facts.n_missing:
        return facts
    encoded = pa.chunked_array(arrays).combine_chunks()
    if not pa.types.is_dictionary(encoded.type):
        encoded = encoded.dictionary_encode()
    words = encoded.dictionary
    if pa.types.is_string(words.type) or pa.types.is_large_string(words.type):
        codes: NDArray[np.int64] = to_numpy(encoded.indices.cast(pa.int64()), np.int64, -1)
        facts.dates, facts.orders = look_at_dates(words, codes, weights, parts=parts)
    return facts


def known_rows(batches: Sequence[Any], present: Collection[str]) -> Iterator[Any]:
    """Return batches without the rows that lack a value in some columns."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for batch in batches:
        kept = np.ones(batch.num_rows, dtype=bool)
        for name in present:
            array = batch.column(name)
            kept &= pc.is_valid(array).to_numpy(zero_copy_only=False)
            if pa.types.is_floating(array.type):
                kept &= ~np.isnan(numbers_of(array))
        yield batch if kept.all() else batch.filter(pa.array(kept))
