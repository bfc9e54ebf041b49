"""From the values of options to a table and settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ellzero.cli._console import Console
from ellzero.cli._options import read_options

__all__ = ["load"]


def load(console: Console, values: dict[str, Any]) -> tuple[Any, Any]:
    """Read the table that options name; return it and the settings."""
    path: Path | None = values.pop("table")
    example: str | None = values.pop("example")
    if (path is None) == (example is None):
        raise click.UsageError("Give a TABLE, or --example diabetes.")
    if values["frequency"] and not values["weights"]:
        raise click.UsageError("--frequency says what --weights are: name their column.")
    if path is not None and not values["target"]:
        raise click.UsageError("--target is missing: the column to predict.")
    drop = values.pop("drop")
    if values["target"] in drop:
        raise click.UsageError("--drop names the target.")
    reading = read_options(values)

    from ellzero.selection import Settings
    from ellzero.tables import EXAMPLES, DataError, example_table, read_table

    if example is not None:
        table = example_table(example)
        values["target"] = values["target"] or EXAMPLES[example]
        unknown = [name for name in drop if name not in table.columns]
        if unknown:
            raise DataError(f"The example has no column {unknown[0]!r}, which --drop names.")
        for name in drop:
            del table.columns[name]
    else:
        assert path is not None
        texts = {*values["categorical"], *([values["groups"]] if values.get("groups") else [])}
        with console.progress(f"Reading {path}") as say:
            table = read_table(
                path,
                reading,
                drop=drop,
                text=texts,
                progress=lambda rows: say(f"Reading {path}: {rows:,} rows"),
            )
    tuples = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
    return table, Settings(**{**values, **tuples})
