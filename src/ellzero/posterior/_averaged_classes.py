"""Probabilities of classes, averaged over a posterior."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logsumexp

from ellzero._estimators import SelectingClassifier
from ellzero.posterior._draws import PosteriorDraws
from ellzero.posterior._results import PosteriorModel, check_level, dense

__all__ = ["AveragedClasses"]

_BLOCK = 256

_Floats = NDArray[np.float64]


class AveragedClasses(SelectingClassifier, PosteriorModel):
    """A classifier whose log-odds are known by draws from their posterior."""

    def decision_function(self, X: Any) -> _Floats:
        """Return the log-odds of the second class, of its probability averaged over the posterior.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            Rows to predict for, in the units and with the columns of ``fit``.

        Returns
        -------
        ndarray of shape (n,)
            Positive where ``classes_[1]`` is predicted.
        """
        log_probability = self.predict_log_proba(X)
        return np.asarray(log_probability[:, 1] - log_probability[:, 0])

    def predict_proba(self, X: Any, return_std: bool = False, model: Any = "average") -> Any:
        """Return the probability of each class, averaged over the posterior.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            Rows to predict for, in the units and with the columns of ``fit``.
        return_std : bool, default=False
            Whether to return the posterior standard deviation of the probability too: what is not
            known of the model, its coefficients and the intercept.
        model : {"average", "best", "median"} or int, default="average"
            "average" takes all models, each as far as it is probable. "best" takes the first of
            ``models_`` alone, "median" that of the variables with a probability above one half, a
            number that of a row of ``models_``: by those draws that are of it, a hundred at least.

        Returns
        -------
        probability : ndarray of shape (n, 2)
            In the order of ``classes_``.
        std : ndarray of shape (n,)
            The standard deviation of either, if ``return_std``.
        """
        if not (isinstance(model, str) and model == "average"):
            return self._restricted(model).predict_proba(X, return_std)
        if not return_std:
            return np.exp(self.predict_log_proba(X))
        table = self._check_rows(X)
        second = [expit(psi) for psi in self._log_odds(table)]
        mean = np.concatenate([part.mean(axis=0) for part in second])
        std = np.concatenate([part.std(axis=0) for part in second])
        return np.column_stack([1 - mean, mean]), std

    def predict_log_proba(self, X: Any) -> _Floats:
        """Return the logarithm of the probability of each class, averaged over the posterior.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            Rows to predict for.

        Returns
        -------
        ndarray of shape (n, 2)
            In the order of ``classes_``; never minus infinity.
        """
        table = self._check_rows(X)
        logs = [
            [logsumexp(log_expit(sign * psi), axis=0) - np.log(len(psi)) for sign in (-1, 1)]
            for psi in self._log_odds(table)
        ]
        return np.column_stack([np.concatenate(parts) for parts in zip(*logs, strict=True)])

    def _restricted(self, model: Any) -> Self:
        """Return the estimator with the draws of one model alone."""
        raise NotImplementedError

    def probability_interval(
        self, X: Any, level: float = 0.95, model: Any = "average"
    ) -> tuple[_Floats, _Floats]:
        """Return an equal-tailed credible interval of the probability of the second class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            Rows to predict for, in the units and with the columns of ``fit``.
        level : float, default=0.95
            Posterior probability of each interval.
        model : {"average", "best", "median"} or int, default="average"
            All models, or one: as for :meth:`predict_proba`.

        Returns
        -------
        lower, upper : ndarray of shape (n,)
            Its ends, between 0 and 1.

        Examples
        --------
        >>> from ellzero import SpikeSlabClassifier
        >>> from sklearn.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = SpikeSlabClassifier(n_draws=3000, random_state=0).fit(X[:400], y[:400])
        >>> lower, upper = model.probability_interval(X[400:])
        >>> probability = model.predict_proba(X[400:])[:, 1]
        >>> bool((lower <= upper).all())
        True
        """
        if not (isinstance(model, str) and model == "average"):
            return self._restricted(model).probability_interval(X, level)
        table = self._check_rows(X)
        check_level(level)
        levels = [(1 - level) / 2, (1 + level) / 2]
        ends = [np.quantile(expit(psi), levels, axis=0) for psi in self._log_odds(table)]
        lower, upper = np.concatenate(ends, axis=1)
        return lower, upper

    def _check_response(self, y: Any, n_rows: int) -> _Floats:
        labels = np.asarray(y)
        if labels.shape != (n_rows,) or not np.isin(labels, self.classes_).all():
            raise ValueError("y must hold one class of classes_ for each row of X.")
        return np.asarray(labels == self.classes_[1], dtype=np.float64)

    def _log_density(self, linear: _Floats, response: _Floats) -> _Floats:
        """Return the log-probability of classes, 0 or 1, given each draw, by draw and row."""
        return np.asarray(log_expit(np.where(response == 1, 1.0, -1.0) * linear))

    def _draw_given(
        self, draws: PosteriorDraws, linear: _Floats, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        return np.asarray(rng.random(linear.shape) < expit(linear), dtype=np.int64)

    def _log_odds(self, table: Any) -> Iterator[_Floats]:
        """Log-odds of the second class by draw and row, some rows at a time."""
        intercept = self.draws_.intercept.reshape(-1, 1)
        for begin in range(0, table.shape[0], _BLOCK):
            yield dense(self.draws_.coef @ table[begin : begin + _BLOCK].T) + intercept
