"""Groups of columns in a spike-and-slab classifier: bases of what they span, and chains on them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero import _core
from ellzero._engine import make_columns, make_design_on, thread_count
from ellzero.posterior._unit_prior import theta_rate
from ellzero.regression._units import Units

__all__ = ["LogitGroups", "make_logit_groups"]

_Floats = NDArray[np.float64]
# Singular values below this share of the largest are those of columns that depend on others.
_DEPENDENT = 1e-9
_MOST_AT_FIRST = 3.0  # units that chains start with, on average at most


class LogitGroups(NamedTuple):
    """Groups as orthonormal bases, under a prior."""

    units: Units
    rows: _core.LogitRows
    prior: _core.LogitPrior
    log_odds: list[float]  # by unit
    columns: list[list[int]]  # of the bases, by unit
    maps: list[_Floats]  # by unit: from coefficients of its basis to those of its columns
    n_columns: int

    @property
    def possible(self) -> NDArray[np.bool_]:
        """Whether each unit spans anything."""
        return np.array([len(own) > 0 for own in self.columns])

    def starts(self, n_chains: int, seed: int) -> list[list[int]]:
        """Return a set of units that need no parents for every chain, the first empty."""
        rng = np.random.default_rng(seed)
        free = np.isfinite(self.log_odds) & self.possible
        if self.units.parents is not None:
            free &= np.diff(self.units.parents.begins) == 0
        share = min(0.5, _MOST_AT_FIRST / max(int(np.count_nonzero(free)), 1))
        drawn = [np.flatnonzero(free & (rng.random(free.size) < share)) for _ in range(n_chains)]
        return [[] if chain == 0 else drawn[chain].tolist() for chain in range(n_chains)]

    def sample(
        self, n_chains: int, seed: int, schedule: _core.Schedule, threads: int, progress: Any
    ) -> list[dict[str, Any]]:
        """Run the chains; what comes back is of the columns of the bases."""
        parents = self.units.parents
        count = self.units.count
        return _core.sample_logit_groups(
            self.rows,
            self.prior,
            self.columns,
            self.log_odds,
            [] if parents is None else [parents.of(unit).tolist() for unit in range(count)],
            self.units.strong,
            self.starts(n_chains, seed),
            seed=seed,
            schedule=schedule,
            threads=threads,
            progress=progress,
        )

    @property
    def _map(self) -> Any:
        """The matrix from coefficients of all bases to those of all columns of X."""
        rows: list[int] = []
        across: list[int] = []
        values: list[float] = []
        for own, basis, to in zip(self.units.columns, self.columns, self.maps, strict=True):
            for a, j in enumerate(own.tolist()):
                for b, q in enumerate(basis):
                    rows.append(j)
                    across.append(q)
                    values.append(float(to[a, b]))
        shape = (self.n_columns, sum(map(len, self.columns)))
        return sparse.csr_array((values, (rows, across)), shape=shape)

    def in_columns(self, chain: dict[str, Any]) -> dict[str, Any]:
        """Turn what a chain drew into what it means for the columns of X."""
        to = self._map
        draws = sparse.csr_array(
            (chain["beta"], chain["support"], chain["begins"]),
            shape=(len(chain["begins"]) - 1, to.shape[1]),
        )
        coef = sparse.csr_array(draws @ to.T)
        coef.sort_indices()
        # Of one column the moments given the others; of several those of the draws.
        single = to.power(2)
        second = single @ chain["square"]
        alone = np.diff(to.indptr) <= 1
        several = np.asarray(coef.power(2).sum(axis=0)).reshape(-1)
        return {
            **chain,
            "begins": coef.indptr.astype(np.int64),
            "support": coef.indices.astype(np.int64),
            "beta": coef.data,
            "mean": to @ chain["mean"],
            "square": np.where(alone, second, several),
        }


def make_logit_groups(
    table: Any,
    counts: _Floats,
    successes: _Floats,
    units: Units,
    prior: _core.LogitPrior,
    log_odds: _Floats,
    expected_size: float,
    *,
    fit_intercept: bool,
    room_bytes: float,
) -> LogitGroups:
    """Put bases on the groups of a table of distinct rows, met so many times.

    ``prior`` is that of columns, of which theta becomes one of units; ``log_odds`` are by unit.
    Coefficients are in the user's units.
    """
    X = table.toarray() if sparse.issparse(table) else np.asarray(table, dtype=np.float64)
    root = np.sqrt(counts)[:, None]
    columns, maps, parts, norms = [], [], [], []
    made = 0
    for own in units.columns:
        part = X[:, own].astype(np.float64)
        if fit_intercept:
            part = part - counts @ part / counts.sum()
        scale = np.linalg.norm(root * part, axis=0)
        scale[scale <= 1e-12 * np.linalg.norm(root * X[:, own], axis=0)] = np.inf
        _, values, right = np.linalg.svd(root * part / scale, full_matrices=False)
        rank = int(np.count_nonzero(values > _DEPENDENT * max(values.max(initial=0.0), 1.0)))
        to = right[:rank].T / values[:rank] / scale[:, None]
        parts.append(part @ to)
        maps.append(to / np.sqrt(max(rank, 1)))
        norms += [1 / np.sqrt(max(rank, 1))] * rank
        columns.append(list(range(made, made + rank)))
        made += rank
    bases = np.asfortranarray(np.concatenate([np.empty((len(X), 0)), *parts], axis=1))
    if not made:
        bases, norms = np.zeros((len(X), 1), order="F"), [1.0]
    kept = make_columns(bases)
    design = make_design_on(kept, successes / counts, counts, fit_intercept, thread_count())
    maps = [to * design.inverse_scale[own] for to, own in zip(maps, columns, strict=True)]
    rows = _core.make_logit_rows(kept, design, counts, successes, fit_intercept, room_bytes, norms)
    own_prior = _core.LogitPrior()
    own_prior.slab_variance = prior.slab_variance
    own_prior.intercept_precision = prior.intercept_precision
    own_prior.learn_theta = prior.learn_theta
    own_prior.log_odds = [0.0] * design.columns
    if prior.learn_theta:
        own_prior.theta_a = 1.0
        own_prior.theta_b = theta_rate(expected_size, units.count, units.parents, units.strong)
    return LogitGroups(units, rows, own_prior, log_odds.tolist(), columns, maps, X.shape[1])
