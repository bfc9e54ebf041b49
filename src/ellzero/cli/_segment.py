"""``ellzero segment``: where a series changes, or spikes."""

from __future__ import annotations

import math
import shlex
import sys
import warnings
from pathlib import Path
from typing import Any

import click

from ellzero.cli._console import Console, clean
from ellzero.cli._files import FileCommand, is_standard, output_path, write_output
from ellzero.cli._options import read_options, reading_options
from ellzero.cli._select import write_json

__all__ = ["command"]

_MOST_SHOWN = 40


def _number_or(words: tuple[str, ...], value: str, option: str, most: float) -> float | str:
    if value in words:
        return value
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not 0 <= number <= most or (number == 0 and most == 1) or math.isinf(number):
        bounds = "a number from 0 up" if math.isinf(most) else f"above 0 and up to {most:g}"
        raise click.BadParameter(f"{option} must be {bounds}, or {' or '.join(words)}.")
    return number


@click.command("segment", cls=FileCommand)
@click.argument("series", type=click.Path(path_type=Path))
@click.option(
    "--column", metavar="COLUMN", help="The column of values; not needed if there is only one."
)
@click.option("--time", metavar="COLUMN", help="Order and label the rows by this column.")
@click.option("--weights", metavar="COLUMN", help="Weights of the samples.")
@click.option(
    "--lam",
    default="auto",
    show_default=True,
    metavar="X|auto|bic|cv",
    help="The price of a jump, or how to choose it.",
)
@click.option(
    "--noise",
    type=click.Choice(["auto", "white", "ar1"]),
    default="auto",
    show_default=True,
    help="Whether noise is correlated from sample to sample; with --lam auto, auto finds out.",
)
@click.option(
    "--rule",
    type=click.Choice(["min", "1se"]),
    default="min",
    show_default=True,
    help="With --lam cv: the penalty of least error, or the largest within one standard error.",
)
@click.option(
    "--smallest-jump", type=float, help="Instead of --lam: the smallest jump, in units of noise."
)
@click.option(
    "--duration", type=float, help="With --smallest-jump: how many samples it lasts at least."
)
@click.option(
    "--decay",
    default="1",
    show_default=True,
    metavar="X|estimate",
    help="What the signal is multiplied by between samples; 1 for steps.",
)
@click.option("--positive", is_flag=True, help="Jumps go up only, as spikes do.")
@output_path("--output", "-o", help="Write the segments as CSV.")
@output_path("--signal", help="Write the series and the signal through it as CSV.")
@output_path("--report", help="Write a report, one HTML file.")
@output_path("--json", help="Write all results as JSON (- for standard output).")
@click.option("--quiet", "-q", is_flag=True, help="Print errors only.")
@reading_options
@click.pass_context
def command(ctx: click.Context, /, **values: Any) -> None:
    """Find where the values of a column of SERIES jump, exactly.

    Between jumps the signal is constant, or decays. Missing values are gaps, which cost nothing.
    """
    outputs = [values.pop(key) for key in ("json", "output", "signal", "report")]
    json_path, output, signal_path, report_path = outputs
    console = Console(values.pop("quiet") or any(map(is_standard, outputs)))
    lam = _number_or(("auto", "bic", "cv"), values["lam"], "--lam", math.inf)
    decay = _number_or(("estimate",), values["decay"], "--decay", 1)
    source = ctx.get_parameter_source("lam")
    if values["smallest_jump"] is not None and source is not None and source.name != "DEFAULT":
        raise click.UsageError("--lam and --smallest-jump exclude each other.")
    if values["duration"] is not None and values["smallest_jump"] is None:
        raise click.UsageError("--duration is for --smallest-jump.")
    if values["smallest_jump"] is not None and values["duration"] is None and decay == 1:
        raise click.UsageError("--smallest-jump of steps needs --duration, in samples.")
    table, series = _read(console, values)

    import numpy as np

    from ellzero._warnings import PiecesWarning
    from ellzero.segmentation import estimate_decay, estimate_noise, lam_for_jump, segment
    from ellzero.tables import DataError

    jumps = "positive" if values["positive"] else "free"
    weights = series.weights
    if decay == "estimate":
        decay = estimate_decay(series.y, jumps=jumps, sample_weight=weights)
    if values["smallest_jump"] is not None:
        noise = estimate_noise(
            series.y, decay=float(decay), noise=values["noise"], sample_weight=weights
        )
        lam = lam_for_jump(
            values["smallest_jump"], noise=noise.sd, decay=float(decay), duration=values["duration"]
        )
    elif isinstance(lam, str) and np.count_nonzero(~np.isnan(series.y)) < 3:
        raise DataError("A series of fewer than three samples needs a price: --lam.")
    with console.progress("Segmenting"), warnings.catch_warnings():
        warnings.simplefilter("ignore", PiecesWarning)  # said in the command's own words
        found = segment(
            series.y,
            lam,
            decay=float(decay),
            jumps=jumps,
            noise=values["noise"],
            sample_weight=weights,
            rule=values["rule"],
        )
    content = _content(
        found, series, table, positive=values["positive"], follow=report_path is not None
    )
    _show(console, content, series)
    if output is not None:
        _write_csv(output, *_segment_rows(found, series))
        console.say(f"The segments are in {clean(str(output), 1000)}")
    if signal_path is not None:
        rows = [
            [series.label(i), "" if math.isnan(v) else repr(float(v)), repr(float(c))]
            for i, (v, c) in enumerate(zip(series.y, found.signal, strict=True))
        ]
        _write_csv(signal_path, [series.time or "index", series.name, "signal"], rows)
        console.say(f"The signal is in {clean(str(signal_path), 1000)}")
    if report_path is not None:
        from ellzero.report import make_series_report

        write_output(report_path, make_series_report(found, content, series.label))
        console.say(f"The report is in {clean(str(report_path), 1000)}")
    if json_path is not None:
        signal = [float(value) if math.isfinite(value) else None for value in found.signal]
        write_json({**content, "signal": signal}, json_path)


class _Series:
    """A column in order, with its labels."""

    def __init__(self, name: str, time: str | None, y: Any, weights: Any, labels: Any) -> None:
        self.name, self.time, self.y, self.weights, self._labels = name, time, y, weights, labels

    def label(self, place: int) -> str:
        """Return what the user calls a sample."""
        return str(place) if self._labels is None else str(self._labels[place])


def _read(console: Console, values: dict[str, Any]) -> tuple[Any, _Series]:
    import numpy as np

    from ellzero.tables import DataError, NumberColumn, read_table

    path, time = values["series"], values["time"]
    with console.progress(f"Reading {path}"):
        table = read_table(path, read_options(values))
    roles = [role for role in (values["column"], time, values["weights"]) if role]
    for role in roles:
        if role not in table.columns:
            raise DataError(f"{path} has no column {role!r}; it has {', '.join(table.columns)}.")
    name = values["column"]
    if name is None:
        rest = [n for n in table.columns if n not in roles]
        if len(rest) != 1:
            raise click.UsageError(f"--column is missing: one of {', '.join(map(clean, rest))}.")
        name = rest[0]
    column = table.columns[name]
    if not isinstance(column, NumberColumn):
        raise DataError(f"Column {name!r} does not hold numbers.")
    y = column.values
    if not y.size:
        raise DataError(f"{path} has no rows.")
    if np.isnan(y).all():
        raise DataError(f"Column {name!r} has no values: all {y.size:,} rows are empty.")
    if np.isinf(y).any():
        raise DataError(f"Column {name!r} has infinite values.")
    weights = None
    if values["weights"]:
        held = table.columns[values["weights"]]
        if not isinstance(held, NumberColumn) or held.n_missing or (held.values < 0).any():
            raise DataError(f"--weights: column {held.name!r} must hold numbers from 0 up.")
        weights = held.values
    labels = None
    if time is not None:
        order, labels = _order(table.columns[time])
        y, weights = y[order], None if weights is None else weights[order]
    return table, _Series(name, time, y, weights, labels)


def _order(column: Any) -> tuple[Any, list[str]]:
    """Return the order of the rows in time, and their labels."""
    import numpy as np

    from ellzero.tables import DataError, DateColumn, TextColumn, ValueColumn
    from ellzero.tables._columns import number_text
    from ellzero.tables._dates import DATE_FORMATS

    if isinstance(column, TextColumn):
        held = column.undated or "text, not dates or numbers"
        raise DataError(f"--time: column {column.name!r} holds ", held, f"; {DATE_FORMATS}.")
    if not isinstance(column, ValueColumn) or column.n_missing:
        raise DataError(f"--time: column {column.name!r} must hold a date or a number in each row.")
    order = np.argsort(column.values, kind="stable")
    ordered = column.values[order]
    if not isinstance(column, DateColumn):
        return order, [number_text(value) for value in ordered]
    moments = (np.round(ordered * 1e3)).astype("datetime64[ms]")
    unit = "D" if np.all(ordered % 86_400 == 0) else "s" if np.all(ordered % 1 == 0) else "ms"
    return order, [str(moment.astype(f"datetime64[{unit}]")) for moment in moments]


def _segment_rows(found: Any, series: _Series) -> tuple[list[str], list[list[str]]]:
    frame = found.to_frame()
    rows = [
        [
            str(int(row.start)),
            str(int(row.stop)),
            series.label(int(row.start)),
            repr(float(row.level)),
            "" if math.isnan(row.jump) else repr(float(row.jump)),
        ]
        for row in frame.itertuples()
    ]
    return ["start", "stop", "first", "level", "jump"], rows


def _write_csv(path: Path, header: list[str], rows: list[list[str]]) -> None:
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([header, *rows])
    write_output(path, text.getvalue())


def _show(console: Console, content: dict[str, Any], series: _Series) -> None:
    jumps, noise = content["changepoints"], content["noise"]
    correlated = content["noise_correlation"]
    words = f"noise {noise:.4g}" if noise else "noise not known"
    words += f", correlated at {correlated:.2f}" if correlated else ""
    console.say(
        f"{len(series.y):,} samples of {clean(series.name)!r}: {len(jumps):,} "
        f"{'jump' if len(jumps) == 1 else 'jumps'} at a price of {content['lam']:.6g} "
        f"({words}, decay {content['decay']:.6g})\n"
    )
    console.table(
        [series.time or "index", "between (95%)", "level", "jump", "jump / noise"],
        [
            [
                jump["label"],
                f"{jump['earliest_label']} and {jump['latest_label']}",
                f"{jump['level']:z.5g}",
                f"{jump['jump']:+z.5g}",
                f"{jump['jump_in_noise']:+z.1f}" if noise else "",
            ]
            for jump in jumps[:_MOST_SHOWN]
        ],
        left=2,
    )
    if len(jumps) > _MOST_SHOWN:
        console.say(f"... and {len(jumps) - _MOST_SHOWN:,} more")
    console.say()
    console.say(f"{content['optimum']} {content['penalty'].replace('It', 'The price', 1)}")
    for caution in content["cautions"]:
        console.note(caution, "Warning")


def _content(
    found: Any, series: _Series, table: Any, *, positive: bool, follow: bool
) -> dict[str, Any]:
    from ellzero import __version__
    from ellzero.segmentation._summary import summarise_series

    return {
        "ellzero": __version__,
        "command": shlex.join(["ellzero", *sys.argv[1:]]),
        "data": {
            "name": table.name,
            "sha256": table.sha256,
            "column": series.name,
            "time": series.time,
        },
        **summarise_series(found, series.label, positive=positive, follow=follow),
    }
