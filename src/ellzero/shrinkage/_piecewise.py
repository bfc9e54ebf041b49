"""Penalties whose proximal operator is piecewise linear: l0, l1, l2, elastic net, SCAD, MCP."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from numbers import Real

import numpy as np

from ellzero import _core
from ellzero._normal_means.rule import Floats
from ellzero.shrinkage._penalty import Penalty, check_price

__all__ = ["L0", "L1", "L2", "MCP", "SCAD", "ElasticNet"]

Piece = tuple[float, float, float]


class _PiecewiseLinear(Penalty):
    """A separable penalty with an odd, piecewise linear proximal operator."""

    @abstractmethod
    def _pieces(self, step: float) -> list[Piece]:
        """Return (end, slope, shift) of each: from the end before, |x| becomes slope |x| + shift.

        The pieces include their lower ends. The last one ends at infinity.
        """

    def _prox(self, x: Floats, step: float) -> Floats:
        pieces = self._pieces(step)
        pieces += pieces[-1:] * (4 - len(pieces))
        ends, slopes, shifts = np.array(pieces).T.copy()
        out = _core.piecewise_rule(np.ascontiguousarray(x).ravel(), ends[:3], slopes, shifts)
        return out.reshape(x.shape)


@dataclass(frozen=True)
class L0(_PiecewiseLinear):
    r"""The number of coefficients that are not zero, at a price each.

    .. math:: f(x) = \mathrm{lam}\, \|x\|_0

    The proximal operator is hard thresholding: it keeps ``|x| >= sqrt(2 lam step)``. At the
    threshold both zero and x are minimisers; x is kept.

    Parameters
    ----------
    lam : float
        Price of a coefficient, not negative.

    Examples
    --------
    >>> from ellzero.shrinkage import L0
    >>> L0(lam=2.0).prox([-3.0, -2.0, 1.9, 0.0], step=1.0)
    array([-3., -2.,  0.,  0.])
    """

    lam: float

    def __post_init__(self) -> None:
        check_price("lam", self.lam)

    def _value(self, x: Floats) -> float:
        return self.lam * np.count_nonzero(x)

    def _pieces(self, step: float) -> list[Piece]:
        return [(math.sqrt(2 * self.lam * step), 0, 0), (math.inf, 1, 0)]


@dataclass(frozen=True)
class L1(_PiecewiseLinear):
    r"""The sum of absolute values.

    .. math:: f(x) = \mathrm{lam}\, \|x\|_1

    The proximal operator is soft thresholding at ``lam step``.

    Parameters
    ----------
    lam : float
        Not negative.

    Examples
    --------
    >>> from ellzero.shrinkage import L1
    >>> L1(lam=2.0).prox([-3.0, -2.0, 1.9, 0.0], step=1.0)
    array([-1.,  0.,  0.,  0.])
    """

    lam: float
    convex = True

    def __post_init__(self) -> None:
        check_price("lam", self.lam)

    def _value(self, x: Floats) -> float:
        return self.lam * float(np.abs(x).sum())

    def _pieces(self, step: float) -> list[Piece]:
        return [(self.lam * step, 0, 0), (math.inf, 1, -self.lam * step)]


@dataclass(frozen=True)
class L2(_PiecewiseLinear):
    r"""Half the sum of squares.

    .. math:: f(x) = \tfrac12\, \mathrm{ridge}\, \|x\|^2

    The proximal operator divides by ``1 + ridge step``.

    Parameters
    ----------
    ridge : float
        Not negative.

    Examples
    --------
    >>> from ellzero.shrinkage import L2
    >>> L2(ridge=1.0).prox([-3.0, 2.0], step=1.0)
    array([-1.5,  1. ])
    """

    ridge: float
    convex = True

    def __post_init__(self) -> None:
        check_price("ridge", self.ridge)

    def _value(self, x: Floats) -> float:
        return 0.5 * self.ridge * float(np.sum(x**2))

    def _pieces(self, step: float) -> list[Piece]:
        return [(math.inf, 1 / (1 + self.ridge * step), 0)]


@dataclass(frozen=True)
class ElasticNet(_PiecewiseLinear):
    r"""The sum of absolute values and half the sum of squares.

    .. math:: f(x) = \mathrm{lam}\, \|x\|_1 + \tfrac12\, \mathrm{ridge}\, \|x\|^2

    The proximal operator thresholds softly at ``lam step``, then divides by ``1 + ridge step``.

    Parameters
    ----------
    lam, ridge : float
        Not negative.

    Examples
    --------
    >>> from ellzero.shrinkage import ElasticNet
    >>> ElasticNet(lam=1.0, ridge=1.0).prox([-3.0, 0.5], step=1.0)
    array([-1.,  0.])
    """

    lam: float
    ridge: float
    convex = True

    def __post_init__(self) -> None:
        check_price("lam", self.lam)
        check_price("ridge", self.ridge)

    def _value(self, x: Floats) -> float:
        return self.lam * float(np.abs(x).sum()) + 0.5 * self.ridge * float(np.sum(x**2))

    def _pieces(self, step: float) -> list[Piece]:
        slope = 1 / (1 + self.ridge * step)
        return [(self.lam * step, 0, 0), (math.inf, slope, -self.lam * step * slope)]


@dataclass(frozen=True)
class SCAD(_PiecewiseLinear):
    r"""Smoothly clipped absolute deviation (Fan and Li 2001): like l1 near zero, flat far out.

    .. math:: f(x) = \sum_i \int_0^{|x_i|}
              \min\left(\mathrm{lam}, \frac{(a\,\mathrm{lam} - t)_+}{a - 1}\right) dt

    For ``step < a - 1`` the proximal operator is continuous. For larger ones it jumps, and at the
    jump the larger of the two minimisers is returned.

    Parameters
    ----------
    lam : float
        Slope at zero, not negative.
    a : float
        Larger than 2; the penalty is flat beyond ``a lam``.

    Examples
    --------
    >>> from ellzero.shrinkage import SCAD
    >>> SCAD(lam=1.0).prox([0.5, 1.5, 3.0, 5.0], step=1.0).round(4)
    array([0.    , 0.5   , 2.5882, 5.    ])
    """

    lam: float
    a: float = 3.7

    def __post_init__(self) -> None:
        check_price("lam", self.lam)
        if not (isinstance(self.a, Real) and 2 < self.a < 1e150):
            raise ValueError(f"a must be larger than 2; got {self.a!r}.")

    def _value(self, x: Floats) -> float:
        size, lam, a = np.abs(x), self.lam, self.a
        middle = (2 * a * lam * size - size**2 - lam**2) / (2 * (a - 1))
        flat = lam**2 * (a + 1) / 2
        return float(
            np.where(size <= lam, lam * size, np.where(size <= a * lam, middle, flat)).sum()
        )

    def _pieces(self, step: float) -> list[Piece]:
        lam, a = self.lam, self.a
        soft = (1.0, -lam * step)
        if step < a - 1:
            rest = a - 1 - step
            return [
                (lam * step, 0, 0),
                (lam * (1 + step), *soft),
                (a * lam, (a - 1) / rest, -a * lam * step / rest),
                (math.inf, 1, 0),
            ]
        # Between the two the objective is concave: the best of what lies below lam, and x itself.
        if step <= a + 1:
            return [(lam * step, 0, 0), (lam * (a + 1 + step) / 2, *soft), (math.inf, 1, 0)]
        return [(lam * math.sqrt((a + 1) * step), 0, 0), (math.inf, 1, 0)]


@dataclass(frozen=True)
class MCP(_PiecewiseLinear):
    r"""Minimax concave penalty (Zhang 2010): like l1 at zero, flat far out.

    .. math:: f(x) = \sum_i \int_0^{|x_i|} (\mathrm{lam} - t / \mathrm{gamma})_+ \, dt

    For ``step < gamma`` the proximal operator is continuous. For larger ones it is hard
    thresholding at ``lam sqrt(gamma step)``, and at the threshold x is kept.

    Parameters
    ----------
    lam : float
        Slope at zero, not negative.
    gamma : float
        Larger than 1; the penalty is flat beyond ``gamma lam``.

    Examples
    --------
    >>> from ellzero.shrinkage import MCP
    >>> MCP(lam=1.0, gamma=3.0).prox([0.5, 2.0, 5.0], step=1.0)
    array([0. , 1.5, 5. ])
    """

    lam: float
    gamma: float = 3.0

    def __post_init__(self) -> None:
        check_price("lam", self.lam)
        if not (isinstance(self.gamma, Real) and 1 < self.gamma < 1e150):
            raise ValueError(f"gamma must be larger than 1; got {self.gamma!r}.")

    def _value(self, x: Floats) -> float:
        size = np.minimum(np.abs(x), self.gamma * self.lam)
        return float((self.lam * size - size**2 / (2 * self.gamma)).sum())

    def _pieces(self, step: float) -> list[Piece]:
        lam, gamma = self.lam, self.gamma
        if step < gamma:
            slope = gamma / (gamma - step)
            return [
                (lam * step, 0, 0),
                (gamma * lam, slope, -lam * step * slope),
                (math.inf, 1, 0),
            ]
        return [(lam * math.sqrt(gamma * step), 0, 0), (math.inf, 1, 0)]
