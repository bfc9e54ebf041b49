"""A fitted model by itself: what predicting needs, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero._messages import Argument, Message
from ellzero.regression._losses import Loss
from ellzero.selection._intervals import Distances
from ellzero.selection._kept_draws import KeptDraws
from ellzero.tables import (
    Column,
    DataError,
    DateColumn,
    DatePart,
    Feature,
    Features,
    NumberColumn,
    Plan,
    Pool,
    Table,
    TextColumn,
)
from ellzero.tables._date_parts import make_part
from ellzero.tables._dates import DATE_FORMATS
from ellzero.tables._errors import listed
from ellzero.tables._levels import pool_unknown

__all__ = ["LinearModel", "Predictions", "make_linear_model"]

_Floats = NDArray[np.float64]
_BLOCK = 2**22  # numbers made of a table at a time
_LENIENT = Message("With ", Argument("lenient", True), " such rows get no prediction.")


class Predictions(NamedTuple):
    """What a model says of rows.

    Attributes
    ----------
    mean : ndarray
        The predictions; NaN where there is none.
    interval : tuple of ndarray or None
        The lower and the upper end of an interval of each, if asked for.
    words : list of str
        Why there is none, in sentences.
    """

    mean: _Floats
    interval: tuple[_Floats, _Floats] | None
    words: list[str]


@dataclass(frozen=True)
class LinearModel:
    """A linear model of features: one that was chosen, or the average of a posterior.

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
    pools : dict of Pool
        For categories with levels that count as one: which these were. Levels that were never seen
        count as them.
    parts : dict of DatePart
        What is made of dates, by the name that it has as a column.
    distances : Distances or None
        How far predictions were off on rows held out; None if that is not known.
    draws : KeptDraws or None
        If it is the average of a posterior, whose coefficients are posterior means: draws from it.
    loss : Loss
        What it was fitted by; of a likelihood, intercept and coefficients are in log-odds, or in
        logs of the mean.
    labels : tuple of two str, or None
        Of a binary target: its two values, as the table writes them; the second is predicted.
    """

    target: str
    intercept: float
    features: tuple[Feature, ...]
    coefficients: tuple[float, ...]
    means: tuple[float, ...]
    fills: bool
    levels: dict[str, list[str]]
    facts: dict[str, Any]
    pools: dict[str, Pool] = field(default_factory=dict)
    parts: dict[str, DatePart] = field(default_factory=dict)
    distances: Distances | None = None
    draws: KeptDraws | None = None
    loss: Loss = Loss.SQUARED
    labels: tuple[str, str] | None = None

    @property
    def columns(self) -> list[str]:
        """The columns that it needs."""
        return list(dict.fromkeys(map(self._source, self._made)))

    @property
    def texts(self) -> list[str]:
        """The columns that it reads as texts."""
        categories = self._categories
        return [name for name in self._made if name in categories and name not in self.parts]

    @property
    def day_first(self) -> dict[str, bool]:
        """For columns of dates like 01/02/2012: whether the day came first."""
        told = {part.column: part.day_first for part in self.parts.values()}
        return {name: first for name, first in told.items() if first is not None}

    @property
    def _made(self) -> list[str]:
        """The columns that features are made of: those of a table, and parts of its dates."""
        return list(dict.fromkeys(f.column for f in self.features if f.kind != "product"))

    @property
    def _categories(self) -> set[str]:
        return {f.column for f in self.features if f.kind == "level"}

    def _source(self, name: str) -> str:
        return self.parts[name].column if name in self.parts else name

    def predict(self, table: Table) -> _Floats:
        """Predict the target for rows that have been checked: its mean, or a probability.

        NaN where a value is missing, or where the numbers are too large to be multiplied and added.
        """
        predicted = np.empty(table.n_rows)
        for rows, X in self._designs(table):
            predicted[rows] = self.loss.mean(self._multiply(X))
        return predicted

    def _designs(self, table: Table) -> Iterator[tuple[slice, _Floats]]:
        """Build the features of the rows, some of them at a time."""
        features, means = Features(self.features, learns=self.fills), np.array(self.means)
        n, step = table.n_rows, max(1, _BLOCK // max(1, len(features)))
        for begin in range(0, n, step):
            rows = None if n <= step else np.arange(begin, min(begin + step, n))
            with np.errstate(over="ignore", invalid="ignore"):
                X = features.build(table, rows, means)
            yield slice(begin, begin + step), X

    def _multiply(self, X: _Floats) -> _Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            predicted = X @ np.array(self.coefficients) + self.intercept
        if X.size:
            predicted[np.isnan(X).any(axis=1)] = np.nan
        predicted[np.isinf(predicted)] = np.nan
        return np.asarray(predicted)

    def predict_interval(self, table: Table, level: float = 0.9) -> tuple[_Floats, _Floats]:
        """Predict an interval for the target of each row, for rows that have been checked.

        That of a chosen model reaches as far from the prediction as a share ``level`` of the rows
        held out were off, when the whole choice of the model was made anew without them. That of a
        posterior is the posterior predictive interval, which has a probability of ``level``, with
        equal tails, under the prior and normal noise. See docs/command-line.md for what is known of
        their coverage.

        Parameters
        ----------
        table : Table
            The rows.
        level : float, default=0.9
            The share of intervals that should hold the target, between 0 and 1.

        Returns
        -------
        lower, upper : ndarray
            Infinite where there were too few rows to tell, NaN where there is no prediction.
        """
        if self.draws is None:
            predicted, reach = self.predict(table), self.reach(level)
            return predicted - reach, predicted + reach
        _check_level(level)
        lower, upper = np.full((2, table.n_rows), np.nan)
        for rows, X in self._designs(table):
            known = np.isfinite(self._multiply(X))
            lower[rows][known], upper[rows][known] = self.draws.interval(X[known], level)
        return lower, upper

    def reach(self, level: float) -> float:
        """Return how far an interval of a level reaches to either side of a prediction."""
        _check_level(level)
        if self.loss.is_likelihood:
            raise DataError(
                "Intervals are for targets that are numbers, fitted by least squares: this model "
                "predicts ",
                "a probability." if self.labels else "the mean of a count.",
            )
        if self.distances is None:
            raise DataError(
                "The model does not know how far its predictions are off: make it anew with this "
                "version of ellzero, on rows enough for folds."
            )
        return self.distances.reach(level)

    def predict_checked(
        self, table: Table, *, lenient: bool, level: float | None = None
    ) -> Predictions:
        """Predict the target, with an interval if ``level`` is given.

        Raises if a row can't be predicted; with ``lenient`` it is left NaN, and sentences say why.
        """
        table = _own(table)
        bad, words = self.check(table, lenient=lenient)
        predicted = self.predict(table)
        interval = None if level is None else self.predict_interval(table, level)
        columns = [predicted, *(interval or ())]
        too_large = np.isnan(columns).any(axis=0) & ~bad
        if too_large.any():
            count = int(too_large.sum())
            said = (
                f"the prediction is no finite number in {count:,} row{'s' * (count > 1)}, whose "
                "values or whose coefficients in the model are too large"
            )
            if not lenient:
                raise DataError(f"{table.name}: {said}. ", _LENIENT)
            words.append(said)
        for column in columns:
            column[bad | too_large] = np.nan
        return Predictions(predicted, interval, words)

    def check(self, table: Table, *, lenient: bool) -> tuple[NDArray[np.bool_], list[str]]:
        """Find the rows that can't be predicted: an unseen level, or a missing value.

        The columns of the table become what the model was fitted on: categories, rare levels
        pooled, and dates taken apart. Raises unless ``lenient``; else returns which they are, and
        sentences about them.
        """
        absent = [name for name in self.columns if name not in table.columns]
        if absent:
            raise DataError(
                f"{table.name} lacks the column {listed(absent)}, which the model needs."
            )
        self._take_dates_apart(table)
        bad = np.zeros(table.n_rows, dtype=bool)
        words: dict[str, None] = {}
        texts = self._categories
        numbers = frozenset(f.column for f in self.features if f.kind == "number")
        for name in self._made:
            column = table.columns[name]
            if name in texts:
                column = self._as_category(table, name)
                rows, unseen = self._unseen(name, column)
                if unseen and name in self.pools:
                    pool = self.pools[name].level
                    column = pool_unknown(column, self.levels[name], pool)
                    table.columns[name] = column
                elif unseen:
                    words[_say_unseen(name, rows, unseen)] = None
                    bad |= rows
            elif not isinstance(column, NumberColumn) and name in numbers:
                raise DataError(
                    f"Column {name!r} held numbers when the model was fitted, but does not "
                    f"now{_example(column)}."
                )
            elif isinstance(column, NumberColumn) and np.isinf(column.values).any():
                words[f"column {name!r} has infinite values"] = None
                bad |= np.isinf(column.values)
            if column.n_missing and not self.fills:
                source = self._source(name)
                words[f"column {source!r} has {column.n_missing:,} missing values"] = None
                bad |= column.missing
        if words and not lenient:
            raise DataError(f"{table.name}: {'; '.join(list(words)[:5])}. ", _LENIENT)
        return bad, list(words)

    def pooled_levels(self, table: Table) -> list[str]:
        """Say which levels the model has never seen, but predicts like its rare ones."""
        table, words = _own(table), []
        for name, pool in self.pools.items():
            if name in table.columns and name not in self.parts:
                column = self._as_category(table, name)
                rows, unseen = self._unseen(name, column, pool.rare)
                if unseen:
                    words.append(f"{_say_unseen(name, rows, unseen)}, taken as {pool.level!r}")
        return words

    def _take_dates_apart(self, table: Table) -> None:
        for name, part in self.parts.items():
            dates = table.columns[part.column]
            if dates.n_missing == table.n_rows:  # whatever else an empty column was taken for
                dates = DateColumn(part.column, np.full(table.n_rows, np.nan))
            if not isinstance(dates, DateColumn) or not dates.calendar:
                undated = dates.undated if isinstance(dates, TextColumn) else ""
                raise DataError(
                    f"Column {part.column!r} held dates when the model was fitted, but does not "
                    "now",
                    Message(" (", undated, ")") if undated else _example(dates),
                    f"; {DATE_FORMATS}.",
                )
            table.columns[name] = make_part(dates, part.part, name)

    def _as_category(self, table: Table, name: str) -> TextColumn:
        column = table.columns[name]
        if isinstance(column, NumberColumn):
            column = table.columns[name] = column.as_text()
        if not isinstance(column, TextColumn):
            raise DataError(f"Column {name!r} held categories, but holds dates now.")
        return column

    def _unseen(
        self, name: str, column: TextColumn, rare: Sequence[str] = ()
    ) -> tuple[NDArray[np.bool_], list[str]]:
        """Find the levels that the model has not seen, and the rows that have them."""
        known = {*self.levels[name], *rare}
        levels = column.levels or []
        codes = [code for code, level in enumerate(levels) if level not in known]
        rows = np.isin(column.codes, codes) if codes else np.zeros(len(column.codes), dtype=bool)
        used = set(np.unique(column.codes[rows]).tolist())
        return rows, [levels[code] for code in codes if code in used]


def _own(table: Table) -> Table:
    """Return a table whose columns may be replaced: the caller's stays as it is."""
    return replace(table, columns=dict(table.columns))


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise DataError(Argument("level", level), ", but it must be between 0 and 1.")


def _say_unseen(name: str, rows: NDArray[np.bool_], unseen: list[str]) -> str:
    return (
        f"column {name!r} has levels that the model has not seen: {listed(unseen)} in "
        f"{int(rows.sum()):,} rows"
    )


def _example(column: Column) -> str:
    levels = column.levels if isinstance(column, TextColumn) else None
    return f" (such as {levels[0]!r})" if levels else ""


def make_linear_model(
    target: str,
    intercept: float,
    plan: Plan,
    coef: _Floats,
    support: NDArray[np.int64],
    means: _Floats,
    facts: dict[str, Any],
    distances: Distances | None = None,
    draws: KeptDraws | None = None,
    loss: Loss = Loss.SQUARED,
    labels: tuple[str, str] | None = None,
) -> LinearModel:
    """Take what a model needs out of a plan: its features and their factors.

    Draws have the places of the plan's features, which must all be in ``support``.
    """
    every = plan.features.features
    needed = sorted({*support.tolist(), *(f for j in support for f in every[j].factors)})
    place = {j: i for i, j in enumerate(needed)}
    features = tuple(
        Feature(f.name, f.kind, f.column, f.level, tuple(place[k] for k in f.factors))
        for f in (every[j] for j in needed)
    )
    chosen = set(support.tolist())
    texts = {f.column for f in features if f.kind == "level"}
    made = {f.column for f in features}
    return LinearModel(
        target=target,
        intercept=intercept,
        features=features,
        coefficients=tuple(float(coef[j]) if j in chosen else 0.0 for j in needed),
        means=tuple(float(means[j]) for j in needed),
        fills=plan.missing in ("mean", "indicator"),
        levels={name: levels for name, levels in plan.levels.items() if name in texts},
        facts=facts,
        pools={name: pool for name, pool in plan.pools.items() if name in texts},
        parts={name: part for name, part in plan.parts.items() if name in made},
        distances=distances,
        draws=None if draws is None else draws.renumbered(place),
        loss=loss,
        labels=labels,
    )
