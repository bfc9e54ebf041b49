"""At most k coefficients: the constraint of best subset selection."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np

from ellzero._normal_means.rule import Floats
from ellzero.shrinkage._penalty import Penalty

__all__ = ["KSparse"]


@dataclass(frozen=True)
class KSparse(Penalty):
    r"""The indicator of the vectors with at most k coefficients that are not zero.

    Zero for those, infinite for others. The proximal operator, whatever the step, is the paper's
    :math:`H_k`: it keeps the k coefficients of the largest absolute values, of equal ones those
    that come first.

    Parameters
    ----------
    k : int
        Not negative.

    Examples
    --------
    >>> from ellzero.shrinkage import KSparse
    >>> KSparse(k=2).prox([1.0, -3.0, 1.0, 0.5])
    array([ 1., -3.,  0.,  0.])
    """

    k: int

    def __post_init__(self) -> None:
        if not (isinstance(self.k, Integral) and self.k >= 0):
            raise ValueError(f"k must be an integer, not negative; got {self.k!r}.")

    def _value(self, x: Floats) -> float:
        return 0.0 if np.count_nonzero(x) <= self.k else np.inf

    def _prox(self, x: Floats, step: float) -> Floats:
        size = np.abs(x).ravel()
        if self.k >= size.size:
            return x.copy()
        if self.k == 0:
            return np.zeros_like(x)
        least = np.partition(size, size.size - self.k)[size.size - self.k]
        kept = size > least
        tied = np.flatnonzero(size == least)
        kept[tied[: self.k - np.count_nonzero(kept)]] = True
        return np.where(kept.reshape(x.shape), x, 0.0)
