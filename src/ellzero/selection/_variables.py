"""What users call a variable: a feature, or several that enter together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ellzero.regression import FrontierModel
from ellzero.regression._group_frontier import GroupModel
from ellzero.regression._units import Units

__all__ = ["Variables", "names_in"]

_Integers = NDArray[np.int64]
_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Variables:
    """All variables that a model is chosen from.

    Attributes
    ----------
    names : list of str
        Their names.
    columns : list of ndarray of int
        The features of each.
    forced : ndarray of int
        Those that are in every model.
    """

    names: list[str]
    columns: list[_Integers]
    forced: _Integers

    @classmethod
    def make(cls, names: Sequence[str], forced: _Integers, units: Units | None) -> Variables:
        """Return those of units, or one for every feature."""
        if units is None:
            return cls([*map(str, names)], [np.array([j]) for j in range(len(names))], forced)
        return cls(units.names, units.columns, units.forced_units)

    def __len__(self) -> int:
        return len(self.names)

    def of(self, model: FrontierModel) -> _Integers:
        """Return the variables of a model."""
        return model.units if isinstance(model, GroupModel) else model.support

    def costs(self, model: FrontierModel) -> _Floats:
        """Return what removing each variable of a model costs."""
        return model.group_cost if isinstance(model, GroupModel) else model.removal_cost

    def parts(self, model: FrontierModel, variable: int) -> _Integers:
        """Return the places in a model's support of the features of one of its variables."""
        return np.flatnonzero(np.isin(model.support, self.columns[variable]))

    def value(self, variable: int, by_feature: _Floats) -> float:
        """Return what an array by feature says of a variable; NaN if it has several."""
        columns = self.columns[variable]
        return float(by_feature[columns[0]]) if columns.size == 1 else math.nan


def names_in(model: FrontierModel) -> list[str]:
    """Return the names of a model's variables."""
    return model.groups if isinstance(model, GroupModel) else model.names
