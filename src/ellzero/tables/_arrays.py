"""Arrays that grow, and Arrow's as NumPy's."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Growing", "MostlyZero", "to_numpy"]


class Growing:
    """An array that is appended to.

    Large ones have pages of their own, which go back to the system as soon as the array is deleted.
    Memory freed on the heap would stay with the process, and a large table would take it twice.
    """

    def __init__(self, dtype: Any) -> None:
        self._array = np.empty(0, dtype=dtype)  # the first batch may be all there is
        self._length = 0

    def append(self, values: NDArray[Any]) -> None:
        """Put values at the end."""
        end = self._length + len(values)
        if end > len(self._array):
            larger = _room(max(end, 2 * len(self._array)), self._array.dtype)
            larger[: self._length] = self._array[: self._length]
            self._array = larger
        self._array[self._length : end] = values
        self._length = end

    def finish(self) -> NDArray[Any]:
        """Return all of it."""
        return self._array[: self._length]


class MostlyZero:
    """Numbers that are appended to, and take no memory as long as all are 0."""

    def __init__(self) -> None:
        self._array: Growing | None = None
        self._length = 0

    def append(self, values: NDArray[np.float64]) -> None:
        """Put values at the end."""
        if self._array is None and values.any():
            self._array = Growing(np.float64)
            self._array.append(np.zeros(self._length))
        if self._array is not None:
            self._array.append(values)
        self._length += len(values)

    def finish(self) -> NDArray[np.float64] | None:
        """Return all of them; None if all are 0."""
        return None if self._array is None else self._array.finish()


def _room(length: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an uninitialised array; memory is taken only where it is written to."""
    size = length * dtype.itemsize
    if size < 1 << 20:
        return np.empty(length, dtype=dtype)
    return np.frombuffer(mmap.mmap(-1, size), dtype=dtype)


def to_numpy(array: Any, dtype: Any, missing: float) -> NDArray[Any]:
    """Return the numbers of an Arrow array, not copied if none is missing.

    Its own methods to_numpy and fill_null would do, but import pandas, which takes half a second.
    """
    if not len(array):
        return np.empty(0, dtype=dtype)
    place = slice(array.offset, array.offset + len(array))
    bits, buffer = array.buffers()
    values = np.frombuffer(buffer, dtype=dtype)[place]
    if array.null_count == 0:
        return values
    valid = np.unpackbits(np.frombuffer(bits, dtype=np.uint8), bitorder="little")[place]
    return np.where(valid == 1, values, dtype(missing))
