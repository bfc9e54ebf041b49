"""What a spike-and-slab posterior is computed of: single columns, or groups of them under rules."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero._columns import column_name
from ellzero._engine import CACHE_BYTES, thread_count
from ellzero.posterior._active import find_active
from ellzero.posterior._credible_sets import Correlations, correlate
from ellzero.posterior._flat import FlatTerms, take_out
from ellzero.posterior._marginals import Marginals, make_marginals
from ellzero.posterior._model_prior import ModelPrior
from ellzero.posterior._prior import (
    PriorSettings,
    log_evidence_constant,
    log_likelihood_constant,
    make_prior,
)
from ellzero.posterior._starts import Starts, make_group_starts, make_starts
from ellzero.posterior._unit_prior import NO_UNITS, is_of_columns, refuse_orphans, theta_rate
from ellzero.regression._units import Units

__all__ = ["ColumnProblem", "GroupProblem", "correlate_groups", "make_problem"]

_Floats = NDArray[np.float64]


class ColumnProblem:
    """A posterior over sets of columns.

    Attributes
    ----------
    design : Quadratic
        The data.
    prior : SpikeSlabPrior
        The core's prior; its log-odds are by unit.
    names : list of str
        Those of the units.
    home : ndarray of int, or None
        The unit of each column; None if there are no groups and no rules.
    free, always : ndarray of int
        Units that may go either way, and units that are in every model if they can be.
    always_width, free_width : int
        How many columns are in every model, and how many those groups have that may go either way;
        0 without groups.
    flat : FlatTerms or None
        What was taken out of the design.
    """

    flat: FlatTerms | None = None
    chooses_active = True

    def __init__(
        self,
        design: _core.Quadratic,
        prior: _core.SpikeSlabPrior,
        names: list[str],
        units: Units | None,
    ) -> None:
        self.design, self.prior, self.names, self.units = design, prior, names, units
        self.home = None if units is None else units.home
        log_odds = np.where(self._is_possible(), prior.log_odds, -np.inf)
        self.always = np.flatnonzero(log_odds == np.inf)
        self.free = np.flatnonzero(np.isfinite(log_odds))
        self.always_width, self.free_width = self.always.size, 0

    def _is_possible(self) -> NDArray[np.bool_]:
        return np.asarray(self.design.inverse_scale > 0)

    def starts(self, n_chains: int, *, search: bool) -> Starts:
        """Return where chains start, coefficients near which to take moments, and modes.

        Modes are looked for if ``search`` says so: enumeration has no use for them.
        """
        return make_starts(
            self.design, self.prior, self.always, n_chains, thread_count(), search=search
        )

    def activate(self, starts: Starts) -> Starts:
        """Choose the columns that are worth most sweeps of the Gibbs sampler, if not all are."""
        if not self.chooses_active:
            return starts
        active = find_active(self.design, self.prior, self.free, *starts[:3], thread_count())
        return starts._replace(active=active)

    def enumerate(
        self, reference: list[float], *, draws: int, seed: int, threads: int
    ) -> _core.EnumeratedPosterior:
        """Visit all models, and draw from them."""
        return _core.enumerate_spike_slab(
            self.design, self.prior, reference, draws=draws, seed=seed, threads=threads
        )

    def log_evidence_constant(self, theta: _Floats | None) -> float:
        """Return what the core leaves out of the log density of y."""
        own = None if theta is None else theta[self.free]
        return log_evidence_constant(self.prior, own, self.free.size)

    def sample(
        self, starts: Starts, *, seed: int, schedule: _core.Schedule, threads: int, progress: Any
    ) -> list[dict[str, Any]]:
        """Run a chain from every start."""
        return _core.sample_spike_slab(
            self.design,
            self.prior,
            starts.supports,
            starts.reference,
            seed=seed,
            schedule=schedule,
            threads=threads,
            progress=progress,
            modes=starts.modes,
            active=starts.active.columns,
        )

    def correlate(self, inclusion: _Floats) -> Correlations:
        """Correlate the units that are likely enough to be in a credible set."""
        return correlate(self.design, inclusion)

    @property
    def groups(self) -> list[NDArray[np.int64]]:
        """The columns of every unit."""
        return [np.array([j]) for j in range(self.design.columns)]

    def marginals(self, inclusion: _Floats) -> Marginals | None:
        """Keep what says how well each of the most probable models explains y."""
        return make_marginals(
            self.design, self.prior, self.groups, self.scales, inclusion, self.flat
        )

    @property
    def scales(self) -> _Floats:
        """How wide the slab of every unit is over sigma_beta, in its orthonormal basis."""
        return np.array(self.prior.scales or [1.0] * len(self.names))

    def model_prior(self, theta: _Floats | None) -> ModelPrior:
        """Return what models are worth before the data."""
        units = self.units
        return ModelPrior(
            count=len(self.names),
            free=self.free,
            always=self.always,
            forced=np.flatnonzero(np.isposinf(self.prior.log_odds)),
            theta=theta,
            a=self.prior.theta_a,
            b=self.prior.theta_b,
            parents=None if units is None else units.parents,
            strong=False if units is None else units.strong,
        )


class GroupProblem(ColumnProblem):
    """A posterior over sets of groups, or of columns under heredity; attributes as above.

    ``shared`` says that the columns of a group share the slab variance of one column;
    benchmarks/group_posterior.py shows what it would be like if each had that of its own.
    """

    shared = True
    chooses_active = False

    def __init__(self, design: _core.Quadratic, prior: _core.SpikeSlabPrior, units: Units) -> None:
        parents = units.parents
        self._posterior = _core.GroupPosterior(
            design,
            [group.tolist() for group in units.columns],
            self.shared,
            prior,
            [] if parents is None else [parents.of(unit).tolist() for unit in range(units.count)],
            units.strong,
            CACHE_BYTES,
        )
        super().__init__(design, prior, units.names, units)
        self._own = units
        self.always_width = int(self._posterior.widths[self.always].sum())
        self.free_width = int(self._posterior.widths[self.free].sum())

    def _is_possible(self) -> NDArray[np.bool_]:
        return np.asarray(self._posterior.widths > 0)

    def starts(self, n_chains: int, *, search: bool) -> Starts:
        """Return where chains start, coefficients near which to take moments, and modes."""
        return make_group_starts(
            self.design,
            self._posterior,
            self.prior,
            self._own,
            n_chains,
            thread_count(),
            search=search,
        )

    def enumerate(
        self, reference: list[float], *, draws: int, seed: int, threads: int
    ) -> _core.EnumeratedPosterior:
        """Visit all sets of groups, and draw from them."""
        return self._posterior.enumerate(reference, draws=draws, seed=seed, threads=threads)

    def log_evidence_constant(self, theta: _Floats | None) -> float:
        """Return what the core leaves out of the log density of y."""
        return log_likelihood_constant(self.prior)

    def sample(
        self, starts: Starts, *, seed: int, schedule: _core.Schedule, threads: int, progress: Any
    ) -> list[dict[str, Any]]:
        """Run a chain from every start."""
        return self._posterior.sample(
            starts.supports,
            starts.reference,
            seed=seed,
            schedule=schedule,
            threads=threads,
            progress=progress,
            modes=starts.modes,
        )

    def correlate(self, inclusion: _Floats) -> Correlations:
        """Correlate the groups that are likely enough to be in a credible set."""
        return correlate_groups(self.design, self._own, inclusion)

    @property
    def groups(self) -> list[NDArray[np.int64]]:
        """The columns of every group."""
        return self._own.columns

    @property
    def scales(self) -> _Floats:
        """How wide the slab of every group is over sigma_beta, in its orthonormal basis."""
        widths = np.maximum(self._posterior.widths, 1)
        return np.asarray(super().scales / np.sqrt(widths) if self.shared else super().scales)


def correlate_groups(design: _core.Quadratic, units: Units, inclusion: _Floats) -> Correlations:
    """Correlate the groups that are likely enough to be in a credible set.

    By the root mean square of their canonical correlations, of which groups of one have one.
    """
    by_column = correlate(design, inclusion[units.home])
    home = units.home[by_column.columns]
    likely = np.unique(home)
    roots = {}
    for unit in likely:
        own = np.flatnonzero(home == unit)
        values, vectors = np.linalg.eigh(by_column.matrix[np.ix_(own, own)])
        kept = values > 1e-9 * max(values.max(), 1e-300)
        roots[unit] = own, vectors[:, kept] / np.sqrt(values[kept])
    matrix = np.eye(likely.size)
    for a, one in enumerate(likely):
        for b, other in enumerate(likely[:a]):
            (rows, left), (columns, right) = roots[one], roots[other]
            canonical = left.T @ by_column.matrix[np.ix_(rows, columns)] @ right
            share = np.sqrt(np.sum(canonical**2) / max(min(canonical.shape), 1))
            matrix[a, b] = matrix[b, a] = share
    return Correlations(likely, matrix)


def make_problem(
    design: _core.Quadratic,
    settings: PriorSettings,
    units: Units | None,
    forced: NDArray[np.int64],
    *,
    fit_intercept: bool,
    names: Any,
    flat: NDArray[np.int64] = NO_UNITS,
) -> ColumnProblem:
    """Put a prior on units, columns if these are None; ``forced`` are those always in.

    ``flat`` are those always in under a flat prior.
    """
    terms = None
    if flat.size:
        terms = take_out(design, flat, units, fit_intercept=fit_intercept)
        design = terms.design
        forced = np.setdiff1d(forced, flat)  # as parents of others
    labels = [column_name(j, names) for j in range(design.columns)]
    theta_b = None
    if units is not None:
        labels = units.names
        if settings.theta is None:
            size = settings.expected_size
            theta_b = theta_rate(size, units.count, units.parents, units.strong, flat)
    prior = make_prior(
        design,
        settings,
        forced,
        fit_intercept=fit_intercept,
        names=labels,
        theta_b=theta_b,
        flat=terms,
    )
    problem: ColumnProblem
    if units is None or is_of_columns(units):
        problem = ColumnProblem(design, prior, labels, units)
    else:
        refuse_orphans(units, np.isposinf(prior.log_odds))
        problem = GroupProblem(design, prior, units)
    problem.flat = terms
    return problem
