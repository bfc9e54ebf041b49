"""Modes of a spike-and-slab posterior, between which chains exchange sets of variables."""

from __future__ import annotations

import numpy as np

from ellzero import _core
from ellzero.posterior._prior import gaussian_twin

__all__ = ["at_typical_scales", "find_group_modes", "find_modes"]

# A mode e^8 times less probable than the best is of no account.
_DEPTH = 8.0
_MOST_MODES = 24
# Climbs with a member of a mode closed. Where models are large each of them takes long.
_CLIMBS, _CLIMBED_MEMBERS, _GROUP_CLIMBS = 120, 1500, 40
_PILOT = 60


def at_typical_scales(
    design: _core.Quadratic, prior: _core.SpikeSlabPrior, start: list[int]
) -> _core.SpikeSlabPrior:
    """Return the prior, with a Gaussian slab, at variances that a short chain from ``start`` meets.

    Where modes are depends on them; how often chains are in each is for the chains to find out. The
    chain's seed is always the same: modes are a function of the data.
    """
    if prior.slab in (_core.Slab.zellner, _core.Slab.boom):
        return prior  # nothing but the support is left to draw
    reference = [0.0] * design.columns
    (chain,) = _core.sample_spike_slab(
        design, prior, [start], reference, seed=0, schedule=_pilot(), threads=1, progress=None
    )
    twin = gaussian_twin(prior)
    for name, draws in (("noise", "s2"), ("slab_variance", "slab_variance")):
        given = _core.Variance()
        given.value = float(np.median(chain[draws][_PILOT // 2 :]))
        setattr(twin, name, given)
    return twin


def _pilot() -> _core.Schedule:
    schedule = _core.Schedule()
    schedule.draws = _PILOT
    return schedule


def find_modes(
    design: _core.Quadratic,
    prior: _core.SpikeSlabPrior,
    starts: list[list[int]],
    threads: int,
) -> list[_core.ModeFound]:
    """Return modes of ``p(S | y)``, variances as the prior has them, the most probable first.

    Found by climbs from the starts, and from every mode with each of its members left out in turn.
    """
    largest = max(map(len, starts), default=0)
    climbs = min(_CLIMBS, _CLIMBED_MEMBERS // max(largest, 1))
    return _core.search_modes(
        design, prior, starts, climbs=climbs, depth=_DEPTH, modes=_MOST_MODES, threads=threads
    )


def find_group_modes(
    posterior: _core.GroupPosterior, starts: list[list[int]], n_columns: int, threads: int
) -> list[_core.ModeFound]:
    """Return modes over sets of groups, at a ratio of variances that a short chain meets."""
    reference = [0.0] * n_columns
    (chain,) = posterior.sample(
        starts[:1], reference, seed=0, schedule=_pilot(), threads=1, progress=None
    )
    tau = float(np.median((chain["s2"] / chain["slab_variance"])[_PILOT // 2 :]))
    return posterior.search_modes(
        starts, tau, climbs=_GROUP_CLIMBS, depth=_DEPTH, modes=_MOST_MODES, threads=threads
    )
