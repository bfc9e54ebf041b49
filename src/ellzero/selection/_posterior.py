"""The posterior of the same features, and the average over its models."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero._messages import Argument
from ellzero.regression._losses import Loss
from ellzero.selection._factors import rules_of
from ellzero.selection._feature_matrix import FeatureMatrix, FeatureSet, resolve_forced
from ellzero.selection._kept_draws import keep_draws
from ellzero.selection._linear_model import LinearModel, make_linear_model
from ellzero.selection._prepare import PreparedTable
from ellzero.selection._settings import Settings
from ellzero.sources import SufficientStatistics
from ellzero.tables import DataError

if TYPE_CHECKING:
    from ellzero.posterior import SpikeSlabClassifier, SpikeSlabRegressor

__all__ = ["average_models", "fit_posterior", "fit_posterior_of"]


def fit_posterior(
    matrix: FeatureMatrix, data: PreparedTable, settings: Settings, **parameters: Any
) -> SpikeSlabClassifier | SpikeSlabRegressor:
    """Compute the posterior; ``parameters`` are those of the estimator.

    That is SpikeSlabClassifier for a binary target, else SpikeSlabRegressor.
    """
    binary = data.loss is Loss.LOGISTIC
    if binary and data.weights is not None and not settings.frequency:
        raise DataError(
            "The posterior of a binary target counts rows: ",
            Argument("weights"),
            " must be whole numbers of them, with ",
            Argument("frequency", True),
            ".",
        )
    estimator: SpikeSlabClassifier | SpikeSlabRegressor = _make_estimator(
        matrix, settings, binary, parameters
    )
    estimator._fit_named(matrix.X, data.y, data.weights, matrix.names)
    return estimator


def fit_posterior_of(
    matrix: FeatureSet, settings: Settings, statistics: SufficientStatistics
) -> SpikeSlabRegressor:
    """Compute the posterior of rows that are known by their statistics."""
    estimator = _make_estimator(matrix, settings, False, {})
    fitted: SpikeSlabRegressor = estimator.fit(statistics)
    return fitted


def _make_estimator(
    matrix: FeatureSet, settings: Settings, binary: bool, parameters: dict[str, Any]
) -> Any:
    from ellzero.posterior import SpikeSlabClassifier, SpikeSlabRegressor

    if matrix.structure is not None:
        _check_whole(settings, binary, **parameters)
    if settings.flat:
        parameters["flat"] = _resolve_flat(matrix, settings)
    return (SpikeSlabClassifier if binary else SpikeSlabRegressor)(
        random_state=settings.seed,
        always_include=matrix.forced,
        n_jobs=-1,
        **rules_of(matrix.structure),
        **parameters,
    )


def _resolve_flat(matrix: FeatureSet, settings: Settings) -> NDArray[np.int64]:
    plan = matrix.plan
    dates = {name: part.column for name, part in plan.parts.items()}
    flat = resolve_forced(settings.flat, plan.features.features, dates, "flat")
    both = np.intersect1d(flat, matrix.forced)
    if both.size:
        name = str(matrix.names[both[0]])
        raise DataError(Argument("flat"), " and ", Argument("force"), f" both name {name!r}.")
    return flat


def _check_whole(
    settings: Settings,
    binary: bool,
    slab: str = "gaussian",
    solver: str = "auto",
    noise: str = "gaussian",
    **_: Any,
) -> None:
    """Refuse priors and solvers that know single features only."""
    asked = None
    if slab not in ("gaussian", "zellner"):
        asked = Argument("slab", slab)
    if solver == "tempered" or (binary and solver == "enumerate"):
        asked = Argument("solver", solver)
    if noise == "student":
        asked = Argument("noise", noise)
    if asked is None:
        return
    if settings.heredity is not None:
        raise DataError(asked, " knows single features only, without ", Argument("heredity"), ".")
    raise DataError(asked, " knows single features only: ", Argument("levels"), " makes them so.")


def average_models(
    posterior: SpikeSlabRegressor, matrix: FeatureMatrix, data: PreparedTable, target: str
) -> LinearModel:
    """Return the average over the models of a posterior, as a model that predicts by itself.

    It has every feature whose posterior mean is not zero: its predictions are those of
    ``posterior.predict``.
    """
    draws = keep_draws(posterior)
    support = np.union1d(np.flatnonzero(posterior.coef_), np.array(draws.places, dtype=np.int64))
    facts = {
        "rows": len(data.y),
        "table": os.path.basename(data.table.name),
        "sha256": data.table.sha256,
        "slab": posterior.slab,
        "scale_prior": posterior.scale_prior,
        "noise": posterior.noise,
        "solver": posterior.solver_,
        "draws": int(posterior.draws_.intercept.size),
    }
    return make_linear_model(
        target,
        posterior.intercept_,
        matrix.plan,
        posterior.coef_,
        support,
        matrix.means,
        facts,
        draws=draws,
    )
