"""Data in which sets of columns explain the same thing: single flips and swaps do not get across.

A trap has two or more sets of columns whose sums are nearly the same,

    x_a + x_b = x_c + x_d + a little noise,    y = s (x_a + x_b) + ... + noise

so that {a, b} and {c, d} are both modes of the posterior, and every model on the way from one to
the other is far less probable than both.
"""

from dataclasses import dataclass

import numpy as np

KINDS = ("2 against 2", "3 against 3", "2 against 1", "chain of pairs")
# How many columns the sets of each kind have.
_SIZES = {
    "2 against 2": (2, 2),
    "3 against 3": (3, 3),
    "2 against 1": (2, 1),
    "chain of pairs": (2, 2, 2),
}


@dataclass(frozen=True)
class Trap:
    """Data, and for every trap in them the sets that stand in for each other."""

    X: np.ndarray
    y: np.ndarray
    sets: list[list[list[int]]]  # by trap and set
    effects: list[int]  # columns with effects of their own

    @property
    def columns(self):
        """All columns that matter."""
        return sorted({*self.effects, *(j for trap in self.sets for own in trap for j in own)})


def make_traps(seed, p, kinds=None, n=None):
    """Draw data with traps of these kinds, of one to three random ones if none are named.

    Sizes of effects, noise, rows, how well the sets stand in for each other and where they are: all
    of it is random. Beside them there are columns of noise and one or two effects of their own.
    """
    rng = np.random.default_rng([20261117, p, seed])
    if kinds is None:
        most = 1 if p < 20 else 3
        kinds = rng.choice(KINDS, size=rng.integers(1, most + 1))
    n = int(rng.integers(50, 301)) if n is None else n
    X = rng.standard_normal((n, p))
    order, sigma = rng.permutation(p).tolist(), rng.uniform(0.3, 2.0)
    signal, sets = np.zeros(n), []
    for kind in kinds:
        own = [[order.pop() for _ in range(size)] for size in _SIZES[kind]]
        effect = sigma * np.exp(rng.uniform(-0.5, 2.0)) * rng.choice([-1, 1])
        total = X[:, own[0]].sum(axis=1)
        for other in own[1:]:
            # What the stand-ins leave unexplained costs them so much in log p(y | S). Fewer
            # columns have a higher prior.
            fewer = len(other) < len(own[0])
            cost = rng.uniform(2.0, 7.0) if fewer else rng.uniform(0.0, 3.0)
            off = sigma / abs(effect) * np.sqrt(2 * cost / n) * rng.standard_normal(n)
            X[:, other[-1]] = total + off - X[:, other[:-1]].sum(axis=1)
        signal += effect * total
        sets.append([sorted(columns) for columns in own])
    effects = order[: rng.integers(0, 3)]
    for j in effects:
        signal += sigma * rng.uniform(0.2, 1.0) * X[:, j]
    return Trap(X, signal + sigma * rng.standard_normal(n), sets, effects)
