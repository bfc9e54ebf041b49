"""The models of a posterior."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Models", "models_from_draws", "models_from_masses"]

# The enumerated models that are kept have all but this share of the mass; at most this many are.
_LEFT_OUT = 1e-6
_MOST = 10_000


class Models(NamedTuple):
    """Models with their posterior mass, best first."""

    supports: list[NDArray[np.int64]]
    mass: NDArray[np.float64]


def models_from_draws(coef: Any) -> Models:
    """Count how often each support occurs among the rows of a sparse matrix."""
    counts = Counter(
        tuple(coef.indices[low:high].tolist())
        for low, high in zip(coef.indptr[:-1], coef.indptr[1:], strict=True)
    )
    ranked = sorted(counts.items(), key=lambda item: (-item[1], len(item[0]), item[0]))
    supports = [np.array(support, dtype=np.int64) for support, _ in ranked]
    return Models(supports, np.array([count for _, count in ranked]) / coef.shape[0])


def models_from_masses(
    masses: NDArray[np.float64], free: NDArray[np.int64], always: NDArray[np.int64]
) -> Models:
    """Take the best of all models; bit b of a model's place says whether column free[b] is in."""
    order = np.argsort(-masses, kind="stable")[:_MOST]
    mass = masses[order]
    enough = int(np.searchsorted(np.cumsum(mass), 1 - _LEFT_OUT)) + 1
    supports = [
        np.sort(np.concatenate([always, free[(code >> np.arange(free.size)) & 1 == 1]]))
        for code in order[:enough]
    ]
    return Models(supports, mass[:enough])
