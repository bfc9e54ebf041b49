"""What users should hear about a result before they rely on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ellzero._messages import Argument, Message
from ellzero.regression import Frontier, FrontierModel
from ellzero.selection._rules import Score
from ellzero.tables._errors import listed

if TYPE_CHECKING:
    from ellzero.posterior import SpikeSlabRegressor

__all__ = ["caution_disagreement", "caution_leakage"]

# A target that is predicted better than this is rather made of its predictors.
_TOO_GOOD = 0.999
_ROUNDING = 1e-13


def caution_leakage(
    target: str, frontier: Frontier, total: float, score: Score | None
) -> list[str]:
    """Name the columns that reproduce the target, exactly or all but exactly."""
    rss = 2 * frontier.energies
    exact = np.flatnonzero(rss <= _ROUNDING * total)
    if exact.size and frontier.sizes[exact[0]] > 0:
        names = frontier.at(size=int(frontier.sizes[exact[0]])).names
        return [
            Message(
                f"{target!r} is reproduced exactly by {listed(names, 8)}. A column made of the "
                "target, or the target of it, says nothing about what drives it: leave such "
                "columns out with ",
                Argument("drop"),
                ".",
            )
        ]
    good = np.flatnonzero(rss <= (1 - _TOO_GOOD) * total)
    if score is None or not score.r2 > _TOO_GOOD or not good.size:
        return []
    names = frontier.at(size=int(frontier.sizes[good[0]])).names
    return [
        Message(
            f"{listed(names, 8)} predict{'s' * (len(names) == 1)} {target!r} all but exactly. Is "
            "the target made of it, or known before it? If so, leave such columns out with ",
            Argument("drop"),
            ".",
        )
    ]


def caution_disagreement(
    model: FrontierModel, forced: NDArray[np.int64], posterior: SpikeSlabRegressor
) -> list[str]:
    """Say where the posterior tells another story than the chosen model.

    It has no say about variables that are forced in.
    """
    inclusion, mean = posterior.inclusion_probabilities_, posterior.coef_
    turned = [
        f"{name!r} ({model.coef[j]:+.3g}, but {mean[j]:+.3g} on average over models)"
        for j, name in zip(model.support, model.names, strict=True)
        if model.coef[j] * mean[j] < 0
    ]
    doubted = [
        f"{name!r} ({inclusion[j]:.2f})"
        for j, name in zip(model.support, model.names, strict=True)
        if inclusion[j] < 0.5
    ]
    out = np.setdiff1d(np.flatnonzero(inclusion > 0.5), [*model.support, *forced])
    wanted = [f"{posterior.feature_names_in_[j]!r} ({inclusion[j]:.2f})" for j in out]
    notes = []
    if turned:
        notes.append(
            f"The posterior gives {_some(turned)} the other sign: the sign hangs on which other "
            "variables are in."
        )
    if doubted:
        notes.append(f"The posterior thinks it less likely than not that {_some(doubted)} is in.")
    if wanted:
        notes.append(f"The posterior thinks it likely that {_some(wanted)} is in as well.")
    return notes


def _some(parts: list[str], most: int = 6) -> str:
    more = f" and {len(parts) - most} more" if len(parts) > most else ""
    return ", ".join(parts[:most]) + more
