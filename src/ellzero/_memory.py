"""How much memory there is, and how much a text says."""

from __future__ import annotations

import contextlib
import math
import os
import re
from pathlib import Path

__all__ = ["bytes_of", "too_large"]

# Where Linux says what a container may use, in either version of its control groups
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")

_UNITS = {"": 1e9, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def bytes_of(text: str) -> float | None:
    """Return the bytes that a text such as ``2GB`` or ``500 MB`` means; None if it means none."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([KMGT]?)(i?)B?\s*", text, re.IGNORECASE)
    if found is None or not float(found[1]):
        return None
    unit = _UNITS[found[2].upper()]
    if found[3] and found[2]:
        unit = 1024.0 ** round(math.log(unit, 1000))
    return float(found[1]) * unit


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
