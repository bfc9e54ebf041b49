"""``ellzero select``: which columns of a table explain one of them."""

from __future__ import annotations

import math
import shlex
import sys
from pathlib import Path
from typing import Any

import click

from ellzero.cli._console import Console, clean
from ellzero.cli._files import FileCommand, is_standard, output_path, write_output
from ellzero.cli._load import load
from ellzero.cli._options import modelling_options, reading_options, table_options
from ellzero.cli._wording import in_options

__all__ = ["command"]


@click.command("select", cls=FileCommand)
@table_options
@modelling_options
@click.option("--posterior", is_flag=True, help="Compute inclusion probabilities too.")
@output_path("--json", help="Write all results as JSON (- for standard output).")
@output_path("--report", help="Write a report, one HTML file.")
@output_path("--save", help="Write the model, for ellzero predict.")
@click.option("--quiet", "-q", is_flag=True, help="Print errors only.")
@reading_options
@click.pass_context
def command(ctx: click.Context, /, **values: Any) -> None:
    """Choose the variables of TABLE that explain its column --target.

    TABLE is a CSV file (also compressed), Parquet, Arrow or Stata's .dta.
    """
    outputs = [values.pop(key) for key in ("json", "report", "save")]
    json_path, report_path, save_path = outputs
    console = Console(values.pop("quiet") or any(map(is_standard, outputs)))
    _check_usage(ctx, values)
    typed = shlex.join(["ellzero", *sys.argv[1:]])
    table, settings = load(console, values)

    from ellzero.selection import prepare

    data = prepare(table, settings)
    del table
    show_columns(console, data)

    from ellzero.selection import select, summarise
    from ellzero.selection._model_file import model_text

    with console.progress("Choosing variables") as say:
        selection = select(data, settings, say)
        say("Writing it up")
        content = summarise(selection, typed, in_options)
    show_selection(console, content)
    if report_path is not None:
        from ellzero.report import make_report

        write_output(report_path, make_report(selection, content))
        console.say(f"The report is in {clean(str(report_path), 1000)}")
    if save_path is not None:
        write_output(save_path, model_text(selection.linear))
        console.say(f"The model is in {clean(str(save_path), 1000)}")
    if json_path is not None:
        write_json(content, json_path)


def _check_usage(ctx: click.Context, values: dict[str, Any]) -> None:
    def given(name: str) -> bool:
        source = ctx.get_parameter_source(name)
        return source is not None and source.name != "DEFAULT"

    chosen = [f"--{name}" for name in ("criterion", "size", "lam") if given(name)]
    if len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(chosen)} exclude each other.")
    if values["lam"] is not None and not 0 < values["lam"] < math.inf:
        raise click.BadParameter("--lam must be a positive number.")
    if not 0 <= values["ridge"] < math.inf:
        raise click.BadParameter("--ridge must be a number from 0 up.")
    if not 0 <= values["test_share"] < 1:
        raise click.BadParameter("--test-share must be from 0 to less than 1.")
    if values["groups"] and values["time"]:
        raise click.UsageError("--groups and --time exclude each other.")
    by_cv = "size" not in chosen and values["lam"] is None and values["size"] is None
    if given("folds") and not (by_cv and values["criterion"] in ("cv", "1se")):
        raise click.UsageError("--folds is for --criterion cv or 1se.")


def write_json(content: dict[str, Any], path: Path) -> None:
    """Write results as JSON."""
    import json

    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_output(path, text)


def show_columns(console: Console, data: Any) -> None:
    """Show what each column was taken for, those left out first of all."""
    most = 25
    name = clean(data.table.name, 1000)
    console.say(f"{name}: {data.n_read:,} rows, {len(data.remarks)} columns\n")
    others = [remark for remark in data.remarks if remark.use != "predictor"]
    predictors = [remark for remark in data.remarks if remark.use == "predictor"]
    shown = [*others[:most], *predictors[:most]]
    console.table(
        ["column", "kind", "use", "details", "missing"],
        [
            [
                r.name,
                r.kind,
                r.use,
                in_options(r.details),
                f"{r.n_missing:,}" if r.n_missing else "",
            ]
            for r in shown
        ],
        left=4,
    )
    if len(shown) < len(data.remarks):
        console.say(f"... and {len(data.remarks) - len(shown)} more")
    console.say()
    console.flush()


def show_selection(console: Console, content: dict[str, Any]) -> None:
    """Show the chosen model."""
    model, data = content["model"], content["data"]
    size = model["size"]
    console.say(
        f"{size} of {data['features']} features explain {clean(content['target'])!r}, with R² "
        f"{model['r2']:.3f} on the {data['rows_fitted']:,} rows fitted"
    )
    rows = [
        [
            variable["name"],
            f"{variable['coefficient']:.5g}",
            f"{variable['standardised']:.3f}",
            f"{variable['r2_lost']:.4f}",
        ]
        for variable in model["variables"]
    ]
    console.say()
    console.table(
        ["variable", "coefficient", "standardised", "R² lost without it"],
        [*rows, ["(intercept)", f"{model['intercept']:.5g}", "", ""]],
    )
    console.say()
    if model["lam"] is not None:
        console.say(f"Price of a variable (lam): {model['lam']:.6g}. {model['certificate']}")
    else:
        console.say(f"{model['certificate']} No price of a variable leads to it.")
    curve = content["curve"]
    if curve is not None:
        mark = curve["one_se" if content["criterion"] == "1se" else "least"]
        error = f" ± {mark['se']:.4g}" if mark["se"] is not None else ""
        console.say(
            f"Cross-validated mean squared error ({curve['folds']}): {mark['error']:.4g}{error}; "
            "the price was chosen for it, so it is a little optimistic."
        )
    held = content["held_out"]
    if held is not None:
        console.say(
            f"On {held['rows']:,} rows held out: root mean squared error {held['rmse']:.4g} "
            f"(the mean alone: {held['rmse_of_mean']:.4g}), R² {_or_dash(held['r2'])}."
        )
    console.say(
        "Standard errors and p-values as if these variables had been fixed beforehand are not "
        "valid."
    )
    if content["posterior"] is not None:
        console.say()
        show_posterior(console, content["posterior"])
    for note in content["notes"]:
        console.note(note)


def show_posterior(console: Console, posterior: dict[str, Any], most: int = 20) -> None:
    """Show inclusion probabilities and sets of variables that stand in for each other."""
    console.table(
        ["variable", "probability", "mean", "95% from", "to"],
        [
            [
                variable["name"],
                f"{variable['inclusion']:.3f}",
                f"{variable['coefficient']:.4g}",
                f"{variable['low']:.4g}",
                f"{variable['high']:.4g}",
            ]
            for variable in posterior["variables"][:most]
        ],
    )
    rest = posterior["n_variables"] - min(most, len(posterior["variables"]))
    if rest > 0:
        console.say(f"... and {rest} less probable ones")
    together = [found for found in posterior["credible_sets"] if len(found["variables"]) > 1]
    for found in together:
        names = ", ".join(clean(name) for name in found["variables"])
        console.say(f"At least one of {names} is in, with probability {found['probability']:.3f}")


def _or_dash(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
