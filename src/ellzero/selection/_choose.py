"""The choice of a model: by its size, its price, a criterion or cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from ellzero._certificate import Certificate
from ellzero._engine import thread_count
from ellzero._messages import Argument, Message
from ellzero.regression import Frontier, FrontierModel
from ellzero.regression._criteria import trusted_size
from ellzero.regression._cross_validation import CrossValidation
from ellzero.regression._cv_curve import Curve
from ellzero.regression._folds import Data, LearnedFolds, SharedFolds, make_folds
from ellzero.regression._growth import GrowingFrontier
from ellzero.regression._hull import middle
from ellzero.regression._problem import (
    DEFAULT_MAX_SIZE,
    largest_size,
    make_problem,
    make_problem_on,
)
from ellzero.selection._feature_matrix import FeatureMatrix
from ellzero.selection._prepare import PreparedTable
from ellzero.selection._settings import Settings
from ellzero.selection._splits import choose_folds
from ellzero.tables import DataError

__all__ = ["Choice", "choose", "make_fold_data"]

_Rows = NDArray[np.int64]
# How many sizes beyond the chosen model the frontier is shown.
_MARGIN = 10
_PRICE = "this price"


@dataclass(frozen=True)
class Choice:
    """A chosen model and what it was chosen from.

    Attributes
    ----------
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
    notes : list of str
        What users should be told.
    """

    frontier: Frontier
    model: FrontierModel
    lam: float | None
    certificate: Certificate
    curve: Curve | None = None
    folds: str = ""
    notes: list[str] = field(default_factory=list)


def choose(
    matrix: FeatureMatrix, data: PreparedTable, settings: Settings, say: Callable[[str], None]
) -> Choice:
    """Choose a model in the way that the settings ask for."""
    if settings.cross_validated:
        return _by_cross_validation(matrix, data, settings, say)
    n_forced, p = matrix.forced.size, matrix.X.shape[1]
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
        largest = min(p, n_forced + min(DEFAULT_MAX_SIZE, trusted_size(weight, p)))
    say("Finding the best model of every size")
    problem = make_problem(
        matrix.X,
        data.y,
        data.weights,
        fit_intercept=True,
        ridge=settings.ridge,
        forced=matrix.forced,
        names=matrix.names,
        progress=_tell_size(say),
    )
    growing = GrowingFrontier(problem, swaps=True)
    largest = largest_size(largest, matrix.forced, p)
    growing.grow(largest)
    frontier = Frontier(growing)
    if settings.size is not None:
        return _of_size(frontier, settings.size)
    if settings.lam is not None:
        frontier.grow(lam=settings.lam)
        model = frontier.at(lam=settings.lam)
        certificate = Certificate.of_search(price=_PRICE).with_objective(
            _objective(frontier, model, settings.lam)
        )
        return Choice(frontier, model, settings.lam, certificate)
    return _by_criterion(frontier, settings.criterion, largest, p)


def _tell_size(say: Callable[[str], None]) -> Callable[[int], None]:
    return lambda size: say(f"Finding the best model of {size} variables")


def _objective(frontier: Frontier, model: FrontierModel, lam: float) -> float:
    """Return what a model minimises at a price, which forced features don't pay."""
    n_priced = model.size - int(frontier.sizes[0])
    return model.energy + lam * n_priced if n_priced else model.energy


def _of_size(frontier: Frontier, size: int) -> Choice:
    if size > frontier.sizes[-1]:
        raise DataError(
            Argument("size", size),
            f", but only {frontier.sizes[-1]} features are linearly independent.",
        )
    model = frontier.at(size=size)
    lam = None if model.interval is None else middle(*model.interval)
    certificate = Certificate.of_search().with_size(size).with_objective(model.energy)
    return Choice(frontier, model, lam, certificate)


def _by_criterion(frontier: Frontier, criterion: str, largest: int, p: int) -> Choice:
    """Choose the model of least criterion among the solutions of up to ``largest`` variables."""
    values = frontier.criterion(criterion)[frontier.hull_sizes - frontier.sizes[0]]
    best = int(frontier.hull_sizes[int(np.argmin(values))])
    name = criterion.upper()
    notes: list[str] = []
    if np.isinf(values).any():
        notes.append(
            Message(
                f"Some models fit the target exactly, which {name} can't judge: give ",
                Argument("lam"),
                " or ",
                Argument("size"),
                ".",
            )
        )
    if best == largest < p:
        notes.append(
            f"{name} is least at {best} variables, the most that it can be trusted to choose from "
            "with so many rows: a larger model was not looked at."
        )
    certificate = Certificate.of_search(price=_PRICE).with_least_criterion(
        name,
        f"the models of {frontier.sizes[0]} to {frontier.sizes[-1]} variables that are the "
        "solution at some price",
    )
    model = frontier.at(size=best)
    assert model.interval is not None
    lam = middle(*model.interval)
    certificate = certificate.with_objective(_objective(frontier, model, lam))
    return Choice(frontier, model, lam, certificate, notes=notes)


def _by_cross_validation(
    matrix: FeatureMatrix, data: PreparedTable, settings: Settings, say: Callable[[str], None]
) -> Choice:
    splits, kind = choose_folds(settings.folds, len(data.y), data.groups, data.times, settings.seed)
    rule = "1se" if settings.criterion == "1se" else "min"
    say(f"Cross-validating, {kind}")
    procedure = CrossValidation(
        "frontier",
        [settings.ridge],
        matrix.forced,
        None,
        effective_n_jobs(-1),
        lambda size: say(f"Cross-validating, {kind}: models of {size} variables"),
    )
    folds = make_fold_data(matrix, data, splits)
    chosen = procedure.choose(folds)
    lam = chosen.marks[rule][0]
    say("Finding the best model of every size")
    problem = make_problem_on(
        folds.whole, settings.ridge, matrix.forced, matrix.names, _tell_size(say), thread_count()
    )
    growing, _ = procedure.solve(problem, lam)
    assert growing is not None  # SBR alone has none
    frontier = Frontier(growing)
    size = frontier.at(lam=lam).size
    frontier.grow(min(matrix.X.shape[1], max(size + _MARGIN, int(frontier.sizes[-1]))))
    certificate = Certificate.of_search().with_least_error(rule, chosen.max_size, _PRICE)
    model = frontier.at(lam=lam)
    certificate = certificate.with_objective(_objective(frontier, model, lam))
    return Choice(frontier, model, lam, certificate, chosen.curve, kind)


def make_fold_data(
    matrix: FeatureMatrix, data: PreparedTable, splits: list[tuple[_Rows, _Rows]]
) -> SharedFolds | LearnedFolds:
    """Return the folds; where features depend on means, each has those of its training rows."""
    features, y, weights = matrix.plan.features, data.y, data.weights
    whole = Data(matrix.X, y, weights, fit_intercept=True, threads=thread_count())
    if not features.learns:
        return make_folds(whole, splits)

    def make(train: _Rows, test: _Rows) -> tuple[Data, Data]:
        means = features.learn(data.table, train, None if weights is None else weights[train])

        def of(rows: _Rows) -> Data:
            weight = None if weights is None else weights[rows]
            return whole._replace(
                X=features.build(data.table, rows, means), y=y[rows], sample_weight=weight
            )

        return of(train), of(test)

    return LearnedFolds(make, splits, whole.design(), weights)
