"""Columns that lie elsewhere: what a source is, and how it is read."""

from __future__ import annotations

import atexit
import operator
import os
import weakref
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["BLOCK_BYTES", "ColumnSource", "Reader"]

# So much is read at a time, as float64.
BLOCK_BYTES = 1 << 25
# Numbers that float32 holds exactly.
_SMALL = ("bool", "int8", "uint8", "int16", "uint16", "float16")


class ColumnSource(ABC):
    """An X that is not an array in memory, read a block of columns at a time.

    It stands in for X in :class:`ellzero.L0Regressor`, :class:`ellzero.L0RegressorCV`,
    :class:`ellzero.SpikeSlabRegressor` and :func:`ellzero.l0_frontier`. A subclass says its
    ``shape`` and reads columns that follow each other, ``block``; all else follows. Centring,
    scaling and weights are not its concern: blocks are multiplied by the same code as arrays in
    memory, to the same bits, so that means of any size cost no digits and supports are those of
    the same numbers in memory.

    A pass over all blocks makes many columns of products at once, and a search needs few passes;
    one more makes means and scales. Columns that products are taken with are read by ``columns``.

    Attributes
    ----------
    names : sequence of str or None
        Names of the columns, if they have any.
    block_columns : int
        How many columns to read at a time; 32 MB of them, unless a subclass knows better.
    passes : int
        How many times all columns have been read so far.
    checkpoint : str, path or None
        A file that columns of products are kept in as they are made, so that a search that was
        killed goes on from there: the same fit makes none of them again, and ends with the same
        bits. It is not removed; one of other data is refused. Set it before the fit.

    See Also
    --------
    ArraySource : arrays on disk: memory-mapped files, h5py, zarr.
    DaskSource : arrays of Dask.

    Examples
    --------
    Columns that are made when they are read:

    >>> import numpy as np
    >>> from ellzero import l0_frontier
    >>> from ellzero.sources import ColumnSource
    >>> class Waves(ColumnSource):
    ...     shape = (200, 30_000)
    ...
    ...     def block(self, begin, stop):
    ...         time = np.linspace(0, 1, 200)[:, None]
    ...         return np.sin(np.arange(begin, stop) / 100 * time)
    >>> rng = np.random.default_rng(0)
    >>> waves = Waves()
    >>> y = waves.block(5000, 5001)[:, 0] + 0.01 * rng.normal(size=200)
    >>> frontier = l0_frontier(waves, y, max_size=2)
    >>> frontier.at(size=1).support.tolist()
    [5000]
    """

    names: Sequence[str] | None = None
    passes: int = 0
    checkpoint: str | os.PathLike[str] | None = None

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @abstractmethod
    def block(self, begin: int, stop: int) -> Any:
        """Read the columns from ``begin`` up to, but not including, ``stop``.

        Parameters
        ----------
        begin, stop : int
            Which.

        Returns
        -------
        array of shape (n, stop - begin)
            Finite numbers of any type and in any order; float64 and float32 are not copied.
        """

    def columns(self, which: NDArray[np.int64]) -> Any:
        """Read some columns, few of many; by default one run of neighbours after the other.

        Parameters
        ----------
        which : ndarray of int64
            Which, in increasing order.

        Returns
        -------
        array of shape (n, len(which))
            The same numbers that ``block`` returns.
        """
        runs = np.split(which, np.flatnonzero(np.diff(which) != 1) + 1)
        return np.hstack([np.asarray(self.block(int(run[0]), int(run[-1]) + 1)) for run in runs])

    def check_shape(self) -> None:
        """Raise if the shape is not that of a table."""
        try:
            rows, columns = (operator.index(side) for side in self.shape)
        except (TypeError, ValueError):
            rows = columns = 0
        if rows < 1 or columns < 1:
            raise ValueError(
                f"X: {type(self).__name__}.shape must be two positive whole numbers; got "
                f"{self.shape!r}."
            )

    def checkpoint_of(self, repeat: int) -> str:
        """Return the file that a repeat of a cross-validation goes on from: the first has its name.

        Parameters
        ----------
        repeat : int
            Which, from 0.

        Returns
        -------
        str
            Its path.
        """
        path = os.fspath(self.checkpoint or "")
        return path if repeat == 0 else f"{path}.{repeat}"

    @property
    def block_columns(self) -> int:
        """How many columns to read at a time."""
        rows, columns = self.shape
        return int(max(1, min(columns, BLOCK_BYTES // (8 * max(rows, 1)))))


class Reader:
    """What the core reads a source by: it gets what was asked for, or a sentence is raised.

    Parameters
    ----------
    source : ColumnSource
        Where columns come from.
    """

    def __init__(self, source: ColumnSource) -> None:
        _OPEN.add(self)
        self._source = source
        self._rows = int(source.shape[0])

    def block(self, begin: int, stop: int) -> NDArray[np.floating]:
        """Read some columns that follow each other: float64 or float32."""
        if begin == 0:
            self._source.passes += 1
        given = self._source.block(begin, stop)
        return self._check(f"block({begin}, {stop})", given, stop - begin)

    def columns(self, which: NDArray[np.int64]) -> NDArray[np.float64]:
        """Read some columns, which are checked to be finite."""
        call = f"columns({_some(which)})"
        found = self._check(call, self._source.columns(which), len(which))
        bad = ~np.isfinite(found).all(axis=0)
        if bad.any():
            raise self._not_finite(call, int(which[bad.argmax()]))
        return found.astype(np.float64, copy=False)

    def refuse(self, column: int, begin: int, stop: int) -> None:
        """Raise, since what was read of a column is not finite."""
        raise self._not_finite(f"block({begin}, {stop})", column)

    def _not_finite(self, call: str, column: int) -> ValueError:
        return ValueError(f"X: {self._name(call)} returned NaN or infinity in column {column}.")

    def _name(self, call: str) -> str:
        return f"{type(self._source).__name__}.{call}"

    def _check(self, call: str, given: Any, width: int) -> NDArray[np.floating]:
        try:
            found = np.asarray(given)
        except (TypeError, ValueError) as error:
            raise TypeError(f"X: {self._name(call)} returned no array of numbers.") from error
        if found.shape != (self._rows, width):
            raise ValueError(
                f"X: {self._name(call)} returned an array of shape {found.shape} instead of "
                f"{(self._rows, width)}."
            )
        if found.dtype.kind not in "biuf":
            raise TypeError(f"X: {self._name(call)} returned {found.dtype}, not real numbers.")
        if found.dtype not in (np.float64, np.float32):
            found = found.astype(np.float32 if found.dtype.name in _SMALL else np.float64)
        if not found.dtype.isnative or not found.flags.aligned:
            found = np.array(found, dtype=found.dtype.newbyteorder("="))
        if any(stride % found.itemsize for stride in found.strides):
            found = np.ascontiguousarray(found)
        return found


_OPEN: weakref.WeakSet[Reader] = weakref.WeakSet()


@atexit.register
def _let_go() -> None:
    """Let go of all sources: what they refer to may refer to a fit, which the core can't tell."""
    for reader in list(_OPEN):
        del reader._source


def _some(which: NDArray[np.int64]) -> str:
    """Return the first few numbers."""
    shown = ", ".join(str(j) for j in which[:3])
    return f"[{shown}{', ...' if len(which) > 3 else ''}]"
