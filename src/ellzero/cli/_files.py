"""The files of a command: those that it reads and those that it writes, none of them twice.

Whatever is wrong with them is said before any work, and before anything is read.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

import click

__all__ = ["FileCommand", "is_standard", "output_path", "same_file", "write_output"]

_Command = TypeVar("_Command", bound=Callable[..., Any])

# Other names of "-". Opened as files, they would overwrite what is there from the beginning.
_STANDARD_OUTPUT = {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}
_STANDARD_INPUT = {"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}


def is_standard(path: Path | None) -> bool:
    """Whether a path is a dash, which stands for standard input or output."""
    return str(path) == "-"


def write_output(path: Path, text: str) -> None:
    """Write a result to a file, whole or not at all, or to standard output."""
    from ellzero.tables import write_aside

    if is_standard(path):
        sys.stdout.write(text)
    else:
        write_aside(path, text)


class _OutputPath(click.Path):
    """A file that can be written, as far as can be known beforehand; a dash for standard output."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if is_standard(path) or str(path) in _STANDARD_OUTPUT:
            return Path("-")
        try:
            problem = _why_not(path)
        except OSError as error:
            problem = f"{path} can't be written: {(error.strerror or str(error)).lower()}."
        if problem:
            self.fail(problem, param, ctx)
        return path


def _why_not(path: Path) -> str:
    """Say why a file can't be written; nothing if it can."""
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISDIR(os.stat(path).st_mode):
            return f"{path} is a directory."
        if not os.access(path, os.W_OK):
            return f"{path} is protected against writing."
        if not path.is_file():
            return ""
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        return f"there is no directory {folder}."
    try:
        # The first thing that writing will do: permissions alone do not tell, least of all for root
        tempfile.NamedTemporaryFile(prefix=".ellzero.", dir=folder).close()
    except OSError as error:
        return f"nothing can be written in {folder}: {(error.strerror or str(error)).lower()}."
    return ""


def output_path(*names: str, help: str) -> Callable[[_Command], _Command]:
    """Return an option that names a file to write; a dash stands for standard output."""
    return click.option(*names, type=_OutputPath(), metavar="FILE", help=help)


class FileCommand(click.Command):
    """A command that writes over nothing that it reads, and nothing twice."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse, and compare all files that were named."""
        rest = super().parse_args(ctx, args)
        inputs: dict[str, Path] = {}
        outputs: dict[str, Path] = {}
        for param in self.params:
            value = ctx.params.get(param.name or "")
            if isinstance(value, Path) and isinstance(param, click.Argument):
                inputs[param.human_readable_name] = value
            elif isinstance(value, tuple) and isinstance(param, click.Argument):
                for number, path in enumerate(value, 1):
                    which = f" {number}" if len(value) > 1 else ""
                    inputs[f"{param.human_readable_name}{which}"] = path
            elif isinstance(value, Path) and isinstance(param.type, _OutputPath):
                outputs[param.opts[0]] = value
        _check_distinct(inputs, outputs)
        return rest


def _check_distinct(inputs: dict[str, Path], outputs: dict[str, Path]) -> None:
    for (one, path), (other, second) in combinations(inputs.items(), 2):
        if {str(path), str(second)} <= {"-", *_STANDARD_INPUT}:
            raise click.UsageError(f"{one} and {other} can't both be standard input.")
    for (one, path), (other, second) in combinations(outputs.items(), 2):
        if is_standard(path) and is_standard(second):
            raise click.UsageError(f"{one} and {other} can't both be standard output.")
    printed = list(_standard_output_file())
    for option, path in [*outputs.items(), *printed]:
        for argument, source in inputs.items():
            if same_file(path, source):
                raise click.UsageError(
                    f"{option} is {argument}, {source}: it would be written over."
                )
    for (one, path), (other, second) in combinations([*outputs.items(), *printed], 2):
        if same_file(path, second):
            raise click.UsageError(f"{one} and {other} are one file, {path}: name two.")


def _standard_output_file() -> Iterator[tuple[str, Path]]:
    """Yield the file that standard output goes to, if it is one and has a name here."""
    with contextlib.suppress(OSError, ValueError):
        mode = os.fstat(sys.stdout.fileno()).st_mode
        if stat.S_ISREG(mode) and os.path.exists("/dev/fd/1"):
            yield "Standard output", Path(f"/dev/fd/{sys.stdout.fileno()}")


def same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, be it there or not; devices and pipes are no files."""
    if is_standard(one) or is_standard(other):
        return False
    with contextlib.suppress(OSError):
        # Also by hard links, and in folders that do not tell capitals from small letters
        return os.path.samefile(one, other) and one.is_file()
    first, second = (os.path.realpath(path) for path in (one, other))
    if first == second:
        return True
    (folder, name), (place, called) = os.path.split(first), os.path.split(second)
    try:
        if not os.path.samefile(folder, place):
            return False
    except OSError:
        return False
    return name == called or (name.casefold() == called.casefold() and _ignores_case(folder))


def _ignores_case(folder: str) -> bool:
    """Whether a folder does not tell capitals from small letters; that can only be tried."""
    with tempfile.NamedTemporaryFile(prefix=".ellzero.", dir=folder) as file:
        return os.path.exists(os.path.join(folder, os.path.basename(file.name).swapcase()))
