"""What a segmentation says, as plain numbers and texts: for JSON, the terminal and the report."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.segmentation._path import segment_path
from ellzero.segmentation._segment import segment
from ellzero.segmentation._segmentation import Segmentation

__all__ = [
    "MOST_FOLLOWED",
    "follow_jumps",
    "optimum_in_words",
    "price_in_words",
    "summarise_series",
]

# Following a jump along the path takes about two runs for every jump.
MOST_FOLLOWED = 200
# Below the price there may be many more; so many may be gone through to see which come and go.
_MOST_BELOW = 100


def summarise_series(
    found: Segmentation, label: Callable[[int], str], *, positive: bool, follow: bool
) -> dict[str, Any]:
    """Return everything about a segmentation that can be said without its data.

    Parameters
    ----------
    found : Segmentation
        The segmentation.
    label : callable
        From an index to what the user calls the sample.
    positive : bool
        Whether jumps go up only.
    follow : bool
        Whether to find the prices between which each jump lives, if there are not too many.

    Returns
    -------
    dict
        Ready for JSON: what is not known, or not finite, is None.
    """
    noise, places = found.noise, found.locations()
    lives: list[tuple[float | None, float | None]] = [(None, None)] * len(found.changepoints)
    lowest = None
    if follow and 0 < len(found.changepoints) <= MOST_FOLLOWED:
        lowest, ends = follow_jumps(found, positive)
        lives = [(_finite(low) if low > lowest else None, _finite(high)) for low, high in ends]
    return {
        "samples": len(found.y),
        "observed": int(np.count_nonzero(~np.isnan(found.y))),
        "lam": _finite(found.lam),
        "penalty": price_in_words(found),
        "optimum": optimum_in_words(found),
        "phi": float(found.phi),
        "decay": float(found.decay),
        "noise": _finite(noise.sd),
        "noise_correlation": _finite(noise.correlation),
        "objective": _finite(found.objective),
        "followed_down_to": lowest,
        "cautions": list(found.cautions),
        "changepoints": [
            {
                "index": int(at),
                "label": label(int(at)),
                "earliest": int(low),
                "earliest_label": label(int(low)),
                "latest": int(high),
                "latest_label": label(int(high)),
                "level": _finite(found.signal[at]),
                "jump": _finite(jump),
                "jump_in_noise": _finite(jump / noise.sd) if noise.sd > 0 else None,
                "gone_below": below,
                "dropped_at": end,
            }
            for at, jump, (low, high), (below, end) in zip(
                found.changepoints, found.jumps, places, lives, strict=True
            )
        ],
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def price_in_words(found: Segmentation) -> str:
    """Say where the price of a jump comes from."""
    if found.chosen_by == "auto":
        noise = found.noise
        kind, most, unless = "white noise", 4, ""
        if noise.correlation > 0:
            kind = f"noise that is correlated at {noise.correlation:.2f} from sample to sample"
            # As measured: see docs/segmentation-penalty.md.
            known = len(found.y) >= (50 if found.phi > 0 else 200)
            most = 8 if known and noise.correlation <= 0.85 else 20
            unless = ", more if innovations have heavy tails"
        return (
            "It was set so that a series with no jump in it, of this length and with noise like "
            f"this ({kind}, standard deviation {noise.sd:.4g}), is seldom given one: in at most "
            f"about {most} of 100{unless}."
        )
    if found.chosen_by == "bic":
        return "It is that of BIC for white noise: its variance times the logarithm of the length."
    if found.chosen_by == "cv":
        return "It predicts best when odd and even samples are held out in turn."
    return "It was given."


def optimum_in_words(found: Segmentation) -> str:
    """Say what was minimised."""
    what = "half the squared error"
    if found.phi > 0:
        what = (
            "half the squares of the innovations (each residual less "
            f"{found.phi:.2f} times the one before)"
        )
    return (
        f"What was found is the optimum of {what} plus the price of every jump, not an "
        "approximation of it."
    )


def follow_jumps(found: Segmentation, positive: bool) -> tuple[float, NDArray[np.float64]]:
    """Return the prices between which each jump lives, from the path.

    As the price changes jumps move a little before they go: one stays as long as there is a jump
    where :meth:`Segmentation.locations` says it could be.

    Returns
    -------
    lowest : float
        The price down to which they were followed, half of that of the segmentation; the price
        itself if there are too many jumps below it.
    ends : ndarray of shape (n_changepoints, 2)
        The lowest and the highest price of each; ``lowest`` for one that is still there, inf for
        one that is never dropped.
    """
    options: dict[str, Any] = {
        "decay": found.decay,
        "jumps": "positive" if positive else "free",
        "noise": found.phi if found.phi > 0 else "white",
        "sample_weight": found.sample_weight,
    }
    lowest = found.lam / 2
    if segment(found.y, lowest, **options).n_segments > found.n_segments + _MOST_BELOW:
        lowest = found.lam
    path = segment_path(found.y, lowest, **options)
    low, high = found.locations().T
    ends = np.tile([lowest, np.inf], (len(low), 1))
    place = int(np.count_nonzero(path.lambdas > found.lam))
    for places, end in ((range(place, -1, -1), 1), (range(place, len(path.changepoints)), 0)):
        alive = np.ones(len(low), dtype=bool)
        for at in places:
            jumps = path.changepoints[at]
            there = np.searchsorted(jumps, low) < np.searchsorted(jumps, high, side="right")
            # The price at which the segmentation in which it is gone begins, or ends.
            ends[alive & ~there, end] = path.interval(at)[1 - end]
            alive &= there
    return lowest, ends
