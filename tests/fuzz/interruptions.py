"""Ctrl-C at any time: it always propagates soon, and the next fit is right."""

import _thread
import threading
import time

import numpy as np

from ellzero import (
    BayesianBridgeRegressor,
    HorseshoeRegressor,
    L0Regressor,
    L0RegressorCV,
    SpikeSlabRegressor,
    l0_frontier,
    segment,
    segment_path,
)

# Seconds of work between an interrupt and its exception: of work, whatever else the machine does.
SOON = 10


def hard_table(rng):
    n, p = int(rng.integers(50, 400)), int(rng.integers(50, 800))
    X = rng.normal(size=(n, p))
    kind = rng.integers(4)
    if kind == 0:
        X[:, p // 2 :] = X[:, : p - p // 2] + 10 ** rng.uniform(-9, -1) * X[:, p // 2 :]
    elif kind == 1:
        X = (X > 0).astype(float)
    elif kind == 2:
        X = X[:, :1] + 0.01 * X
    y = X[:, :5].sum(axis=1) + 10 ** rng.uniform(-9, 1) * rng.normal(size=n)
    return X, 10 ** rng.uniform(-50, 50) * y


def some_work(rng):
    """Return a name, and something that takes from a moment to many seconds."""
    X, y = hard_table(rng)
    jobs = int(rng.integers(1, 3))
    series = rng.normal(size=(2, 30_000))
    most = int(rng.integers(5, 200))
    works = {
        "frontier": lambda: l0_frontier(X, y, max_size=most),
        "sbr": lambda: L0Regressor(lam=0.0, solver="sbr", max_size=most).fit(X, y),
        "criterion": lambda: L0Regressor(max_size=most).fit(X, y),
        "folds": lambda: L0RegressorCV(cv=5, max_size=most, n_jobs=jobs).fit(X, y),
        "nested": lambda: L0RegressorCV(cv=3, max_size=15, nested=True, n_jobs=jobs).fit(X, y),
        "gibbs": lambda: SpikeSlabRegressor(solver="gibbs", n_jobs=jobs).fit(X, y),
        "laplace": lambda: SpikeSlabRegressor(slab="laplace", n_jobs=jobs).fit(X, y),
        "enumerate": lambda: SpikeSlabRegressor(solver="enumerate").fit(X[:, :15], y),
        "bridge": lambda: BayesianBridgeRegressor(n_jobs=jobs).fit(X, y),
        "horseshoe": lambda: HorseshoeRegressor(n_jobs=jobs).fit(X, y),
        "pelt": lambda: segment(list(series), 5.0, decay=0.98, solver="pelt", n_jobs=jobs),
        "path": lambda: segment_path(series[0], 0.5, n_jobs=jobs),
        "cv of segments": lambda: segment(series[0], "cv"),
    }
    name = list(works)[rng.integers(len(works))]
    return name, works[name]


def small_fit():
    X = np.random.default_rng(1).normal(size=(30, 12))
    y = X[:, 0] - X[:, 3]
    y = y + 0.1 * X[:, ::-1].cumsum(axis=1)[:, 4]
    frontier = l0_frontier(X, y)
    model = SpikeSlabRegressor(n_draws=5, random_state=0).fit(X, y)
    cuts = segment(y, 0.5).signal
    return [frontier.energies.tobytes(), model.coef_.tobytes(), cuts.tobytes()]


def check_interruptions(rng):
    name, work = some_work(rng)
    expected = small_fit()
    delay = float(rng.exponential(0.3))
    sent, over = [], threading.Event()

    def alarm():
        if not over.wait(delay):
            sent.append(time.process_time())
            _thread.interrupt_main()

    thread = threading.Thread(target=alarm)
    raised = False
    try:
        thread.start()
        try:
            work()
        finally:
            arrived = time.process_time()
            over.set()
            thread.join()
    except KeyboardInterrupt:
        raised = True
    thread.join()
    assert raised == bool(sent), f"{name}: an interrupt got lost"
    if sent:
        late = arrived - sent[0]
        assert late < SOON, f"{name}: {late:.1f} s of work after the interrupt"
    assert small_fit() == expected, f"after interrupted {name}"
