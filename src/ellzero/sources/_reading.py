"""What every way of reading has in common: checks, the pass itself, and what went wrong in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero._engine import thread_count
from ellzero.sources._accumulate import Job, accumulate
from ellzero.sources._moments import Block, Moments, NotFiniteError
from ellzero.sources._statistics import SufficientStatistics

__all__ = [
    "SourceError",
    "check_folds",
    "check_kind",
    "check_weight",
    "finish",
    "missing_value",
    "read_blocks",
]


class SourceError(ValueError):
    """Rows that can't be read, or used: the message names the part that they are in."""


def check_folds(folds: Any, random_state: Any) -> tuple[int, int]:
    """Return the number of folds and the seed."""
    whole = isinstance(folds, Integral) and not isinstance(folds, bool)
    if not whole or folds < 0 or folds == 1 or folds > 1000:
        raise ValueError(f"folds must be 0, or from 2 to 1000; got {folds!r}.")
    if not isinstance(random_state, Integral) or isinstance(random_state, bool):
        raise TypeError(f"random_state must be an integer; got {random_state!r}.")
    if not 0 <= int(random_state) < 2**63:
        raise ValueError(f"random_state must be from 0 to 2**63 - 1; got {random_state!r}.")
    return int(folds), int(random_state)


def check_kind(label: str, name: str, dtype: np.dtype[Any]) -> None:
    """Raise if values are not real numbers or booleans."""
    if dtype.kind not in "biuf":
        raise SourceError(f"{label}: {name} must hold numbers; it holds {dtype}.")


def check_weight(label: str, weight: Any) -> NDArray[np.float64]:
    """Return frequency weights as floats."""
    values = np.asarray(weight)
    check_kind(label, "the weights", values.dtype)
    values = values.astype(np.float64)
    if not np.isfinite(values).all() or (values < 0).any():
        raise SourceError(f"{label}: weights must be finite and not negative.")
    return values


def missing_value(error: NotFiniteError, names: Sequence[str], label: str) -> SourceError:
    """Return the sentence for a value that is missing or infinite; the response is named last."""
    return SourceError(
        f"{label}: {names[error.column]!r} is missing or infinite in row {error.row} (counted from "
        "0); fill in or drop such rows first."
    )


def read_blocks(
    blocks: Iterator[Block],
    names: Sequence[str] | None,
    target: str,
    label: Callable[[int], str],
    *,
    folds: int,
    seed: int,
    n_jobs: int | None,
) -> SufficientStatistics:
    """Go through blocks once; ``label`` is what a part is called in messages."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs < 1):
        raise ValueError(f"n_jobs must be a positive integer or None; got {n_jobs!r}.")
    threads = thread_count() if n_jobs is None else int(n_jobs)
    first = next(blocks, None)
    if first is None:
        raise SourceError("there are no rows.")
    shift = first.first_row()
    shift[~np.isfinite(shift)] = 0.0  # which the pass will find
    weighted = first.weight is not None
    blocks = chain([first], blocks)
    del first
    try:
        found = accumulate(blocks, Job(shift, folds, seed), threads=threads)
    except NotFiniteError as error:
        columns = names or [f"x{j}" for j in range(len(shift) - 1)]
        raise missing_value(error, [*columns, target], label(error.part)) from None
    assert found is not None
    return finish(found, shift, names, target, seed=seed, weighted=weighted)


def finish(
    found: list[Moments],
    shift: NDArray[np.float64],
    names: Sequence[str] | None,
    target: str,
    *,
    seed: int,
    weighted: bool,
) -> SufficientStatistics:
    """Check what a pass has found."""
    if not any(fold.weight for fold in found):
        raise SourceError("weights must not be zero for every row.")
    empty = [f for f, fold in enumerate(found) if fold.weight == 0]
    if empty:
        raise SourceError(
            f"fold {empty[0]} of {len(found)} has no rows of positive weight: take fewer folds."
        )
    found = [fold.mirrored() for fold in found]
    for fold in found:
        large = np.flatnonzero(~np.isfinite(np.diag(fold.products)))
        if large.size:
            columns = [*(names or [f"x{j}" for j in range(len(shift) - 1)]), target]
            raise SourceError(
                f"the values of {columns[large[0]]!r} are too large to be squared and summed; "
                "rescale it."
            )
    return SufficientStatistics(found, shift, names, target, seed=seed, weighted=weighted)
