"""l0-regularised least squares with a cross-validated price."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ellzero import _core
from ellzero._columns import resolve_columns
from ellzero._engine import thread_count
from ellzero._progress import progress_printer
from ellzero._sklearn import (
    UNUSED,
    Interval,
    StrOptions,
    check_fit_input,
    make_splits,
    make_splitter,
    splitter_routing,
)
from ellzero.regression._cv_curve import Curve, FoldPath, make_curve
from ellzero.regression._fitted import FittedSelection
from ellzero.regression._fold_paths import frontier_fold_paths, sbr_fold_path
from ellzero.regression._folds import Data, Folds, make_folds
from ellzero.regression._frontier import Frontier
from ellzero.regression._growth import GrowingFrontier
from ellzero.regression._problem import largest_size, make_problem_on, to_float
from ellzero.regression._searches import search_at

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["L0RegressorCV"]

_FIRST_SIZE = 20


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

    Parameters
    ----------
    cv : int, splitter, or iterable of (train, test), default=10
        How to split: a number of folds, shuffled if ``random_state`` is given, or any splitter of
        scikit-learn.
    rule : {"min", "1se"}, default="min"
        "min" takes the interval of least mean error, "1se" that of largest ``lam`` whose mean error
        is at most one standard error above the least.
    ridge : float or sequence of floats, default=0.0
        Ridge penalty, for columns of unit norm, so it is not rescaled between folds; of several the
        one with the least error is taken.
    solver : {"frontier", "sbr"}, default="frontier"
        As in :class:`ellzero.L0Regressor`.
    max_size : int, default=None
        The largest support considered. None goes on until the error of every fold has long been
        rising: twice as far as its least, and ten sizes more (but not beyond half the rows, if
        those are more than 80).
    always_include : sequence of names, integers, or mask, default=None
        Columns that are in every support: they don't pay ``lam`` but count towards the size.
    fit_intercept : bool, default=True
        Whether to centre y and the columns of X and to fit an intercept.
    n_jobs : int, default=None
        Threads over folds; None means 1. The results don't depend on it.
    random_state : int, RandomState instance or None, default=None
        Shuffles the rows before folding, if ``cv`` is a number.
    nested : bool, default=False
        Whether to estimate the error of the whole procedure too: see ``nested_score_``.
    verbose : int, default=0
        If positive, report on standard error how long work is getting on.

    Attributes
    ----------
    lam_ : float
        The price: the geometric middle of the interval chosen.
    ridge_ : float
        The ridge chosen.
    coef_ : ndarray of shape (p,)
        Coefficients of the fit on all rows, in units of y per unit of the column.
    intercept_ : float
        Intercept, in units of y.
    support_ : ndarray of int
        Sorted indices of the columns in the model.
    frontier_ : Frontier
        The frontier of all rows, with "frontier" only.
    cv_results_ : dict of ndarray
        For every ridge and interval of ``lam``, from large to small: ``ridge``, ``lam_low``,
        ``lam_high``, ``mean_error`` (mean squared error on rows held out, folds counting by their
        weight) and its standard error ``se_error``, ``mean_size``, ``r2``, and ``split<i>_error``.
    objective_ : float
        Value of the objective above, in squared units of y.
    max_size_ : int
        The largest size that was looked at in the folds.
    certificate_ : str
        What is known about the solution.
    nested_score_ : float
        With ``nested=True``: mean squared error on rows that neither the fit nor the choice of
        ``lam`` has seen: each fold's test rows, predicted by the same procedure on its training
        rows with the other folds. The least of the curve is lower, since it was chosen for that.
    n_features_in_ : int
        Columns seen during fit.
    feature_names_in_ : ndarray of str
        Their names, if X had names that are all strings.

    Notes
    -----
    Standard errors computed as if the chosen variables had been fixed beforehand are not valid.

    Examples
    --------
    >>> from ellzero import L0RegressorCV
    >>> from ellzero.datasets import load_diabetes_interactions
    >>> diabetes = load_diabetes_interactions()
    >>> model = L0RegressorCV(rule="1se", random_state=0).fit(diabetes.data, diabetes.target)
    >>> [str(name) for name in model.get_feature_names_out()]
    ['sex', 'bmi', 'map', 'hdl', 'ltg', 'age:sex', 'bmi:map']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "cv": ["cv_object"],
        "rule": [StrOptions({"min", "1se"})],
        "ridge": [Interval(Real, 0, None, closed="left"), "array-like"],
        "solver": [StrOptions({"frontier", "sbr"})],
        "max_size": [Interval(Integral, 0, None, closed="left"), None],
        "always_include": ["array-like", str, set, None],
        "fit_intercept": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "nested": ["boolean"],
        "verbose": ["verbose"],
    }

    # The splitter asks for groups, if anyone does.
    __metadata_request__fit: ClassVar[dict[str, str]] = {"groups": UNUSED}

    def __init__(
        self,
        *,
        cv: Any = 10,
        rule: str = "min",
        ridge: Any = 0.0,
        solver: str = "frontier",
        max_size: int | None = None,
        always_include: Any = None,
        fit_intercept: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        nested: bool = False,
        verbose: int = 0,
    ) -> None:
        self.cv = cv
        self.rule = rule
        self.ridge = ridge
        self.solver = solver
        self.max_size = max_size
        self.always_include = always_include
        self.fit_intercept = fit_intercept
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.nested = nested
        self.verbose = verbose

    def get_metadata_routing(self) -> Any:
        """Return the routing: ``groups`` go to the splitter, if it asks for them.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRouter
            The routing.
        """
        return splitter_routing(self, make_splitter(self.cv, self.random_state))

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> L0RegressorCV:
        """Choose a price by cross-validation and fit on all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            The columns to choose from.
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
        X, y, sample_weight = check_fit_input(self, X, y, sample_weight)
        names = getattr(self, "feature_names_in_", None)
        forced = resolve_columns("always_include", self.always_include, X.shape[1], names)
        largest_size(self.max_size, forced, X.shape[1])  # or an error, before any work
        ridges = _check_ridges(self.ridge)
        splitter = make_splitter(self.cv, self.random_state)
        splits = make_splits(self, splitter, X, y, sample_weight, groups)

        data = Data(X, y, sample_weight, self.fit_intercept, thread_count())
        folds = make_folds(data, splits)
        folds = folds._replace(folds=[fold for fold in folds.folds if fold.test_weight > 0])
        whole = folds.whole
        if not folds.folds or any(not fold.design.weight > 0 for fold in folds.folds):
            raise ValueError("sample_weight must not be zero for all rows that a fold trains on.")
        progress = progress_printer("L0RegressorCV", self.verbose)
        for name in ("frontier_", "nested_score_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        self.max_size_ = 0
        curves = [self._curve(folds, ridge, forced, names, progress) for ridge in ridges]
        best = int(np.argmin([curve.mean_error.min() for curve in curves]))
        self.ridge_, curve = ridges[best], curves[best]
        places = {"min": curve.best(), "1se": curve.within_one_se()}
        self._marks = {rule: (curve.middle(i), curve.mean_size[i]) for rule, i in places.items()}
        chosen, lam = places[self.rule], self._marks[self.rule][0]
        self.cv_results_ = _tabulate(ridges, curves, whole.yy / whole.weight)

        problem = make_problem_on(whole, self.ridge_, forced, names, progress, data.threads)
        largest = (
            X.shape[1] if self.max_size is None else largest_size(self.max_size, forced, X.shape[1])
        )
        if self.solver == "frontier":
            growing = GrowingFrontier(problem, swaps=True)
            growing.cover(lam, largest)
            self.frontier_ = Frontier(growing)
            growing.core.visit(growing.hull.size_at(lam))
            certificate = "no insertion, removal or swap improves it"
        else:
            search = search_at(problem, "sbr", lam, largest)
            certificate = search.certificate
        self._store(problem.engine.solution(), whole, forced, lam)
        self.certificate_ = (
            f"the error is least at lam_ among sizes up to {self.max_size_}; {certificate}"
            if self.rule == "min"
            else f"the error at lam_ is within one standard error of the least among sizes up to "
            f"{self.max_size_}; {certificate}"
        )
        # What larger models would do is not known; as far as None goes, it would be.
        far = self._far_beyond(curve.mean_size[chosen], forced.size)
        if self.max_size is not None and curve.lam_low[-1] > 0 and self.max_size <= far:
            warnings.warn(
                f"L0RegressorCV: max_size={self.max_size} is not far beyond the "
                f"{curve.mean_size[chosen]:.1f} variables that the folds chose on average; a "
                "larger one may give a better model.",
                ConvergenceWarning,
                stacklevel=2,
            )
        if self.nested:
            self.nested_score_ = self._nested_error(X, y, sample_weight, forced, splits)
        return self

    def _curve(
        self,
        folds: Folds,
        ridge: float,
        forced: NDArray[np.int64],
        names: Any,
        progress: Callable[[int], None] | None,
    ) -> Curve:
        """Compute the error for one ridge, growing until it has long been rising."""
        stop = threading.Event()

        def report(size: int) -> None:
            if stop.is_set():
                raise KeyboardInterrupt
            if progress is not None:
                progress(size)

        workers = effective_n_jobs(self.n_jobs)
        threads = max(1, thread_count() // workers)
        whole = folds.whole
        p = int(whole.columns)
        half = max(40, int(min(fold.design.weight for fold in folds.folds) / 2))
        most = min(p, forced.size + half)
        size = min(most, forced.size + _FIRST_SIZE)
        if self.max_size is not None:
            size = most = largest_size(self.max_size, forced, p)

        if self.solver == "frontier":
            frontiers = _core.FoldFrontiers(
                [fold.design for fold in folds.folds],
                [fold.held_out for fold in folds.folds],
                folds.parts,
                ridge,
                forced,
                1e9,
                workers,
                threads,
            )
        else:
            problems = [
                fold.problem(ridge, forced, names, report if workers > 1 else progress, threads)
                for fold in folds.folds
            ]

        def path(place: int) -> FoldPath:
            return sbr_fold_path(folds.folds[place], problems[place], whole.weight, size)

        while True:
            if self.solver == "frontier":
                frontiers.grow(size, progress)
                paths = frontier_fold_paths(folds.folds, frontiers.judge(), whole.weight)
            else:
                paths = self._map(path, len(folds.folds), stop)
            self.max_size_ = max(self.max_size_, size)
            lowest = max(int(path.sizes[np.argmin(path.errors)]) for path in paths)
            wanted = self._far_beyond(lowest, forced.size) + 10
            if size >= most or size >= wanted or all(path.end == 0 for path in paths):
                return make_curve(paths, 1e-12 * whole.yy / whole.weight)
            size = min(most, max(wanted, size + 10))

    @staticmethod
    def _far_beyond(size: float, n_forced: int) -> int:
        """Return twice a size, not counting the forced columns."""
        return int(np.ceil(n_forced + 2 * (size - n_forced) - 1e-9))

    def _map(
        self, function: Callable[[int], FoldPath], count: int, stop: threading.Event
    ) -> list[FoldPath]:
        """Call the function for every fold, in threads; they leave when ``stop`` is set."""
        workers = min(effective_n_jobs(self.n_jobs), count)
        if workers <= 1:
            return [function(place) for place in range(count)]
        with ThreadPoolExecutor(workers) as pool:
            futures = [pool.submit(function, place) for place in range(count)]
            try:
                # Waiting a little at a time, a KeyboardInterrupt is seen at once.
                while wait(futures, 0.05, FIRST_EXCEPTION).not_done:
                    if any(future.done() and future.exception() for future in futures):
                        break
                return [future.result() for future in futures]
            except BaseException:
                stop.set()
                for future in futures:
                    future.cancel()
                raise

    def _nested_error(
        self,
        X: Any,
        y: NDArray[np.float64],
        sample_weight: NDArray[np.float64] | None,
        forced: NDArray[np.int64],
        splits: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
    ) -> float:
        """Return the error on each fold's test rows of the procedure on its training rows.

        Inside, the other folds are those of the procedure, less the rows left out.
        """
        if not isinstance(X, np.ndarray):
            X = X.tocsr()
        weights = np.ones(len(y)) if sample_weight is None else sample_weight
        errors, shares = [], []
        for f, (train, test) in enumerate(splits):
            place = np.full(len(y), -1)
            place[train] = np.arange(len(train))
            inner = [[place[rows] for rows in split] for g, split in enumerate(splits) if g != f]
            inner = [[rows[rows >= 0] for rows in split] for split in inner]
            inner = [split for split in inner if all(weights[train][rows].any() for rows in split)]
            if not inner or not weights[test].any():
                continue
            model = clone(self).set_params(nested=False, cv=inner, always_include=forced)
            model.fit(X[train], y[train], weights[train])
            residual = y[test] - model.predict(X[test])
            errors.append(np.average(residual**2, weights=weights[test]))
            shares.append(weights[test].sum())
        if not errors:
            raise ValueError("nested=True needs folds that train on the test rows of others.")
        return float(np.average(errors, weights=shares))

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


def _check_ridges(ridge: Any) -> list[float]:
    values = [ridge] if isinstance(ridge, Real) else list(np.asarray(ridge, dtype=object).ravel())
    if not values:
        raise ValueError("ridge must hold at least one number.")
    for value in values:
        if not isinstance(value, Real) or not 0 <= float(value) < np.inf:
            raise ValueError(f"ridge must hold numbers from 0; got {value!r}.")
    return list(dict.fromkeys(to_float("ridge", value) for value in values))


def _tabulate(
    ridges: list[float], curves: list[Curve], variance: float
) -> dict[str, NDArray[np.float64]]:
    counts = [len(curve.mean_error) for curve in curves]
    names = ("lam_low", "lam_high", "mean_error", "se_error", "mean_size")
    table = {name: np.concatenate([getattr(curve, name) for curve in curves]) for name in names}
    r2 = 1 - table["mean_error"] / variance if variance > 0 else np.zeros(sum(counts))
    errors = np.concatenate([curve.fold_errors for curve in curves], axis=1)
    splits = {f"split{i}_error": errors[i] for i in range(len(errors))}
    return {"ridge": np.repeat(ridges, counts), **table, "r2": r2, **splits}
