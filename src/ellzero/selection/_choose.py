"""The choice of a model: by its size, its price, a criterion or cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from ellzero import _core
from ellzero._certificate import Certificate
from ellzero._engine import make_engine, thread_count
from ellzero._messages import Argument
from ellzero.regression import Frontier, FrontierModel
from ellzero.regression._cross_validation import DEFAULT_REPEATS, CrossValidation
from ellzero.regression._cross_validation import Choice as ChoiceByFolds
from ellzero.regression._cv_curve import Curve
from ellzero.regression._fold_data import Data
from ellzero.regression._folds import LearnedFolds, RepeatedFolds, SharedFolds
from ellzero.regression._group_cv import GroupCrossValidation
from ellzero.regression._group_search import GroupSearch
from ellzero.regression._losses import Loss, default_ridge
from ellzero.regression._problem import make_problem_on
from ellzero.selection._column_search import ColumnSearch
from ellzero.selection._feature_matrix import FeatureMatrix, FeatureSet
from ellzero.selection._likelihoods import make_likelihood_folds, sound_splits
from ellzero.selection._moved_folds import MovedFolds, MovedRepeats, can_be_moved
from ellzero.selection._prepare import PreparedTable
from ellzero.selection._rules import FoldsInTurn, Rule, Score, at_mark, score_rule
from ellzero.selection._search import PRICE, Procedure, Search
from ellzero.selection._settings import Settings
from ellzero.selection._splits import choose_folds
from ellzero.selection._unit_folds import UnitCrossValidation
from ellzero.selection._unit_search import UnitSearch
from ellzero.tables import DataError

__all__ = [
    "Choice",
    "check_choice",
    "choose",
    "choose_by",
    "make_fold_data",
    "make_squares_task",
]

_Rows = NDArray[np.int64]
_Repeats = list[list[tuple[_Rows, _Rows]]]
# Folds judge a rule more than once up to so many numbers in all.
_CELLS = 1e6
# A price is chosen by several up to so many: what differs between repeats is small there.
_CV_CELLS = 2e7
# With so many rows for every feature, errors are smooth over ridges.
_TALL = 20
# Likelihoods take about so many times as long.
_LIKELIHOOD = 25


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
        Its price; None if it is the solution at no price.
    certificate : Certificate
        What is known about it.
    curve : Curve or None
        The cross-validated error against the price, if that was chosen by it.
    ridge : float
        The ridge of the frontier; its ``rescaling`` is another part of how much is shrunk.
    kept : float
        How large the model's fit is, as a share of that by least squares on the same variables.
    score : Score or None
        How well models chosen in this way predict rows held out; None if folds can't tell.
    folds, judged_by : str
        What kind of folds the curve and the marks are from, and the score.
    marks : dict of FrontierModel
        What cross-validation chooses if it is asked, by its rules "min" and "1se".
    notes : list of str
        What users should be told.
    """

    frontier: Frontier
    model: FrontierModel
    lam: float | None
    certificate: Certificate
    curve: Curve | None = None
    ridge: float = 0.0
    kept: float = 1.0
    score: Score | None = None
    folds: str = ""
    judged_by: str = ""
    marks: dict[str, FrontierModel] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def choose(
    matrix: FeatureMatrix, data: PreparedTable, settings: Settings, say: Callable[[str], None]
) -> Choice:
    """Choose a model in the way that the settings ask for, and judge that way of choosing."""
    check_choice(matrix, settings)
    n, p = matrix.X.shape
    repeats = _count_repeats(settings, n * p, _CV_CELLS)
    judging = _CELLS / (_LIKELIHOOD if data.loss.is_likelihood else 1)
    judged = _count_repeats(settings, n * p, judging)
    binary = data.y if data.loss is Loss.LOGISTIC else None
    splits, kind = choose_folds(
        settings.folds, n, data.groups, data.times, settings.seed, repeats, binary
    )
    splits = _with_weight(splits, data.weights)
    if data.loss.is_likelihood:
        splits = sound_splits(splits, data.y, data.weights, data.loss)
    if settings.cross_validated and not splits:
        if data.weights is None:
            raise DataError("No fold has rows of both kinds to fit on: choose by a criterion.")
        raise DataError(Argument("weights"), " leave no fold with rows both to fit and to test on.")
    say("Cutting the rows into folds")
    task = _make_task(matrix, data, splits, settings.max_size, say)
    return choose_by(task, kind, matrix, data.loss, data.weights, settings, say, judged)


def check_choice(matrix: FeatureSet, settings: Settings) -> None:
    """Raise if there is no model of the size asked for, or nothing that could be proved."""
    _check_size("size", settings.size, matrix)
    _check_size("max_size", settings.max_size, matrix)
    if settings.prove is not None and matrix.units is not None:
        how = Argument("levels" if settings.heredity is None else "heredity")
        words = " would make it one" if settings.heredity is None else " is beyond it"
        raise DataError(
            Argument("prove"), " knows a choice among single features: ", how, words, "."
        )


def choose_by(
    task: Task,
    kind: str,
    matrix: FeatureSet,
    loss: Loss,
    weights: NDArray[np.float64] | None,
    settings: Settings,
    say: Callable[[str], None],
    judged: int = 1,
) -> Choice:
    """Choose among the models of some rows; ``kind`` says what their folds are.

    So many repeats of them judge the rule, unless it is dear.
    """
    folds = task.folds
    kind_of_all = _in_words(kind, len(folds))
    cross_validating = f"Cross-validating, {kind_of_all}"
    weight = task.design.weight
    procedure = _make_procedure(
        matrix,
        loss,
        settings,
        weight,
        lambda size: say(f"{cross_validating}: models of {size} variables"),
    )
    rule = Rule(settings, procedure, task.search_in, by_groups=matrix.units is not None)
    say(cross_validating if settings.cross_validated else "Finding the best model of every size")
    found = rule.choose(task.search_at, 1.0, lambda: folds)
    # Choosing by cross-validation is as dear inside every fold as on all rows.
    judged = min(len(folds), 1 if settings.cross_validated else judged)
    quiet = _make_procedure(matrix, loss, settings, weight, None)  # there are very many steps
    score = score_rule(
        replace(rule, procedure=quiet),
        islice(folds, judged),
        weights,
        lambda repeat, fold: say(f"Repeating the choice in every fold: {repeat + 1}.{fold + 1}"),
    )
    if settings.size is not None:
        outcome = found.search.outcome_of_size(found, settings.size)
    elif found.lam is not None:
        outcome = found.search.outcome_at_price(found, rule.by_folds)
    else:
        outcome = found.search.outcome_by_criterion(found, settings.criterion)
    curve = None if found.by_folds is None else found.by_folds.curve(rule.by_folds)
    choice = Choice(
        outcome.frontier,
        outcome.model,
        outcome.lam,
        outcome.certificate,
        curve,
        notes=outcome.notes,
    )
    if settings.prove is not None:
        choice = _prove(choice, settings, say)
    known: dict[str, FrontierModel] = {}
    by_folds = found.by_folds
    if by_folds is not None:
        known = {rule.by_folds: choice.model}
    elif folds:
        comparing = f"Comparing with a choice by cross-validation, {kind_of_all}"
        say(comparing)
        by_folds = _make_procedure(
            matrix,
            loss,
            settings.by_cross_validation(),
            weight,
            lambda size: say(f"{comparing}: models of {size} variables"),
        ).choose(folds)
    return replace(
        choice,
        ridge=found.ridge,
        kept=1.0 if loss.is_likelihood else _share_kept(choice.model, found.ridge, task.design),
        score=score,
        folds=kind_of_all,
        judged_by=_in_words(kind, judged),
        marks=_marked_models(by_folds, known, task.search_at),
    )


def _marked_models(
    by_folds: ChoiceByFolds | None,
    known: dict[str, FrontierModel],
    search_at: Callable[[float], Search],
) -> dict[str, FrontierModel]:
    """Return the models that cross-validation chooses, by its rules; some may be known.

    Each is looked for as if it had been asked for: a search that has come further may know better
    models, and would say something else than the criterion of that name.
    """
    models = dict(known)
    for rule, mark in () if by_folds is None else by_folds.marks.items():
        if rule not in models:
            found = at_mark(search_at(mark.ridge), mark)
            models[rule] = found.search.model_at_price(found)
    return models


def _prove(choice: Choice, settings: Settings, say: Callable[[str], None]) -> Choice:
    """Prove that no model is better: of its size if that was given, else at its price.

    If one is, it takes the place of the model. Interrupted, it raises with what is known so far.
    """
    assert settings.prove is not None
    by_size = settings.size is not None or choice.lam is None
    say("Proving that no model is better")
    try:
        certificate = choice.frontier._certify(
            choice.model.size if by_size else None,
            None if by_size else choice.lam,
            time_limit=settings.prove,
            report=say,
        )
    except KeyboardInterrupt as stop:
        known = choice.frontier.last_certificate
        stop.args = () if known is None else (known.as_sentences(),)
        raise
    model = choice.frontier.at(
        size=choice.model.size if by_size else None, lam=None if by_size else choice.lam
    )
    said = certificate.statement if by_size else f"at {PRICE} {certificate.statement}"
    certificate = replace(certificate, choice=choice.certificate.choice, statement=said)
    return replace(choice, model=model, certificate=certificate)


def _share_kept(model: FrontierModel, ridge: float, whole: _core.Quadratic) -> float:
    """Return the slope of a model's fit on that of least squares on the same variables."""
    if not ridge or not model.size or not whole.yy > 0:
        return 1.0
    engine = make_engine(whole, 0.0, thread_count())
    engine.move_to(model.support)
    explained = 1 - 2 * engine.energy / whole.yy
    along = model.standardised @ (whole.zy[model.support] / np.sqrt(whole.yy))
    return float(along / explained) if explained > 0 else 1.0


def _with_weight(repeats: _Repeats, weights: NDArray[np.float64] | None) -> _Repeats:
    """Leave out folds that have no row of some weight on one side, and repeats without folds."""
    if weights is None:
        return repeats
    kept = [
        [split for split in splits if all(weights[rows].any() for rows in split)]
        for splits in repeats
    ]
    return [splits for splits in kept if splits]


def _in_words(kind: str, repeats: int) -> str:
    return f"{kind}, {repeats} times over" if repeats > 1 else kind


def _check_size(name: str, size: int | None, matrix: FeatureSet) -> None:
    if size is None:
        return
    n_forced, p, what = matrix.forced.size, len(matrix.plan.features), "feature"
    if matrix.units is not None:
        n_forced, p, what = int(matrix.units.forced.sum()), matrix.units.count, "variable"
    if size < n_forced:
        raise DataError(
            Argument(name, size), ", but ", Argument("force"), f" names {n_forced} {what}s."
        )
    if name == "size" and size > p:
        has = f"is one {what}" if p == 1 else f"are {p} {what}s"
        raise DataError(Argument(name, size), f", but there {has}.")


def _count_repeats(settings: Settings, entries: int, most: float) -> int:
    """Return how often folds are made: more often where little data make it cheap."""
    if settings.repeats is not None:
        return settings.repeats
    return max(1, min(DEFAULT_REPEATS, int(most / entries)))


def _tell_size(say: Callable[[str], None]) -> Callable[[int], None]:
    return lambda size: say(f"Finding the best model of {size} variables")


class Task(NamedTuple):
    """A table's rows under its loss."""

    design: _core.Quadratic
    folds: Sequence[FoldsInTurn]  # by repeat
    search_at: Callable[[float], Search]  # on all rows, at a ridge
    search_in: Callable[[Any, float], Search]  # on the training rows of a fold


def make_squares_task(
    matrix: FeatureSet,
    whole: _core.Quadratic,
    folds: Sequence[FoldsInTurn],
    max_size: int | None,
    say: Callable[[str], None],
) -> Task:
    """Return what is chosen from by least squares, on all rows and in folds."""
    units = matrix.units

    def search_at(ridge: float) -> Search:
        threads, tell = thread_count(), _tell_size(say)
        if units is not None:
            search = GroupSearch(whole, units, ridge, threads, swaps=True, progress=tell)
            return UnitSearch(search, matrix.names, max_size)
        problem = make_problem_on(whole, ridge, matrix.forced, matrix.names, tell, threads)
        return ColumnSearch(problem, max_size)

    return Task(whole, folds, search_at, _search_in(matrix, max_size))


def _search_in(matrix: FeatureSet, max_size: int | None) -> Callable[[Any, float], Search]:
    units = matrix.units

    def search_in(fold: Any, ridge: float) -> Search:
        if units is not None:
            return UnitSearch(fold.group_search(units, ridge, swaps=True), max_size=max_size)
        return ColumnSearch(fold.problem(ridge, matrix.forced), max_size)

    return search_in


def _make_task(
    matrix: FeatureMatrix,
    data: PreparedTable,
    repeats: _Repeats,
    max_size: int | None,
    say: Callable[[str], None],
) -> Task:
    units = matrix.units
    if not data.loss.is_likelihood:
        whole, folds = make_fold_data(matrix, data, repeats)
        return make_squares_task(matrix, whole, folds, max_size, say)
    how: dict[str, Any] = {"swaps": True, "progress": _tell_size(say)}
    likelihood, its_folds = make_likelihood_folds(
        matrix, data, repeats, _learned_data(matrix, data)
    )

    def likelihood_at(ridge: float) -> Search:
        threads = thread_count()
        if units is not None:
            search = GroupSearch(
                likelihood.design, units, ridge, threads, **how, likelihood=likelihood
            )
            return UnitSearch(search, matrix.names, max_size)
        problem = likelihood.problem(
            ridge, matrix.forced, matrix.names, how["progress"], threads, caller="select"
        )
        return ColumnSearch(problem, max_size)

    return Task(likelihood.design, its_folds, likelihood_at, _search_in(matrix, max_size))


def _make_procedure(
    matrix: FeatureSet,
    loss: Loss,
    settings: Settings,
    weight: float,
    progress: Callable[[int], None] | None,
) -> Procedure:
    """Return how the price, and the ridge, are chosen by cross-validation."""
    ridges, workers = _ridges(settings, loss, weight), effective_n_jobs(-1)
    rescales = settings.shrinks and not loss.is_likelihood
    if matrix.units is not None:
        p = len(matrix.plan.features)
        tall = weight >= _TALL * p and weight * p >= _CELLS
        how = GroupCrossValidation(
            matrix.units, ridges, settings.max_size, workers, progress, rescales, hurried=tall
        )
        return UnitCrossValidation(how)
    most = settings.max_size
    return CrossValidation("frontier", ridges, matrix.forced, most, workers, progress, rescales)


def _ridges(settings: Settings, loss: Loss, weight: float) -> list[float]:
    if not loss.is_likelihood:
        return settings.ridges
    return [default_ridge(loss, weight) if settings.ridge is None else settings.ridge]


def make_fold_data(
    matrix: FeatureMatrix, data: PreparedTable, repeats: _Repeats
) -> tuple[_core.Quadratic, Sequence[SharedFolds | LearnedFolds | MovedFolds]]:
    """Return the design of all rows, and the folds of every repeat.

    Where features depend on means, each fold has those of its training rows.
    """
    y, weights = data.y, data.weights
    whole = Data(matrix.X, y, weights, fit_intercept=True, threads=thread_count())
    if not repeats:
        return whole.design(), []
    features = matrix.plan.features
    gaps = features.learns and _has_gaps(data)
    if can_be_moved(whole, features, repeats, gaps=gaps):
        moved = MovedRepeats(whole, features, matrix.means, repeats)
        if moved.has_digits:
            return moved.whole, moved
    if not features.learns:
        shared = RepeatedFolds(whole, repeats)
        return shared.whole, shared
    make, design = _learned_data(matrix, data), whole.design()
    return design, [LearnedFolds(make, splits, design, weights) for splits in repeats]


def _has_gaps(data: PreparedTable) -> bool:
    """Whether means stand for missing values of some feature."""
    columns = {feature.column for feature in data.plan.features.features if feature.column}
    return any(data.table.columns[name].n_missing for name in columns)


def _learned_data(
    matrix: FeatureMatrix, data: PreparedTable
) -> Callable[[_Rows, _Rows], tuple[Data, Data]]:
    """Return what makes the training and test rows of a fold, with the means of the former."""
    features, y, weights = matrix.plan.features, data.y, data.weights
    whole = Data(matrix.X, y, weights, fit_intercept=True, threads=thread_count())

    def make(train: _Rows, test: _Rows) -> tuple[Data, Data]:
        means = features.learn(data.table, train, None if weights is None else weights[train])

        def of(rows: _Rows) -> Data:
            weight = None if weights is None else weights[rows]
            return whole._replace(
                X=features.build(data.table, rows, means), y=y[rows], sample_weight=weight
            )

        return of(train), of(test)

    return make
