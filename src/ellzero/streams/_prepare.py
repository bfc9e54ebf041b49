"""From many files to what a search needs: a plan of features, and how they are made of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero._messages import Argument
from ellzero._progress import PartProgress
from ellzero.regression._losses import Loss
from ellzero.selection._prepare import (
    LARGEST,
    check_arguments,
    check_forced,
    check_roles,
    columns_with_gaps,
    judge,
    say_gone,
)
from ellzero.selection._settings import Settings
from ellzero.selection._target import caution_numbers, read_target
from ellzero.streams._checkpoint import Checkpoint
from ellzero.streams._memory import Budget
from ellzero.streams._recipe import Recipe, make_recipe
from ellzero.streams._runner import Here, Runner
from ellzero.streams._survey import Question, Survey, survey_part
from ellzero.tables import (
    DataError,
    DateColumn,
    Plan,
    Remark,
    Table,
    TextColumn,
    encode_columns,
    make_plan,
)
from ellzero.tables._digests import NumberDigest, TextDigest
from ellzero.tables._parts import Layout

__all__ = ["PreparedStream", "prepare_stream"]

_Floats = NDArray[np.float64]
# Fewer rows than this need no stream, and have folds that may be empty.
_FEWEST = 50
_FOLDS = 10


@dataclass
class PreparedStream:
    """Many files ready for the pass that sums their products.

    Attributes
    ----------
    layout : Layout
        The files.
    table : Table
        What is known of their columns.
    plan : Plan
        The features.
    means : ndarray
        The mean of each feature that is no product, where these are needed.
    recipe : Recipe
        How features are made of rows.
    remarks : list of Remark
        What the columns were taken for.
    n_read, n_fitted : int
        Rows in the files, and rows to fit on.
    folds : int
        How many folds rows are put into.
    checkpoint : Checkpoint
        What a job that was killed goes on from.
    runner : Runner
        Who looks at the parts.
    budget : Budget
        How much memory is held.
    notes : list of str
        What users should be told.
    weight, mean, total : float
        The weight of the rows to fit on, the mean of the target, and its sum of squares about that:
        known after the pass.
    """

    layout: Layout
    table: Table
    plan: Plan
    means: _Floats
    recipe: Recipe
    remarks: list[Remark]
    n_read: int
    n_fitted: int
    folds: int
    checkpoint: Checkpoint
    runner: Runner
    budget: Budget
    notes: list[str] = field(default_factory=list)
    weight: float = 0.0
    mean: float = 0.0
    total: float = 0.0
    loss = Loss.SQUARED
    labels = None


def prepare_stream(
    layout: Layout,
    settings: Settings,
    budget: Budget,
    *,
    checkpoint: Path | None = None,
    runner: Runner | None = None,
    progress: Callable[[str], None] | None = None,
) -> PreparedStream:
    """Look at all files once, and plan what is made of them.

    Levels, means and what columns are for are those of the same rows in memory. Where rows are left
    out for their missing values, the others are looked at once more.

    Parameters
    ----------
    layout : Layout
        The files.
    settings : Settings
        What is asked.
    budget : Budget
        How much memory may be held.
    checkpoint : Path, default=None
        Where to keep what is known, and to go on from if it is there.
    runner : Runner, default=None
        Who looks at the parts; None is this process.
    progress : callable, default=None
        Called with what is going on, in words.

    Returns
    -------
    PreparedStream
        What `select_stream` needs.
    """
    check_arguments(settings)
    _check_settings(settings)
    say, runner = progress or (lambda words: None), runner or Here()
    kept = Checkpoint(checkpoint, layout, _asked(layout, settings, budget))
    question = Question(tuple(layout.names), settings.weights, settings.dates == "parts")
    survey = _survey(layout, question, runner, budget.threads, kept, "columns", say)
    layout = replace(layout, ways=survey.ways)
    table = survey.table(layout)
    check_roles(table, settings)
    remarks = judge(table, settings)
    gaps = tuple(columns_with_gaps(table, remarks, settings))
    n_read = table.n_rows
    notes = [f"{name} has no rows." for name in survey.empty]
    if gaps:
        asked = replace(question, present=gaps)
        survey = _survey(layout, asked, runner, budget.threads, kept, "rows", say)
        notes += say_gone(table, n_read - survey.kept, settings)
        table = survey.table(layout)
    _check_rows(table, settings)
    target = _check_target(table, settings)
    _check_weights(table, settings)
    _check_infinite(table, remarks)
    encoding = encode_columns(table, remarks, rare=settings.rare, dates=settings.dates)
    check_forced(encoding.remarks, settings)
    plan = make_plan(table, encoding.remarks, settings.missing, settings.interactions, encoding)
    means = _means(plan, table, settings)
    kinds = {name: _kind(table, name) for name in layout.names}
    recipe = make_recipe(plan, means, settings.target, settings.weights, gaps, kinds)
    facts = target.facts
    notes = [
        *caution_numbers(
            settings.target,
            facts.low,
            facts.high,
            two=target.two_valued,
            count=facts.numbering.whole and target.repeats,
        ),
        *notes,
        *plan.notes,
    ]
    return PreparedStream(
        layout,
        table,
        plan,
        means,
        recipe,
        encoding.remarks,
        n_read,
        table.n_rows,
        settings.folds or _FOLDS,
        kept,
        runner,
        budget,
        notes,
    )


def _asked(layout: Layout, settings: Settings, budget: Budget) -> dict[str, Any]:
    """Return what the passes depend on."""
    names = ("target", "weights", "categorical", "keep", "rare", "dates", "missing", "interactions")
    asked = {name: getattr(settings, name) for name in (*names, "folds", "seed", "force", "flat")}
    reading = {"options": list(layout.options.__dict__.values()), "text": sorted(layout.text)}
    return {**asked, **reading, "columns": layout.names, "memory": budget.most}


def _survey(
    layout: Layout,
    question: Question,
    runner: Runner,
    threads: int,
    checkpoint: Checkpoint,
    stage: str,
    say: Callable[[str], None],
) -> Survey:
    known = checkpoint.get(stage)
    survey = Survey() if known is None else Survey.from_json(known)
    parts = layout.parts[survey.done :]
    sizes = [float(part.size) for part in layout.parts]
    telling = PartProgress(say, f"Looking at {stage}", sizes, survey.done)
    look = partial(survey_part, layout, question=question, threads=threads)
    for part, found in runner.map(look, parts):
        survey.add(part, found)
        checkpoint.put(stage, survey.to_json)
        telling.done(survey.done)
    if parts:
        checkpoint.put(stage, survey.to_json, now=True)
    return survey


def _check_settings(settings: Settings) -> None:
    """Refuse what needs rows in memory."""
    whole = "reads one table into memory: parts are read one after the other."
    for name in ("groups", "time"):
        if getattr(settings, name):
            raise DataError(Argument(name), f" {whole}")
    if settings.test_share:
        raise DataError(
            Argument("test_share"), f" {whole} Keep some of them apart for ellzero predict."
        )
    if settings.family in ("binomial", "poisson"):
        raise DataError(Argument("family", settings.family), f" {whole}")
    if settings.repeats not in (None, 1):
        raise DataError(
            Argument("repeats", settings.repeats), ": rows of many parts are put into folds once."
        )
    if settings.folds is not None and not 2 <= settings.folds <= 1000:
        raise DataError(Argument("folds"), " must be from 2 to 1000.")


def _check_rows(table: Table, settings: Settings) -> None:
    if not table.n_rows:
        raise DataError(f"{table.name} has no rows.")
    if table.n_rows < _FEWEST:
        raise DataError(
            f"{table.name} has {table.n_rows} rows to fit on: so few should be one table, without ",
            Argument("memory"),
            ".",
        )


def _check_target(table: Table, settings: Settings) -> NumberDigest:
    column = table.columns[settings.target]
    name = settings.target
    binary = isinstance(column, TextColumn) and len(column.levels or []) == 2
    if isinstance(column, NumberDigest):
        if column.ends is None:
            raise DataError(f"The target {name!r} has no values.")
        if column.facts.n_infinite:
            raise DataError(f"The target {name!r} has infinite values.")
        if column.ends[0] == column.ends[1]:
            raise DataError(f"The target {name!r} is the same in all rows: nothing to predict.")
        binary = column.two_valued
        if not binary or settings.family == "gaussian":
            return column
    if binary:
        raise DataError(
            f"The target {name!r} is binary: logistic regression needs one table in memory. ",
            Argument("family", "gaussian"),
            " is least squares, of numbers such as 0 and 1.",
        )
    if isinstance(column, DateColumn):
        read_target(column)
    levels = column.levels if isinstance(column, TextColumn) else None
    example = f" (such as {levels[0]!r})" if levels else ""
    raise DataError(f"The target {name!r} holds text{example}: a number is needed to predict.")


def _check_weights(table: Table, settings: Settings) -> None:
    if settings.weights is None:
        return
    column = table.columns[settings.weights]
    if not isinstance(column, NumberDigest):
        raise DataError(Argument("weights"), f": column {column.name!r} does not hold numbers.")
    facts = column.facts
    if facts.n_infinite or not 0 <= facts.low <= facts.high or facts.high == 0:
        raise DataError(
            Argument("weights"),
            f": column {column.name!r} must hold numbers from 0 up, not all of them 0.",
        )
    if settings.frequency and not facts.numbering.whole:
        raise DataError(
            Argument("frequency"),
            f": column {column.name!r} must hold whole numbers; without ",
            Argument("frequency"),
            " weights are rescaled to sum to the number of rows.",
        )


def _check_infinite(table: Table, remarks: list[Remark]) -> None:
    for remark in remarks:
        column = table.columns.get(remark.name)
        if remark.use != "predictor" or not isinstance(column, NumberDigest):
            continue
        if column.facts.n_infinite:
            count = column.facts.n_infinite
            raise DataError(
                f"Column {remark.name!r} has {count:,} infinite value{'s' * (count > 1)}: leave it "
                "out with ",
                Argument("drop"),
                ", or say with ",
                Argument("na"),
                " what stands for missing.",
            )
        if max(-column.facts.low, column.facts.high) > LARGEST:
            raise DataError(
                f"Column {remark.name!r} has values too large to be computed with: rescale it, or "
                "leave it out with ",
                Argument("drop"),
                ".",
            )


def _means(plan: Plan, table: Table, settings: Settings) -> _Floats:
    """Return the mean of each feature that is no product, over rows where it is known."""
    features = plan.features
    means = np.zeros(len(features))
    if not features.learns and plan.missing not in ("mean", "indicator"):
        return means
    for j, feature in enumerate(features.features):
        if feature.kind == "product":
            continue
        column = table.columns[feature.column]
        if feature.kind == "missing":
            means[j] = _share_missing(table, feature.column, settings)
        elif isinstance(column, NumberDigest):
            means[j] = column.facts.mean
        elif isinstance(column, TextDigest):
            means[j] = column.mean(feature.level)
    return means


def _share_missing(table: Table, name: str, settings: Settings) -> float:
    column = table.columns[name]
    whole = float(table.n_rows)
    if settings.weights is not None:
        weights = table.columns[settings.weights]
        assert isinstance(weights, NumberDigest)
        whole = weights.facts.weight
    known = column.facts.weight if isinstance(column, NumberDigest) else 0.0
    if isinstance(column, TextDigest):
        known = float(column.weights.sum())
    return 1 - known / whole


def _kind(table: Table, name: str) -> str:
    column = table.columns[name]
    if isinstance(column, DateColumn):
        return "date"
    return "text" if isinstance(column, TextColumn) else "number"
