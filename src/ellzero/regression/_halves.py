"""The search for the best models on complementary halves of the rows."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ellzero import _core
from ellzero._columns import resolve_columns
from ellzero._engine import thread_count
from ellzero._progress import progress_printer
from ellzero._sklearn import Interval, StrOptions, check_parameters, check_table
from ellzero.regression._criteria import trusted_size
from ellzero.regression._fold_data import Data
from ellzero.regression._folds import Subsets, make_subsets
from ellzero.regression._group_halves import stability_of_groups
from ellzero.regression._half_designs import half_designs
from ellzero.regression._losses import LOSSES, Loss, check_response, default_ridge
from ellzero.regression._problem import (
    DEFAULT_MAX_SIZE,
    Likelihood,
    Problem,
    largest_size,
    make_likelihood,
    make_problem_on,
    to_float,
)
from ellzero.regression._searches import search_path
from ellzero.regression._stability import HalfModels, Stability
from ellzero.regression._structured import GroupData
from ellzero.regression._units import UNIT_CONSTRAINTS, Structure, resolve_units
from ellzero.sources._ready import pays

__all__ = ["stability"]

_Rows = NDArray[np.int64]
# Rows are shuffled into so many blocks; halves are made of these, so that one pass over X serves so
# many pairs. Fewer blocks and more pairs are quicker, but frequencies vary more from one
# random_state to another.
_BLOCKS = 16
_PAIRS = 25
# Gram columns of halves that are searched side by side take up to so many bytes.
_SIDE_BY_SIDE = 5e8
# Engines of likelihoods that are searched side by side
_LIKELIHOODS = 20
_RULES = ("feature_groups", "heredity", "parents", "positive", "at_most")
_CONSTRAINTS: dict[str, list[Any]] = {
    "loss": [StrOptions(set(LOSSES))],
    "max_size": [Interval(Integral, 1, None, closed="left")],
    "n_pairs": [Interval(Integral, 1, None, closed="left")],
    "ridge": [Interval(Real, 0, None, closed="left"), None],
    "always_include": ["array-like", str, set, None],
    "fit_intercept": ["boolean"],
    "random_state": ["random_state"],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
    **{name: rule for name, rule in UNIT_CONSTRAINTS.items() if name in _RULES},
}


def stability(
    X: Any,
    y: Any,
    *,
    loss: str = "squared",
    max_size: int = 20,
    n_pairs: int = 50,
    ridge: float | None = None,
    always_include: Any = None,
    feature_groups: Any = None,
    heredity: str | None = None,
    parents: Any = None,
    positive: Any = None,
    at_most: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    fit_intercept: bool = True,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Stability:
    r"""Choose the best model of every size on halves of the rows, and count.

    The rows are cut in two at random, ``n_pairs`` times; on each half, for every size k, the
    support of least energy is looked for,

    .. math:: \min_{|S| = k} \min_b \tfrac12 \|y - X_S b\|^2 + \tfrac12\, \mathrm{ridge}\, \|b\|^2

    with columns centred and scaled to unit norm within the half, as by ``l0_frontier(...,
    swaps=False)``; another ``loss`` takes the place of half the residual sum of squares. What is
    counted are observed frequencies, not probabilities that a variable matters: two variables that
    stand in for each other halve theirs, and half the rows find less than all.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p)
        The columns to choose from.
    y : array-like of shape (n,)
        The response.
    loss : {"squared", "logistic", "poisson"}, default="squared"
        What a model loses: see :func:`ellzero.l0_frontier`.
    max_size : int, default=20
        The largest size, columns always included counted.
    n_pairs : int, default=50
        How many pairs of halves.
    ridge : float, default=None
        Ridge penalty, for columns of unit norm; None means the default of
        :func:`ellzero.l0_frontier`.
    always_include : sequence of names, integers, or mask, default=None
        Columns that are in every support.
    feature_groups, heredity, parents, positive, at_most
        Groups of columns, heredity, signs and limits, as of :func:`ellzero.l0_frontier`. What is
        counted are then groups: ``frequencies`` and ``signs`` have a column for each, and
        ``feature_names`` are their names. The sign of a group of several columns is NaN.
    sample_weight : array-like of shape (n,), default=None
        Frequency weights; a row, whatever its weight, is in one half.
    groups : array-like of shape (n,), default=None
        Rows of one group stay in one half.
    fit_intercept : bool, default=True
        Whether to centre y and the columns of X and to fit an intercept.
    random_state : int, RandomState instance or None, default=0
        Cuts the rows; None cuts them anew every time.
    n_jobs : int, default=None
        Threads over halves; None means 1. The results don't depend on it.
    verbose : int, default=0
        If positive, report on standard error how long work is getting on.

    Returns
    -------
    Stability
        Frequencies and signs, by size and variable.

    Notes
    -----
    The rows are shuffled into 16 blocks (fewer if there are fewer rows or groups), and each half is
    made of half of the blocks, drawn anew for every pair; after 25 pairs the rows are shuffled
    anew. Every half is a random half of the rows, and one pass over X serves many. With the
    logistic loss and without groups, every half has half of the rows of each class instead.

    Examples
    --------
    >>> from ellzero import stability
    >>> from ellzero.datasets import load_diabetes_interactions
    >>> diabetes = load_diabetes_interactions()
    >>> found = stability(diabetes.data, diabetes.target)
    >>> found.size  # of EBIC's choice on all rows
    7
    >>> print(found.to_frame().head(5))  # doctest: +NORMALIZE_WHITESPACE
              frequency  sign  same_sign
    variable
    bmi            1.00     1        1.0
    ltg            1.00     1        1.0
    map            0.93     1        1.0
    sex            0.66    -1        1.0
    hdl            0.55    -1        1.0
    """
    structure = Structure(
        feature_groups=feature_groups,
        heredity=heredity,
        parents=parents,
        positive=positive,
        at_most=at_most,
    )
    check_parameters(
        "stability",
        _CONSTRAINTS,
        loss=loss,
        max_size=max_size,
        n_pairs=n_pairs,
        ridge=ridge,
        always_include=always_include,
        fit_intercept=fit_intercept,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
        **{name: getattr(structure, name) for name in _RULES},
    )
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0.")
    X, y, sample_weight, names = check_table("stability", X, y, sample_weight)
    p = X.shape[1]
    rng = check_random_state(random_state)
    units = np.arange(len(y)) if groups is None else _number(groups, len(y))
    if not structure.is_plain:
        of_columns = resolve_units(structure, always_include, p, names)
    else:
        forced = resolve_columns("always_include", always_include, p, names)
        largest = largest_size(int(max_size), forced, p)
    if units.max() < 1:
        raise ValueError(f"stability needs two {'rows' if groups is None else 'groups'} at least.")
    progress = progress_printer("stability", verbose)
    workers = effective_n_jobs(n_jobs)
    kind = Loss(loss)
    if kind.is_likelihood:
        check_response(kind, y, sample_weight)
        classes = y if groups is None and kind is Loss.LOGISTIC else np.zeros_like(y)
        halves = _split_evenly(units, classes[: units.max() + 1], int(n_pairs), rng)
        if not structure.is_plain:
            n = float(y.size if sample_weight is None else sample_weight.sum())
            price = default_ridge(kind, n) if ridge is None else to_float("ridge", ridge)
            table = GroupData(X, y, sample_weight, fit_intercept, names, kind)
            return stability_of_groups(
                table, of_columns, halves, int(max_size), price, workers, progress
            )
        likelihood = make_likelihood(X, y, sample_weight, kind, fit_intercept=fit_intercept)
        default = default_ridge(kind, likelihood.design.weight)
        price = default if ridge is None else to_float("ridge", ridge)
        models = _search_likelihood(likelihood, halves, largest, price, forced, workers, progress)
        problem = likelihood.problem(price, forced, names, None, thread_count(), caller="stability")
        return Stability(halves, models, forced, p, _chosen_size(problem), names)
    price = 0.0 if ridge is None else to_float("ridge", ridge)
    if not isinstance(X, np.ndarray):
        X = X.tocsr()
    if not structure.is_plain:
        halves = []
        for begin in range(0, int(n_pairs), _PAIRS):
            halves += _make_halves(units, min(_PAIRS, int(n_pairs) - begin), rng)
        table = GroupData(X, y, sample_weight, fit_intercept, names)
        return stability_of_groups(
            table, of_columns, halves, int(max_size), price, workers, progress
        )
    data = Data(X, y, sample_weight, fit_intercept, thread_count())
    halves, models = [], []
    size = -1
    for begin in range(0, int(n_pairs), _PAIRS):
        more = _make_halves(units, min(_PAIRS, int(n_pairs) - begin), rng)
        subsets = _make_subsets(data, more)
        if any(not design.weight > 0 for design in subsets.designs):
            raise ValueError("sample_weight must not be zero for all rows of a half.")
        models += _search(subsets, largest, price, forced, workers, progress)
        halves += more
        if size < 0:
            whole = subsets.whole
            problem = make_problem_on(whole, price, forced, names, None, thread_count(), 3)
            size = _chosen_size(problem)
        del subsets  # a copy of X, before the next one is made
    return Stability(halves, models, forced, p, size, names)


def _make_subsets(data: Data, halves: list[_Rows]) -> Subsets:
    """Return the designs of halves: where all products of parts pay, by these without the rows."""
    if pays(data.X, data.sample_weight, DEFAULT_MAX_SIZE, _BLOCKS):
        made = half_designs(data.X, data.y, halves, fit_intercept=data.fit_intercept)
        if made is not None:
            return Subsets(made[:-1], None, made[-1], None)
    return make_subsets(data, halves)


def _make_halves(units: _Rows, n_pairs: int, rng: Any) -> list[_Rows]:
    """Cut the rows in two, time after time; the halves of a pair follow each other.

    ``units`` says for every row which number it has, or its group.
    """
    n_units = int(units.max()) + 1
    n_blocks = min(_BLOCKS, n_units)
    order = rng.permutation(n_units)
    block_of = np.empty(n_units, dtype=np.int64)
    block_of[order] = np.arange(n_units) % n_blocks
    rows = block_of[units]
    larger = n_units % n_blocks  # the first blocks have one more: these are shared out evenly
    halves = []
    for _ in range(n_pairs):
        inside = np.zeros(n_blocks, dtype=bool)
        shares = [rng.permutation(larger), larger + rng.permutation(n_blocks - larger)]
        spare = bool(rng.randint(2))
        for blocks in shares:
            count = len(blocks) // 2
            if len(blocks) % 2 and spare:
                count += 1
            spare = not spare if len(blocks) % 2 else spare
            inside[blocks[:count]] = True
        halves += [np.flatnonzero(inside[rows]), np.flatnonzero(~inside[rows])]
    return halves


def _number(groups: Any, n: int) -> _Rows:
    groups = np.asarray(groups)
    if groups.shape != (n,):
        raise ValueError(f"groups must have one entry for each of the {n} rows.")
    try:
        _, codes = np.unique(groups, return_inverse=True)
    except TypeError:
        raise ValueError("groups must hold numbers, or texts, and none missing.") from None
    return codes.reshape(-1).astype(np.int64)


def _search(
    subsets: Subsets, largest: int, ridge: float, forced: _Rows, workers: int, progress: Any
) -> list[HalfModels]:
    """Return the models of every subset."""
    models = []
    per_design = 8.0 * subsets.whole.columns * min(subsets.whole.columns, 4 * largest)
    together = max(1, int(_SIDE_BY_SIDE / per_design))
    nothing = np.empty(0, dtype=np.int64)
    for begin in range(0, len(subsets.designs), together):
        designs = subsets.designs[begin : begin + together]
        unseen = [_core.held_out([], nothing, nothing, np.empty(0), None) for _ in designs]
        threads = max(1, min(workers, len(designs)))
        passes = thread_count() if subsets.parts is not None else max(1, thread_count() // threads)
        folds = _core.Folds(designs, unseen, subsets.parts, False, ridge, forced, threads, passes)
        folds.search(largest, progress)
        models += [
            HalfModels(found.begins, found.support, np.sign(found.beta)) for found in folds.judge()
        ]
    return models


def _chosen_size(problem: Problem) -> int:
    """Return the size that EBIC chooses on all rows."""
    design, forced = problem.design, problem.forced
    if design.weight < 1:
        return int(forced.size)
    trusted = min(trusted_size(design.weight, design.columns), DEFAULT_MAX_SIZE)
    search_path(problem, "frontier", "ebic", largest_size(None, forced, design.columns, trusted))
    return int(problem.engine.members.size)


def _split_evenly(
    units: _Rows, classes: NDArray[np.float64], n_pairs: int, rng: Any
) -> list[_Rows]:
    """Cut the rows in two, time after time, with half of the units of each class on either side."""
    halves = []
    for _ in range(n_pairs):
        inside = np.zeros(len(classes), dtype=bool)
        spare = bool(rng.randint(2))
        for label in np.unique(classes):
            members = rng.permutation(np.flatnonzero(classes == label))
            inside[members[: (len(members) + spare) // 2]] = True
            spare = not spare if len(members) % 2 else spare
        rows = inside[units]
        halves += [np.flatnonzero(rows), np.flatnonzero(~rows)]
    return halves


def _search_likelihood(
    likelihood: Likelihood,
    halves: list[_Rows],
    largest: int,
    ridge: float,
    forced: _Rows,
    workers: int,
    progress: Any,
) -> list[HalfModels]:
    """Return the models of every half."""
    weights = []
    for half in halves:
        weight = np.zeros_like(likelihood.weight)
        weight[half] = likelihood.weight[half]
        counted = likelihood.y[weight > 0]
        if not counted.size:
            raise ValueError("sample_weight must not be zero for all rows of a half.")
        if counted.max() == 0 or (
            likelihood.loss is Loss.LOGISTIC and counted.min() == counted.max()
        ):
            raise ValueError("y must differ within every half of the rows: here it does not.")
        weights.append(weight)
    models = []
    nothing = np.empty(0, dtype=np.int64)
    for begin in range(0, len(halves), _LIKELIHOODS):
        some = weights[begin : begin + _LIKELIHOODS]
        threads = max(1, min(workers, len(some)))
        folds = _core.LikelihoodFolds(
            [likelihood.rows] * len(some),
            some,
            [nothing] * len(some),
            False,
            ridge,
            forced,
            threads,
            max(1, thread_count() // threads),
        )
        folds.search(largest, progress)
        models += [
            HalfModels(found.begins, found.support, np.sign(found.beta)) for found in folds.judge()
        ]
    return models
