"""How often groups of columns are chosen on halves of the rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.regression._group_search import GroupSearch
from ellzero.regression._half_designs import TOGETHER, half_designs
from ellzero.regression._losses import Loss
from ellzero.regression._side_by_side import SideBySide
from ellzero.regression._stability import HalfModels, Stability
from ellzero.regression._structured import GroupData, choose_groups
from ellzero.regression._units import Units
from ellzero.sources._ready import pays_by_parts

__all__ = ["stability_of_groups"]

_Rows = NDArray[np.int64]


def stability_of_groups(
    data: GroupData,
    units: Units,
    halves: list[_Rows],
    max_size: int,
    ridge: float,
    workers: int,
    progress: Callable[[int], None] | None,
) -> Stability:
    """Search every half, and count how often each group is in the best model of a size."""
    if units.by_columns or units.price is not None:
        raise ValueError(
            "stability counts groups by the size of models: size_in and penalty_factor have no "
            "part in it."
        )
    if units.forced.sum() > max_size:
        raise ValueError(
            f"max_size={max_size}, but {units.forced.sum()} groups are to be in the model from the "
            "start."
        )
    together = SideBySide(min(workers, len(halves)), progress)
    designs = _designs_of(data, halves)
    if designs is not None:
        models = together.map(
            lambda design: _grown(
                GroupSearch(design, units, ridge, 1, swaps=False, progress=together.progress),
                max_size,
            ),
            designs[:-1],
        )
        whole = GroupSearch(designs[-1], units, ridge, 1, swaps=False)
        return _stability(halves, models, whole, units)

    def search_half(rows: _Rows) -> HalfModels:
        weights = None if data.sample_weight is None else data.sample_weight[rows]
        if weights is not None and not weights.any():
            raise ValueError("sample_weight must not be zero for all rows of a half.")
        if data.loss.is_likelihood:
            _check_half(data.loss, data.y[rows], weights)
        half = data._replace(y=data.y[rows], sample_weight=weights)
        return _grown(_search(half, rows, units, ridge, together.progress), max_size)

    models = together.map(search_half, halves)
    whole = _search(data, np.arange(data.y.size), units, ridge, None)
    return _stability(halves, models, whole, units)


def _grown(search: GroupSearch, max_size: int) -> HalfModels:
    search.grow(max_size)
    return _models_of(search)


def _stability(
    halves: list[_Rows], models: list[HalfModels], whole: GroupSearch, units: Units
) -> Stability:
    size = whole.least
    if whole.design.weight >= 1:
        size = choose_groups(whole, lam="ebic", size=None, max_size=None).model.size
    return Stability(halves, models, units.forced_units, units.count, size, units.names)


def _designs_of(data: GroupData, halves: list[_Rows]) -> list[_core.Quadratic] | None:
    """Return the designs of all halves, and of all rows, if that pays and digits are enough."""
    if data.loss.is_likelihood or not pays_by_parts(data.X, data.sample_weight):
        return None
    designs: list[_core.Quadratic] = []
    whole: list[_core.Quadratic] = []
    for begin in range(0, len(halves), TOGETHER):
        some = halves[begin : begin + TOGETHER]
        made = half_designs(data.X, data.y, some, fit_intercept=data.fit_intercept)
        if made is None:
            return None
        designs += made[:-1]
        whole = whole or made[-1:]
    return [*designs, *whole]


def _search(
    data: GroupData,
    rows: _Rows,
    units: Units,
    ridge: float,
    progress: Callable[[int], None] | None,
) -> GroupSearch:
    X = data.X[rows]
    X = np.asfortranarray(X) if isinstance(X, np.ndarray) else X.tocsc()
    return data._replace(X=X).search(units, ridge, 1, swaps=False, progress=progress)


def _check_half(loss: Loss, y: NDArray[np.float64], weights: NDArray[np.float64] | None) -> None:
    counted = y if weights is None else y[weights > 0]
    constant = loss is Loss.LOGISTIC and counted.min() == counted.max()
    if constant or not counted.max() > 0:
        raise ValueError("y must differ within every half of the rows: here it does not.")


def _models_of(search: GroupSearch) -> HalfModels:
    """Return the groups of the models of all sizes up to the first that is missing.

    The sign of a group is that of its one column; NaN if it has several.
    """
    home_of, count = search.units.home, search.units.count
    begins, units, signs = [0], [np.empty(0, dtype=np.int64)], [np.empty(0)]
    for size, model in enumerate(search.sketches(), start=search.least):
        if model.size != size:
            break
        units.append(model.units)
        begins.append(begins[-1] + model.units.size)
        support, beta, _ = search.coefficients(model.units)
        home = home_of[support]
        alone = np.bincount(home, minlength=count) == 1
        sign = np.where(alone, np.bincount(home, np.sign(beta), count), np.nan)
        signs.append(sign[model.units])
    return HalfModels(np.array(begins), np.concatenate(units), np.concatenate(signs))
