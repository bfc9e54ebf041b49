"""Searches in several threads: the same results, and all stop if one does."""

import threading
import time

import numpy as np
import pytest
from interrupts import interrupted
from patience import PATIENCE

from ellzero import L0RegressorCV, stability
from ellzero.regression._side_by_side import SideBySide


def grouped(n=120, n_groups=10, width=2):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, n_groups * width))
    y = X[:, :4].sum(axis=1) + rng.normal(size=n)
    return X, y, np.repeat(np.arange(n_groups), width)


def test_the_number_of_threads_changes_nothing():
    X, y, labels = grouped()
    fits = [
        L0RegressorCV(feature_groups=labels, n_repeats=1, n_jobs=jobs).fit(X, y)
        for jobs in (None, 3)
    ]
    assert fits[0].lam_ == fits[1].lam_
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)
    for name, values in fits[0].cv_results_.items():
        np.testing.assert_array_equal(values, fits[1].cv_results_[name])
    found = [
        stability(X, y, feature_groups=labels, n_pairs=3, max_size=4, n_jobs=jobs)
        for jobs in (1, 2)
    ]
    np.testing.assert_array_equal(found[0].frequencies, found[1].frequencies)


def test_results_are_in_order_and_progress_is_heard():
    heard = []
    together = SideBySide(3, heard.append)

    def work(item):
        together.progress(item)
        return item**2

    assert together.map(work, list(range(20))) == [item**2 for item in range(20)]
    assert sorted(heard) == list(range(20))


def _go_on(together, begun):
    begun.set()
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        together.progress(1)
        time.sleep(0.005)
    pytest.fail("nobody stopped it")


def test_all_stop_if_one_fails():
    together, begun = SideBySide(2, None), threading.Event()

    def work(item):
        if item == 0:
            _go_on(together, begun)
        assert begun.wait(PATIENCE)
        raise ValueError("no such fold")

    with pytest.raises(ValueError, match="no such fold"):
        together.map(work, [0, 1, 2])


def test_all_stop_at_an_interrupt():
    together, begun = SideBySide(2, None), threading.Event()
    with interrupted(begun):
        together.map(lambda _: _go_on(together, begun), [0, 1, 2])
