"""Folds that are known by their statistics alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero._engine import CACHE_BYTES
from ellzero.regression._folds import Fold, Turn, open_search
from ellzero.sources import SufficientStatistics

__all__ = ["StatisticsFolds", "folds_of_statistics"]


class StatisticsFolds:
    """Each fold is trained on the statistics of the others, and judged by its own.

    Parameters
    ----------
    pools : Pools
        What designs are made of.
    which : list of int
        The folds that take part.
    whole : Quadratic
        All rows of these.
    """

    def __init__(self, parts: _Pools, which: list[int], whole: _core.Quadratic) -> None:
        self.parts, self.whole, self._which = parts, whole, which
        self._folds = [
            Fold(parts.pool([g for g in which if g != f]), parts.held_out[f]) for f in which
        ]

    @property
    def error_scale(self) -> float:
        """What errors are a share of: the variance of y."""
        return self.whole.yy / self.whole.weight

    @property
    def least_weight(self) -> float:
        """The least weight of rows that a fold trains on."""
        return min(fold.design.weight for fold in self._folds)

    @property
    def footprint(self) -> float:
        """The bytes that a search on them keeps, roughly."""
        return 8.0 * self.whole.columns**2 * 2 * len(self._folds)

    def open(self, batch: list[Fold], *how: Any) -> _core.Folds:
        """Return the searches of some folds: see `open_search`."""
        return open_search(self.parts.core, batch, *how)

    def batches(self) -> list[Callable[[], list[Fold]]]:
        """Return what makes the folds, those together that are searched together."""
        return [lambda: self._folds]

    def one_by_one(self) -> Iterator[Turn]:
        """Give each fold; the rows that it is judged by are not at hand."""
        nothing = np.empty(0, dtype=np.int64)
        for f, fold in zip(self._which, self._folds, strict=True):
            yield Turn(fold, nothing, partial(self._inside, f, fold.design))

    def _inside(self, place: int, design: _core.Quadratic) -> StatisticsFolds | None:
        others = [f for f in self._which if f != place]
        return StatisticsFolds(self.parts, others, design) if len(others) > 1 else None


class _Pools:
    """The statistics of every fold, as what designs are pools of."""

    def __init__(self, statistics: SufficientStatistics, fit_intercept: bool) -> None:
        self._designs = statistics._fold_designs(fit_intercept, CACHE_BYTES)
        self.core = _core.make_parts(self._designs, CACHE_BYTES)
        self.held_out = [_core.held_out_statistics(design) for design in self._designs]

    def pool(self, which: list[int]) -> _core.Quadratic:
        """Return the design of some folds together."""
        return _core.pooled_quadratic(self.core, np.array(which, dtype=np.int64), CACHE_BYTES)


class _Once(Sequence[StatisticsFolds]):
    """Folds that are not repeated."""

    def __init__(self, folds: StatisticsFolds) -> None:
        self._folds, self.whole = folds, folds.whole

    def __len__(self) -> int:
        return 1

    def __getitem__(self, place: Any) -> Any:
        return [self._folds][place]


def folds_of_statistics(
    statistics: SufficientStatistics, fit_intercept: bool, cv: Any, n_repeats: int | None
) -> _Once:
    """Return the folds that statistics keep apart; nothing else may be asked for."""
    count = statistics.n_folds
    if count == 0:
        raise ValueError(
            "the statistics in place of X keep no folds apart: make them with folds=10, say."
        )
    if cv not in (None, 10, count) or isinstance(cv, (bool, np.ndarray)):
        raise ValueError(f"cv={cv!r}, but the statistics in place of X have {count} folds.")
    if n_repeats not in (None, 1):
        raise ValueError(f"n_repeats={n_repeats}, but statistics have one set of folds.")
    weights: NDArray[np.float64] = np.array([fold.weight for fold in statistics._folds])
    if not (weights > 0).all():
        raise ValueError(f"fold {int(weights.argmin())} of the statistics has no rows.")
    pools = _Pools(statistics, fit_intercept)
    whole = statistics._design(fit_intercept, CACHE_BYTES)
    return _Once(StatisticsFolds(pools, list(range(count)), whole))
