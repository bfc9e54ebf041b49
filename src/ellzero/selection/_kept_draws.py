"""The draws of a posterior that a saved model keeps, for its intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ellzero.posterior import SpikeSlabRegressor

__all__ = ["KeptDraws", "keep_draws"]

_Floats = NDArray[np.float64]
# So many draws are kept, fewer if they have more coefficients than this in all, but some always.
_MOST = 1_000
_MOST_COEFFICIENTS = 100_000
_LEAST = 100


@dataclass(frozen=True)
class KeptDraws:
    """Draws of a linear model, each with the features that are in it.

    Attributes
    ----------
    sizes : tuple of int
        How many features each draw has.
    places : tuple of int
        Which these are, draw by draw, in increasing order.
    coefficients : tuple of float
        Their coefficients, in units of the target per unit of the feature.
    intercepts : tuple of float
        The mean of each draw where all features are 0.
    deviations : tuple of float
        The standard deviation of a new row from a draw's mean: the noise, and what is not known of
        the intercept. Under Student's noise its scale.
    degrees : tuple of float
        Degrees of freedom of Student's noise; empty if the noise is normal.
    """

    sizes: tuple[int, ...]
    places: tuple[int, ...]
    coefficients: tuple[float, ...]
    intercepts: tuple[float, ...]
    deviations: tuple[float, ...]
    degrees: tuple[float, ...] = ()

    def interval(self, X: _Floats, level: float) -> tuple[_Floats, _Floats]:
        """Return the posterior predictive interval of rows of features."""
        from scipy.sparse import csr_array

        from ellzero._predictive import predictive_interval

        begins = np.concatenate([[0], np.cumsum(self.sizes)])
        entries = np.array(self.coefficients), np.array(self.places, dtype=np.int64), begins
        coef = csr_array(entries, shape=(len(self.sizes), X.shape[1]))
        return predictive_interval(
            X,
            coef,
            np.array(self.intercepts),
            np.array(self.deviations),
            level,
            np.array(self.degrees) if self.degrees else None,
        )

    def renumbered(self, place: Mapping[int, int]) -> KeptDraws:
        """Return the same draws of features that have other places, in the same order."""
        return replace(self, places=tuple(place[j] for j in self.places))


def keep_draws(posterior: SpikeSlabRegressor) -> KeptDraws:
    """Keep draws of a posterior, spread evenly over those that it has."""
    coef, intercepts, deviations = posterior._predictive_draws()
    total = len(deviations)
    wanted = _MOST_COEFFICIENTS * total // max(coef.nnz, 1)
    count = min(total, max(_LEAST, min(_MOST, wanted)))
    rows = np.linspace(0, total, count, endpoint=False).astype(np.int64)
    kept = coef[rows]
    kept.sort_indices()
    df = posterior.draws_.noise_df
    return KeptDraws(
        sizes=tuple(np.diff(kept.indptr).tolist()),
        places=tuple(kept.indices.tolist()),
        coefficients=tuple(kept.data.tolist()),
        intercepts=tuple(intercepts[rows].tolist()),
        deviations=tuple(deviations[rows].tolist()),
        degrees=() if df is None else tuple(df.ravel()[rows].tolist()),
    )
