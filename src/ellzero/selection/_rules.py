"""How a model is chosen, as a rule that can be repeated on any rows, and what it is worth there."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ellzero.regression._cross_validation import Mark
from ellzero.regression._fold_paths import AnyFolds
from ellzero.regression._folds import Turn
from ellzero.selection._search import Chosen, Fit, Procedure, Search
from ellzero.selection._settings import Settings

__all__ = ["FoldsInTurn", "Rule", "Score", "at_mark", "average_folds", "score_rule"]

_Floats = NDArray[np.float64]
_APART = 10**6  # more than there are folds in a repeat


class FoldsInTurn(AnyFolds, Protocol):
    """Folds of any loss that can also be had one after the other."""

    def one_by_one(self) -> Iterator[Turn]:
        """Give each fold, and what makes the others on its training rows."""


@dataclass(frozen=True)
class Rule:
    """How a model is chosen: by its size, its price, a criterion or cross-validation.

    Attributes
    ----------
    settings : Settings
        What was asked.
    procedure : Procedure
        How folds are searched.
    search_in : callable
        Opens a search on the training rows of a fold, at a ridge.
    by_groups : bool
        Whether it is over groups, for which folds may need a design of their own.
    """

    settings: Settings
    procedure: Procedure
    search_in: Callable[[Any, float], Search]
    by_groups: bool = False

    @property
    def by_folds(self) -> str:
        """The rule of cross-validation, if it is one."""
        return "1se" if self.settings.criterion == "1se" else "min"

    def choose(
        self,
        search_at: Callable[[float], Search],
        share: float,
        folds: Callable[[], Sequence[FoldsInTurn]],
    ) -> Chosen:
        """Choose a model on some rows, which make up a share of all; ``folds`` split them.

        ``search_at`` opens a search on these rows at a ridge.
        """
        settings = self.settings
        if settings.cross_validated:
            choice = self.procedure.choose(folds())
            mark = choice.marks[self.by_folds]
            return at_mark(search_at(mark.ridge), mark)._replace(by_folds=choice)
        ridge = self.procedure.ridges[0]
        search = search_at(ridge)
        if settings.size is not None:
            return Chosen(search, search.of_size(settings.size), ridge=ridge)
        if settings.lam is not None:
            lam = settings.lam * share
            return Chosen(search, search.at_price(lam), lam, ridge)
        return Chosen(search, search.of_least(settings.criterion), ridge=ridge)


def at_mark(search: Search, mark: Mark) -> Chosen:
    """Return the model that cross-validation leads to; the search is at its ridge."""
    return Chosen(search, search.at_price(mark.lam), mark.lam, mark.ridge, mark.rescaling)


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
    fits: list[Fit]  # what was chosen in every fold

    @property
    def predicts(self) -> bool:
        """Whether R2 is above zero by more than a standard error."""
        return bool(self.r2 > (0.0 if math.isnan(self.r2_se) else self.r2_se))


def score_rule(
    rule: Rule,
    repeats: Iterable[FoldsInTurn],
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
        [fit for score in scores for fit in score.fits],
    )


def _score(
    rule: Rule,
    folds: FoldsInTurn,
    row_weights: _Floats | None,
    repeat: int,
    say: Callable[[int, int], None],
) -> Score | None:
    weights, errors, sizes, size_errors, bases = [], [], [], [], []
    outcomes: list[_Floats] = []
    of_rows: list[_Floats] = []
    tests: list[NDArray[np.int64]] = []
    fits: list[Fit] = []
    for place, (made, test, inside) in enumerate(folds.one_by_one()):
        say(repeat, place)
        fold = made.for_groups() if rule.by_groups else made
        found = _choose_in(fold, rule, fold.trained / folds.whole.weight, inside)
        if found is None:
            continue
        fit = found.search.fit(found.model, found.rescaling)
        fits.append(fit)
        outcomes.append(fold.outcome(*fit))
        of_rows.append(np.ones(len(test)) if row_weights is None else row_weights[test])
        tests.append(test)
        bases.append(fold.error_of_nothing())
        weights.append(fold.tested)
        errors.append(fold.error(*fit))
        of_sizes = found.search.fits(found.rescaling)
        size_errors.append(fold.judge(of_sizes)[:, 0])
        sizes.append(found.size)
    if not weights:
        return None
    share = np.array(weights) / sum(weights)
    last = min(map(len, size_errors))
    curve = np.array([row[:last] for row in size_errors])
    means = share @ curve
    return Score(
        *average_folds(np.array(weights), np.array(errors), np.array(bases)),
        sizes,
        means,
        _standard_error(share, curve - means),
        np.concatenate(outcomes),
        np.concatenate(of_rows),
        np.concatenate(tests),
        np.repeat(np.arange(len(tests)), [len(test) for test in tests]),
        fits,
    )


def average_folds(
    weights: _Floats, errors: _Floats, bases: _Floats
) -> tuple[float, float, float, float]:
    """Return the mean error of folds, R2, and the standard error of each after it.

    ``bases`` are the errors of the mean of the rows fitted on.
    """
    share = weights / weights.sum()
    mean, mean_base = float(share @ errors), float(share @ bases)
    r2 = 1 - mean / mean_base if mean_base > 0 else math.nan
    # To first order, what a fold does to 1 - r2 = mean / mean_base
    influence = (
        (errors - (1 - r2) * bases) / mean_base if mean_base > 0 else np.full_like(bases, r2)
    )
    return (
        mean,
        float(_standard_error(share, errors - mean)),
        r2,
        float(_standard_error(share, influence)),
    )


def _choose_in(
    fold: Any, rule: Rule, share: float, inside: Callable[[], FoldsInTurn | None]
) -> Chosen | None:
    """Choose on the training rows of a fold; None if these can't be split as the rule needs."""
    inner = inside() if rule.settings.cross_validated else None
    if rule.settings.cross_validated and inner is None:
        return None

    return rule.choose(
        lambda ridge: rule.search_in(fold, ridge),
        share,
        lambda: [inner] if inner is not None else [],
    )


def _standard_error(share: _Floats, deviations: _Floats) -> _Floats:
    """Return the standard error of a weighted mean of as many numbers as there are folds."""
    if len(share) < 2:
        return np.full(deviations.shape[1:], np.nan)
    unit = max(float(np.abs(deviations).max(initial=0.0)), np.finfo(float).tiny)
    variance = share @ (deviations / unit) ** 2
    return np.asarray(unit * np.sqrt(variance / (len(share) - 1)))
