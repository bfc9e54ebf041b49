"""Tables in many files: which options they have, and the passes over them."""

from __future__ import annotations

import glob
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from ellzero.cli._console import Console
from ellzero.cli._files import is_standard, output_path, same_file
from ellzero.cli._load import check_columns, make_settings
from ellzero.cli._options import read_options

__all__ = ["PartsAsked", "choose_from_parts", "parts_options", "settle_parts"]

_Command = TypeVar("_Command", bound=Callable[..., Any])
_MEMORY = "2GB"


class PartsAsked(NamedTuple):
    """What is asked of tables in many files."""

    places: list[str]
    memory: str
    dask: str | None
    checkpoint: Path | None
    written: list[Path]  # what is written, which no part may be


def parts_options(command: _Command) -> _Command:
    """Name tables, and say how many files are gone through."""
    decorators = [
        click.argument("table", nargs=-1, type=click.Path(path_type=Path)),
        click.option(
            "--memory",
            metavar="SIZE",
            help="Go through the files a stretch at a time and hold no more than this, such as "
            f"500MB.  [default: {_MEMORY} for several files; one file is read whole]",
        ),
        click.option(
            "--dask",
            metavar="ADDRESS",
            help="Have the workers of this Dask cluster, which see the same files, go through "
            "them.",
        ),
        output_path(
            "--checkpoint",
            "--resume",
            help="Keep what is known of the files here: the same command goes on from there if it "
            "was killed. Removed at the end.",
        ),
    ]
    for decorator in reversed(decorators):
        command = decorator(command)
    return command


def settle_parts(values: dict[str, Any], outputs: Sequence[Path | None]) -> PartsAsked | None:
    """Take the options of parts; None if there is one table, to be read whole."""
    tables: tuple[Path, ...] = values.pop("table")
    memory, dask, checkpoint = (values.pop(name) for name in ("memory", "dask", "checkpoint"))
    if is_standard(checkpoint):
        raise click.UsageError("--checkpoint must name a file, not standard output.")
    asked = memory is not None or dask is not None or checkpoint is not None
    if not asked and len(tables) < 2 and not any(_is_many(table) for table in tables):
        values["table"] = tables[0] if tables else None
        return None
    if values.pop("example") is not None or not tables:
        raise click.UsageError("--memory, --dask and --checkpoint are for tables in files.")
    written = [path for path in (*outputs, checkpoint) if path is not None]
    places = [str(table) for table in tables]
    return PartsAsked(places, memory or _MEMORY, dask, checkpoint, written)


def _is_many(table: Path) -> bool:
    return table.is_dir() or (not table.exists() and glob.has_magic(str(table)))


def choose_from_parts(
    asked: PartsAsked,
    console: Console,
    values: dict[str, Any],
    show: Callable[[Console, Any], None],
) -> Any:
    """Look at the files, show what their columns are, and choose a model."""
    drop, texts = check_columns(values)
    reading = read_options(values)
    settings = make_settings(values)

    from ellzero._engine import thread_count
    from ellzero.streams import Budget, parse_memory, prepare_stream, select_stream
    from ellzero.streams._runner import Cluster, Here, Runner
    from ellzero.tables._parts import find_parts, look_at_parts

    budget = Budget(parse_memory(asked.memory), thread_count())
    with ExitStack() as stack:
        with console.progress("Looking at files") as say:
            parts = find_parts(asked.places)
            for part, path in product(parts, asked.written):
                if same_file(path, Path(part.path)):
                    raise click.UsageError(f"{path} is a part: it would be written over.")
            layout = look_at_parts(parts, reading, drop, texts)
            runner: Runner = Here()
            if asked.dask is not None:
                runner = cluster = Cluster(asked.dask, say)
                stack.callback(cluster.close)
            data = prepare_stream(
                layout,
                settings,
                budget,
                checkpoint=asked.checkpoint,
                runner=runner,
                progress=say,
            )
        show(console, data)
        with console.progress("Summing products") as say:
            return select_stream(data, settings, say)
