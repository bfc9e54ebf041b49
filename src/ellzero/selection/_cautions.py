"""What users should hear about a result before they rely on it."""

from __future__ import annotations

import numpy as np

from ellzero._messages import Argument, Message
from ellzero.regression import Frontier
from ellzero.selection._rules import Score
from ellzero.tables._errors import listed

__all__ = ["caution_leakage"]

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
