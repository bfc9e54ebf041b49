"""Rows cut into folds and parts in few steps, against scikit-learn's and any splits' own."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, RepeatedKFold

from ellzero._splits import Split, compact_splits
from ellzero.regression._fold_parts import _find_parts, _tests_as_parts

SPLITTERS = [
    (120, KFold(10, shuffle=True, random_state=0)),
    (33, RepeatedKFold(n_splits=7, n_repeats=3, random_state=5)),
    (17, KFold(17, shuffle=True, random_state=np.int64(2))),
    (100, RepeatedKFold(n_splits=32, n_repeats=2, random_state=1)),
]


@pytest.mark.parametrize(("n", "splitter"), SPLITTERS)
def test_shuffled_folds_are_those_of_scikit_learn(n, splitter):
    for _ in range(2):  # a generator that is used again begins anew
        found = compact_splits(splitter, np.zeros((n, 1)), np.zeros(n))
        expected = list(splitter.split(np.zeros((n, 1))))
        assert len(found) == len(expected)
        for split, (train, test) in zip(found, expected, strict=True):
            np.testing.assert_array_equal(split.test, test)
            np.testing.assert_array_equal(split.rows()[0], train)


def test_a_generator_goes_on_from_where_it_is():
    X, y = np.zeros((20, 1)), np.zeros(20)
    ours, theirs = (np.random.RandomState(3) for _ in range(2))
    for _ in range(2):
        found = compact_splits(KFold(4, shuffle=True, random_state=ours), X, y)
        expected = KFold(4, shuffle=True, random_state=theirs).split(X)
        for split, (_, test) in zip(found, expected, strict=True):
            np.testing.assert_array_equal(split.test, test)


@pytest.mark.parametrize(("n", "splitter"), SPLITTERS)
def test_test_rows_are_the_parts_that_any_splits_have(n, splitter):
    count = min(32, splitter.get_n_splits())
    folds = getattr(splitter, "n_splits", None) or splitter.cvargs["n_splits"]
    splits = compact_splits(splitter, np.zeros((n, 1)), np.zeros(n))[: min(folds, count)]
    ours, general = _tests_as_parts(splits, n), _find_parts(splits, n)
    for one, other in zip(ours[0], general[0], strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(ours[1:], general[1:], strict=True):
        np.testing.assert_array_equal(one, other)


def test_other_splits_are_cut_by_who_trains_on_a_row():
    rows = np.arange(6)
    halves = [Split(None, rows[:3], 6), Split(None, rows[3:], 6)]
    assert _tests_as_parts(halves, 6) is not None
    twice = [Split(None, rows[:3], 6), Split(None, rows[:3], 6)]  # nobody tests the others
    some = [Split(None, rows[:2], 6), Split(None, rows[2:4], 6)]
    own = [Split(rows[1:], rows[:1], 6), Split(None, rows[1:], 6)]
    for splits in (twice, some, own):
        assert _tests_as_parts(splits, 6) is None
        assert _find_parts(splits, 6) is not None
