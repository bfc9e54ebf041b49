"""l0-regularised least squares."""

from __future__ import annotations

import math
import warnings
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ellzero import _core
from ellzero._columns import column_name, resolve_columns
from ellzero._engine import make_design, make_engine, thread_count
from ellzero._progress import progress_printer
from ellzero._sklearn import Interval, SelectingRegressor, StrOptions, check_fit_input
from ellzero.regression._criteria import CRITERIA, information_criterion

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["L0Regressor"]

_DEFAULT_MAX_SIZE = 40
_LOCAL_OPTIMUM = "no insertion or removal of one variable improves it"


class _Search(NamedTuple):
    """Where a search for a support ended; the engine stands there."""

    lam: float
    n_iter: int
    certificate: str
    stopped_by_max_size: bool


class L0Regressor(SelectingRegressor):
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
        minimised along the path of SBR from no variable to ``max_size``. With n the sum of the
        weights, ``BIC(k) = n log(RSS_k / n) + k log n``; EBIC adds ``2 log C(p, k)``; RIC is
        ``n log(RSS_k / n) + 2 k log p``. Models whose RSS is down to rounding are left out, and
        a model with more variables than half the rows is warned of: these criteria can't be trusted
        there.
    ridge : float, default=0.0
        Ridge penalty, for columns of unit norm.
    solver : {"sbr"}, default="sbr"
        "sbr" is single best replacement, the paper's algorithm: insert or remove the one variable
        that lowers the objective most, until none does. The result is a local optimum.
    start : sequence of names, integers, or mask, default=None
        The support to start from, for a number ``lam``. Columns that depend linearly on those
        before them are left out.
    max_size : int, default=None
        The largest support considered. None means 40, or the rank of X if that is less. A model
        that is stopped by it, not by the rank, is warned of.
    always_include : sequence of names, integers, or mask, default=None
        Columns that are in every support: they don't pay ``lam`` but count towards the size.
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
    lam_ : float
        The price used. For a criterion: the geometric middle of the interval of ``lam`` in which
        SBR stops at the chosen model (twice its lower end if it has no upper end, half its upper
        end if it reaches down to zero).
    objective_ : float
        Value of the objective above, in squared units of y.
    n_iter_ : int
        Insertions and removals made.
    certificate_ : str
        What is known about the solution.
    n_features_in_ : int
        Columns seen during fit.
    feature_names_in_ : ndarray of str
        Their names, if X had names that are all strings.

    Notes
    -----
    ``sample_weight`` are frequency weights: a row of weight 2 is the row twice.

    Standard errors computed as if the chosen variables had been fixed beforehand are not valid.

    Examples
    --------
    The paper's diabetes example: 64 columns, of which its algorithm keeps eight.

    >>> from ellzero import L0Regressor
    >>> from ellzero.datasets import load_diabetes_interactions
    >>> diabetes = load_diabetes_interactions()
    >>> model = L0Regressor(lam=5_000).fit(diabetes.data, diabetes.target)
    >>> [str(name) for name in model.get_feature_names_out()]
    ['sex', 'bmi', 'map', 'hdl', 'ltg', 'glu^2', 'age:sex', 'bmi:map']
    >>> model.certificate_
    'no insertion or removal of one variable improves it'
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "lam": [Interval(Real, 0, math.inf, closed="both"), StrOptions(set(CRITERIA))],
        "ridge": [Interval(Real, 0, None, closed="left")],
        "solver": [StrOptions({"sbr"})],
        "start": ["array-like", str, set, None],
        "max_size": [Interval(Integral, 0, None, closed="left"), None],
        "always_include": ["array-like", str, set, None],
        "fit_intercept": ["boolean"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        lam: float | str = "ebic",
        *,
        ridge: float = 0.0,
        solver: str = "sbr",
        start: Any = None,
        max_size: int | None = None,
        always_include: Any = None,
        fit_intercept: bool = True,
        verbose: int = 0,
    ) -> None:
        self.lam = lam
        self.ridge = ridge
        self.solver = solver
        self.start = start
        self.max_size = max_size
        self.always_include = always_include
        self.fit_intercept = fit_intercept
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> L0Regressor:
        """Choose variables and fit their coefficients.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            The columns to choose from. Arrays of floats are not copied, whatever their layout, and
            sparse input is not made dense; float32 is kept and summed in float64.
        y : array-like of shape (n,)
            The response.
        sample_weight : array-like of shape (n,), default=None
            Frequency weights, not negative.

        Returns
        -------
        L0Regressor
            The fitted estimator.
        """
        X, y, sample_weight = check_fit_input(self, X, y, sample_weight)
        n_columns = X.shape[1]
        names = getattr(self, "feature_names_in_", None)
        forced = resolve_columns("always_include", self.always_include, n_columns, names)
        start = resolve_columns("start", self.start, n_columns, names)
        max_size = self._check_max_size(forced, start)

        threads = thread_count()
        design = make_design(X, y, sample_weight, self.fit_intercept, threads)
        engine = make_engine(design, _to_float("ridge", self.ridge), threads)
        if forced.size:
            self._insert_forced(engine, forced, names)
        if isinstance(self.lam, str):
            search = self._search_path(engine, design, forced, max_size)
        else:
            search = self._search_at(engine, forced, start, max_size, names)
        self._store(engine.solution(), design, forced, search)
        if search.stopped_by_max_size:
            warnings.warn(
                f"L0Regressor {search.certificate}; a larger max_size may give a better model.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _check_max_size(self, forced: NDArray[np.int64], start: NDArray[np.int64]) -> int:
        asked = _DEFAULT_MAX_SIZE if self.max_size is None else int(self.max_size)
        max_size = min(asked, int(self.n_features_in_))
        if isinstance(self.lam, str) and start.size:
            raise ValueError(
                f"start needs a number for lam: the path of lam={self.lam!r} has its own start."
            )
        if forced.size or start.size:
            fixed = np.union1d(forced, start).size
            if fixed > max_size:
                raise ValueError(
                    f"always_include and start have {fixed} columns, more than "
                    f"max_size={max_size}: give a larger one."
                )
        return max_size

    @staticmethod
    def _insert_forced(engine: _core.Engine, forced: NDArray[np.int64], names: Any) -> None:
        engine.move_to(forced)
        left_out = np.setdiff1d(forced, engine.members)
        if left_out.size:
            warnings.warn(
                f"always_include: column {column_name(left_out[0], names)!r} is constant or "
                "depends linearly on the columns before it, so its coefficient is zero.",
                UserWarning,
                stacklevel=3,
            )

    def _search_at(
        self,
        engine: _core.Engine,
        forced: NDArray[np.int64],
        start: NDArray[np.int64],
        max_size: int,
        names: Any,
    ) -> _Search:
        """Run SBR at a given lam."""
        lam = _to_float("lam", self.lam)
        if start.size:
            engine.move_to(np.concatenate([forced, np.setdiff1d(start, forced)]))
        n_iter, held_back, gain = engine.sbr(
            lam,
            _mask(forced, self.n_features_in_),
            max_size,
            progress_printer("L0Regressor", self.verbose),
        )
        if held_back < 0:
            return _Search(lam, n_iter, _LOCAL_OPTIMUM, False)
        certificate = (
            f"stopped at max_size={max_size}: inserting {column_name(held_back, names)!r} "
            f"would lower the objective by {gain - lam:.6g}"
        )
        return _Search(lam, n_iter, certificate, True)

    def _search_path(
        self,
        engine: _core.Engine,
        design: _core.Design,
        forced: NDArray[np.int64],
        max_size: int,
    ) -> _Search:
        """Choose among SBR's stops as lam falls, and leave the engine at the chosen one."""
        if design.weight < 1:
            raise ValueError(
                f"sample_weight sums to {design.weight:g}, but lam={self.lam!r} takes the sum for "
                "the number of rows: rescale it."
            )
        stops, n_iter, capped = engine.sbr_path(
            _mask(forced, self.n_features_in_),
            max_size,
            progress_printer("L0Regressor", self.verbose),
        )
        sizes = np.array([stop[0].size for stop in stops])
        rss = np.array([2 * (energy - ridge) for _, energy, ridge, _, _ in stops])
        values = information_criterion(
            str(self.lam), rss, sizes, design.weight, self.n_features_in_, design.yy
        )
        best = int(np.argmin(values))
        if design.yy > 0:
            self._warn_of_small_rss(values, sizes, best, design.weight)
        support, _, _, low, high = stops[best]
        engine.move_to(support)
        certificate = (
            f"{self.lam} is least among the {len(stops)} models on the path of SBR; "
            f"{_LOCAL_OPTIMUM} at lam_"
        )
        at_cap = capped and sizes[best] >= max_size
        if at_cap:
            certificate = f"stopped at max_size={max_size}, where {self.lam} was still least"
        return _Search(_middle(low, high), n_iter, certificate, at_cap)

    def _warn_of_small_rss(
        self, values: NDArray[np.float64], sizes: NDArray[np.int64], best: int, n: float
    ) -> None:
        """Say so where log(RSS) has no bottom: the criteria were made for sizes far below n."""
        exact = np.isinf(values)
        if exact.any() and sizes[exact].min() <= n / 2:
            warnings.warn(
                f"{sizes[exact].min()} variables fit y exactly, which {self.lam} can't judge; "
                "the model chosen is the best of those that don't: give lam as a number.",
                UserWarning,
                stacklevel=4,
            )
        elif sizes[best] > n / 2:
            warnings.warn(
                f"{self.lam} chose {sizes[best]} variables for {n:g} rows, where it can't be "
                "trusted: near as many variables as rows, any y is fitted. Set max_size.",
                UserWarning,
                stacklevel=4,
            )

    def _store(
        self,
        solution: tuple[Any, ...],
        design: _core.Design,
        forced: NDArray[np.int64],
        search: _Search,
    ) -> None:
        support, beta, removal_cost, inverse_scale, mean, rss, ridge_energy = solution
        coefficients = beta * inverse_scale
        self.coef_ = np.zeros(self.n_features_in_)
        self.coef_[support] = coefficients
        self.intercept_ = design.mean_y - float(mean @ coefficients)
        self.support_ = support
        self.lam_ = search.lam
        n_priced = np.count_nonzero(~np.isin(support, forced)) if forced.size else support.size
        price = search.lam * n_priced if n_priced else 0.0
        self.objective_ = 0.5 * rss + ridge_energy + price
        self.n_iter_ = search.n_iter
        self.certificate_ = search.certificate
        # What summary() needs beyond the attributes above
        self._standardised = beta / math.sqrt(design.yy) if design.yy > 0 else np.zeros_like(beta)
        self._removal_cost = removal_cost
        self._total = design.yy

    def summary(self) -> pd.DataFrame:
        """Tabulate the chosen variables, the most important first.

        Returns
        -------
        pandas.DataFrame
            Indexed by variable. ``coefficient``: in units of y per unit of the variable.
            ``standardised``: change of y, in its standard deviations, for one standard deviation of
            the variable. ``removal_cost``: by how much ``1/2 RSS + 1/2 ridge |b|^2`` would rise
            without the variable, the others refitted; the variable pays if that is more than
            ``lam_``. ``r2_lost``: the same as a share of the sum of squares of y.

        Examples
        --------
        >>> from ellzero import L0Regressor
        >>> from ellzero.datasets import load_diabetes_interactions
        >>> diabetes = load_diabetes_interactions()
        >>> model = L0Regressor(lam=20_000).fit(diabetes.data, diabetes.target)
        >>> print(model.summary().round(3))  # doctest: +NORMALIZE_WHITESPACE
                  coefficient  standardised  removal_cost  r2_lost
        variable
        bmi           605.191         0.374    136190.998    0.104
        ltg           560.054         0.346    116300.367    0.089
        map           269.838         0.167     28541.288    0.022
        age:sex       203.689         0.126     20513.044    0.016
        """
        import pandas as pd  # here, so that `import ellzero` does not wait for it

        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        index = pd.Index(
            [column_name(j, names) for j in self.support_], name="variable", dtype=object
        )
        total = self._total if self._total > 0 else 1.0
        table = pd.DataFrame(
            {
                "coefficient": self.coef_[self.support_],
                "standardised": self._standardised,
                "removal_cost": self._removal_cost,
                "r2_lost": 2 * self._removal_cost / total,
            },
            index=index,
        )
        return table.sort_values("removal_cost", ascending=False, kind="stable")


def _mask(columns: NDArray[np.int64], n_columns: int) -> NDArray[np.bool_] | None:
    if not columns.size:
        return None
    mask = np.zeros(n_columns, dtype=bool)
    mask[columns] = True
    return mask


def _to_float(name: str, value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} is too large for a floating-point number.") from None


def _middle(low: float, high: float) -> float:
    """Return the geometric middle of an interval, or a point inside where there is none."""
    if math.isinf(high):
        return 2 * low
    if low == 0:
        return high / 2
    return math.sqrt(low) * math.sqrt(high)
