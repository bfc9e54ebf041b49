"""A posterior given one model, by those of its draws that are of that model."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.posterior._draws import PosteriorDraws

__all__ = ["restrict"]

_FEWEST = 100  # draws to predict by


def restrict(estimator: Any, inside: Any, support: NDArray[np.int64], model: Any) -> Any:
    """Return a copy of an estimator that has the draws of one model alone.

    ``inside`` is a sparse matrix whose entries are the units in each draw, ``model`` what the user
    called the model. Those attributes that are made of the draws are left to the caller.
    """
    rows = _rows_of(inside, support)
    if rows.size < _FEWEST:
        raise ValueError(
            f"model={model!r} is met by {rows.size} draws, too few to predict by it alone: draw "
            "more, or use model='average'."
        )
    out = copy(estimator)
    out.draws_ = _take(estimator.draws_, rows)
    return out


def _rows_of(inside: Any, support: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the draws whose model this is."""
    same = np.flatnonzero(np.diff(inside.indptr) == support.size)
    if not support.size:
        return same
    places = inside.indptr[same][:, None] + np.arange(support.size)
    return np.asarray(same[(inside.indices[places] == support).all(axis=1)])


def _take(draws: PosteriorDraws, rows: NDArray[np.int64]) -> PosteriorDraws:
    """Return some draws, as one chain."""
    of_chains = {"intercept": draws.intercept, **draws.hyperparameters()}
    taken: dict[str, Any] = {
        name: values.reshape(-1)[rows][None, :] for name, values in of_chains.items()
    }
    groups = None if draws.groups is None else draws.groups[rows]
    return replace(draws, coef=draws.coef[rows], groups=groups, **taken)
