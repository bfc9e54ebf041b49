"""The whole job on many files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.regression import FrontierModel
from ellzero.regression._statistics_folds import folds_of_statistics
from ellzero.selection._cautions import caution_entanglement, caution_leakage
from ellzero.selection._choose import Choice, check_choice, choose_by, make_squares_task
from ellzero.selection._feature_matrix import FeatureSet, make_feature_set
from ellzero.selection._linear_model import make_linear_model
from ellzero.selection._notes import warnings_as_notes
from ellzero.selection._posterior import fit_posterior_of
from ellzero.selection._rules import average_folds
from ellzero.selection._select import Selection
from ellzero.selection._settings import Settings
from ellzero.selection._sureness import Sureness
from ellzero.selection._variables import Variables
from ellzero.sources import SufficientStatistics
from ellzero.streams._moments import keep_columns, repeated_products, sum_products
from ellzero.streams._prepare import PreparedStream
from ellzero.streams._recipe import make_recipe
from ellzero.streams._residuals import Fitted, Residuals, sum_residuals

__all__ = ["select_stream"]

_Floats = NDArray[np.float64]
# Statistics know few digits of a sum of squared residuals that is a smaller share than this.
_FEW_DIGITS = 1e-10


def select_stream(
    data: PreparedStream, settings: Settings, progress: Callable[[str], None] | None = None
) -> Selection:
    """Choose a model from files that have been looked at.

    One pass sums products; the choice is made of these, in memory; another pass, over the columns
    of the models alone, looks at residuals.

    Parameters
    ----------
    data : PreparedStream
        The files.
    settings : Settings
        What is asked.
    progress : callable, default=None
        Called with what is going on, in words.

    Returns
    -------
    Selection
        The model and what it was chosen from. ``fitted`` and ``residuals`` are of some rows.
    """
    say = progress or (lambda words: None)
    statistics = sum_products(data, settings, say)
    matrix, statistics = _features(data, statistics, settings)
    check_choice(matrix, settings)
    folds = folds_of_statistics(statistics, True, None, None)
    task = make_squares_task(matrix, folds.whole, folds, settings.max_size, say)
    posterior = None
    with warnings_as_notes() as warned:
        kind = f"{data.folds} folds at random"
        choice = choose_by(task, kind, matrix, data.loss, None, settings, say)
        if settings.posterior:
            say("Computing the posterior")
            posterior = fit_posterior_of(matrix, settings, statistics)
    found = _look_at_residuals(data, settings, matrix, statistics, choice, folds, say)
    exact = 2 * choice.model.energy < _FEW_DIGITS * data.total
    choice = _refine(choice, statistics, found, data)
    model = choice.model
    facts = {
        "rows": data.n_fitted,
        "r2": 1 - model.rss / data.total,
        "table": data.table.name,
        "sha256": data.table.sha256,
    }
    scale = float(np.sqrt(data.total / data.weight))
    linear = make_linear_model(
        settings.target,
        model.intercept,
        matrix.plan,
        model.coef,
        model.support,
        matrix.means,
        facts,
        found.distances(scale, data.weight) if choice.score is not None else None,
    )
    variables = Variables.make(matrix.plan.features.names, matrix.forced, matrix.units)
    sureness = Sureness(
        model, choice.marks.get("min"), choice.marks.get("1se"), None, posterior, variables
    )
    cautions = caution_leakage(settings.target, choice.frontier, data.total, choice.score)
    cautions += sureness.sign_warnings()
    cautions += caution_entanglement(
        choice.frontier, model, variables, choice.ridge, data.total, choice.score
    )
    squares = np.diag(statistics._total().products)[model.support]
    data.checkpoint.remove()
    return Selection(
        settings=settings,
        data=data,
        plan=matrix.plan,
        frontier=choice.frontier,
        model=model,
        lam=choice.lam,
        ridge=choice.ridge,
        kept=choice.kept,
        certificate=choice.certificate,
        curve=choice.curve,
        score=choice.score,
        folds=choice.folds,
        judged_by=choice.judged_by,
        linear=linear,
        variables=variables,
        fitted=found.shown[0],
        residuals=found.shown[1],
        standard_deviations=np.sqrt(squares / data.weight),
        held_out=None,
        posterior=posterior,
        sureness=sureness,
        warnings=cautions,
        notes=[
            *data.notes,
            *matrix.notes,
            *warned,
            *choice.notes,
            *_say_left_out(settings, matrix, exact=exact),
        ],
    )


def _features(
    data: PreparedStream, statistics: SufficientStatistics, settings: Settings
) -> tuple[FeatureSet, SufficientStatistics]:
    """Leave out products that repeat other features."""
    features = data.plan.features.features
    first = next((j for j, f in enumerate(features) if f.kind == "product"), len(features))
    repeats = repeated_products(statistics, first) if first < len(features) else {}
    matrix = make_feature_set(data.plan, data.means, repeats, settings)
    if repeats:
        kept = [j for j in range(len(features)) if j not in repeats]
        statistics = keep_columns(statistics, kept)
    return matrix, statistics


def _look_at_residuals(
    data: PreparedStream,
    settings: Settings,
    matrix: FeatureSet,
    statistics: SufficientStatistics,
    choice: Choice,
    folds: Sequence[Any],
    say: Callable[[str], None],
) -> Residuals:
    """Go through the rows again, with the model chosen and those of the folds."""
    total, model = statistics._total(), choice.model
    mean = statistics._shift + total.mean
    chosen = (model.support, model.coef[model.support], mean[model.support], float(mean[-1]))
    others = []
    fits = [] if choice.score is None else choice.score.fits
    for turn, (support, beta, _) in zip(folds[0].one_by_one(), fits, strict=False):
        design = turn.fold.design
        coef = beta * design.inverse_scale[support]
        others.append((support, coef, design.mean[support], design.mean_y))
    every = matrix.plan.features.features
    used = {int(j) for fit in (chosen, *others) for j in fit[0]}
    needed = np.array(sorted({*used, *(k for j in used for k in every[j].factors)}), dtype=np.int64)
    recipe = make_recipe(
        matrix.plan,
        matrix.means,
        settings.target,
        settings.weights,
        data.recipe.present,
        data.recipe.kinds,
        needed,
    )

    def fitted(fit: tuple[NDArray[np.int64], _Floats, _Floats, float]) -> Fitted:
        return Fitted(np.searchsorted(needed, fit[0]), *fit[1:])

    return sum_residuals(data, settings, recipe, fitted(chosen), [fitted(o) for o in others], say)


def _refine(
    choice: Choice, statistics: SufficientStatistics, found: Residuals, data: PreparedStream
) -> Choice:
    """Give the model the digits that rows have and products have not.

    A model that is shrunk stays as it is.
    """
    score = choice.score
    if score is not None:
        errors, bases = found.errors / found.weights, found.bases / found.weights
        error, error_se, r2, r2_se = average_folds(found.weights, errors, bases)
        score = score._replace(error=error, error_se=error_se, r2=r2, r2_se=r2_se)
    model = choice.model
    if choice.ridge == 0 and choice.frontier.rescaling == 1:
        model = _one_step(model, statistics, found, data)
    return replace(choice, model=model, score=score)


def _one_step(
    model: FrontierModel, statistics: SufficientStatistics, found: Residuals, data: PreparedStream
) -> FrontierModel:
    total = statistics._total()
    mean = statistics._shift + total.mean
    some = model.support
    products = total.products[np.ix_(some, some)]
    norms = np.sqrt(np.diag(products))
    step = np.zeros(len(some))
    if len(some):
        scaled = products / np.outer(norms, norms)
        step = np.linalg.solve(scaled, found.products / norms) / norms
    coef = model.coef.copy()
    coef[some] += step
    up = found.total / data.weight
    intercept = float(mean[-1] + up - coef[some] @ mean[some])
    rss = max(found.squares - float(step @ found.products) - up * found.total, 0.0)
    return replace(model, coef=coef, intercept=intercept, rss=rss, energy=rss / 2)


def _say_left_out(settings: Settings, matrix: FeatureSet, *, exact: bool) -> list[str]:
    """Say what was not done, since rows are not at hand, and what was done otherwise."""
    notes: list[str] = []
    if settings.stability:
        notes.append("Nothing was chosen on halves of the rows: these are not in memory.")
    if matrix.plan.features.learns:
        notes.append(
            "Means of features are those of all rows, also in folds: with so many rows they hardly "
            "differ."
        )
    if exact:
        notes.append(
            "The fit is exact to ten digits: its error and its coefficients were computed from "
            "rows, but errors of other sizes are known by statistics alone, and may be rounding."
        )
    return notes
