"""Tables read from files: CSV, Parquet, Arrow and Stata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero._memory import too_large
from ellzero._messages import Argument
from ellzero.tables._columns import Column, Gatherer
from ellzero.tables._csv import CSVTypes, TypeMismatchError, open_csv
from ellzero.tables._errors import DataError, listed
from ellzero.tables._files import file_hash
from ellzero.tables._source import Source, open_source

__all__ = [
    "Attempt",
    "ReadOptions",
    "Table",
    "first_line",
    "kind_of_type",
    "open_table",
    "read_table",
]


# Bytes of a column of Parquet that are read at a time.
_BUFFER = 1 << 17


@dataclass(frozen=True)
class ReadOptions:
    """How a text file is written.

    Attributes
    ----------
    delimiter : str or None
        What stands between fields; None looks at the header.
    encoding : str
        As Python calls it.
    decimal : str
        The decimal point.
    na : tuple of str
        What stands for a missing value, besides nothing, NA, NaN, null and the like.
    """

    delimiter: str | None = None
    encoding: str = "utf-8"
    decimal: str = "."
    na: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """Columns of equal length, by name.

    Attributes
    ----------
    columns : dict
        The columns by their names.
    n_rows : int
        Rows.
    name : str
        The file that it came from.
    sha256 : str
        Hash of the file.
    unread : tuple of str
        Columns of the file that were not read.
    """

    columns: dict[str, Column]
    n_rows: int
    name: str
    sha256: str
    unread: tuple[str, ...] = ()

    def take(self, rows: NDArray[np.int64]) -> Table:
        """Return the same for some of the rows."""
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        return replace(self, columns=columns, n_rows=len(rows))


def read_table(
    path: Path,
    options: ReadOptions | None = None,
    *,
    drop: Collection[str] = (),
    only: Collection[str] | None = None,
    text: Collection[str] = (),
    day_first: Mapping[str, bool] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Table:
    """Read a table in batches, into one float64 or int32 array per column.

    Parameters
    ----------
    path : Path
        The file. Its name says what it is: .parquet, .arrow, .feather, .dta, all else CSV, also
        compressed (.gz, .bz2, .zst). A dash is standard input. That, pipes and the like are copied
        to a temporary file, and taken for what they begin like.
    options : ReadOptions, default=None
        How a text file is written.
    drop : collection of str
        Columns not to read. They must be there.
    only : collection of str, default=None
        The columns to read, as far as they are there; None reads all.
    text : collection of str
        Columns that are texts, even if they hold numbers or dates, with any number of levels.
    day_first : mapping from str to bool, default=None
        Whether the day comes before the month, for columns of texts like 01/02/2012. Of others it
        is known only if a day past the 12th tells; if none does, they stay texts.
    progress : callable, default=None
        Called with the number of rows read so far.

    Returns
    -------
    Table
        The columns.
    """
    with open_source(path) as source:
        return _read(
            source, options or ReadOptions(), drop, only, frozenset(text), day_first or {}, progress
        )


def _read(
    source: Source,
    options: ReadOptions,
    drop: Collection[str],
    only: Collection[str] | None,
    text: frozenset[str],
    day_first: Mapping[str, bool],
    progress: Callable[[int], None] | None,
) -> Table:
    # Sets and dicts throughout: a table may have a hundred thousand columns.
    names, attempts = open_table(source, options, text)
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(f"{source}: more than one column is called {listed(repeated)}.")
    every, dropped = frozenset(names), dict.fromkeys(drop)
    unknown = [name for name in dropped if name not in every]
    if unknown:
        raise DataError(
            f"{source} has no column {listed(unknown)}, which ", Argument("drop"), " names."
        )
    wanted = every if only is None else frozenset(only)
    kept = [name for name in names if name in wanted and name not in dropped]
    if only is None and not kept:
        raise DataError(f"{source} has no columns.")
    for types in attempts:
        gathered = _gather(source, types, kept, text, day_first, progress)
        if gathered is not None:
            break
    else:
        raise DataError(f"{source}: the types of its columns change from row to row.")
    columns, n_rows = gathered
    unread = tuple(name for name in names if name not in columns)
    return Table(columns, n_rows, source.name, file_hash(source.path), unread)


class Attempt:
    """One way to read a file: an Arrow type for each column, and the batches."""

    def __init__(
        self, types: dict[str, Any], batches: Callable[[list[str]], Iterator[Any]]
    ) -> None:
        self.types, self.batches = types, batches


def open_table(
    source: Source, options: ReadOptions, text: Collection[str]
) -> tuple[list[str], Iterator[Attempt]]:
    """Look at a file: return the names of its columns, and ways to read it.

    The first that comes to the end without a `TypeMismatchError` is right.
    """
    suffix = source.suffix
    readers = {
        ".parquet": _open_parquet,
        ".pq": _open_parquet,
        ".arrow": _open_arrow,
        ".feather": _open_arrow,
        ".ipc": _open_arrow,
        ".dta": _open_stata,
    }
    if suffix in readers:
        names, attempt = readers[suffix](source)
        return names, iter([attempt])
    csv = open_csv(source, options.delimiter, options.encoding, options.decimal, options.na, text)
    return csv.names, _csv_attempts(csv)


def _csv_attempts(csv: CSVTypes) -> Iterator[Attempt]:
    """Types as the first block of the file suggests them; if that fails, as all of it does."""
    for types in csv.attempts():
        yield Attempt(types, partial(csv.batches, types))


def _open_parquet(source: Source) -> tuple[list[str], Attempt]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # A stretch of each column at a time: groups of rows may be large. Checksums, where there
        # are some, are compared.
        file = pq.ParquetFile(
            source.path,
            page_checksum_verification=True,
            pre_buffer=False,
            buffer_size=_BUFFER,
        )
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(f"{source} is not a whole Parquet file: {first_line(error)}.") from None
    schema = file.schema_arrow

    def batches(kept: list[str]) -> Iterator[Any]:
        # Batches small enough for the memory that they take not to matter
        return iter(file.iter_batches(batch_size=16_384, columns=kept))

    return list(schema.names), Attempt(dict(zip(schema.names, schema.types, strict=True)), batches)


def _open_arrow(source: Source) -> tuple[list[str], Attempt]:
    import pyarrow as pa

    try:
        mapped = pa.memory_map(str(source.path))
        try:
            file = pa.ipc.open_file(mapped)
            count, get = file.num_record_batches, file.get_batch
        except pa.ArrowInvalid:
            mapped.seek(0)
            file = pa.ipc.open_stream(mapped)
            count, get = -1, None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(f"{source} is not a whole Arrow file: {first_line(error)}.") from None
    schema = file.schema

    def batches(kept: list[str]) -> Iterator[Any]:
        if get is None:
            for batch in file:
                yield batch.select(kept)
        else:
            for i in range(count):
                yield get(i).select(kept)

    return list(schema.names), Attempt(dict(zip(schema.names, schema.types, strict=True)), batches)


def _open_stata(source: Source) -> tuple[list[str], Attempt]:
    try:
        import pandas as pd
    except ImportError:
        raise DataError(f"{source}: Stata files need the package pandas.") from None
    import pyarrow as pa

    try:
        table = pa.Table.from_pandas(pd.read_stata(source.path), preserve_index=False)
    except Exception as error:  # a file that is cut can fail in any way in there
        raise DataError(f"{source} is not a whole Stata file: {first_line(error)}.") from None
    schema = table.schema

    def batches(kept: list[str]) -> Iterator[Any]:
        return iter(table.select(kept).to_batches())

    return list(schema.names), Attempt(dict(zip(schema.names, schema.types, strict=True)), batches)


def _gather(
    source: Source,
    attempt: Attempt,
    kept: list[str],
    text: Collection[str],
    day_first: Mapping[str, bool],
    progress: Callable[[int], None] | None,
) -> tuple[dict[str, Column], int] | None:
    """Read all batches; None if a column turns out to be of another type."""
    import pyarrow as pa

    gatherers = [
        _gatherer(source, name, attempt.types[name], name in text, day_first.get(name))
        for name in kept
    ]
    n_rows = 0
    try:
        for batch in attempt.batches(kept):
            for gatherer, array in zip(gatherers, batch.columns, strict=True):
                gatherer.add(array)
            n_rows += batch.num_rows
            # A small file can hold a large table, if it is compressed.
            size = n_rows * sum(gatherer.itemsize for gatherer in gatherers)
            if too_large(size):
                raise DataError(
                    f"{source}: its first {n_rows:,} rows alone take {size / 1e9:.1f} GB, more "
                    "than this machine has: leave out columns with ",
                    Argument("drop"),
                    ".",
                )
            if progress is not None:
                progress(n_rows)
    except TypeMismatchError:
        return None
    except (pa.ArrowException, OSError, UnicodeError, EOFError) as error:
        raise DataError(f"{source} can't be read to its end: {first_line(error)}.") from None
    return {gatherer.name: gatherer.finish() for gatherer in gatherers}, n_rows


def _gatherer(
    source: Source, name: str, kind: Any, as_text: bool, day_first: bool | None
) -> Gatherer:
    what = kind_of_type(source, name, kind, as_text)
    return Gatherer(name, what, what == "text" and as_text, day_first if what == "text" else None)


def kind_of_type(source: object, name: str, kind: Any, as_text: bool) -> str:
    """Return what a column of an Arrow type becomes: "number", "text" or "date"."""
    import pyarrow as pa

    is_ = pa.types
    if is_.is_dictionary(kind) or is_.is_string(kind) or is_.is_large_string(kind) or as_text:
        return "text"
    if is_.is_integer(kind) or is_.is_floating(kind) or is_.is_boolean(kind):
        return "number"
    if is_.is_null(kind) or is_.is_decimal(kind):
        return "number"
    if is_.is_temporal(kind) and not is_.is_interval(kind):
        return "date"
    raise DataError(
        f"{source}: column {name!r} holds values of the type {kind}, which are neither numbers, "
        "texts nor dates: leave it out with ",
        Argument("drop"),
        ".",
    )


def first_line(error: BaseException) -> str:
    """Return what an error says, in one line."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".")[:200] if lines else type(error).__name__
