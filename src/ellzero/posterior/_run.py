"""Chains that can go on later as if they had never stopped.

The core makes every chain anew from its state at fixed iterations, its boundaries, whether or not
anybody stops there. So a run that goes on from the state at a boundary has the bits of one that was
never interrupted: what was drawn after that boundary is dropped, and drawn again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ellzero import _core
from ellzero.posterior._archive import digest

__all__ = ["ChainRun", "begin_run", "fingerprint", "go_on"]

_Chain = dict[str, Any]
# What a chain hands over once, not by draw.
_WHOLE = ("inclusion", "mean", "square", "intercept_sum", "row_weight")
_STATE = "state:"
# What may differ between the parts of one run.
_NOT_PART = ("n_draws", "n_jobs", "verbose", "checkpoint", "random_state")


@dataclasses.dataclass
class ChainRun:
    """A run of chains, as far as it came.

    Attributes
    ----------
    seed : int
        Of the chains.
    n_draws : int
        Draws of each chain, when it is done.
    data : str
        A checksum of what the chains know of the data.
    parameters : dict
        Checksums of the estimator's parameters, by name.
    chains : list of dict
        What each chain has drawn, and its state at its last boundary; empty before they begin, and
        where all models were visited.
    """

    seed: int
    n_draws: int
    data: str
    parameters: dict[str, str]
    chains: list[_Chain] = dataclasses.field(default_factory=list)

    def draw(
        self,
        schedule: _core.Schedule,
        sample: Callable[[_core.Schedule], list[_Chain]],
        keep: Callable[[ChainRun], None] | None = None,
        every: float = 30.0,
    ) -> list[_Chain]:
        """Run the chains from where they are to the end, and return what they drew.

        Parameters
        ----------
        schedule : Schedule
            How long they run.
        sample : callable
            Runs them by a schedule, in the core.
        keep : callable, default=None
            Called with the run when that much work has been done, but not at the end.
        every : float, default=30.0
            How many seconds of work, or 20 times what keeping took if that is more; 0 means after
            every stretch.
        """
        schedule.draws = self.n_draws
        end = schedule.warmup + schedule.draws * schedule.thin
        stretches = 1
        while True:
            at = self.iteration
            stop = end
            if keep is not None:
                # Boundaries are a number of stretches from the first draw
                first = at + (schedule.warmup - at) % schedule.stretch
                stop = min(first + stretches * schedule.stretch, end)
            schedule.stop = stop
            schedule.states = [_state_of(chain) for chain in self.chains]
            begin = time.perf_counter()
            self._take(sample(schedule), schedule)
            if stop == end:
                return self.chains
            assert keep is not None
            middle = time.perf_counter()
            keep(self)
            if every > 0:
                wanted = max(every, 20 * (time.perf_counter() - middle))
                share = wanted / max(middle - begin, 1e-3 * wanted)
                stretches = max(1, int(stretches * min(share, 10)))

    @property
    def iteration(self) -> int:
        """The iteration that the chains go on from."""
        return int(self.chains[0][f"{_STATE}iteration"][0]) if self.chains else 0

    def _take(self, parts: list[_Chain], schedule: _core.Schedule) -> None:
        kept = max(self.iteration - schedule.warmup, 0) // schedule.thin
        if self.chains:
            pairs = zip(self.chains, parts, strict=True)
            parts = [_join(*both, kept, schedule.batch) for both in pairs]
        self.chains = parts

    def without(self, *names: str) -> ChainRun:
        """Return the run without some of what its chains drew, which is kept elsewhere."""
        chains = [
            {name: values for name, values in chain.items() if name not in names}
            for chain in self.chains
        ]
        return dataclasses.replace(self, chains=chains)


def _state_of(chain: _Chain) -> _Chain:
    """Return what the core goes on from."""
    return {name.removeprefix(_STATE): own for name, own in chain.items() if _STATE in name}


def _join(before: _Chain, after: _Chain, kept: int, batch: int) -> _Chain:
    """Put together the first ``kept`` draws of a chain and those that were drawn after them.

    They are whole batches, of which there is one row of ``conditional`` each.
    """
    joined = {}
    sparse = "begins" in after
    for name, values in after.items():
        if name in _WHOLE or name.startswith(_STATE):
            joined[name] = values
        elif name == "begins":
            first = before[name][: kept + 1]
            joined[name] = np.concatenate([first, values[1:] + first[-1]])
        else:
            entries = kept
            if sparse and name in ("support", "beta"):
                entries = int(before["begins"][kept])
            elif name == "conditional":
                entries = kept // batch
            joined[name] = np.concatenate([before[name][:entries], values])
    return joined


def fingerprint(design: _core.Quadratic, *others: Any) -> str:
    """Return a checksum of what chains know of the data: moments of the columns, and y."""
    whole = hashlib.sha256()
    numbers = np.array([design.yy, design.mean_y, design.weight])
    for values in (numbers, design.mean, design.inverse_scale, design.zy, *others):
        whole.update(np.ascontiguousarray(values, dtype=np.float64).tobytes())
    return whole.hexdigest()


def begin_run(estimator: Any, data: str) -> ChainRun:
    """Return a run that has not begun, by the parameters of an estimator."""
    seed = int(check_random_state(estimator.random_state).randint(2**31 - 1))
    return ChainRun(seed, int(estimator.n_draws), data, _parameters_of(estimator))


def go_on(before: ChainRun, estimator: Any, data: str, more: int) -> ChainRun:
    """Return a run that goes on for more draws from where another ended.

    Raises
    ------
    ValueError
        If the data or the parameters are others than they were.
    """
    if data != before.data:
        raise ValueError("extend: X, y or sample_weight are not those of the fit.")
    changed = changed_parameter(before, estimator)
    if changed is not None:
        raise ValueError(f"extend: the parameter {changed} was changed since the fit.")
    return dataclasses.replace(before, n_draws=before.n_draws + more)


def changed_parameter(run: ChainRun, estimator: Any) -> str | None:
    """Name a parameter that is not what it was in a run; None if there is none."""
    now = _parameters_of(estimator)
    differ = [name for name in now if run.parameters.get(name) != now[name]]
    return min(differ, default=None)


def _parameters_of(estimator: Any) -> dict[str, str]:
    parameters = estimator.get_params(deep=False)
    return {name: digest(own) for name, own in parameters.items() if name not in _NOT_PART}
