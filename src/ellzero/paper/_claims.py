"""What the paper claims, what we measured, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

__all__ = [
    "Claim",
    "Interval",
    "Verdict",
    "and_list",
    "judge",
    "mean_interval",
    "median_interval",
    "share_interval",
]

Verdict = Literal["confirmed", "not confirmed", "better"]


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, held against data.

    Attributes
    ----------
    claim : str
        What the paper says, in our words.
    measured : str
        What the data say.
    rule : str
        When the claim counts as confirmed, or as exceeded.
    verdict : {"confirmed", "not confirmed", "better"}
        "better" if the data say more than is claimed.
    beyond : bool
        Whether the claim is ours, not the paper's.
    """

    claim: str
    measured: str
    rule: str
    verdict: Verdict
    beyond: bool = False


def judge(holds: bool, better: bool = False) -> Verdict:
    """Return the verdict on a claim; it can only be exceeded if it holds."""
    if not holds:
        return "not confirmed"
    return "better" if better else "confirmed"


class Interval(NamedTuple):
    """An estimate with its 95% interval."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        if math.isinf(self.low):
            return f"{self.estimate:.3g} (too few trials for an interval)"
        return f"{self.estimate:.3g} (95% interval {self.low:.3g} to {self.high:.3g})"


def mean_interval(values: ArrayLike) -> Interval:
    """Return the mean with its Student interval, infinite for one value."""
    sample = np.asarray(values, dtype=float)
    mean = float(sample.mean())
    if sample.size < 2:
        return Interval(mean, -math.inf, math.inf)
    reach = stats.t.ppf(0.975, sample.size - 1) * sample.std(ddof=1) / math.sqrt(sample.size)
    return Interval(mean, float(mean - reach), float(mean + reach))


def median_interval(values: ArrayLike) -> Interval:
    """Return the median with its interval from the sign test, infinite for fewer than six."""
    sample = np.sort(np.asarray(values, dtype=float))
    # The largest k with P(Binomial(n, 1/2) < k) <= .025: order statistics k and n + 1 - k
    k = int(stats.binom.ppf(0.025, sample.size, 0.5))
    if stats.binom.cdf(k, sample.size, 0.5) <= 0.025:
        k += 1
    median = float(np.median(sample))
    if k < 1:
        return Interval(median, -math.inf, math.inf)
    return Interval(median, float(sample[k - 1]), float(sample[-k]))


def share_interval(hits: ArrayLike) -> Interval:
    """Return the share of hits with its exact binomial interval."""
    sample = np.asarray(hits, dtype=bool)
    count = int(np.count_nonzero(sample))
    found = stats.binomtest(count, sample.size).proportion_ci(0.95)
    return Interval(count / sample.size, float(found.low), float(found.high))


def and_list(parts: Sequence[str]) -> str:
    """Join words as in a sentence."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
