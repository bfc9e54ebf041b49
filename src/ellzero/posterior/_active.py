"""Which of very many columns are worth most of a chain's sweeps.

Whatever is chosen, the posterior is the same: what is not is moved less often.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero import _core

__all__ = ["ALL", "Active", "find_active"]

# Sweeps over fewer columns than this are quick.
_FEW = 2000
# Columns that are chosen, and iterations of the chains that they are chosen by
_COUNT, _PILOT = 300, 40
# A batch of draws has one sweep over all columns: for every so many of them one draw more
_PER_DRAW, _LONGEST_BATCH = 1250, 8
_WITHIN = 20


class Active(NamedTuple):
    """Columns that most sweeps are over, and how often there are others.

    Attributes
    ----------
    columns : list of int
        In increasing order; none if all sweeps are over all columns.
    batch : int
        Draws for every sweep over all columns.
    within : int
        Iterations within the columns for each of a chain's.
    """

    columns: list[int]
    batch: int
    within: int


ALL = Active([], 1, 1)


def find_active(
    design: _core.Quadratic,
    prior: _core.SpikeSlabPrior,
    free: NDArray[np.int64],
    starts: list[list[int]],
    reference: list[float],
    modes: list[list[int]],
    threads: int,
) -> Active:
    """Return the free columns of all modes, and those that short chains find the most probable."""
    if free.size <= _FEW:
        return ALL
    schedule = _core.Schedule()
    schedule.draws, schedule.thin = 1, _PILOT
    chains = _core.sample_spike_slab(
        design,
        prior,
        starts,
        reference,
        seed=0,
        schedule=schedule,
        threads=threads,
        progress=None,
        modes=modes,
    )
    probability = sum(chain["inclusion"] for chain in chains)
    likely = free[np.argsort(-probability[free], kind="stable")[:_COUNT]]
    of_modes = np.array([j for mode in modes for j in mode], dtype=np.int64)
    columns = np.union1d(likely, np.intersect1d(of_modes, free))
    batch = min(free.size // _PER_DRAW, _LONGEST_BATCH)
    return Active(columns.tolist(), batch, _WITHIN)
