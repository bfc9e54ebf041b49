"""l0-regularised logistic regression with a cross-validated price."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

from ellzero._sklearn import UNUSED, Interval, StrOptions, check_classifier_input
from ellzero.likelihood._fitted_cv import CrossValidatedLikelihood
from ellzero.likelihood._l0_classifier import LogisticSelection, weigh_classes
from ellzero.likelihood._scores import CLASSIFIER_SCORES
from ellzero.regression._units import UNIT_CONSTRAINTS

__all__ = ["L0ClassifierCV"]

_ERRORS = {"log_loss": "log loss", "brier": "Brier score", "roc_auc": "1 - area under the ROC"}


class L0ClassifierCV(LogisticSelection, CrossValidatedLikelihood):
    r"""Logistic regression with a price on every variable, chosen by cross-validation.

    Minimises what :class:`ellzero.L0Classifier` does at the ``lam`` whose models predict the rows
    held out best. As a function of ``lam`` the cross-validated error is piecewise constant: it is
    computed on every interval between breakpoints, not on a grid. Prices are compared per unit of
    weight: a fold that trains on the weight W_train out of W uses ``lam W_train / W``.

    Parameters
    ----------
    cv : int, splitter, or iterable of (train, test), default=10
        How to split: a number of folds, which are shuffled and have about the same share of both
        classes (no more folds than the rarer class has rows), or any splitter of scikit-learn.
    n_repeats : int, default=None
        How often a number of folds is made, each time of rows shuffled anew; the curve is the mean
        of these repeats. None means ten. It is for a ``cv`` that is a number.
    rule : {"min", "1se"}, default="min"
        "min" takes the interval of least mean error, "1se" that of largest ``lam`` whose mean error
        is at most one standard error above the least.
    scoring : {"log_loss", "brier", "roc_auc"}, default="log_loss"
        What a fold is judged by on its test rows: the mean negative log-likelihood, the mean
        squared distance of probabilities from 0 and 1, or the area under the ROC. Each is
        computed per fold and then averaged: ranks in one fold can't be compared with those in
        another.
    ridge : float or sequence of floats, default=None
        Ridge penalty, for columns of unit norm: as in :class:`ellzero.L0Classifier`. Of several the
        one with the least error is taken.
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
    class_weight : dict, "balanced" or None, default=None
        What the weights of rows of each class are multiplied by, in fits and in errors.
    n_jobs : int, default=None
        Threads over folds; None means 1. The results don't depend on it.
    random_state : int, RandomState instance or None, default=0
        Shuffles the rows before folding, if ``cv`` is a number; None does so anew for every fit.
    verbose : int, default=0
        If positive, report on standard error how long work is getting on.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The classes; probabilities and coefficients are about the second.
    lam_ : float
        The price: the geometric middle of the interval chosen.
    ridge_ : float
        The ridge chosen.
    coef_ : ndarray of shape (1, p)
        Coefficients of the fit on all rows, in log-odds per unit of the column.
    intercept_ : ndarray of shape (1,)
        Intercept, in log-odds.
    support_ : ndarray of int
        Sorted indices of the columns in the model.
    groups_ : list of str
        The names of the groups in the model, if there are groups, or rules for columns.
    frontier_ : Frontier
        The frontier of all rows at ``ridge_``; with "frontier" only.
    cv_results_ : dict of ndarray
        For every ridge and interval of ``lam``, from large to small: ``ridge``, ``lam_low``,
        ``lam_high``, ``mean_error`` (of AUC, 1 less it) and its standard error ``se_error``,
        ``mean_size``, ``explained`` (1 less the error as a share of that of the share of the second
        class), and ``split<i>_error``, the folds of one repeat after the other.
    n_repeats_ : int
        How many repeats there were.
    objective_, deviance_, null_deviance_ : float
        As of :class:`ellzero.L0Classifier`.
    max_size_ : int
        The largest size that was looked at in the folds.
    certificate_ : Certificate
        What is known about the solution.
    n_features_in_ : int
        Columns seen during fit.
    feature_names_in_ : ndarray of str
        Their names, if X had names that are all strings.

    Examples
    --------
    >>> from ellzero import L0ClassifierCV
    >>> from sklearn.datasets import load_breast_cancer
    >>> cancer = load_breast_cancer(as_frame=True)
    >>> model = L0ClassifierCV(rule="1se", n_repeats=1).fit(cancer.data, cancer.target)
    >>> [str(name) for name in model.get_feature_names_out()]
    ['worst texture', 'worst area', 'worst concave points']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "cv": ["cv_object"],
        "n_repeats": [Interval(Integral, 1, None, closed="left"), None],
        "rule": [StrOptions({"min", "1se"})],
        "scoring": [StrOptions(set(CLASSIFIER_SCORES))],
        "ridge": [Interval(Real, 0, None, closed="left"), "array-like", None],
        "solver": [StrOptions({"frontier", "sbr"})],
        "max_size": [Interval(Integral, 0, None, closed="left"), None],
        "always_include": ["array-like", str, set, None],
        "fit_intercept": ["boolean"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
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
        scoring: str = "log_loss",
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
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.cv = cv
        self.n_repeats = n_repeats
        self.rule = rule
        self.scoring = scoring
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
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def _error_name(self) -> str:
        return _ERRORS[self.scoring]

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> L0ClassifierCV:
        """Choose a price by cross-validation and fit on all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            The columns to choose from.
        y : array-like of shape (n,)
            The class of each row: any two labels.
        sample_weight : array-like of shape (n,), default=None
            Frequency weights, not negative; they count in the fits and in the errors.
        groups : array-like of shape (n,), default=None
            Passed on to the splitter.

        Returns
        -------
        L0ClassifierCV
            The fitted estimator.
        """
        X, y, sample_weight = check_classifier_input(self, X, y, sample_weight)
        weight = weigh_classes(self.class_weight, self.classes_, y, sample_weight)
        score = CLASSIFIER_SCORES[self.scoring]
        self._fit_by_folds(X, y, weight, groups, score, classes=y)
        return self
