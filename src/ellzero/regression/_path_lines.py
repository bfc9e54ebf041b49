"""What is drawn of a path: a line for every variable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero._columns import column_name
from ellzero.regression._frontier_model import FrontierModel

__all__ = ["PathLines"]


class PathLines(NamedTuple):
    """The solutions of a path, the smallest first: which variables each has, and their values."""

    sizes: list[int]
    members: list[NDArray[np.int64]]
    values: list[NDArray[np.float64]]
    names: list[str]  # of all variables
    end: float  # the least price that something is known about

    @classmethod
    def of_columns(
        cls, models: Sequence[FrontierModel], names: Any, end: float, *, standardised: bool
    ) -> PathLines:
        """Draw a line for every column."""
        return cls(
            [model.size for model in models],
            [model.support for model in models],
            [model.standardised if standardised else model.coef[model.support] for model in models],
            [column_name(j, names) for j in range(models[0].coef.size)],
            end,
        )
