"""A linear regression's models: their odds, the evidence, and prediction by one of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ellzero.posterior._arviz import dense
from ellzero.posterior._draws_given import restrict
from ellzero.posterior._marginals import Conditional, Marginals
from ellzero.posterior._model_odds import (
    LogEvidence,
    ModelWeights,
    evidence_from_draws,
    tabulate_odds,
    weigh_models,
)
from ellzero.posterior._model_prior import ModelPrior
from ellzero.posterior._results import PosteriorRegressor, check_level
from ellzero.posterior._spike_slab_results import SpikeSlabResults
from ellzero.posterior._student_mixture import StudentMixture

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MADE_OF_MODELS", "ByModel"]

# What is made when it is asked for, beside what every spike-and-slab posterior has.
MADE_OF_MODELS = ("_weights", "_evidence", "log_evidence_", "log_evidence_error_")

_Floats = NDArray[np.float64]
_BLOCK = 512  # rows at a time


class ByModel(PosteriorRegressor, SpikeSlabResults):
    """A posterior over models of which each has a marginal likelihood.

    Subclasses set ``_marginals``, which is None where there is no closed form, and
    ``_model_prior``; with all models visited ``log_evidence_`` too.
    """

    _marginals: Marginals | None
    _model_prior: ModelPrior

    @cached_property
    def _weights(self) -> ModelWeights:
        return weigh_models(self._model_table().supports, self._marginals, self._model_prior)

    def _odds_columns(self) -> dict[str, _Floats]:
        return tabulate_odds(self._weights)

    @cached_property
    def _evidence(self) -> LogEvidence:
        check_is_fitted(self, "draws_")
        shape = (self.draws_.n_chains, self.draws_.n_draws)
        return evidence_from_draws(self._inside(), shape, self._marginals, self._model_prior)

    @cached_property
    def log_evidence_(self) -> float:
        """Log of the density of y under the prior, estimated from the draws."""
        if self._evidence.problem:
            raise AttributeError(f"log_evidence_ is not known: {self._evidence.problem}.")
        return self._evidence.value

    @cached_property
    def log_evidence_error_(self) -> float:
        """Monte Carlo error of it; zero if all models were visited."""
        check_is_fitted(self, "draws_")
        if self.solver_ == "enumerate":
            return 0.0
        if self._evidence.problem:
            raise AttributeError(f"log_evidence_error_ is not known: {self._evidence.problem}.")
        return self._evidence.error

    def predict(self, X: Any, return_std: bool = False, model: Any = "average") -> Any:
        """Predict the response by its posterior mean, over all models or under one.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            Rows to predict for, in the units and with the columns of ``fit``.
        return_std : bool, default=False
            Whether to return the standard deviation of a new observation too: what is not known of
            the coefficients, the intercept and, of the average, the model, and the noise. Infinite
            under Student's noise if a draw has no more than two degrees of freedom.
        model : {"average", "best", "median"} or int, default="average"
            "average" takes all models, each as far as it is probable (BMA). "best" takes the most
            probable one alone (HPM): that of the highest ``posterior_odds`` in ``models_``.
            "median" takes the variables, or groups, with a probability above one half (MPM). A
            number takes the model in that row of ``models_``. One model by itself does not know
            that it may be the wrong one: its standard deviations are too small as far as that goes.
            Under slab="laplace" and Student's noise coefficients have no closed form given the
            model, and those draws are taken that are of it: a hundred at least.

        Returns
        -------
        mean : ndarray of shape (n,)
            Predictions in the units of y.
        std : ndarray of shape (n,)
            Their standard deviations, if ``return_std``.

        Examples
        --------
        >>> from ellzero import SpikeSlabRegressor
        >>> from ellzero.datasets import load_diabetes_interactions
        >>> diabetes = load_diabetes_interactions()
        >>> X, y = diabetes.data.iloc[:, :10], diabetes.target
        >>> model = SpikeSlabRegressor(random_state=0).fit(X, y)
        >>> averaged, best = model.predict(X), model.predict(X, model="best")
        >>> bool(abs(averaged - best).max() < y.std())
        True
        """
        if _is_average(model):
            return super().predict(X, return_std)
        given = self._given_model(model)
        if given is None:
            return self._restricted(model).predict(X, return_std)
        table = self._check_rows(X)
        coef = self._of_flat() + given.loadings @ (given.weight @ given.mean)
        mean = np.asarray(table @ coef + self._intercept_of(coef), dtype=np.float64)
        if not return_std:
            return mean
        return mean, np.concatenate([rows.sd() for rows in self._new_rows(table, given)])

    def predict_interval(
        self, X: Any, level: float = 0.95, model: Any = "average"
    ) -> tuple[_Floats, _Floats]:
        """Return the posterior predictive interval of a new observation at each row.

        It is equal-tailed, and knows of everything that ``return_std`` of :meth:`predict` does. It
        rests on the model: linear, with noise of the same size everywhere. Over all models a new
        observation is a mixture over the draws of normals (of Student's t, where that is the
        noise), under one a mixture of Student distributions; quantiles are computed, not drawn.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            Rows to predict for, in the units and with the columns of ``fit``.
        level : float, default=0.95
            Posterior probability of each interval.
        model : {"average", "best", "median"} or int, default="average"
            All models, or one: as for :meth:`predict`.

        Returns
        -------
        lower, upper : ndarray of shape (n,)
            Its ends, in the units of y.

        Examples
        --------
        >>> from ellzero import SpikeSlabRegressor
        >>> from ellzero.datasets import load_diabetes_interactions
        >>> diabetes = load_diabetes_interactions()
        >>> X, y = diabetes.data, diabetes.target
        >>> model = SpikeSlabRegressor(random_state=0).fit(X[:300], y[:300])
        >>> lower, upper = model.predict_interval(X[300:], level=0.9)
        >>> print(f"{((lower <= y[300:]) & (y[300:] <= upper)).mean():.1f}")
        0.9
        """
        if _is_average(model):
            return super().predict_interval(X, level)
        given = self._given_model(model)
        if given is None:
            return self._restricted(model).predict_interval(X, level)
        check_level(level)
        rows = self._new_rows(self._check_rows(X), given)
        lower, upper = np.concatenate([part.interval(float(level)) for part in rows], axis=1)
        return lower, upper

    def coefficients(self, model: Any = "best", level: float = 0.95) -> pd.DataFrame:
        """Tabulate the coefficients under one model, or over all of them.

        Parameters
        ----------
        model : {"average", "best", "median"} or int, default="best"
            Which model: as for :meth:`predict`.
        level : float, default=0.95
            Posterior probability of each interval.

        Returns
        -------
        pandas.DataFrame
            By variable: ``coefficient``, ``sd``, ``low`` and ``high``, the posterior mean, standard
            deviation and equal-tailed interval, in units of y per unit of the variable; zeros of
            variables that the model does not have. ``attrs["intercept"]`` is the posterior mean of
            the intercept.

        Examples
        --------
        >>> from ellzero import SpikeSlabRegressor
        >>> from ellzero.datasets import load_diabetes_interactions
        >>> diabetes = load_diabetes_interactions()
        >>> model = SpikeSlabRegressor(random_state=0).fit(diabetes.data, diabetes.target)
        >>> table = model.coefficients("median")
        >>> table.index[table["sd"] > 0].tolist()
        ['sex', 'bmi', 'map', 'hdl', 'ltg', 'age:sex']
        """
        import pandas as pd

        check_is_fitted(self)
        check_level(level)
        index = pd.Index(self._names(), name="variable", dtype=object)
        if _is_average(model):
            interval = self.credible_interval(level)
            columns = {"coefficient": self.coef_, "sd": self.coef_sd_}
            columns.update(low=interval["low"].to_numpy(), high=interval["high"].to_numpy())
            intercept = self.intercept_
        else:
            given = self._given_model(model)
            if given is None:
                return self._restricted(model).coefficients("average", level)
            alone, own = self._of_flat(), np.zeros(self.n_features_in_)
            if self._marginals is not None and self._marginals.flat is not None:
                flat = self._marginals.flat
                own[flat.columns] = (flat.root**2).sum(axis=0)
            inside = np.flatnonzero(np.any(given.loadings != 0, axis=1) | (own > 0))
            mixture = _mixture(given, given.loadings[inside], own[inside])
            mixture.location += alone[inside, None]
            values = (mixture.mean(), mixture.sd(), *mixture.interval(float(level)))
            columns = {}
            for name, own in zip(("coefficient", "sd", "low", "high"), values, strict=True):
                columns[name] = np.zeros(self.n_features_in_)
                columns[name][inside] = own
            intercept = self._intercept_of(columns["coefficient"])
        table = pd.DataFrame(columns, index=index)
        table.attrs["intercept"] = float(intercept)
        return table

    def _intercept_of(self, coef: _Floats) -> float:
        """Return the intercept that goes with coefficients: the mean of y is met, if centred."""
        return float(self.intercept_ + self._mean @ (self.coef_ - coef))

    def _new_rows(self, table: Any, given: Conditional) -> Iterator[StudentMixture]:
        """Return what a model says of new observations, some rows at a time."""
        alone = self._of_flat()
        intercept = self._intercept_of(alone)
        for begin in range(0, table.shape[0], _BLOCK):
            part = table[begin : begin + _BLOCK]
            rows = np.asarray(part @ given.loadings) - self._mean @ given.loadings
            mixture = _mixture(given, rows, self._noise_factor() + self._noise_of_flat(part))
            mixture.location += (np.asarray(part @ alone) + intercept)[:, None]
            yield mixture

    def _of_flat(self) -> _Floats:
        """Return the coefficients of flat columns where the others are zero."""
        out = np.zeros(self.n_features_in_)
        if self._marginals is not None and self._marginals.flat is not None:
            out[self._marginals.flat.columns] = self._marginals.flat.alone
        return out

    def _noise_of_flat(self, table: Any) -> _Floats:
        """Return the variance over s2, by row, of what flat columns add, given the others."""
        if self._marginals is None or self._marginals.flat is None:
            return np.zeros(table.shape[0])
        columns, root = self._marginals.flat.columns, self._marginals.flat.root
        part = dense(table[:, columns])
        return np.asarray((((part - self._mean[columns]) @ root.T) ** 2).sum(axis=1))

    def _given_model(self, model: Any) -> Conditional | None:
        """Return the posterior given the model that the user names; None if it is not closed."""
        support = self._support_of(model)
        if self._marginals is None:
            return None
        if not self._marginals.knows(support):
            raise ValueError(
                f"model={model!r} has variables beyond the 500 most probable columns, which is as "
                "far as single models are kept."
            )
        return self._marginals.conditional(support)

    def _best_row(self) -> int:
        best = self._weights.best
        return 0 if best is None else best

    def _restricted(self, model: Any) -> Self:
        """Return the estimator with the draws of one model, as if there were no other."""
        out: Self = restrict(self, self._inside(), self._support_of(model), model)
        coef = out.draws_.coef
        out.coef_ = np.asarray(coef.mean(axis=0)).reshape(-1)
        square = np.asarray((coef**2).mean(axis=0)).reshape(-1)
        out.coef_sd_ = np.sqrt(np.maximum(square - out.coef_**2, 0.0))
        normal = out.draws_.noise_df is None
        out.intercept_ = self._intercept_of(out.coef_) if normal else out.draws_.intercept.mean()
        return out


def _is_average(model: Any) -> bool:
    return isinstance(model, str) and model == "average"


def _mixture(given: Conditional, rows: _Floats, noise: _Floats) -> StudentMixture:
    """Return the distribution of ``rows @ coefficients`` plus noise of ``noise`` times s2."""
    spread = rows**2 @ given.spread.T + noise[:, None]
    scale = np.sqrt(spread * given.scale)
    return StudentMixture(given.weight, rows @ given.mean.T, scale, given.degrees)
