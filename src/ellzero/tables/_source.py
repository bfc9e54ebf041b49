"""Where the bytes of a table are: in a file, or in what can be read only once and is kept aside."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ellzero.tables._errors import DataError
from ellzero.tables._files import is_open, reason

__all__ = ["Source", "kind_of_file", "open_source", "read_limited"]

# How files begin that are not text, what to call them, and how their names end
_BEGINNINGS = (
    (b"\x1f\x8b", "a gzip file", ".gz"),
    (b"BZh", "a bzip2 file", ".bz2"),
    (b"\x28\xb5\x2f\xfd", "a zstd file", ".zst"),
    (b"PAR1", "a Parquet file", ".parquet"),
    (b"ARROW1", "an Arrow file", ".arrow"),
    (b"\xff\xff\xff\xff", "an Arrow stream", ".arrow"),
    (b"<stata_dta>", "a Stata file", ".dta"),
    (b"PK\x03\x04", "a zip file or an Excel workbook", ""),
    (b"\xd0\xcf\x11\xe0", "an Excel workbook", ""),
)


@dataclass(frozen=True)
class Source:
    """The bytes of a table.

    Attributes
    ----------
    path : Path
        Where they are.
    name : str
        What users call it.
    suffix : str
        What kind of file it is, as the end of a name.
    """

    path: Path
    name: str
    suffix: str

    def __str__(self) -> str:
        return self.name


@contextlib.contextmanager
def open_source(path: Path) -> Iterator[Source]:
    """Find the bytes of a table.

    A table is read more than once: for its header, its types, its rows and its hash. So what comes
    from standard input (a dash), a named pipe or the like is kept in a file until it is done with,
    and is taken for what it begins like.
    """
    mode = _mode(path)
    if mode is not None and stat.S_ISREG(mode) and not is_open(path) and _has_letters(path):
        yield Source(path, str(path), path.suffix.lower())
        return
    if mode is not None and stat.S_ISCHR(mode) and not _ends(path):
        raise DataError(f"{path} is a device, not a table.")
    name = "standard input" if mode is None else str(path)
    with tempfile.TemporaryDirectory(prefix="ellzero-") as folder:
        copy = Path(folder) / "table"
        try:
            with _open_once(path) as stream, copy.open("wb") as file:
                shutil.copyfileobj(stream, file, 1 << 20)
            with copy.open("rb") as file:
                found = kind_of_file(file.read(16))
        except OSError as error:
            raise DataError(f"{name} can't be read and kept aside: {reason(error)}.") from None
        suffix = found[1] if found else path.suffix.lower() if mode is not None else ""
        whole = copy.rename(copy.with_suffix(suffix)) if suffix else copy
        yield Source(whole, name, suffix)


def kind_of_file(start: bytes) -> tuple[str, str] | None:
    """Return what a file is, in words and as the end of a name, by its first bytes."""
    for beginning, words, suffix in _BEGINNINGS:
        if start.startswith(beginning):
            return words, suffix
    return None


def read_limited(path: Path, most: int) -> bytes | None:
    """Return all of a file, pipe or standard input (a dash); None if that is too much.

    It is opened once.
    """
    try:
        with _open_once(path) as file:
            content = file.read(most + 1)
    except OSError as error:
        raise DataError(f"{path} can't be read: {reason(error)}.") from None
    return content if len(content) <= most else None


def _mode(path: Path) -> int | None:
    """Return what a path leads to; None for standard input."""
    if str(path) == "-":
        return None
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISREG(mode):
            path.open("rb").close()
    except OSError as error:
        raise DataError(f"{path} can't be read: {reason(error)}.") from None
    if stat.S_ISDIR(mode):
        raise DataError(f"{path} is a directory, not a table.")
    return mode


def _open_once(path: Path) -> contextlib.AbstractContextManager[IO[bytes]]:
    if str(path) != "-":
        return path.open("rb")
    if sys.stdin is None:
        raise DataError("Standard input is closed: there is no table in it.")
    return contextlib.nullcontext(sys.stdin.buffer)


def _has_letters(path: Path) -> bool:
    """Whether the name is text: Arrow opens no others."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _ends(path: Path) -> bool:
    """Whether reading a device comes to an end: a terminal's does, and /dev/null has no more."""
    with contextlib.suppress(OSError), path.open("rb", buffering=0) as device:
        return device.isatty() or os.path.samefile(path, os.devnull)
    return False
