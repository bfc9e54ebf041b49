"""What every fitted selection of columns has, and its summary."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ellzero import _core
from ellzero._columns import column_name
from ellzero._estimators import SelectingRegressor
from ellzero.regression._group_rows import GroupRows, group_rows
from ellzero.regression._group_search import GroupSearch, UnitModel
from ellzero.regression._units import Units

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FittedSelection"]


class FittedSelection(SelectingRegressor):
    """A linear model whose columns were chosen at a price of ``lam_`` each."""

    _groups: GroupRows | None = None

    def _store(
        self,
        solution: _core.Coefficients,
        design: _core.Quadratic,
        forced: NDArray[np.int64],
        lam: float,
        *,
        priced: bool = True,
        rescaling: float = 1.0,
        lost: NDArray[np.float64] | None = None,
    ) -> None:
        self._groups = None
        self.__dict__.pop("groups_", None)  # of an earlier fit
        support, beta = solution.support, rescaling * solution.beta
        coefficients = beta * solution.inverse_scale
        self.coef_ = np.zeros(self.n_features_in_)
        self.coef_[support] = coefficients
        self.intercept_ = solution.intercept - float(solution.mean @ coefficients)
        self.support_ = support
        self.lam_ = lam
        n_priced = np.count_nonzero(~np.isin(support, forced)) if forced.size else support.size
        price = lam * n_priced if priced and n_priced else 0.0
        self.objective_ = 0.5 * solution.rss + solution.ridge_energy + price
        # What summary() needs beyond the attributes above
        self._standardised = beta / math.sqrt(design.yy) if design.yy > 0 else np.zeros_like(beta)
        self._removal_cost = solution.removal_cost
        self._total = design.yy
        self._r2_lost = lost

    def _store_groups(
        self,
        model: UnitModel,
        search: GroupSearch,
        lam: float,
        rescaling: float = 1.0,
        *,
        priced: bool,
    ) -> None:
        """Store a model made of groups; coefficients are multiplied by a factor."""
        design, energy = search.design, model.energy
        rows = group_rows(model, search, rescaling)
        model = model.rescaled(rescaling, search.total)
        coefficients = model.beta * model.inverse_scale
        self.coef_ = np.zeros(self.n_features_in_)
        self.coef_[model.support] = coefficients
        self.intercept_ = model.intercept - float(model.mean @ coefficients)
        self.support_ = model.support
        self.groups_ = [search.units.names[unit] for unit in model.units]
        self.lam_ = lam
        price = lam * model.price if priced and model.price else 0.0
        self.objective_ = energy + price
        scale = math.sqrt(design.yy) if design.yy > 0 else math.inf
        self._standardised = model.beta / scale
        self._total = design.yy
        self._groups = rows

    def _speak_of_groups(self, units: Units) -> None:
        """Say of a model of single columns what is said of one made of groups."""
        names = [units.names[unit] for unit in units.home[self.support_]]
        cost, total = self._removal_cost, self._total if self._total > 0 else 1.0
        lost = 2 * cost / total if self._r2_lost is None else self._r2_lost
        self.groups_ = names
        self._groups = GroupRows(
            names, np.ones(len(names), dtype=np.int64), cost, lost, [*self.support_[:, None]]
        )

    def summary(self) -> pd.DataFrame:
        """Tabulate the chosen variables, the most important first.

        Returns
        -------
        pandas.DataFrame
            Indexed by variable. ``coefficient``: in units of y per unit of the variable.
            ``standardised``: change of y, in its standard deviations, for one standard deviation of
            the variable. ``removal_cost``: by how much ``1/2 RSS + 1/2 ridge |b|^2`` would rise
            without the variable, the others refitted; at the price ``lam_`` the variable pays if
            that is more. ``r2_lost``: by how much R2 on the rows fitted would fall, without a ridge
            the same as a share of half the sum of squares of y.

            Of groups of columns, indexed by group and variable: one row per group, with its ``df``,
            the independent columns that it brought, and its costs; beneath it those of its columns,
            with their coefficients.

        Examples
        --------
        >>> from ellzero import L0Regressor
        >>> from ellzero.datasets import load_diabetes_interactions
        >>> diabetes = load_diabetes_interactions()
        >>> model = L0Regressor(lam=20_000).fit(diabetes.data, diabetes.target)
        >>> print(model.summary().round(3))  # doctest: +NORMALIZE_WHITESPACE
                  coefficient  standardised  removal_cost  r2_lost
        variable
        bmi           605.191         0.374    136190.998    0.104
        ltg           560.054         0.346    116300.367    0.089
        map           269.838         0.167     28541.288    0.022
        age:sex       203.689         0.126     20513.044    0.016
        """
        import pandas as pd  # here, so that `import ellzero` does not wait for it

        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        if self._groups is not None:
            return self._groups.tabulate(self.coef_, self._standardised, names)
        index = pd.Index(
            [column_name(j, names) for j in self.support_], name="variable", dtype=object
        )
        total = self._total if self._total > 0 else 1.0
        lost = 2 * self._removal_cost / total if self._r2_lost is None else self._r2_lost
        table = pd.DataFrame(
            {
                "coefficient": self.coef_[self.support_],
                "standardised": self._standardised,
                "removal_cost": self._removal_cost,
                "r2_lost": lost,
            },
            index=index,
        )
        return table.sort_values("removal_cost", ascending=False, kind="stable")
