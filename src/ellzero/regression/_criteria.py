"""Information criteria for a support of size k out of p, with residual sum of squares RSS."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

__all__ = ["CRITERIA", "information_criterion", "trusted_size"]

_Floats = NDArray[np.float64]


def _bic(size: _Floats, n: float, p: int) -> _Floats:
    return size * math.log(n)


def _ebic(size: _Floats, n: float, p: int) -> _Floats:
    log_choices: _Floats = gammaln(p + 1) - gammaln(size + 1) - gammaln(p - size + 1)
    return _bic(size, n, p) + 2 * log_choices


def _ric(size: _Floats, n: float, p: int) -> _Floats:
    return size * (2 * math.log(p))


CRITERIA: dict[str, Callable[[_Floats, float, int], _Floats]] = {
    "bic": _bic,
    "ebic": _ebic,
    "ric": _ric,
}


def information_criterion(
    name: str, rss: _Floats, size: NDArray[np.int64], n: float, p: int, total: float
) -> _Floats:
    """Return ``n log(RSS / n)`` plus the price of ``size`` variables; the least is the best.

    BIC charges ``k log n``; EBIC adds ``2 log C(p, k)``; RIC charges ``2 k log p``. Infinity where
    the RSS is down to rounding of ``total``, the sum of squares of y: its logarithm says nothing.
    """
    fits = np.full(rss.shape, np.inf)
    sound = rss > 1e-13 * total
    fits[sound] = n * np.log(rss[sound] / n)
    return fits + CRITERIA[name](size.astype(np.float64), n, p)


def trusted_size(n: float, p: int) -> int:
    """Return how many variables the criteria can be trusted to choose among: n / (log p log log n).

    log(RSS) has no bottom: near n variables any y is fitted, and if p is large the best of many
    models gets there long before n. Zhu and others (2020) search up to this size.
    """
    return max(1, int(n / (math.log(max(p, 3)) * math.log(math.log(max(n, 16.0))))))
