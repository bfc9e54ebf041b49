"""What users should hear about a result before they rely on it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ellzero._messages import Argument, Message
from ellzero.likelihood._l0_poisson import OVERDISPERSED, dispersion
from ellzero.regression import Frontier, FrontierModel
from ellzero.regression._criteria import CRITERIA
from ellzero.regression._group_frontier import GroupModel
from ellzero.selection._entanglement import (
    Statistics,
    WayOut,
    entangled_sets,
    find_way_out,
    parts_of,
    smaller_way_out,
    variance_inflation,
)
from ellzero.selection._rules import Score
from ellzero.selection._variables import Variables, names_in
from ellzero.tables._errors import listed

__all__ = ["caution_dispersion", "caution_entanglement", "caution_leakage"]

# A target that is predicted better than this is rather made of its predictors.
_TOO_GOOD = 0.999
_SEPARATED = 0.95  # of the deviance
_ROUNDING = 1e-13
_MOST_SETS = 3  # that a sentence names


def caution_leakage(
    target: str, frontier: Frontier, total: float, score: Score | None
) -> list[str]:
    """Name the columns that reproduce the target, exactly or all but exactly."""
    if frontier.loss != "squared":
        return _caution_separation(target, frontier, score)
    rss = 2 * frontier.energies
    exact = np.flatnonzero(rss <= _ROUNDING * total)
    if exact.size and frontier.sizes[exact[0]] > 0:
        names = names_in(frontier.at(size=int(frontier.sizes[exact[0]])))
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
    names = names_in(frontier.at(size=int(frontier.sizes[good[0]])))
    return [
        Message(
            f"{listed(names, 8)} predict{'s' * (len(names) == 1)} {target!r} all but exactly. Is "
            "the target made of it, or known before it? If so, leave such columns out with ",
            Argument("drop"),
            ".",
        )
    ]


def caution_dispersion(
    y: NDArray[np.float64],
    fitted: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    size: int,
    criterion: str,
) -> list[str]:
    """Say by how much counts vary more than a Poisson model says, if they do."""
    ratio = dispersion(y, fitted, weights, size)
    if not ratio > OVERDISPERSED:
        return []
    words = f"The counts vary {ratio:.1f} times as much around the model as a Poisson model says"
    if criterion not in CRITERIA:
        return [f"{words}: prices in log-likelihood mean that much less."]
    return [
        Message(
            f"{words}, which {criterion.upper()} takes for evidence: it keeps too many variables. ",
            Argument("criterion", "1se"),
            " goes by rows held out instead.",
        )
    ]


def _caution_separation(target: str, frontier: Frontier, score: Score | None) -> list[str]:
    """Name the columns that tell a binary target all but exactly, also on rows held out."""
    explained = 1 - frontier._losses() / (frontier._total or 1.0)
    good = np.flatnonzero(explained > _SEPARATED)
    if score is None or not score.r2 > _SEPARATED or not good.size or not frontier.sizes[good[0]]:
        return []
    names = names_in(frontier.at(size=int(frontier.sizes[good[0]])))
    return [
        Message(
            f"{listed(names, 8)} tell{'s' * (len(names) == 1)} {target!r} all but exactly, also on "
            "rows held out. Is the target made of it, or known before it? If so, leave such "
            "columns out with ",
            Argument("drop"),
            ".",
        )
    ]


def caution_entanglement(
    frontier: Frontier,
    model: FrontierModel,
    variables: Variables,
    ridge: float,
    total: float,
    score: Score | None,
) -> list[str]:
    """Name variables whose coefficients hang on each other, and what it costs to be rid of that."""
    if model.size < 2 or not total > 0:
        return []

    def statistics(columns: NDArray[np.int64]) -> Statistics:
        return Statistics(*frontier._correlations(columns), ridge)

    squared = frontier.loss == "squared"
    correlations, strengths = parts_of(frontier, model)
    # Log-odds have no standard deviation that a large coefficient could be compared with.
    sets = entangled_sets(correlations, squared * strengths)
    names = names_in(model)
    if not sets:
        return []
    inflation = variance_inflation(correlations)
    sets.sort(key=lambda members: -inflation[members].max())
    described = [
        f"{listed([names[j] for j in members], 8)} are entangled "
        f"({_how_much(inflation[members], strengths[members] * squared)})"
        for members in sets[:_MOST_SETS]
    ]
    if len(sets) > _MOST_SETS:
        more = len(sets) - _MOST_SETS
        described.append(f"and so are those of {more} more set{'s' * (more > 1)}")
    if not squared:
        return [
            f"{'; '.join(described)}: they move together, so that their coefficients offset each "
            "other, and none of them is to be read by itself."
        ]
    if isinstance(model, GroupModel):
        way = smaller_way_out(frontier, model, total)
    else:
        way = find_way_out(frontier, model, sets, variables.forced, statistics)
    return [
        Message(
            "; ".join(described),
            ": they move together, so that their coefficients offset each other, and none of them "
            "is to be read by itself. ",
            _say_way_out(way, model, 1 - model.rss / total, frontier, score),
        )
    ]


def _how_much(inflation: NDArray[np.float64], standardised: NDArray[np.float64]) -> str:
    factor, large = inflation.max(), np.abs(standardised).max()
    text = f"variance inflation factor up to {factor:,.{0 if factor >= 10 else 1}f}"
    return f"{text}, standardised coefficient up to {large:.1f}" if large > 1 else text


def _say_way_out(
    way: WayOut | None, model: FrontierModel, r2: float, frontier: Frontier, score: Score | None
) -> Message:
    if way is None and isinstance(model, GroupModel):
        return Message("No smaller model was found without that.")
    if way is None:
        return Message(Argument("force"), " leaves no model without that.")
    cost = (
        f"costs {max(r2 - way.r2, 0.0):.2g} of R² on the rows fitted ({way.r2:z.3f} instead of "
        f"{r2:z.3f})"
    )
    if way.size is None:
        names = listed([model.names[j] for j in way.left_out], 8)
        return Message(f"To leave {names} out of this model ends that and {cost}.")
    held_out = ""
    places = np.array([way.size, model.size]) - int(frontier.sizes[0])
    if score is not None and places.max() < len(score.size_errors):
        less, now = (math.sqrt(score.size_errors[place]) for place in places)
        held_out = (
            f"; on rows held out, models of that size have a typical error of {less:.4g}, those of "
            f"{model.size} variables {now:.4g}"
        )
    return Message(
        f"The best smaller model without that, of {way.size} variable{'s' * (way.size != 1)} (",
        Argument("size", way.size),
        f"), {cost}{held_out}.",
    )
