"""Draws from a posterior, in the user's units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero import _core
from ellzero.posterior._flat import FlatTerms

__all__ = [
    "PosteriorDraws",
    "collect_dense_draws",
    "collect_draws",
    "collect_logit_draws",
    "groups_of",
]

_Floats = NDArray[np.float64]
_HYPERPARAMETERS = ("sigma_e", "sigma_beta", "theta", "tau", "alpha", "slab", "noise_df")


@dataclass(frozen=True)
class PosteriorDraws:
    """Draws from the posterior.

    Attributes
    ----------
    coef : scipy.sparse.csr_array or ndarray of shape (n_chains * n_draws, p)
        Coefficients, in units of y per unit of the column; one row per draw, chain after chain.
        Sparse under a spike-and-slab prior: what is not stored is zero, the variable is not in that
        draw's model.
    intercept : ndarray of shape (n_chains, n_draws)
        Intercepts, in units of y.
    sigma_e : ndarray of shape (n_chains, n_draws)
        Standard deviation of the noise, in units of y; the scale of Student's t where that is the
        noise. None of classes, which have none.
    sigma_beta : ndarray of shape (n_chains, n_draws) or None
        Standard deviation of the slab, in units of y, for columns of unit l2 norm; None where the
        slab has none.
    theta : ndarray of shape (n_chains, n_draws) or None
        Prior probability of inclusion; None if it was given, or there is none.
    tau : ndarray of shape (n_chains, n_draws) or None
        Global scale of a bridge or a horseshoe, in units of y, for columns of unit l2 norm; None if
        it was given, or there is none.
    alpha : ndarray of shape (n_chains, n_draws) or None
        Power of a bridge; None if it was given, or there is none.
    slab : ndarray of shape (n_chains, n_draws) or None
        Scale c of a regularised horseshoe's slab, in units of y, for columns of unit l2 norm; None
        if there is none.
    groups : scipy.sparse.csr_array of shape (n_chains * n_draws, n_groups) or None
        Ones for the groups in each draw's model; None without groups and rules.
    noise_df : ndarray of shape (n_chains, n_draws) or None
        Degrees of freedom of Student's noise, drawn or given; None of normal noise.
    """

    coef: Any
    intercept: _Floats
    sigma_e: Any = None
    sigma_beta: _Floats | None = None
    theta: _Floats | None = None
    tau: _Floats | None = None
    alpha: _Floats | None = None
    slab: _Floats | None = None
    groups: Any = None
    noise_df: _Floats | None = None

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
        """Number of variables, or groups, in each draw's model, of shape (n_chains, n_draws)."""
        inside = self.coef if self.groups is None else self.groups
        dense = isinstance(inside, np.ndarray)
        counts = np.count_nonzero(inside, axis=1) if dense else np.diff(inside.indptr)
        return np.asarray(counts, dtype=np.int64).reshape(self.intercept.shape)

    def hyperparameters(self) -> dict[str, _Floats]:
        """Return the draws of what is not a coefficient or the intercept, by name."""
        values = {name: getattr(self, name) for name in _HYPERPARAMETERS}
        return {name: draws for name, draws in values.items() if draws is not None}


def _join(chains: list[dict[str, Any]], unit: _Floats) -> Any:
    """Stack sparse coefficients, each multiplied by what its column's unit is worth."""
    offsets = np.concatenate([[0], np.cumsum([len(chain["support"]) for chain in chains])])
    pairs = list(zip(chains, offsets[:-1], strict=True))
    begins = np.concatenate([chain["begins"][:-1] + offset for chain, offset in pairs])
    begins = np.append(begins, offsets[-1])
    support = np.concatenate([chain["support"] for chain in chains])
    values = np.concatenate([chain["beta"] for chain in chains]) * unit[support]
    return sparse.csr_array((values, support, begins), shape=(len(begins) - 1, unit.size))


def collect_draws(
    chains: list[dict[str, Any]],
    design: _core.Quadratic,
    *,
    has_slab_variance: bool,
    fit_intercept: bool,
    seed: int,
    home: NDArray[np.int64] | None = None,
    flat: FlatTerms | None = None,
) -> PosteriorDraws:
    """Join the core's chains and bring them to the user's units.

    ``home`` is the group of every column, if there are groups; ``flat`` are terms that were taken
    out of the design.
    """
    coef = _join(chains, design.inverse_scale)
    sigma_e = np.sqrt([chain["s2"] for chain in chains])
    if flat is not None:
        noise = _noise(seed, 1, sigma_e.shape, flat.rank).reshape(-1, flat.rank)
        coef = flat.add_draws(coef, sigma_e, noise)
    intercept = _draw_intercept(coef, sigma_e, design, fit_intercept, seed)
    learned_theta = len(chains[0]["theta"]) > 0
    return PosteriorDraws(
        coef=coef,
        intercept=intercept,
        sigma_e=sigma_e,
        sigma_beta=np.sqrt([chain["slab_variance"] for chain in chains])
        if has_slab_variance
        else None,
        theta=np.array([chain["theta"] for chain in chains]) if learned_theta else None,
        groups=None if home is None else groups_of(coef, home),
    )


def groups_of(coef: Any, home: NDArray[np.int64]) -> Any:
    """Return a sparse matrix with ones for the groups that have columns in a row."""
    n_groups = int(home.max()) + 1
    rows = np.repeat(np.arange(coef.shape[0]), np.diff(coef.indptr))
    codes = np.unique(rows * n_groups + home[coef.indices])
    begins = np.searchsorted(codes, np.arange(coef.shape[0] + 1) * n_groups)
    return sparse.csr_array(
        (np.ones(codes.size), codes % n_groups, begins), shape=(coef.shape[0], n_groups)
    )


def collect_logit_draws(
    chains: list[dict[str, Any]],
    design: _core.Quadratic,
    *,
    fit_intercept: bool,
    home: NDArray[np.int64] | None = None,
) -> PosteriorDraws:
    """Join the core's chains of a logistic regression, in the user's units.

    ``home`` is the group of every column, if there are groups; coefficients are in the user's units
    already then.
    """
    coef = _join(chains, design.inverse_scale if home is None else np.ones(design.columns))
    intercept = np.array([chain["intercept"] for chain in chains])
    if fit_intercept:  # of centred columns, so far
        intercept = intercept - (coef @ design.mean).reshape(intercept.shape)
    return PosteriorDraws(
        coef=coef,
        intercept=intercept,
        sigma_beta=np.sqrt([chain["slab_variance"] for chain in chains]),
        theta=np.array([chain["theta"] for chain in chains]) if len(chains[0]["theta"]) else None,
        groups=None if home is None else groups_of(coef, home),
    )


def collect_dense_draws(
    chains: list[dict[str, Any]],
    design: _core.Quadratic,
    *,
    learned: tuple[str, ...],
    fit_intercept: bool,
    seed: int,
) -> PosteriorDraws:
    """Join chains of which every coefficient is a number other than zero, in the user's units.

    ``learned`` names what was drawn beside the coefficients and the noise.
    """
    coef = np.concatenate([chain["beta"] for chain in chains])
    sigma_e = np.sqrt([chain["s2"] for chain in chains])
    return PosteriorDraws(
        coef=coef,
        intercept=_draw_intercept(coef, sigma_e, design, fit_intercept, seed),
        sigma_e=sigma_e,
        **{name: np.array([chain[name] for chain in chains]) for name in learned},
    )


def _draw_intercept(
    coef: Any,
    sigma_e: _Floats,
    design: _core.Quadratic,
    fit_intercept: bool,
    seed: int,
) -> _Floats:
    """Given the coefficients, the mean of y - X b is known to sigma_e / sqrt(n)."""
    if not fit_intercept:
        return np.zeros(sigma_e.shape)
    mean = design.mean_y - (coef @ design.mean).reshape(sigma_e.shape)
    noise = _noise(seed, 0, sigma_e.shape, 1)[:, :, 0]
    return np.asarray(mean + sigma_e / np.sqrt(design.weight) * noise)


def _noise(seed: int, use: int, shape: tuple[int, ...], width: int) -> _Floats:
    """Draw normal numbers by chain, so that more draws leave those before them as they are.

    Those of another use are others.
    """
    chains, draws = shape
    streams = [np.random.default_rng([seed, use, chain]) for chain in range(chains)]
    return np.array([stream.standard_normal((draws, width)) for stream in streams])
