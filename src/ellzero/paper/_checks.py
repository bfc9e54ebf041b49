"""Checks of the parameters that all studies have."""

from __future__ import annotations

from numbers import Integral
from typing import Any

__all__ = ["check_run"]


def check_run(trials: Any, seed: Any, jobs: Any = None) -> None:
    """Raise unless a study can be run with these numbers."""
    if not (_is_integer(trials) and trials >= 1):
        raise ValueError(f"trials must be an integer of at least 1; got {trials!r}.")
    if not (_is_integer(seed) and 0 <= seed < 2**31):
        raise ValueError(f"seed must be an integer from 0 to 2^31 - 1; got {seed!r}.")
    if jobs is not None and not (_is_integer(jobs) and (jobs >= 1 or jobs == -1)):
        raise ValueError(f"jobs must be a positive number of processes, -1 or None; got {jobs!r}.")


def _is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
