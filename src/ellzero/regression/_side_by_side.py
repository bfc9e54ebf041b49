"""Searches side by side in threads, all of which stop if one fails or is interrupted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

__all__ = ["SideBySide"]

_Item = TypeVar("_Item")
_Found = TypeVar("_Found")
_LOOK = 0.05  # seconds between looks for signals


class _StoppedError(Exception):
    """Another thread has failed."""


class SideBySide:
    """Runs the same work on several items, in so many threads.

    The core lets go of the interpreter while it searches, and looks for signals in the main thread
    only: elsewhere it is stopped by what it reports its progress to.

    Parameters
    ----------
    workers : int
        How many threads.
    progress : callable or None
        Who hears of the progress, whichever thread makes it.
    """

    def __init__(self, workers: int, progress: Callable[[int], None] | None) -> None:
        self.workers, self._progress = workers, progress
        self._stop = threading.Event()

    @property
    def progress(self) -> Callable[[int], None] | None:
        """What a search is to report to."""
        return self._progress if self.workers == 1 else self._report

    def _report(self, size: int) -> None:
        if self._stop.is_set():
            raise _StoppedError
        if self._progress is not None:
            self._progress(size)

    def map(self, work: Callable[[_Item], _Found], items: Sequence[_Item]) -> list[_Found]:
        """Return what the work makes of each item, in their order."""
        if self.workers == 1 or len(items) < 2:
            return [work(item) for item in items]
        with ThreadPoolExecutor(self.workers) as pool:
            futures = [pool.submit(work, item) for item in items]
            try:
                while wait(futures, _LOOK).not_done:
                    for future in futures:
                        if future.done():
                            future.result()  # which raises, if it failed
                return [future.result() for future in futures]
            except BaseException:
                self._stop.set()
                for future in futures:
                    future.cancel()
                raise
