"""l0-regularised Poisson regression with a cross-validated price."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

from ellzero._sklearn import UNUSED, Interval, StrOptions, check_fit_input
from ellzero.likelihood._fitted_cv import CrossValidatedLikelihood
from ellzero.likelihood._l0_poisson import PoissonSelection, log_exposure
from ellzero.likelihood._scores import poisson_deviance
from ellzero.regression._units import UNIT_CONSTRAINTS

__all__ = ["L0PoissonRegressorCV"]


class L0PoissonRegressorCV(PoissonSelection, CrossValidatedLikelihood):
    r"""Poisson regression with a price on every variable, chosen by cross-validation.

    Minimises what :class:`ellzero.L0PoissonRegressor` does at the ``lam`` whose models have the
    least mean deviance on the rows held out. Prices are compared per unit of weight: a fold that
    trains on the weight W_train out of W uses ``lam W_train / W``.

    Parameters
    ----------
    cv : int, splitter, or iterable of (train, test), default=10
        How to split: a number of folds, which are shuffled, or any splitter of scikit-learn.
    n_repeats : int, default=None
        How often a number of folds is made, each time of rows shuffled anew; the curve is the mean
        of these repeats. None means ten. It is for a ``cv`` that is a number.
    rule : {"min", "1se"}, default="min"
        "min" takes the interval of least mean error, "1se" that of largest ``lam`` whose mean error
        is at most one standard error above the least.
    ridge : float or sequence of floats, default=None
        Ridge penalty, for columns of unit norm: as in :class:`ellzero.L0PoissonRegressor`. Of
        several the one with the least error is taken.
    solver : {"frontier", "sbr"}, default="frontier"
        As in :class:`ellzero.L0Regressor`; in the folds "frontier" does without swaps.
    max_size : int, default=None
        The largest support considered. None goes on until the error has long been rising.
    always_include : sequence of names, integers, or mask, default=None
        Columns that are in every support: they don't pay ``lam`` but count towards the size.
    feature_groups, size_in, heredity, parents, penalty_factor, positive, at_most
        Groups of columns that enter whole, and rules for them: as of
        :class:`ellzero.L0Classifier`.
    fit_intercept : bool, default=True
        Whether to fit an intercept, and to centre the columns.
    n_jobs : int, default=None
        Threads over folds; None means 1. The results don't depend on it.
    random_state : int, RandomState instance or None, default=0
        Shuffles the rows before folding, if ``cv`` is a number; None does so anew for every fit.
    verbose : int, default=0
        If positive, report on standard error how long work is getting on.

    Attributes
    ----------
    lam_ : float
        The price: the geometric middle of the interval chosen.
    ridge_ : float
        The ridge chosen.
    coef_ : ndarray of shape (p,)
        Coefficients of the fit on all rows, in logs of the mean per unit of the column.
    intercept_ : float
        Intercept, a log of the mean.
    support_ : ndarray of int
        Sorted indices of the columns in the model.
    groups_ : list of str
        The names of the groups in the model, if there are groups, or rules for columns.
    dispersion_ : float
        As of :class:`ellzero.L0PoissonRegressor`.
    frontier_, cv_results_, n_repeats_, objective_, deviance_, null_deviance_, max_size_ :
        As of :class:`ellzero.L0ClassifierCV`; errors are mean deviances.
    certificate_ : Certificate
        What is known about the solution.
    n_features_in_ : int
        Columns seen during fit.
    feature_names_in_ : ndarray of str
        Their names, if X had names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from ellzero import L0PoissonRegressorCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 10))
    >>> y = rng.poisson(np.exp(1 + 0.5 * X[:, 3] - 0.4 * X[:, 7]))
    >>> L0PoissonRegressorCV(rule="1se", n_repeats=1).fit(X, y).support_.tolist()
    [3, 7]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "cv": ["cv_object"],
        "n_repeats": [Interval(Integral, 1, None, closed="left"), None],
        "rule": [StrOptions({"min", "1se"})],
        "ridge": [Interval(Real, 0, None, closed="left"), "array-like", None],
        "solver": [StrOptions({"frontier", "sbr"})],
        "max_size": [Interval(Integral, 0, None, closed="left"), None],
        "always_include": ["array-like", str, set, None],
        "fit_intercept": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        **UNIT_CONSTRAINTS,
    }

    # If groups are requested, it is by the splitter.
    __metadata_request__fit: ClassVar[dict[str, str]] = {"groups": UNUSED}

    def __init__(
        self,
        *,
        cv: Any = 10,
        n_repeats: int | None = None,
        rule: str = "min",
        ridge: Any = None,
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
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.cv = cv
        self.n_repeats = n_repeats
        self.rule = rule
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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def _error_name(self) -> str:
        return "mean deviance"

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, exposure: Any = None, groups: Any = None
    ) -> L0PoissonRegressorCV:
        """Choose a price by cross-validation and fit on all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            The columns to choose from.
        y : array-like of shape (n,)
            Counts, not negative; they need not be whole.
        sample_weight : array-like of shape (n,), default=None
            Frequency weights, not negative; they count in the fits and in the errors.
        exposure : array-like of shape (n,), default=None
            How long, or how much, each row was counted over, positive; None means 1.
        groups : array-like of shape (n,), default=None
            Passed on to the splitter.

        Returns
        -------
        L0PoissonRegressorCV
            The fitted estimator.
        """
        X, y, sample_weight = check_fit_input(self, X, y, sample_weight)
        offset = log_exposure(exposure, y)
        self._fit_by_folds(X, y, sample_weight, groups, poisson_deviance, offset=offset)
        self._note_dispersion(X, y, sample_weight, offset)
        return self
