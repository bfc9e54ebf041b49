"""From the values of options to a table and settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ellzero.cli._console import Console
from ellzero.cli._options import read_options

__all__ = ["check_columns", "load", "make_settings"]


def load(console: Console, values: dict[str, Any]) -> tuple[Any, Any]:
    """Read the table that options name; return it and the settings."""
    path: Path | None = values.pop("table")
    example: str | None = values.pop("example")
    if (path is None) == (example is None):
        raise click.UsageError("Give a TABLE, or --example diabetes.")
    drop, texts = check_columns(values, example is not None)
    reading = read_options(values)

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
        with console.progress(f"Reading {path}") as say:
            table = read_table(
                path,
                reading,
                drop=drop,
                text=texts,
                progress=lambda rows: say(f"Reading {path}: {rows:,} rows"),
            )
    return table, make_settings(values)


def check_columns(values: dict[str, Any], has_target: bool = False) -> tuple[list[str], set[str]]:
    """Return the columns to drop, and those to read as texts."""
    if values["frequency"] and not values["weights"]:
        raise click.UsageError("--frequency says what --weights are: name their column.")
    if not has_target and not values["target"]:
        raise click.UsageError("--target is missing: the column to predict.")
    drop = list(values.pop("drop"))
    if values["target"] in drop:
        raise click.UsageError("--drop names the target.")
    return drop, {*values["categorical"], *([values["groups"]] if values.get("groups") else [])}


def make_settings(values: dict[str, Any]) -> Any:
    """Return what is asked."""
    from ellzero.selection import Settings

    tuples = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
    return Settings(**{**values, **tuples})
