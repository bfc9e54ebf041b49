"""The features of all rows to fit on, as one matrix."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ellzero._memory import too_large
from ellzero._messages import Argument
from ellzero.regression._units import Structure, Units, resolve_units
from ellzero.selection._factors import make_structure
from ellzero.selection._prepare import PreparedTable
from ellzero.selection._settings import Settings
from ellzero.tables import DataError, Feature, Features, Plan
from ellzero.tables._errors import listed
from ellzero.tables._features import repeated_columns

__all__ = [
    "FeatureMatrix",
    "FeatureSet",
    "make_feature_matrix",
    "make_feature_set",
    "resolve_forced",
]

_Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class FeatureSet:
    """The features that a model is chosen from.

    Attributes
    ----------
    means : ndarray of shape (p,)
        The mean of each, where `Features.build` needs it.
    plan : Plan
        What they are, without those that repeat others.
    forced : ndarray of int
        Those that are in every model.
    structure : Structure or None
        Which of them enter together, and which need which; None if each stands for itself.
    units : Units or None
        What is chosen among then.
    notes : list of str
        What users should be told.
    """

    means: _Floats
    plan: Plan
    forced: NDArray[np.int64]
    notes: list[str]
    structure: Structure | None = None
    units: Units | None = None

    @property
    def names(self) -> NDArray[np.object_]:
        """The names of the features."""
        return np.array(self.plan.features.names, dtype=object)


@dataclass(frozen=True, kw_only=True)
class FeatureMatrix(FeatureSet):
    """The features of all rows to fit on.

    Attributes
    ----------
    X : ndarray of shape (n, p)
        Their values, in Fortran order.
    """

    X: _Floats


def make_feature_matrix(
    data: PreparedTable, settings: Settings, say: Callable[[str], None]
) -> FeatureMatrix:
    """Build the features, without those that repeat others.

    Columns of numbers are moved into the matrix: the table goes on reading them from there.
    """
    plan, features = data.plan, data.plan.features
    _check_memory(len(data.y), len(features))
    say("Making features")
    needs_means = features.learns or plan.missing in ("mean", "indicator")
    means = (
        features.learn(data.table, None, data.weights) if needs_means else np.zeros(len(features))
    )
    with np.errstate(over="ignore", invalid="ignore"):
        X = features.build(data.table, None, means, move=True)
    first = next((j for j, f in enumerate(features.features) if f.kind == "product"), len(features))
    for j in range(first, len(features)):
        if not np.isfinite(X[:, j]).all():
            raise DataError(
                Argument("interactions"),
                f": values of the product {features.features[j].name!r} are too large: rescale its "
                "columns, or leave them out with ",
                Argument("drop"),
                ".",
            )
    repeats = repeated_columns(X, first) if first < len(features) else {}
    made = make_feature_set(plan, means, repeats, settings)
    if repeats:
        kept = [j for j in range(len(features)) if j not in repeats]
        for place, j in enumerate(kept):
            if place != j:
                X[:, place] = X[:, j]
        X = X[:, : len(kept)]
    return FeatureMatrix(X=X, **vars(made))


def make_feature_set(
    plan: Plan, means: _Floats, repeats: dict[int, int], settings: Settings
) -> FeatureSet:
    """Return the features without those that repeat others, and what is chosen among."""
    notes: list[str] = []
    if repeats:
        kept = [j for j in range(len(plan.features)) if j not in repeats]
        means = means[kept]
        notes = _say_repeats(plan.features, repeats)
        plan = replace(plan, features=plan.features.keep(kept))
    dates = {name: part.column for name, part in plan.parts.items()}
    forced = resolve_forced(settings.force, plan.features.features, dates)
    structure = make_structure(plan.features.features, settings)
    units = None
    if structure is not None:
        units = resolve_units(structure, forced, len(plan.features), plan.features.names)
    return FeatureSet(
        means=means, plan=plan, forced=forced, notes=notes, structure=structure, units=units
    )


def _say_repeats(features: Features, repeats: dict[int, int]) -> list[str]:
    names = features.names
    constant = [names[j] for j, i in repeats.items() if i < 0]
    same = [f"{names[j]} (as {names[i]})" for j, i in repeats.items() if i >= 0]
    notes = []
    if constant:
        notes.append(f"Left out, since constant: {_some(constant)}.")
    if same:
        notes.append(f"Left out, since they repeat another column: {_some(same)}.")
    return notes


def _some(names: list[str], most: int = 6) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _check_memory(n: int, p: int) -> None:
    needed = 8.0 * n * p
    if too_large(needed):
        raise DataError(
            f"{n:,} rows of {p:,} features take {needed / 1e9:.0f} GB, more than this machine has: "
            "leave out columns with ",
            Argument("drop"),
            ".",
        )


def resolve_forced(
    names: tuple[str, ...],
    features: Sequence[Feature],
    dates: Mapping[str, str] | None = None,
    argument: str = "force",
) -> NDArray[np.int64]:
    """Find features by their own name, or all that are made of a column, or of a date's parts.

    ``dates`` has the column of dates that a part, a column itself, is made of; ``argument`` is what
    names them.
    """
    if not names:
        return np.empty(0, dtype=np.int64)
    by_name, by_column = defaultdict(list), defaultdict(list)
    for j, feature in enumerate(features):
        by_name[feature.name].append(j)
        if feature.kind in ("number", "level"):
            by_column[feature.column].append(j)
            if dates and feature.column in dates:
                by_column[dates[feature.column]].append(j)
    forced: list[int] = []
    for name in names:
        found = by_name.get(name) or by_column.get(name)
        if not found:
            known = listed([feature.name for feature in features], 8)
            raise DataError(
                Argument(argument), f" names {name!r}, which is not among the features: {known}."
            )
        forced += found
    return np.array(sorted(set(forced)), dtype=np.int64)
