"""Values as one file without pickle: plain arrays, and a JSON header that says what they are.

The file is a ``.npz`` that ``numpy.load`` reads: ``header`` holds the bytes of the JSON, ``sha256``
their checksum, and ``a0``, ``a1``, ... are the arrays. The header has

``format``, ``version``, ``ellzero``
    What kind of file it is, the version of that format, and of the package that wrote it.
``content``
    The values, by name, in sections. Texts, whole numbers, finite floats, true, false and null are
    themselves; all else is an object of one key that names its kind: ``array`` (the number of an
    array), ``scalar`` (the same, of no dimensions), ``float`` (one that is not finite), ``list``,
    ``tuple``, ``set``, ``dict`` (pairs), ``objects`` (an array of Python objects), ``sparse``,
    ``series``, ``index`` (of pandas), ``path``, ``random_state``, or ``record`` (a tuple or
    dataclass of this package).
``sha256``
    The checksum of each array.

Nothing in such a file is run, so one from a stranger is safe to load.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import math
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["digest", "pack", "unpack"]

_SPARSE = {"csr_array": sparse.csr_array, "csc_array": sparse.csc_array}


class _Encoder:
    """Turns values into what JSON has, and arrays that it has not."""

    def __init__(self, records: dict[str, type]) -> None:
        self._records = records
        self.arrays: list[NDArray[Any]] = []
        self._kinds: dict[Any, Callable[[Any], Any]] = {
            np.generic: lambda v: {"scalar": self.array(np.asarray(v))},
            np.ndarray: self._encode_array,
            dict: lambda v: {"dict": [[self(key), self(own)] for key, own in v.items()]},
            list: lambda v: {"list": [self(own) for own in v]},
            set: lambda v: {"set": [self(own) for own in sorted(v, key=repr)]},
            PurePath: lambda v: {"path": str(v)},
            np.random.RandomState: lambda v: {"random_state": self(v.get_state())},
        }

    def array(self, values: NDArray[Any]) -> int:
        self.arrays.append(values)
        return len(self.arrays) - 1

    def __call__(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | str) or type(value) is int:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        encode = next((own for kind, own in self._kinds.items() if isinstance(value, kind)), None)
        if encode is not None:
            return encode(value)
        name = type(value).__name__
        if self._records.get(name) is type(value):
            return {"record": [name, {key: self(own) for key, own in _fields(value).items()}]}
        if type(value) is tuple:
            return {"tuple": [self(own) for own in value]}
        if sparse.issparse(value) and name in _SPARSE:
            parts = (value.data, value.indices, value.indptr, value.shape)
            return {"sparse": [name, *map(self, parts)]}
        return self._encode_pandas(value)

    def _encode_array(self, values: NDArray[Any]) -> Any:
        if values.dtype.kind == "O":
            return {"objects": [list(values.shape), [self(own) for own in values.ravel()]]}
        if values.dtype.kind not in "biufcUS":
            raise TypeError(f"an array of {values.dtype} can't be saved.")
        return {"array": self.array(np.asarray(values))}

    def _encode_pandas(self, value: Any) -> Any:
        import pandas as pd

        if isinstance(value, pd.Series):
            return {"series": [self(value.to_numpy()), self(value.index), self(value.name)]}
        if isinstance(value, pd.Index) and not isinstance(value, pd.MultiIndex):
            return {"index": [self(value.to_numpy()), self(value.name)]}
        raise TypeError(f"a {type(value).__name__} can't be saved.")


def _fields(value: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return dict(value._asdict())


class _Decoder:
    """Turns them back; raises KeyError, TypeError, ValueError or IndexError where that fails."""

    def __init__(self, records: dict[str, type], arrays: list[NDArray[Any]]) -> None:
        self._records, self._arrays = records, arrays

    def __call__(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        ((kind, own),) = value.items()
        return getattr(self, f"_{kind}")(own)

    def _float(self, own: str) -> float:
        return float(own)

    def _array(self, own: int) -> NDArray[Any]:
        return self._arrays[own]

    def _scalar(self, own: int) -> Any:
        return self._arrays[own][()]

    def _dict(self, own: list[Any]) -> dict[Any, Any]:
        return {self(key): self(value) for key, value in own}

    def _list(self, own: list[Any]) -> list[Any]:
        return [self(value) for value in own]

    def _tuple(self, own: list[Any]) -> tuple[Any, ...]:
        return tuple(self(value) for value in own)

    def _set(self, own: list[Any]) -> set[Any]:
        return {self(value) for value in own}

    def _path(self, own: str) -> Path:
        return Path(own)

    def _random_state(self, own: Any) -> np.random.RandomState:
        state = np.random.RandomState()
        state.set_state(self(own))
        return state

    def _objects(self, own: list[Any]) -> NDArray[np.object_]:
        shape, values = own
        out = np.empty(len(values), dtype=object)
        out[:] = [self(value) for value in values]
        return out.reshape(shape)

    def _sparse(self, own: list[Any]) -> Any:
        name, data, indices, begins, shape = own
        parts = (self(data), self(indices), self(begins))
        return _SPARSE[name](parts, shape=self(shape))

    def _series(self, own: list[Any]) -> Any:
        import pandas as pd

        values, index, name = own
        return pd.Series(self(values), index=self(index), name=self(name))

    def _index(self, own: list[Any]) -> Any:
        import pandas as pd

        values, name = own
        return pd.Index(self(values), name=self(name))

    def _record(self, own: list[Any]) -> Any:
        name, fields = own
        return self._records[name](**{key: self(value) for key, value in fields.items()})


def _checksum(values: NDArray[Any]) -> str:
    whole = hashlib.sha256(f"{values.dtype.str} {values.shape} ".encode())
    whole.update(np.ascontiguousarray(values).tobytes())
    return whole.hexdigest()


def digest(value: Any) -> str:
    """Return a checksum of a value; of one that can't be saved, of its type alone."""
    encoder = _Encoder({})
    try:
        text = json.dumps(encoder(value))
    except TypeError:
        return type(value).__name__
    sums = [_checksum(values) for values in encoder.arrays]
    return hashlib.sha256(json.dumps([text, sums]).encode()).hexdigest()


def pack(
    kind: str, version: int, content: dict[str, dict[str, Any]], records: tuple[type, ...]
) -> bytes:
    """Return the bytes of a file with values by name, in sections.

    Raises
    ------
    TypeError
        If there is a value that no kind of the format fits.
    """
    from ellzero import __version__

    encoder = _Encoder({record.__name__: record for record in records})
    encoded: dict[str, dict[str, Any]] = {}
    for section, values in content.items():
        encoded[section] = {}
        for name, value in values.items():
            try:
                encoded[section][name] = encoder(value)
            except TypeError as error:
                raise TypeError(f"{name}: {error}") from None
    header = {
        "format": kind,
        "version": version,
        "ellzero": __version__,
        "content": encoded,
        "sha256": [_checksum(values) for values in encoder.arrays],
    }
    text = np.frombuffer(json.dumps(header, allow_nan=False).encode(), dtype=np.uint8)
    arrays = {"header": text, "sha256": np.array(_checksum(text))}
    arrays |= {f"a{i}": own for i, own in enumerate(encoder.arrays)}
    room = io.BytesIO()
    with zipfile.ZipFile(room, "w") as file:
        for name, own in arrays.items():
            # Without the time of day: the same content has the same bytes
            with file.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, own, allow_pickle=False)
    return room.getvalue()


def unpack(
    path: Path, kind: str, version: int, what: str, records: tuple[type, ...]
) -> dict[str, dict[str, Any]]:
    """Read a file; ``what`` says in words what it should be.

    Raises
    ------
    ValueError
        If it is no such file, is of a later version, or was cut or changed.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ValueError(f"{path} can't be read: {reason}.") from None
    try:
        with np.load(io.BytesIO(raw), allow_pickle=False) as file:
            found = {name: file[name] for name in file.files}
        text, checksum = found.pop("header"), str(found.pop("sha256"))
        header = json.loads(text.tobytes())
        if header["format"] != kind:
            raise KeyError("format")
        later, writer = int(header["version"]) > version, str(header["ellzero"])
    except (KeyError, TypeError, AttributeError):  # whole, but another's
        raise ValueError(f"{path} is not {what}.") from None
    except MemoryError:
        raise
    except Exception:  # of which there are many kinds where bytes were changed
        if raw.startswith(b"PK"):
            raise ValueError(f"{path} was cut off or changed since it was written.") from None
        raise ValueError(f"{path} is not {what}.") from None
    if later:
        raise ValueError(f"{path} was written by ellzero {writer}, which is later than this one.")
    try:
        arrays = [found[f"a{i}"] for i in range(len(header["sha256"]))]
        if checksum != _checksum(text) or header["sha256"] != [_checksum(own) for own in arrays]:
            raise ValueError
        decoder = _Decoder({record.__name__: record for record in records}, arrays)
        content = {
            section: {name: decoder(value) for name, value in values.items()}
            for section, values in header["content"].items()
        }
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        raise ValueError(f"{path} was cut off or changed since it was written.") from None
    return content
