"""The best subset of every size."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ellzero._columns import resolve_columns
from ellzero._engine import make_design, thread_count
from ellzero._progress import progress_printer
from ellzero._sklearn import Interval, StrOptions, check_arguments, check_table
from ellzero.regression._frontier import Frontier
from ellzero.regression._growth import GrowingFrontier
from ellzero.regression._losses import LOSSES, Loss, check_response, default_ridge
from ellzero.regression._problem import (
    Problem,
    check_ridges,
    largest_size,
    make_likelihood,
    make_problem_on,
)
from ellzero.regression._room import cache_bytes, check_memory
from ellzero.regression._separation import warn_of_separation
from ellzero.regression._structured import GroupData, group_frontiers
from ellzero.regression._units import UNIT_CONSTRAINTS, Structure, resolve_units

__all__ = ["l0_frontier"]

_CONSTRAINTS: dict[str, list[Any]] = {
    "loss": [StrOptions(set(LOSSES))],
    "max_size": [Interval(Integral, 0, None, closed="left"), None],
    "ridge": [Interval(Real, 0, None, closed="left"), "array-like", None],
    "swaps": ["boolean"],
    "always_include": ["array-like", str, set, None],
    "fit_intercept": ["boolean"],
    "memory": [Interval(Real, 0, None, closed="neither"), str, None],
    "verbose": ["verbose"],
    **UNIT_CONSTRAINTS,
}


@overload
def l0_frontier(
    X: Any,
    y: Any = ...,
    *,
    loss: str = ...,
    max_size: int | None = ...,
    ridge: float | None = ...,
    swaps: bool = ...,
    always_include: Any = ...,
    feature_groups: Any = ...,
    size_in: str = ...,
    heredity: str | None = ...,
    parents: Any = ...,
    penalty_factor: Any = ...,
    positive: Any = ...,
    at_most: Any = ...,
    sample_weight: Any = ...,
    fit_intercept: bool = ...,
    memory: float | str | None = ...,
    verbose: int = ...,
) -> Frontier: ...
@overload
def l0_frontier(
    X: Any,
    y: Any = ...,
    *,
    loss: str = ...,
    max_size: int | None = ...,
    ridge: Sequence[float] | NDArray[np.float64],
    swaps: bool = ...,
    always_include: Any = ...,
    feature_groups: Any = ...,
    size_in: str = ...,
    heredity: str | None = ...,
    parents: Any = ...,
    penalty_factor: Any = ...,
    positive: Any = ...,
    at_most: Any = ...,
    sample_weight: Any = ...,
    fit_intercept: bool = ...,
    memory: float | str | None = ...,
    verbose: int = ...,
) -> list[Frontier]: ...
def l0_frontier(
    X: Any,
    y: Any = None,
    *,
    loss: str = "squared",
    max_size: int | None = None,
    ridge: Any = None,
    swaps: bool = True,
    always_include: Any = None,
    feature_groups: Any = None,
    size_in: str = "groups",
    heredity: str | None = None,
    parents: Any = None,
    penalty_factor: Any = None,
    positive: Any = None,
    at_most: Any = None,
    sample_weight: Any = None,
    fit_intercept: bool = True,
    memory: float | str | None = None,
    verbose: int = 0,
) -> Any:
    r"""Find the best subset of every size.

    For every size k this looks for the support of least energy,

    .. math:: f_k = \min_{|S| = k} \min_b \tfrac12 \|y - X_S b\|^2
              + \tfrac12\, \mathrm{ridge}\, \|b\|^2

    with y and the columns of X centred if there is an intercept, and the columns scaled to unit l2
    norm (which matters to ``ridge`` only). With another ``loss`` a negative log-likelihood, summed
    over rows and with an intercept that pays nothing, takes the place of half the residual sum of
    squares. It is a search, not a proof: it ends where no insertion,
    removal or swap of a variable, in any of the supports found, improves any of them. The sizes on
    the lower convex hull of the f_k are the solutions of the problem with a price ``lam`` on every
    variable, each in an interval of ``lam`` that is known exactly.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p)
        The columns to choose from. It must not change while the frontier is in use: growing and
        ``neighbours`` read it again. For the squared loss also
        :class:`ellzero.SufficientStatistics`, with ``y=None``, :class:`ellzero.Genotypes`, or a
        :class:`ellzero.sources.ColumnSource`.
    y : array-like of shape (n,)
        The response: numbers; zeros and ones for the logistic loss; counts or rates, not negative,
        for the Poisson loss.
    loss : {"squared", "logistic", "poisson"}, default="squared"
        What a model loses: half the residual sum of squares, or the negative log-likelihood of
        zeros and ones, or of counts with a log link (less that of a perfect fit, so that it counts
        from 0). See :class:`ellzero.L0Classifier` and :class:`ellzero.L0PoissonRegressor`.
    max_size : int, default=None
        The largest size. None means 40 variables beyond those of ``always_include``, or the rank
        of X if that is less. See :meth:`Frontier.grow`.
    ridge : float or sequence of floats, default=None
        Ridge penalty, for columns of unit norm. None means none for the squared loss and, for a
        likelihood, ``1 / (100 n)``, that of a slab with a standard deviation of 10 in log-odds (or
        logs of a rate) per standard deviation of a column: it is hardly felt unless classes are
        separated, and then it keeps coefficients finite. Several are searched one after the other
        from the same products of columns, each helped by what the one before has found.
    swaps : bool, default=True
        Whether to try swaps. Without them it is faster and ends in worse models.
    always_include : sequence of names, integers, or mask, default=None
        Columns that are in every support: they pay no ``lam`` but count towards the size.
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
        or -1. A support is a model if its own fit has these signs: nothing is clipped.
    at_most : mapping, default=None
        From the name of a group to how many of its columns may be in; they enter one by one.
    sample_weight : array-like of shape (n,), default=None
        Frequency weights: a row of weight 2 is the row twice.
    fit_intercept : bool, default=True
        Whether to centre y and the columns of X and to fit an intercept.
    memory : float or str, default=None
        What means, scales and products of columns may take beside X, in bytes or as ``"2GB"``.
        Products that do not fit are made again when they are asked for, to the same bits. Those
        of the largest model are kept even beyond it. None means 1 GB for products. For single
        columns under the squared loss.
    verbose : int, default=0
        If positive, report on standard error how long work is getting on.

    Returns
    -------
    Frontier, or list of Frontier
        The models and the path through them; of a sequence of ridges, one for each. With groups,
        heredity, prices, signs or limits: a :class:`ellzero.GroupFrontier`.

    Examples
    --------
    >>> from ellzero import l0_frontier
    >>> from ellzero.datasets import load_diabetes_interactions
    >>> diabetes = load_diabetes_interactions()
    >>> frontier = l0_frontier(diabetes.data, diabetes.target, max_size=12)
    >>> frontier.at(size=4).names
    ['bmi', 'map', 'ltg', 'age:sex']
    >>> table = frontier.to_frame().loc[:8, ["r2", "lam_low", "lam_high"]]
    >>> print(table.round(3))  # doctest: +NORMALIZE_WHITESPACE
             r2     lam_low    lam_high
    size
    0     0.000  450713.657         inf
    1     0.344  151443.898  450713.657
    2     0.459   26992.660  151443.898
    3     0.480   20513.044   26992.660
    4     0.496   17493.709   20513.044
    5     0.509         NaN         NaN
    6     0.522   15188.906   17493.709
    7     0.534    7744.350   15188.906
    8     0.540         NaN         NaN

    No product without its parts:

    >>> whole = l0_frontier(diabetes.data, diabetes.target, max_size=6, heredity="strong")
    >>> whole.at(size=6).groups
    ['sex', 'bmi', 'map', 'hdl', 'ltg', 'bmi:map']
    """
    structure = Structure(
        feature_groups, size_in, heredity, parents, penalty_factor, positive, at_most
    )
    check_arguments(
        l0_frontier,
        _CONSTRAINTS,
        loss=loss,
        max_size=max_size,
        ridge=ridge,
        swaps=swaps,
        always_include=always_include,
        fit_intercept=fit_intercept,
        memory=memory,
        verbose=verbose,
        **vars(structure),
    )
    X, y, sample_weight, names = check_table(
        "l0_frontier", X, y, sample_weight, statistics=loss == "squared"
    )
    if not structure.is_plain:
        units = resolve_units(structure, always_include, X.shape[1], names)
        if loss != "squared":
            check_response(Loss(loss), y, sample_weight)
        data = GroupData(X, y, sample_weight, fit_intercept, names, Loss(loss))
        progress = progress_printer("l0_frontier", verbose)
        return group_frontiers(data, units, ridge, max_size, swaps=swaps, progress=progress)
    forced = resolve_columns("always_include", always_include, X.shape[1], names)
    largest = largest_size(max_size, forced, X.shape[1])
    threads = thread_count()
    kind = Loss(loss)
    progress = progress_printer("l0_frontier", verbose)

    if kind.is_likelihood:
        check_response(kind, y, sample_weight)
        likelihood = make_likelihood(X, y, sample_weight, kind, fit_intercept=fit_intercept)
        weight = likelihood.design.weight

        def problem_at(value: float) -> Problem:
            return likelihood.problem(
                value,
                forced,
                names,
                progress,
                threads,
                caller="l0_frontier",
                intercept=fit_intercept,
            )
    else:
        room = cache_bytes(check_memory(memory), X.shape[1])
        design = make_design(X, y, sample_weight, fit_intercept, threads, room, largest=largest)
        weight = design.weight

        def problem_at(value: float) -> Problem:
            problem = make_problem_on(design, value, forced, names, progress, threads, 4)
            return problem._replace(intercept=fit_intercept)

    found: dict[float, GrowingFrontier] = {}
    neighbour = None
    ridges = [default_ridge(kind, weight)] if ridge is None else check_ridges(ridge)
    for value in sorted(set(ridges)):
        found[value] = GrowingFrontier(problem_at(value), swaps)
        found[value].grow(largest, neighbour)
        neighbour = found[value]
    if kind.is_likelihood and 0 in found:
        warn_of_separation(found[0.0])
    if ridge is None or isinstance(ridge, Real):
        return Frontier(found[ridges[0]])
    return [Frontier(found[value]) for value in ridges]
