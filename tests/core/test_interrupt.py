"""Ctrl-C during long work."""

import _thread
import threading

import numpy as np
import pytest

from ellzero import L0Regressor


def test_a_keyboard_interrupt_propagates_and_leaves_things_healthy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4000))
    y = rng.normal(size=400)
    model = L0Regressor(lam=0.0, max_size=399)
    # Inserting 399 of 4000 columns takes many times as long as the alarm.
    alarm = threading.Timer(0.2, _thread.interrupt_main)
    alarm.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    alarm.join()
    assert not hasattr(model, "coef_")
    assert L0Regressor(lam=1e9).fit(X, y).support_.size == 0
