"""The posterior of the same features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ellzero.selection._feature_matrix import FeatureMatrix
from ellzero.selection._prepare import PreparedTable
from ellzero.selection._settings import Settings

if TYPE_CHECKING:
    from ellzero.posterior import SpikeSlabRegressor

__all__ = ["fit_posterior"]


def fit_posterior(
    matrix: FeatureMatrix, data: PreparedTable, settings: Settings, **parameters: Any
) -> SpikeSlabRegressor:
    """Compute the posterior; ``parameters`` are those of SpikeSlabRegressor."""
    from ellzero.posterior import SpikeSlabRegressor

    estimator = SpikeSlabRegressor(
        random_state=settings.seed, always_include=matrix.forced, n_jobs=-1, **parameters
    )
    estimator._fit_named(matrix.X, data.y, data.weights, matrix.names)
    return estimator
