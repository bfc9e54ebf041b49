"""Penalties on groups of coefficients."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from ellzero._normal_means.prior import check_values
from ellzero._normal_means.rule import Floats
from ellzero.shrinkage._penalty import Penalty, check_price

__all__ = ["GroupL0", "GroupL1"]


class _Grouped(Penalty):
    """Coefficients in groups, each shrunk by a factor that depends on its norm."""

    def __init__(self, lam: float, groups: ArrayLike, weights: ArrayLike | None = None) -> None:
        self.lam = check_price("lam", lam)
        labels = np.asarray(groups)
        if labels.ndim != 1 or not labels.size:
            raise ValueError(f"groups must be one label a coefficient; got shape {labels.shape}.")
        self.labels, self.index = np.unique(labels, return_inverse=True)
        count = len(self.labels)
        self.weights = np.ones(count) if weights is None else check_values("weights", weights)
        if self.weights.shape != (count,) or (self.weights < 0).any():
            raise ValueError(
                f"weights must be one number per group, {count}, none of them negative."
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}(lam={self.lam!r}, {len(self.labels)} groups)"

    def _check(self, x: ArrayLike) -> Floats:
        values = super()._check(x)
        if values.shape != self.index.shape:
            raise ValueError(
                f"x must have the shape of groups, {self.index.shape}; got {values.shape}."
            )
        return values

    def _norms(self, x: Floats) -> Floats:
        # By the largest first: squares may overflow or vanish.
        top = np.zeros(len(self.labels))
        np.maximum.at(top, self.index, np.abs(x))
        unit = np.where(top > 0, top, 1.0)
        squares = np.bincount(self.index, (x / unit[self.index]) ** 2, len(self.labels))
        out: Floats = unit * np.sqrt(squares)
        return out

    @abstractmethod
    def _factor(self, norms: Floats, step: float) -> Floats:
        """Return what each group is multiplied by."""

    def _prox(self, x: Floats, step: float) -> Floats:
        return x * self._factor(self._norms(x), step)[self.index]


class GroupL0(_Grouped):
    r"""The number of groups that are not all zero, at a price each.

    .. math:: f(x) = \mathrm{lam} \sum_g w_g \, 1\{x_g \ne 0\}

    The proximal operator keeps the groups with ``|x_g| >= sqrt(2 lam w_g step)``; at the threshold,
    where zero would do as well, the group is kept.

    Parameters
    ----------
    lam : float
        Price of a group of weight one, not negative.
    groups : array-like of shape (p,)
        The group of every coefficient, by any labels.
    weights : array-like or None
        One per group, in the order of the sorted labels; ones if not given.

    Examples
    --------
    >>> from ellzero.shrinkage import GroupL0
    >>> GroupL0(lam=2.0, groups=[0, 0, 1, 1]).prox([1.5, 1.5, 1.0, 0.0])
    array([1.5, 1.5, 0. , 0. ])
    """

    def _value(self, x: Floats) -> float:
        return self.lam * float(self.weights @ (self._norms(x) > 0))

    def _factor(self, norms: Floats, step: float) -> Floats:
        return (norms >= np.sqrt(2 * self.lam * self.weights * step)).astype(np.float64)


class GroupL1(_Grouped):
    r"""The sum of the groups' Euclidean norms: the penalty of the group lasso.

    .. math:: f(x) = \mathrm{lam} \sum_g w_g \|x_g\|

    Parameters
    ----------
    lam : float
        Not negative.
    groups : array-like of shape (p,)
        The group of every coefficient, by any labels.
    weights : array-like or None
        One per group, in the order of the sorted labels; ones if not given. The square roots of the
        groups' sizes are the usual choice when sizes differ.

    Examples
    --------
    >>> from ellzero.shrinkage import GroupL1
    >>> GroupL1(lam=1.0, groups=["a", "a", "b"]).prox([3.0, 4.0, 0.5])
    array([2.4, 3.2, 0. ])
    """

    convex = True

    def _value(self, x: Floats) -> float:
        return self.lam * float(self.weights @ self._norms(x))

    def _factor(self, norms: Floats, step: float) -> Floats:
        threshold = self.lam * self.weights * step
        kept = norms > threshold
        return np.where(kept, 1 - threshold / np.where(kept, norms, 1.0), 0.0)
