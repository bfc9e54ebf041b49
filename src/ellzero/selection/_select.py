"""The choice of a model on a table."""

from __future__ import annotations

import math
import os
import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from ellzero._certificate import Certificate
from ellzero._engine import thread_count
from ellzero._messages import Argument
from ellzero.regression import Frontier, FrontierModel, l0_frontier
from ellzero.regression._criteria import trusted_size
from ellzero.regression._cross_validation import CrossValidation
from ellzero.regression._cv_curve import Curve
from ellzero.regression._folds import Data as FoldData
from ellzero.regression._folds import LearnedFolds, SharedFolds, make_folds
from ellzero.regression._hull import middle
from ellzero.regression._problem import make_problem_on
from ellzero.selection._linear_model import LinearModel, make_linear_model
from ellzero.selection._prepare import PreparedTable
from ellzero.selection._settings import Settings
from ellzero.selection._splits import choose_folds
from ellzero.tables import DataError, Feature
from ellzero.tables._errors import listed
from ellzero.tables._features import power_of_two, repeated_columns
from ellzero.tables._memory import too_large

if TYPE_CHECKING:
    from ellzero.posterior import SpikeSlabRegressor

__all__ = ["Selection", "select"]

_Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]
_MARGIN = 10
_PRICE = "this price"


@dataclass
class Selection:
    """A chosen model and what it was chosen from.

    Attributes
    ----------
    settings : Settings
        What was asked.
    data : PreparedTable
        What it was asked of; its table is used up.
    frontier : Frontier
        The best models known of every size.
    model : FrontierModel
        The one chosen.
    lam : float or None
        Its price; None if it was asked for by size and is the solution at no price.
    certificate : Certificate
        What is known about it.
    curve : Curve or None
        The cross-validated error.
    folds : str
        What kind of folds these were.
    linear : LinearModel
        The model by itself.
    forced : ndarray of int
        The features that had to be in.
    residuals, fitted : ndarray
        In units of the target, for the rows fitted on.
    standard_deviations : ndarray
        Standard deviation of each feature of the model.
    held_out : dict or None
        How the model did on rows held out.
    posterior : SpikeSlabRegressor or None
        If asked for.
    notes : list of str
        What users should be told.
    """

    settings: Settings
    data: PreparedTable
    frontier: Frontier
    model: FrontierModel
    lam: float | None
    certificate: Certificate
    curve: Curve | None
    folds: str
    linear: LinearModel
    forced: NDArray[np.int64]
    fitted: _Floats
    residuals: _Floats
    standard_deviations: _Floats
    held_out: dict[str, float] | None
    posterior: SpikeSlabRegressor | None
    notes: list[str] = field(default_factory=list)


def select(
    data: PreparedTable, settings: Settings, progress: Callable[[str], None] | None = None
) -> Selection:
    """Choose a model.

    Parameters
    ----------
    data : PreparedTable
        A prepared table. It is used up: features take the place of its columns.
    settings : Settings
        What is asked.
    progress : callable, default=None
        Called with what is going on, in words.

    Returns
    -------
    Selection
        The model and what it was chosen from.
    """
    say = progress or (lambda words: None)
    design = make_design(data, settings, say, static=settings.cross_validated)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        chosen = _choose(design, data, settings, say)
        posterior = fit_posterior(design, data, settings, say) if settings.posterior else None
    notes = [*data.notes, *dict.fromkeys(_plain(str(warning.message)) for warning in caught)]
    model = chosen.model
    facts = {
        "rows": len(data.y),
        "r2": _r2(model, data.y, data.weights),
        "table": os.path.basename(data.table.name),
        "sha256": data.table.sha256,
    }
    linear = make_linear_model(
        settings.target, model.intercept, data.plan, model.coef, model.support, design.means, facts
    )
    fitted = design.X[:, model.support] @ model.coef[model.support] + model.intercept
    held_out = None
    if data.held_out is not None:
        table, y, weights = data.held_out
        held_out = _judge(
            linear.predict(table), y, weights, float(np.average(data.y, weights=data.weights))
        )
    return Selection(
        settings=settings,
        data=data,
        frontier=chosen.frontier,
        model=model,
        lam=chosen.lam,
        certificate=chosen.certificate,
        curve=chosen.curve,
        folds=chosen.folds,
        linear=linear,
        forced=design.forced,
        fitted=fitted,
        residuals=data.y - fitted,
        standard_deviations=_deviations(design.X[:, model.support], data.weights),
        held_out=held_out,
        posterior=posterior,
        notes=notes,
    )


@dataclass
class Design:
    """The features of all rows to fit on."""

    X: Any
    means: _Floats
    forced: NDArray[np.int64]
    names: list[str]


def make_design(
    data: PreparedTable, settings: Settings, say: Callable[[str], None], *, static: bool = True
) -> Design:
    """Build the features, without those that repeat others.

    The columns of the table are used up, unless folds will have to learn from them.
    """
    features = data.plan.features
    _check_memory(len(data.y), len(features))
    say("Making features")
    needs_means = features.learns or data.plan.missing in ("mean", "indicator")
    means = (
        features.learn(data.table, None, data.weights) if needs_means else np.zeros(len(features))
    )
    consume = not (features.learns and settings.cross_validated)
    with np.errstate(over="ignore", invalid="ignore"):
        X = features.build(data.table, None, means, consume=consume)
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
    if repeats:
        kept = [j for j in range(len(features)) if j not in repeats]
        for place, j in enumerate(kept):
            if place != j:
                X[:, place] = X[:, j]
        X = X[:, : len(kept)]
        names = features.names
        constant = [names[j] for j, i in repeats.items() if i < 0]
        same = [f"{names[j]} (as {names[i]})" for j, i in repeats.items() if i >= 0]
        if constant:
            data.notes.append(f"Left out, since constant: {_some(constant)}.")
        if same:
            data.notes.append(f"Left out, since they repeat another column: {_some(same)}.")
        features = features.keep(kept)
        means = means[kept]
        data.plan = type(data.plan)(
            features, data.plan.missing, data.plan.references, data.plan.levels, data.plan.notes
        )
    forced = _resolve_forced(settings.force, features.features)
    return Design(X, means, forced, features.names)


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


def _resolve_forced(names: tuple[str, ...], features: list[Feature]) -> NDArray[np.int64]:
    """Find features by their own name, or all that are made of a column."""
    if not names:
        return np.empty(0, dtype=np.int64)
    by_name, by_column = defaultdict(list), defaultdict(list)
    for j, feature in enumerate(features):
        by_name[feature.name].append(j)
        if feature.kind in ("number", "level"):
            by_column[feature.column].append(j)
    forced: list[int] = []
    for name in names:
        found = by_name.get(name) or by_column.get(name)
        if not found:
            known = listed([feature.name for feature in features], 8)
            raise DataError(
                Argument("force"), f" names {name!r}, which is not among the features: {known}."
            )
        forced += found
    return np.array(sorted(set(forced)), dtype=np.int64)


@dataclass
class _Choice:
    frontier: Frontier
    model: FrontierModel
    lam: float | None
    certificate: Certificate
    curve: Curve | None = None
    folds: str = ""


def _choose(
    design: Design, data: PreparedTable, settings: Settings, say: Callable[[str], None]
) -> _Choice:
    if settings.cross_validated:
        return _choose_by_cv(design, data, settings, say)
    say("Finding the best model of every size")
    n_forced = design.forced.size
    p = len(design.names)
    largest = None
    if settings.size is not None:
        largest = min(p, settings.size + _MARGIN)
        if settings.size < n_forced:
            raise DataError(
                Argument("size", settings.size),
                ", but ",
                Argument("force"),
                f" names {n_forced} features.",
            )
        if settings.size > p:
            raise DataError(Argument("size", settings.size), f", but there are {p} features.")
    elif settings.lam is None:
        weight = float(len(data.y)) if data.weights is None else float(data.weights.sum())
        largest = min(p, n_forced + min(40, trusted_size(weight, p)))
    frontier = l0_frontier(
        named(design),
        data.y,
        max_size=largest,
        ridge=settings.ridge,
        always_include=design.forced,
        sample_weight=data.weights,
    )
    if settings.size is not None:
        return _of_size(frontier, settings.size)
    if settings.lam is not None:
        frontier.grow(lam=settings.lam)
        model = frontier.at(lam=settings.lam)
        return _Choice(frontier, model, settings.lam, Certificate.of_search(price=_PRICE))
    return _by_criterion(frontier, settings.criterion, p)


def _of_size(frontier: Frontier, size: int) -> _Choice:
    if size > frontier.sizes[-1]:
        raise DataError(
            Argument("size", size),
            f", but only {frontier.sizes[-1]} features are linearly independent.",
        )
    model = frontier.at(size=size)
    lam = None if model.interval is None else middle(*model.interval)
    return _Choice(frontier, model, lam, Certificate.of_search().with_size(size))


def _by_criterion(frontier: Frontier, criterion: str, p: int) -> _Choice:
    """Take the least criterion among the solutions."""
    values = frontier.criterion(criterion)[frontier.hull_sizes - frontier.sizes[0]]
    best = int(frontier.hull_sizes[int(np.argmin(values))])
    model = frontier.at(size=best)
    name = criterion.upper()
    if np.isinf(values).any():
        warnings.warn(
            f"Some models fit the target exactly, which {name} can't judge: give --lam or --size.",
            UserWarning,
            stacklevel=2,
        )
    if best == frontier.sizes[-1] < p:
        warnings.warn(
            f"{name} is least at {best} variables, the most that it can be trusted to choose from "
            "with so many rows: a larger model was not looked at.",
            UserWarning,
            stacklevel=2,
        )
    assert model.interval is not None
    certificate = Certificate.of_search(price=_PRICE).with_least_criterion(
        name,
        f"the models of {frontier.sizes[0]} to {frontier.sizes[-1]} variables that are the "
        "solution at some price",
    )
    return _Choice(frontier, model, middle(*model.interval), certificate)


def _choose_by_cv(
    design: Design, data: PreparedTable, settings: Settings, say: Callable[[str], None]
) -> _Choice:
    splits, kind = choose_folds(settings.folds, len(data.y), data.groups, data.times, settings.seed)
    rule = "1se" if settings.criterion == "1se" else "min"
    say(f"Cross-validating, {kind}")
    procedure = CrossValidation(
        "frontier",
        [settings.ridge],
        design.forced,
        None,
        effective_n_jobs(-1),
        lambda size: say(f"Cross-validating, {kind}: models of {size} variables"),
    )
    folds = make_learned_folds(design, data, splits)
    choice = procedure.choose(folds)
    lam = choice.marks[rule][0]
    say("Finding the best model of every size")
    problem = make_problem_on(
        folds.whole,
        settings.ridge,
        design.forced,
        np.array(design.names, dtype=object),
        lambda size: say(f"Finding the best model of {size} variables"),
        thread_count(),
    )
    growing, _ = procedure.solve(problem, lam)
    assert growing is not None  # SBR alone has none
    frontier = Frontier(growing)
    model = frontier.at(lam=lam)
    frontier.grow(min(len(design.names), max(model.size + _MARGIN, int(frontier.sizes[-1]))))
    model = frontier.at(lam=lam)
    certificate = Certificate.of_search().with_least_error(rule, choice.max_size, _PRICE)
    return _Choice(frontier, model, lam, certificate, choice.curve, kind)


def make_learned_folds(
    design: Design, data: PreparedTable, splits: list[tuple[_Rows, _Rows]]
) -> SharedFolds | LearnedFolds:
    """Return the folds; where features depend on means, each has those of its training rows."""
    features, y, weights = data.plan.features, data.y, data.weights
    whole = FoldData(design.X, y, weights, fit_intercept=True, threads=thread_count())
    if not features.learns:
        return make_folds(whole, splits)

    def make(train: _Rows, test: _Rows) -> tuple[FoldData, FoldData]:
        means = features.learn(data.table, train, None if weights is None else weights[train])

        def of(rows: _Rows) -> FoldData:
            weight = None if weights is None else weights[rows]
            return whole._replace(
                X=features.build(data.table, rows, means), y=y[rows], sample_weight=weight
            )

        return of(train), of(test)

    return LearnedFolds(make, splits, whole.design(), weights)


def named(design: Design) -> Any:
    """Return the design as a frame, for the names; the numbers are not copied."""
    import pandas as pd

    return pd.DataFrame(design.X, columns=pd.Index(design.names, dtype=object), copy=False)


def fit_posterior(
    design: Design,
    data: PreparedTable,
    settings: Settings,
    say: Callable[[str], None],
    **parameters: Any,
) -> SpikeSlabRegressor:
    """Compute the posterior of the same features."""
    from ellzero.posterior import SpikeSlabRegressor

    say("Computing the posterior")
    return SpikeSlabRegressor(
        random_state=settings.seed,
        always_include=design.forced,
        n_jobs=-1,
        **parameters,
    ).fit(named(design), data.y, data.weights)


def _plain(message: str) -> str:
    """Reword warnings of estimators for people who have not called them."""
    message = message.replace("always_include:", "--force:")
    message = message.replace("more n_warmup and n_draws may help", "more draws may help")
    return message.replace("L0RegressorCV: ", "").replace("SpikeSlabRegressor", "The posterior")


def _r2(model: FrontierModel, y: _Floats, weights: _Floats | None) -> float:
    centred = y - np.average(y, weights=weights)
    total = float(np.average(centred**2, weights=weights)) * (
        len(y) if weights is None else float(weights.sum())
    )
    return 1 - model.rss / total if total > 0 else math.nan


def _deviations(X: _Floats, weights: _Floats | None) -> _Floats:
    if not X.size:
        return np.zeros(X.shape[1])
    unit = np.array([power_of_two(column) for column in X.T])  # so that no square overflows
    X = X / unit
    mean = np.average(X, axis=0, weights=weights)
    return unit * np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))


def _judge(
    predicted: _Floats, y: _Floats, weights: _Floats | None, mean: float
) -> dict[str, float]:
    """Compare predictions of rows that were held out with predicting the mean of the others."""
    error = y - predicted
    mse = float(np.average(error**2, weights=weights))
    base = float(np.average((y - mean) ** 2, weights=weights))
    return {
        "rows": len(y),
        "rmse": math.sqrt(mse),
        "mae": float(np.average(np.abs(error), weights=weights)),
        "r2": 1 - mse / base if base > 0 else math.nan,
        "rmse_of_mean": math.sqrt(base),
    }
