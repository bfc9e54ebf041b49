"""The simulated problems of the paper, each known by its seed, its size and its number."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero.datasets import make_collinear

__all__ = ["SimulatedProblem", "simulate_problem"]


class SimulatedProblem(NamedTuple):
    """A table, its response, the true coefficients, and a seed for the methods that solve it."""

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    beta: NDArray[np.float64]
    seed: int


def simulate_problem(seed: int, n: int, p: int, trial: int) -> SimulatedProblem:
    """Make one problem on the paper's design, the same whichever others were made before."""
    data, solver = np.random.SeedSequence([seed, n, p, trial]).spawn(2)
    X, y, beta = make_collinear(n, p, random_state=np.random.RandomState(np.random.MT19937(data)))
    return SimulatedProblem(X, y, beta, int(solver.generate_state(1)[0] >> 1))
