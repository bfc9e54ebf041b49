"""How a model is chosen, as a rule that can be repeated on any rows, and what it is worth there."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ellzero.regression._criteria import trusted_size
from ellzero.regression._cross_validation import Choice, CrossValidation, Mark
from ellzero.regression._fold_paths import AnyFolds
from ellzero.regression._folds import Turn
from ellzero.regression._growth import MARGIN, GrowingFrontier, Solutions
from ellzero.regression._problem import DEFAULT_MAX_SIZE, Problem
from ellzero.selection._settings import Settings

__all__ = ["Chosen", "FoldsInTurn", "Rule", "Score", "at_mark", "score_rule"]

_Floats = NDArray[np.float64]
_APART = 10**6  # more than there are folds in a repeat


class FoldsInTurn(AnyFolds, Protocol):
    """Folds of any loss that can also be had one after the other."""

    def one_by_one(self) -> Iterator[Turn]:
        """Give each fold, and what makes the others on its training rows."""


_Folds = FoldsInTurn


class Chosen(NamedTuple):
    """What a rule has chosen on some rows."""

    growing: GrowingFrontier
    size: int
    lam: float | None = None  # if the rule goes by the price
    ridge: float = 0.0
    rescaling: float = 1.0  # of coefficients
    by_folds: Choice | None = None  # what it was chosen from, if by cross-validation


@dataclass(frozen=True)
class Rule:
    """How a model is chosen: by its size, its price, a criterion or cross-validation.

    Attributes
    ----------
    settings : Settings
        What was asked.
    procedure : CrossValidation
        How folds are searched.
    """

    settings: Settings
    procedure: CrossValidation

    def largest(self, problem: Problem) -> int:
        """Return the size up to which a criterion is trusted on some rows."""
        p = problem.design.columns
        trusted = min(DEFAULT_MAX_SIZE, trusted_size(problem.weight, p))
        return min(p, self.procedure.forced.size + trusted)

    @property
    def by_folds(self) -> str:
        """The rule of cross-validation, if it is one."""
        return "1se" if self.settings.criterion == "1se" else "min"

    def choose(
        self,
        problem_at: Callable[[float], Problem],
        share: float,
        folds: Callable[[], Sequence[_Folds]],
    ) -> Chosen:
        """Choose a model on some rows, which make up a share of all; ``folds`` split them.

        ``problem_at`` is the problem of these rows at a ridge.
        """
        settings = self.settings
        if settings.cross_validated:
            choice = self.procedure.choose(folds())
            mark = choice.marks[self.by_folds]
            return at_mark(problem_at(mark.ridge), mark)._replace(by_folds=choice)
        ridge = self.procedure.ridges[0]
        growing = GrowingFrontier(problem_at(ridge), swaps=True)
        design = growing.problem.design
        if settings.size is not None:
            growing.grow(min(design.columns, settings.size + MARGIN))
            return Chosen(growing, min(settings.size, growing.last), ridge=ridge)
        if settings.lam is not None:
            return _at_price(growing, settings.lam * share)._replace(ridge=ridge)
        growing.grow(self.largest(growing.problem))
        return Chosen(growing, self._least_criterion(growing), ridge=ridge)

    def _least_criterion(self, growing: GrowingFrontier) -> int:
        problem, solutions = growing.problem, growing.solutions()
        sizes = np.diff(solutions.begins)
        if problem.weight < 1:  # too little to tell anything
            return int(sizes[0])
        values = problem.criterion(self.settings.criterion, solutions.rss, sizes, int(sizes[0]))
        return int(sizes[np.argmin(values)])


def at_mark(problem: Problem, mark: Mark) -> Chosen:
    """Return the model that cross-validation leads to; the problem is at its ridge."""
    found = _at_price(GrowingFrontier(problem, swaps=True), mark.lam)
    return found._replace(ridge=mark.ridge, rescaling=mark.rescaling)


def _at_price(growing: GrowingFrontier, lam: float) -> Chosen:
    growing.cover(lam, growing.problem.design.columns)
    return Chosen(growing, growing.hull.size_at(lam), lam)


class Score(NamedTuple):
    """How a rule does on rows that neither its choice nor its fit has seen."""

    error: float  # mean squared, or mean log loss or deviance
    error_se: float
    r2: float  # the share that is less than by predicting the mean of the rows fitted on
    r2_se: float
    sizes: list[int]  # of the models chosen, one per fold
    size_errors: _Floats  # mean squared error of the best model of each size, from the smallest on
    size_ses: _Floats
    outcomes: _Floats  # of the rows held out, in turn: residuals, or predictors of a likelihood
    weights: _Floats  # of these
    rows: NDArray[np.int64]  # which they are
    folds: NDArray[np.int64]  # the fold that held each out, counted through all repeats

    @property
    def predicts(self) -> bool:
        """Whether R2 is above zero by more than a standard error."""
        return bool(self.r2 > (0.0 if math.isnan(self.r2_se) else self.r2_se))


def score_rule(
    rule: Rule,
    repeats: Sequence[_Folds],
    weights: _Floats | None,
    say: Callable[[int, int], None],
) -> Score | None:
    """Repeat a rule, choice included, in every fold; None if no fold can be judged.

    ``weights`` are those of all rows.

    Folds count by the weight of their test rows. Repeats of the folds are not independent: standard
    errors are those of one repeat, averaged over repeats.
    """
    scores = [
        score
        for place, folds in enumerate(repeats)
        if (score := _score(rule, folds, weights, place, say))
    ]
    if not scores:
        return None
    last = min(len(score.size_errors) for score in scores)
    return Score(
        float(np.mean([score.error for score in scores])),
        float(np.mean([score.error_se for score in scores])),
        float(np.mean([score.r2 for score in scores])),
        float(np.mean([score.r2_se for score in scores])),
        [size for score in scores for size in score.sizes],
        np.mean([score.size_errors[:last] for score in scores], axis=0),
        np.mean([score.size_ses[:last] for score in scores], axis=0),
        np.concatenate([score.outcomes for score in scores]),
        np.concatenate([score.weights for score in scores]) / len(scores),
        np.concatenate([score.rows for score in scores]),
        np.concatenate([place * _APART + score.folds for place, score in enumerate(scores)]),
    )


def _score(
    rule: Rule,
    folds: _Folds,
    row_weights: _Floats | None,
    repeat: int,
    say: Callable[[int, int], None],
) -> Score | None:
    weights, errors, sizes, size_errors, bases = [], [], [], [], []
    outcomes: list[_Floats] = []
    of_rows: list[_Floats] = []
    tests: list[NDArray[np.int64]] = []
    for place, (fold, test, inside) in enumerate(folds.one_by_one()):
        say(repeat, place)
        found = _choose_in(fold, rule, fold.trained / folds.whole.weight, inside)
        if found is None:
            continue
        total = found.growing.problem.total
        solutions = found.growing.solutions().rescaled(found.rescaling, total)
        by_size = _errors_by_size(fold, solutions)
        first = found.growing.last + 1 - len(by_size)
        outcomes.append(fold.outcome(*solutions.model(found.size - first)))
        of_rows.append(np.ones(len(test)) if row_weights is None else row_weights[test])
        tests.append(test)
        bases.append(fold.error_of_nothing())
        weights.append(fold.tested)
        errors.append(by_size[found.size - first])
        size_errors.append(by_size)
        sizes.append(found.size)
    if not weights:
        return None
    share = np.array(weights) / sum(weights)
    error, base = np.array(errors), np.array(bases)
    mean, mean_base = float(share @ error), float(share @ base)
    r2 = 1 - mean / mean_base if mean_base > 0 else math.nan
    # To first order, what a fold does to 1 - r2 = mean / mean_base
    influence = (error - (1 - r2) * base) / mean_base if mean_base > 0 else np.full_like(base, r2)
    last = min(map(len, size_errors))
    curve = np.array([row[:last] for row in size_errors])
    means = share @ curve
    return Score(
        mean,
        float(_standard_error(share, error - mean)),
        r2,
        float(_standard_error(share, influence)),
        sizes,
        means,
        _standard_error(share, curve - means),
        np.concatenate(outcomes),
        np.concatenate(of_rows),
        np.concatenate(tests),
        np.repeat(np.arange(len(tests)), [len(test) for test in tests]),
    )


def _choose_in(
    fold: Any, rule: Rule, share: float, inside: Callable[[], _Folds | None]
) -> Chosen | None:
    """Choose on the training rows of a fold; None if these can't be split as the rule needs."""
    inner = inside() if rule.settings.cross_validated else None
    if rule.settings.cross_validated and inner is None:
        return None

    def problem_at(ridge: float) -> Problem:
        problem: Problem = fold.problem(ridge, rule.procedure.forced)
        return problem

    return rule.choose(problem_at, share, lambda: [inner] if inner is not None else [])


def _errors_by_size(fold: Any, solutions: Solutions) -> _Floats:
    """Return the error on the test rows of every model of a frontier."""
    places = range(len(solutions.rss))
    return np.array([fold.error(*solutions.model(place)) for place in places])


def _standard_error(share: _Floats, deviations: _Floats) -> _Floats:
    """Return the standard error of a weighted mean of as many numbers as there are folds."""
    if len(share) < 2:
        return np.full(deviations.shape[1:], np.nan)
    unit = max(float(np.abs(deviations).max(initial=0.0)), np.finfo(float).tiny)
    variance = share @ (deviations / unit) ** 2
    return np.asarray(unit * np.sqrt(variance / (len(share) - 1)))
