"""``ellzero reproduce``: the paper's figures and tables, remade."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from ellzero.cli._console import Console, clean

__all__ = ["command"]

_PARTS = (
    "all",
    "posterior-means",
    "penalties",
    "paths",
    "accuracy",
    "selection",
    "timing",
    "diabetes",
)


@click.command("reproduce")
@click.argument("parts", nargs=-1, type=click.Choice(_PARTS), metavar="[PARTS]...")
@click.option(
    "--trials",
    type=click.IntRange(1),
    help="Number of trials of accuracy, selection and timing.  [default: as in the paper, "
    "1000, 1000 and 200]",
)
@click.option("--jobs", type=click.IntRange(1), help="Number of processes.  [default: all cores]")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("reproduction"),
    show_default=True,
    metavar="DIR",
    help="The folder to write.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**31 - 1),
    default=0,
    show_default=True,
    help="Seed of the random numbers.",
)
@click.option("--resume", is_flag=True, help="Go on from the trials in the folder.")
@click.option("--dask", metavar="ADDRESS", help="Run trials on the workers of this scheduler.")
@click.option("--quick", is_flag=True, help="Fewer trials; some minutes instead of an hour.")
@click.option("--quiet", "-q", is_flag=True, help="Print errors only.")
def command(parts: tuple[str, ...], out: Path, quiet: bool, resume: bool, **options: Any) -> None:
    """Remake the paper's figures and tables, and say which of its claims hold.

    PARTS are some of all (the default), posterior-means, penalties, paths, accuracy, selection,
    timing and diabetes. The result is a folder with a page, index.html, figures and data. Every
    finished trial is kept at once: after an interruption, --resume goes on from there.
    """
    console = Console(quiet)

    from ellzero.paper import PARTS, reproduce

    try:
        with _bars(quiet) as progress:
            page = reproduce(parts or "all", out, resume=resume, progress=progress, **options)
    except KeyboardInterrupt:
        if not quiet and (out / "trials").is_dir():
            shown = clean(str(out / "trials"), 1000)
            print(f"Finished trials are in {shown}: --resume goes on.", file=sys.stderr)
        raise
    if quiet:
        return

    import pandas as pd

    rows = []
    for name, module in PARTS.items():
        path = out / "data" / f"{name}.parquet"
        if path.exists():
            claims = module.claims(pd.read_parquet(path))
            found = [claim.verdict for claim in claims if not claim.beyond]
            verdicts = ("confirmed", "better", "not confirmed")
            rows.append([name, *(str(found.count(verdict)) for verdict in verdicts)])
    console.table(["claims of the paper", "confirmed", "better", "not confirmed"], rows)
    console.say(f"\nThe page is {clean(str(page), 1000)}")


@contextlib.contextmanager
def _bars(quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """Show one progress bar per part, with the time left, on a terminal only."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console as RichConsole
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        # Of the last minutes, since trials of a study can differ a hundredfold
        TimeRemainingColumn(),
    )
    tasks: dict[str, Any] = {}
    with Progress(*columns, console=RichConsole(stderr=True), speed_estimate_period=600) as bars:

        def update(part: str, done: int, total: int) -> None:
            if part not in tasks:
                tasks[part] = bars.add_task(part, total=total)
            bars.update(tasks[part], completed=done, total=total)

        yield update
