"""Finished trials on disk: one line of JSON per trial, appended when it is done."""

from __future__ import annotations

import contextlib
import json
import os
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import IO, Any

__all__ = ["Row", "Task", "TrialFile", "count_trials", "package_versions", "say_versions"]

# What a trial is known by (its size and number, say), and what it found
Task = tuple[int | str, ...]
Row = dict[str, Any]

_FORMAT = "ellzero trials 1"
_START = b'{"format":'
_PACKAGES = ("ellzero", "numpy", "scipy", "scikit-learn")


class TrialFile:
    """A file to which finished trials are appended, one process at a time.

    Its first line says which study the trials belong to, and which versions of the packages made
    them. A last line without an end is that of a process that was killed: it is cut off.

    Parameters
    ----------
    path : Path
        The file; made if there is none.
    study, seed : str, int
        What the trials belong to. Trials of anything else are an error.
    machine : str or None
        What they were made on, if that matters.
    """

    def __init__(self, path: Path, study: str, seed: int, machine: str | None = None) -> None:
        self.path = path
        self.done: dict[Task, list[Row]] = {}
        self._header: dict[str, Any] = {
            "format": _FORMAT,
            "study": study,
            "seed": int(seed),
            "versions": package_versions(),
        }
        if machine is not None:
            self._header["machine"] = machine
        self._file: IO[bytes] | None = None

    def __enter__(self) -> TrialFile:
        file = self._file = self.path.open("a+b")
        try:
            _lock(file, self.path)
            file.seek(0)
            self._read(file.read())
        except BaseException:
            file.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._file is not None
        self._file.close()

    def append(self, task: Task, rows: list[Row]) -> None:
        """Write a finished trial; it is on the disk when this returns."""
        self._write({"task": task, "rows": rows})
        self.done[task] = rows

    def _write(self, content: dict[str, Any]) -> None:
        assert self._file is not None
        line = json.dumps(content, allow_nan=False, separators=(",", ":")) + "\n"
        self._file.write(line.encode("ascii"))
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read(self, content: bytes) -> None:
        assert self._file is not None
        whole = content.rfind(b"\n") + 1
        if not whole and content[: len(_START)] != _START[: len(content)]:
            raise _foreign(self.path)  # not even the beginning of a header
        if whole < len(content):
            self._file.truncate(whole)
        lines = content[:whole].splitlines()
        if not lines:
            self._write(self._header)
            return
        self._check_header(_parse(lines[0], self.path, 1))
        for number, line in enumerate(lines[1:], start=2):
            entry = _parse(line, self.path, number)
            try:
                task, rows = tuple(entry["task"]), [dict(row) for row in entry["rows"]]
            except (KeyError, TypeError, ValueError):
                raise _damaged(self.path, number) from None
            self.done[task] = rows

    def _check_header(self, found: dict[str, Any]) -> None:
        if found.get("format") != _FORMAT:
            raise _foreign(self.path)
        for key, wanted in self._header.items():
            if found.get(key) != wanted:
                raise ValueError(
                    f"{self.path} holds trials with {key} {_say(found.get(key))}, not "
                    f"{_say(wanted)}: choose another folder for these."
                )


def package_versions() -> dict[str, str]:
    """Return the versions of all packages that numbers depend on."""
    return {name: version(name) for name in _PACKAGES}


def count_trials(path: Path) -> int:
    """Return how many trials a file holds, without looking at them."""
    if not path.exists():
        return 0
    if path.is_dir():
        raise ValueError(f"{path} is a folder, not a file of trials.")
    return max(0, path.read_bytes().count(b"\n") - 1)


def _parse(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        content = json.loads(line)
    except ValueError:
        raise _damaged(path, number) from None
    if not isinstance(content, dict):
        raise _damaged(path, number)
    return content


def _foreign(path: Path) -> ValueError:
    return ValueError(f"{path} does not hold trials of this version of ellzero.")


def _damaged(path: Path, number: int) -> ValueError:
    return ValueError(f"Line {number} of {path} is damaged: take it out, and resume.")


def say_versions(versions: dict[str, str]) -> str:
    """Write versions as a list of words."""
    return ", ".join(f"{name} {number}" for name, number in versions.items())


def _say(value: Any) -> str:
    return say_versions(value) if isinstance(value, dict) else str(value)


def _lock(file: IO[bytes], path: Path) -> None:
    """Keep other processes out until the file is closed, where the system can."""
    with contextlib.suppress(ImportError):
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(f"Another process is writing to {path}: wait for it.") from None
        except OSError:  # a file system without locks
            pass
