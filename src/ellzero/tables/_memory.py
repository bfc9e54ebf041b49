"""How much memory there is for a table."""

from __future__ import annotations

import contextlib
import math
import os
from pathlib import Path

__all__ = ["too_large"]

# Where Linux says what a container may use, in either version of its control groups
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def too_large(n_bytes: float) -> bool:
    """Whether so many bytes are more than this machine, or this container, has room for."""
    return n_bytes > 0.9 * _memory()


def _memory() -> float:
    found = math.inf
    if hasattr(os, "sysconf"):
        found = float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    for path in _LIMITS:
        with contextlib.suppress(OSError, ValueError):  # not there, or "max"
            found = min(found, float(Path(path).read_text(encoding="ascii")))
    return found
