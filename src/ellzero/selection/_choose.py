"""The choice of a model: by its size, its price, a criterion or cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from ellzero import _core
from ellzero._certificate import Certificate
from ellzero._engine import thread_count
from ellzero._messages import Argument, Message
from ellzero.regression import Frontier, FrontierModel
from ellzero.regression._cross_validation import DEFAULT_REPEATS, CrossValidation
from ellzero.regression._cv_curve import Curve
from ellzero.regression._folds import Data, LearnedFolds, RepeatedFolds, SharedFolds
from ellzero.regression._hull import middle
from ellzero.regression._losses import Loss, default_ridge
from ellzero.regression._problem import Problem, make_problem_on
from ellzero.selection._feature_matrix import FeatureMatrix
from ellzero.selection._likelihoods import make_likelihood_folds, sound_splits
from ellzero.selection._prepare import PreparedTable
from ellzero.selection._rules import Chosen, FoldsInTurn, Rule, Score, at_mark, score_rule
from ellzero.selection._settings import Settings
from ellzero.selection._splits import choose_folds
from ellzero.tables import DataError

__all__ = ["Choice", "choose", "make_fold_data"]

_Rows = NDArray[np.int64]
_Repeats = list[list[tuple[_Rows, _Rows]]]
# How many sizes beyond the chosen model the frontier is shown.
_MARGIN = 10
_PRICE = "this price"
# The folds that judge a rule are made more than once up to so many numbers in all.
_CELLS = 1e6
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
        What kind of folds the curve and the score are from.
    marks : dict of FrontierModel
        What cross-validation would choose, by its rules "min" and "1se".
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
    _check_size(settings.size, matrix)
    n, p = matrix.X.shape
    dearer = _LIKELIHOOD if data.loss.is_likelihood else 1
    repeats = _count_repeats(settings, n, dearer * p)
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
    task = _make_task(matrix, data, splits, say)
    folds = task.folds
    kind_of_all = _in_words(kind, len(folds))
    cross_validating = f"Cross-validating, {kind_of_all}"
    procedure = CrossValidation(
        "frontier",
        _ridges(settings, data, task.design.weight),
        matrix.forced,
        None,
        effective_n_jobs(-1),
        lambda size: say(f"{cross_validating}: models of {size} variables"),
        rescales=settings.shrinks and not data.loss.is_likelihood,
    )
    rule = Rule(settings, procedure)
    say(cross_validating if settings.cross_validated else "Finding the best model of every size")
    problem_at = task.problem_at
    found = rule.choose(problem_at, 1.0, lambda: folds)
    # Choosing by cross-validation is as dear inside every fold as on all rows.
    judged = folds[:1] if settings.cross_validated else folds
    score = score_rule(
        rule,
        judged,
        data.weights,
        lambda repeat, fold: say(f"Repeating the choice in every fold: {repeat + 1}.{fold + 1}"),
    )
    marks = _marked_models(rule, found, folds, problem_at)
    frontier = Frontier(found.growing, found.rescaling)
    if settings.size is not None:
        choice = _of_size(frontier, settings.size)
    elif found.lam is not None:
        choice = _at_price(frontier, found, rule.by_folds)
    else:
        largest = rule.largest(found.growing.problem)
        choice = _by_criterion(frontier, found.size, settings.criterion, largest, p)
    if settings.prove is not None:
        choice = _prove(choice, settings, say)
    return replace(
        choice,
        ridge=found.ridge,
        kept=1.0
        if data.loss.is_likelihood
        else _share_kept(choice.model, found.ridge, task.design, problem_at),
        score=score,
        folds=kind_of_all,
        judged_by=_in_words(kind, len(judged)),
        marks=marks,
    )


def _marked_models(
    rule: Rule,
    found: Chosen,
    folds: Sequence[FoldsInTurn],
    problem_at: Callable[[float], Problem],
) -> dict[str, FrontierModel]:
    """Return the models that cross-validation would choose, by its rules.

    Unless the choice is its own, it looks no further than a criterion can be trusted to.
    """
    if not folds:
        return {}
    by_folds, growing = found.by_folds, found.growing
    largest = growing.problem.design.columns
    if by_folds is None:
        largest = max(rule.largest(growing.problem), growing.last)
        by_folds = rule.procedure._replace(max_size=largest).choose(folds)
    models = {}
    for name, mark in by_folds.marks.items():
        of_mark = growing
        if mark.ridge != found.ridge:
            of_mark = at_mark(problem_at(mark.ridge), mark).growing
        of_mark.cover(mark.lam, largest)
        size = of_mark.hull.size_at(mark.lam)
        models[name] = Frontier(of_mark, mark.rescaling).at(size=size)
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
    said = certificate.statement if by_size else f"at {_PRICE} {certificate.statement}"
    certificate = replace(certificate, choice=choice.certificate.choice, statement=said)
    return replace(choice, model=model, certificate=certificate)


def _share_kept(
    model: FrontierModel,
    ridge: float,
    whole: _core.Quadratic,
    problem_at: Callable[[float], Problem],
) -> float:
    """Return the slope of a model's fit on that of least squares on the same variables."""
    if not ridge or not model.size or not whole.yy > 0:
        return 1.0
    engine = problem_at(0.0).engine
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


def _check_size(size: int | None, matrix: FeatureMatrix) -> None:
    n_forced, p = matrix.forced.size, matrix.X.shape[1]
    if size is None:
        return
    if size < n_forced:
        raise DataError(
            Argument("size", size), ", but ", Argument("force"), f" names {n_forced} features."
        )
    if size > p:
        raise DataError(Argument("size", size), f", but there are {p} features.")


def _count_repeats(settings: Settings, n: int, p: int) -> int:
    """Return how often the folds are made: more often where little data make it cheap."""
    if settings.repeats is not None:
        return settings.repeats
    if settings.cross_validated:
        return DEFAULT_REPEATS
    return max(1, min(DEFAULT_REPEATS, int(_CELLS / (n * p))))


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
    certificate = Certificate.of_size_search().with_size(size).with_objective(model.energy)
    return Choice(frontier, model, lam, certificate)


def _at_price(frontier: Frontier, found: Chosen, rule: str) -> Choice:
    assert found.lam is not None
    p = frontier.at(size=found.size).coef.size
    frontier.grow(min(p, max(found.size + _MARGIN, int(frontier.sizes[-1]))))
    model = frontier.at(lam=found.lam)
    certificate = Certificate.of_search(price=_PRICE)
    curve = None
    if found.by_folds is not None:
        certificate = Certificate.of_search().with_least_error(
            rule, found.by_folds.max_size, _PRICE
        )
        curve = found.by_folds.curve(rule)
    certificate = certificate.with_objective(_objective(frontier, model, found.lam))
    return Choice(frontier, model, found.lam, certificate, curve)


def _by_criterion(frontier: Frontier, best: int, criterion: str, largest: int, p: int) -> Choice:
    """Say what is known of the model of least criterion of up to ``largest`` variables."""
    name = criterion.upper()
    notes: list[str] = []
    if np.isinf(frontier.criterion(criterion)).any() and criterion != "ebic":
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
    model = frontier.at(size=best)
    lam = None if model.interval is None else middle(*model.interval)
    certificate = (
        Certificate.of_size_search(off_hull=True)
        if lam is None
        else Certificate.of_search(price=_PRICE)
    )
    certificate = certificate.with_least_criterion(
        name, f"the best models known of {frontier.sizes[0]} to {frontier.sizes[-1]} variables"
    ).with_objective(model.energy if lam is None else _objective(frontier, model, lam))
    return Choice(frontier, model, lam, certificate, notes=notes)


class _Task(NamedTuple):
    """A table's rows under its loss."""

    design: _core.Quadratic
    folds: Sequence[FoldsInTurn]  # by repeat
    problem_at: Callable[[float], Problem]  # of all rows, at a ridge


def _make_task(
    matrix: FeatureMatrix, data: PreparedTable, repeats: _Repeats, say: Callable[[str], None]
) -> _Task:
    if not data.loss.is_likelihood:
        whole, folds = make_fold_data(matrix, data, repeats)

        def least_squares_at(ridge: float) -> Problem:
            return make_problem_on(
                whole, ridge, matrix.forced, matrix.names, _tell_size(say), thread_count()
            )

        return _Task(whole, folds, least_squares_at)
    likelihood, its_folds = make_likelihood_folds(
        matrix, data, repeats, _learned_data(matrix, data)
    )

    def likelihood_at(ridge: float) -> Problem:
        return likelihood.problem(
            ridge, matrix.forced, matrix.names, _tell_size(say), thread_count(), caller="select"
        )

    return _Task(likelihood.design, its_folds, likelihood_at)


def _ridges(settings: Settings, data: PreparedTable, weight: float) -> list[float]:
    if not data.loss.is_likelihood:
        return settings.ridges
    return [default_ridge(data.loss, weight) if settings.ridge is None else settings.ridge]


def make_fold_data(
    matrix: FeatureMatrix, data: PreparedTable, repeats: _Repeats
) -> tuple[_core.Quadratic, Sequence[SharedFolds] | Sequence[LearnedFolds]]:
    """Return the design of all rows, and the folds of every repeat.

    Where features depend on means, each fold has those of its training rows.
    """
    y, weights = data.y, data.weights
    whole = Data(matrix.X, y, weights, fit_intercept=True, threads=thread_count())
    if not repeats:
        return whole.design(), []
    if not matrix.plan.features.learns:
        shared = RepeatedFolds(whole, repeats)
        return shared.whole, shared
    make, design = _learned_data(matrix, data), whole.design()
    return design, [LearnedFolds(make, splits, design, weights) for splits in repeats]


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
