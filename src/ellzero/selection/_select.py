"""The whole job on a table."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ellzero._certificate import Certificate
from ellzero.regression import Frontier, FrontierModel
from ellzero.regression._cv_curve import Curve
from ellzero.regression._losses import Loss
from ellzero.selection._cautions import (
    caution_dispersion,
    caution_entanglement,
    caution_leakage,
)
from ellzero.selection._choose import choose
from ellzero.selection._feature_matrix import make_feature_matrix
from ellzero.selection._intervals import Distances, make_distances
from ellzero.selection._judge import (
    judge_likelihood,
    judge_predictions,
    standard_deviations,
    total_squares,
)
from ellzero.selection._linear_model import LinearModel, make_linear_model
from ellzero.selection._notes import warnings_as_notes
from ellzero.selection._posterior import fit_posterior
from ellzero.selection._prepare import PreparedTable
from ellzero.selection._rules import Score
from ellzero.selection._settings import Settings
from ellzero.selection._sureness import Sureness, make_stability
from ellzero.selection._variables import Variables
from ellzero.tables import Plan

if TYPE_CHECKING:
    from ellzero.posterior import SpikeSlabClassifier, SpikeSlabRegressor
    from ellzero.streams import PreparedStream

__all__ = ["Selection", "select"]

_Floats = NDArray[np.float64]


@dataclass
class Selection:
    """A chosen model and what it was chosen from.

    Attributes
    ----------
    settings : Settings
        What was asked.
    data : PreparedTable or PreparedStream
        What it was asked of.
    plan : Plan
        The features that it was chosen from.
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
    score : Score or None
        How well models chosen in this way predict rows held out; None if folds can't tell.
    folds, judged_by : str
        What kind of folds the curve and the score are from.
    linear : LinearModel
        The model by itself.
    variables : Variables
        What it was chosen from: features, or several that enter together.
    fitted, residuals : ndarray
        For the rows fitted on, in units of the target; probabilities of a binary one, as which it
        is 0 or 1.
    standard_deviations : ndarray
        Standard deviation of each feature of the model.
    held_out : dict or None
        How the model did on rows held out.
    posterior : SpikeSlabClassifier, SpikeSlabRegressor or None
        If asked for.
    sureness : Sureness
        What other ways of choosing say.
    warnings : list of str
        Why the result may not be what it seems.
    notes : list of str
        What else users should be told.
    """

    settings: Settings
    data: PreparedTable | PreparedStream
    plan: Plan
    frontier: Frontier
    model: FrontierModel
    lam: float | None
    ridge: float
    kept: float
    certificate: Certificate
    curve: Curve | None
    score: Score | None
    folds: str
    judged_by: str
    linear: LinearModel
    variables: Variables
    fitted: _Floats
    residuals: _Floats
    standard_deviations: _Floats
    held_out: dict[str, float] | None
    posterior: SpikeSlabClassifier | SpikeSlabRegressor | None
    sureness: Sureness
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def select(
    data: PreparedTable, settings: Settings, progress: Callable[[str], None] | None = None
) -> Selection:
    """Choose a model.

    Parameters
    ----------
    data : PreparedTable
        A prepared table.
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
    matrix = make_feature_matrix(data, settings, say)
    posterior = None
    with warnings_as_notes() as warned:
        choice = choose(matrix, data, settings, say)
        if settings.posterior:
            say("Computing the posterior")
            posterior = fit_posterior(matrix, data, settings)
    model, y, weights = choice.model, data.y, data.weights
    likelihood = data.loss.is_likelihood
    total = choice.frontier._total if likelihood else total_squares(y, weights)
    facts = {
        "rows": len(y),
        "r2": 1 - model.rss / total,
        "table": os.path.basename(data.table.name),
        "sha256": data.table.sha256,
    }
    linear = make_linear_model(
        settings.target,
        model.intercept,
        matrix.plan,
        model.coef,
        model.support,
        matrix.means,
        facts,
        None if likelihood else _distances(choice.score, y, weights),
        loss=data.loss,
        labels=data.labels,
    )
    variables = Variables.make(matrix.plan.features.names, matrix.forced, matrix.units)
    say("Choosing on halves of the rows")
    sureness = Sureness(
        model,
        choice.marks.get("min"),
        choice.marks.get("1se"),
        make_stability(matrix, data, settings, model.size, choice.ridge),
        posterior,
        variables,
    )
    cautions = caution_leakage(settings.target, choice.frontier, total, choice.score)
    cautions += sureness.sign_warnings()
    cautions += caution_entanglement(
        choice.frontier, model, variables, choice.ridge, total, choice.score
    )
    used = matrix.X[:, model.support]
    fitted = data.loss.mean(used @ model.coef[model.support] + model.intercept)
    if data.loss is Loss.POISSON:
        by = settings.criterion if settings.size is None and settings.lam is None else ""
        cautions = [*caution_dispersion(y, fitted, weights, model.size, by), *cautions]
    held_out = None
    if data.held_out is not None:
        table, truth, its_weights = data.held_out
        mean = float(np.average(y, weights=weights))
        said = linear.predict(table)
        held_out = (
            judge_likelihood(said, truth, its_weights, mean, data.loss)
            if likelihood
            else judge_predictions(said, truth, its_weights, mean)
        )
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
        fitted=fitted,
        residuals=y - fitted,
        standard_deviations=standard_deviations(used, weights),
        held_out=held_out,
        posterior=posterior,
        sureness=sureness,
        warnings=cautions,
        notes=[*data.notes, *matrix.notes, *warned, *choice.notes],
    )


def _distances(
    score: Score | None, y: NDArray[np.float64], weights: NDArray[np.float64] | None
) -> Distances | None:
    if score is None:
        return None
    rows = float(len(y)) if weights is None else float(weights.sum())
    return make_distances(score.outcomes, score.weights, rows)
