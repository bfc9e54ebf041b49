"""l0-regularised least squares with a cross-validated price."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ellzero._columns import resolve_columns
from ellzero._engine import thread_count
from ellzero._progress import progress_printer
from ellzero._sklearn import (
    UNUSED,
    Interval,
    StrOptions,
    check_fit_input,
    routed_to_splitter,
)
from ellzero._splits import (
    Split,
    compact_splits,
    make_splitter,
    repeats_among,
    splitter_routing,
)
from ellzero.regression._cross_validation import (
    CV_RIDGES,
    DEFAULT_REPEATS,
    CrossValidation,
    far_beyond,
)
from ellzero.regression._cv_curve import Curve
from ellzero.regression._fitted import FittedSelection
from ellzero.regression._fold_data import Data
from ellzero.regression._folds import RepeatedFolds
from ellzero.regression._frontier import Frontier
from ellzero.regression._group_cv import GroupCrossValidation
from ellzero.regression._group_folds import GroupFolds
from ellzero.regression._group_frontier import GroupFrontier
from ellzero.regression._problem import (
    DEFAULT_MAX_SIZE,
    check_ridges,
    largest_size,
    make_problem_on,
)
from ellzero.regression._removal import lost_of
from ellzero.regression._room import check_memory
from ellzero.regression._statistics_folds import folds_of_statistics
from ellzero.regression._structured import (
    GroupData,
    check_group_parameters,
    choose_groups,
    make_search,
)
from ellzero.regression._units import UNIT_CONSTRAINTS, Units, resolve_units, structure_of
from ellzero.sources import ColumnSource, SufficientStatistics
from ellzero.sources._statistics import warn_of_digits

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["L0RegressorCV", "count_repeats"]


class L0RegressorCV(FittedSelection):
    r"""Least squares with a price on every variable, chosen by cross-validation.

    Minimises what :class:`ellzero.L0Regressor` does,

    .. math:: \tfrac12 \|y - Xb\|^2 + \tfrac12\, \mathrm{ridge}\, \|b\|^2
              + \mathrm{lam}\, \|b\|_0

    at the ``lam`` whose models predict the rows held out best. As a function of ``lam`` the
    cross-validated error is piecewise constant: it is computed on every interval between
    breakpoints, not on a grid. Prices are compared per unit of weight: a fold that trains on the
    weight W_train out of W uses ``lam W_train / W``. Centring and scaling are learned inside each
    fold.

    With "frontier", the folds are searched by insertions and removals alone, as ``l0_frontier(...,
    swaps=False)`` does; swaps and walks are for the fit on all rows.

    Parameters
    ----------
    cv : int, splitter, or iterable of (train, test), default=10
        How to split: a number of folds, which are shuffled, or any splitter of scikit-learn.
    n_repeats : int, default=None
        How often a number of folds is made, each time of rows shuffled anew; the curve is the mean
        of these repeats. Time grows with them: the default of ten takes about ten times as long as
        one. It is for a ``cv`` that is a number; the folds of a splitter are taken as they are, and
        those of scikit-learn's ``RepeatedKFold`` are repeats too.
        None means one repeat on a :class:`ellzero.sources.ColumnSource`, where passes are dear.
    rule : {"min", "1se"}, default="min"
        "min" takes the interval of least mean error, "1se" that of largest ``lam`` whose mean error
        is at most one standard error above the least. Of several ridges, "min" takes the pair of
        least error (see ``ridge="cv"`` for its caution there); "1se" takes the largest ``lam`` of
        each ridge that is so near to that pair, and of those that have about the fewest variables,
        to half a variable, the one of least error.
    ridge : float, sequence of floats, or "cv", default=0.0
        Ridge penalty, for columns of unit norm, so it depends neither on the number of rows nor on
        the units of y, and is not rescaled between folds. Of several the one with the least error
        is taken. "cv" chooses how much to shrink too: see Notes. It takes three to five times as
        long, and predicts better where the signal is weak.
    solver : {"frontier", "sbr"}, default="frontier"
        As in :class:`ellzero.L0Regressor`; in the folds "frontier" does without swaps.
    max_size : int, default=None
        The largest support considered. None goes on until the error of every fold has long been
        rising: twice as far as its least, and ten sizes more (but not beyond half the rows, if
        those are more than 80).
    always_include : sequence of names, integers, or mask, default=None
        Columns that are in every support: they don't pay ``lam`` but count towards the size.
    feature_groups, size_in, heredity, parents, penalty_factor, positive, at_most
        Groups of columns, heredity, factors of the price, signs and limits, as of
        :class:`ellzero.L0Regressor`. Every fold is then searched by itself; ``nested`` is for
        single columns only.
    fit_intercept : bool, default=True
        Whether to centre y and the columns of X and to fit an intercept.
    n_jobs : int, default=None
        Threads over folds; None means 1. The results don't depend on it. Folds of little work
        stay in one thread, which is quicker.
    random_state : int, RandomState instance or None, default=0
        Shuffles the rows before folding, if ``cv`` is a number; None does so anew for every fit.
        The first repeat is ``KFold(cv, shuffle=True, random_state=random_state)``.
    nested : bool, default=False
        Whether to estimate the error of the whole procedure too: see ``nested_score_``.
    memory : float or str, default=None
        What means, scales and products of columns may take, in bytes or as ``"2GB"``, with
        one ridge: products that do not fit are made again when they are asked for, and folds are
        searched some at a time, to the same bits whatever the bound. X itself is not counted, nor
        a copy of its rows by fold if it is in memory. There is room for models of up to
        ``max_size`` variables, 40 if that is None; larger ones take more. None means 1 GB for
        products, and what the models take beyond that, in the way that is quickest: results may
        differ by rounding from those with a bound.
    verbose : int, default=0
        If positive, report on standard error how long work is getting on.

    Attributes
    ----------
    lam_ : float
        The price: the geometric middle of the interval chosen.
    ridge_ : float
        The ridge chosen.
    rescaling_ : float
        What the coefficients of the solution at ``ridge_`` are multiplied by: 1, but with
        ``ridge="cv"``.
    coef_ : ndarray of shape (p,)
        Coefficients of the fit on all rows, in units of y per unit of the column.
    intercept_ : float
        Intercept, in units of y.
    support_ : ndarray of int
        Sorted indices of the columns in the model.
    frontier_ : Frontier
        The frontier of all rows at ``ridge_``, rescaled by ``rescaling_``; with "frontier" only.
    cv_results_ : dict of ndarray
        For every ridge and interval of ``lam``, from large to small: ``ridge``, ``lam_low``,
        ``lam_high``, ``mean_error`` (mean squared error on rows held out, folds counting by their
        weight) and its standard error ``se_error``, ``saved`` (how much less that is than the error
        without variables) and its standard error ``se_saved``, ``mean_size``, ``rescaling``,
        ``r2``, and ``split<i>_error``, the folds of one repeat after the other. Repeats judge by
        the same rows, so the standard error is that of one repeat: the mean of theirs. With
        ``ridge="cv"``, ridges that are far behind after the first repeat are not repeated, nor
        chosen: their further splits are NaN.
    n_repeats_ : int
        How many repeats there were.
    objective_ : float
        Value of the objective above, in squared units of y, at ``coef_ / rescaling_``.
    max_size_ : int
        The largest size that was looked at in the folds.
    certificate_ : Certificate
        What is known about the solution.
    nested_score_ : float
        With ``nested=True``: mean squared error on rows that neither the fit nor the choice of
        ``lam`` has seen: each fold's test rows, predicted by the same procedure on its training
        rows with the other folds of the same repeat. With several repeats it is the mean of theirs,
        that of a choice by one repeat, then. The least of the curve is lower, since it was chosen
        for that.
    n_features_in_ : int
        Columns seen during fit.
    feature_names_in_ : ndarray of str
        Their names, if X had names that are all strings.

    Notes
    -----
    Standard errors computed as if the chosen variables had been fixed beforehand are not valid.

    A ridge does two things. It divides coefficients, those of uncorrelated columns by
    ``1 + ridge``; and it makes less of the correlations between columns, as if each were divided by
    ``1 + ridge``, which makes the choice of variables steadier. How much of either is best differs,
    so ``ridge="cv"`` chooses them apart: for each of 12 ridges, 0 and 0.003 to 50, and each
    interval of ``lam``, coefficients are multiplied by the factor between 1 and ``1 + ridge`` that
    is best on the rows held out. The result minimises, with s that factor and for centred columns
    of unit norm,

    .. math:: \tfrac{1}{2s} \left( \|Xb\|^2 + \mathrm{ridge}\, \|b\|^2 \right) - y'Xb
              + s\, \mathrm{lam}\, \|b\|_0

    The least of so many errors is often a lucky one. So "min" then takes the least of
    ``mean_error + se_saved**2 / saved``, which prefers the simpler of equals: what is saved over
    the model without variables does not count if it is a standard error, and nearly all of it does
    if it is many.

    Examples
    --------
    >>> from ellzero import L0RegressorCV
    >>> from ellzero.datasets import load_diabetes_interactions
    >>> diabetes = load_diabetes_interactions()
    >>> model = L0RegressorCV(rule="1se").fit(diabetes.data, diabetes.target)
    >>> [str(name) for name in model.get_feature_names_out()]
    ['sex', 'bmi', 'map', 'hdl', 'ltg', 'age:sex', 'bmi:map']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "cv": ["cv_object"],
        "n_repeats": [Interval(Integral, 1, None, closed="left"), None],
        "rule": [StrOptions({"min", "1se"})],
        "ridge": [Interval(Real, 0, None, closed="left"), StrOptions({"cv"}), "array-like"],
        "solver": [StrOptions({"frontier", "sbr"})],
        "max_size": [Interval(Integral, 0, None, closed="left"), None],
        "always_include": ["array-like", str, set, None],
        "fit_intercept": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "nested": ["boolean"],
        "memory": [Interval(Real, 0, None, closed="neither"), str, None],
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
        ridge: Any = 0.0,
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
        nested: bool = False,
        memory: float | str | None = None,
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
        self.nested = nested
        self.memory = memory
        self.verbose = verbose

    def get_metadata_routing(self) -> Any:
        """Return the routing: ``groups`` go to the splitter, if it asks for them.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRouter
            The routing.
        """
        return splitter_routing(self, make_splitter(self.cv, self.random_state))

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> L0RegressorCV:
        """Choose a price by cross-validation and fit on all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            The columns to choose from. Or :class:`ellzero.SufficientStatistics` with folds, which
            are then the folds, with ``y=None``; arrays of Dask, h5py and zarr and memory-mapped
            files are read a stretch at a time, into ``cv`` folds that are not repeated. Or a
            :class:`ellzero.sources.ColumnSource`, which arrays on disk with more than 4,000 columns
            are read as, or :class:`ellzero.Genotypes`.
        y : array-like of shape (n,)
            The response.
        sample_weight : array-like of shape (n,), default=None
            Frequency weights, not negative; they count in the fits and in the errors.
        groups : array-like of shape (n,), default=None
            Passed on to the splitter.

        Returns
        -------
        L0RegressorCV
            The fitted estimator.
        """
        streamed = self.cv if isinstance(self.cv, Integral) else 10
        X, y, sample_weight = check_fit_input(
            self,
            X,
            y,
            sample_weight,
            statistics=True,
            folds=int(streamed),
            random_state=self.random_state,
        )
        names = getattr(self, "feature_names_in_", None)
        structure = structure_of(self)
        units = None
        if structure.is_plain:
            forced = resolve_columns("always_include", self.always_include, X.shape[1], names)
            largest_size(self.max_size, forced, X.shape[1])  # or an error, before any work
        else:
            units = resolve_units(structure, self.always_include, X.shape[1], names)
            self._check_groups()
            if isinstance(X, ColumnSource):
                raise TypeError(
                    "L0RegressorCV over groups, or under rules, needs the rows of X in memory, not "
                    f"a {type(X).__name__}."
                )
        chosen = isinstance(self.ridge, str)
        ridges = list(CV_RIDGES) if chosen else sorted(set(check_ridges(self.ridge)))
        repeats = self._repeats(X, y, sample_weight, groups)
        n_repeats = len(repeats)
        if units is not None:
            data_of_groups = GroupData(X, y, sample_weight, self.fit_intercept, names)
            return self._fit_groups(data_of_groups, units, ridges, repeats)
        whole = repeats.whole
        progress = progress_printer("L0RegressorCV", self.verbose)
        for name in ("frontier_", "nested_score_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        procedure = CrossValidation(
            self.solver,
            ridges,
            forced,
            self.max_size,
            effective_n_jobs(self.n_jobs),
            progress,
            rescales=chosen,
        )
        choice = procedure.choose(repeats)
        mark = choice.marks[self.rule]
        least = min(float(curve.mean_error.min()) for curve in choice.curves)
        warn_of_digits("L0RegressorCV", X, least, whole.yy / whole.weight)
        self.n_repeats_, self.max_size_ = n_repeats, choice.max_size
        self.ridge_, self.rescaling_, self._marks = mark.ridge, mark.rescaling, choice.marks
        self.cv_results_ = _tabulate(ridges, choice.curves, whole.yy / whole.weight)

        problem = make_problem_on(whole, self.ridge_, forced, names, progress, thread_count())
        problem = problem._replace(intercept=self.fit_intercept)
        growing, certificate = procedure.solve(problem, mark.lam)
        solution = problem.engine.solution()
        lost = lost_of(problem, solution.support, self.rescaling_)
        self._store(solution, whole, forced, mark.lam, rescaling=self.rescaling_, lost=lost)
        if growing is not None:
            self.frontier_ = Frontier(growing, self.rescaling_)
        certificate = certificate.with_least_error(self.rule, self.max_size_, "lam_")
        self.certificate_ = certificate.with_objective(self.objective_)
        # It is not known what larger models would do; max_size=None would have looked this far.
        far, more = far_beyond(mark.size, forced.size), choice.curve(self.rule).lam_low[-1] > 0
        if self.max_size is not None and more and self.max_size <= far:
            warnings.warn(
                f"L0RegressorCV: max_size={self.max_size} is not far beyond the "
                f"{mark.size:.1f} variables that the folds chose on average; a "
                "larger one may give a better model.",
                ConvergenceWarning,
                stacklevel=2,
            )
        if self.nested:
            self.nested_score_ = procedure.nested_error(repeats, self.rule)
        return self

    def _repeats(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Any:
        """Return the folds of every repeat; those of statistics are what these keep apart."""
        if isinstance(X, SufficientStatistics):
            if groups is not None:
                raise ValueError("groups must be None: statistics have folds of their own.")
            return folds_of_statistics(X, self.fit_intercept, self.cv, self.n_repeats)
        of_source = isinstance(X, ColumnSource)
        asked = 1 if of_source and self.n_repeats is None else self.n_repeats
        n_repeats = count_repeats(asked, self.cv)
        splitter = make_splitter(self.cv, self.random_state, n_repeats)
        routed = routed_to_splitter(self, sample_weight, groups)
        splits = compact_splits(splitter, np.zeros((len(y), 1)) if of_source else X, y, **routed)
        if n_repeats == 1:
            n_repeats = repeats_among([split.test for split in splits], len(y))
        if sample_weight is not None:
            _check_weights(sample_weight, splits)
        rows = X.tocsr() if sparse.issparse(X) else X
        data = Data(rows, y, sample_weight, self.fit_intercept, thread_count())
        memory = check_memory(self.memory)
        if memory is not None:
            if isinstance(self.ridge, str) or len(check_ridges(self.ridge)) > 1:
                raise ValueError("memory is for one ridge: searches with several help each other.")
            largest = DEFAULT_MAX_SIZE if self.max_size is None else int(self.max_size)
            data = data._replace(memory=memory, largest=largest)
        n_folds = len(splits) // n_repeats
        return RepeatedFolds(
            data, [splits[first : first + n_folds] for first in range(0, len(splits), n_folds)]
        )

    def _check_groups(self) -> None:
        check_group_parameters(self.solver)
        if self.nested:
            raise ValueError("nested=True knows single columns only: not groups or rules.")

    def _fit_groups(
        self,
        data: GroupData,
        units: Units,
        ridges: list[float],
        made: Any,
    ) -> L0RegressorCV:
        progress = progress_printer("L0RegressorCV", self.verbose)
        for name in ("frontier_", "nested_score_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        workers = effective_n_jobs(self.n_jobs)
        rescales = isinstance(self.ridge, str)
        how = GroupCrossValidation(units, ridges, self.max_size, workers, progress, rescales)
        folds = GroupFolds(made, rescales=rescales)
        choice = how.choose(folds, made[0].error_scale)
        mark = choice.marks[self.rule]
        search = make_search(data, units, mark.ridge, progress=progress)
        size = search.largest if self.max_size is None else self.max_size
        found = choose_groups(search, lam=mark.lam, size=None, max_size=size)
        self.n_repeats_, self.max_size_ = len(made), choice.max_size
        self.ridge_, self.rescaling_, self._marks = mark.ridge, mark.rescaling, choice.marks
        whole = search.design
        self.cv_results_ = _tabulate(ridges, choice.curves, whole.yy / whole.weight)
        self._store_groups(found.model, search, mark.lam, self.rescaling_, priced=True)
        self.frontier_ = GroupFrontier(search, data.names, self.rescaling_)
        certificate = found.certificate.with_least_error(self.rule, self.max_size_, "lam_")
        self.certificate_ = certificate.with_objective(self.objective_)
        return self

    def summary(self) -> pd.DataFrame:
        """Tabulate the chosen variables, the most important first.

        Standard errors computed as if these variables had been fixed beforehand are not valid:
        ``attrs["note"]`` says so.

        Returns
        -------
        pandas.DataFrame
            As of :meth:`ellzero.L0Regressor.summary`.
        """
        table = super().summary()
        table.attrs["note"] = (
            "Classical standard errors and p-values are not valid after selection of variables."
        )
        return table

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the cross-validated error against ``lam``, both rules marked.

        Of several ridges, prices can't be compared: the error is drawn against the mean number of
        variables, a line for each ridge, that of the ridge chosen bold and with its standard error.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn on.
        """
        from ellzero.plotting import draw_cv_curve  # here, so that nobody waits for matplotlib

        check_is_fitted(self)
        return draw_cv_curve(self, ax=ax)


def count_repeats(n_repeats: int | None, cv: Any) -> int:
    """Return how often the folds are repeated: a splitter's, or a list's, are taken as they are."""
    if cv is None or isinstance(cv, Integral):
        return DEFAULT_REPEATS if n_repeats is None else n_repeats
    if n_repeats is not None and n_repeats > 1:
        raise ValueError(
            f"n_repeats={n_repeats} needs cv to be a number of folds: only these can be shuffled "
            "again."
        )
    return 1


def _check_weights(weights: NDArray[np.float64], splits: list[Split]) -> None:
    rows = (split.rows() for split in splits)
    trained = [bool(weights[train].any()) for train, test in rows if weights[test].any()]
    if not trained or not all(trained):
        raise ValueError("sample_weight must not be zero for all rows that a fold trains on.")


def _tabulate(
    ridges: list[float], curves: Sequence[Curve], variance: float
) -> dict[str, NDArray[np.float64]]:
    counts = [len(curve.mean_error) for curve in curves]
    names = (
        "lam_low",
        "lam_high",
        "mean_error",
        "se_error",
        "saved",
        "se_saved",
        "mean_size",
        "rescaling",
    )

    def joined(name: str) -> NDArray[np.float64]:
        each = [getattr(curve, name) for curve in curves]
        return np.concatenate(each) if len(each) > 1 else each[0].copy()

    table = {name: joined(name) for name in names}
    r2 = 1 - table["mean_error"] / variance if variance > 0 else np.zeros(sum(counts))
    folds = max(len(curve.fold_errors) for curve in curves)
    tables = [_filled(curve.fold_errors, folds) for curve in curves]
    errors = np.concatenate(tables, axis=1) if len(tables) > 1 else tables[0]
    splits = {f"split{i}_error": errors[i] for i in range(len(errors))}
    return {"ridge": np.repeat(ridges, counts), **table, "r2": r2, **splits}


def _filled(errors: NDArray[np.float64], folds: int) -> NDArray[np.float64]:
    """Return the errors of all folds: NaN for those of repeats that a ridge did not see."""
    if len(errors) == folds:
        return errors
    unseen = np.full((folds - len(errors), errors.shape[1]), np.nan)
    return np.concatenate([errors, unseen])
