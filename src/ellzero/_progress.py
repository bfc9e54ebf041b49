"""Progress of long work, for those who ask for it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

__all__ = ["progress_printer"]


def progress_printer(who: str, verbose: int) -> Callable[[int], None] | None:
    """Return what the core calls with the size of the support; None if nobody is listening.

    A line a second at most, on standard error.
    """
    if not verbose:
        return None
    start = time.perf_counter()
    last = start

    def report(size: int) -> None:
        nonlocal last
        now = time.perf_counter()
        if now - last >= 1:
            last = now
            print(f"[{who}] {size} variables after {now - start:.0f} s", file=sys.stderr)

    return report
