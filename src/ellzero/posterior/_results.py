"""What every fitted posterior of a linear model offers."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ellzero import _core
from ellzero._columns import column_name
from ellzero._engine import make_design, thread_count
from ellzero._estimators import SelectingRegressor
from ellzero._predictive import predictive_interval, student_log_density
from ellzero._sklearn import validate_table
from ellzero.genotypes._genotypes import Genotypes
from ellzero.posterior._arviz import ArvizModel, dense
from ellzero.posterior._draws import PosteriorDraws
from ellzero.posterior._lasting import LastingPosterior
from ellzero.posterior._prior_draws import PriorModel
from ellzero.sources._column_source import ColumnSource

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PosteriorModel", "PosteriorRegressor", "check_level", "dense"]

_BLOCK = 256
_COLUMNS = 4096  # that are read at a time


class PosteriorModel(LastingPosterior, PriorModel, ArvizModel):
    """A model of a linear predictor, known by draws of its coefficients from their posterior."""

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
        if isinstance(X, (ColumnSource, Genotypes)):
            return self._drawn_columns(X)
        return validate_table(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
        )

    def _drawn_columns(self, X: ColumnSource | Genotypes) -> sparse.csr_array:
        """Return what is no array as a sparse one, of the columns that any draw has."""
        drawn = np.unique(sparse.csr_array(self.draws_.coef).indices).astype(np.int64)
        values = self._read_columns(X, drawn)
        rows, (n, p) = np.tile(np.arange(len(values)), drawn.size), X.shape
        where = (rows, np.repeat(drawn, n))
        return sparse.csr_array((values.ravel(order="F"), where), shape=(n, p))


class PosteriorRegressor(SelectingRegressor, PosteriorModel):
    """A linear model known by draws from its posterior.

    Subclasses set ``draws_``, ``coef_``, ``coef_sd_``, ``intercept_``, ``support_``, and the means
    of the columns and the weight that the intercept was computed with.
    """

    _mean: NDArray[np.float64]

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the response by its posterior mean.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            Rows to predict for, in the units and with the columns of ``fit``.
        return_std : bool, default=False
            Whether to return the standard deviation of a new observation too: what is not known of
            the coefficients, the intercept and the model, and the noise. Infinite under Student's
            noise if a draw has no more than two degrees of freedom.

        Returns
        -------
        mean : ndarray of shape (n,)
            Predictions in the units of y.
        std : ndarray of shape (n,)
            Their standard deviations, if ``return_std``.
        """
        table = self._check_rows(X)
        mean = np.asarray(self._fitted(X, table) + self.intercept_, dtype=np.float64)
        if not return_std:
            return mean
        noise_variance = np.mean(self._noise_variances()) * self._noise_factor()
        signal_variance = np.empty(len(mean))
        for begin in range(0, len(mean), _BLOCK):
            signal = self._signal(table[begin : begin + _BLOCK])
            signal_variance[begin : begin + _BLOCK] = signal.var(axis=0)
        return mean, np.sqrt(signal_variance + noise_variance)

    def _fitted(self, X: Any, table: Any) -> NDArray[np.float64]:
        """Return X times the means of all coefficients, of which draws have a few only."""
        if not isinstance(X, (ColumnSource, Genotypes)):
            return np.asarray(table @ self.coef_)
        total = np.zeros(X.shape[0])
        for begin in range(0, X.shape[1], _COLUMNS):
            which = np.arange(begin, min(begin + _COLUMNS, X.shape[1]))
            total += self._read_columns(X, which) @ self.coef_[which]
        return total

    def predict_interval(
        self, X: Any, level: float = 0.95
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the posterior predictive interval of a new observation at each row.

        It is equal-tailed, and knows of everything that ``return_std`` of :meth:`predict` does: a
        new observation is a mixture over the draws of normals (of Student's t, where that is the
        noise), whose quantiles are computed, not drawn. It rests on the model: linear, with noise
        of the same size everywhere.

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
        df = self.draws_.noise_df
        df = None if df is None else df.ravel()
        return predictive_interval(table, *self._predictive_draws(), float(level), df)

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
        df = self.draws_.noise_df
        df = None if df is None else df.ravel()[rows]
        return signal + sigma[:, None] * draw_noise(df, signal.shape, rng)

    def _check_response(self, y: Any, n_rows: int) -> NDArray[np.float64]:
        response = column_or_1d(y, dtype=np.float64)
        if len(response) != n_rows:
            raise ValueError(f"y has {len(response)} numbers, but X has {n_rows} rows.")
        if not np.isfinite(response).all():
            raise ValueError("y must hold finite numbers.")
        return np.asarray(response)

    def _log_density(
        self, linear: NDArray[np.float64], response: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the log density of responses given each draw, by draw and row."""
        sigma = self.draws_.sigma_e.reshape(-1, 1)
        off = (response - linear) / sigma
        if self.draws_.noise_df is not None:
            df = self.draws_.noise_df.reshape(-1, 1)
            return np.asarray(student_log_density(off, df) - np.log(sigma))
        return np.asarray(-0.5 * off * off - np.log(sigma) - 0.5 * np.log(2 * np.pi))

    def _draw_given(
        self, draws: PosteriorDraws, linear: NDArray[np.float64], rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Return new responses around linear predictors, by draw and row."""
        noise = draw_noise(draws.noise_df, linear.shape, rng)
        return np.asarray(linear + draws.sigma_e.reshape(-1, 1) * noise)

    def _make_design(self, X: Any, y: Any, sample_weight: Any) -> _core.Quadratic:
        design = make_design(X, y, sample_weight, self.fit_intercept, thread_count())
        if design.weight < 1:
            raise ValueError(
                f"sample_weight sums to {design.weight:g}, but is taken for the number of rows: "
                "rescale it."
            )
        return design

    def _signal(self, table: Any) -> NDArray[np.float64]:
        """(x - mean)'b for every draw and row; under Student's noise with the draw's intercept."""
        centre: NDArray[np.float64] = (self.draws_.coef @ self._mean)[:, None]
        if self.draws_.noise_df is not None:
            centre = -self.draws_.intercept.reshape(-1, 1)
        return dense(self.draws_.coef @ table.T) - centre

    def _predictive_draws(self) -> tuple[Any, NDArray[np.float64], NDArray[np.float64]]:
        """For every draw its coefficients, its mean at 0 and the deviation of a new row from there.

        The intercept's own error is integrated out: it is part of the deviation. Under Student's
        noise it can't be, and each draw has its own.
        """
        coef = self.draws_.coef
        if self.draws_.noise_df is not None:
            return coef, self.draws_.intercept.ravel(), self.draws_.sigma_e.ravel()
        at_zero = self.intercept_ + self._mean @ self.coef_ - coef @ self._mean
        return coef, at_zero, self.draws_.sigma_e.ravel() * np.sqrt(self._noise_factor())

    def _noise_factor(self) -> float:
        """Return the factor of sigma_e^2 for a new row: the intercept is uncertain too."""
        integrated = self.fit_intercept and self.draws_.noise_df is None
        return 1 + 1 / self._weight if integrated else 1.0

    def _noise_variances(self) -> NDArray[np.float64]:
        """Return the variance of the noise in each draw: Student's has none up to two degrees."""
        df, square = self.draws_.noise_df, np.asarray(self.draws_.sigma_e**2)
        if df is None:
            return square
        return np.where(df > 2, square * df / np.where(df > 2, df - 2, 1.0), np.inf)


def draw_noise(
    df: NDArray[np.float64] | None, shape: tuple[int, ...], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return noise of scale one, by draw and row: normal, or Student's t of ``df`` by draw."""
    if df is None:
        return rng.standard_normal(shape)
    return rng.standard_t(df.reshape(-1, 1), shape)


def check_level(level: Any) -> None:
    if isinstance(level, bool) or not (isinstance(level, Real) and 0 < float(level) < 1):
        raise ValueError(f"level must be strictly between 0 and 1; got {level!r}.")
