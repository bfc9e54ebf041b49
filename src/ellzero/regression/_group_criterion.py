"""The set of groups of least criterion.

Criteria count columns, tables count groups: the least need not be the best of its number of groups.
(Of 150 problems with twelve groups of one to six columns it was in 127.) So a table by columns is
looked at too, which had the least of all sets in all 150. Where columns are many that takes long:
then moves are made that lower the criterion, from the best of the table by groups until none does,
which had it in 149.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ellzero.regression._group_moves import UnitMove, unit_moves
from ellzero.regression._group_search import GroupSearch, Judgeable, UnitModel

__all__ = ["least_criterion"]

_MOST_COLUMNS = 80  # of a table by columns
_REFITTED = 4  # of the moves that promise most


def least_criterion(
    search: GroupSearch, name: str, max_size: int | None = None, *, alone: bool = False
) -> UnitModel:
    """Return the model of least criterion, of as many columns as there are in the table at most.

    And of up to a size, if one is given. If it is wanted ``alone``, others are not fitted whole.
    """
    look: Callable[[NDArray[np.int64]], Judgeable] = search.glimpse if alone else search.fit
    models = [look(sketch.units) for sketch in search.sketches()]
    most = max(model.df for model in models)
    few = most <= _MOST_COLUMNS
    if few:
        models += [look(units) for units in search.of_other_table(most)]
    if max_size is not None:
        models = [model for model in models if model.size <= max_size]
    model = search.fit(models[int(np.argmin(search.criterion(name, models)))].units)
    value = float(search.criterion(name, [model])[0])
    while not few:
        after = _best_after(search, name, model, most, max_size)
        if after is None or not after[0] < value:
            break
        value, model = after
    return model


def _best_after(
    search: GroupSearch, name: str, model: UnitModel, most: int, max_size: int | None
) -> tuple[float, UnitModel] | None:
    """Return the move that lowers a criterion most, refitted; None if there is none to make."""
    moves = list(unit_moves(search, model))
    if not moves:
        return None
    widths = search.engine.widths.tolist()
    before = sum(widths[unit] for unit in model.units)
    df = np.array([before + _net(move, widths.__getitem__) for move in moves])
    sizes = np.array([model.units.size + _net(move, lambda unit: 1) for move in moves])
    rss = np.array([max(2 * move.energy, 0.0) for move in moves])
    values = search.criterion_of(name, rss, sizes, df)
    keeps = df <= most
    if max_size is not None:
        keeps &= (df if search.units.by_columns else sizes) <= max_size
    order = np.flatnonzero(keeps)[np.argsort(values[keeps], kind="stable")[:_REFITTED]]
    fitted = [search.fit(moves[place].after(model)) for place in order]
    sound = [one for one in fitted if search.keeps_signs(one)]
    if not sound:
        return None
    values = search.criterion(name, sound)
    best = int(np.argmin(values))
    return float(values[best]), sound[best]


def _net(move: UnitMove, count: Callable[[int], int]) -> int:
    """Return what a move adds, less what it takes away."""
    return sum(map(count, move.enters)) - sum(map(count, move.leaves))
