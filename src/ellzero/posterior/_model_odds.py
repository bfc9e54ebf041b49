r"""Models against each other, and p(y), from marginal likelihoods and draws.

For a set T of models, :math:`p(y) = \sum_{S \in T} p(y \mid S)\, p(S) / P(S \in T \mid y)`: the
sum is known, and the share of the posterior that T has is that of the draws in it. A set chosen by
the draws that its share is taken of would look too large, so one half of the chains chooses it and
the other half says its share.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from ellzero.posterior._marginals import Marginals
from ellzero.posterior._model_prior import ModelPrior
from ellzero.posterior._models import models_from_draws

__all__ = ["LogEvidence", "ModelWeights", "evidence_from_draws", "tabulate_odds", "weigh_models"]

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

# As many models have a marginal likelihood, the best ones.
MOST_WEIGHED = 1_000
# Fewer draws in the set of models than this, in either half, say nothing.
_FEWEST = 20


class ModelWeights(NamedTuple):
    """log p(y | S) and log p(S), by model; NaN beyond those that are weighed."""

    log_marginal: _Floats
    log_prior: _Floats

    @property
    def best(self) -> int | None:
        """The model of the greatest posterior probability; None if none is weighed."""
        joint = self.log_marginal + self.log_prior
        return None if np.isnan(joint).all() else int(np.nanargmax(joint))


class LogEvidence(NamedTuple):
    """An estimate of log p(y), its Monte Carlo error, and why there is none."""

    value: float
    error: float
    problem: str


def weigh_models(
    supports: list[_Integers], marginals: Marginals | None, prior: ModelPrior
) -> ModelWeights:
    """Return log p(y | S) of the first models, NaN of the others, and log p(S)."""
    log_marginal = np.full(len(supports), math.nan)
    if marginals is not None:
        for i, support in enumerate(supports[:MOST_WEIGHED]):
            log_marginal[i] = marginals.log_marginal(support)
    return ModelWeights(log_marginal, prior.log_prior(supports))


def tabulate_odds(weights: ModelWeights) -> dict[str, _Floats]:
    """Return the columns that a table of models has beside the models and their mass."""
    log_marginal, log_prior = weights
    best = weights.best
    nothing = np.full(log_prior.size, math.nan)
    columns = {"log_marginal": log_marginal, "prior": np.exp(log_prior)}
    if best is None:
        names = ("bayes_factor", "prior_odds", "posterior_odds", "renormalised")
        return {**columns, **dict.fromkeys(names, nothing)}
    with np.errstate(over="ignore"):
        bayes_factor = np.exp(log_marginal - log_marginal[best])
        prior_odds = np.exp(log_prior - log_prior[best])
        joint = log_marginal + log_prior
        posterior_odds = np.exp(joint - joint[best])
    return {
        **columns,
        "bayes_factor": bayes_factor,
        "prior_odds": prior_odds,
        "posterior_odds": posterior_odds,
        "renormalised": posterior_odds / np.nansum(posterior_odds),
    }


def evidence_from_draws(
    inside: Any, shape: tuple[int, int], marginals: Marginals | None, prior: ModelPrior
) -> LogEvidence:
    """Estimate log p(y) from the supports of draws, the rows of a sparse matrix, chain by chain."""
    if marginals is None:
        return LogEvidence(math.nan, math.nan, "no model's marginal likelihood is in closed form")
    rows = np.arange(shape[0] * shape[1]).reshape(shape)
    if shape[0] > 1:
        halves = (rows[::2], rows[1::2])
    else:
        halves = (rows[:, : shape[1] // 2], rows[:, shape[1] // 2 :])
    codes = [
        inside.indices[low:high].tobytes()
        for low, high in zip(inside.indptr[:-1], inside.indptr[1:], strict=True)
    ]
    found = []
    for choosing, counting in (halves, halves[::-1]):
        if choosing.size == 0 or counting.size == 0:
            return _too_few(0)
        supports = models_from_draws(inside[choosing.ravel()]).supports
        weights = weigh_models(supports[:MOST_WEIGHED], marginals, prior)
        joint = weights.log_marginal + weights.log_prior
        known = np.flatnonzero(np.isfinite(joint))
        chosen = {supports[i].astype(inside.indices.dtype).tobytes() for i in known}
        hits = np.array([[codes[row] in chosen for row in chain] for chain in counting])
        if np.count_nonzero(hits) < _FEWEST:
            return _too_few(int(np.count_nonzero(hits)))
        share = float(hits.mean())
        found.append((float(logsumexp(joint[known])) - math.log(share), _error(hits) / share))
    (one, one_error), (other, other_error) = found
    # Halves that are farther apart than their errors say have not seen all of each other
    error = max(math.hypot(one_error, other_error), abs(one - other)) / 2
    return LogEvidence((one + other) / 2, error, "")


def _too_few(count: int) -> LogEvidence:
    return LogEvidence(
        math.nan,
        math.inf,
        f"only {count} draws of one half of the chains are of a model that the other half met: "
        "draw more, or expect fewer variables",
    )


def _error(hits: NDArray[np.bool_]) -> float:
    """Return the Monte Carlo error of a share of draws."""
    from arviz_stats.base import array_stats

    values = hits.astype(np.float64)
    if np.ptp(values) == 0:  # all of them: not known to be nearer to one than this
        return 1 / values.size
    with np.errstate(all="ignore"):
        error = float(array_stats.mcse(values, method="mean"))
    # Chains that stand still are worth one draw each
    return error if math.isfinite(error) else float(values.std() / math.sqrt(len(values)))
