"""Parquet files, one after the other."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ellzero.sources._accumulate import rows_per_block
from ellzero.sources._arrow import Wanted, cut_batches, want
from ellzero.sources._moments import Block
from ellzero.sources._reading import SourceError, check_folds, read_blocks
from ellzero.sources._statistics import SufficientStatistics

__all__ = ["find_files", "look_at", "read_file", "read_parquet"]


def read_parquet(
    paths: Any,
    target: Any,
    columns: Sequence[str] | None,
    weights: Any,
    folds: Any,
    random_state: Any,
    n_jobs: int | None,
) -> SufficientStatistics:
    """See `SufficientStatistics.from_parquet`."""
    n_folds, seed = check_folds(folds, random_state)
    files = find_files(paths)
    wanted = look_at(files, target, columns, weights)

    def blocks() -> Iterator[Block]:
        for part, path in enumerate(files):
            yield from read_file(part, path, wanted)

    return read_blocks(
        blocks(),
        wanted.columns,
        wanted.target,
        lambda part: str(files[part]),
        folds=n_folds,
        seed=seed,
        n_jobs=n_jobs,
    )


def find_files(paths: Any) -> list[Path]:
    """Return the files that are meant: one, those of a pattern by name, or those of a sequence."""
    if isinstance(paths, (str, os.PathLike)):
        text = os.fspath(paths)
        files = [Path(text)] if Path(text).exists() else [Path(p) for p in sorted(glob.glob(text))]
        if len(files) == 1 and files[0].is_dir():
            files = sorted(files[0].glob("*.parquet"))
        if not files:
            raise FileNotFoundError(f"no file matches {text!r}.")
    else:
        files = [Path(path) for path in paths]
        if not files:
            raise ValueError("paths must name at least one file.")
    seen: dict[Path, Path] = {}
    for path in files:
        if not path.is_file():
            raise FileNotFoundError(f"there is no file {str(path)!r}.")
        if path.resolve() in seen:
            raise ValueError(f"{path} is named twice.")
        seen[path.resolve()] = path
    return files


def look_at(files: list[Path], target: Any, columns: Sequence[str] | None, weights: Any) -> Wanted:
    """Check the footers of all files, and settle which columns are read."""
    wanted: Wanted | None = None
    for path in files:
        try:
            schema = pq.read_schema(path)
        except (pa.ArrowException, OSError) as error:
            raise SourceError(f"{path} is not a whole Parquet file: {_short(error)}") from None
        if wanted is None:
            wanted = want(schema, target, columns, weights, str(path))
        else:
            wanted.check(str(path), schema)
            extra = set(schema.names) - set(wanted.names)
            if columns is None and extra:
                raise SourceError(
                    f"{path} has a column {min(extra)!r}, which {files[0]} has not: name the "
                    "columns to use."
                )
    assert wanted is not None
    return wanted


def read_file(part: int, path: Path, wanted: Wanted) -> Iterator[Block]:
    """Read one file, some rows at a time."""
    try:
        with pq.ParquetFile(path, page_checksum_verification=True, pre_buffer=False) as file:
            size = rows_per_block(len(wanted.columns) + 1)
            batches = file.iter_batches(batch_size=size, columns=wanted.names, use_threads=True)
            yield from cut_batches(part, str(path), batches, wanted)
    except (pa.ArrowException, OSError) as error:
        raise SourceError(f"{path} can't be read: {_short(error)}") from None


def _short(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") + "." if lines else f"{type(error).__name__}."
