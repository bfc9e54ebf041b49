"""What every fitted likelihood has, and its summary."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ellzero._columns import column_name, resolve_columns
from ellzero._engine import thread_count
from ellzero._estimators import SelectingModel
from ellzero._progress import progress_printer
from ellzero.regression._group_rows import GroupRows, group_rows
from ellzero.regression._group_search import GroupSearch, UnitModel
from ellzero.regression._losses import Loss, check_response, default_ridge
from ellzero.regression._problem import (
    Likelihood,
    Problem,
    check_ridges,
    largest_size,
    make_likelihood,
    to_float,
)
from ellzero.regression._searches import check_size, search_for
from ellzero.regression._separation import warn_of_separated_groups, warn_where_it_stands
from ellzero.regression._structured import (
    GroupData,
    check_group_parameters,
    choose_groups,
    make_search,
    warn_of,
)
from ellzero.regression._units import Units, resolve_units, structure_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FittedLikelihood", "ratios"]


def ratios(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ratios of odds or of rates; those beyond what a number can hold are infinite or 0."""
    with np.errstate(over="ignore"):
        return np.exp(logs)


class FittedLikelihood(SelectingModel):
    """A likelihood whose columns were chosen at a price of ``lam_`` each."""

    _loss: Loss
    _ratio: str  # what the exponential of a coefficient is called
    coef_: Any
    intercept_: Any
    _groups: GroupRows | None = None

    def _make_likelihood(
        self, X: Any, y: NDArray[np.float64], sample_weight: Any, offset: Any = None
    ) -> Likelihood:
        check_response(self._loss, y, sample_weight)
        return make_likelihood(
            X, y, sample_weight, self._loss, fit_intercept=self.fit_intercept, offset=offset
        )

    def _ridge_for(self, likelihood: Likelihood) -> float:
        if self.ridge is None:
            return default_ridge(self._loss, likelihood.design.weight)
        return to_float("ridge", self.ridge)

    def _fit(self, X: Any, y: NDArray[np.float64], sample_weight: Any, offset: Any = None) -> None:
        """Choose variables and fit their coefficients, once the input has been checked."""
        names = getattr(self, "feature_names_in_", None)
        p = X.shape[1]
        structure = structure_of(self)
        if not structure.is_plain:
            units = resolve_units(structure, self.always_include, p, names)
            data = GroupData(X, y, sample_weight, self.fit_intercept, names, self._loss, offset)
            self._fit_groups(units, data)
            return
        forced = resolve_columns("always_include", self.always_include, p, names)
        if self.size is not None:
            check_size(self.lam, int(self.size), self.solver, self.max_size, forced.size, p)
        largest_size(self.max_size, forced, p)  # or an error, before any work
        likelihood = self._make_likelihood(X, y, sample_weight, offset)
        name = type(self).__name__
        problem = likelihood.problem(
            self._ridge_for(likelihood),
            forced,
            names,
            progress_printer(name, self.verbose),
            thread_count(),
            caller=name,
            intercept=self.fit_intercept,
        )
        search = search_for(problem, self.lam, self.size, self.solver, self.max_size)
        priced = self.size is None and not np.isnan(search.lam)
        self._store(problem, search.lam, priced=priced)
        self.n_iter_ = search.n_iter
        self.certificate_ = search.certificate.with_objective(self.objective_)
        if search.warning:
            warnings.warn(search.warning, search.category, stacklevel=3)
        warn_where_it_stands(problem, 4)

    def _fit_groups(self, units: Units, data: GroupData) -> None:
        """Choose groups of columns under rules, and fit them."""
        check_group_parameters(self.solver, self.lam, self.size)
        check_response(self._loss, data.y, data.sample_weight)
        name = type(self).__name__
        progress = progress_printer(name, self.verbose)
        ridge = self._group_ridges(data)[0]
        search = make_search(data, units, ridge, progress=progress, stacklevel=5)
        lam = self.lam if isinstance(self.lam, str) else to_float("lam", self.lam)
        choice = choose_groups(search, lam=lam, size=self.size, max_size=self.max_size, caller=name)
        priced = self.size is None and not np.isnan(choice.lam)
        self._store_groups(choice.model, search, choice.lam, priced=priced)
        self.n_iter_ = search.tried
        self.certificate_ = choice.certificate.with_objective(self.objective_)
        warn_of(choice, 5)
        warn_of_separated_groups(search, [choice.model], 5)

    def _group_ridges(self, data: GroupData) -> list[float]:
        """Return the ridges asked for, or the default."""
        if self.ridge is not None:
            return sorted(set(check_ridges(self.ridge)))
        n = float(data.y.size if data.sample_weight is None else data.sample_weight.sum())
        return [default_ridge(self._loss, n)]

    def _store_groups(
        self, model: UnitModel, search: GroupSearch, lam: float, *, priced: bool
    ) -> None:
        """Take a model made of groups."""
        coefficients = np.zeros(self.n_features_in_)
        coefficients[model.support] = model.beta * model.inverse_scale
        self._set_coefficients(
            coefficients, model.intercept - float(model.mean @ coefficients[model.support])
        )
        self.support_, self.lam_, self.ridge_ = model.support, lam, search.ridge
        self.groups_ = [search.units.names[unit] for unit in model.units]
        self.objective_ = model.energy + (lam * model.price if priced and model.price else 0.0)
        self.deviance_, self.null_deviance_ = model.rss, search.total
        self._standardised = model.beta / self._loss.scale_of(search.total, search.design.weight)
        self._groups = group_rows(model, search)

    def _store(self, problem: Problem, lam: float, *, priced: bool = True) -> None:
        """Take what the problem's engine stands at."""
        self._groups = None
        self.__dict__.pop("groups_", None)  # of an earlier fit
        solution = problem.engine.solution()
        support, beta = solution.support, solution.beta
        coefficients = np.zeros(self.n_features_in_)
        coefficients[support] = beta * solution.inverse_scale
        self._set_coefficients(
            coefficients, solution.intercept - float(solution.mean @ coefficients[support])
        )
        self.support_ = support
        self.lam_ = lam
        self.ridge_ = problem.ridge
        n_priced = int(np.count_nonzero(~np.isin(support, problem.forced)))
        price = lam * n_priced if priced and n_priced else 0.0
        self.objective_ = 0.5 * solution.rss + solution.ridge_energy + price
        self.deviance_, self.null_deviance_ = solution.rss, problem.total
        # What summary() needs beyond the attributes above
        self._standardised = beta / self._loss.scale_of(problem.total, problem.design.weight)
        self._removal_cost = solution.removal_cost

    def _set_coefficients(self, coef: NDArray[np.float64], intercept: float) -> None:
        self.coef_, self.intercept_ = coef, intercept

    def _summarise(self) -> pd.DataFrame:
        """Tabulate the chosen variables, the most important first."""
        import pandas as pd  # here, so that `import ellzero` does not wait for it

        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        if self._groups is not None:
            table = self._groups.tabulate(np.ravel(self.coef_), self._standardised, names)
            table = table.rename(columns={"r2_lost": "d2_lost"})
            table.insert(1, self._ratio, ratios(table["coefficient"].to_numpy()))
            table.insert(3, f"{self._ratio}_per_sd", ratios(table["standardised"].to_numpy()))
            return _with_note(table)
        index = pd.Index(
            [column_name(j, names) for j in self.support_], name="variable", dtype=object
        )
        coefficients = np.ravel(self.coef_)[self.support_]
        total = self.null_deviance_ if self.null_deviance_ > 0 else 1.0
        table = pd.DataFrame(
            {
                "coefficient": coefficients,
                self._ratio: ratios(coefficients),
                "standardised": self._standardised,
                f"{self._ratio}_per_sd": ratios(self._standardised),
                "removal_cost": self._removal_cost,
                "d2_lost": 2 * self._removal_cost / total,
            },
            index=index,
        )
        return _with_note(table.sort_values("removal_cost", ascending=False, kind="stable"))


def _with_note(table: pd.DataFrame) -> pd.DataFrame:
    table.attrs["note"] = (
        "Classical standard errors and p-values are not valid after selection of variables."
    )
    return table
