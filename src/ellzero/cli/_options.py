"""Options that commands share."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

__all__ = [
    "modelling_options",
    "read_options",
    "reading_options",
    "table_argument",
    "table_options",
]

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
    """Options that say how a text file is written."""
    return _apply(
        [
            click.option(
                "--delimiter",
                metavar="CHAR",
                callback=_check_mark,
                help="The character between fields; by default found in the header.",
            ),
            click.option(
                "--encoding",
                default="utf-8",
                show_default=True,
                callback=_check_encoding,
                help="Encoding of the file, such as latin-1.",
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
                help="A text that means a missing value, as do an empty field, NA, NaN and null.",
            ),
        ],
        command,
    )


def table_argument(command: _Command) -> _Command:
    """Name one table."""
    return click.argument("table", required=False, type=click.Path(path_type=Path))(command)


def table_options(command: _Command) -> _Command:
    """Options that say what the columns of a table are for."""
    column: dict[str, Any] = {"metavar": "COLUMN"}
    many: dict[str, Any] = {"metavar": "COLUMN", "multiple": True}
    return _apply(
        [
            click.option("--target", **column, help="The column to predict."),
            click.option(
                "--example",
                type=click.Choice(["diabetes"]),
                help="Use this example data set instead of a TABLE.",
            ),
            click.option("--drop", **many, help="Leave this column out."),
            click.option("--force", **many, help="Keep this column or feature in every model."),
            click.option(
                "--categorical",
                **many,
                help="Encode this column as a category, even if it holds numbers.",
            ),
            click.option(
                "--keep", **many, help="Use this column, even if it looks like an identifier."
            ),
            click.option(
                "--rare",
                type=click.IntRange(0),
                metavar="N",
                help="Pool levels of categories that have fewer than N rows; 0 pools none.  "
                "[default: 5, or 1% of the rows if that is more]",
            ),
            click.option(
                "--dates",
                type=click.Choice(["leave", "parts"]),
                default="leave",
                show_default=True,
                help="What to do with dates: leave them out, or use their parts: year, month and "
                "weekday.",
            ),
            click.option(
                "--interactions",
                is_flag=True,
                help="Add squares, a^2, and products, a:b, of deviations from the means.",
            ),
            click.option(
                "--levels/--whole",
                "levels",
                default=False,
                help="Choose the levels of a category one by one; else a category is one variable, "
                "in or out whole.  [default: whole]",
            ),
            click.option(
                "--heredity",
                type=click.Choice(["strong", "weak"]),
                help="With --interactions: a product needs both (strong) or one (weak) of the "
                "columns that it is made of in the model.",
            ),
            click.option(
                "--weights",
                **column,
                help="The column of weights, which are rescaled to sum to the number of rows.",
            ),
            click.option(
                "--frequency",
                is_flag=True,
                help="Take the weights as counts of rows: they are not rescaled.",
            ),
            click.option(
                "--missing",
                type=click.Choice(["error", "drop", "mean", "indicator"]),
                default="error",
                show_default=True,
                help="What to do about missing values: stop, drop their rows, fill in the mean, or "
                "fill in the mean and add an indicator column.",
            ),
            click.option(
                "--seed",
                type=click.IntRange(0, 2**31 - 1),
                default=0,
                show_default=True,
                help="Seed of the random numbers (folds, rows held out, draws).",
            ),
        ],
        command,
    )


def modelling_options(command: _Command) -> _Command:
    """Options that say how a model is chosen and judged."""
    return _apply(
        [
            click.option(
                "--family",
                type=click.Choice(["auto", "gaussian", "binomial", "poisson"]),
                default="auto",
                show_default=True,
                help="What the target is: numbers, by least squares; one of two values, by "
                "logistic regression; counts. auto: two values are binomial, all else gaussian.",
            ),
            click.option(
                "--criterion",
                type=click.Choice(["ebic", "bic", "ric", "cv", "1se"]),
                default="ebic",
                show_default=True,
                help="How a model is chosen. ebic: by strong evidence for each variable; cv, 1se: "
                "for prediction, by cross-validation.",
            ),
            click.option(
                "--size",
                type=click.IntRange(0),
                help="Choose the best model of this many variables instead.",
            ),
            click.option("--lam", type=float, help="Use this price of a variable instead."),
            click.option(
                "--max-size",
                type=click.IntRange(0),
                help="Look at models of up to so many variables.  [default: until the "
                "cross-validated error has long been rising]",
            ),
            click.option(
                "--ridge",
                type=float,
                help="Ridge penalty, for columns of unit norm.  [default: 0; chosen too with "
                "--criterion cv or 1se; binomial and poisson: one that is hardly felt]",
            ),
            click.option(
                "--folds",
                type=click.IntRange(2),
                help="Number of folds of the cross-validation.  [default: 10]",
            ),
            click.option(
                "--repeats",
                type=click.IntRange(1),
                help="How often folds at random are made anew.  [default: 10, fewer for large "
                "tables]",
            ),
            click.option(
                "--groups",
                metavar="COLUMN",
                help="Keep rows with the same value of this column in the same fold.",
            ),
            click.option(
                "--time",
                metavar="COLUMN",
                help="Order rows by this column: each fold is later than its training rows.",
            ),
            click.option(
                "--test-share",
                type=float,
                default=0.0,
                help="Share of rows to keep out of the whole procedure, for an unbiased error.",
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
