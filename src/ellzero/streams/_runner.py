"""Who looks at the parts: this process, or the workers of a Dask cluster."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

from ellzero.tables import DataError
from ellzero.tables._parts import Part

__all__ = ["Cluster", "Here", "Runner", "in_order"]

_Result = TypeVar("_Result")
_Item = TypeVar("_Item")


class Runner(Protocol):
    """Does something with every part."""

    remote: bool  # whether it is done elsewhere

    def map(
        self, function: Callable[[Part], _Result], parts: Sequence[Part]
    ) -> Iterator[tuple[Part, _Result]]:
        """Give the results in the order of the parts."""


class Here:
    """Looks at one part after the other, in this process."""

    remote = False

    def map(
        self, function: Callable[[Part], _Result], parts: Sequence[Part]
    ) -> Iterator[tuple[Part, _Result]]:
        """Give the results in the order of the parts."""
        for part in parts:
            yield part, function(part)


class Cluster:
    """The workers of a Dask cluster, which see the same files; only results travel.

    Parameters
    ----------
    address : str
        The cluster's scheduler, such as ``tcp://host:8786``.
    say : callable
        Called with what is going on, in words.
    patience : float, default=300
        Seconds to wait for a worker if the cluster has lost all of them.
    """

    remote = True

    def __init__(
        self, address: str, say: Callable[[str], None], *, patience: float = 300.0
    ) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise DataError(
                "A Dask cluster needs the package distributed: pip install ellzero[dask]."
            ) from None
        self._say = say
        self._patience = patience
        try:
            self._client: Any = Client(address, timeout="30s", set_as_default=False)
        except (OSError, ValueError, ImportError) as error:
            raise DataError(f"There is no Dask cluster at {address}: {_short(error)}.") from None

    def close(self) -> None:
        """Leave the cluster as it is."""
        self._client.close()

    def map(
        self, function: Callable[[Part], _Result], parts: Sequence[Part]
    ) -> Iterator[tuple[Part, _Result]]:
        """Give the results in the order of the parts; a few are worked on ahead."""
        waiting: deque[tuple[Part, Any]] = deque()
        coming = iter(parts)
        try:
            while True:
                ahead = 2 * max(1, sum(self._client.nthreads().values()))
                for part in coming:
                    waiting.append((part, self._client.submit(function, part, pure=False)))
                    if len(waiting) >= ahead:
                        break
                if not waiting:
                    return
                part, future = waiting.popleft()
                yield part, self._result(part, future)
        finally:
            for _, future in waiting:
                future.cancel()

    def _result(self, part: Part, future: Any) -> Any:
        lost_since: float | None = None
        while not future.done():
            time.sleep(0.02 if lost_since is None else 0.5)
            if self._client.nthreads():
                lost_since = None
                continue
            now = time.monotonic()
            if lost_since is None:
                lost_since = now
                self._say(f"The cluster has no workers: waiting up to {self._patience:g} s for one")
            if now - lost_since > self._patience:
                raise DataError(f"The cluster has had no workers for {self._patience:g} s.")
        if future.status == "error" and type(future.exception()).__name__ == "KilledWorker":
            raise DataError(f"{part}: every worker that looked at it has died, out of memory?")
        return future.result()


def _short(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


def in_order(
    threads: int, function: Callable[[_Item], _Result], items: Iterator[_Item]
) -> Iterator[_Result]:
    """Give results in the order of the items, some of which are worked on ahead."""
    waiting: deque[Any] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                del item
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
