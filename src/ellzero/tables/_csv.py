"""Text files, in batches whose columns have one type from the first row to the last."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Collection, Iterator
from typing import Any

from ellzero._messages import Argument
from ellzero.tables._errors import DataError
from ellzero.tables._source import Source, kind_of_file

__all__ = ["CSVTypes", "TypeMismatchError", "open_csv"]

_BLOCK = 1 << 22
# A row has to fit into a block: it has room for this many bytes per field.
_FIELD = 100
_HEAD = 1 << 20
_LONGEST_HEAD = 1 << 26
_DELIMITERS = ",;\t|"
_COMPRESSED = {".gz", ".bz2", ".zst"}
_IN_UTC = r"(Z|[+-]00(:?00)?)\s*$"


class TypeMismatchError(Exception):
    """A value did not fit the type of its column."""


class CSVTypes:
    """A text file whose header has been read."""

    def __init__(
        self,
        source: Source,
        names: list[str],
        header_lines: int,
        delimiter: str,
        encoding: str,
        decimal: str,
        na: Collection[str],
        text: Collection[str],
    ) -> None:
        self.source, self.names, self._header_lines = source, names, header_lines
        self._delimiter, self._encoding, self._decimal = delimiter, encoding, decimal
        self._na, self._text = na, text
        self._block = max(_BLOCK, _FIELD * len(names))

    def attempts(self) -> Iterator[dict[str, Any]]:
        """Yield a type for each column: first a guess, then what all rows agree with."""
        yield self._guess()
        yield self._survey()

    def batches(self, types: dict[str, Any], kept: list[str]) -> Iterator[Any]:
        """Yield record batches of some columns."""
        if not kept:
            return
        reader = self._reader(types, kept)
        yield from self._read(reader)

    def _guess(self) -> dict[str, Any]:
        """Take the types that the first block suggests; numbers are decimals, whatever it says.

        Times are in microseconds: nanoseconds end in 2262, and not every Arrow says so.
        """
        import pyarrow as pa

        reader = self._reader({name: pa.string() for name in self._text}, None)
        types = {}
        for name, kind in zip(self.names, reader.schema.types, strict=True):
            if pa.types.is_binary(kind):
                raise self._encoding_error()
            numeric = pa.types.is_integer(kind) or pa.types.is_null(kind)
            types[name] = pa.float64() if numeric else kind
            if pa.types.is_timestamp(kind) and kind.unit == "ns":
                types[name] = pa.timestamp("us", kind.tz)
        zoned = [n for n, kind in types.items() if pa.types.is_timestamp(kind) and kind.tz]
        if zoned:
            types.update(dict.fromkeys(self._not_in_utc(zoned), pa.string()))
        return types

    def _not_in_utc(self, names: list[str]) -> list[str]:
        """Say which times are written in other zones: Arrow would forget what clocks showed."""
        import pyarrow as pa
        import pyarrow.compute as pc

        batch = next(self._read(self._reader({name: pa.string() for name in names}, names)))
        ends = [pc.match_substring_regex(array, _IN_UTC) for array in batch.columns]
        return [n for n, end in zip(names, ends, strict=True) if pc.any(pc.invert(end)).as_py()]

    def _survey(self) -> dict[str, Any]:
        """Read everything as text and find the first type that fits all values of a column."""
        import pyarrow as pa
        import pyarrow.compute as pc

        ladder = [pa.float64(), pa.bool_(), pa.date32(), pa.timestamp("s"), pa.timestamp("us")]
        fitting = {name: [] if name in self._text else ladder for name in self.names}
        for batch in self._read(self._reader({name: pa.string() for name in self.names}, None)):
            for name, array in zip(self.names, batch.columns, strict=True):
                if not fitting[name] or array.null_count == len(array):
                    continue
                trimmed = pc.utf8_trim_whitespace(array)
                fitting[name] = [kind for kind in fitting[name] if self._fits(trimmed, kind)]
                if pa.float64() in fitting[name]:  # what is a number is nothing else
                    fitting[name] = [pa.float64()]
        return {name: [*kinds, pa.string()][0] for name, kinds in fitting.items()}

    def _fits(self, words: Any, kind: Any) -> bool:
        import pyarrow as pa
        import pyarrow.compute as pc

        if kind == pa.float64() and self._decimal != ".":
            words = pc.replace_substring(words, self._decimal, ".")
        try:
            words.cast(kind)
        except pa.ArrowInvalid:
            return False
        return True

    def _reader(self, types: dict[str, Any], kept: list[str] | None) -> Any:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        nothing = arrow_csv.ConvertOptions().null_values
        try:
            return arrow_csv.open_csv(
                self._stream(),
                read_options=arrow_csv.ReadOptions(
                    column_names=self.names,
                    skip_rows=self._header_lines,
                    block_size=self._block,
                    encoding=self._encoding,
                ),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=self._delimiter,
                    newlines_in_values=True,
                    # In a file of one column an empty line is a missing value.
                    ignore_empty_lines=len(self.names) > 1,
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=types,
                    include_columns=kept,
                    null_values=[*nothing, *self._na],
                    strings_can_be_null=True,
                    decimal_point=self._decimal,
                ),
            )
        except (pa.ArrowException, UnicodeError, OSError, EOFError) as error:
            raise self._explain(error) from None

    def _read(self, reader: Any) -> Iterator[Any]:
        import pyarrow as pa

        batch = None
        while True:
            try:
                batch = reader.read_next_batch()
            except StopIteration:
                self._check_last(batch)
                return
            except (pa.ArrowException, UnicodeError, OSError, EOFError) as error:
                raise self._explain(error) from None
            yield batch

    def _check_last(self, batch: Any) -> None:
        """Raise if a quote that was never closed has swallowed the lines after it."""
        if batch is None or not batch.num_rows or batch.schema.names[-1] != self.names[-1]:
            return
        last = batch.columns[-1][-1].as_py()
        if isinstance(last, str) and "\n" in last and self.source.suffix not in _COMPRESSED:
            with self.source.path.open("rb") as file:
                file.seek(max(0, self.source.path.stat().st_size - 1024))
                # Every other byte of what is written in UTF-16 is zero.
                if not file.read().replace(b"\0", b"").rstrip().endswith(b'"'):
                    raise DataError(
                        f"{self.source}: a quoted field does not end. Is the file cut off?"
                    )

    def _stream(self) -> Any:
        import pyarrow as pa

        return pa.input_stream(str(self.source.path))

    def _explain(self, error: BaseException) -> Exception:
        """Say in the user's terms what pyarrow met with."""
        message = str(error)
        found = re.search(r"Expected (\d+) columns, got (\d+): ?(.*)", message, re.DOTALL)
        if found:
            expected, got, row = found.groups()
            shown = row.strip().splitlines()[0][:80] if row.strip() else ""
            return DataError(
                f"{self.source}: a row has {got} fields where the header has {expected}: "
                f"{shown!r}. Is the file cut off, or the delimiter another one (",
                Argument("delimiter"),
                ")?",
            )
        if isinstance(error, UnicodeError) or "UTF8" in message:
            return self._encoding_error()
        if "conversion error" in message:
            return TypeMismatchError(message)
        if "Empty CSV" in message:
            return DataError(f"{self.source} has a header but no rows.")
        if "straddling" in message:
            return DataError(
                f"{self.source}: a row does not end within {self._block:,} bytes. Is a quote not "
                "closed, or the file cut off?"
            )
        if "CSV parser got out of sync" in message:
            return DataError(f"{self.source}: a quoted field does not end. Is the file cut off?")
        first = message.strip().splitlines()[0].rstrip(".")[:200] if message else "unknown error"
        return DataError(f"{self.source} can't be read to its end: {first}.")

    def _encoding_error(self) -> DataError:
        return _wrong_encoding(self.source, self._encoding, b"")


def open_csv(
    source: Source,
    delimiter: str | None,
    encoding: str,
    decimal: str,
    na: Collection[str],
    text: Collection[str],
) -> CSVTypes:
    """Read the header of a text file."""
    size = _HEAD
    while True:
        head, whole = _head(source, encoding, size)
        mark = _find_delimiter(head) if delimiter is None else delimiter
        if mark == decimal:
            raise DataError(f"The delimiter and the decimal point are both {decimal!r}.")
        header, lines, ended = _header(source, head, mark)
        if whole or ended:
            break
        if size >= _LONGEST_HEAD:
            raise DataError(f"{source}: its first line does not end within {size:,} bytes.")
        size *= 4
    names = [name.strip() for name in header]
    names = [name or f"(unnamed {place})" for place, name in enumerate(names, 1)]
    return CSVTypes(source, names, lines, mark, encoding, decimal, na, text)


def _header(source: Source, head: str, delimiter: str) -> tuple[list[str], int, bool]:
    """Return the fields of the header, its lines, and whether its end was seen."""
    stream = io.StringIO(head, newline="")
    reader = csv.reader(stream, delimiter=delimiter)
    try:
        header = next(row for row in reader if row)
    except (StopIteration, csv.Error):
        raise DataError(f"{source} has no header.") from None
    return header, reader.line_num, stream.tell() < len(head)


def _head(source: Source, encoding: str, size: int) -> tuple[str, bool]:
    """Return the beginning of the file as text, and whether that is all."""
    raw = _first_bytes(source, size)
    found = kind_of_file(raw)
    if found is not None:
        words, suffix = found
        advice = f"let its name end in {suffix}" if suffix else "save a table of it as CSV"
        raise DataError(f"{source} is {words}, not text: {advice}.")
    try:
        text = raw.decode(encoding, errors="ignore" if len(raw) == size else "strict")
    except UnicodeError:
        raise _wrong_encoding(source, encoding, raw) from None
    if "\0" in text:
        if _guess_encoding(raw):
            raise _wrong_encoding(source, encoding, raw)
        raise DataError(f"{source} is not a text file (it has zero bytes in it).")
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise DataError(f"{source} is empty.")
    return text, len(raw) < size


def _first_bytes(source: Source, size: int) -> bytes:
    path = source.path
    try:
        if source.suffix == ".gz":
            with gzip.open(path, "rb") as file:
                return file.read(size)
        if source.suffix in _COMPRESSED:
            import pyarrow as pa

            with pa.input_stream(str(path)) as stream:
                return bytes(stream.read(size))
        with path.open("rb") as file:
            return file.read(size)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{source} can't be read: {error}.") from None


def _wrong_encoding(source: Source, encoding: str, start: bytes) -> DataError:
    """Say that a file is not what it was taken for, and what it may be."""
    other = _guess_encoding(start) or ("latin-1" if encoding.startswith("utf-8") else "")
    wrong = f"{source} is not written in {encoding}"
    if other and other != encoding:
        return DataError(f"{wrong}: try ", Argument("encoding", other), ".")
    return DataError(f"{wrong}.")


def _guess_encoding(start: bytes) -> str:
    """Tell UTF-16 and UTF-32 by their mark, or by where they have zeros; else nothing.

    Where most letters are of the West, one byte in two, or three in four, is zero.
    """
    for mark, name in (
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
        (codecs.BOM_UTF8, "utf-8-sig"),
    ):
        if start.startswith(mark):
            return name
    sample = start[:4096]
    if len(sample) < 4:
        return ""
    zeros = [sample[place::4].count(0) / len(sample[place::4]) > 0.5 for place in range(4)]
    names = {
        (False, True, False, True): "utf-16-le",
        (True, False, True, False): "utf-16-be",
        (False, True, True, True): "utf-32-le",
        (True, True, True, False): "utf-32-be",
    }
    return names.get((zeros[0], zeros[1], zeros[2], zeros[3]), "")


def _find_delimiter(head: str) -> str:
    """Return which of the usual delimiters splits the header into most fields."""
    first = next((line for line in head.splitlines() if line.strip()), "")
    outside = re.sub(r'"[^"]*"', "", first)
    counts = [(outside.count(mark), -place) for place, mark in enumerate(_DELIMITERS)]
    best, place = max(counts)
    return _DELIMITERS[-place] if best else ","
