r"""Terms that are in every model under a flat prior, like the intercept.

With F the flat columns, H the projection on what they and the intercept span, and S a model,

.. math:: p(y \mid S) = \int p(y \mid \beta_F, \beta_S)\, p(\beta_S \mid S)\, d\beta_F\, d\beta_S

is the density of the contrasts of y that F leaves, as many as the degrees of freedom without F less
the rank of F: everything is as without F, of :math:`(I - H) y` and :math:`(I - H) X`. Given all the
rest,

.. math:: \beta_F \sim N(b - B \beta_S, \sigma_e^2 (X_F'X_F)^{-1})

where b are the coefficients of y on F, and B those of the other columns, by least squares.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero import _core
from ellzero._columns import column_name, resolve_columns
from ellzero._engine import CACHE_BYTES, thread_count
from ellzero.regression._units import Units, resolve_units_of

__all__ = ["FlatTerms", "resolve_flat", "take_out"]

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]
# What is left of y'y is rounding below this share.
_EXPLAINED = 1e-13


def resolve_flat(
    flat: Any,
    always_include: Any,
    n_columns: int,
    names: Any,
    units: Units | None = None,
) -> _Integers:
    """Return the units that are flat: columns, if ``units`` is None."""
    if flat is None:
        return np.empty(0, dtype=np.int64)
    if units is None:
        found = resolve_columns("flat", flat, n_columns, names)
        forced = resolve_columns("always_include", always_include, n_columns, names)
        labels = [column_name(j, names) for j in range(n_columns)]
    else:
        labels, home = units.names, units.home
        found = resolve_units_of("flat", flat, labels, home, names)
        forced = resolve_units_of("always_include", always_include, labels, home, names)
    both = np.intersect1d(found, forced)
    if both.size:
        raise ValueError(
            f"flat and always_include both name {labels[both[0]]!r}: it has a flat prior, or a "
            "slab."
        )
    if found.size == len(labels):
        raise ValueError("flat names all columns of X: there is nothing to choose.")
    if units is not None and units.parents is not None:
        _refuse_orphans(units, found)
    return found


def _refuse_orphans(units: Units, flat: _Integers) -> None:
    """Refuse flat terms that heredity would not have in every model."""
    assert units.parents is not None
    always = units.forced.copy()
    always[flat] = True
    for unit in flat.tolist():
        of = units.parents.of(unit)
        if of.size and not (always[of].all() if units.strong else always[of].any()):
            raise ValueError(
                f"flat names {units.names[unit]!r}, which needs its parents: name them in flat "
                "or in always_include too."
            )


def take_out(
    design: _core.Quadratic,
    flat: _Integers,
    units: Units | None,
    *,
    fit_intercept: bool,
) -> FlatTerms:
    """Take flat units out of y and of all other columns; refuse such as leave nothing."""
    columns = flat
    if units is not None:
        columns = np.sort(np.concatenate([units.columns[unit] for unit in flat]))
    left = _core.project(design, columns, CACHE_BYTES, thread_count())
    rank = left.kept.size
    degrees = design.weight - (1 if fit_intercept else 0)
    if degrees - rank < 1:
        several = "column" if rank == 1 else "columns"
        intercept = " beside the intercept" if fit_intercept else ""
        raise ValueError(
            f"flat has {rank} independent {several}{intercept}, but there are {design.weight:g} "
            "rows: nothing is left to learn from."
        )
    if design.yy > 0 and left.yy <= _EXPLAINED * design.yy:
        raise ValueError("flat: its columns explain y exactly, so nothing is left to learn from.")
    return FlatTerms(design, left, flat, columns, units)


class FlatTerms:
    """Columns taken out of a design, and how their coefficients come back.

    Attributes
    ----------
    design : ProjectedQuadratic
        What is left of y and of the other columns.
    units : ndarray of int
        The flat units, which are columns if there are no groups.
    columns : ndarray of int
        Their columns that don't depend on the ones before them.
    rank : int
        How many these are.
    """

    def __init__(
        self,
        whole: _core.Quadratic,
        design: _core.ProjectedQuadratic,
        flat: _Integers,
        columns: _Integers,
        units: Units | None,
    ) -> None:
        self._whole, self._asked, self._groups = whole, columns, units
        self.design, self.units = design, flat
        self.columns, self.rank = design.kept, int(design.kept.size)
        scale = whole.inverse_scale
        own = scale[self.columns]
        self._alone = design.beta * own  # b
        self._root = design.root * own  # root'root = (X_F'X_F)^-1
        with np.errstate(divide="ignore", invalid="ignore"):
            others = np.where(design.inverse_scale > 0, 1 / scale, 0.0)
        self._loadings = own[:, None] * (design.root.T @ design.along) * others  # B

    @property
    def present(self) -> _Integers:
        """The units of which a column, at least, does not depend on others."""
        home = None if self._groups is None else self._groups.home
        return np.unique(self.columns if home is None else home[self.columns])

    @property
    def dependent(self) -> _Integers:
        """The columns that depend on those before them: their coefficients are zero."""
        return np.setdiff1d(self._asked, self.columns)

    @property
    def root(self) -> _Floats:
        """What has ``root'root = (X_F'X_F)^-1``, in the user's units."""
        return self._root

    @property
    def loadings(self) -> _Floats:
        """What of the other coefficients those of flat columns take up: B."""
        return self._loadings

    @cached_property
    def _left(self) -> _Floats:
        """What is left of each unit, zero if nothing is: see :meth:`shares`."""
        left, groups = self.design.left, self._groups
        if groups is None:
            return left
        out = np.zeros(groups.count)
        for unit, columns in enumerate(groups.columns):
            own = columns[self._whole.inverse_scale[columns] > 0]
            if not (left[own] > 0).any():
                continue
            values, vectors = np.linalg.eigh(self._whole.cross_products(own))
            kept = values > 1e-9 * values.max()
            along = self.design.along[:, own] @ (vectors[:, kept] / np.sqrt(values[kept]))
            out[unit] = np.sqrt(max(1 - np.sum(along**2) / np.count_nonzero(kept), 1e-9))
        return out

    def shares(self) -> _Floats:
        """Return what is left of each unit: of its fit's variance under its slab, as a deviation.

        Of a column that is |(I - H) x_j| / |x_j|. Of a group with r independent columns and an
        orthonormal basis Q it is the root of ``trace(Q'(I - H) Q) / r``. One for units of which
        nothing is left.
        """
        return np.where(self._left > 0, self._left, 1.0)

    def mean_square_share(self) -> float:
        """Return the mean square of these over the units of which something is left."""
        there = self._left[self._left > 0]
        return float(np.mean(there**2)) if there.size else 1.0

    def complete(self, coef: _Floats) -> _Floats:
        """Return coefficients with those of flat columns, as they are given the others."""
        out = coef.copy()
        out[self.columns] = self._alone - self._loadings @ coef
        return out

    def standard_deviations(self, coef: Any, sigma_e: _Floats) -> _Floats:
        """Return those of the flat columns, for draws of the other coefficients and the noise.

        What is not known of them given the others, and how what the others make of them varies.
        """
        given_others = np.mean(sigma_e**2) * np.sum(self._root**2, axis=0)
        return np.asarray(np.sqrt(given_others + self._explained(coef).var(axis=0)))

    def add_draws(self, coef: Any, sigma_e: _Floats, noise: _Floats) -> Any:
        """Draw the coefficients of flat columns, for a row of other coefficients each.

        ``noise`` are standard normal numbers, as many for each row as there are such columns.
        """
        spread = sigma_e.reshape(-1, 1) * (noise @ self._root)
        own = self._alone - self._explained(coef) + spread
        rows = np.repeat(np.arange(coef.shape[0]), np.diff(coef.indptr))
        flat_rows = np.repeat(np.arange(coef.shape[0]), self.rank)
        flat_columns = np.tile(self.columns, coef.shape[0])
        values = np.concatenate([coef.data, own.ravel()])
        places = (
            np.concatenate([rows, flat_rows]),
            np.concatenate([coef.indices, flat_columns]),
        )
        joined = sparse.coo_array((values, places), shape=coef.shape).tocsr()
        joined.sort_indices()
        return joined

    def _explained(self, coef: Any) -> _Floats:
        return np.asarray(coef @ self._loadings.T)
