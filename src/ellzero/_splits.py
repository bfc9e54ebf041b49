"""Rows cut into folds, by whatever scikit-learn takes for ``cv``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from numbers import Integral
from threading import local
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import (
    KFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    check_cv,
)
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

__all__ = [
    "Split",
    "compact_splits",
    "make_splits",
    "make_splitter",
    "repeats_among",
    "splitter_routing",
]


def make_splitter(
    cv: Any, random_state: Any, n_repeats: int = 1, classes: NDArray[np.float64] | None = None
) -> Any:
    """Return a splitter: for a number, that many shuffled folds, ``n_repeats`` times over.

    The first folds are those of one repeat. Folds of classes, zeros and ones, have about the same
    share of each; there are no more of them than rows of the rarer class.
    """
    cv = 10 if cv is None else cv
    stratified = classes is not None
    if classes is not None and isinstance(cv, Integral):
        rarer = int(min(classes.sum(), len(classes) - classes.sum()))
        if rarer < 2:
            raise ValueError("y must hold two rows of each class at least, to be cross-validated.")
        cv = min(int(cv), rarer)
    if not isinstance(cv, Integral):
        return check_cv(cv, classes, classifier=stratified)
    if n_repeats == 1:
        kind = StratifiedKFold if stratified else KFold
        return kind(cv, shuffle=True, random_state=random_state)
    repeated = RepeatedStratifiedKFold if stratified else RepeatedKFold
    return repeated(n_splits=cv, n_repeats=n_repeats, random_state=random_state)


def splitter_routing(estimator: BaseEstimator, splitter: Any) -> MetadataRouter:
    """Return the routing of a meta-estimator whose ``fit`` splits."""
    mapping = MethodMapping().add(caller="fit", callee="split")
    return (
        MetadataRouter(owner=estimator)
        .add_self_request(estimator)
        .add(splitter=splitter, method_mapping=mapping)
    )


def _row_indices(rows: Any, n_rows: int) -> NDArray[np.int64]:
    """Turn what a splitter gives, indices or a mask, into indices."""
    rows = np.asarray(rows)
    if rows.dtype == bool and rows.shape == (n_rows,):
        return np.flatnonzero(rows)
    if rows.size == 0:
        return np.empty(0, dtype=np.int64)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise ValueError("cv must give indices of rows, or masks of all rows.")
    if rows.min() < -n_rows or rows.max() >= n_rows:
        raise ValueError(f"cv gives row {rows.max()}, but X has {n_rows} rows.")
    indices: NDArray[np.int64] = rows.astype(np.int64) % n_rows
    return indices


class Split(NamedTuple):
    """The training and test rows of a fold, of n rows."""

    train: NDArray[np.int64] | None  # None: all but the test rows, in their order
    test: NDArray[np.int64]
    n: int

    @classmethod
    def of(cls, train: NDArray[np.int64], test: NDArray[np.int64], n: int) -> Split:
        """Leave out training rows that are all the others: of many folds they would take room."""
        others = len(train) + len(test) == n and np.array_equal(train, _others(test, n))
        return cls(None if others else train, test, n)

    def rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return both."""
        return _others(self.test, self.n) if self.train is None else self.train, self.test

    @property
    def trained(self) -> int:
        """How many rows are trained on."""
        return self.n - len(self.test) if self.train is None else len(self.train)

    def mark(self, mask: NDArray[np.bool_]) -> bool:
        """Mark the rows that are trained on; False if one of them is so twice."""
        mask[:] = self.train is None
        if self.train is None:
            mask[self.test] = False
            return True
        mask[self.train] = True
        return int(np.count_nonzero(mask)) == len(self.train)

    def left_out(self) -> NDArray[np.int64] | None:
        """Return the rows that are not trained on; None if one is trained on twice."""
        if self.train is None:
            return self.test
        mask = np.empty(self.n, dtype=bool)
        return np.flatnonzero(~mask) if self.mark(mask) else None


def _others(rows: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    left = np.ones(n, dtype=bool)
    left[rows] = False
    return np.flatnonzero(left)


def make_splits(
    splitter: Any, X: Any, y: Any, **arguments: Any
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Split the rows: the training and test rows of each fold."""
    return [split.rows() for split in compact_splits(splitter, X, y, **arguments)]


def compact_splits(splitter: Any, X: Any, y: Any, **arguments: Any) -> list[Split]:
    """Split the rows, into what takes less room."""
    n = len(y)
    if all(argument is None for argument in arguments.values()):
        shuffled = _shuffled_folds(splitter, n)
        if shuffled is not None:
            return shuffled
    splits = []
    for pair in splitter.split(X, y, **arguments):
        train, test = (_row_indices(rows, n) for rows in pair)
        if len(train) == 0 or len(test) == 0:
            raise ValueError("cv must give rows to train on and rows to test on in every split.")
        splits.append(Split.of(train, test, n))
    if not splits:
        raise ValueError("cv gives no split; a generator does so once only: give a list.")
    return splits


def _shuffled_folds(splitter: Any, n: int) -> list[Split] | None:
    """Return the folds of a shuffled KFold, repeated or not; None of others, and of too few rows.

    scikit-learn goes through all rows for each, which takes as long as a search in a small table.
    """
    if type(splitter) is KFold and splitter.shuffle:
        n_folds, n_repeats = splitter.n_splits, 1
    elif type(splitter) is RepeatedKFold:
        n_folds, n_repeats = splitter.cvargs["n_splits"], splitter.n_repeats
    else:
        return None
    if n < n_folds:
        return None
    lengths = [n // n_folds + (f < n % n_folds) for f in range(n_folds)]
    begins = [0, *accumulate(lengths)]
    fold_of_place = np.repeat(_numbers(n_folds), lengths)
    rng = _generator(splitter.random_state)
    splits = []
    for _ in range(n_repeats):
        order = np.arange(n)
        rng.shuffle(order)
        fold_of = np.empty_like(fold_of_place)
        fold_of[order] = fold_of_place
        rows = np.argsort(fold_of, kind="stable")  # by fold, and sorted in each
        splits += [Split(None, rows[a:b], n) for a, b in pairwise(begins)]
    return splits


def _numbers(n_folds: int) -> NDArray[np.integer]:
    """Return the numbers of folds; small ones are sorted without comparing them."""
    return np.arange(n_folds, dtype=np.uint16 if n_folds < 2**16 else np.int64)


_generators = local()


def _generator(random_state: Any) -> np.random.RandomState:
    """Return what scikit-learn's check_random_state does.

    To make a generator takes as long as a search in a small table, to seed one does not: each
    thread has one for all seeds.
    """
    generator: np.random.RandomState
    if not isinstance(random_state, Integral):
        generator = check_random_state(random_state)
        return generator
    if not hasattr(_generators, "own"):
        _generators.own = np.random.RandomState(0)
    generator = _generators.own
    generator.seed(int(random_state))
    return generator


def repeats_among(tests: Sequence[NDArray[np.int64]], n: int) -> int:
    """Return how often folds, by their test rows, go through all n rows, once in each repeat.

    Repeats follow each other and have the same number of folds, as those of scikit-learn's
    RepeatedKFold do. 1 where they are not so, whatever they are.
    """
    count, rest = divmod(sum(map(len, tests)), n)
    if count < 2 or rest or len(tests) % count:
        return 1
    folds = len(tests) // count
    for first in range(0, len(tests), folds):
        rows = np.concatenate(tests[first : first + folds])
        if len(rows) != n or np.bincount(rows, minlength=n).max() > 1:
            return 1
    return count if folds > 1 else 1
