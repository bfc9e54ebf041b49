"""Blocks of rows, put together in an order that does not depend on who made them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ellzero.sources._moments import Block, Moments, block_moments, merge, room_for

__all__ = ["Job", "Tree", "Work", "accumulate", "merge_all", "rows_per_block", "sum_part"]

_Floats = NDArray[np.float64]
# A block has so many numbers, or so many rows.
_BLOCK_NUMBERS = 1 << 24
_MOST_ROWS = 1 << 16
_LEAST_ROWS = 1 << 10


def rows_per_block(columns: int) -> int:
    """Return how many rows a block has: part of what fixes the bits of a result."""
    rows = _BLOCK_NUMBERS // max(columns, 1)
    return int(np.clip(rows // _LEAST_ROWS * _LEAST_ROWS, _LEAST_ROWS, _MOST_ROWS))


class Work(Protocol):
    """What can be done with every block."""

    def run(self, block: Block, room: _Floats | None = None) -> list[Moments]:
        """Return moments of a block, which lie in some room."""

    def make_room(self) -> _Floats:
        """Return room for the moments of a block."""


class Job(NamedTuple):
    """What is done with every block."""

    shift: _Floats
    folds: int
    seed: int

    def run(self, block: Block, room: _Floats | None = None) -> list[Moments]:
        """Return the moments of every fold's rows of a block, which lie in some room."""
        return block_moments(block, self.shift, folds=self.folds, seed=self.seed, room=room)

    def make_room(self) -> _Floats:
        """Return room for the moments of a block."""
        return room_for(self.folds, len(self.shift))


def merge_all(one: list[Moments] | None, other: list[Moments]) -> list[Moments]:
    """Put the rows of two places together, fold by fold; the first is overwritten."""
    if one is None:
        return other
    return [merge(*pair) for pair in zip(one, other, strict=True)]


class Tree:
    """Parts in their order, put together by fours, these by sixteens, and these by sixteens again.

    What is held are the nodes on the way from the last part to the root, so memory grows with the
    logarithm of the number of parts, and so do errors of rounding. Parts next to each other are
    often in the same place: by fours, so that little travels and places do not wait for each other.
    """

    def __init__(self) -> None:
        self.levels: list[tuple[list[Moments] | None, int]] = []

    @staticmethod
    def fan(level: int) -> int:
        """Return how many nodes of a level make up one of the next; parts are of level 0."""
        return 4 if level == 0 else 16

    @classmethod
    def depth(cls, parts: int) -> int:
        """Return how many nodes are held at the most for so many parts."""
        depth, nodes = 0, parts
        while nodes > 0:
            nodes //= cls.fan(depth)
            depth += 1
        return depth

    def add(self, part: list[Moments]) -> None:
        """Add the next part."""
        for level in range(len(self.levels) + 1):
            if level == len(self.levels):
                self.levels.append((None, 0))
            node, count = self.levels[level]
            node, count = merge_all(node, part), count + 1
            if count < self.fan(level):
                self.levels[level] = node, count
                return
            self.levels[level] = None, 0
            part = node

    def total(self) -> list[Moments] | None:
        """Return everything that was added; None if nothing was. Nothing may be added after."""
        out: list[Moments] | None = None
        for node, _ in self.levels:
            if node is not None:
                out = node if out is None else merge_all(node, out)
        return out


def accumulate(
    blocks: Iterable[Block],
    job: Work,
    *,
    threads: int,
    on_part: Callable[[int, Tree], None] | None = None,
    tree: Tree | None = None,
) -> list[Moments] | None:
    """Go through the blocks once, several at a time, and put them together in their order.

    Parameters
    ----------
    blocks : iterable of Block
        Those of one part after another.
    job : Work
        What is done with each.
    threads : int
        So many blocks are worked on at a time; the bits of a result do not depend on how many.
    on_part : callable, default=None
        Told of every part that is done, with the tree that it is in.
    tree : Tree, default=None
        One to go on with.

    Returns
    -------
    list of Moments, or None
        By fold; None if there were no blocks.
    """
    tree = Tree() if tree is None else tree
    part: list[Moments] | None = None
    number = -1

    def close() -> None:
        if part is not None:
            tree.add(part)
            if on_part is not None:
                on_part(number, tree)

    pending: deque[tuple[int, Future[list[Moments]], _Floats]] = deque()
    free: list[_Floats] = []
    with ThreadPoolExecutor(threads) as pool:

        def take() -> None:
            nonlocal part, number
            of, future, room = pending.popleft()
            found = future.result()
            if of != number:
                close()
                part, number = None, of
            if part is not None:
                free.append(room)  # what is in it goes into the part; else it is the part
            part = merge_all(part, found)

        try:
            for block in blocks:
                room = free.pop() if free else job.make_room()
                pending.append((block.part, pool.submit(job.run, block, room), room))
                del block
                if len(pending) > threads:
                    take()
            while pending:
                take()
        except BaseException:
            for _, future, _ in pending:
                future.cancel()
            raise
    close()
    return tree.total()


def sum_part(
    blocks: Iterable[Block], job: Work, room: _Floats | None = None
) -> list[Moments] | None:
    """Return the moments of one part, its blocks one after the other: what `accumulate` does.

    Those of the first block, and in the end all, lie in some room, if that is given.
    """
    out: list[Moments] | None = None
    spare: _Floats | None = None
    for block in blocks:
        if out is not None and spare is None:
            spare = job.make_room()
        out = merge_all(out, job.run(block, room if out is None else spare))
    return out
