"""Options that commands share."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

__all__ = ["modelling_options", "read_options", "reading_options", "table_options"]

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _check_encoding(_: click.Context, __: click.Parameter, value: str) -> str:
    try:
        if "a,1\n".encode(value).decode(value) == "a,1\n":  # some that are listed are not of text
            return codecs.lookup(value).name
    except (LookupError, ValueError):
        pass
    raise click.BadParameter(f"{value!r} is no encoding of text that Python knows.")


def _check_mark(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    value = {"tab": "\t", "\\t": "\t", "space": " "}.get(value or "", value)
    if value is not None and (len(value) != 1 or not value.isascii() or value in '"\r\n'):
        raise click.BadParameter("it must be one character (or 'tab', 'space').")
    return value


def _apply(decorators: list[Callable[[Any], Any]], command: _Command) -> _Command:
    for decorator in reversed(decorators):
        command = decorator(command)
    return command


def reading_options(command: _Command) -> _Command:
    """Options of how a text file is written."""
    return _apply(
        [
            click.option(
                "--delimiter",
                metavar="CHAR",
                callback=_check_mark,
                help="What stands between fields; by default the header tells.",
            ),
            click.option(
                "--encoding",
                default="utf-8",
                show_default=True,
                callback=_check_encoding,
                help="Such as latin-1.",
            ),
            click.option(
                "--decimal",
                default=".",
                show_default=True,
                metavar="CHAR",
                callback=_check_mark,
                help="The decimal point.",
            ),
            click.option(
                "--na",
                multiple=True,
                metavar="TEXT",
                help="Stands for a missing value, besides nothing, NA, NaN, null and the like.",
            ),
        ],
        command,
    )


def table_options(command: _Command) -> _Command:
    """Options of which columns of a table are what."""
    column: dict[str, Any] = {"metavar": "COLUMN"}
    many: dict[str, Any] = {"metavar": "COLUMN", "multiple": True}
    return _apply(
        [
            click.argument("table", required=False, type=click.Path(path_type=Path)),
            click.option("--target", **column, help="The column to explain."),
            click.option(
                "--example",
                type=click.Choice(["diabetes"]),
                help="Shipped data instead of a TABLE.",
            ),
            click.option("--drop", **many, help="Leave this column out."),
            click.option("--force", **many, help="This column or feature is in every model."),
            click.option("--categorical", **many, help="Its values are levels, even if numbers."),
            click.option("--keep", **many, help="Use it, even if it looks like an identifier."),
            click.option(
                "--interactions",
                is_flag=True,
                help="Add squares, a^2, and products, a:b, of deviations from the means.",
            ),
            click.option("--weights", **column, help="Weights, rescaled to sum to the rows."),
            click.option("--frequency", is_flag=True, help="The weights are counts of rows."),
            click.option(
                "--missing",
                type=click.Choice(["error", "drop", "mean", "indicator"]),
                default="error",
                show_default=True,
                help="Missing values: drop their rows, put the mean, or add an indicator too.",
            ),
            click.option(
                "--seed",
                type=click.IntRange(0, 2**31 - 1),
                default=0,
                show_default=True,
                help="Of everything random.",
            ),
        ],
        command,
    )


def modelling_options(command: _Command) -> _Command:
    """Options of how a model is chosen and judged."""
    return _apply(
        [
            click.option(
                "--criterion",
                type=click.Choice(["cv", "1se", "bic", "ebic", "ric"]),
                default="cv",
                show_default=True,
                help="How the price of a variable is chosen.",
            ),
            click.option("--size", type=click.IntRange(0), help="So many variables instead."),
            click.option("--lam", type=float, help="This price of a variable instead."),
            click.option(
                "--ridge",
                type=float,
                default=0.0,
                show_default=True,
                help="Ridge penalty, for columns of unit norm.",
            ),
            click.option(
                "--folds",
                type=click.IntRange(2),
                help="Of the cross-validation.  [default: 10]",
            ),
            click.option("--groups", metavar="COLUMN", help="Rows of one value stay together."),
            click.option(
                "--time", metavar="COLUMN", help="Folds respect the order of this column."
            ),
            click.option(
                "--test-share",
                type=float,
                default=0.0,
                help="Share of rows held out from everything, for an honest error.",
            ),
        ],
        command,
    )


def read_options(values: dict[str, Any]) -> Any:
    """Take the options of reading out of a command's values."""
    from ellzero.tables import ReadOptions

    return ReadOptions(
        values.pop("delimiter"), values.pop("encoding"), values.pop("decimal"), values.pop("na")
    )
