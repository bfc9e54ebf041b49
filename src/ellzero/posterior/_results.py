"""What every fitted posterior of a linear model offers."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ellzero import _core
from ellzero._columns import column_name
from ellzero._engine import make_design, thread_count
from ellzero._predictive import predictive_interval
from ellzero._sklearn import SelectingModel, SelectingRegressor, validate_table
from ellzero.posterior._draws import PosteriorDraws

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PosteriorModel", "PosteriorRegressor", "check_level", "dense"]

_BLOCK = 256


class PosteriorModel(SelectingModel):
    """A model of a linear predictor, known by draws of its coefficients from their posterior."""

    draws_: PosteriorDraws

    def credible_interval(self, level: float = 0.95) -> pd.DataFrame:
        """Return equal-tailed credible intervals of the coefficients.

        They are of the whole posterior, so a variable that is mostly out has zero in its interval.

        Parameters
        ----------
        level : float, default=0.95
            Posterior probability of each interval.

        Returns
        -------
        pandas.DataFrame
            ``low`` and ``high`` by variable, in the units of ``coef_``.
        """
        import pandas as pd

        check_is_fitted(self)
        check_level(level)
        low, high = self._quantiles([(1 - level) / 2, (1 + level) / 2])
        index = pd.Index(self._names(), name="variable", dtype=object)
        return pd.DataFrame({"low": low, "high": high}, index=index)

    def _quantiles(self, levels: list[float]) -> NDArray[np.float64]:
        """Quantiles of every coefficient's draws, zeros among them."""
        coef = self.draws_.coef
        out = np.zeros((len(levels), coef.shape[1]))
        if isinstance(coef, np.ndarray):
            for begin in range(0, coef.shape[1], _BLOCK):
                block = slice(begin, begin + _BLOCK)
                out[:, block] = np.quantile(coef[:, block], levels, axis=0)
            return out
        coef = coef.tocsc()
        seen = np.flatnonzero(np.diff(coef.indptr))
        for begin in range(0, seen.size, _BLOCK):
            columns = seen[begin : begin + _BLOCK]
            out[:, columns] = np.quantile(coef[:, columns].toarray(), levels, axis=0)
        return out

    def _names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [column_name(j, names) for j in range(self.n_features_in_)]

    def _unit_names(self) -> list[str]:
        return self._names()

    def _check_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_table(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
        )


class PosteriorRegressor(SelectingRegressor, PosteriorModel):
    """A linear model known by draws from its posterior.

    Subclasses set ``draws_``, ``coef_``, ``coef_sd_``, ``intercept_``, ``support_``, and the means
    of the columns and the weight that the intercept was computed with.
    """

    _mean: NDArray[np.float64]
    _weight: float

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the response by its posterior mean.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            Rows to predict for, in the units and with the columns of ``fit``.
        return_std : bool, default=False
            Whether to return the standard deviation of a new observation too: what is not known of
            the coefficients, the intercept and the model, and the noise.

        Returns
        -------
        mean : ndarray of shape (n,)
            Predictions in the units of y.
        std : ndarray of shape (n,)
            Their standard deviations, if ``return_std``.
        """
        table = self._check_rows(X)
        mean = np.asarray(table @ self.coef_ + self.intercept_, dtype=np.float64)
        if not return_std:
            return mean
        noise_variance = np.mean(self.draws_.sigma_e**2) * self._noise_factor()
        signal_variance = np.empty(len(mean))
        for begin in range(0, len(mean), _BLOCK):
            signal = self._signal(table[begin : begin + _BLOCK])
            signal_variance[begin : begin + _BLOCK] = signal.var(axis=0)
        return mean, np.sqrt(signal_variance + noise_variance)

    def predict_interval(
        self, X: Any, level: float = 0.95
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the posterior predictive interval of a new observation at each row.

        It is equal-tailed, and knows of everything that ``return_std`` of :meth:`predict` does: a
        new observation is a mixture over the draws of normals, whose quantiles are computed, not
        drawn. It rests on the model: linear, with normal noise of the same size everywhere.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            Rows to predict for, in the units and with the columns of ``fit``.
        level : float, default=0.95
            Posterior probability of each interval.

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
        table = self._check_rows(X)
        check_level(level)
        return predictive_interval(table, *self._predictive_draws(), float(level))

    def sample_predictive(
        self, X: Any, n_draws: int | None = None, random_state: Any = None
    ) -> NDArray[np.float64]:
        """Draw new observations from the posterior predictive distribution.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            Rows to predict for.
        n_draws : int, default=None
            How many draws, spread evenly over those of the posterior; None takes every one.
        random_state : int, RandomState instance or None, default=None
            Seed of the noise.

        Returns
        -------
        ndarray of shape (n_draws, n)
            In the units of y.
        """
        table = self._check_rows(X)
        total = self.draws_.intercept.size
        if n_draws is None:
            n_draws = total
        if isinstance(n_draws, bool) or not isinstance(n_draws, Integral) or n_draws < 1:
            raise ValueError(f"n_draws must be a positive integer; got {n_draws!r}.")
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        rows = np.linspace(0, total, int(n_draws), endpoint=False).astype(np.int64)
        sigma = self.draws_.sigma_e.ravel()[rows]
        signal = dense(self.draws_.coef[rows] @ table.T)
        signal = signal + self.draws_.intercept.ravel()[rows][:, None]
        return signal + sigma[:, None] * rng.standard_normal(signal.shape)

    def to_arviz(self) -> Any:
        """Return the draws as ArviZ's ``InferenceData``; needs the package arviz.

        Returns
        -------
        arviz.InferenceData
            Its group ``posterior`` holds ``beta`` (dense, by variable), ``intercept``, ``sigma_e``
            and, where there are draws of them, ``sigma_beta``, ``theta``, ``tau`` and ``alpha``;
            with groups also ``included``, by group: 1 where it is in.
        """
        check_is_fitted(self)
        try:
            import arviz
        except ImportError:
            raise ImportError("to_arviz needs the package arviz: pip install arviz.") from None
        draws = self.draws_
        shape = (draws.n_chains, draws.n_draws, draws.coef.shape[1])
        posterior = {"beta": dense(draws.coef).reshape(shape), "intercept": draws.intercept}
        posterior.update(draws.hyperparameters())
        coords, dims = {"variable": self._names()}, {"beta": ["variable"]}
        if draws.groups is not None:
            posterior["included"] = dense(draws.groups).reshape(*shape[:2], -1)
            coords["group"], dims["included"] = self._unit_names(), ["group"]
        return arviz.from_dict(posterior=posterior, coords=coords, dims=dims)

    def _make_design(self, X: Any, y: Any, sample_weight: Any) -> _core.Quadratic:
        design = make_design(X, y, sample_weight, self.fit_intercept, thread_count())
        if design.weight < 1:
            raise ValueError(
                f"sample_weight sums to {design.weight:g}, but is taken for the number of rows: "
                "rescale it."
            )
        return design

    def _signal(self, table: Any) -> NDArray[np.float64]:
        """(x - mean)'b for every draw and row."""
        centre: NDArray[np.float64] = (self.draws_.coef @ self._mean)[:, None]
        return dense(self.draws_.coef @ table.T) - centre

    def _predictive_draws(self) -> tuple[Any, NDArray[np.float64], NDArray[np.float64]]:
        """For every draw its coefficients, its mean at 0 and the deviation of a new row from there.

        The intercept's own error is integrated out: it is part of the deviation.
        """
        coef = self.draws_.coef
        at_zero = self.intercept_ + self._mean @ self.coef_ - coef @ self._mean
        return coef, at_zero, self.draws_.sigma_e.ravel() * np.sqrt(self._noise_factor())

    def _noise_factor(self) -> float:
        """Return the factor of sigma_e^2 for a new row: the intercept is uncertain too."""
        return 1 + 1 / self._weight if self.fit_intercept else 1.0


def check_level(level: Any) -> None:
    if isinstance(level, bool) or not (isinstance(level, Real) and 0 < float(level) < 1):
        raise ValueError(f"level must be strictly between 0 and 1; got {level!r}.")


def dense(product: Any) -> NDArray[np.float64]:
    return np.asarray(product.toarray() if sparse.issparse(product) else product)
