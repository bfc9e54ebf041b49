"""l0-regularised least squares."""

from __future__ import annotations

import math
import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ellzero._columns import resolve_columns
from ellzero._progress import progress_printer
from ellzero._sklearn import Interval, StrOptions, check_fit_input
from ellzero.proof._certify import line_printer
from ellzero.regression._criteria import CRITERIA
from ellzero.regression._fitted import FittedSelection
from ellzero.regression._problem import largest_size, make_problem, to_float
from ellzero.regression._removal import lost_of
from ellzero.regression._searches import Effort, check_size, search_for
from ellzero.regression._structured import (
    GroupData,
    check_group_parameters,
    choose_groups,
    make_search,
    warn_of,
)
from ellzero.regression._units import UNIT_CONSTRAINTS, Units, resolve_units, structure_of
from ellzero.sources._statistics import warn_of_digits

__all__ = ["L0Regressor"]


class L0Regressor(FittedSelection):
    r"""Least squares with a price on every variable used.

    Minimises, over supports S and coefficients b that vanish outside S,

    .. math:: \tfrac12 \|y - Xb\|^2 + \tfrac12\, \mathrm{ridge}\, \|b\|^2
              + \mathrm{lam}\, \|b\|_0

    where y and the columns of X are centred if there is an intercept, and the columns of X are
    scaled to unit l2 norm: ``lam`` and ``ridge`` refer to that scale (with ``ridge=0`` the scaling
    of columns changes nothing). The loss is not divided by n. Coefficients come back in the user's
    units.

    With ``lam = sigma_e^2 log((1 - theta) / theta)`` and ``ridge = sigma_e^2 / sigma_beta^2`` this
    is the mode of the spike-and-slab posterior: see :class:`ellzero.BernoulliGaussian`.

    Parameters
    ----------
    lam : float or {"bic", "ebic", "ric"}, default="ebic"
        The price of a variable, in squared units of y, from 0 to infinity; or the criterion that is
        minimised over the best models of every size up to ``max_size``. EBIC keeps a variable if
        the evidence for it is strong: see Notes. If models fit y exactly, EBIC takes the smallest
        of them; BIC and RIC leave them out, and say so. A model with more variables than half the
        rows is warned of: criteria can't be trusted there.
    size : int, default=None
        Take the best model of this many variables instead, those of ``always_include`` counted. It
        needs ``lam`` at its default and the solver "frontier" or "exact".
    ridge : float, default=0.0
        Ridge penalty, for columns of unit norm.
    solver : {"frontier", "exact", "sbr"}, default="frontier"
        "frontier" finds the best support it can of every size, up to ten sizes beyond the solution
        (up to ``max_size`` for a criterion): no insertion, removal or swap of a variable improves
        any of them. See :func:`ellzero.l0_frontier`. "sbr" is single best replacement, the paper's
        algorithm: insert or remove the one variable that lowers the objective most, until none
        does. It is several times faster and ends in a worse optimum more often. "exact" goes on
        from the frontier with branch and bound: ``certificate_`` says whether nothing better
        exists, or by how much it could be. For a criterion the best model of every size is proved.
    gap : float, default=0.0
        For the exact solver: the share of the objective that a better model may be better by.
    time_limit : float, default=60.0
        For the exact solver, in seconds; then the best model so far is taken.
    start : sequence of names, integers, or mask, default=None
        The support that SBR starts from, for a number ``lam``. Columns that depend linearly on
        those before them are left out.
    max_size : int, default=None
        The largest support considered. None means 40 variables beyond those of ``always_include``
        and ``start``; for a criterion 40 or ``n / (log p log log n)``, whichever is less, since
        beyond that some model of noise looks good to it. A model that is stopped by it is warned
        of.
    always_include : sequence of names, integers, or mask, default=None
        Columns that are in every support: they don't pay ``lam`` but count towards the size.
    feature_groups : sequence of labels, or mapping, default=None
        Columns that enter and leave together, such as the dummies of a factor: a label for each
        column (None for a column by itself), or a mapping from the name of a group to its columns;
        columns not named are by themselves. Which level of a factor is left out, and the order
        of columns, change no fit: the ridge is one on ``|X_g b_g|^2``, which of a column of unit
        norm is ``b^2``. Sizes and ``lam`` count groups.
    size_in : {"groups", "columns"}, default="groups"
        Whether sizes and ``lam`` count groups or the independent columns that entered.
    heredity : {"strong", "weak"}, default=None
        Strong: no product without all its parents; weak: without one of them. A product enters
        with the parents it lacks, and a parent leaves with what needs it. Products are known by
        their names, ``a:b``, ``a b`` and ``a^2``, or by ``parents``.
    parents : mapping, default=None
        From a product to the names of its parents, columns or groups.
    penalty_factor : sequence of floats, or mapping, default=None
        What ``lam`` is multiplied by for each group (or column, without groups): positive.
    positive : bool, sequence of names, integers or mask, or mapping, default=None
        Columns whose coefficients may not be negative: True for all; or a mapping from columns to 1
        or -1. A support is a model if its own least squares has these signs: nothing is clipped.
    at_most : mapping, default=None
        From the name of a group to how many of its columns may be in; they enter one by one.
    fit_intercept : bool, default=True
        Whether to centre y and the columns of X and to fit an intercept.
    verbose : int, default=0
        If positive, report on standard error how long work is getting on.

    Attributes
    ----------
    coef_ : ndarray of shape (p,)
        Coefficients, in units of y per unit of the column.
    intercept_ : float
        Intercept, in units of y.
    support_ : ndarray of int
        Sorted indices of the columns in the model.
    groups_ : list of str
        The names of the groups in the model, if there are groups, or rules for columns.
    lam_ : float
        The price used. For a criterion or a size: the geometric middle of the interval of ``lam``
        in which the chosen model is the solution, or SBR stops there (twice its lower end if it has
        no upper end, half its upper end if it reaches down to zero); NaN if it is the solution at
        no price.
    objective_ : float
        Value of the objective above, in squared units of y; its first two terms alone if the size
        was given or ``lam_`` is NaN.
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

    With n the sum of the weights, p columns, k variables and f of them always included,
    ``BIC(k) = n log(RSS_k / n) + k log n`` and ``RIC(k) = n log(RSS_k / n) + 2 k log p``. EBIC is

    .. math:: n \log\frac{\mathrm{RSS}_k}{n} + f \log n + (1 + 2 r^3) \left[ (k - f) \log n
              + 2 \log \binom{p - f}{\min(k - f, \lfloor (p - f)/2 \rfloor)} \right],

    .. math:: r = \frac{k + 2}{n - k - 2},

    which is that of Chen and Chen (2008) with two repairs. Theirs charges less again for models of
    more than half the columns; and where rows are few for what is estimated, k coefficients, the
    intercept and the variance, r tells how few, and the price rises. With a hundred rows and ten
    variables that is by half a percent. In pure noise of 8 to 40 rows and 3 to 20 columns, theirs
    takes up to 2.2 variables on average, and this less than 0.3. Its price is no longer concave in
    k, so its least value may lie off the convex hull of the energies, at a model that is the
    solution at no ``lam``; so may that of any criterion with a ridge, or beside exact fits.

    Of groups, every independent column that entered costs ``log n``, and the choice is among sets
    of groups: k and f count groups in the binomial coefficient, and columns elsewhere. The least
    value need not lie at a model that is the best of its number of groups, so the best of each
    number of columns are looked at too.

    Standard errors computed as if the chosen variables had been fixed beforehand are not valid.

    Examples
    --------
    The paper's diabetes example: 64 columns, of which its algorithm keeps eight.

    >>> from ellzero import L0Regressor
    >>> from ellzero.datasets import load_diabetes_interactions
    >>> diabetes = load_diabetes_interactions()
    >>> model = L0Regressor(lam=5_000, solver="sbr").fit(diabetes.data, diabetes.target)
    >>> [str(name) for name in model.get_feature_names_out()]
    ['sex', 'bmi', 'map', 'hdl', 'ltg', 'glu^2', 'age:sex', 'bmi:map']

    At the same price the frontier finds a better model, with three more that pay only together.

    >>> better = L0Regressor(lam=5_000).fit(diabetes.data, diabetes.target)
    >>> [str(diabetes.feature_names[j]) for j in sorted({*better.support_} - {*model.support_})]
    ['tc', 'ldl', 'ltg^2']
    >>> round(model.objective_), round(better.objective_)
    (642968, 635658)
    >>> print(better.certificate_)
    no insertion, removal or swap improves it

    Nor does anything else, as is proved in a second.

    >>> best = L0Regressor(lam=5_000, solver="exact").fit(diabetes.data, diabetes.target)
    >>> best.certificate_.proved, (best.support_ == better.support_).all()
    (True, np.True_)

    A factor of four levels is one variable, whichever level is left out.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> level = rng.integers(0, 4, size=200)
    >>> X = np.column_stack([level == 1, level == 2, level == 3, rng.normal(size=(200, 2))])
    >>> y = np.array([0.0, 1.0, 2.0, 0.5])[level] + 0.5 * rng.normal(size=200)
    >>> factor = L0Regressor(feature_groups={"level": [0, 1, 2]}).fit(X, y)
    >>> factor.groups_
    ['level']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "lam": [Interval(Real, 0, math.inf, closed="both"), StrOptions(set(CRITERIA))],
        "size": [Interval(Integral, 0, None, closed="left"), None],
        "ridge": [Interval(Real, 0, None, closed="left")],
        "solver": [StrOptions({"frontier", "exact", "sbr"})],
        "gap": [Interval(Real, 0, 1, closed="left")],
        "time_limit": [Interval(Real, 0, math.inf, closed="both")],
        "start": ["array-like", str, set, None],
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
        ridge: float = 0.0,
        solver: str = "frontier",
        gap: float = 0.0,
        time_limit: float = 60.0,
        start: Any = None,
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
        self.gap = gap
        self.time_limit = time_limit
        self.start = start
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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> L0Regressor:
        """Choose variables and fit their coefficients.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            The columns to choose from. Arrays of floats are not copied, whatever their layout, and
            sparse input is not made dense; float32 is kept and summed in float64. Or
            :class:`ellzero.SufficientStatistics` of rows that are too many, with ``y=None``; arrays
            of Dask, h5py and zarr and memory-mapped files are read a stretch at a time. Or a
            :class:`ellzero.sources.ColumnSource`, which such arrays with more than 4,000 columns
            are read as, or :class:`ellzero.Genotypes`.
        y : array-like of shape (n,)
            The response.
        sample_weight : array-like of shape (n,), default=None
            Frequency weights, not negative.

        Returns
        -------
        L0Regressor
            The fitted estimator.
        """
        X, y, sample_weight = check_fit_input(self, X, y, sample_weight, statistics=True)
        n_columns = X.shape[1]
        names = getattr(self, "feature_names_in_", None)
        structure, units = structure_of(self), None
        if not structure.is_plain:
            units = resolve_units(structure, self.always_include, n_columns, names)
            if not units.is_plain:
                return self._fit_groups(
                    units, GroupData(X, y, sample_weight, self.fit_intercept, names)
                )
            forced = units.home.argsort()[units.forced_units]
        else:
            forced = resolve_columns("always_include", self.always_include, n_columns, names)
        start = resolve_columns("start", self.start, n_columns, names)
        self._check_start(start)
        if self.size is not None:
            check_size(self.lam, int(self.size), self.solver, self.max_size, forced.size, n_columns)
        fixed = np.concatenate([forced, start])
        largest = largest_size(self.max_size, fixed, n_columns)  # or an error, before any work
        if self.size is not None:
            largest = int(self.size)
        elif self.solver == "sbr" or not isinstance(self.lam, str):
            largest = 0  # how far a price goes is not known before

        problem = make_problem(
            X,
            y,
            sample_weight,
            fit_intercept=self.fit_intercept,
            ridge=self.ridge,
            forced=forced,
            names=names,
            progress=progress_printer("L0Regressor", self.verbose),
            largest=largest,
        )
        effort = None
        if self.solver == "exact":
            report = line_printer("L0Regressor", self.verbose)
            limit = to_float("time_limit", self.time_limit)
            effort = Effort(to_float("gap", self.gap), limit, report)
        search = search_for(problem, self.lam, self.size, self.solver, self.max_size, start, effort)
        priced = self.size is None and not math.isnan(search.lam)
        solution = problem.engine.solution()
        lost = lost_of(problem, solution.support)
        self._store(solution, problem.design, forced, search.lam, priced=priced, lost=lost)
        warn_of_digits("L0Regressor", X, solution.rss, problem.design.yy)
        if units is not None:
            self._speak_of_groups(units)
        self.n_iter_ = search.n_iter
        self.certificate_ = search.certificate.with_objective(self.objective_)
        if search.warning:
            warnings.warn(search.warning, search.category, stacklevel=2)
        return self

    def _fit_groups(self, units: Units, data: GroupData) -> L0Regressor:
        check_group_parameters(self.solver, self.lam, self.size)
        if self.start is not None:
            raise ValueError('start needs solver="sbr": the frontier has its own start.')
        ridge, progress = (
            to_float("ridge", self.ridge),
            progress_printer("L0Regressor", self.verbose),
        )
        search = make_search(data, units, ridge, progress=progress)
        lam = self.lam if isinstance(self.lam, str) else to_float("lam", self.lam)
        choice = choose_groups(search, lam=lam, size=self.size, max_size=self.max_size)
        priced = self.size is None and not math.isnan(choice.lam)
        self._store_groups(choice.model, search, choice.lam, priced=priced)
        self.n_iter_ = search.tried
        self.certificate_ = choice.certificate.with_objective(self.objective_)
        warn_of(choice)
        return self

    def _check_start(self, start: NDArray[np.int64]) -> None:
        if start.size and self.solver != "sbr":
            raise ValueError('start needs solver="sbr": the frontier has its own start.')
        if start.size and isinstance(self.lam, str):
            raise ValueError(
                f"start needs a number for lam: the path of lam={self.lam!r} has its own start."
            )
