"""``ellzero predict``: a saved model on the rows of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ellzero.cli._console import Console
from ellzero.cli._files import FileCommand, output_path, write_output
from ellzero.cli._options import read_options, reading_options

__all__ = ["command"]


@click.command("predict", cls=FileCommand)
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("table", type=click.Path(path_type=Path))
@output_path("--output", "-o", help="Write predictions here, not to standard output.")
@click.option(
    "--lenient",
    is_flag=True,
    help="Rows with an unseen level or a missing value get no prediction, instead of an error.",
)
@click.option(
    "--interval",
    type=float,
    metavar="LEVEL",
    help="Write an interval beside each prediction, for this share of rows, such as 0.9: from "
    "rows held out, or for a posterior its predictive interval.",
)
@click.option("--quiet", "-q", is_flag=True, help="Print predictions and errors only.")
@reading_options
def command(
    model: Path,
    table: Path,
    output: Path | None,
    lenient: bool,
    interval: float | None,
    quiet: bool,
    **values: Any,
) -> None:
    """Predict the rows of TABLE with MODEL, a file of ellzero select --save or posterior --save.

    The predictions are CSV: a header and a line for each row. Of a binary target they are
    probabilities of its second value, which the header names. Those of a posterior are the average
    over all models; its intervals follow from the prior and from normal noise, and differ between
    rows. Intervals of a selected model reach equally far in every row: as far as rows that the
    choice had not seen were off.
    """
    if interval is not None and not 0 < interval < 1:
        raise click.BadParameter("--interval must be between 0 and 1.")
    console = Console(quiet)
    reading = read_options(values)

    import numpy as np

    from ellzero.selection import load_model
    from ellzero.tables import NumberColumn, read_table
    from ellzero.tables._errors import listed

    linear = load_model(model)
    wanted = {*linear.columns, linear.target}
    with console.progress(f"Reading {table}"):
        read = read_table(
            table, reading, only=wanted, text=linear.texts, day_first=linear.day_first
        )
    taken = linear.pooled_levels(read)
    with console.progress("Predicting"):
        predicted, bounds, words = linear.predict_checked(read, lenient=lenient, level=interval)
    if linear.draws is not None:
        console.note("predictions are the average over all models, by their probability.")
    if read.unread:
        console.note(f"columns that the model does not use: {listed(read.unread)}.")
    for word in taken:
        console.note(f"{word}.")
    for word in words:
        console.note(f"{word}: no prediction there.")
    if np.isinf(bounds or ()).any():
        console.note(f"there were too few rows for intervals of level {interval:g}.")
    columns = [predicted, *(bounds or ())]
    header = "prediction" if interval is None else "prediction,lower,upper"
    if linear.labels is not None:
        header = _field(f"probability of {linear.labels[1]}")
    lines = [header, *(_line(row) for row in zip(*columns, strict=True))]
    write_output(output or Path("-"), "\n".join(lines) + "\n")
    truth = read.columns.get(linear.target)
    if linear.loss.is_likelihood:
        _judge_likelihood(console, linear, truth, predicted)
    elif isinstance(truth, NumberColumn):
        known = np.isfinite(truth.values) & np.isfinite(predicted)
        if known.any():
            # Halved, and divided by the largest: neither a difference nor a square overflows
            halves = truth.values[known] / 2 - predicted[known] / 2
            unit = float(np.abs(halves).max()) or 1.0
            error = 2 * (unit * float(np.sqrt(np.mean((halves / unit) ** 2))))
            console.note(
                f"the table has {linear.target!r} too: root mean squared error {error:.5g} on "
                f"{int(known.sum()):,} rows."
            )


def _judge_likelihood(console: Console, linear: Any, truth: Any, predicted: Any) -> None:
    """Say how probabilities, or means of counts, do where the table has the target too."""
    import numpy as np

    from ellzero.selection._judge import judge_likelihood
    from ellzero.tables import NumberColumn, TextColumn

    if linear.labels is not None and isinstance(truth, NumberColumn):
        truth = truth.as_text()
    if linear.labels is not None and isinstance(truth, TextColumn):
        known_labels = {label: place for place, label in enumerate(linear.labels)}
        levels = [known_labels.get(level, np.nan) for level in truth.levels or ()]
        y = np.array([*levels, np.nan])[truth.codes]  # the last for those that are missing
    elif linear.labels is None and isinstance(truth, NumberColumn):
        y = np.where(truth.values >= 0, truth.values, np.nan)
    else:
        return
    known = np.isfinite(y) & np.isfinite(predicted)
    if not known.any():
        return
    judged = judge_likelihood(
        predicted[known], y[known], None, float(np.mean(y[known])), linear.loss
    )
    error = "log loss" if linear.labels is not None else "deviance"
    auc = judged.get("auc", np.nan)
    ranks = "" if np.isnan(auc) else f", area under the ROC {auc:.3f}"
    console.note(
        f"the table has {linear.target!r} too: mean {error} {judged['error']:.5g}{ranks} on "
        f"{int(known.sum()):,} rows."
    )


def _field(text: str) -> str:
    """Write a text as a field of CSV."""
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\r\n') else text


def _line(row: tuple[float, ...]) -> str:
    """Write a row of numbers; nothing where there is no prediction."""
    return ",".join("" if value != value else repr(float(value)) for value in row)
