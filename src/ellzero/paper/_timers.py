"""One method on one problem, timed."""

from __future__ import annotations

import os
import platform
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import ElasticNetCV, LassoCV, LinearRegression, enet_path

from ellzero.paper._methods import (
    BRIDGE,
    ELASTIC_NET,
    FRONTIER,
    LASSO,
    OLS,
    SBR,
    SPIKE_SLAB,
    Standardised,
    make_bridge,
    make_spike_slab,
    shuffled_folds,
)
from ellzero.paper._simulated_problems import SimulatedProblem, simulate_problem
from ellzero.paper._trial_file import Row
from ellzero.regression import L0Regressor, L0RegressorCV, l0_frontier

__all__ = ["CV", "FIT", "POSTERIOR", "TIMED", "describe_machine", "time_method"]

FIT, CV, POSTERIOR = "one fit", "ten folds and a fit", "posterior"

_warm: set[str] = set()


def time_method(seed: int, n: int, p: int, trial: int, method: str) -> list[Row]:
    """Time one method on one problem; its first fit in a process does not count."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method not in _warm:
            _TIMERS[method](simulate_problem(seed, 50, 20, 0))
            _warm.add(method)
        return _TIMERS[method](simulate_problem(seed, n, p, trial))


def _clock(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def _row(task: str, seconds: float, ess: float | None = None) -> Row:
    return {"task": task, "seconds": seconds, "ess": ess}


def _time_ols(problem: SimulatedProblem) -> list[Row]:
    return [_row(FIT, _clock(lambda: LinearRegression().fit(problem.X, problem.y))[0])]


def _time_convex(problem: SimulatedProblem, ratio: float) -> list[Row]:
    data, folds = Standardised(problem.X, problem.y), shuffled_folds(problem.seed)
    options = {"cv": folds, "max_iter": 10_000}
    model = LassoCV(**options) if ratio == 1 else ElasticNetCV(l1_ratio=ratio, **options)
    path = _clock(lambda: enet_path(data.X, data.y, l1_ratio=ratio, max_iter=10_000))[0]
    return [_row(FIT, path), _row(CV, _clock(lambda: model.fit(data.X, data.y))[0])]


def _time_sbr(problem: SimulatedProblem) -> list[Row]:
    model = L0RegressorCV(cv=shuffled_folds(problem.seed), solver="sbr")
    folds, chosen = _clock(lambda: model.fit(problem.X, problem.y))
    single = L0Regressor(chosen.lam_, solver="sbr")
    return [_row(FIT, _clock(lambda: single.fit(problem.X, problem.y))[0]), _row(CV, folds)]


def _time_frontier(problem: SimulatedProblem) -> list[Row]:
    model = L0RegressorCV(cv=shuffled_folds(problem.seed))
    return [
        _row(FIT, _clock(lambda: l0_frontier(problem.X, problem.y))[0]),
        _row(CV, _clock(lambda: model.fit(problem.X, problem.y))[0]),
    ]


def _time_posterior(problem: SimulatedProblem, model: Any) -> list[Row]:
    seconds, fitted = _clock(lambda: model.fit(problem.X, problem.y))
    ess = fitted.diagnostics_["ess_bulk"].iloc[: problem.X.shape[1]].min()  # variables come first
    return [_row(POSTERIOR, seconds, float(ess) if np.isfinite(ess) else None)]


_TIMERS: dict[str, Callable[[SimulatedProblem], list[Row]]] = {
    OLS: _time_ols,
    LASSO: lambda problem: _time_convex(problem, 1.0),
    ELASTIC_NET: lambda problem: _time_convex(problem, 0.5),
    SBR: _time_sbr,
    FRONTIER: _time_frontier,
    SPIKE_SLAB: lambda problem: _time_posterior(problem, make_spike_slab(problem.seed)),
    BRIDGE: lambda problem: _time_posterior(problem, make_bridge(problem.seed)),
}
TIMED = tuple(_TIMERS)


def describe_machine() -> str:
    """Say what timings were made on, as far as the system tells."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        named = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
        model = next(named, model)
    except OSError:
        pass
    system = f"{platform.system()}, Python {platform.python_version()}"
    return f"{model}, {os.cpu_count()} cores, {system}"
