"""What estimators inherit: models that choose columns, and transformers of rows."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, log_expit
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    OneToOneFeatureMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from ellzero._notebook import show_fitted
from ellzero._sklearn import check_parameters, check_same_variants, validate_table
from ellzero.genotypes._genotypes import Genotypes
from ellzero.sources._column_source import ColumnSource, Reader

__all__ = ["RowTransformer", "SelectingClassifier", "SelectingModel", "SelectingRegressor"]


# scikit-learn has no types, so mypy takes its classes for Any.
class SelectingModel(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """A linear model that is also a feature selector.

    Subclasses set ``coef_``, ``intercept_`` and ``support_``.
    """

    def _predictor(self, X: Any) -> NDArray[np.float64]:
        """Return the linear predictor of some rows."""
        check_is_fitted(self)
        coefficients = np.ravel(self.coef_)[self.support_]
        intercept = float(np.ravel(self.intercept_)[0])
        if isinstance(X, (ColumnSource, Genotypes)):
            return np.asarray(self._read_columns(X, self.support_) @ coefficients + intercept)
        X = validate_table(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
        )
        return np.asarray(X[:, self.support_] @ coefficients + intercept, dtype=np.float64)

    def _read_columns(
        self, X: ColumnSource | Genotypes, which: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Read some columns of what is no array, but has those of the fit."""
        if isinstance(X, Genotypes):
            check_same_variants(self, X)
            return X.to_array(which)
        X.check_shape()
        rows, width = X.shape
        if width != self.n_features_in_:
            raise ValueError(
                f"X has {width} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        return Reader(X).columns(which) if len(which) else np.empty((rows, 0))

    def transform(self, X: Any) -> Any:
        """Return the columns that were chosen.

        Parameters
        ----------
        X : array-like, sparse matrix, ColumnSource or Genotypes of shape (n, p)
            Rows with the columns of ``fit``.

        Returns
        -------
        array of shape (n, k)
            Those columns, in their order.
        """
        if not isinstance(X, (ColumnSource, Genotypes)):
            return super().transform(X)
        check_is_fitted(self)
        return self._read_columns(X, np.flatnonzero(self._get_support_mask()))

    def _repr_html_inner(self) -> str:
        # What a notebook shows: scikit-learn's box, and below it what was fitted.
        return super()._repr_html_inner() + show_fitted(self)  # type: ignore[no-any-return]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += show_fitted(self)
        return bundle

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.support_] = True
        return mask

    def _transform(self, X: Any) -> Any:
        # scikit-learn's own warns of an empty selection, which is an answer like any other here.
        if hasattr(X, "iloc"):
            return X.iloc[:, self.support_]
        return X[:, self.support_]

    def inverse_transform(self, X: Any) -> Any:
        """Put the columns back where they were, with zeros between them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, size of the support)
            What ``transform`` returned.

        Returns
        -------
        ndarray or sparse matrix of shape (n, p)
            Zero where a column was not selected.
        """
        check_is_fitted(self)
        if self.support_.size == 0 and np.ndim(X) == 2 and X.shape[1] == 0:
            shape = (X.shape[0], self.n_features_in_)  # scikit-learn's own asks for a column
            return sparse.csc_matrix(shape) if sparse.issparse(X) else np.zeros(shape)
        return super().inverse_transform(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class SelectingRegressor(RegressorMixin, SelectingModel):  # type: ignore[misc]
    """A linear model of a response that is also a feature selector."""

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the response.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            Rows to predict for, in the units and with the columns of ``fit``.

        Returns
        -------
        ndarray of shape (n,)
            Predictions in the units of y.
        """
        return self._predictor(X)


class SelectingClassifier(ClassifierMixin, SelectingModel):  # type: ignore[misc]
    """A linear model of the log-odds of the second of two classes, also a feature selector.

    Subclasses set ``classes_``.
    """

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the log-odds of the second class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            Rows to predict for, in the units and with the columns of ``fit``.

        Returns
        -------
        ndarray of shape (n,)
            Positive where ``classes_[1]`` is predicted.
        """
        return self._predictor(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the likelier class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            Rows to predict for.

        Returns
        -------
        ndarray of shape (n,)
            Of ``classes_``.
        """
        second = self.decision_function(X) > 0
        return np.asarray(self.classes_[second.astype(np.intp)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            Rows to predict for.

        Returns
        -------
        ndarray of shape (n, 2)
            In the order of ``classes_``.
        """
        log_odds = self.decision_function(X)
        return np.column_stack([expit(-log_odds), expit(log_odds)])

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            Rows to predict for.

        Returns
        -------
        ndarray of shape (n, 2)
            In the order of ``classes_``; never minus infinity.
        """
        log_odds = self.decision_function(X)
        return np.column_stack([log_expit(-log_odds), log_expit(log_odds)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class RowTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Changes every row by itself, and may see NaN. Subclasses define ``_transform_rows``."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters and the rows.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Rows of finite numbers or NaN.
        y : None
            Ignored.

        Returns
        -------
        self
            The transformer, which has learned the number of columns and their names.
        """
        self._check()
        validate_table(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Change every row.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Rows of finite numbers or NaN, as long as those of ``fit``.

        Returns
        -------
        ndarray of shape (n, p)
            A row for each.
        """
        check_is_fitted(self)
        self._check()
        X = validate_table(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        return self._transform_rows(X)

    def _check(self) -> None:
        constraints = self._parameter_constraints
        values = {name: getattr(self, name) for name in constraints}
        check_parameters(type(self).__name__, constraints, **values)

    def _transform_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
