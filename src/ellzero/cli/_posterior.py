"""``ellzero posterior``: how probable each variable is."""

from __future__ import annotations

import math
import shlex
import sys
from typing import Any

import click

from ellzero.cli._console import Console, clean
from ellzero.cli._files import FileCommand, is_standard, output_path, write_output
from ellzero.cli._load import load
from ellzero.cli._options import reading_options, table_argument, table_options
from ellzero.cli._select import show_columns, show_posterior, write_json
from ellzero.cli._wording import in_options

__all__ = ["command"]

_ASKED = ("expected_size", "scale_prior", "slab", "noise", "solver")


@click.command("posterior", cls=FileCommand)
@table_argument
@table_options
@click.option(
    "--family",
    type=click.Choice(["auto", "gaussian", "binomial"]),
    default="auto",
    show_default=True,
    help="What the target is: numbers, by least squares; one of two values, by logistic "
    "regression. auto: two values are binomial, all else gaussian.",
)
@click.option(
    "--expected-size",
    type=float,
    help="Number of variables expected before seeing the data.  [default: 2, or a quarter of them]",
)
@click.option(
    "--scale-prior",
    type=click.Choice(["selection", "prediction", "zellner-siow"]),
    default="selection",
    show_default=True,
    help="Prior of the size of coefficients; prediction expects many small ones, 10 variables or "
    "half of them.",
)
@click.option(
    "--slab",
    type=click.Choice(["gaussian", "laplace", "zellner", "boom"]),
    default="gaussian",
    show_default=True,
    help="Prior of a coefficient that is not zero.",
)
@click.option(
    "--flat",
    multiple=True,
    metavar="COLUMN",
    help="Keep this column or feature in every model under a flat prior, like the intercept.",
)
@click.option(
    "--noise",
    type=click.Choice(["gaussian", "student"]),
    default="gaussian",
    show_default=True,
    help="student: heavy tails, so that outliers count for little.",
)
@click.option(
    "--noise-df",
    type=float,
    help="Degrees of freedom of --noise student, from 1.  [default: learned]",
)
@click.option(
    "--solver",
    type=click.Choice(["auto", "enumerate", "gibbs", "tempered"]),
    default="auto",
    show_default=True,
    help="How it is computed: visit all models, or sample.",
)
@click.option(
    "--draws",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Draws to keep from each chain.",
)
@click.option(
    "--chains", type=click.IntRange(1), default=4, show_default=True, help="Number of chains."
)
@output_path("--report", help="Write a report, one HTML file (- for standard output).")
@output_path("--json", help="Write all results as JSON (- for standard output).")
@output_path("--save", help="Write the average over all models, for ellzero predict.")
@output_path("--fit", help="Write the fitted posterior with its draws, for load() in Python.")
@output_path(
    "--checkpoint",
    help="Keep the draws here while they are made: the same command goes on from there if it was "
    "killed. Removed at the end.",
)
@click.option("--quiet", "-q", is_flag=True, help="Print errors only.")
@reading_options
def command(**values: Any) -> None:
    """Compute how probable it is that each variable of TABLE matters for its column --target.

    Under a spike-and-slab prior: each coefficient is zero, or drawn from a slab.
    """
    json_path, save_path, report = outputs = [values.pop(key) for key in ("json", "save", "report")]
    fit_path, checkpoint = files = [values.pop(key) for key in ("fit", "checkpoint")]
    for option, path in zip(("--fit", "--checkpoint"), files, strict=True):
        if is_standard(path):
            raise click.UsageError(f"{option} must name a file, not standard output.")
    console = Console(values.pop("quiet") or any(map(is_standard, outputs)))
    asked = {key: values.pop(key) for key in _ASKED}
    df = values.pop("noise_df")
    size = asked["expected_size"]
    if size is not None and not 0 < size < math.inf:
        raise click.BadParameter("--expected-size must be a positive number.")
    if df is not None:
        if asked["noise"] != "student":
            raise click.UsageError("--noise-df is for --noise student.")
        if not 1 <= df <= 1e6:
            raise click.BadParameter("--noise-df must be from 1 to 1e6.")
        asked["noise_df"] = df
    if asked["noise"] == "student" and values["flat"]:
        raise click.UsageError("--flat is for --noise gaussian.")
    counts = {
        "n_draws": values.pop("draws"),
        "n_chains": values.pop("chains"),
        "checkpoint": checkpoint,
    }
    values["criterion"] = "ebic"  # no folds: nothing is chosen
    table, settings = load(console, values)

    from ellzero.selection import prepare

    data = prepare(table, settings)
    del table
    if data.labels is not None:
        asked = _for_two_classes(asked, settings, save_path)
    show_columns(console, data)

    from ellzero import SpikeSlabClassifier, __version__
    from ellzero._progress import heard_by
    from ellzero.selection import summarise_posterior
    from ellzero.selection._feature_matrix import make_feature_matrix
    from ellzero.selection._model_file import model_text
    from ellzero.selection._notes import warnings_as_notes
    from ellzero.selection._posterior import average_models, fit_posterior

    with console.progress("Computing") as say, warnings_as_notes() as warned:
        matrix = make_feature_matrix(data, settings, say)
        say("Computing the posterior")
        with heard_by(lambda words: say(f"Computing the posterior: {words}"), console.shows):
            posterior = fit_posterior(matrix, data, settings, **asked, **counts)
    content = summarise_posterior(posterior)
    how = "all models visited" if content["exact"] else f"{content['draws']:,} draws"
    what = "features" if matrix.units is None or data.labels else "variables"
    if data.labels is not None:
        content["labels"] = list(data.labels)
    console.say(
        f"{content['size']:.1f} of {content['n_variables']} {what} are expected to matter for "
        f"{clean(settings.target)!r} ({how})\n"
    )
    show_posterior(console, content)
    if data.labels is not None:
        console.say(
            f"Coefficients are changes of the log-odds of {clean(data.labels[1])!r} for one unit."
        )
    notes = [in_options(note) for note in (*data.notes, *matrix.notes)]
    warned = [in_options(note) for note in warned]
    for note in [*notes, *warned]:
        console.note(note)
    if save_path is not None:
        assert not isinstance(posterior, SpikeSlabClassifier)  # refused above
        averaged = average_models(posterior, matrix, data, settings.target)
        write_output(save_path, model_text(averaged))
        console.say(f"The average over all models is in {clean(str(save_path), 1000)}")
        if asked["scale_prior"] == "selection" and asked["slab"] in ("gaussian", "laplace"):
            console.note(
                "--scale-prior prediction usually predicts a little better, most where the signal "
                "is weak; its probabilities are too high."
            )
    if fit_path is not None:
        posterior.save(fit_path)
        name = type(posterior).__name__
        console.say(f"The posterior is in {clean(str(fit_path), 1000)}, for {name}.load")
    facts = {
        "ellzero": __version__,
        "command": shlex.join(["ellzero", *sys.argv[1:]]),
        "seed": settings.seed,
        "target": settings.target,
        "data": {"name": data.table.name, "sha256": data.table.sha256, "rows": len(data.y)},
    }
    if json_path is not None:
        write_json({**facts, **content}, json_path)
    if report is not None:
        shown = {**facts, "labels": None, "notes": notes, "warnings": warned, **content}
        write_output(report, _report(posterior, matrix, data, settings.seed, shown))
        if not is_standard(report):
            console.say(f"The report is in {clean(str(report), 1000)}")


def _report(posterior: Any, matrix: Any, data: Any, seed: int, content: dict[str, Any]) -> str:
    """Return the report, with what the prior said before the data."""
    from ellzero.report import make_posterior_report

    prior = posterior.sample_prior(
        matrix.X, data.y, 2000, sample_weight=data.weights, random_state=seed
    )
    scale = 1.0 if data.labels is not None else float(data.y.std()) or 1.0
    places = {str(name): place for place, name in enumerate(matrix.names)}
    parts = [part for v in content["variables"] for part in (v["features"] or [v])]
    # One column at a time: the table may be large.
    named = {part["name"]: float(matrix.X[:, places[part["name"]]].std()) / scale for part in parts}
    return make_posterior_report(posterior, prior, content, named)


def _for_two_classes(asked: dict[str, Any], settings: Any, save_path: Any) -> dict[str, Any]:
    """Return what a classifier is asked; refuse what it can't do."""
    only_numbers = " is for targets that are numbers; --family gaussian takes two values for such."
    if save_path is not None:
        raise click.UsageError(f"--save{only_numbers}")
    if settings.flat:
        raise click.UsageError(f"--flat{only_numbers}")
    if asked["scale_prior"] != "selection":
        raise click.UsageError(f"--scale-prior {asked['scale_prior']}{only_numbers}")
    if asked["slab"] != "gaussian":
        raise click.UsageError(f"--slab {asked['slab']}{only_numbers}")
    if asked["noise"] != "gaussian":
        raise click.UsageError(f"--noise {asked['noise']}{only_numbers}")
    if asked["solver"] == "tempered":
        raise click.UsageError(f"--solver tempered{only_numbers}")
    return {key: asked[key] for key in ("expected_size", "solver")}
