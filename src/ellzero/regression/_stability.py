"""Which variables are chosen again on other rows: the frontier on complementary halves."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ellzero import _core
from ellzero._columns import column_name, resolve_columns
from ellzero._engine import thread_count
from ellzero._progress import progress_printer
from ellzero._sklearn import Interval, check_parameters, check_table
from ellzero.regression._criteria import trusted_size
from ellzero.regression._folds import Data, Subsets, make_subsets
from ellzero.regression._problem import (
    DEFAULT_MAX_SIZE,
    largest_size,
    make_problem_on,
    to_float,
)
from ellzero.regression._searches import search_path

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Stability", "stability"]

_Rows = NDArray[np.int64]
_Floats = NDArray[np.float64]
# Rows are shuffled into so many blocks; halves are made of these, so that one pass over X serves so
# many pairs. Fewer blocks and more pairs are quicker, but frequencies vary more from one
# random_state to another.
_BLOCKS = 16
_PAIRS = 25
# Gram columns of halves that are searched side by side take up to so many bytes.
_SIDE_BY_SIDE = 5e8
_CONSTRAINTS: dict[str, list[Any]] = {
    "max_size": [Interval(Integral, 1, None, closed="left")],
    "n_pairs": [Interval(Integral, 1, None, closed="left")],
    "ridge": [Interval(Real, 0, None, closed="left")],
    "always_include": ["array-like", str, set, None],
    "fit_intercept": ["boolean"],
    "random_state": ["random_state"],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}


class _Models(NamedTuple):
    """The best models of a half, one after the other."""

    begins: _Rows  # where each begins in the arrays that follow, and the end
    support: _Rows
    signs: _Floats


class Stability:
    """How often variables are chosen on halves of the rows: made by :func:`stability`.

    Attributes
    ----------
    sizes : ndarray of int
        The sizes that every half has a model of, from the number of columns always included on.
    frequencies : ndarray of shape (sizes, columns)
        Observed frequency of each variable: the share of halves whose best model of a size has it.
    signs : ndarray of shape (sizes, columns)
        The mean sign of its coefficient where it is in, from -1 to 1; NaN where it never is.
    size : int
        The size that EBIC chooses on all rows, or the largest of ``sizes`` if that is less.
    halves : list of ndarray of int
        The rows of each half; those of a pair follow each other.
    feature_names : ndarray of str, or None
        The names of the columns of X, if it had names that are all strings.
    """

    def __init__(
        self,
        halves: list[_Rows],
        models: list[_Models],
        forced: _Rows,
        n_columns: int,
        size: int,
        names: Any,
    ) -> None:
        count = min(len(found.begins) for found in models) - 1
        first = int(models[0].begins[1])
        self.halves, self._models = halves, models
        self.sizes = np.arange(first, first + count)
        self.size = min(size, int(self.sizes[-1]))
        self.feature_names = names
        self._forced = forced
        place = np.repeat(np.arange(count), self.sizes)
        support = np.concatenate([found.support[: len(place)] for found in models])
        signs = np.concatenate([found.signs[: len(place)] for found in models])
        where = np.tile(place * n_columns, len(models)) + support
        shape = (count, n_columns)
        chosen = np.bincount(where, minlength=count * n_columns).reshape(shape)
        signed = np.bincount(where, weights=signs, minlength=count * n_columns).reshape(shape)
        self.frequencies = chosen / len(halves)
        self.signs = np.divide(signed, chosen, out=np.full(shape, np.nan), where=chosen > 0)

    def __repr__(self) -> str:
        return (
            f"<Stability: {len(self.halves)} halves, sizes {self.sizes[0]} to {self.sizes[-1]} of "
            f"{self.frequencies.shape[1]} columns>"
        )

    @property
    def supports(self) -> list[list[_Rows]]:
        """The columns of the best model known, by half and size."""
        count = len(self.sizes)
        return [
            np.split(found.support[: found.begins[count]], found.begins[1:count])
            for found in self._models
        ]

    def _place(self, size: int | None) -> int:
        size = self.size if size is None else size
        if not isinstance(size, Integral) or not self.sizes[0] <= size <= self.sizes[-1]:
            raise ValueError(
                f"size={size!r} is not one of the sizes known, {self.sizes[0]} to {self.sizes[-1]}."
            )
        return int(size) - int(self.sizes[0])

    def _free(self) -> NDArray[np.bool_]:
        free = np.ones(self.frequencies.shape[1], dtype=bool)
        free[self._forced] = False
        return free

    def selected(self, threshold: float = 0.9, size: int | None = None) -> NDArray[np.int64]:
        """Return the variables that are chosen on most halves.

        Parameters
        ----------
        threshold : float, default=0.9
            The least observed frequency, above 0 and at most 1.
        size : int, default=None
            The size of the models; None means ``size``, that of EBIC on all rows.

        Returns
        -------
        ndarray of int
            Sorted column indices, without those that are always included.

        Examples
        --------
        >>> from ellzero import stability
        >>> from ellzero.datasets import load_diabetes_interactions
        >>> diabetes = load_diabetes_interactions()
        >>> found = stability(diabetes.data, diabetes.target)
        >>> [str(diabetes.feature_names[j]) for j in found.selected()]
        ['bmi', 'map', 'ltg']
        """
        check_parameters(
            "Stability.selected",
            {"threshold": [Interval(Real, 0, 1, closed="right")]},
            threshold=threshold,
        )
        often = self.frequencies[self._place(size)] >= float(threshold) - 1e-12
        return np.flatnonzero(often & self._free())

    def bound(self, threshold: float = 0.9, size: int | None = None) -> float:
        """Bound how many variables of low selection probability are expected among the selected.

        With q variables chosen out of p (those always included not counted), at most
        ``q^2 / ((2 threshold - 1) p)`` of the selected variables are expected to be such that are
        chosen on a half with probability q/p or less (Shah and Samworth 2013). These are the false
        ones if no noise variable is chosen more often than an average variable would be, and the
        bound is for a size that was fixed beforehand. It assumes nothing else; their tighter bounds
        need frequencies that are unimodal or r-concave.

        Parameters
        ----------
        threshold : float, default=0.9
            As of :meth:`selected`; above one half.
        size : int, default=None
            The size of the models; None means ``size``, which was chosen on the same rows.

        Returns
        -------
        float
            The bound.

        Examples
        --------
        >>> from ellzero import stability
        >>> from ellzero.datasets import make_collinear
        >>> X, y, beta = make_collinear(random_state=0)
        >>> round(stability(X, y, max_size=10).bound(0.9, 5), 3)
        0.312
        """
        check_parameters(
            "Stability.bound",
            {"threshold": [Interval(Real, 0.5, 1, closed="right")]},
            threshold=threshold,
        )
        q = int(self.sizes[self._place(size)]) - int(self.sizes[0])
        p = int(np.count_nonzero(self._free()))
        return q**2 / ((2 * float(threshold) - 1) * p) if p else 0.0

    def to_frame(self, size: int | None = None) -> pd.DataFrame:
        """Tabulate the variables that are chosen on some half, the most frequent first.

        Parameters
        ----------
        size : int, default=None
            The size of the models; None means ``size``, that of EBIC on all rows.

        Returns
        -------
        pandas.DataFrame
            Indexed by variable: the observed ``frequency``, the ``sign`` that its coefficient
            mostly has, 1 or -1, and ``same_sign``, the share of the halves that choose it in which
            it has that sign.

        Examples
        --------
        >>> from ellzero import stability
        >>> from ellzero.datasets import load_diabetes_interactions
        >>> diabetes = load_diabetes_interactions()
        >>> table = stability(diabetes.data, diabetes.target).to_frame(3)
        >>> print(table.head(4))  # doctest: +NORMALIZE_WHITESPACE
                  frequency  sign  same_sign
        variable
        ltg            1.00     1        1.0
        bmi            0.99     1        1.0
        map            0.42     1        1.0
        tc             0.10    -1        1.0
        """
        import pandas as pd  # here, so that `import ellzero` does not wait for it

        place = self._place(size)
        frequency, sign = self.frequencies[place], self.signs[place]
        order = np.argsort(-frequency, kind="stable")[: np.count_nonzero(frequency)]
        index = [column_name(j, self.feature_names) for j in order]
        return pd.DataFrame(
            {
                "frequency": frequency[order],
                "sign": np.where(sign[order] < 0, -1, 1),
                "same_sign": (1 + np.abs(sign[order])) / 2,
            },
            index=pd.Index(index, name="variable", dtype=object),
        )

    def stand_ins(self, size: int | None = None, least: float = 0.1) -> pd.DataFrame:
        """List pairs of variables that take each other's place.

        Parameters
        ----------
        size : int, default=None
            The size of the models; None means ``size``, that of EBIC on all rows.
        least : float, default=0.1
            The least observed frequency of both.

        Returns
        -------
        pandas.DataFrame
            A row for each pair that is in together less often than chance would have it, the
            clearest first: ``variable``, the more frequent of the two, and ``stand_in``; how often
            ``either`` is in, at least one of them, and how often ``both`` are.

        Examples
        --------
        Cholesterols share what they know:

        >>> from ellzero import stability
        >>> from ellzero.datasets import load_diabetes_interactions
        >>> diabetes = load_diabetes_interactions()
        >>> pairs = stability(diabetes.data, diabetes.target).stand_ins()
        >>> print(pairs.head(3).to_string(index=False))
        variable stand_in  either  both
             hdl       tc    0.80  0.00
             hdl      ldl    0.68  0.00
         age:sex  bmi:map    0.77  0.13
        """
        import pandas as pd  # here, so that `import ellzero` does not wait for it

        check_parameters(
            "Stability.stand_ins", {"least": [Interval(Real, 0, 1, closed="both")]}, least=least
        )
        place = self._place(size)
        frequency = self.frequencies[place]
        often = np.flatnonzero((frequency >= max(float(least), 1e-12)) & self._free())
        often = often[np.argsort(-frequency[often], kind="stable")]
        member = np.zeros((len(self.halves), self.frequencies.shape[1]), dtype=bool)
        for half, found in enumerate(self._models):
            member[half, found.support[found.begins[place] : found.begins[place + 1]]] = True
        inside = member[:, often].astype(float)
        both = inside.T @ inside / len(self.halves)
        rows = []
        for a in range(len(often)):
            for b in range(a + 1, len(often)):
                lack = frequency[often[a]] * frequency[often[b]] - both[a, b]
                if lack > 1e-12:
                    either = frequency[often[a]] + frequency[often[b]] - both[a, b]
                    names = [column_name(often[k], self.feature_names) for k in (a, b)]
                    rows.append((lack, *names, either, both[a, b]))
        rows.sort(key=lambda row: -row[0])
        return pd.DataFrame(
            [row[1:] for row in rows], columns=["variable", "stand_in", "either", "both"]
        )

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw observed frequencies against the size of the models.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn on: a line for each variable, those that come to one half in colour, and
            a mark at the size that EBIC chooses on all rows.

        Examples
        --------
        >>> from ellzero import stability
        >>> from ellzero.datasets import make_collinear
        >>> X, y, beta = make_collinear(random_state=0)
        >>> stability(X, y, n_pairs=10).plot().get_ylabel()
        'observed frequency on halves'
        """
        from ellzero.plotting import draw_stability  # here, so that nobody waits for matplotlib

        return draw_stability(self, ax=ax)


def stability(
    X: Any,
    y: Any,
    *,
    max_size: int = 20,
    n_pairs: int = 50,
    ridge: float = 0.0,
    always_include: Any = None,
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
    swaps=False)``. What is counted are observed frequencies, not probabilities that a variable
    matters: two variables that stand in for each other halve theirs, and half the rows find less
    than all.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p)
        The columns to choose from.
    y : array-like of shape (n,)
        The response.
    max_size : int, default=20
        The largest size, columns always included counted.
    n_pairs : int, default=50
        How many pairs of halves.
    ridge : float, default=0.0
        Ridge penalty, for columns of unit norm.
    always_include : sequence of names, integers, or mask, default=None
        Columns that are in every support.
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
    anew. Every half is a random half of the rows, and one pass over X serves many.

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
    check_parameters(
        "stability",
        _CONSTRAINTS,
        max_size=max_size,
        n_pairs=n_pairs,
        ridge=ridge,
        always_include=always_include,
        fit_intercept=fit_intercept,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    X, y, sample_weight, names = check_table("stability", X, y, sample_weight)
    p = X.shape[1]
    forced = resolve_columns("always_include", always_include, p, names)
    largest = largest_size(int(max_size), forced, p)
    price = to_float("ridge", ridge)
    rng = check_random_state(random_state)
    units = np.arange(len(y)) if groups is None else _number(groups, len(y))
    if units.max() < 1:
        raise ValueError(f"stability needs two {'rows' if groups is None else 'groups'} at least.")
    if not isinstance(X, np.ndarray):
        X = X.tocsr()
    data = Data(X, y, sample_weight, fit_intercept, thread_count())
    progress = progress_printer("stability", verbose)
    halves: list[_Rows] = []
    models: list[_Models] = []
    size = -1
    for begin in range(0, int(n_pairs), _PAIRS):
        more = _make_halves(units, min(_PAIRS, int(n_pairs) - begin), rng)
        subsets = make_subsets(data, more)
        if any(not design.weight > 0 for design in subsets.designs):
            raise ValueError("sample_weight must not be zero for all rows of a half.")
        models += _search(subsets, largest, price, forced, effective_n_jobs(n_jobs), progress)
        halves += more
        if size < 0:
            size = _chosen_size(subsets.whole, price, forced, names)
    return Stability(halves, models, forced, p, size, names)


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
    _, codes = np.unique(groups, return_inverse=True)
    return codes.reshape(-1).astype(np.int64)


def _search(
    subsets: Subsets, largest: int, ridge: float, forced: _Rows, workers: int, progress: Any
) -> list[_Models]:
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
            _Models(found.begins, found.support, np.sign(found.beta)) for found in folds.judge()
        ]
    return models


def _chosen_size(whole: _core.Quadratic, ridge: float, forced: _Rows, names: Any) -> int:
    """Return the size that EBIC chooses on all rows."""
    if whole.weight < 1:
        return int(forced.size)
    problem = make_problem_on(whole, ridge, forced, names, None, thread_count(), 4)
    trusted = min(trusted_size(whole.weight, whole.columns), DEFAULT_MAX_SIZE)
    search_path(problem, "frontier", "ebic", largest_size(None, forced, whole.columns, trusted))
    return int(problem.engine.members.size)
