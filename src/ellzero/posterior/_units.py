"""What sigma_beta means: for columns of unit norm, and for standardised columns."""

from __future__ import annotations

import math
from numbers import Real

__all__ = ["from_standardised", "to_standardised"]


def to_standardised(sigma_beta: float, n: float) -> float:
    """Turn a slab's standard deviation for unit-norm columns into that for standardised ones.

    A column of unit l2 norm is a standardised one (standard deviation 1, dividing by n) divided by
    ``sqrt(n)``, so its coefficient is ``sqrt(n)`` times as large.

    Parameters
    ----------
    sigma_beta : float
        In units of y, for columns that are centred and of unit l2 norm.
    n : float
        Rows, or the sum of the weights.

    Returns
    -------
    float
        In units of y per standard deviation of a column: ``sigma_beta / sqrt(n)``.

    Examples
    --------
    >>> from ellzero.posterior import to_standardised
    >>> to_standardised(20.0, n=100)
    2.0
    """
    return _check("sigma_beta", sigma_beta) / math.sqrt(_check("n", n))


def from_standardised(sigma: float, n: float) -> float:
    """Turn a slab's standard deviation for standardised columns into ``sigma_beta``.

    Parameters
    ----------
    sigma : float
        In units of y per standard deviation of a column.
    n : float
        Rows, or the sum of the weights.

    Returns
    -------
    float
        For columns of unit l2 norm: ``sigma * sqrt(n)``.

    Examples
    --------
    >>> from ellzero.posterior import from_standardised
    >>> from_standardised(2.0, n=100)
    20.0
    """
    return _check("sigma", sigma) * math.sqrt(_check("n", n))


def _check(name: str, value: float) -> float:
    if isinstance(value, bool) or not (isinstance(value, Real) and 0 < value < math.inf):
        raise ValueError(f"{name} must be a positive finite number; got {value!r}.")
    return float(value)
