"""Which solver computes a spike-and-slab posterior, how long chains run, and draws as chains."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import effective_n_jobs

from ellzero import _core

__all__ = ["choose_logit_solver", "choose_solver", "deal_to_chains", "how_to_draw"]

# All models are enumerated up to this many free columns: at most, and by default.
_MOST_ENUMERATED = {False: 22, True: 16}
_AUTO_ENUMERATED = {False: 14, True: 9}
_MOST_FORCED = 20
# And groups that have together this many columns, by default: each takes its own part of a flip.
_AUTO_WIDTH = 45
# Of a classifier, whose models have no evidence in closed form
_MOST_CLASSIFIED, _AUTO_CLASSIFIED = 14, 8


def choose_solver(
    solver: str,
    slab: str,
    learns: bool,
    n_free: int,
    n_always: int,
    *,
    what: str = "columns",
    width: int = 0,
    noise: str = "gaussian",
) -> str:
    """Return the solver that "auto" means, or the one asked for if it can do it.

    ``learns`` says whether a variance of the Gaussian slab's model is learned, ``n_free`` how many
    columns, or groups, may go either way and ``n_always`` how many columns are always in; ``width``
    is how many columns the groups have.
    """
    if noise == "student":
        if solver in ("enumerate", "tempered"):
            raise ValueError(f'solver={solver!r} is for noise="gaussian"; "student" has "gibbs".')
        return "gibbs"
    possible = slab != "laplace" and n_free <= _MOST_ENUMERATED[learns]
    if solver == "auto":
        quick = n_free <= _AUTO_ENUMERATED[learns] and n_always <= _MOST_FORCED
        quick = quick and width <= _AUTO_WIDTH
        return "enumerate" if possible and quick else "gibbs"
    if solver == "enumerate" and slab == "laplace":
        raise ValueError('solver="enumerate" needs a slab that integrates: not "laplace".')
    if solver == "enumerate" and not possible:
        learned = " with a variance learned" if learns else ""
        raise ValueError(
            f'solver="enumerate" takes at most {_MOST_ENUMERATED[learns]} {what}{learned}, '
            f"but {n_free} may go either way."
        )
    return solver


def choose_logit_solver(solver: str, n_free: int, n_always: int) -> str:
    """Do the same for a classifier."""
    if solver == "auto":
        quick = n_free <= _AUTO_CLASSIFIED and n_always <= _MOST_FORCED
        return "enumerate" if quick else "gibbs"
    if solver == "enumerate" and n_free > _MOST_CLASSIFIED:
        raise ValueError(
            f'solver="enumerate" takes at most {_MOST_CLASSIFIED} columns, but {n_free} may go '
            "either way."
        )
    return solver


def deal_to_chains(
    draws: dict[str, Any], n_chains: int, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Deal independent draws out to chains, in random order: they come sorted by tau and model.

    Sums over models stay with the first.
    """
    sizes = np.diff(draws["begins"])
    count = len(sizes) // n_chains
    order = rng.permutation(len(sizes))
    chains = []
    for chain in range(n_chains):
        rows = order[chain * count : (chain + 1) * count]
        places = [np.arange(draws["begins"][r], draws["begins"][r + 1]) for r in rows]
        entries = np.concatenate([*places, np.empty(0, dtype=np.int64)]).astype(np.int64)
        own = {
            "begins": np.concatenate([[0], np.cumsum(sizes[rows])]),
            "support": draws["support"][entries],
            "beta": draws["beta"][entries],
        }
        for name in ("s2", "slab_variance", "theta", "intercept"):
            if name in draws:
                own[name] = draws[name][rows] if len(draws[name]) else draws[name]
        for name in ("inclusion", "mean", "square", "intercept_sum"):
            if name in draws:
                own[name] = draws[name] if chain == 0 else np.zeros_like(draws[name])
        chains.append(own)
    return chains


def how_to_draw(estimator: Any, n_draws: int) -> tuple[_core.Schedule, int]:
    """Return how long an estimator's chains run for so many draws, and in how many threads."""
    workers = min(effective_n_jobs(estimator.n_jobs), estimator.n_chains)
    schedule = _core.Schedule()
    schedule.warmup, schedule.draws = estimator.n_warmup, n_draws
    schedule.thin = getattr(estimator, "thin", 1)
    return schedule, workers
