"""Arrow's record batches as blocks of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ellzero.sources._accumulate import rows_per_block
from ellzero.sources._moments import Block
from ellzero.sources._reading import SourceError, check_folds, check_weight, read_blocks
from ellzero.sources._statistics import SufficientStatistics

__all__ = ["Wanted", "cut_batches", "read_arrow", "want"]


class Wanted(NamedTuple):
    """The columns that are read."""

    columns: list[str]  # of X
    target: str
    weights: str | None

    @property
    def names(self) -> list[str]:
        """All of them, the response after those of X."""
        return [*self.columns, self.target, *([self.weights] if self.weights else [])]

    def check(self, label: str, schema: pa.Schema) -> None:
        """Raise if a part lacks one of them, or has it in another kind than numbers."""
        for name in self.names:
            places = schema.get_all_field_indices(name)
            if not places:
                raise SourceError(f"{label} has no column {name!r}.")
            if len(places) > 1:
                raise SourceError(f"{label} has {len(places)} columns called {name!r}.")
            if not _is_number(schema.field(places[0]).type):
                raise SourceError(
                    f"{label}: {name!r} must hold numbers; it holds {schema.field(places[0]).type}."
                )


def _is_number(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return False
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
    )


def want(
    schema: pa.Schema, target: Any, columns: Sequence[str] | None, weights: Any, label: str
) -> Wanted:
    """Settle which columns are read, by the schema of the first part."""
    for what, name in (("target", target), ("weights", weights)):
        if not isinstance(name, str) and not (what == "weights" and name is None):
            raise TypeError(f"{what} must be the name of a column; got {name!r}.")
    if columns is None:
        columns = [name for name in schema.names if name not in (target, weights)]
    else:
        if isinstance(columns, str):
            raise TypeError("columns must be a sequence of names, not a string.")
        columns = list(columns)
        twice = [name for name in columns if columns.count(name) > 1]
        if twice or target in columns:
            raise ValueError(f"columns names {(twice or [target])[0]!r} once too often.")
    if not columns:
        raise SourceError(f"{label} has no columns beside {target!r}.")
    wanted = Wanted([str(name) for name in columns], target, weights)
    wanted.check(label, schema)
    return wanted


def read_arrow(
    batches: Any,
    target: Any,
    columns: Sequence[str] | None,
    weights: Any,
    folds: Any,
    random_state: Any,
    n_jobs: int | None,
) -> SufficientStatistics:
    """See `SufficientStatistics.from_arrow`."""
    n_folds, seed = check_folds(folds, random_state)
    parts = _parts_of(batches)
    first = next(parts, None)
    if first is None:
        raise SourceError("there are no rows.")
    wanted = want(first[0], target, columns, weights, "batch 0")

    def blocks() -> Iterator[Block]:
        for part, (schema, own) in enumerate(chain([first], parts)):
            wanted.check(f"batch {part}", schema)
            yield from cut_batches(part, f"batch {part}", own, wanted)

    return read_blocks(
        blocks(),
        wanted.columns,
        wanted.target,
        "batch {}".format,
        folds=n_folds,
        seed=seed,
        n_jobs=n_jobs,
    )


def _parts_of(batches: Any) -> Iterator[tuple[pa.Schema, Iterable[pa.RecordBatch]]]:
    if isinstance(batches, (pa.Table, pa.RecordBatch)):
        batches = [batches]
    elif isinstance(batches, pa.RecordBatchReader):
        batches = iter([batches])
    elif hasattr(batches, "to_batches") and hasattr(batches, "schema"):  # a dataset
        yield batches.schema, batches.to_batches()
        return
    for item in batches:
        if isinstance(item, pa.RecordBatch):
            yield item.schema, [item]
        elif isinstance(item, pa.Table):
            yield item.schema, item.to_batches()
        elif isinstance(item, pa.RecordBatchReader):
            yield item.schema, item
        else:
            raise TypeError(
                f"batches must hold Arrow's tables or batches; got {type(item).__name__}."
            )


def cut_batches(
    part: int, label: str, batches: Iterable[pa.RecordBatch], wanted: Wanted
) -> Iterator[Block]:
    """Cut batches of any length into blocks of the same length, but for the last."""
    size, start = rows_per_block(len(wanted.columns) + 1), 0
    held: list[pa.RecordBatch] = []
    count = 0
    for whole in batches:
        batch = whole.select(wanted.names)
        while count + batch.num_rows >= size:
            held.append(batch.slice(0, size - count))
            batch = batch.slice(size - count)
            yield _block(part, label, start, held, wanted)
            start, held, count = start + size, [], 0
        if batch.num_rows:
            held.append(batch)
            count += batch.num_rows
    if count:
        yield _block(part, label, start, held, wanted)


def _block(
    part: int, label: str, start: int, batches: list[pa.RecordBatch], wanted: Wanted
) -> Block:
    table = pa.Table.from_batches(batches)
    values = [_numbers(table.column(name)) for name in [*wanted.columns, wanted.target]]
    weight = None
    if wanted.weights is not None:
        weight = check_weight(label, _numbers(table.column(wanted.weights)))
    return Block(part, start, None, values, weight)


def _numbers(column: pa.ChunkedArray) -> Any:
    """Return an array; what is missing becomes NaN."""
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    if column.null_count or pa.types.is_boolean(column.type):
        column = column.cast(pa.float64()) if not pa.types.is_boolean(column.type) else column
        values = column.to_numpy()
        return values.astype(np.float64) if values.dtype == object else values
    return column.to_numpy()
