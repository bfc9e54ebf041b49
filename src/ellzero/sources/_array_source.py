"""Arrays on disk and on clusters, as sources of columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.sources._column_source import ColumnSource

__all__ = ["ArraySource", "DaskSource"]


def _checked_names(names: Sequence[str] | None, columns: int) -> Sequence[str] | None:
    if names is not None and len(names) != columns:
        raise ValueError(f"names has {len(names)} entries, but array has {columns} columns.")
    return names


class ArraySource(ColumnSource):
    """The columns of an array that lies on disk.

    Blocks are whole chunks, where an array has any. An array in chunks that hold few columns and
    all rows is read fastest.

    Parameters
    ----------
    array : numpy.memmap, h5py.Dataset, zarr.Array, or the like
        Anything of two dimensions with a ``shape`` that returns numbers for ``array[:, a:b]``. It
        must not change while it is in use. Integers are welcome: they are converted block by block.
    names : sequence of str, default=None
        Names of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from ellzero import L0Regressor
    >>> from ellzero.sources import ArraySource
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 3, size=(100, 5000), dtype=np.int8)  # or np.memmap(...)
    >>> y = X[:, 17] - X[:, 4711] + 0.1 * rng.normal(size=100)
    >>> L0Regressor().fit(ArraySource(X), y).support_.tolist()
    [17, 4711]
    """

    def __init__(self, array: Any, names: Sequence[str] | None = None) -> None:
        shape = getattr(array, "shape", None)
        if shape is None or len(shape) != 2:
            found = type(array).__name__ if shape is None else f"one of shape {tuple(shape)}"
            raise ValueError(f"array must be an array of two dimensions; got {found}.")
        self._array, self.names = array, _checked_names(names, shape[1])
        self._shape = (int(shape[0]), int(shape[1]))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._shape

    @property
    def block_columns(self) -> int:
        """How many columns to read at a time: whole chunks."""
        width = super().block_columns
        chunk = self._chunk
        return max(width // chunk, 1) * chunk if chunk else width

    @property
    def _chunk(self) -> int:
        """The columns of a chunk; 0 if there are no chunks."""
        chunks = getattr(self._array, "chunks", None)
        return int(chunks[1]) if chunks else 0

    def block(self, begin: int, stop: int) -> Any:
        """Read the columns from ``begin`` up to ``stop``.

        Parameters
        ----------
        begin, stop : int
            Which.

        Returns
        -------
        ndarray of shape (n, stop - begin)
            As they are stored.
        """
        return self._array[:, begin:stop]

    def columns(self, which: NDArray[np.int64]) -> Any:
        """Read some columns, each chunk once.

        Parameters
        ----------
        which : ndarray of int64
            Which, in increasing order.

        Returns
        -------
        ndarray of shape (n, len(which))
            As they are stored.
        """
        if isinstance(self._array, np.ndarray):
            return self._array[:, which]
        chunk = self._chunk
        if not chunk:
            return super().columns(which)
        parts = []
        for first in np.unique(which // chunk) * chunk:
            own = which[(which >= first) & (which < first + chunk)]
            begin, stop = int(own[0]), int(own[-1]) + 1
            parts.append(np.asarray(self._array[:, begin:stop])[:, own - begin])
        return np.hstack(parts)


class DaskSource(ColumnSource):
    """The columns of an array of Dask, computed a block at a time where the array lives.

    Parameters
    ----------
    array : dask.array.Array
        Of two dimensions and known shape.
    names : sequence of str, default=None
        Names of the columns.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from ellzero import L0Regressor
    >>> from ellzero.sources import DaskSource
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5000))
    >>> y = X[:, 17] - X[:, 4711] + 0.1 * rng.normal(size=100)
    >>> L0Regressor().fit(DaskSource(da.from_array(X, chunks=(100, 500))), y).support_.tolist()
    [17, 4711]
    """

    def __init__(self, array: Any, names: Sequence[str] | None = None) -> None:
        shape: tuple[Any, ...] = getattr(array, "shape", ())
        if len(shape) != 2 or not hasattr(array, "compute"):
            raise ValueError("array must be a Dask array of two dimensions.")
        if any(math.isnan(side) for side in shape):
            raise ValueError(
                "array must be of known shape: call its compute_chunk_sizes() beforehand."
            )
        self._array, self.names = array, _checked_names(names, shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return int(self._array.shape[0]), int(self._array.shape[1])

    def block(self, begin: int, stop: int) -> Any:
        """Compute the columns from ``begin`` up to ``stop``.

        Parameters
        ----------
        begin, stop : int
            Which.

        Returns
        -------
        ndarray of shape (n, stop - begin)
            What the array holds there.
        """
        return self._array[:, begin:stop].compute()

    def columns(self, which: NDArray[np.int64]) -> Any:
        """Compute some columns, all at once.

        Parameters
        ----------
        which : ndarray of int64
            Which, in increasing order.

        Returns
        -------
        ndarray of shape (n, len(which))
            What the array holds there.
        """
        return self._array[:, which].compute()
