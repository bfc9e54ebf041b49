"""Where chains start: from single best replacement, from the frontier, and from nothing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero._engine import make_engine
from ellzero.posterior._prior import gaussian_twin
from ellzero.regression._group_search import GroupSearch
from ellzero.regression._units import Units

__all__ = ["Starts", "make_group_starts", "make_starts", "make_supports"]

_MOST = 40
_MOST_GROUPS = 15


def make_supports(
    design: _core.Quadratic, ridge: float, forced: NDArray[np.int64], size: int, threads: int
) -> list[list[int]]:
    """Return the frontier's support of every size up to ``size`` beyond the forced columns."""
    engine = make_engine(design, ridge, threads)
    mask = None
    if forced.size:
        engine.move_to(forced)
        mask = np.zeros(design.columns, dtype=bool)
        mask[forced] = True
    frontier = _core.Frontier(engine, mask, False)
    frontier.grow(min(forced.size + size, design.columns), None)
    return [model.support.tolist() for model in frontier.models()]


class Starts(NamedTuple):
    """Where chains start, and coefficients near which to take moments."""

    supports: list[list[int]]
    reference: list[float]  # for columns of unit norm


def make_starts(
    design: _core.Quadratic,
    prior: _core.SpikeSlabPrior,
    forced: NDArray[np.int64],
    n_chains: int,
    threads: int,
) -> Starts:
    """Return one support per chain, and the coefficients that a greedy search finds."""
    searched = gaussian_twin(prior) if prior.slab == _core.Slab.laplace else prior
    (mode,) = _core.climb_spike_slab(design, searched, [[]], swaps=False, threads=threads)
    climbed = mode.support
    ridge = prior.noise.value / prior.slab_variance.value
    engine = make_engine(design, ridge, threads)
    engine.move_to(climbed)
    solution = engine.solution()
    reference = np.zeros(design.columns)
    reference[solution.support] = solution.beta
    starts = [climbed.tolist()]
    if n_chains > 1:
        size = int(np.clip(len(climbed) - forced.size, 1, _MOST))
        starts.append(make_supports(design, ridge, forced, size, threads)[-1])
        starts.append([])
    return Starts([starts[i % len(starts)] for i in range(n_chains)], reference.tolist())


def make_group_starts(
    design: _core.Quadratic,
    posterior: _core.GroupPosterior,
    prior: _core.SpikeSlabPrior,
    units: Units,
    n_chains: int,
    threads: int,
) -> Starts:
    """Return one set of groups per chain, and the coefficients that a greedy search finds."""
    climbed = posterior.climb([], threads)
    reference = np.zeros(design.columns)
    reference[climbed.columns] = climbed.beta
    starts: list[list[int]] = [climbed.units.tolist()]
    if n_chains > 1:
        ridge = prior.noise.value / prior.slab_variance.value
        search = GroupSearch(design, units, ridge, threads)
        size = int(np.clip(climbed.units.size - search.least, 1, _MOST_GROUPS))
        search.grow(search.least + size)
        starts.append(search.models()[-1].units.tolist())
        starts.append([])
    return Starts([starts[i % len(starts)] for i in range(n_chains)], reference.tolist())
