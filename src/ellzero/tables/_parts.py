"""A table in many files: which they are, that they belong together, and their rows in stretches."""

from __future__ import annotations

import glob
import hashlib
import os
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from ellzero._messages import Argument
from ellzero.tables._csv import TypeMismatchError
from ellzero.tables._errors import DataError, listed
from ellzero.tables._files import file_hash, reason
from ellzero.tables._read import (
    Attempt,
    ReadOptions,
    first_line,
    kind_of_type,
    open_table,
)
from ellzero.tables._source import Source

__all__ = ["Layout", "Part", "find_parts", "look_at_parts", "read_part"]

_TYPED = (".parquet", ".pq", ".arrow", ".feather", ".ipc")
_TEXT = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".csv.bz2", ".csv.zst")
_ENDS = 1 << 16  # bytes at either end of a file that tell it from another


@dataclass(frozen=True)
class Part:
    """One of the files of a table.

    Attributes
    ----------
    number : int
        Its place among them, from 0.
    path : str
        Where it is.
    size, changed : int
        Bytes, and when they were last changed.
    mark : str
        A hash of its size, its beginning and its end.
    """

    number: int
    path: str
    size: int
    changed: int
    mark: str

    def __str__(self) -> str:
        return self.path

    def check(self) -> None:
        """Raise if the file is not what it was."""
        try:
            found = os.stat(self.path)
        except OSError as error:
            raise DataError(f"{self} can't be read any more: {reason(error)}.") from None
        if (found.st_size, found.st_mtime_ns) != (self.size, self.changed):
            raise DataError(f"{self} has changed since it was first looked at: begin anew.")


@dataclass(frozen=True)
class Layout:
    """Files that have the same columns.

    Attributes
    ----------
    parts : list of Part
        The files.
    names : list of str
        The columns that are read.
    unread : tuple of str
        Those that are not.
    options : ReadOptions
        How text files are written.
    text : frozenset of str
        Columns that are texts whatever they hold.
    ways : dict
        Of text files, by their numbers, that do not begin as they go on: which way of reading them
        is right.
    """

    parts: list[Part]
    names: list[str]
    unread: tuple[str, ...]
    options: ReadOptions
    text: frozenset[str]
    ways: dict[int, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What users call the table."""
        first, last = self.parts[0], self.parts[-1]
        if first is last:
            return str(first)
        return f"The table in {len(self.parts):,} files ({first} to {os.path.basename(last.path)})"

    @property
    def mark(self) -> str:
        """A hash of the marks of all parts."""
        return hashlib.sha256("".join(part.mark for part in self.parts).encode()).hexdigest()


def find_parts(places: Sequence[str]) -> list[Part]:
    """Return the files that are meant.

    Parameters
    ----------
    places : sequence of str
        Files, patterns such as ``part-*.parquet``, and folders, whose tables are taken; those of a
        pattern or a folder in the order of their names.

    Returns
    -------
    list of Part
        The files, none of them twice.
    """
    paths = [path for place in places for path in _files_of(place)]
    seen: dict[str, str] = {}
    parts: list[Part] = []
    marks: dict[str, Part] = {}
    for number, path in enumerate(paths):
        real = os.path.realpath(path)
        if real in seen:
            raise DataError(f"{path} is named twice.")
        seen[real] = path
        part = _make_part(number, path)
        twin = marks.setdefault(part.mark, part)
        if twin is not part and file_hash(Path(path)) == file_hash(Path(twin.path)):
            raise DataError(f"{path} is a copy of {twin}: leave one of them out.")
        parts.append(part)
    return parts


def _files_of(place: str) -> list[str]:
    if os.path.isdir(place):
        inside = sorted(
            entry.path
            for entry in os.scandir(place)
            if entry.is_file() and entry.name.lower().endswith((*_TYPED, *_TEXT))
        )
        if not inside:
            raise DataError(f"{place} has no tables in it: Parquet, Arrow or CSV files.")
        return inside
    if os.path.exists(place):
        return [place]
    found = sorted(path for path in glob.glob(place) if os.path.isfile(path))
    if not found:
        raise DataError(f"There is no file {place}.")
    return found


def _make_part(number: int, path: str) -> Part:
    if path.lower().endswith(".dta"):
        raise DataError(f"{path}: Stata files are read whole, not in parts: convert it.")
    try:
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            digest = hashlib.sha256(f"{found.st_size}".encode())
            digest.update(file.read(_ENDS))
            file.seek(max(0, found.st_size - _ENDS))
            digest.update(file.read(_ENDS))
    except OSError as error:
        raise DataError(f"{path} can't be read: {reason(error)}.") from None
    if not os.path.isfile(path):
        raise DataError(f"{path} is no file: parts are read more than once.")
    if not found.st_size:
        raise DataError(f"{path} is empty.")
    return Part(number, path, found.st_size, found.st_mtime_ns, digest.hexdigest())


def look_at_parts(
    parts: list[Part], options: ReadOptions, drop: Collection[str], text: Collection[str]
) -> Layout:
    """Look at the footers or headers of all files, before any work.

    Parameters
    ----------
    parts : list of Part
        The files.
    options : ReadOptions
        How text files are written.
    drop : collection of str
        Columns not to read. They must be there.
    text : collection of str
        Columns that are texts whatever they hold.

    Returns
    -------
    Layout
        What they have in common.
    """
    names: list[str] = []
    kinds: dict[str, tuple[str, Part]] = {}
    for part in parts:
        found, attempts = open_table(_source(part), options, text)
        repeated = [name for name, count in Counter(found).items() if count > 1]
        if repeated:
            raise DataError(f"{part}: more than one column is called {listed(repeated)}.")
        if not names:
            names = found
            unknown = [name for name in drop if name not in names]
            if unknown:
                raise DataError(
                    f"{part} has no column {listed(unknown)}, which ", Argument("drop"), " names."
                )
        _compare(parts[0], names, part, found)
        if part.path.lower().endswith(_TYPED):
            types = next(attempts).types
            for name in names:
                # A column of no type has no values, and may be anything
                if name not in drop and str(types[name]) != "null":
                    kind = kind_of_type(part, name, types[name], name in text)
                    check_kind(kinds, name, kind, part)
    kept = [name for name in names if name not in drop]
    if not kept:
        raise DataError(f"{parts[0]} has no columns.")
    return Layout(parts, kept, tuple(n for n in names if n in drop), options, frozenset(text))


def _compare(first: Part, names: list[str], part: Part, found: list[str]) -> None:
    lost = [name for name in names if name not in frozenset(found)]
    if lost:
        raise DataError(f"{part} has no column {listed(lost)}, which {first} has.")
    extra = [name for name in found if name not in frozenset(names)]
    if extra:
        raise DataError(
            f"{part} has a column {listed(extra)}, which {first} has not: all parts need the same "
            "columns."
        )


def check_kind(kinds: dict[str, tuple[str, Part]], name: str, kind: str, part: Part) -> None:
    """Raise if a column holds another kind of values than in an earlier part."""
    before, where = kinds.setdefault(name, (kind, part))
    if before != kind:
        raise DataError(
            f"{part}: column {name!r} holds {kind}s, but {before}s in {where}: all parts need the "
            "same kinds of columns."
        )


def _source(part: Part) -> Source:
    return Source(Path(part.path), part.path, os.path.splitext(part.path)[1].lower())


def read_part(
    layout: Layout, part: Part, columns: list[str], rows: int
) -> Iterator[tuple[Attempt, list[Any]]]:
    """Read some columns of a part in stretches of so many rows, but for the last.

    The part is checked to be what it was, before and after. Yields how it is read, with the type
    of each column, and the record batches of a stretch.

    Raises
    ------
    TypeMismatchError
        If a text file does not go on as it began, and another way to read it should be tried.
    """
    import pyarrow as pa

    part.check()
    _, attempts = open_table(_source(part), layout.options, layout.text)
    attempt = next(islice(attempts, layout.ways.get(part.number, 0), None), None)
    if attempt is None:
        raise DataError(f"{part}: the types of its columns change from row to row.")
    try:
        for stretch in _stretches(attempt.batches(columns), rows):
            yield attempt, stretch
    except TypeMismatchError:
        raise
    except (pa.ArrowException, OSError, UnicodeError, EOFError) as error:
        part.check()
        raise DataError(f"{part} can't be read to its end: {first_line(error)}.") from None
    part.check()


def _stretches(batches: Iterator[Any], rows: int) -> Iterator[list[Any]]:
    held: list[Any] = []
    count = 0
    for batch in batches:
        while count + batch.num_rows >= rows:
            held.append(batch.slice(0, rows - count))
            batch = batch.slice(rows - count)
            yield held
            held, count = [], 0
        if batch.num_rows:
            held.append(batch)
            count += batch.num_rows
    if held:
        yield held
