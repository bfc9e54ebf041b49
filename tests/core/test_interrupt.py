"""Ctrl-C during long work."""

import threading

import pytest
from interrupts import interrupted

from ellzero import BayesianBridgeRegressor, HorseshoeRegressor, L0Regressor, L0RegressorCV
from ellzero._engine import make_design, make_engine


@pytest.fixture
def long_work(rng):
    """Data on which inserting every column that helps takes many seconds."""
    return rng.normal(size=(1000, 6000)), rng.normal(size=1000)


def test_a_keyboard_interrupt_propagates(long_work):
    X, y = long_work
    model = L0Regressor(lam=0.0, max_size=999)
    with interrupted():
        model.fit(X, y)
    assert not hasattr(model, "coef_")
    assert L0Regressor(lam=1e9).fit(X, y).support_.size == 0


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_cross_validation_stops_too(long_work, n_jobs):
    X, y = long_work
    model = L0RegressorCV(max_size=300, n_jobs=n_jobs)
    with interrupted():
        model.fit(X, y)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("kind", [BayesianBridgeRegressor, HorseshoeRegressor])
@pytest.mark.parametrize("columns", [6000, 900])  # by rows, and by columns
def test_chains_of_a_scale_mixture_stop_too(long_work, kind, columns):
    X, y = long_work
    model = kind(n_draws=2000, n_jobs=2)
    with interrupted():
        model.fit(X[:, :columns], y)
    assert not hasattr(model, "coef_")


def test_an_engine_can_go_on_after_an_interrupt(long_work):
    X, y = long_work
    engine = make_engine(make_design(X, y, None, True, 2), 0.0, 2)
    started = threading.Event()
    with interrupted(after=started):
        engine.sbr(0.0, None, 999, lambda size: started.set() if size > 1 else None)
    reached = engine.members
    assert 0 < reached.size < 999
    engine.sbr(0.0, None, reached.size + 2, None)
    assert engine.members.size == reached.size + 2


def test_an_error_in_a_progress_report_propagates(rng):
    X, y = rng.normal(size=(50, 20)), rng.normal(size=50)
    engine = make_engine(make_design(X, y, None, True, 1), 0.0, 1)

    def report(size):
        if size == 3:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        engine.sbr(0.0, None, 20, report)
    assert engine.members.size == 3
