"""Progress of long work, for those who ask for it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

__all__ = ["draw_printer", "progress_printer"]


def progress_printer(who: str, verbose: int) -> Callable[[int], None] | None:
    """Return what the core calls with the size of the support; None if nobody is listening."""
    return _printer(who, lambda size: f"{size} variables") if verbose else None


def draw_printer(who: str, total: int, verbose: int) -> Callable[[int], None] | None:
    """Return what the core calls with the iterations done; None if nobody is listening."""
    return _printer(who, lambda done: f"{done} of {total} iterations") if verbose else None


def _printer(who: str, describe: Callable[[int], str]) -> Callable[[int], None]:
    """Print at most one line per second, on standard error."""
    start = time.perf_counter()
    last = start

    def report(state: int) -> None:
        nonlocal last
        now = time.perf_counter()
        if now - last >= 1:
            last = now
            print(f"[{who}] {describe(state)} after {now - start:.0f} s", file=sys.stderr)

    return report
