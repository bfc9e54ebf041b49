"""A table of genotypes at two bits each."""

from __future__ import annotations

import warnings
from functools import cached_property
from numbers import Real
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.genotypes._codes import byte_count, pack_copies, unpack_copies

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Genotypes", "MissingGenotypesWarning", "refuse_genotypes"]

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]
_PASS = 16  # columns whose products a pass over all variants makes


class MissingGenotypesWarning(UserWarning):
    """Some genotypes are missing, and got the mean of their variant."""


class Genotypes:
    """How many copies of an allele samples have of variants, at two bits each.

    Made by :func:`ellzero.read_genotypes` or :meth:`from_array`, and taken as X by
    :class:`ellzero.L0Regressor`, :class:`ellzero.L0RegressorCV`, :func:`ellzero.l0_frontier`,
    :class:`ellzero.SpikeSlabRegressor` and :func:`ellzero.marginal_map`. Each gives what it gives
    for the same numbers as an array of float64, which would be 32 times as large. A missing
    genotype counts as the mean of its variant, over the samples where it is known.

    ``genotypes[rows]`` and ``genotypes[:, variants]`` are copies of some of them, at two bits too.
    Missing genotypes of such a copy have the means of the table that it was taken from.

    Parameters
    ----------
    packed : ndarray of uint8
        A row for each variant, four samples to a byte, as in a .bed file after its first three
        bytes. It is not copied, and may be mapped from a file.
    n_samples : int
        How many samples there are.
    variants : pandas.DataFrame
        A row for each variant, with a column ``id`` at least.
    samples : pandas.DataFrame
        A row for each sample, with a column ``id`` at least.
    means : ndarray, default=None
        What a missing genotype of each variant counts as; None means the mean of the known ones, 0
        if there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from ellzero import Genotypes
    >>> genotypes = Genotypes.from_array([[0, 1], [2, -1], [1, 0]], variants=["rs1", "rs2"])
    >>> genotypes
    Genotypes: 3 samples, 2 variants
    >>> genotypes.missing_counts.tolist()
    [0, 1]
    >>> genotypes.to_array()
    array([[0. , 1. ],
           [2. , 0.5],
           [1. , 0. ]])
    """

    ndim = 2

    def __init__(
        self,
        packed: NDArray[np.uint8],
        n_samples: int,
        variants: pd.DataFrame,
        samples: pd.DataFrame,
        means: _Floats | None = None,
    ) -> None:
        if packed.ndim != 2 or packed.dtype != np.uint8 or not packed.flags.c_contiguous:
            raise ValueError("packed must be a table of bytes, a row for each variant.")
        if packed.shape[1] != byte_count(n_samples):
            raise ValueError(
                f"packed has {packed.shape[1]} bytes for a variant, but {n_samples} samples need "
                f"{byte_count(n_samples)}."
            )
        for name, table, count in (
            ("variants", variants, len(packed)),
            ("samples", samples, n_samples),
        ):
            if "id" not in table.columns:
                raise ValueError(f"{name} must have a column 'id'.")
            if len(table) != count:
                raise ValueError(f"{name} must have {count} rows; got {len(table)}.")
        self._packed, self.shape = packed, (int(n_samples), len(packed))
        self.variants, self.samples = variants, samples
        if means is not None:
            self.means = _check_means(means, len(packed))

    @classmethod
    def from_array(cls, copies: Any, variants: Any = None, samples: Any = None) -> Genotypes:
        """Pack a table of copies.

        Parameters
        ----------
        copies : array-like of shape (n_samples, n_variants)
            Numbers 0, 1 and 2, of any type; what is negative or NaN is missing.
        variants : sequence of str, or pandas.DataFrame, default=None
            Their ids, or a table with a column ``id``. None means the names of the columns of a
            data frame, else ``variant0`` and so on.
        samples : sequence of str, or pandas.DataFrame, default=None
            The same of the samples.

        Returns
        -------
        Genotypes
            A sixteenth of an array of int32 in size.

        Examples
        --------
        >>> from ellzero import Genotypes
        >>> Genotypes.from_array([[0.0, 2.0], [1.0, float("nan")]]).missing_counts.tolist()
        [0, 1]
        """
        table = np.asarray(copies)
        if variants is None and hasattr(copies, "columns"):
            variants = [str(name) for name in copies.columns]
        if table.ndim != 2:
            raise ValueError("copies must be a table: a row for each sample.")
        if table.dtype.kind not in "biuf":
            raise ValueError("copies must hold numbers.")
        n, p = table.shape
        return cls(
            pack_copies(table), n, _frame("variant", variants, p), _frame("sample", samples, n)
        )

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"Genotypes: {self.shape[0]:,} samples, {self.shape[1]:,} variants"

    def __array__(self, *arguments: Any, **options: Any) -> Any:
        raise TypeError("Genotypes become an array where asked to: call to_array().")

    def __getitem__(self, key: Any) -> Genotypes:
        rows, columns = _both(key)
        packed, n = self._packed, self.shape[0]
        variants, samples, means = self.variants, self.samples, self.means
        if columns is not None:
            which = _resolve(columns, self.shape[1])
            packed, means = np.ascontiguousarray(packed[which]), means[which]
            variants = variants.iloc[which].reset_index(drop=True)
        if rows is not None:
            which = _resolve(rows, n)
            packed = _core.genotype_rows(packed, n, which, _threads())
            samples = samples.iloc[which].reset_index(drop=True)
            n = len(which)
        return Genotypes(packed, n, variants, samples, means)

    @cached_property
    def _counts(self) -> _Integers:
        """By variant: how often two copies, one and none, and how many are missing."""
        return _core.genotype_counts(self._packed, self.shape[0], _threads())

    @cached_property
    def means(self) -> _Floats:
        """What a missing genotype of each variant counts as; half of it is a share of alleles."""
        two, one, none, _ = self._counts.T
        return np.asarray((2 * two + one) / np.maximum(two + one + none, 1), dtype=np.float64)

    @property
    def missing_counts(self) -> _Integers:
        """How many samples have no known genotype, by variant."""
        return self._counts[:, 3].copy()

    @property
    def feature_names(self) -> NDArray[np.object_] | None:
        """The ids of the variants; None if some are not strings, or not unique."""
        ids = self.variants["id"]
        if not ids.is_unique or not all(isinstance(name, str) for name in ids):
            return None
        return np.array(ids, dtype=object)

    def with_means(self, means: Any) -> Genotypes:
        """Return the same genotypes with other values for what is missing.

        To predict for new samples as for those of a fit, give them the means of the fit.

        Parameters
        ----------
        means : array-like of shape (n_variants,)
            From 0 to 2, such as the ``means`` of other Genotypes.

        Returns
        -------
        Genotypes
            It shares its bytes with this one.

        Examples
        --------
        >>> from ellzero import Genotypes
        >>> new = Genotypes.from_array([[0, -1]])
        >>> new.with_means([0.5, 1.25]).to_array()
        array([[0.  , 1.25]])
        """
        return Genotypes(self._packed, self.shape[0], self.variants, self.samples, means)

    def to_array(self, variants: Any = None, *, missing: str = "mean") -> _Floats:
        """Return copies as float64, 32 times as large.

        Parameters
        ----------
        variants : sequence of int, or mask, default=None
            Of which variants; None means all.
        missing : {"mean", "nan"}, default="mean"
            What a missing genotype becomes.

        Returns
        -------
        ndarray of shape (n_samples, n_variants)
            In columns.

        Examples
        --------
        >>> from ellzero import Genotypes
        >>> genotypes = Genotypes.from_array([[0, 1], [2, -1], [1, 0]])
        >>> genotypes.to_array([1], missing="nan").ravel()
        array([ 1., nan,  0.])
        """
        if missing not in ("mean", "nan"):
            raise ValueError(f"missing must be 'mean' or 'nan'; got {missing!r}.")
        which = _resolve(slice(None) if variants is None else variants, self.shape[1])
        table = unpack_copies(self._packed[which], self.shape[0])
        if missing == "mean":
            row, column = np.nonzero(np.isnan(table))
            table[row, column] = self.means[which][column]
        return table

    def linked_to(self, variants: Any, r2: float = 0.1) -> _Integers:
        """Return the variants that are correlated with some of them: their neighbourhoods.

        Parameters
        ----------
        variants : sequence of int, or mask
            Which to look around.
        r2 : float, default=0.1
            The least squared correlation with any of these.

        Returns
        -------
        ndarray of int
            Sorted; those given that are not constant are among them.

        Examples
        --------
        >>> import numpy as np
        >>> from ellzero import Genotypes
        >>> rng = np.random.default_rng(0)
        >>> copies = rng.binomial(2, 0.3, size=(200, 5))
        >>> copies[:, 3] = np.where(rng.random(200) < 0.8, copies[:, 1], copies[:, 3])
        >>> Genotypes.from_array(copies).linked_to([1])
        array([1, 3])
        """
        if not isinstance(r2, Real) or not 0 < float(r2) <= 1:
            raise ValueError(f"r2 must be above 0 and at most 1; got {r2!r}.")
        which = _resolve(variants, self.shape[1])
        mean, inverse_norm = self._scales()
        near = np.zeros(self.shape[1], dtype=bool)
        for begin in range(0, which.size, _PASS):
            some = which[begin : begin + _PASS]
            values = (self.to_array(some) - mean[some]) * inverse_norm[some]
            found = self._columns().products(mean, inverse_norm, None, values, _threads())
            near |= (found**2 >= float(r2) - 1e-12).any(axis=0)
        return np.flatnonzero(near)

    def _scales(self) -> tuple[_Floats, _Floats]:
        """Return the means of all variants, and one over their norms about them; 0 if constant."""
        two, one, none, missing = self._counts.T
        mean = (2 * two + one + self.means * missing) / self.shape[0]
        square = two * (2 - mean) ** 2 + one * (1 - mean) ** 2 + none * mean**2
        norm = np.sqrt(square + missing * (self.means - mean) ** 2)
        return mean, np.divide(1, norm, out=np.zeros_like(norm), where=norm > 1e-9)

    def write(self, path: str | PathLike[str]) -> None:
        """Write a .bed file, and its .bim and .fam beside it.

        Each is there whole or not at all; the .bed comes last. Means of other Genotypes are not
        kept.

        Parameters
        ----------
        path : str or path
            Of the .bed file.
        """
        from ellzero.genotypes._writing import write_genotypes

        write_genotypes(self, self._packed, path)

    def _columns(self) -> _core.Columns:
        return _core.genotype_columns(self._packed, self.shape[0], self.means)

    def _columns_of(self, rows: _Integers) -> _core.Columns:
        """Return the columns of some rows, copied."""
        packed = _core.genotype_rows(self._packed, self.shape[0], rows, _threads())
        return _core.genotype_columns(packed, len(rows), self.means)

    def _warn_of_missing(self) -> None:
        """Say how many genotypes are missing, to the caller of whoever calls the caller."""
        count, total = int(self._counts[:, 3].sum()), self.shape[0] * self.shape[1]
        if count:
            warnings.warn(
                f"X: {count:,} of {total:,} genotypes ({count / total:.2%}) are missing; each "
                "counts as the mean of its variant.",
                MissingGenotypesWarning,
                stacklevel=5,
            )


def refuse_genotypes(caller: str, X: Any) -> None:
    """Raise if X is genotypes, where they are not taken as they are."""
    if isinstance(X, Genotypes):
        raise TypeError(
            f"{caller} does not take Genotypes: give X.to_array(), of some variants if need be."
        )


def _threads() -> int:
    from ellzero._engine import thread_count  # which needs this file

    return thread_count()


def _frame(kind: str, given: Any, count: int) -> pd.DataFrame:
    import pandas as pd  # here, so that nobody else waits for it

    if isinstance(given, pd.DataFrame):
        return given
    ids = [f"{kind}{i}" for i in range(count)] if given is None else list(given)
    if len(ids) != count:
        raise ValueError(f"{kind}s must be as many as copies has, {count}; got {len(ids)}.")
    return pd.DataFrame({"id": ids})


def _check_means(means: Any, count: int) -> _Floats:
    values = np.ascontiguousarray(means, dtype=np.float64)
    if values.shape != (count,) or not ((values >= 0) & (values <= 2)).all():
        raise ValueError(f"means must be {count} numbers from 0 to 2, one for each variant.")
    return values


def _both(key: Any) -> tuple[Any, Any]:
    """Return what is asked of rows and of columns; None if all."""
    parts = key if isinstance(key, tuple) else (key,)
    if len(parts) > 2:
        raise IndexError("Genotypes have two dimensions.")
    parts = (*parts, slice(None))[:2]
    rows, columns = (None if _is_all(part) else part for part in parts)
    return rows, columns


def _is_all(part: Any) -> bool:
    return part is Ellipsis or (isinstance(part, slice) and part == slice(None))


def _resolve(which: Any, count: int) -> _Integers:
    """Return indices of a slice, a mask, or indices that may count from the end."""
    if isinstance(which, slice):
        return np.ascontiguousarray(np.arange(count)[which])
    given = np.asarray(which)
    if given.size == 0:
        return np.empty(0, dtype=np.int64)
    if given.ndim != 1 or given.dtype.kind not in "biu":
        raise IndexError("Genotypes are indexed by slices, masks and lists of integers.")
    if given.dtype.kind == "b" and given.size != count:
        raise IndexError(f"a mask of {given.size} does not fit {count}.")
    if given.dtype.kind != "b" and (given.min() < -count or given.max() >= count):
        raise IndexError(f"there are {count}; got {int(given.max())}.")
    return np.ascontiguousarray(np.arange(count)[given])
