"""Regressions with Student's noise in the core, with any hyperparameters."""

import numpy as np
from logit_posteriors import logit_start

from ellzero import _core
from ellzero._engine import make_columns, make_design_on


def student_rows(X, y, counts=None, *, intercept=True, room=1e9):
    """Return the design, whose mean and scale are those of Z, and the rows."""
    counts = np.ones(len(y)) if counts is None else np.asarray(counts, dtype=float)
    columns = make_columns(X)
    design = make_design_on(columns, y, counts, intercept, 1)
    return design, _core.make_student_rows(columns, design, counts, y, intercept, room)


def degrees_prior(degrees):
    """Of a number, or of (shape, rate, least)."""
    out = _core.DegreesPrior()
    if isinstance(degrees, tuple):
        out.learned = True
        out.shape, out.rate, out.least = degrees
        out.value = out.least + out.shape / out.rate
    else:
        out.value = degrees
    return out


def run_student(
    rows, prior, degrees, starts=None, *, draws, warmup, thin=1, seed=0, threads=1, unit=1.0,
    modes=(),
):  # fmt: skip
    schedule = _core.Schedule()
    schedule.warmup, schedule.draws, schedule.thin = warmup, draws, thin
    return _core.sample_student_spike_slab(
        rows,
        prior,
        degrees,
        unit,
        [logit_start()] if starts is None else starts,
        [0.0] * len(prior.log_odds),
        seed=seed,
        schedule=schedule,
        threads=threads,
        progress=None,
        modes=list(modes),
    )
