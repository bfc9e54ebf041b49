"""The search over groups of columns under rules: tables by groups and by columns, and prices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero._engine import CACHE_BYTES
from ellzero._warnings import DependentColumnWarning
from ellzero.regression._criteria import group_criterion, trusted_size
from ellzero.regression._growth import MARGIN
from ellzero.regression._losses import Loss, evidence_of
from ellzero.regression._price_hull import PriceHull, Sketch
from ellzero.regression._problem import DEFAULT_MAX_SIZE, Likelihood
from ellzero.regression._units import Units

__all__ = ["Fit", "GroupSearch", "Judgeable", "UnitModel"]

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]
_NONE: _Integers = np.empty(0, dtype=np.int64)
# Columns, their coefficients for unit norm, and the intercept for centred columns
Fit = tuple[_Integers, _Floats, float]


@dataclass(frozen=True)
class UnitModel:
    """A set of units and its fit."""

    units: _Integers  # sorted
    ranks: _Integers  # by unit: the independent columns that it brought
    costs: _Floats  # by unit: by how much the energy would rise without it
    size: int  # as sizes are counted
    price: float
    energy: float
    rss: float  # or twice the negative log-likelihood
    intercept: float  # of centred columns
    support: _Integers  # columns of X, sorted
    beta: _Floats  # for columns of unit norm
    inverse_scale: _Floats
    mean: _Floats

    @property
    def df(self) -> int:
        """The rank of all its columns."""
        return int(self.ranks.sum())

    def rescaled(self, factor: float, yy: float) -> UnitModel:
        """Return the same with all coefficients multiplied by a factor.

        With f the fit and r = y - f, r'f is twice what the ridge adds to the energy: the gradient
        is zero at the solution.
        """
        if factor == 1:
            return self
        along = 2 * (self.energy - 0.5 * self.rss)
        square = max(yy - self.rss - 2 * along, 0.0)
        rss = self.rss - 2 * (factor - 1) * along + (factor - 1) ** 2 * square
        return replace(self, beta=factor * self.beta, rss=max(rss, 0.0))


class Judgeable(Protocol):
    """What a criterion asks of a set of units."""

    @property
    def units(self) -> _Integers:
        """Which they are, sorted."""

    @property
    def size(self) -> int:
        """How many, as sizes are counted."""

    @property
    def df(self) -> int:
        """The rank of all its columns."""

    @property
    def rss(self) -> float:
        """What it leaves, or twice the negative log-likelihood."""


class UnitGlimpse(NamedTuple):
    """That, and nothing more."""

    units: _Integers
    size: int
    df: int
    rss: float


class GroupSearch:
    """The best known sets of units of every size, on one design.

    With a likelihood, on its rows; the design is then made with their weights.

    Attributes
    ----------
    units : Units
        What is chosen among, and the rules.
    last : int
        The size that it was grown to.
    loss : Loss
        What models lose.
    total : float
        Twice the loss without variables: of least squares the sum of squares of y.
    """

    def __init__(
        self,
        design: _core.Quadratic,
        units: Units,
        ridge: float,
        threads: int,
        *,
        swaps: bool = True,
        progress: Callable[[int], None] | None = None,
        likelihood: Likelihood | None = None,
    ) -> None:
        self.design, self.units, self.ridge = design, units, ridge
        self.likelihood = likelihood
        self._swaps, self._progress = swaps, progress
        begins = np.concatenate([[0], np.cumsum([group.size for group in units.columns])])
        columns = np.concatenate(units.columns)
        how = (begins, columns, ridge, CACHE_BYTES, threads)
        self.engine: _core.UnitEngine
        self._evidence: float | None = None
        if likelihood is None:
            self.engine = _core.GroupEngine(design, *how)
            self.loss, self.total = Loss.SQUARED, design.yy
        else:
            rows, weight = likelihood.rows, likelihood.weight
            engine = _core.GroupLikelihood(rows, weight, *how)
            self.engine, self.loss, self.total = engine, likelihood.loss, 2 * engine.null_energy
            self._evidence = evidence_of(likelihood.loss, likelihood.y, weight)
        self._tables: dict[bool, _core.GroupFrontier] = {}
        self._fitted: dict[tuple[int, ...], UnitModel] = {}
        self._coefficients: dict[tuple[int, ...], _core.GroupCoefficients] = {}
        self._ends: dict[tuple[int, ...], float] = {}  # of tables, by their largest model
        self.engine.start_at(units.forced_units)
        self.left_out = np.setdiff1d(units.forced_units, self.engine.members)
        self._forced = np.sort(self.engine.members)
        self.forced_rank = self.engine.rank
        widths = self.engine.widths
        self._price = np.ones(units.count) if units.price is None else units.price.copy()
        if units.by_columns:
            self._price = self._price * widths
        self._price[self._forced] = 0
        self.last = 0

    @property
    def least(self) -> int:
        """The least size: that of the units that are always in."""
        return int(self.forced_rank if self.units.by_columns else self._forced.size)

    @property
    def warning(self) -> DependentColumnWarning | None:
        """What is to be said of groups that are always to be in and can't be."""
        if not self.left_out.size:
            return None
        return DependentColumnWarning("always_include", self.units.names[self.left_out[0]])

    @property
    def largest(self) -> int:
        """The largest size there can be."""
        widths = self.engine.widths
        if self.units.by_columns:
            return int(min(widths.sum(), max(self.design.weight, 1)))
        return int(np.count_nonzero(widths))

    @property
    def tried(self) -> int:
        """Supports whose neighbours were tried."""
        return sum(table.tried for table in self._tables.values())

    def default_size(self, *, criterion: bool) -> int:
        """Return the size not to exceed where none is given."""
        more = DEFAULT_MAX_SIZE
        if criterion:
            trusted = float(trusted_size(self.design.weight, self.units.n_columns))
            widths = self.engine.widths
            if not self.units.by_columns and widths.any():
                trusted /= float(widths[widths > 0].mean())
            more = min(more, max(1, int(trusted)))
        return min(self.largest, self.least + more)

    def _table(self, by_columns: bool) -> _core.GroupFrontier:
        if by_columns not in self._tables:
            units = self.units
            self.engine.start_at(self._forced)
            forced = np.zeros(units.count, dtype=bool)
            forced[self._forced] = True
            self._tables[by_columns] = _core.GroupFrontier(
                self.engine,
                forced=forced.tolist(),
                price=[] if units.price is None else self._price.tolist(),
                by_columns=by_columns,
                parent_begins=_NONE if units.parents is None else units.parents.begins,
                parents=_NONE if units.parents is None else units.parents.units,
                strong=units.strong,
                caps=units.caps,
                signs=[] if units.signs is None else units.signs.tolist(),
                swaps=self._swaps,
            )
        return self._tables[by_columns]

    def grow(self, max_size: int) -> None:
        """Extend the table to a size."""
        max_size = min(max_size, self.largest)
        self._table(self.units.by_columns).grow(max_size, self._progress)
        self.last = max(self.last, max_size)

    def cover(self, lam: float, max_size: int) -> None:
        """Grow until the solution at ``lam`` is known, and some sizes beyond it."""
        self.grow(min(max(self.last, self.least + MARGIN), max_size))
        while self.last < min(max_size, self.largest):
            hull = self.outline()
            size = hull.at(max(lam, hull.end)).size
            if lam >= hull.end and size + MARGIN <= self.last:
                return
            self.grow(min(max(size + MARGIN, self.last + 1), max_size))

    def models(self) -> list[UnitModel]:
        """Return the best of each size, fitted, the smallest first."""
        return [self.fit(model.units) for model in self._table(self.units.by_columns).models()]

    def fit(self, units: _Integers) -> UnitModel:
        """Return the fit of some units."""
        key = tuple(units.tolist())
        if key not in self._fitted:
            found = self.engine.solution_of(units)
            size = found.columns if self.units.by_columns else int(found.units.size)
            self._fitted[key] = UnitModel(
                found.units,
                found.ranks,
                found.removal_cost,
                size,
                self.price_of(found.units, found.columns),
                0.5 * found.rss + found.ridge_energy,
                found.rss,
                found.intercept,
                found.support,
                found.beta,
                found.inverse_scale,
                found.mean,
            )
        return self._fitted[key]

    def price_of(self, units: _Integers, columns: int) -> float:
        """Return what ``lam`` is multiplied by, of units that were fitted by so many columns."""
        if self.units.by_columns and self.units.price is None:
            return float(columns - self.forced_rank)
        return float(self._price[units].sum())

    def hull(self) -> PriceHull[UnitModel]:
        """Return which model is the solution at which ``lam``, as far as the table reaches."""
        models = self.models()
        if self.units.price is not None:
            table = self._table(self.units.by_columns)
            models = [*models, *[self.fit(model.units) for model in table.hull()]]
        return PriceHull(models, self.engine.rounding, self._end())

    def outline(self) -> PriceHull[Sketch]:
        """Return the same without what a fit says beyond the energy: see `coefficients`."""
        if not self._fits_whole:
            return PriceHull(self.sketches(), self.engine.rounding, self._end())
        hull = self.hull()
        models = [_sketch_of(model) for model in hull.models]
        return PriceHull(models, self.engine.rounding, hull.end)

    def sketches(self) -> list[Sketch]:
        """Return the best of each size, the smallest first, without fitting them."""
        if self._fits_whole:
            return [_sketch_of(model) for model in self.models()]
        by_columns = self.units.by_columns
        free = self.forced_rank if by_columns else 0  # of columns that are always in
        return [
            Sketch(
                one.units, one.size, float(one.size - free) if by_columns else one.price, one.energy
            )
            for one in self._table(by_columns).models()
        ]

    def coefficients(self, units: _Integers) -> Fit:
        """Return the coefficients of some units, which take less time than all of a fit."""
        if not isinstance(self.engine, _core.GroupEngine):
            model = self.fit(units)
            return model.support, model.beta, model.intercept
        found = self._coefficients_by(self.engine, units)
        return found.support, found.beta, found.intercept

    def _coefficients_by(
        self, engine: _core.GroupEngine, units: _Integers
    ) -> _core.GroupCoefficients:
        key = tuple(units.tolist())
        if key not in self._coefficients:
            self._coefficients[key] = engine.coefficients_of(units)
        return self._coefficients[key]

    def glimpse(self, units: _Integers) -> Judgeable:
        """Return what a criterion asks of some units, by their coefficients where these tell."""
        engine = self.engine
        # With a ridge, columns that were fitted may depend on each other.
        if isinstance(engine, _core.GroupEngine) and self.ridge == 0:
            found = self._coefficients_by(engine, units)
            if found.columns == engine.widths[units].sum():
                size = found.columns if self.units.by_columns else units.size
                return UnitGlimpse(units, size, found.columns, found.rss)
        return self.fit(units)

    @property
    def _fits_whole(self) -> bool:
        """Whether models are fitted to be compared: likelihoods, and those of various prices."""
        return self.likelihood is not None or self.units.price is not None

    def _end(self) -> float:
        """Return the price at which one more unit pays in the largest model."""
        largest = self._table(self.units.by_columns).models()[-1]
        # A table by columns may end before the size it was grown to: nothing may fit in between.
        stuck = not self.units.by_columns and largest.size < self.last
        if stuck or self.last >= self.largest:
            return 0.0
        key = tuple(largest.units.tolist())
        if key not in self._ends:
            self.engine.move_to(largest.units)
            gains = self.engine.insertion_gains()
            pays = (gains > self.engine.rounding) & (self._price > 0)
            self._ends[key] = float(np.max(gains[pays] / self._price[pays], initial=0.0))
        return self._ends[key]

    def next_unit(self) -> tuple[int, float]:
        """Return the unit that the largest model would gain most by, and that gain."""
        self.engine.move_to(self._table(self.units.by_columns).models()[-1].units)
        gains = self.engine.insertion_gains()
        return int(gains.argmax()), float(gains.max())

    def of_other_table(self, most: int) -> list[_Integers]:
        """Return the best of each number of columns up to so many, or of groups if it has those.

        None if all groups are of one width: they are the same then.
        """
        widths = self.engine.widths
        if len(set(widths[widths > 0].tolist())) < 2:
            return []
        other = self._table(not self.units.by_columns)
        if self.units.by_columns:
            most = max(model.units.size for model in self.sketches())
        other.grow(most, self._progress)
        return [model.units for model in other.models()]

    def keeps_signs(self, model: UnitModel) -> bool:
        """Say whether the coefficients of a model have the signs that they are to have."""
        signs = self.units.signs
        return signs is None or not np.any(model.beta * signs[model.support] < 0)

    def criterion(self, name: str, models: Sequence[Judgeable]) -> _Floats:
        """Return a criterion of some models."""
        rss = np.array([model.rss for model in models])
        sizes = np.array([model.units.size for model in models])
        return self.criterion_of(name, rss, sizes, np.array([model.df for model in models]))

    def criterion_of(self, name: str, rss: _Floats, sizes: _Integers, df: _Integers) -> _Floats:
        """Return the same of models given by what they leave, their groups and their rank."""
        return group_criterion(
            name,
            rss,
            sizes=sizes,
            df=df,
            n=self.design.weight,
            n_groups=int(np.count_nonzero(self.engine.widths)),
            n_columns=self.units.n_columns,
            total=self.total,
            forced=(int(self._forced.size), int(self.forced_rank)),
            loss=self.loss,
            evidence=self._evidence,
        )


def _sketch_of(model: UnitModel) -> Sketch:
    return Sketch(model.units, model.size, model.price, model.energy)
