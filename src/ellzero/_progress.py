"""Progress of long work, for those who ask for it."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar

__all__ = ["PartProgress", "draw_printer", "heard_by", "progress_printer", "time_words"]

# Who wants to hear of draws, other than standard error.
_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextlib.contextmanager
def heard_by(listener: Callable[[str], None], listening: bool = True) -> Iterator[None]:
    """Tell somebody else how draws are getting on, as long as the block runs."""
    token = _listener.set(listener if listening else None)
    try:
        yield
    finally:
        _listener.reset(token)


def progress_printer(who: str, verbose: int) -> Callable[[int], None] | None:
    """Return what the core calls with the size of the support; None if nobody is listening."""
    if not verbose:
        return None
    return _printer(who, lambda size, seconds: f"{size} variables after {seconds:.0f} s", None)


def draw_printer(
    who: str, total: int, verbose: int, begin: int = 0
) -> Callable[[int], None] | None:
    """Return what the core calls with the iterations done; None if nobody is listening.

    ``total`` are those of all chains, of which ``begin`` were done before.
    """
    listener = _listener.get()
    if listener is None and not verbose:
        return None

    def describe(done: int, seconds: float) -> str:
        words = f"{done / max(total, 1):.0%} of {total} iterations after {time_words(seconds)}"
        if done <= begin:
            return words
        return f"{words}, about {time_words(seconds * (total - done) / (done - begin))} left"

    return _printer(who, describe, listener)


def time_words(seconds: float) -> str:
    """Write a time as people say it."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class PartProgress:
    """Tells how far a pass over parts has come, and how long the rest will take.

    Parameters
    ----------
    say : callable
        Called with what is going on, in words.
    what : str
        What is being done.
    sizes : sequence of float
        How large the parts are.
    done : int
        So many were done before.
    """

    def __init__(
        self, say: Callable[[str], None], what: str, sizes: Sequence[float], done: int = 0
    ) -> None:
        self._say, self._what, self._sizes = say, what, sizes
        self._began, self._begin = time.perf_counter(), sum(sizes[:done])
        self.done(done)

    def done(self, count: int) -> None:
        """Tell that so many parts are done."""
        words = f"{self._what}: {count:,} of {len(self._sizes):,} parts"
        come = sum(self._sizes[:count])
        if come > self._begin:
            seconds = time.perf_counter() - self._began
            left = seconds * (sum(self._sizes) - come) / (come - self._begin)
            words += f" after {time_words(seconds)}, about {time_words(left)} left"
        self._say(words)


def _printer(
    who: str, describe: Callable[[int, float], str], listener: Callable[[str], None] | None
) -> Callable[[int], None]:
    """Tell at most once a second, on standard error if nobody else listens."""
    start = time.perf_counter()
    last = start

    def report(state: int) -> None:
        nonlocal last
        now = time.perf_counter()
        if now - last < 1:
            return
        last = now
        words = describe(state, now - start)
        if listener is None:
            print(f"[{who}] {words}", file=sys.stderr)
        else:
            listener(words)

    return report
