"""l0-regularised logistic regression."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ellzero._estimators import SelectingClassifier
from ellzero._sklearn import Interval, StrOptions, check_classifier_input
from ellzero.likelihood._fitted import FittedLikelihood
from ellzero.regression._criteria import CRITERIA
from ellzero.regression._losses import Loss
from ellzero.regression._units import UNIT_CONSTRAINTS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["L0Classifier", "LogisticSelection", "weigh_classes"]


def weigh_classes(
    class_weight: Any, classes: NDArray[Any], y: NDArray[np.float64], weight: Any
) -> NDArray[np.float64] | None:
    """Return the weights of rows, multiplied by those of their classes.

    ``y`` is one for rows of the second class, else zero.
    """
    if class_weight is None:
        return None if weight is None else np.asarray(weight)
    rows: NDArray[np.float64] = np.ones_like(y) if weight is None else weight
    if isinstance(class_weight, str):  # balanced: both weigh as much as all rows' half
        totals = np.array([float(rows @ (1 - y)), float(rows @ y)])
        if not totals.all():
            return rows  # of which check_response has something to say
        factors = 0.5 * float(totals.sum()) / totals
    else:
        unknown = [label for label in class_weight if label not in classes.tolist()]
        if unknown:
            raise ValueError(
                f"class_weight names class {unknown[0]!r}, but the classes are "
                f"{', '.join(map(repr, classes.tolist()))}."
            )
        given = [class_weight.get(label, 1.0) for label in classes.tolist()]
        if not all(isinstance(value, Real) and 0 <= float(value) < math.inf for value in given):
            raise ValueError("class_weight must hold finite numbers from 0.")
        factors = np.array(given, dtype=np.float64)
    weighed = np.ascontiguousarray(rows * factors[y.astype(np.intp)])
    if not weighed.any():
        raise ValueError("class_weight must not be zero for every row.")
    return weighed


class LogisticSelection(SelectingClassifier, FittedLikelihood):
    """What the classifiers have in common."""

    _loss = Loss.LOGISTIC
    _ratio = "odds_ratio"

    def _set_coefficients(self, coef: NDArray[np.float64], intercept: float) -> None:
        self.coef_, self.intercept_ = coef[None, :], np.array([intercept])

    def summary(self) -> pd.DataFrame:
        """Tabulate the chosen variables, the most important first.

        Returns
        -------
        pandas.DataFrame
            Indexed by variable. ``coefficient``: change of the log-odds of ``classes_[1]`` for one
            unit of the variable, and ``odds_ratio``, its exponential: what the odds are multiplied
            by. ``standardised`` and ``odds_ratio_per_sd``: the same for one standard deviation of
            the variable. ``removal_cost``: by how much the negative log-likelihood with its ridge
            penalty would rise without the variable, the others refitted; at the price ``lam_`` the
            variable pays if that is more. ``d2_lost``: the same as a share of that without
            variables.

            Of groups of columns, indexed by group and variable: one row per group, with its ``df``,
            the independent columns that it brought, and its costs; beneath it those of its columns,
            with their coefficients.

        Examples
        --------
        >>> from ellzero import L0Classifier
        >>> from sklearn.datasets import load_breast_cancer
        >>> cancer = load_breast_cancer(as_frame=True)
        >>> model = L0Classifier(size=3).fit(cancer.data, cancer.target)
        >>> table = model.summary()[["coefficient", "odds_ratio", "removal_cost"]]
        >>> print(table.round(3))  # doctest: +NORMALIZE_WHITESPACE
                              coefficient  odds_ratio  removal_cost
        variable
        worst area                 -0.012       0.989        54.614
        worst concave points      -53.720       0.000        41.461
        worst texture              -0.273       0.761        18.989
        """
        return self._summarise()


class L0Classifier(LogisticSelection):
    r"""Logistic regression with a price on every variable used.

    Minimises, over an intercept b0, supports S and coefficients b that vanish outside S,

    .. math:: \sum_i w_i \left[ \log(1 + e^{\eta_i}) - y_i \eta_i \right]
              + \tfrac12\, \mathrm{ridge}\, \|b\|^2 + \mathrm{lam}\, \|b\|_0,
              \qquad \eta = b_0 + Zb

    where y is 1 for the second of two classes, and Z are the columns of X centred and scaled to
    unit l2 norm: ``lam`` and ``ridge`` refer to that scale. The sum is not divided by n, and the
    intercept pays nothing. Coefficients come back in the user's units.

    With ``lam = log((1 - theta) / theta)`` and ``ridge = 1 / sigma_beta^2`` this is the mode of the
    spike-and-slab posterior, as for :class:`ellzero.BernoulliGaussian` with ``sigma_e = 1``.

    Parameters
    ----------
    lam : float or {"bic", "ebic", "ric"}, default="ebic"
        The price of a variable, in units of log-likelihood, from 0 to infinity; or the criterion
        that is minimised over the best models of every size up to ``max_size``: see Notes.
    size : int, default=None
        Take the best model of this many variables instead, those of ``always_include`` counted. It
        needs ``lam`` at its default and the solver "frontier".
    ridge : float, default=None
        Ridge penalty, for columns of unit norm. None means ``1 / (100 n)``: that of a slab with a
        standard deviation of 10 in log-odds per standard deviation of a column. It is so wide that
        it is hardly felt where classes overlap; where they are separated, and the likelihood alone
        has no maximum, it keeps coefficients finite. With 0 such a model is warned of.
    solver : {"frontier", "sbr"}, default="frontier"
        As in :class:`ellzero.L0Regressor`.
    max_size : int, default=None
        The largest support considered. None means 40 variables beyond those of ``always_include``;
        for a criterion 40 or ``n / (log p log log n)``, whichever is less.
    always_include : sequence of names, integers, or mask, default=None
        Columns that are in every support: they don't pay ``lam`` but count towards the size.
    feature_groups : sequence of labels, or mapping, default=None
        Columns that enter and leave together, such as the dummies of a factor: a label for each
        column (None for a column by itself), or a mapping from the name of a group to its columns;
        columns not named are by themselves. Which level of a factor is left out, and the order
        of columns, change no fit: the ridge is one on ``|Z_g b_g|^2``, which of a column of unit
        norm is ``b^2``. Sizes and ``lam`` count groups.
    size_in : {"groups", "columns"}, default="groups"
        Whether sizes and ``lam`` count groups or the columns that entered.
    heredity : {"strong", "weak"}, default=None
        Strong: no product without all its parents; weak: without one of them. Products are known by
        their names, ``a:b``, ``a b`` and ``a^2``, or by ``parents``.
    parents : mapping, default=None
        From a product to the names of its parents, columns or groups.
    penalty_factor : sequence of floats, or mapping, default=None
        What ``lam`` is multiplied by for each group (or column, without groups): positive.
    positive : bool, sequence of names, integers or mask, or mapping, default=None
        Columns whose coefficients may not be negative: True for all; or a mapping from columns to 1
        or -1. A support is a model if its own fit has these signs: nothing is clipped.
    at_most : mapping, default=None
        From the name of a group to how many of its columns may be in; they enter one by one.
    fit_intercept : bool, default=True
        Whether to fit an intercept, and to centre the columns.
    class_weight : dict, "balanced" or None, default=None
        What the weights of rows of each class are multiplied by; "balanced" makes the classes weigh
        the same.
    verbose : int, default=0
        If positive, report on standard error how long work is getting on.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The classes; probabilities and coefficients are about the second.
    coef_ : ndarray of shape (1, p)
        Coefficients, in log-odds per unit of the column.
    intercept_ : ndarray of shape (1,)
        Intercept, in log-odds.
    support_ : ndarray of int
        Sorted indices of the columns in the model.
    groups_ : list of str
        The names of the groups in the model, if there are groups, or rules for columns.
    lam_ : float
        The price used. For a criterion or a size: the geometric middle of the interval of ``lam``
        in which the chosen model is the solution; NaN if it is the solution at no price.
    ridge_ : float
        The ridge used.
    objective_ : float
        Value of the objective above; its first two terms alone if the size was given or ``lam_`` is
        NaN.
    deviance_, null_deviance_ : float
        Twice the negative log-likelihood, of the model and of the intercept alone.
    n_iter_ : int
        Supports whose neighbours were tried; for SBR, insertions and removals made.
    certificate_ : Certificate
        What is known about the solution.
    n_features_in_ : int
        Columns seen during fit.
    feature_names_in_ : ndarray of str
        Their names, if X had names that are all strings.

    Notes
    -----
    ``sample_weight`` are frequency weights: a row of weight 2 is the row twice.

    With NLL the negative log-likelihood of the fit without its penalty, n the sum of the weights, p
    columns, k variables and f of them always included, ``BIC(k) = 2 NLL_k + k log n`` and
    ``RIC(k) = 2 NLL_k + 2 k log p``. EBIC is

    .. math:: 2\, \mathrm{NLL}_k + f \log n + (1 + 2 r^3) \left[ (k - f) \log n
              + 2 \log \binom{p - f}{\min(k - f, \lfloor (p - f)/2 \rfloor)} \right],

    .. math:: r = \frac{k + 2}{m - k - 2},

    with m the weight of the rarer class: where few rows are of it, few tell, and the price of a
    variable rises. See :class:`ellzero.L0Regressor` for the rest. Of groups, every independent
    column costs ``log n``, and k stands for these in r; what EBIC adds for the choice is counted in
    sets of groups.

    Examples
    --------
    Thirty measurements of tumours, many of which tell the same:

    >>> from ellzero import L0Classifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> cancer = load_breast_cancer(as_frame=True)
    >>> model = L0Classifier().fit(cancer.data, cancer.target)
    >>> [str(name) for name in model.get_feature_names_out()]  # doctest: +NORMALIZE_WHITESPACE
    ['radius error', 'worst texture', 'worst area', 'worst smoothness', 'worst concave points']
    >>> round(model.score(cancer.data, cancer.target), 3)
    0.972

    A factor enters whole, and its coding changes nothing:

    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> town = rng.integers(0, 4, size=300)
    >>> X = pd.get_dummies(pd.Series(town, dtype=str), prefix="town", dtype=float)
    >>> X["age"], X["noise"] = rng.normal(size=(2, 300))
    >>> y = rng.random(300) < 1 / (1 + np.exp(-np.array([0, 2, -1, 1])[town] - X["age"]))
    >>> towns = [name for name in X if name.startswith("town")]
    >>> L0Classifier(feature_groups={"town": towns}).fit(X, y).groups_
    ['town', 'age']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "lam": [Interval(Real, 0, math.inf, closed="both"), StrOptions(set(CRITERIA))],
        "size": [Interval(Integral, 0, None, closed="left"), None],
        "ridge": [Interval(Real, 0, None, closed="left"), None],
        "solver": [StrOptions({"frontier", "sbr"})],
        "max_size": [Interval(Integral, 0, None, closed="left"), None],
        "always_include": ["array-like", str, set, None],
        "fit_intercept": ["boolean"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
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
        class_weight: Any = None,
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
        self.class_weight = class_weight
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> L0Classifier:
        """Choose variables and fit their coefficients.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            The columns to choose from.
        y : array-like of shape (n,)
            The class of each row: any two labels.
        sample_weight : array-like of shape (n,), default=None
            Frequency weights, not negative.

        Returns
        -------
        L0Classifier
            The fitted estimator.
        """
        X, y, sample_weight = check_classifier_input(self, X, y, sample_weight)
        weight = weigh_classes(self.class_weight, self.classes_, y, sample_weight)
        self._fit(X, y, weight)
        return self
