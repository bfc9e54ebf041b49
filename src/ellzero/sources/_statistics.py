"""All that least squares asks of rows, however many there are."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.sources._moments import Moments, merge, pool, rebase

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SufficientStatistics", "refuse_statistics", "warn_of_digits"]

_Floats = NDArray[np.float64]
# Of sums of squares about sixteen digits are known.
_DIGITS = 1e-10


class SufficientStatistics:
    r"""Means and sums of products of the columns of X and of y: all that least squares needs.

    .. math:: n, \quad \bar x, \quad \bar y, \quad \sum_i (x_i - \bar x)(x_i - \bar x)', \quad
              \sum_i (x_i - \bar x)(y_i - \bar y), \quad \sum_i (y_i - \bar y)^2

    of all rows, or of each of several folds. They are made in one pass over rows that need not fit
    into memory, by one of the functions below, and take ``8 (p + 1)^2`` bytes for every fold.
    Estimators take them in place of X, without y: :class:`ellzero.L0Regressor`,
    :class:`ellzero.L0RegressorCV` (whose folds are theirs), :class:`ellzero.SpikeSlabRegressor`,
    :func:`ellzero.l0_frontier` and :func:`ellzero.marginal_map`.

    Attributes
    ----------
    n : int
        Rows.
    weight : float
        The sum of their weights: n, if there are none.
    n_folds : int
        Folds that rows were put into at random; 0 if none.
    names : list of str
        Of the columns, in their order.
    target : str
        Name of the response.

    See Also
    --------
    SufficientStatistics.from_parquet, SufficientStatistics.from_arrow
    SufficientStatistics.from_dask, SufficientStatistics.from_arrays

    Notes
    -----
    Every block of rows is centred at its own means, counted from the first row of all, before
    products are taken in float64; blocks are put together by the formula of Chan, Golub and LeVeque
    in an order that depends on the data alone. So a mean 1e8 times the standard deviation costs no
    digits, and the same parts give the same bits, whoever reads them.

    What is not in them are the rows: nothing that looks at residuals one by one can be had of them.
    Sums of squared residuals are differences, and right to about ``1e-16 sum (y_i - mean)^2``.

    Examples
    --------
    >>> import numpy as np
    >>> from ellzero import L0Regressor, SufficientStatistics
    >>> rng = np.random.default_rng(0)
    >>> def blocks():
    ...     for _ in range(10):
    ...         X = rng.normal(size=(1000, 20))
    ...         yield X, X[:, 3] - X[:, 7] + rng.normal(size=1000)
    >>> statistics = SufficientStatistics.from_arrays(blocks())
    >>> statistics
    SufficientStatistics(n=10000, columns=20)
    >>> L0Regressor().fit(statistics).support_.tolist()
    [3, 7]
    """

    def __init__(
        self,
        folds: Sequence[Moments],
        shift: _Floats,
        names: Sequence[str] | None,
        target: str,
        *,
        seed: int = 0,
        weighted: bool = False,
    ) -> None:
        # Not for users: they have the functions below
        self._folds, self._shift = tuple(folds), shift
        self.named = names is not None
        self.names = [f"x{j}" for j in range(len(shift) - 1)] if names is None else list(names)
        self.target = target
        self._seed, self._weighted = seed, weighted

    @classmethod
    def from_arrays(
        cls,
        blocks: Iterable[Any],
        *,
        names: Sequence[str] | None = None,
        folds: int = 0,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> SufficientStatistics:
        """Go through blocks of rows that are made one after the other.

        Parameters
        ----------
        blocks : iterable of pairs ``(X, y)`` or triples ``(X, y, weight)``
            Arrays of shape (rows, p), (rows,) and (rows,); or sliceable arrays on disk such as
            those of h5py and zarr, or a ``numpy.memmap``, which are read a stretch at a time and
            never whole. Each pair is a part: see ``random_state``.
        names : sequence of str, default=None
            Of the columns; None takes those of data frames, if they have any.
        folds : int, default=0
            Folds to keep apart, for cross-validation; 0 means none.
        random_state : int, default=0
            The fold of a row hangs on this, the number of its part and its number there alone.
        n_jobs : int, default=None
            Blocks worked on at a time; None means one for each core. It changes no bit.

        Returns
        -------
        SufficientStatistics
            Those of all rows.
        """
        from ellzero.sources._arrays import read_arrays

        return read_arrays(blocks, names, folds, random_state, n_jobs)

    @classmethod
    def from_arrow(
        cls,
        batches: Any,
        *,
        target: str,
        columns: Sequence[str] | None = None,
        weights: str | None = None,
        folds: int = 0,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> SufficientStatistics:
        """Go through Arrow's record batches.

        Parameters
        ----------
        batches : pyarrow.Table, RecordBatchReader, Dataset, or iterable of RecordBatch or Table
            The rows. Each of an iterable's is a part: see ``random_state``.
        target : str
            Name of the response.
        columns : sequence of str, default=None
            Names of the columns of X; None means all others.
        weights : str, default=None
            Name of a column with frequency weights.
        folds, random_state, n_jobs
            As of :meth:`from_arrays`.

        Returns
        -------
        SufficientStatistics
            Those of all rows.
        """
        from ellzero.sources._arrow import read_arrow

        return read_arrow(batches, target, columns, weights, folds, random_state, n_jobs)

    @classmethod
    def from_parquet(
        cls,
        paths: Any,
        *,
        target: str,
        columns: Sequence[str] | None = None,
        weights: str | None = None,
        folds: int = 0,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> SufficientStatistics:
        """Go through Parquet files, one after the other.

        Parameters
        ----------
        paths : path, pattern such as ``"part-*.parquet"``, or sequence of paths
            The files, in the order of their names if they come from a pattern; they have the same
            columns. Each is a part: see ``random_state``. The footers of all of them are looked at
            before any work.
        target, columns, weights, folds, random_state, n_jobs
            As of :meth:`from_arrow`.

        Returns
        -------
        SufficientStatistics
            Those of all rows.
        """
        from ellzero.sources._parquet import read_parquet

        return read_parquet(paths, target, columns, weights, folds, random_state, n_jobs)

    @classmethod
    def from_dask(
        cls,
        X: Any,
        y: Any,
        weights: Any = None,
        *,
        folds: int = 0,
        random_state: int = 0,
        timeout: float = 300.0,
    ) -> SufficientStatistics:
        """Go through a Dask collection, on the cluster that it lives on.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame
            The columns. Each of its partitions (chunks of rows) is a part: see ``random_state``.
            What is gathered are the statistics.
        y : dask.array.Array, dask.dataframe.Series or str
            The response, in the same partitions; or its name among the columns of a data frame.
        weights : the same, default=None
            Frequency weights.
        folds, random_state
            As of :meth:`from_arrays`.
        timeout : float, default=300
            Seconds to wait for a worker if the cluster has lost all of them.

        Returns
        -------
        SufficientStatistics
            Those of all rows.
        """
        from ellzero.sources._dask import read_dask

        return read_dask(X, y, weights, folds, random_state, timeout)

    @property
    def n(self) -> int:
        """Rows."""
        return sum(fold.rows for fold in self._folds)

    @property
    def weight(self) -> float:
        """The sum of the weights of all rows."""
        return sum(fold.weight for fold in self._folds)

    @property
    def n_folds(self) -> int:
        """How many folds are kept apart; 0 if none."""
        return len(self._folds) if len(self._folds) > 1 else 0

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of X."""
        return self.n, len(self.names)

    def __repr__(self) -> str:
        folds = f", folds={self.n_folds}" if self.n_folds else ""
        return f"SufficientStatistics(n={self.n}, columns={len(self.names)}{folds})"

    def covariance(self) -> pd.DataFrame:
        """Return the covariance matrix of all columns, the response last, over n - 1.

        Returns
        -------
        pandas.DataFrame
            In the units of the columns; n is the sum of the weights.
        """
        import pandas as pd

        total, names = self._total(), [*self.names, self.target]
        if total.weight <= 1:
            raise ValueError("covariance needs rows that weigh more than 1 together.")
        return pd.DataFrame(total.products / (total.weight - 1), names, names)

    def means(self) -> pd.Series:
        """Return the means of all columns, the response last.

        Returns
        -------
        pandas.Series
            In the units of the columns.
        """
        import pandas as pd

        mean = self._shift + self._total().mean
        return pd.Series(mean, index=[*self.names, self.target])

    def merge(self, *others: SufficientStatistics) -> SufficientStatistics:
        """Put rows together that were read elsewhere, or later.

        Parameters
        ----------
        *others : SufficientStatistics
            Of other rows, with the same columns and as many folds.

        Returns
        -------
        SufficientStatistics
            Those of all rows.
        """
        out = [fold._replace(products=fold.products.copy()) for fold in self._folds]
        for other in others:
            if not isinstance(other, SufficientStatistics):
                raise TypeError(f"merge takes SufficientStatistics; got {type(other).__name__}.")
            for what, one, two in (
                ("columns", self.names, other.names),
                ("target", self.target, other.target),
                ("folds", self.n_folds, other.n_folds),
            ):
                if one != two:
                    raise ValueError(f"statistics to be merged differ in their {what}.")
            moved = [rebase(fold, other._shift, self._shift) for fold in other._folds]
            out = [merge(*pair) for pair in zip(out, moved, strict=True)]
        names = self.names if self.named else None
        weighted = self._weighted or any(other._weighted for other in others)
        return SufficientStatistics(
            out, self._shift, names, self.target, seed=self._seed, weighted=weighted
        )

    def save(self, path: str | Path) -> None:
        """Write a file, which :meth:`load` reads.

        It is a ZIP archive of NumPy's arrays (``numpy.load`` reads it, without pickle): ``header``,
        a JSON text with ``format``, ``version``, ``names`` (null if there are none), ``target``,
        ``seed`` and ``weighted``; ``shift``, of p + 1 columns, the response last; ``rows`` and
        ``weight`` by fold; ``mean``, by fold and column, counted from the shift; ``products``, by
        fold, column and column: sums of products of deviations from the means of the fold.

        Parameters
        ----------
        path : path
            Where to; a file that is there is replaced once the new one is whole.
        """
        from ellzero.sources._file import write_statistics

        write_statistics(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> SufficientStatistics:
        """Read what :meth:`save` has written.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        SufficientStatistics
            The same, bit for bit.
        """
        from ellzero.sources._file import read_statistics

        return read_statistics(Path(path))

    def _total(self) -> Moments:
        return pool(self._folds)

    def _design(self, fit_intercept: bool, cache_bytes: float) -> _core.Quadratic:
        """Return what is fitted on."""
        return self._quadratic(self._total(), fit_intercept, cache_bytes)

    def _fold_designs(self, fit_intercept: bool, cache_bytes: float) -> list[_core.Quadratic]:
        """Return the same for every fold alone."""
        return [self._quadratic(fold, fit_intercept, cache_bytes) for fold in self._folds]

    def _quadratic(
        self, moments: Moments, fit_intercept: bool, cache_bytes: float
    ) -> _core.Quadratic:
        mean, products = self._shift + moments.mean, moments.products
        if not fit_intercept:
            products = products + moments.weight * np.multiply.outer(mean, mean)
            mean = np.zeros_like(mean)
        return _core.statistics_quadratic(
            np.ascontiguousarray(products[:-1, :-1]),
            np.ascontiguousarray(products[:-1, -1]),
            _spread(products[-1, -1], mean[-1], moments.weight),
            np.ascontiguousarray(mean[:-1]),
            float(mean[-1]),
            moments.weight,
            cache_bytes,
        )


def _spread(squares: float, mean: float, weight: float) -> float:
    """Return the sum of squares of y, or 0 where it is down to rounding of the mean."""
    rounding = 8 * np.finfo(float).eps * abs(mean)
    return float(squares) if np.sqrt(squares) > rounding * np.sqrt(weight) else 0.0


def refuse_statistics(caller: str, X: Any) -> None:
    """Raise if X is no table of rows but statistics of one."""
    if isinstance(X, SufficientStatistics):
        raise ValueError(f"{caller} needs the rows of X: sufficient statistics do not have them.")


def warn_of_digits(caller: str, X: Any, left: float, total: float) -> None:
    """Warn if X is statistics and what is left of y is so little that they hardly know it."""
    if isinstance(X, SufficientStatistics) and total > 0 and left < _DIGITS * total:
        warnings.warn(
            f"{caller}: the fit is exact to ten digits of the variance of y, and statistics know "
            "few more: what is left of y may be rounding. Fit the rows, or some of them.",
            UserWarning,
            stacklevel=3,
        )
