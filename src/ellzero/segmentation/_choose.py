"""The price of a jump, and what is supposed of the noise: from what the user said to numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

from ellzero.segmentation._calibrated import Price, calibrated_penalties
from ellzero.segmentation._cross_validation import PenaltyCurve, cross_validate
from ellzero.segmentation._penalty import bic_penalty
from ellzero.segmentation._series import Series

__all__ = ["How", "check_correlation", "choose_penalties"]


class How(NamedTuple):
    """What several series have in common."""

    positive: bool
    noise: str | float
    solver: str
    rule: str
    threads: int


def choose_penalties(
    series: list[Series], asked: list[Any], decays: list[float], how: How
) -> list[tuple[Price, PenaltyCurve | None]]:
    """Turn what the user said into numbers, and the curves they were read off, if there are any."""
    coupled = how.solver == "functional"
    correlated = how.noise == "ar1" and coupled and not how.positive
    automatic = [
        k
        for k, (lam, decay) in enumerate(zip(asked, decays, strict=True))
        if lam == "auto" or (correlated and decay == 1 and not isinstance(lam, str))
    ]
    calibrated = calibrated_penalties(
        [series[k] for k in automatic],
        [decays[k] for k in automatic],
        how.positive,
        how.noise,
        how.threads,
        coupled=coupled,
    )
    known = dict(zip(automatic, calibrated, strict=True))
    given = 0.0 if isinstance(how.noise, str) else float(how.noise)
    chosen: list[tuple[Price, PenaltyCurve | None]] = []
    for k, (one, lam, decay) in enumerate(zip(series, asked, decays, strict=True)):
        if lam == "auto":
            chosen.append((known[k], None))
        elif lam == "bic":
            chosen.append((Price(bic_penalty(one, decay), 0.0), None))
        elif lam == "cv":
            solver = "functional" if how.solver == "dp" else how.solver
            curve = cross_validate(one, decay, how.positive, solver, how.threads)
            price = curve.best if how.rule == "min" else curve.one_se
            chosen.append((Price(price, 0.0), curve))
        else:
            phi = known[k].phi if k in known else given
            chosen.append((Price(float(lam), phi), None))
    return chosen


def check_correlation(asked: list[Any], decays: list[float], how: How) -> None:
    """Refuse a correlation that is given where it can't be part of the objective."""
    if isinstance(how.noise, str) or how.noise == 0:
        return
    if how.positive or how.solver != "functional" or any(decay < 1 for decay in decays):
        raise ValueError(
            f"noise={how.noise:g}, a correlation, is for steps that may go up or down: decay=1, "
            'jumps="free" and solver="functional".'
        )
    if any(isinstance(lam, str) and lam != "auto" for lam in asked):
        raise ValueError(
            f'noise={how.noise:g}, a correlation, is for lam="auto" or a number: "bic" and "cv" '
            "are for white noise."
        )
