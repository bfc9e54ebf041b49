"""What is known of rows that are cut into folds."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedKFold, ShuffleSplit

from ellzero._splits import Split, repeats_among


def repeats(cv, n=12):
    return repeats_among([test for _, test in cv.split(np.zeros((n, 1)))], n)


def test_repeats_are_folds_that_go_through_all_rows_again():
    assert repeats(KFold(3)) == 1
    assert repeats(LeaveOneOut()) == 1
    assert repeats(RepeatedKFold(n_splits=5, n_repeats=4, random_state=0)) == 4
    assert repeats(ShuffleSplit(4, test_size=0.5, random_state=0)) == 1  # of as many rows
    rows = np.arange(6)
    halves = [rows[:3], rows[3:]]
    assert repeats_among([*halves, *halves[::-1]], 6) == 2
    assert repeats_among([rows[:3], rows[:3], rows[3:], rows[3:]], 6) == 1
    assert repeats_among([rows[:3], rows[3:], rows[:2], rows[2:4], rows[4:]], 6) == 1
    assert repeats_among([rows, rows], 6) == 1


@pytest.mark.parametrize("train", [[0, 2, 3, 5], [5, 0], [3, 3, 0], [0, 2, 2, 3, 5]])
def test_the_rows_that_a_split_leaves_out(train):
    split = Split.of(np.array(train), np.array([1, 4]), 6)
    assert split.rows()[0].tolist() == train
    assert split.trained == len(train)
    mask = np.zeros(6, dtype=bool)
    twice = len(set(train)) < len(train)
    assert split.mark(mask) is not twice
    assert mask.tolist() == np.isin(np.arange(6), train).tolist()
    left_out = split.left_out()
    assert (left_out is None) is twice
    if left_out is not None:
        assert left_out.tolist() == np.setdiff1d(np.arange(6), train).tolist()
