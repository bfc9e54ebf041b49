"""Models one insertion, removal or swap away."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero._columns import column_name
from ellzero.regression._problem import Problem

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["best_swaps", "neighbouring_models"]


def neighbouring_models(problem: Problem, energy: float, lam: float, within: float) -> pd.DataFrame:
    """Tabulate the neighbours of where the engine stands, whose energy is given.

    Those whose ``energy + lam size`` is greater by at most ``within``, the best first.
    """
    import pandas as pd  # here, so that `import ellzero` does not wait for it

    moves = _moves(problem, lam, within)
    if problem.loss.is_likelihood:
        moves = _refitted(problem, moves, energy, lam, within)

    def name(columns: list[int]) -> list[str]:
        return ["" if j < 0 else column_name(j, problem.names) for j in columns]

    table = pd.DataFrame(
        {
            "move": [_KINDS[move.enters >= 0, move.leaves >= 0] for move in moves],
            "enters": name([move.enters for move in moves]),
            "leaves": name([move.leaves for move in moves]),
            "loss": np.array([move.rise + lam * move.step for move in moves], dtype=np.float64),
            "energy": np.array([energy + move.rise for move in moves], dtype=np.float64),
        }
    )
    return table.sort_values("loss", kind="stable", ignore_index=True)


_KINDS = {(True, True): "swap", (True, False): "insert", (False, True): "remove"}
# Where a promise is not exact, moves are refitted that promise to lose up to so many times what is
# allowed, the best so many.
_SLACK, _MOST = 3.0, 500


class _Move(NamedTuple):
    """One variable that enters, one that leaves (-1 if none does), and what the energy rises by."""

    enters: int
    leaves: int
    rise: float

    @property
    def step(self) -> int:
        """By how much the size grows."""
        return (self.enters >= 0) - (self.leaves >= 0)


def _moves(problem: Problem, lam: float, within: float) -> list[_Move]:
    """Return the swaps, insertions and removals that lose at most that much, as is promised."""
    engine = problem.engine
    members = engine.members
    free = ~np.isin(members, problem.forced)
    if problem.loss.is_likelihood:
        within = _SLACK * within
    gains = engine.insertion_gains()
    entering = np.flatnonzero((gains >= 0) & (lam - gains <= within))
    costs = engine.removal_costs()
    leaving = np.flatnonzero(free & (costs - lam <= within))
    swaps = engine.swap_gains()
    position, column = np.nonzero(free[:, None] & (-swaps <= within))
    out = [
        _Move(int(j), int(members[r]), -float(swaps[r, j]))
        for r, j in zip(position, column, strict=True)
    ]
    out += [_Move(int(j), -1, -float(gains[j])) for j in entering]
    out += [_Move(-1, int(members[r]), float(costs[r])) for r in leaving]
    return out


def _refitted(
    problem: Problem, moves: list[_Move], energy: float, lam: float, within: float
) -> list[_Move]:
    """Return the moves that do lose at most that much, refitted; the engine comes back."""
    members = problem.engine.members
    promising = sorted(moves, key=lambda move: move.rise + lam * move.step)[:_MOST]
    out = [move._replace(rise=_rise(problem, members, move, energy)) for move in promising]
    problem.engine.start_at(members)
    return [move for move in out if move.rise + lam * move.step <= within]


def _rise(problem: Problem, members: NDArray[np.int64], move: _Move, energy: float) -> float:
    """Return what the energy rises by if a move is made; infinite if it can't be."""
    support = members[members != move.leaves]
    if move.enters >= 0:
        support = np.append(support, move.enters)
    problem.engine.move_to(support)
    if problem.engine.members.size < support.size:
        return np.inf
    return float(problem.engine.energy) - energy


def best_swaps(problem: Problem, count: int) -> pd.DataFrame:
    """Tabulate the best swaps for each free member of the support that the engine stands at."""
    import pandas as pd

    engine = problem.engine
    members = engine.members
    energy = engine.energy
    rises = -engine.swap_gains()  # infinite where no swap is possible
    rows: list[tuple[str, str, float, float]] = []
    order = np.argsort(members)
    for place in order:
        member = int(members[place])
        if member in problem.forced:
            continue
        if problem.loss.is_likelihood:
            likely = np.argsort(rises[place], kind="stable")[: 2 * count + 6]
            for j in likely[np.isfinite(rises[place, likely])]:
                rises[place, j] = _rise(problem, members, _Move(int(j), member, 0.0), energy)
            rises[place, np.setdiff1d(np.arange(rises.shape[1]), likely)] = np.inf
        best = np.argsort(rises[place], kind="stable")[:count]
        correlations = engine.gram_columns(members[place : place + 1])[0]
        rows += [
            (
                column_name(member, problem.names),
                column_name(int(j), problem.names),
                float(rises[place, j]),
                float(correlations[j]),
            )
            for j in best
            if np.isfinite(rises[place, j])
        ]
    return pd.DataFrame(rows, columns=["leaves", "enters", "rise", "correlation"])
