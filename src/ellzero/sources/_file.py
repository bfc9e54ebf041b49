"""Statistics as a file."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from ellzero.sources._moments import Moments
from ellzero.sources._statistics import SufficientStatistics
from ellzero.tables._files import write_aside

__all__ = ["read_statistics", "write_statistics"]

_FORMAT, _VERSION = "ellzero sufficient statistics", 1


def write_statistics(statistics: SufficientStatistics, path: Path) -> None:
    """See `SufficientStatistics.save`."""
    header = {
        "format": _FORMAT,
        "version": _VERSION,
        "names": statistics.names if statistics.named else None,
        "target": statistics.target,
        "seed": statistics._seed,
        "weighted": statistics._weighted,
    }
    folds = statistics._folds
    buffer = io.BytesIO()
    np.savez(
        buffer,
        header=np.array(json.dumps(header)),
        shift=statistics._shift,
        rows=np.array([fold.rows for fold in folds], dtype=np.int64),
        weight=np.array([fold.weight for fold in folds]),
        mean=np.array([fold.mean for fold in folds]),
        products=np.array([fold.products for fold in folds]),
    )
    write_aside(path, buffer.getvalue())


def read_statistics(path: Path) -> SufficientStatistics:
    """See `SufficientStatistics.load`."""
    try:
        # numpy.load leaves a file open that turns out to be no archive
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            content: dict[str, Any] = {name: archive[name] for name in archive.files}
        header = json.loads(str(content["header"]))
        if header.get("format") != _FORMAT:
            raise ValueError(f"{path} holds something else than sufficient statistics.")
    except FileNotFoundError:
        raise
    except (zipfile.BadZipFile, KeyError, EOFError, OSError, TypeError, AttributeError):
        raise ValueError(f"{path} is not a file of sufficient statistics, or not whole.") from None
    except ValueError as error:
        if "holds something else" in str(error):
            raise
        raise ValueError(f"{path} is not a file of sufficient statistics, or not whole.") from None
    if header.get("version") != _VERSION:
        raise ValueError(
            f"{path} has version {header.get('version')!r} of the format; this package reads "
            f"version {_VERSION}."
        )
    return _check(path, header, content)


def _check(path: Path, header: dict[str, Any], content: dict[str, Any]) -> SufficientStatistics:
    damaged = ValueError(f"{path}: its arrays do not belong together; it is damaged.")
    try:
        arrays = [content[name] for name in ("shift", "rows", "weight", "mean", "products")]
        names, target, seed, weighted = (header[k] for k in ("names", "target", "seed", "weighted"))
    except KeyError:
        raise damaged from None
    shift, rows, weight, mean, products = arrays
    count, q = rows.size, shift.size
    sound = (
        all(array.dtype == np.float64 for array in (shift, weight, mean, products))
        and rows.dtype == np.int64
        and (shift.shape, rows.shape, weight.shape) == ((q,), (count,), (count,))
        and (mean.shape, products.shape) == ((count, q), (count, q, q))
        and count > 0
        and q > 1
        and all(np.isfinite(array).all() for array in (shift, weight, mean, products))
        and (rows >= 0).all()
        and (weight >= 0).all()
        and (np.diagonal(products, axis1=1, axis2=2) >= 0).all()
        and (names is None or (isinstance(names, list) and len(names) == q - 1))
        and isinstance(target, str)
        and isinstance(seed, int)
    )
    if not sound:
        raise damaged
    folds = [
        Moments(int(rows[f]), float(weight[f]), mean[f].copy(), products[f].copy())
        for f in range(count)
    ]
    return SufficientStatistics(folds, shift, names, target, seed=seed, weighted=bool(weighted))
