"""From a table to a plan: which features are made of which columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

from ellzero._messages import Message
from ellzero.tables._columns import NumberColumn, TextColumn
from ellzero.tables._date_parts import DatePart
from ellzero.tables._encode import Encoding
from ellzero.tables._errors import DataError, listed
from ellzero.tables._features import Feature, Features
from ellzero.tables._kinds import Remark, reference_level
from ellzero.tables._levels import Pool
from ellzero.tables._read import Table

__all__ = ["Plan", "make_plan"]


@dataclass(frozen=True)
class Plan:
    """What is made of a table.

    Attributes
    ----------
    features : Features
        The columns of the design.
    missing : {"error", "drop", "mean", "indicator"}
        What was done about missing values.
    references : dict
        The reference level of each category.
    levels : dict
        All levels of each category.
    notes : list of str
        What users should be told.
    pools : dict of Pool
        The levels that count as one, for categories that have such.
    parts : dict of DatePart
        What is made of dates, by the name of the new column.
    """

    features: Features
    missing: str
    references: dict[str, str]
    levels: dict[str, list[str]]
    notes: list[str]
    pools: dict[str, Pool] = field(default_factory=dict)
    parts: dict[str, DatePart] = field(default_factory=dict)


def make_plan(
    table: Table,
    remarks: Sequence[Remark],
    missing: str,
    interactions: bool,
    encoding: Encoding | None = None,
) -> Plan:
    """Choose the features of a table whose columns have been judged.

    Parameters
    ----------
    table : Table
        The table.
    remarks : sequence of Remark
        What its columns are taken for.
    missing : {"error", "drop", "mean", "indicator"}
        What is done about missing values.
    interactions : bool
        Whether squares and products are added.
    encoding : Encoding, default=None
        What was made of its columns; None if they are as they were judged.

    Returns
    -------
    Plan
        The features.
    """
    if encoding is None:
        encoding = Encoding([], [r.name for r in remarks if r.use == "predictor"])
    predictors, parts = encoding.predictors, encoding.parts
    base: list[Feature] = []
    references: dict[str, str] = {}
    all_levels: dict[str, list[str]] = {}
    for name in predictors:
        column = table.columns[name]
        if isinstance(column, NumberColumn):
            base.append(Feature(name, "number", name))
        elif isinstance(column, TextColumn):
            levels = column.levels or []
            reference = reference_level(column)
            references[name], all_levels[name] = levels[reference], levels
            base += [
                Feature(f"{name}={level}", "level", name, level)
                for code, level in enumerate(levels)
                if code != reference
            ]
    gaps = [name for name in predictors if table.columns[name].n_missing]
    indicators: list[Feature] = []
    if missing == "indicator":
        # Parts of a date are missing together.
        sources = {parts[name].column if name in parts else name: name for name in gaps}
        indicators = [Feature(f"{name} (missing)", "missing", gap) for name, gap in sources.items()]
    products, notes = _products(table, base) if interactions else ([], [])
    features = _unique([*base, *indicators, *products])
    if not features:
        raise _nothing_left(table, [remark for remark in remarks if remark.use == "left out"])
    learns = bool(products) or (missing in ("mean", "indicator") and bool(gaps))
    return Plan(
        Features(features, learns),
        missing,
        references,
        all_levels,
        [*encoding.notes, *notes],
        encoding.pools,
        parts,
    )


def _nothing_left(table: Table, left_out: Sequence[Remark]) -> DataError:
    """Say that there is nothing to choose from, and why columns were left out."""
    words = f"{table.name} has no column to choose from"
    if not left_out:
        return DataError(words, ".")
    names = listed(remark.name for remark in left_out)
    reasons = [Message(f"; {remark.name!r} is ", remark.details) for remark in left_out[:3]]
    return DataError(f"{words} ({names} left out)", *reasons, ".")


def _products(table: Table, base: list[Feature]) -> tuple[list[Feature], list[str]]:
    """Squares of numbers that have more than two values, and products of all pairs.

    Levels of one category exclude each other: their products say nothing new.
    """
    squares, two_valued = [], []
    for j, feature in enumerate(base):
        if feature.kind != "number":
            continue
        column = table.columns[feature.column]
        assert isinstance(column, NumberColumn)
        if column.two_valued:
            two_valued.append(feature.name)
        else:
            squares.append(Feature(f"{feature.name}^2", "product", factors=(j, j)))
    pairs = [
        Feature(f"{base[a].name}:{base[b].name}", "product", factors=(a, b))
        for a, b in combinations(range(len(base)), 2)
        if base[a].kind != "level" or base[a].column != base[b].column
    ]
    notes = []
    if two_valued:
        notes.append(
            f"No square of {listed(two_valued)}: it has two values, so the square repeats it."
        )
    return [*squares, *pairs], notes


def _unique(features: list[Feature]) -> list[Feature]:
    """Give each feature a name of its own."""
    taken: set[str] = set()
    out = []
    for feature in features:
        name, count = feature.name, 1
        while name in taken:
            count += 1
            name = f"{feature.name} ({count})"
        taken.add(name)
        unchanged = name == feature.name
        out.append(
            feature
            if unchanged
            else Feature(name, feature.kind, feature.column, feature.level, feature.factors)
        )
    return out
