"""Information criteria for a support of size k out of p."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ellzero.regression._losses import Loss

__all__ = ["CRITERIA", "group_criterion", "information_criterion", "trusted_size"]

_Floats = NDArray[np.float64]


def _bic(size: _Floats, n: float, p: int, n_forced: int, spare: _Floats) -> _Floats:
    return size * math.log(n)


def _ebic(size: _Floats, n: float, p: int, n_forced: int, spare: _Floats) -> _Floats:
    chosen = size - n_forced
    price = chosen * math.log(n) + 2 * _log_choices(chosen, p - n_forced)
    total: _Floats = n_forced * math.log(n) + _scarcity(size, chosen, spare) * price
    return total


def _log_choices(chosen: _Floats, choices: int) -> _Floats:
    # C(p, k) falls again beyond p / 2, but no larger model is cheaper for that.
    fewer = np.minimum(chosen, choices // 2)
    log_choices: _Floats = gammaln(choices + 1) - gammaln(fewer + 1) - gammaln(choices - fewer + 1)
    return log_choices


def _scarcity(size: _Floats, chosen: _Floats, spare: _Floats) -> _Floats:
    # What is estimated, with the intercept and the variance, against the rows that are left for it
    ratio = np.divide(size + 2, spare, out=np.full_like(size, np.inf), where=spare > 0)
    return np.where(chosen > 0, 1 + 2 * ratio**3, 1.0)


def _ric(size: _Floats, n: float, p: int, n_forced: int, spare: _Floats) -> _Floats:
    return size * (2 * math.log(p))


CRITERIA: dict[str, Callable[[_Floats, float, int, int, _Floats], _Floats]] = {
    "bic": _bic,
    "ebic": _ebic,
    "ric": _ric,
}


def information_criterion(
    name: str,
    rss: _Floats,
    size: NDArray[np.int64],
    n: float,
    p: int,
    total: float,
    n_forced: int,
    loss: Loss = Loss.SQUARED,
    evidence: float | None = None,
) -> _Floats:
    """Return ``n log(RSS / n)`` plus the price of ``size`` variables; the least is the best.

    With k the size, f of it forced: BIC charges ``k log n`` and RIC ``2 k log p``. EBIC charges
    ``f log n + (1 + 2 r^3) [(k - f) log n + 2 log C(p - f, min(k - f, (p - f) // 2))]`` with
    ``r = (k + 2) / (n - k - 2)``.

    An RSS that is down to rounding of ``total``, the sum of squares of y, says nothing but that y
    is fitted exactly. For EBIC, whose price keeps it from having nearly as many variables as rows,
    such fits are all equally good, so the smallest is the best; BIC and RIC are infinite there.

    Of a likelihood ``rss`` is twice its negative logarithm, and takes the place of the first term;
    ``evidence``, how many rows count, takes that of n in r.
    """
    sizes = size.astype(np.float64)
    spare = (evidence if loss.is_likelihood and evidence is not None else n) - (sizes + 2)
    price = CRITERIA[name](sizes, n, p, n_forced, spare)
    if loss.is_likelihood:
        return rss + price
    return _fit_term(name, rss, n, total) + price


def group_criterion(
    name: str,
    rss: _Floats,
    *,
    sizes: NDArray[np.int64],
    df: NDArray[np.int64],
    n: float,
    n_groups: int,
    n_columns: int,
    total: float,
    forced: tuple[int, int],
    loss: Loss = Loss.SQUARED,
    evidence: float | None = None,
) -> _Floats:
    """Return the same for groups of columns: ``df`` is the rank of all columns that entered.

    Every column that entered costs ``log n`` (``2 log p`` for RIC, p counting columns), and EBIC's
    choice is one among sets of groups: with f groups always in, of rank e, and G groups,

        n log(RSS / n) + e log n
            + (1 + 2 r^3) [(df - e) log n + 2 log C(G - f, min(k - f, floor((G - f) / 2)))]

    where ``r = (df + 2) / (n - df - 2)``. Of groups of one column it is what it is of columns.
    ``forced`` is (f, e). ``loss`` and ``evidence`` are as of columns.
    """
    fits = rss if loss.is_likelihood else _fit_term(name, rss, n, total)
    columns = df.astype(np.float64)
    if name == "bic":
        return fits + columns * math.log(n)
    if name == "ric":
        return fits + columns * (2 * math.log(n_columns))
    n_forced, rank_forced = forced
    chosen = sizes.astype(np.float64) - n_forced
    price = (columns - rank_forced) * math.log(n) + 2 * _log_choices(chosen, n_groups - n_forced)
    spare = (evidence if loss.is_likelihood and evidence is not None else n) - (columns + 2)
    return fits + rank_forced * math.log(n) + _scarcity(columns, chosen, spare) * price


def _fit_term(name: str, rss: _Floats, n: float, total: float) -> _Floats:
    rounding = 1e-13 * total
    if not total > 0:
        return np.zeros(rss.shape)
    if name == "ebic":
        fits: _Floats = n * np.log(np.maximum(rss, rounding) / n)
        return fits
    fits = np.full(rss.shape, np.inf)
    sound = rss > rounding
    fits[sound] = n * np.log(rss[sound] / n)
    return fits


def trusted_size(n: float, p: int) -> int:
    """Return how many variables the criteria can be trusted to choose among: n / (log p log log n).

    log(RSS) has no bottom: near n variables any y is fitted, and if p is large the best of many
    models gets there long before n. Zhu and others (2020) search up to this size.
    """
    return max(1, int(n / (math.log(max(p, 3)) * math.log(math.log(max(n, 16.0))))))
