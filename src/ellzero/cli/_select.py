"""``ellzero select``: which columns of a table predict one of them."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from ellzero.cli._console import Console, clean
from ellzero.cli._files import FileCommand, is_standard, output_path, write_output
from ellzero.cli._load import load
from ellzero.cli._options import modelling_options, reading_options, table_options
from ellzero.cli._parts import choose_from_parts, parts_options, settle_parts
from ellzero.cli._wording import in_options

__all__ = ["command"]


# Of a variable that has many features, so many are shown.
_MOST_PARTS = 12


class _Seconds(click.types.FloatParamType):
    """A number of seconds, which may be left out: what follows may have been meant for TABLE."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r} is no number of seconds: put TABLE before --prove.", param, ctx)


@click.command("select", cls=FileCommand)
@parts_options
@table_options
@modelling_options
@click.option("--posterior", is_flag=True, help="Compute inclusion probabilities too.")
@click.option(
    "--no-stability",
    "stability",
    is_flag=True,
    flag_value=False,
    default=True,
    help="Don't choose on halves of the rows too.",
)
@output_path("--json", help="Write all results as JSON (- for standard output).")
@output_path("--report", help="Write a report, one HTML file.")
@output_path("--save", help="Write the model, for ellzero predict.")
@click.option(
    "--prove",
    type=_Seconds(),
    is_flag=False,
    flag_value=60.0,
    metavar="[SECONDS]",
    help="Try to prove that no model is better at its price, or of its size; for 60 s unless told.",
)
@output_path("--certificate", help="Write the proof, for ellzero verify.")
@click.option("--quiet", "-q", is_flag=True, help="Print errors only.")
@reading_options
@click.pass_context
def command(ctx: click.Context, /, **values: Any) -> None:
    """Choose the variables of TABLE that predict its column --target.

    TABLE is a CSV file (also compressed), Parquet, Arrow or Stata's .dta. Several of these, a
    pattern such as 'part-*.parquet' or a folder are read one after the other, and need not fit into
    memory.
    """
    outputs = [values.pop(key) for key in ("json", "report", "save", "certificate")]
    json_path, report_path, save_path, certificate_path = outputs
    console = Console(values.pop("quiet") or any(map(is_standard, outputs)))
    _check_usage(ctx, values)
    if certificate_path is not None and values["prove"] is None:
        raise click.UsageError("--certificate needs --prove.")
    typed, drop = shlex.join(["ellzero", *sys.argv[1:]]), list(values["drop"])
    how = settle_parts(values, outputs)
    choose = _choose_from_table if how is None else partial(choose_from_parts, how)
    if how is not None and certificate_path is not None:
        raise click.UsageError("--certificate is checked against one table, not against parts.")

    from ellzero.selection import summarise
    from ellzero.selection._model_file import model_text

    try:
        selection = choose(console, values, show_columns)
    except KeyboardInterrupt as stop:
        for known in stop.args:  # of a proof that has not come to its end
            console.say(known)
        raise
    with console.progress("Writing it up"):
        content = summarise(selection, typed, in_options)
    show_selection(console, content)
    if report_path is not None:
        from ellzero.report import make_report

        write_output(report_path, make_report(selection, content))
        console.say(f"The report is in {clean(str(report_path), 1000)}")
    if save_path is not None:
        write_output(save_path, model_text(selection.linear))
        console.say(f"The model is in {clean(str(save_path), 1000)}")
    if certificate_path is not None:
        from ellzero.selection._proof_file import certificate_text

        write_output(certificate_path, certificate_text(selection, drop))
        console.say(f"The certificate is in {clean(str(certificate_path), 1000)}")
    if json_path is not None:
        write_json(content, json_path)


def _choose_from_table(
    console: Console, values: dict[str, Any], show: Callable[[Console, Any], None]
) -> Any:
    """Read a table and choose a model."""
    table, settings = load(console, values)

    from ellzero.selection import prepare, select

    data = prepare(table, settings)
    del table
    show(console, data)
    with console.progress("Choosing variables") as say:
        return select(data, settings, say)


def _check_usage(ctx: click.Context, values: dict[str, Any]) -> None:
    def given(name: str) -> bool:
        source = ctx.get_parameter_source(name)
        return source is not None and source.name != "DEFAULT"

    chosen = [f"--{name}" for name in ("criterion", "size", "lam") if given(name)]
    if len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(chosen)} exclude each other.")
    if values["size"] is not None and values["max_size"] is not None:
        raise click.UsageError("--size and --max-size exclude each other.")
    if values["lam"] is not None and not 0 < values["lam"] < math.inf:
        raise click.BadParameter("--lam must be a positive number.")
    if values["ridge"] is not None and not 0 <= values["ridge"] < math.inf:
        raise click.BadParameter("--ridge must be a number from 0 up.")
    if values["prove"] is not None and not 0 <= values["prove"] < math.inf:
        raise click.BadParameter("--prove must be a number of seconds from 0 up.")
    if not 0 <= values["test_share"] < 1:
        raise click.BadParameter("--test-share must be from 0 to less than 1.")
    if values["groups"] and values["time"]:
        raise click.UsageError("--groups and --time exclude each other.")
    if given("repeats") and (values["groups"] or values["time"]):
        raise click.UsageError("--repeats is for folds at random, not for --groups or --time.")


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
                clean(r.name),
                r.kind,
                r.use,
                in_options(r.details),
                f"{r.n_missing:,}" if r.n_missing else "",
            ]
            for r in shown
        ],
        left=4,
        longest=240,
    )
    if len(shown) < len(data.remarks):
        console.say(f"... and {len(data.remarks) - len(shown)} more")
    console.say()
    console.flush()


def show_selection(console: Console, content: dict[str, Any]) -> None:
    """Show the chosen model."""
    model = content["model"]
    console.say(_headline(content))
    family = content["family"]
    ratio, measure = family["ratio"], family["measure"]
    rows = []
    for variable in model["variables"]:
        rows.append(_model_row(variable, variable["name"], ratio))
        parts = variable["features"]
        rows += [
            _model_row(feature, f"  {feature['name']}", ratio) for feature in parts[:_MOST_PARTS]
        ]
        if len(parts) > _MOST_PARTS:
            rows.append([f"  ... {len(parts) - _MOST_PARTS} more", *[""] * (3 + bool(ratio))])
    console.say()
    console.table(
        [
            "variable",
            "coefficient",
            *(["standardised"] if ratio is None else [f"{ratio} per unit", "per sd"]),
            f"{measure} lost without it",
        ],
        [
            *rows,
            ["(intercept)", f"{model['intercept']:z.5g}", *["" for _ in range(2 + bool(ratio))]],
        ],
    )
    several = [variable for variable in model["variables"] if variable["features"]]
    if several:
        console.say()
        console.say(_say_whole(several, ratio))
    console.say()
    if family["labels"]:
        console.say(
            f"Coefficients are changes of the log-odds of {clean(family['labels'][1])!r} for one "
            "unit of the variable; odds ratios are what the odds are multiplied by, for one unit "
            "and for one standard deviation. D² is the share of the deviance that is explained."
        )
    elif ratio is not None:
        console.say(
            "Coefficients are changes of the logarithm of the mean for one unit of the variable; "
            "rate ratios are what the mean is multiplied by, for one unit and for one standard "
            "deviation. D² is the share of the deviance that is explained."
        )
    if content["rule"]:
        console.say(content["rule"])
    if model["shrinkage"]:
        console.say(model["shrinkage"])
    judged = content["cross_validation"]
    if judged is not None:
        low, high = judged["size_low"], judged["size_high"]
        error = f"mean {family['error']} {judged['error']:.4g}"
        if judged["rmse"] is not None:
            error = f"root mean squared error {judged['rmse']:.4g}"
        ranks = "" if judged["auc"] is None else f", area under the ROC {judged['auc']:.3f}"
        console.say(
            f"Cross-validated ({judged['folds']}, the choice made anew in each): {error}{ranks}, "
            f"models of {low if low == high else f'{low} to {high}'} variables."
        )
    price = "" if model["lam"] is None else f"Price of a variable (lam): {model['lam']:.6g}. "
    console.say(f"{price}{model['certificate']}")
    held = content["held_out"]
    if held is not None and "rmse" not in held:
        ranks = f", area under the ROC {_or_dash(held['auc'])}" if "auc" in held else ""
        console.say(
            f"On {held['rows']:,} rows held out: mean {family['error']} {held['error']:.4g} (the "
            f"mean alone: {held['error_of_mean']:.4g}), D² {_or_dash(held['r2'])}{ranks}."
        )
    elif held is not None:
        console.say(
            f"On {held['rows']:,} rows held out: root mean squared error {held['rmse']:.4g} "
            f"(the mean alone: {held['rmse_of_mean']:.4g}), R² {_or_dash(held['r2'])}."
        )
    console.say(
        "Standard errors and p-values as if these variables had been fixed beforehand are not "
        "valid."
    )
    show_sureness(console, content["sureness"])
    if content["posterior"] is not None:
        console.say()
        show_posterior(console, content["posterior"])
    for warning in content["warnings"]:
        console.note(warning, "Warning")
    for note in content["notes"]:
        console.note(note)


def show_sureness(console: Console, sureness: dict[str, Any], most: int = 25) -> None:
    """Show what other ways of choosing say of each variable."""
    rows = sureness["variables"]
    asked = {
        "chosen": "chosen",
        "one_se": "1se",
        "least_error": "cv",
        "frequency": "on halves",
        "same_sign": "same sign",
        "inclusion": "probability",
    }
    columns = {key: head for key, head in asked.items() if any(r[key] is not None for r in rows)}
    if len(columns) < 2:
        return
    console.say("\nHow sure:\n")
    console.table(
        ["variable", *columns.values()],
        [[row["name"], *(_cell(row[key]) for key in columns)] for row in rows[:most]],
    )
    if len(rows) > most:
        console.say(f"... and {len(rows) - most} more that some way of choosing takes")
    console.say()
    if sureness["one_se_size"] is not None:
        console.say(
            f"1se, cv: what --criterion 1se and --criterion cv choose, models of "
            f"{sureness['one_se_size']} and of {sureness['least_error_size']} variables."
        )
    if sureness["halves"]:
        console.say(
            f"On halves: the share of {sureness['halves']} halves of the rows whose best model of "
            f"{sureness['size']} has it, and of these the share with the same sign."
        )
    for words in sureness["disagreements"]:
        console.say(words)


def _cell(value: bool | float | None) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "-"
    return f"{value:.2f}"


def _model_row(row: dict[str, Any], name: str, ratio: str | None) -> list[str]:
    """Write a variable, or a feature of one; what is not there is left empty."""
    shown = row["coefficient"] is not None
    numbers = [
        f"{row['coefficient']:z.5g}" if shown else "",
        *([_ratio(row["ratio"]) if shown else "", _ratio(row["ratio_per_sd"])] if ratio else []),
        *([] if ratio else [f"{row['standardised']:z.3f}"]),
        f"{row['r2_lost']:z.4f}" if "r2_lost" in row else "",
    ]
    return [name, *numbers]


def _say_whole(variables: list[dict[str, Any]], ratio: str | None) -> str:
    """Say how variables that have several features are to be read."""
    references = [
        f"{clean(variable['name'])} with {clean(variable['reference'])!r}"
        for variable in variables
        if variable["reference"] is not None
    ]
    against = f" Levels are compared with another: {', '.join(references)}." if references else ""
    return (
        "A category is in or out whole, with a coefficient for each level. Its number "
        f"{'per sd' if ratio else 'under standardised'} is the size of what its levels add, "
        f"which has no sign.{against} --levels chooses levels one by one."
    )


def _headline(content: dict[str, Any]) -> str:
    """Say what was found, by what it is worth on rows held out."""
    model, data, judged = content["model"], content["data"], content["cross_validation"]
    target, size, p = clean(content["target"]), model["size"], data["variables"]
    what = "features" if p == data["features"] else "variables"
    measure = content["family"]["measure"]
    fitted = f"{model['r2']:z.3f} on the {data['rows_fitted']:,} rows fitted"
    if judged is None or judged["r2"] is None:
        return f"{size} of {p} {what} go with {target!r}: {measure} {fitted}"
    se = "" if judged["r2_se"] is None else f" ± {judged['r2_se']:.3f}"
    r2 = f"cross-validated {measure} {judged['r2']:z.3f}{se}"
    if not judged["predicts"]:
        kept = f"{size} of {p} {what} are kept all the same, with {measure} {fitted}"
        if not size:
            kept = f"None of {p} {what} is kept"
        elsewhere = "; nor is one in any fold" if not size and not judged["size_high"] else ""
        return f"These columns do not predict {target!r}: {r2}\n{kept}{elsewhere}"
    if not size:
        return f"None of {p} {what} is kept for {target!r}: {r2}"
    return f"{size} of {p} {what} predict {target!r}: {r2} ({fitted})"


def show_posterior(console: Console, posterior: dict[str, Any], most: int = 20) -> None:
    """Show inclusion probabilities, how they hang on the prior, and sets of stand-ins."""
    rows = []
    for variable in posterior["variables"][:most]:
        rows.append((variable["name"], variable))
        rows += [(f"  {part['name']}", part) for part in variable["features"][:_MOST_PARTS]]
    numbers = {"inclusion": ".3f", "coefficient": "z.4g", "low": "z.4g", "high": "z.4g"}
    heads = ["probability", "mean", "95% from", "to"]
    if not posterior["exact"]:  # Monte Carlo errors
        numbers = {"inclusion": ".3f", "mcse": ".3f", **numbers}
        heads.insert(1, "± error")
    console.table(
        ["variable", *heads],
        [
            [name, *("" if row[k] is None else f"{row[k]:{form}}" for k, form in numbers.items())]
            for name, row in rows
        ],
    )
    rest = posterior["n_variables"] - min(most, len(posterior["variables"]))
    if rest > 0:
        console.say(f"... and {rest} less probable ones")
    if posterior["sensitivity"] is not None:
        console.say(clean(posterior["sensitivity"]["sentence"], most=200))
    several = [found for found in posterior["credible_sets"] if len(found["variables"]) > 1]
    for found in several:
        names = ", ".join(clean(name) for name in found["variables"])
        groups = [" and ".join(clean(name) for name in group) for group in found["together"]]
        together = "".join(f"; {group} usually together" for group in groups)
        console.say(
            f"At least one of {names} is in, with probability {found['probability']:.3f}{together}"
        )


def _or_dash(value: float | None) -> str:
    return "-" if value is None else f"{value:z.3f}"


def _ratio(value: float | None) -> str:
    """Write a ratio of odds or of means; None stands for one too large for a number."""
    return "inf" if value is None else f"{value:.4g}"
