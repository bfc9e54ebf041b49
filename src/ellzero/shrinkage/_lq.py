"""The l_q penalty for q between 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np

from ellzero._normal_means.rule import Floats
from ellzero.shrinkage._penalty import Penalty, check_price

__all__ = ["Lq"]


@dataclass(frozen=True)
class Lq(Penalty):
    r"""The sum of powers below one.

    .. math:: f(x) = \mathrm{lam} \sum_i |x_i|^q, \qquad 0 < q < 1

    The proximal operator is zero below a threshold, where it jumps; at the threshold the larger
    minimiser is returned. It has a closed form for q = 1/2 and 2/3, and is found by Newton's method
    otherwise.

    Parameters
    ----------
    lam : float
        Not negative.
    q : float
        Strictly between 0 and 1.

    Examples
    --------
    >>> from ellzero.shrinkage import Lq
    >>> Lq(lam=1.0, q=0.5).prox([-1.4, 1.6, 5.0], step=1.0).round(4)
    array([0.    , 1.1295, 4.7711])
    """

    lam: float
    q: float

    def __post_init__(self) -> None:
        check_price("lam", self.lam)
        if not (isinstance(self.q, Real) and 0 < self.q < 1):
            raise ValueError(f"q must be strictly between 0 and 1; got {self.q!r}.")

    def _value(self, x: Floats) -> float:
        return self.lam * float((np.abs(x) ** self.q).sum())

    def _prox(self, x: Floats, step: float) -> Floats:
        if self.lam == 0:
            return x.copy()
        # In these units the objective is (z - t)^2 / 2 + z^q.
        unit = (self.lam * step) ** (1 / (2 - self.q))
        t = np.abs(x) / unit
        # Where the least of it over z > 0 equals its value at z = 0.
        jump_to = (2 * (1 - self.q)) ** (1 / (2 - self.q))
        threshold = jump_to + self.q * jump_to ** (self.q - 1)
        beyond = t >= threshold
        out = np.zeros_like(x)
        out[beyond] = unit * _largest_root(t[beyond], self.q)
        return np.copysign(out, x) + 0.0


def _largest_root(t: Floats, q: float) -> Floats:
    """Return the larger z > 0 with ``z + q z^(q-1) = t``, for t beyond the threshold."""
    if q == 0.5:
        # A cubic in sqrt(z), by Viete's formula (Xu, Chang, Xu and Zhang 2012).
        angle = np.arccos(-0.75 * np.sqrt(3.0) / t**1.5)
        out: Floats = 2 / 3 * t * (1 + np.cos(2 / 3 * angle))
        return out
    if abs(q - 2 / 3) < 1e-15:
        # A quartic in z^(1/3): v^4 - t v + 2/3 = 0, by Ferrari's method.
        third = 8 / 9
        square = 2 * np.sqrt(third) * np.cosh(np.arccosh(t**2 / (2 * third**1.5)) / 3)
        root = np.sqrt(square)
        cube: Floats = ((root + np.sqrt(2 * t / root - square)) / 2) ** 3
        return cube
    # The left side is convex, and its slope at the root at least 1 - q/2: from t, where it is too
    # large, Newton's steps go down to the root and never past it.
    z = t.copy()
    for _ in range(60):
        excess = z + q * z ** (q - 1) - t
        slope = 1 - q * (1 - q) * z ** (q - 2)
        following = z - excess / slope
        if (np.abs(following - z) <= 4e-16 * z).all():
            break
        z = following
    return z
