"""The pass that sums products of features, by fold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero._progress import PartProgress
from ellzero.selection._settings import Settings
from ellzero.selection._target import check_spread
from ellzero.sources import SufficientStatistics
from ellzero.sources._accumulate import Tree, accumulate, sum_part
from ellzero.sources._moments import Moments, NotFiniteError
from ellzero.sources._reading import SourceError, finish
from ellzero.streams._memory import Shape
from ellzero.streams._prepare import PreparedStream
from ellzero.streams._recipe import RowsJob, Stretch, stretches
from ellzero.tables import DataError
from ellzero.tables._parts import Layout, Part

__all__ = ["keep_columns", "repeated_products", "sum_products"]

_Floats = NDArray[np.float64]
# As of columns in memory: correlated to so many digits is the same.
_SAME = 1e-12


def sum_products(
    data: PreparedStream, settings: Settings, say: Callable[[str], None]
) -> SufficientStatistics:
    """Go through all files once, and keep the statistics of every fold.

    Where there is a checkpoint, it begins after the last part that is in it. What is known of the
    target is noted in ``data``.
    """
    layout, recipe, checkpoint = data.layout, data.recipe, data.checkpoint
    features = len(data.plan.features)
    shape = data.budget.shape(len(recipe.columns), features, data.folds, len(layout.parts))
    known = checkpoint.tree()
    if known is None:
        done, tree = 0, Tree()
        shift = _first_row(data, settings, shape)
    else:
        done, tree, shift = known
    job = RowsJob(recipe, shift, data.folds, settings.seed)
    sizes = [float(part.size) for part in layout.parts]
    telling = PartProgress(say, "Summing products", sizes, done)

    def on_part(number: int, grown: Tree) -> None:
        checkpoint.put_tree(number + 1, grown, shift)
        telling.done(number + 1)

    rest = layout.parts[done:]
    names = [*data.plan.features.names, settings.target]
    try:
        if data.runner.remote:
            found = _sum_elsewhere(data, job, rest, shape, tree, on_part)
        else:
            blocks: Any = _all_stretches(layout, rest, recipe.columns, shape.rows)
            found = accumulate(blocks, job, threads=shape.threads, on_part=on_part, tree=tree)
    except NotFiniteError as error:
        raise DataError(
            f"{layout.parts[error.part]}: the feature {names[error.column]!r} is no finite number "
            f"in row {error.row:,} (counted from 0)."
        ) from None
    assert found is not None
    try:
        found = _weighted(found, data, settings)
        made = finish(
            found,
            shift,
            data.plan.features.names,
            settings.target,
            seed=settings.seed,
            weighted=settings.weights is not None,
        )
    except SourceError as error:
        raise DataError(f"{layout.name}: {error}") from None
    _note_target(made, data, settings)
    return made


def _first_row(data: PreparedStream, settings: Settings, shape: Shape) -> _Floats:
    """Return what everything is counted from: the first row that is not left out."""
    job = RowsJob(data.recipe, np.empty(0), data.folds, settings.seed)
    for stretch in _all_stretches(data.layout, data.layout.parts, data.recipe.columns, shape.rows):
        block = job.block(stretch)
        if block.rows:
            row = block.first_row()
            row[~np.isfinite(row)] = 0.0
            return row
    raise DataError(f"{data.layout.name} has no rows.")


def _all_stretches(
    layout: Layout, parts: list[Part], columns: list[str], rows: int
) -> Iterator[Stretch]:
    for part in parts:
        yield from stretches(layout, part, columns, rows)


def _sum_elsewhere(
    data: PreparedStream,
    job: RowsJob,
    parts: list[Part],
    shape: Shape,
    tree: Tree,
    on_part: Callable[[int, Tree], None],
) -> list[Moments] | None:
    """Have others sum each part: the tree is the one that this process would make."""
    work = partial(_sum_one, layout=data.layout, job=job, rows=shape.rows)
    for part, found in data.runner.map(work, parts):
        if found is not None:
            tree.add(found)
            on_part(part.number, tree)
    return tree.total()


def _sum_one(part: Part, layout: Layout, job: RowsJob, rows: int) -> list[Moments] | None:
    blocks: Any = stretches(layout, part, job.recipe.columns, rows)
    return sum_part(blocks, job)


def _weighted(found: list[Moments], data: PreparedStream, settings: Settings) -> list[Moments]:
    """Rescale weights to sum to the number of rows, unless they are counts."""
    if settings.weights is None or settings.frequency:
        return found
    weight = sum(fold.weight for fold in found)
    if not weight > 0:
        return found
    factor = data.n_fitted / weight
    return [
        fold._replace(weight=fold.weight * factor, products=fold.products * factor)
        for fold in found
    ]


def _note_target(made: SufficientStatistics, data: PreparedStream, settings: Settings) -> None:
    total = made._total()
    data.weight = total.weight
    data.mean = float(made._shift[-1] + total.mean[-1])
    data.total = float(total.products[-1, -1])
    sd = float(np.sqrt(data.total / data.weight))
    check_spread(settings.target, data.mean, sd, data.total)


def repeated_products(made: SufficientStatistics, first: int) -> dict[int, int]:
    """Find features from ``first`` on that are constant, or an earlier one in other units.

    Returns the place of the earlier one for each, or -1 for constants.
    """
    total = made._total()
    squares = np.diag(total.products)[:-1].copy()
    mean = (made._shift + total.mean)[:-1]
    squares[np.sqrt(squares) <= _SAME * np.abs(mean) * np.sqrt(total.weight)] = 0.0
    repeats = {j: -1 for j in range(first, len(squares)) if squares[j] == 0}
    norms = np.sqrt(squares)
    for late in range(first, len(squares)):
        if late in repeats:
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            cosines = np.abs(total.products[late, :late]) / (norms[late] * norms[:late])
        same = [int(j) for j in np.flatnonzero(cosines > 1 - _SAME) if j not in repeats]
        if same:
            repeats[late] = same[0]
    return repeats


def keep_columns(made: SufficientStatistics, kept: list[int]) -> SufficientStatistics:
    """Return the statistics of some of the columns."""
    places = np.array([*kept, len(made.names)])
    folds = [
        fold._replace(mean=fold.mean[places], products=fold.products[np.ix_(places, places)].copy())
        for fold in made._folds
    ]
    return SufficientStatistics(
        folds,
        made._shift[places],
        [made.names[j] for j in kept],
        made.target,
        seed=made._seed,
        weighted=made._weighted,
    )
