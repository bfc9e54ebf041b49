"""Draws from a posterior, in the user's units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero import _core

__all__ = ["PosteriorDraws", "collect_draws"]

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PosteriorDraws:
    """Draws from the posterior.

    Attributes
    ----------
    coef : scipy.sparse.csr_array of shape (n_chains * n_draws, p)
        Coefficients, in units of y per unit of the column; a row a draw, chain after chain. What is
        not stored is zero: the variable is not in that draw's model.
    intercept : ndarray of shape (n_chains, n_draws)
        Intercepts, in units of y.
    sigma_e : ndarray of shape (n_chains, n_draws)
        Standard deviation of the noise, in units of y.
    sigma_beta : ndarray of shape (n_chains, n_draws) or None
        Standard deviation of the slab, in units of y, for columns of unit l2 norm; None where the
        slab has none.
    theta : ndarray of shape (n_chains, n_draws) or None
        Prior probability of inclusion; None if it was given.
    """

    coef: Any
    intercept: _Floats
    sigma_e: _Floats
    sigma_beta: _Floats | None
    theta: _Floats | None

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        return int(self.intercept.shape[0])

    @property
    def n_draws(self) -> int:
        """Number of draws of each chain."""
        return int(self.intercept.shape[1])

    @property
    def size(self) -> NDArray[np.int64]:
        """Number of variables in each draw's model, of shape (n_chains, n_draws)."""
        counts: NDArray[np.int64] = np.diff(self.coef.indptr).astype(np.int64)
        return counts.reshape(self.intercept.shape)


def collect_draws(
    chains: list[dict[str, Any]],
    design: _core.Design,
    *,
    has_spread: bool,
    fit_intercept: bool,
    rng: np.random.Generator,
) -> PosteriorDraws:
    """Join the core's chains and bring them to the user's units."""
    shape = (len(chains), len(chains[0]["s2"]))
    offsets = np.concatenate([[0], np.cumsum([len(chain["support"]) for chain in chains])])
    pairs = list(zip(chains, offsets[:-1], strict=True))
    begins = np.concatenate([chain["begins"][:-1] + offset for chain, offset in pairs])
    begins = np.append(begins, offsets[-1])
    support = np.concatenate([chain["support"] for chain in chains])
    values = np.concatenate([chain["beta"] for chain in chains]) * design.inverse_scale[support]
    n_draws = shape[0] * shape[1]
    coef = sparse.csr_array((values, support, begins), shape=(n_draws, design.columns))
    sigma_e = np.sqrt([chain["s2"] for chain in chains])
    intercept = np.zeros(shape)
    if fit_intercept:
        # Given the coefficients, the mean of y - X b is known to sigma_e / sqrt(n).
        intercept = design.mean_y - (coef @ design.mean).reshape(shape)
        intercept = intercept + sigma_e / np.sqrt(design.weight) * rng.standard_normal(shape)
    learned_theta = len(chains[0]["theta"]) > 0
    return PosteriorDraws(
        coef=coef,
        intercept=intercept,
        sigma_e=sigma_e,
        sigma_beta=np.sqrt([chain["spread"] for chain in chains]) if has_spread else None,
        theta=np.array([chain["theta"] for chain in chains]) if learned_theta else None,
    )
