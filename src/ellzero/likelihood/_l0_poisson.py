"""l0-regularised Poisson regression."""

from __future__ import annotations

import math
import warnings
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import d2_tweedie_score
from sklearn.utils.validation import check_array, check_consistent_length

from ellzero._sklearn import Interval, StrOptions, check_fit_input
from ellzero.likelihood._fitted import FittedLikelihood
from ellzero.regression._criteria import CRITERIA
from ellzero.regression._losses import Loss
from ellzero.regression._units import UNIT_CONSTRAINTS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["OVERDISPERSED", "L0PoissonRegressor", "PoissonSelection", "dispersion", "log_exposure"]

# Counts that vary so many times as much as their means are not Poisson's.
OVERDISPERSED = 2.0
# The exponential of more is no number that anything could be counted to.
_LARGEST = 700.0


def log_exposure(exposure: Any, y: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return the logarithm of exposures, one for each response; None if there are none."""
    if exposure is None:
        return None
    try:
        exposure = np.asarray(exposure, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("exposure must hold numbers.") from None
    exposure = check_array(exposure, ensure_2d=False, dtype=np.float64, input_name="exposure")
    if exposure.ndim != 1:
        raise ValueError("exposure must have one dimension.")
    check_consistent_length(exposure, y)
    if not (exposure > 0).all():
        raise ValueError("exposure must be positive in every row.")
    return np.ascontiguousarray(np.log(exposure))


def dispersion(
    y: NDArray[np.float64], mean: NDArray[np.float64], weight: NDArray[np.float64] | None, size: int
) -> float:
    """Return how many times as much counts vary around a model of some size as its means say.

    Pearson's statistic over the degrees of freedom; NaN where none are left.
    """
    weight = np.ones_like(y) if weight is None else weight
    counted = weight > 0
    y, mean, weight = y[counted], mean[counted], weight[counted]
    left = float(weight.sum()) - size - 1
    squares = (y - mean) ** 2 / np.maximum(mean, np.finfo(float).tiny)
    return float(weight @ squares) / left if left > 0 else math.nan


class PoissonSelection(RegressorMixin, FittedLikelihood):  # type: ignore[misc]
    """What the regressors of counts have in common."""

    _loss = Loss.POISSON
    _ratio = "rate_ratio"

    def predict(self, X: Any, exposure: Any = None) -> NDArray[np.float64]:
        """Predict the mean response.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            Rows to predict for, in the units and with the columns of ``fit``.
        exposure : array-like of shape (n,), default=None
            How long, or how much, each row is counted over; None means 1, so that rates are
            predicted.

        Returns
        -------
        ndarray of shape (n,)
            Means, positive.
        """
        log_mean = self._predictor(X)
        offset = log_exposure(exposure, log_mean)
        return np.exp(np.minimum(log_mean if offset is None else log_mean + offset, _LARGEST))

    def _note_dispersion(
        self,
        X: Any,
        y: NDArray[np.float64],
        weight: NDArray[np.float64] | None,
        offset: NDArray[np.float64] | None,
    ) -> None:
        coefficients = self.coef_[self.support_]
        eta = np.asarray(X[:, self.support_] @ coefficients + self.intercept_, dtype=np.float64)
        mean = self._loss.mean(eta if offset is None else eta + offset)
        self.dispersion_ = dispersion(y, mean, weight, len(self.support_))

    def score(self, X: Any, y: Any, sample_weight: Any = None, exposure: Any = None) -> float:
        """Return D2, the share of the deviance that is explained.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            Rows to predict for.
        y : array-like of shape (n,)
            Their responses.
        sample_weight : array-like of shape (n,), default=None
            Frequency weights.
        exposure : array-like of shape (n,), default=None
            How long, or how much, each row is counted over.

        Returns
        -------
        float
            1 for a perfect fit, 0 for one that is as good as the mean rate.
        """
        mean = np.maximum(self.predict(X, exposure), np.finfo(float).tiny)
        offset = log_exposure(exposure, mean)
        if offset is None:
            return float(d2_tweedie_score(y, mean, sample_weight=sample_weight, power=1))
        # A count over an exposure is a rate that counts for as much.
        amount = np.exp(offset)
        weight = amount if sample_weight is None else amount * np.asarray(sample_weight)
        rate = np.asarray(y, dtype=np.float64) / amount
        return float(d2_tweedie_score(rate, mean / amount, sample_weight=weight, power=1))

    def summary(self) -> pd.DataFrame:
        """Tabulate the chosen variables, the most important first.

        Returns
        -------
        pandas.DataFrame
            Indexed by variable. ``coefficient``: change of the logarithm of the mean for one unit
            of the variable, and ``rate_ratio``, its exponential: what the mean is multiplied by.
            ``standardised`` and ``rate_ratio_per_sd``: the same for one standard deviation of the
            variable. ``removal_cost``: by how much the negative log-likelihood with its ridge
            penalty would rise without the variable, the others refitted. ``d2_lost``: the same as a
            share of that without variables. Of groups of columns, as of
            :meth:`ellzero.L0Classifier.summary`.
        """
        return self._summarise()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags


class L0PoissonRegressor(PoissonSelection):
    r"""Poisson regression with a price on every variable used, for counts and rates.

    Minimises, over an intercept b0, supports S and coefficients b that vanish outside S,

    .. math:: \sum_i w_i \left[ e^{\eta_i} - y_i \eta_i + y_i \log y_i - y_i \right]
              + \tfrac12\, \mathrm{ridge}\, \|b\|^2 + \mathrm{lam}\, \|b\|_0,

    .. math:: \eta = \log(\mathrm{exposure}) + b_0 + Zb

    with Z the columns of X centred and scaled to unit l2 norm: ``lam`` and ``ridge`` refer to that
    scale. The sum is half the deviance, not divided by n, and the intercept pays nothing. y need
    not be whole. Coefficients come back in the user's units.

    Parameters
    ----------
    lam : float or {"bic", "ebic", "ric"}, default="ebic"
        The price of a variable, in units of log-likelihood, from 0 to infinity; or the criterion
        that is minimised over the best models of every size up to ``max_size``, as in
        :class:`ellzero.L0Classifier`; rows count in EBIC's r up to the sum of y. Criteria take the
        variance to be the mean: where counts vary more than that, they keep too much.
    size : int, default=None
        Take the best model of this many variables instead, those of ``always_include`` counted.
    ridge : float, default=None
        Ridge penalty, for columns of unit norm. None means ``1 / (100 n)``: that of a slab with a
        standard deviation of 10, in logs of the mean per standard deviation of a column.
    solver : {"frontier", "sbr"}, default="frontier"
        As in :class:`ellzero.L0Regressor`.
    max_size : int, default=None
        The largest support considered, as in :class:`ellzero.L0Classifier`.
    always_include : sequence of names, integers, or mask, default=None
        Columns that are in every support: they don't pay ``lam`` but count towards the size.
    feature_groups, size_in, heredity, parents, penalty_factor, positive, at_most
        Groups of columns that enter whole, and rules for them: as of
        :class:`ellzero.L0Classifier`.
    fit_intercept : bool, default=True
        Whether to fit an intercept, and to centre the columns.
    verbose : int, default=0
        If positive, report on standard error how long work is getting on.

    Attributes
    ----------
    coef_ : ndarray of shape (p,)
        Coefficients, in logs of the mean per unit of the column.
    intercept_ : float
        Intercept, a log of the mean.
    support_ : ndarray of int
        Sorted indices of the columns in the model.
    groups_ : list of str
        The names of the groups in the model, if there are groups, or rules for columns.
    dispersion_ : float
        How many times as much counts vary around the model as its means say: about 1 if they are
        Poisson's. Above 2 a choice by a criterion is warned of.
    lam_, ridge_, objective_, deviance_, null_deviance_, n_iter_, certificate_ :
        As of :class:`ellzero.L0Classifier`.
    n_features_in_ : int
        Columns seen during fit.
    feature_names_in_ : ndarray of str
        Their names, if X had names that are all strings.

    Notes
    -----
    ``sample_weight`` are frequency weights: a row of weight 2 is the row twice. Counts over
    different times or amounts have these as their ``exposure``, not as weights.

    Examples
    --------
    >>> import numpy as np
    >>> from ellzero import L0PoissonRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 10))
    >>> years = rng.uniform(0.5, 2, size=200)
    >>> y = rng.poisson(years * np.exp(1 + 0.5 * X[:, 3] - 0.4 * X[:, 7]))
    >>> model = L0PoissonRegressor().fit(X, y, exposure=years)
    >>> model.support_.tolist(), model.coef_[[3, 7]].round(2)
    ([3, 7], array([ 0.51, -0.41]))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "lam": [Interval(Real, 0, math.inf, closed="both"), StrOptions(set(CRITERIA))],
        "size": [Interval(Integral, 0, None, closed="left"), None],
        "ridge": [Interval(Real, 0, None, closed="left"), None],
        "solver": [StrOptions({"frontier", "sbr"})],
        "max_size": [Interval(Integral, 0, None, closed="left"), None],
        "always_include": ["array-like", str, set, None],
        "fit_intercept": ["boolean"],
        "verbose": ["verbose"],
        **UNIT_CONSTRAINTS,
    }

    def __init__(
        self,
        lam: float | str = "ebic",
        *,
        size: int | None = None,
        ridge: float | None = None,
        solver: str = "frontier",
        max_size: int | None = None,
        always_include: Any = None,
        feature_groups: Any = None,
        size_in: str = "groups",
        heredity: str | None = None,
        parents: Any = None,
        penalty_factor: Any = None,
        positive: Any = None,
        at_most: Any = None,
        fit_intercept: bool = True,
        verbose: int = 0,
    ) -> None:
        self.lam = lam
        self.size = size
        self.ridge = ridge
        self.solver = solver
        self.max_size = max_size
        self.always_include = always_include
        self.feature_groups = feature_groups
        self.size_in = size_in
        self.heredity = heredity
        self.parents = parents
        self.penalty_factor = penalty_factor
        self.positive = positive
        self.at_most = at_most
        self.fit_intercept = fit_intercept
        self.verbose = verbose

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, exposure: Any = None
    ) -> L0PoissonRegressor:
        """Choose variables and fit their coefficients.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            The columns to choose from.
        y : array-like of shape (n,)
            Counts, not negative; they need not be whole.
        sample_weight : array-like of shape (n,), default=None
            Frequency weights, not negative.
        exposure : array-like of shape (n,), default=None
            How long, or how much, each row was counted over, positive; None means 1.

        Returns
        -------
        L0PoissonRegressor
            The fitted estimator.
        """
        X, y, sample_weight = check_fit_input(self, X, y, sample_weight)
        offset = log_exposure(exposure, y)
        self._fit(X, y, sample_weight, offset)
        self._note_dispersion(X, y, sample_weight, offset)
        if isinstance(self.lam, str) and self.size is None and self.dispersion_ > OVERDISPERSED:
            warnings.warn(
                f"L0PoissonRegressor: counts vary {self.dispersion_:.1f} times as much around the "
                f"model as it says, which {self.lam} takes for evidence: it keeps too many "
                "variables. Choose by L0PoissonRegressorCV, or give size.",
                stacklevel=2,
            )
        return self
