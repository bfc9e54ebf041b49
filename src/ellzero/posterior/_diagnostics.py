"""Whether chains have mixed, by ArviZ's rank-normalised R-hat and effective sample sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero.posterior._effective_size import effective_size

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "coefficient_problem",
    "diagnose",
    "mixing_problem",
    "probability_errors",
    "standard_deviations",
]

_Floats = NDArray[np.floating]
_Series = Mapping[str, NDArray[Any]]  # by chain and draw
_R_HAT = 1.05
_SPREAD = 0.05
# What the draws of a run as long as the default should come to. Shorter ones are asked for
# knowingly, and held to what so many draws of that run would give.
_ESS, _ERROR, _DRAWS = 400.0, 0.02, 4000.0
_BATCHES = 20


def diagnose(
    series: list[tuple[str, _Floats]], *, errors: NDArray[np.float64] | None = None
) -> pd.DataFrame:
    """Tabulate R-hat, effective sample sizes and Monte Carlo errors of (chain, draw) arrays.

    ``errors`` are those of the first of them, if they are known better than from the draws alone.
    """
    import pandas as pd
    from arviz_stats.base import array_stats

    rows = []
    for _, draws in series:
        values = np.asarray(draws, dtype=np.float64)
        if np.ptp(values) == 0:  # a variable that is always, or never, in
            rows.append((1.0, float(values.size), float(values.size), 0.0))
            continue
        with np.errstate(all="ignore"):  # chains that stand still
            rows.append(
                (
                    float(array_stats.rhat(values)) if values.shape[0] > 1 else np.nan,
                    float(array_stats.ess(values, method="bulk")),
                    float(array_stats.ess(values, method="tail", prob=(0.05, 0.95))),
                    float(array_stats.mcse(values, method="mean")),
                )
            )
    index = pd.Index([name for name, _ in series], dtype=object)
    table = pd.DataFrame(rows, columns=["r_hat", "ess_bulk", "ess_tail", "mcse"], index=index)
    if errors is not None:
        table.iloc[: errors.size, 3] = errors
    return table


def probability_errors(
    conditional: NDArray[np.float32], certain: NDArray[np.bool_] | None = None
) -> NDArray[np.float64]:
    """Return Monte Carlo errors of inclusion probabilities.

    ``conditional`` holds, by chain, draw and unit, the probability of the unit given the others.
    What such a series says of itself, its standard deviation over the root of its effective size
    ESS, knows nothing of models that no draw has met. As ESS independent draws may well miss a mass
    of 1 / ESS, in which the unit may be in or out, the squares of both are added up::

        error^2 = sd^2 / ESS + (max(P, 1 - P) / ESS)^2

    Units that are ``certain`` are in, or out, by the prior: their error is zero.
    """
    n_draws, n_units = conditional.shape[0] * conditional.shape[1], conditional.shape[2]
    errors = np.zeros(n_units)
    for j in range(n_units):
        if certain is not None and certain[j]:
            continue
        values = conditional[:, :, j].astype(np.float64)
        mean, sd, ess = values.mean(), values.std(), float(n_draws)
        if sd > 0 and conditional.shape[1] >= 4:
            found = effective_size(values)
            ess = min(found, ess) if found > 0 else 1.0
        errors[j] = np.hypot(sd / np.sqrt(ess), max(mean, 1 - mean) / ess)
    return errors


def standard_deviations(draws: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Return those over one axis, of numbers whose squares may be beyond all numbers."""
    _, exponent = np.frexp(np.abs(draws).max(axis=axis, keepdims=True))
    deviations = np.ldexp(draws, -exponent).std(axis=axis, keepdims=True)
    return np.asarray(np.ldexp(deviations, exponent).squeeze(axis))


def mixing_problem(
    conditional: NDArray[np.float32],
    others: _Series,
    names: list[str],
    *,
    scales: _Series | None = None,
) -> str:
    """Say in words what has not mixed of inclusion probabilities, and of ``others`` by name.

    Nothing if all looks well. Looks at those few units whose probability differs most between
    chains, and at those that seem to have the greatest errors. Chains have to agree on ``scales``
    too, but these may move slowly: what they do to probabilities is seen there, and where nothing
    is in the model they do nothing.
    """
    n_chains, n_draws, _ = conditional.shape
    if n_draws < 4:
        return ""
    batches = _batch_means(conditional)
    whole = n_draws % batches.shape[1] == 0  # else batches leave out a few draws
    by_chain = batches.mean(axis=1) if whole else conditional.mean(axis=1, dtype=np.float64)
    apart = np.ptp(by_chain, axis=0)
    for j in np.argsort(-apart)[:3]:
        if apart[j] <= _SPREAD:
            break
        r_hat = _r_hat(conditional[:, :, j])
        if r_hat > _R_HAT:
            low, high = by_chain[:, j].min(), by_chain[:, j].max()
            return (
                f"the chains disagree on {names[j]!r}, whose inclusion probability is {low:.2f} in "
                f"one and {high:.2f} in another (R-hat {r_hat:.2f}){_name_sets(by_chain, j, names)}"
            )
    problem = _disagreement({**others, **(scales or {})})
    if problem:
        return problem
    # A row of conditional may be the average of several draws.
    drawn = max([n_draws, *(np.shape(own)[1] for own in others.values())])
    limit = _ERROR / np.sqrt(_share(n_chains * drawn))
    errors = _batch_errors(batches)
    worst = np.argsort(-errors)[:3]
    exact = probability_errors(conditional[:, :, worst])
    if exact.size and exact.max() > limit:
        j = worst[int(np.argmax(exact))]
        return (
            f"the inclusion probability of {names[j]!r}, {by_chain[:, j].mean():.2f}, has a Monte "
            f"Carlo error of {exact.max():.3f}"
        )
    return _few_draws(others)


def coefficient_problem(coef: NDArray[np.float64], others: _Series, names: list[str]) -> str:
    """Say in words what has not mixed of coefficients, by chain, draw and column, and of others.

    Looks at those few coefficients whose means differ most between chains, in units of their
    standard deviation within, and at those whose draws seem to be worth least.
    """
    _, n_draws, n_columns = coef.shape
    if n_draws < 4:
        return ""
    within = standard_deviations(coef, axis=1).mean(axis=0)
    scale = np.where(within > 0, within, np.inf)
    apart = np.ptp(coef.mean(axis=1) / scale, axis=0)
    worst = np.argsort(-apart)[: min(3, n_columns)]
    problem = _disagreement({**{repr(names[j]): coef[:, :, j] for j in worst}, **others})
    if problem:
        return problem
    errors = _batch_errors(_batch_means(coef / scale))
    worst = np.argsort(-errors)[: min(3, n_columns)]
    return _few_draws({**{repr(names[j]): coef[:, :, j] for j in worst}, **others})


def _share(draws: int) -> float:
    """Return how much of the default run this is, at most all of it."""
    return min(1.0, draws / _DRAWS)


def _r_hat(draws: NDArray[Any]) -> float:
    from arviz_stats.base import array_stats

    if draws.shape[0] < 2:
        return 1.0
    with np.errstate(all="ignore"):  # chains that stand still
        return float(array_stats.rhat(draws.astype(np.float64)))


def _name_sets(by_chain: NDArray[np.float64], unit: int, names: list[str]) -> str:
    """Say which sets of units the two chains have that disagree most on one of them."""
    ends = by_chain[[np.argmax(by_chain[:, unit]), np.argmin(by_chain[:, unit])]]
    clear = np.abs(ends[0] - ends[1]) > 0.25
    sets = [np.flatnonzero(clear & (ends[i] > 0.5) & (ends[1 - i] <= 0.5)) for i in (0, 1)]
    if not all(own.size for own in sets):
        return ""
    first, second = (
        "{" + ", ".join(names[j] for j in own[:6]) + (", ..." if own.size > 6 else "") + "}"
        for own in sets
    )
    return f", where one has {first} and another {second}"


def _disagreement(series: _Series) -> str:
    for name, values in series.items():
        if np.ptp(values) > 0:
            r_hat = _r_hat(values)
            if r_hat > 2 * _R_HAT - 1:
                return f"the chains disagree on {name} (R-hat {r_hat:.2f})"
    return ""


def _few_draws(series: _Series) -> str:
    """Name the first whose draws are worth too few independent ones."""
    for name, values in series.items():
        if np.ptp(values) > 0:
            ess = effective_size(values, bulk=True)
            if not ess >= _ESS * _share(values.size):
                return f"the {values.size} draws of {name} are worth {ess:.0f} independent ones"
    return ""


def _batch_means(values: _Floats) -> NDArray[np.float64]:
    """Return means over batches of draws, by chain, batch and column."""
    n_chains, n_draws, n_columns = values.shape
    count = min(_BATCHES, n_draws)
    length = n_draws // count
    batches = values[:, : count * length].reshape(n_chains, count, length, n_columns)
    return np.asarray(batches.mean(axis=2, dtype=np.float64))


def _batch_errors(batches: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return errors of the means over chains and draws, by means of batches of draws.

    Rougher than ArviZ's, and quick for many columns: they say at which of them to look.
    """
    means = batches.reshape(batches.shape[0] * batches.shape[1], batches.shape[2])
    return np.asarray(means.std(axis=0) / np.sqrt(means.shape[0]))
