"""A fitted model by itself: what predicting needs, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero._messages import Argument, Message
from ellzero.tables import DataError, Feature, Features, NumberColumn, Plan, Table, TextColumn
from ellzero.tables._errors import listed

__all__ = ["LinearModel", "make_linear_model"]

_Floats = NDArray[np.float64]
_LENIENT = Message("With ", Argument("lenient", True), " such rows get no prediction.")


@dataclass(frozen=True)
class LinearModel:
    """A linear model of features.

    Attributes
    ----------
    target : str
        What it predicts.
    intercept : float
        In units of the target.
    features : tuple of Feature
        What is multiplied, and the factors of products.
    coefficients : tuple of float
        One per feature, in units of the target per unit of the feature; 0 for features that are
        only factors of products.
    means : tuple of float
        Of each feature: what stands for a missing value, and what products deviate from.
    fills : bool
        Whether missing values are replaced by means.
    levels : dict
        The levels of each category that were seen.
    facts : dict
        What is known about the fit, for people to read.
    """

    target: str
    intercept: float
    features: tuple[Feature, ...]
    coefficients: tuple[float, ...]
    means: tuple[float, ...]
    fills: bool
    levels: dict[str, list[str]]
    facts: dict[str, Any]

    @property
    def columns(self) -> list[str]:
        """The columns that it needs."""
        return list(dict.fromkeys(f.column for f in self.features if f.kind != "product"))

    @property
    def texts(self) -> list[str]:
        """The columns that it reads as texts."""
        return list(dict.fromkeys(f.column for f in self.features if f.kind == "level"))

    def predict(self, table: Table) -> _Floats:
        """Predict the target for rows that have been checked.

        NaN where a value is missing, or where the numbers are too large to be multiplied and added.
        """
        features = Features(self.features, learns=self.fills)
        means = np.array(self.means)
        with np.errstate(over="ignore", invalid="ignore"):
            X = features.build(table, None, means)
            predicted = X @ np.array(self.coefficients) + self.intercept
        if X.size:
            predicted[np.isnan(X).any(axis=1)] = np.nan
        predicted[np.isinf(predicted)] = np.nan
        return np.asarray(predicted)

    def predict_checked(self, table: Table, *, lenient: bool) -> tuple[_Floats, list[str]]:
        """Predict the target; raise if a row can't be, or with ``lenient`` leave it NaN.

        Also returns sentences about such rows.
        """
        bad, words = self.check(table, lenient=lenient)
        predicted = self.predict(table)
        too_large = np.isnan(predicted) & ~bad
        if too_large.any():
            count = int(too_large.sum())
            said = (
                f"the prediction is no finite number in {count:,} row{'s' * (count > 1)}, whose "
                "values or whose coefficients in the model are too large"
            )
            if not lenient:
                raise DataError(f"{table.name}: {said}. ", _LENIENT)
            words.append(said)
        predicted[bad] = np.nan
        return predicted, words

    def check(self, table: Table, *, lenient: bool) -> tuple[NDArray[np.bool_], list[str]]:
        """Find the rows that can't be predicted: an unseen level, or a missing value.

        Raises unless ``lenient``; else returns which they are, and sentences about them.
        """
        absent = [name for name in self.columns if name not in table.columns]
        if absent:
            raise DataError(
                f"{table.name} lacks the column {listed(absent)}, which the model needs."
            )
        bad = np.zeros(table.n_rows, dtype=bool)
        words = []
        texts = frozenset(self.texts)
        numbers = frozenset(f.column for f in self.features if f.kind == "number")
        for name in self.columns:
            column = table.columns[name]
            if name in texts:
                if isinstance(column, NumberColumn):
                    column = table.columns[name] = column.as_text()
                if not isinstance(column, TextColumn):
                    raise DataError(f"Column {name!r} held categories, but holds dates now.")
                known = set(self.levels[name])
                unseen = [
                    code for code, level in enumerate(column.levels or []) if level not in known
                ]
                rows = np.isin(column.codes, unseen) if unseen else np.zeros(0, dtype=bool)
                if rows.any():
                    found = listed([(column.levels or [])[code] for code in unseen])
                    words.append(
                        f"column {name!r} has levels that the model has not seen: {found} in "
                        f"{int(rows.sum()):,} rows"
                    )
                    bad |= rows
            elif not isinstance(column, NumberColumn) and name in numbers:
                levels = _levels(column)
                example = f" (such as {levels[0]!r})" if levels else ""
                raise DataError(
                    f"Column {name!r} held numbers when the model was fitted, but does not "
                    f"now{example}."
                )
            elif isinstance(column, NumberColumn) and np.isinf(column.values).any():
                words.append(f"column {name!r} has infinite values")
                bad |= np.isinf(column.values)
            if column.n_missing and not self.fills:
                words.append(f"column {name!r} has {column.n_missing:,} missing values")
                bad |= column.missing
        if words and not lenient:
            raise DataError(f"{table.name}: {'; '.join(words[:5])}. ", _LENIENT)
        return bad, words


def _levels(column: Any) -> list[str] | None:
    return column.levels if isinstance(column, TextColumn) else None


def make_linear_model(
    target: str,
    intercept: float,
    plan: Plan,
    coef: _Floats,
    support: NDArray[np.int64],
    means: _Floats,
    facts: dict[str, Any],
) -> LinearModel:
    """Take what a model needs out of a plan: its features and their factors."""
    every = plan.features.features
    needed = sorted({*support.tolist(), *(f for j in support for f in every[j].factors)})
    place = {j: i for i, j in enumerate(needed)}
    features = tuple(
        Feature(f.name, f.kind, f.column, f.level, tuple(place[k] for k in f.factors))
        for f in (every[j] for j in needed)
    )
    chosen = set(support.tolist())
    texts = {f.column for f in features if f.kind == "level"}
    return LinearModel(
        target=target,
        intercept=intercept,
        features=features,
        coefficients=tuple(float(coef[j]) if j in chosen else 0.0 for j in needed),
        means=tuple(float(means[j]) for j in needed),
        fills=plan.missing in ("mean", "indicator"),
        levels={name: levels for name, levels in plan.levels.items() if name in texts},
        facts=facts,
    )
