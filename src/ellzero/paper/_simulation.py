"""The paper's large simulation, which accuracy and selection share."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from ellzero.paper._methods import METHODS, Estimate
from ellzero.paper._run_trials import Progress, run_trials
from ellzero.paper._simulated_problems import simulate_problem
from ellzero.paper._trial_file import Row

__all__ = ["run_trial", "simulate"]


def simulate(
    trials: int,
    seed: int,
    *,
    jobs: int | None,
    dask: str | None,
    path: Path | None,
    progress: Progress | None,
) -> pd.DataFrame:
    """Return what every method made of every trial: its errors, and what it selected.

    One row per trial and method: ``squared_error`` of the coefficients; how many of the selected
    variables are ``true`` and ``false`` (missing for methods that don't select); and the number of
    ``warnings``.
    """
    table = run_trials(
        "simulation",
        run_trial,
        [(120, 100, trial) for trial in range(trials)],
        seed,
        keys=("n", "p", "trial"),
        jobs=jobs,
        dask=dask,
        path=path,
        progress=progress,
    )
    return table.astype({"true": "Int64", "false": "Int64"})


def run_trial(
    seed: int, n: int, p: int, trial: int, methods: Sequence[str] = tuple(METHODS)
) -> list[Row]:
    """Solve one problem by every method."""
    problem = simulate_problem(seed, n, p, trial)
    rows = []
    for name in methods:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            estimate = METHODS[name](problem.X, problem.y, problem.seed)
        rows.append({"method": name, **_judge(estimate, problem.beta), "warnings": len(caught)})
    return rows


def _judge(estimate: Estimate, beta: np.ndarray) -> Row:
    selected, is_true = estimate.selected, beta != 0
    return {
        "squared_error": float(((estimate.coef - beta) ** 2).sum()),
        "true": None if selected is None else int(np.count_nonzero(selected & is_true)),
        "false": None if selected is None else int(np.count_nonzero(selected & ~is_true)),
    }
