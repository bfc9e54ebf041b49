"""Where chains start: from a greedy search, the frontier, nothing, and other modes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero._engine import make_engine
from ellzero.posterior._active import ALL, Active
from ellzero.posterior._modes import at_typical_scales, find_group_modes, find_modes
from ellzero.posterior._prior import gaussian_twin
from ellzero.regression._group_search import GroupSearch
from ellzero.regression._units import Units

__all__ = ["Starts", "make_group_starts", "make_starts", "make_supports", "ridge_of"]

_MOST = 40
_MOST_GROUPS = 15


def make_supports(
    design: _core.Quadratic,
    ridge: float | NDArray[np.float64],
    forced: NDArray[np.int64],
    size: int,
    threads: int,
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


def ridge_of(prior: _core.SpikeSlabPrior) -> float | NDArray[np.float64]:
    """Return the ridge of a Gaussian slab, or that of each column."""
    ridge = prior.noise.value / prior.slab_variance.value
    return ridge / np.square(prior.scales) if prior.scales else ridge


class Starts(NamedTuple):
    """Where chains start, coefficients near which to take moments, and modes to go between."""

    supports: list[list[int]]
    reference: list[float]  # for columns of unit norm
    modes: list[list[int]] = []  # noqa: RUF012 a tuple's default is never written to
    active: Active = ALL


def make_starts(
    design: _core.Quadratic,
    prior: _core.SpikeSlabPrior,
    forced: NDArray[np.int64],
    n_chains: int,
    threads: int,
    *,
    search: bool = False,
) -> Starts:
    """Return one support per chain, and the coefficients that a greedy search finds.

    ``search`` says whether to look for modes, too.
    """
    searched = gaussian_twin(prior) if prior.slab == _core.Slab.laplace else prior
    (mode,) = _core.climb_spike_slab(design, searched, [[]], swaps=False, threads=threads)
    climbed = mode.support
    ridge = ridge_of(prior)
    engine = make_engine(design, ridge, threads)
    engine.move_to(climbed)
    solution = engine.solution()
    reference = np.zeros(design.columns)
    reference[solution.support] = solution.beta
    starts: list[list[int]] = [climbed.tolist()]
    if n_chains > 1 or search:
        size = int(np.clip(len(climbed) - forced.size, 1, _MOST))
        # Modes may be larger than what a greedy search is content with.
        frontier = make_supports(design, ridge, forced, size + (2 if search else 0), threads)
        starts += [frontier[min(size, len(frontier) - 1)], []]
    modes: list[list[int]] = []
    if search:
        typical = at_typical_scales(design, prior, starts[0])
        found = find_modes(design, typical, [*starts, *frontier], threads)
        modes = [mode.support.tolist() for mode in found]
        starts += modes[1:]  # the first is what the others lead to
    return Starts([starts[i % len(starts)] for i in range(n_chains)], reference.tolist(), modes)


def make_group_starts(
    design: _core.Quadratic,
    posterior: _core.GroupPosterior,
    prior: _core.SpikeSlabPrior,
    units: Units,
    n_chains: int,
    threads: int,
    *,
    search: bool = False,
) -> Starts:
    """Do the same for sets of groups."""
    climbed = posterior.climb([], threads)
    reference = np.zeros(design.columns)
    reference[climbed.columns] = climbed.beta
    starts: list[list[int]] = [climbed.units.tolist()]
    modes: list[list[int]] = []
    if n_chains > 1 or search:
        ridge = prior.noise.value / prior.slab_variance.value
        frontier = GroupSearch(design, units, ridge, threads)
        size = int(np.clip(climbed.units.size - frontier.least, 1, _MOST_GROUPS))
        frontier.grow(frontier.least + size)
        best = [model.units.tolist() for model in frontier.models()]
        starts += [best[-1], []]
        if search:
            found = find_group_modes(posterior, [*starts, *best], design.columns, threads)
            modes = [mode.support.tolist() for mode in found]
            starts += modes[1:]
    return Starts([starts[i % len(starts)] for i in range(n_chains)], reference.tolist(), modes)
