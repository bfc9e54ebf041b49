"""From a table to a plan: which features are made of which columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ellzero.tables._columns import NumberColumn, TextColumn
from ellzero.tables._errors import DataError, listed
from ellzero.tables._features import Feature, Features
from ellzero.tables._kinds import Remark, reference_level
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
    """

    features: Features
    missing: str
    references: dict[str, str]
    levels: dict[str, list[str]]
    notes: list[str]


def make_plan(table: Table, remarks: Sequence[Remark], missing: str, interactions: bool) -> Plan:
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

    Returns
    -------
    Plan
        The features.
    """
    predictors = [remark.name for remark in remarks if remark.use == "predictor"]
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
        indicators = [Feature(f"{name} (missing)", "missing", name) for name in gaps]
    products, notes = _products(table, base) if interactions else ([], [])
    features = _unique([*base, *indicators, *products])
    if not features:
        left_out = [remark.name for remark in remarks if remark.use == "left out"]
        reason = f" ({listed(left_out)} left out)" if left_out else ""
        raise DataError(f"{table.name} has no column to choose from{reason}.")
    learns = bool(products) or (missing in ("mean", "indicator") and bool(gaps))
    return Plan(Features(features, learns), missing, references, all_levels, notes)


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
        present = column.values[~column.missing]
        if np.all((present == present.min()) | (present == present.max())):
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
