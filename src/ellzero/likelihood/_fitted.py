"""What every fitted likelihood has, and its summary."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ellzero._columns import column_name, resolve_columns
from ellzero._engine import thread_count
from ellzero._progress import progress_printer
from ellzero._sklearn import SelectingModel
from ellzero.regression._losses import Loss, check_response, default_ridge
from ellzero.regression._problem import (
    Likelihood,
    Problem,
    largest_size,
    make_likelihood,
    to_float,
)
from ellzero.regression._searches import check_size, search_for
from ellzero.regression._separation import warn_where_it_stands

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

    def _store(self, problem: Problem, lam: float, *, priced: bool = True) -> None:
        """Take what the problem's engine stands at."""
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
        table = table.sort_values("removal_cost", ascending=False, kind="stable")
        table.attrs["note"] = (
            "Classical standard errors and p-values are not valid after selection of variables."
        )
        return table
