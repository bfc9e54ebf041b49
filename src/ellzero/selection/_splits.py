"""Which rows a model is fitted on and which judge it: folds, and rows held out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ellzero._messages import Argument
from ellzero.tables import DataError

__all__ = ["choose_folds", "hold_out"]

_Rows = NDArray[np.int64]
_DEFAULT_FOLDS = 10


def hold_out(
    share: float,
    n: int,
    groups: _Rows | None,
    times: NDArray[np.float64] | None,
    seed: int,
) -> tuple[_Rows, _Rows]:
    """Return the rows to fit on and the rows to test on.

    Whole groups are held out, or the latest rows, or rows at random.
    """
    if times is not None:
        order = np.argsort(times, kind="stable")
        edge = times[order[min(n - 1, round(n * (1 - share)))]]
        chosen = times >= edge  # rows of one time stay together
    elif groups is not None:
        labels = np.random.default_rng(seed).permutation(np.unique(groups))
        sizes = np.array([np.count_nonzero(groups == label) for label in labels])
        count = int(np.searchsorted(np.cumsum(sizes), share * n)) + 1
        chosen = np.isin(groups, labels[:count])
    else:
        chosen = np.zeros(n, dtype=bool)
        chosen[np.random.default_rng(seed).permutation(n)[: max(1, round(share * n))]] = True
    if chosen.all() or not chosen.any():
        raise DataError(
            Argument("test_share", float(share)),
            f" of {n} rows leaves nothing to fit or to test on.",
        )
    return np.flatnonzero(~chosen), np.flatnonzero(chosen)


def choose_folds(
    folds: int | None,
    n: int,
    groups: _Rows | None,
    times: NDArray[np.float64] | None,
    seed: int,
    repeats: int = 1,
    classes: NDArray[np.float64] | None = None,
) -> tuple[list[list[tuple[_Rows, _Rows]]], str]:
    """Return the training and test rows of each fold, by repeat, and what kind of folds they are.

    Folds at random have about the same share of both classes, zeros and ones, if these are given.

    Folds of groups, and of what is ordered in time, are made once: nothing in them is random.
    """
    from sklearn.model_selection import GroupKFold, TimeSeriesSplit

    from ellzero._splits import make_splits, make_splitter

    rows = np.zeros(n)
    if groups is not None:
        count = _count(folds, np.unique(groups).size, "groups")
        splits = make_splits(GroupKFold(count), rows, rows, groups=groups)
        return [splits], f"{count} folds of whole groups"
    if times is not None:
        moments, place = np.unique(times, return_inverse=True)
        place = place.reshape(-1)
        count = _count(folds, moments.size - 1, "different times beyond the first")
        splits = [
            (np.flatnonzero(np.isin(place, early)), np.flatnonzero(np.isin(place, late)))
            for early, late in make_splits(TimeSeriesSplit(count), moments, moments)
        ]
        return [splits], f"{count} folds, each later than the rows it is fitted on"
    rarer = None if classes is None else int(min(classes.sum(), n - classes.sum()))
    if rarer is not None and rarer < 2:
        return [], "no folds"  # one of which would not see both classes
    count = _count(folds, n, "rows")
    count = count if rarer is None else min(count, rarer)
    splitter = make_splitter(count, seed, repeats, classes)
    splits = make_splits(splitter, rows, rows if classes is None else classes)
    starts = range(0, len(splits), count)
    return [splits[start : start + count] for start in starts], f"{count} folds at random"


def _count(folds: int | None, most: int, what: str) -> int:
    if folds is None:
        folds = max(2, min(_DEFAULT_FOLDS, most // 2))
    if folds > most:
        raise DataError(f"{folds} folds need at least as many {what}, but there are {most}.")
    return folds
