r"""Student's noise in a spike-and-slab regression.

.. math:: y_i = \mu + x_i'\beta + e_i, \quad e_i \sim N(0, \sigma_e^2 / w_i), \quad
          w_i \sim \mathrm{Gamma}(\nu/2, \nu/2)

so that :math:`e_i / \sigma_e` is Student's t with :math:`\nu` degrees of freedom. Given the weights
w, models are compared by weighted least squares.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero._columns import column_name
from ellzero._engine import make_columns
from ellzero.posterior._diagnostics import coefficient_problem
from ellzero.posterior._draws import PosteriorDraws
from ellzero.posterior._prior import PriorSettings, make_prior
from ellzero.posterior._problems import ColumnProblem
from ellzero.posterior._starts import Starts
from ellzero.regression._units import Units

__all__ = [
    "StudentProblem",
    "check_noise",
    "make_student_problem",
    "middle_and_spread",
    "noise_problem",
]

_Floats = NDArray[np.float64]
# Degrees of freedom that are learned are _LEAST + Gamma(_SHAPE, _RATE): above 1 the noise has a
# mean, and rows that are fitted to the last digit can't outweigh the others unless they are half of
# them. Chosen on simulated tables of a hundred rows: Juarez and Steel's shape, 2, believes too
# little in heavy tails for these to correct it, and above 2 degrees tails are too light for noise
# that is contaminated.
_SHAPE, _RATE, _LEAST = 1.0, 0.1, 1.0
_GREATEST_DF = 1e6
# What the table may take that the sampler multiplies by; a larger one is made anew every time.
_ROOM_BYTES = 2e9
# The median absolute deviation of normal numbers is their standard deviation over this.
_PER_MAD = 1.482602218505602
# Where the search for a start cuts y off, in robust standard deviations from its middle.
_CUT = 3.0


def check_noise(estimator: Any, units: Units | None) -> float | None:
    """Check what an estimator says of its noise; return degrees of freedom that are given."""
    df = estimator.noise_df
    learned = isinstance(df, str)
    if estimator.noise == "gaussian":
        if not learned:
            raise ValueError(f'noise_df={df!r} is for noise="student"; normal noise has none.')
        return None
    if estimator.slab != "gaussian":
        raise ValueError(
            f'noise="student" has slab="gaussian" only; got slab={estimator.slab!r}, which is not '
            "known in closed form where rows have weights."
        )
    if units is not None:
        raise ValueError(
            'noise="student" is for single columns: leave feature_groups, heredity, parents and '
            "penalty_factor out."
        )
    if estimator.flat is not None:
        raise ValueError('flat is for noise="gaussian"; always_include has a slab.')
    if learned:
        return None
    value = math.nan if isinstance(df, bool) else float(df)
    if value == math.inf:
        raise ValueError('noise_df must be finite; noise="gaussian" is what infinity stands for.')
    if not 1 <= value <= _GREATEST_DF:
        raise ValueError(
            f"noise_df must be from 1 (Cauchy) to {_GREATEST_DF:g}; got {df!r}. Below 1 fewer than "
            "half of the rows, fitted to the last digit, would outweigh all the others."
        )
    return value


def middle_and_spread(
    y: _Floats, sample_weight: _Floats | None, fit_intercept: bool
) -> tuple[float, float]:
    """Return the median of y and its robust standard deviation: 1.4826 times the MAD.

    Without an intercept both are about zero. The rows count as often as they weigh.
    """
    weights = np.ones(len(y)) if sample_weight is None else sample_weight
    middle = _median(y, weights) if fit_intercept else 0.0
    return middle, _PER_MAD * _median(np.abs(y - middle), weights)


def _median(values: _Floats, weights: _Floats) -> float:
    """Return the middle of numbers that count as often as they weigh."""
    order = np.argsort(values, kind="stable")
    order = order[weights[order] > 0]
    below = np.cumsum(weights[order])
    half = 0.5 * below[-1]
    at = int(np.searchsorted(below, half * (1 - 1e-12)))
    nearly = abs(below[at] - half) <= 1e-12 * half  # as many above as there are up to here
    upper = values[order[min(at + 1, order.size - 1)]] if nearly else values[order[at]]
    return float(0.5 * (values[order[at]] + upper))


class _Rows(NamedTuple):
    """What the sampler draws from: rows in the core, and where their responses are taken from."""

    core: _core.StudentRows
    middle: float
    unit: float


class StudentProblem(ColumnProblem):
    """A posterior over sets of columns under Student's noise.

    ``design`` is that of y cut off on both sides: chains start from what is found in it.
    """

    chooses_active = False

    def __init__(
        self,
        design: _core.Quadratic,
        prior: _core.SpikeSlabPrior,
        names: list[str],
        rows: _Rows,
        degrees: _core.DegreesPrior,
        fit_intercept: bool,
    ) -> None:
        super().__init__(design, prior, names, None)
        self._rows, self._degrees, self._fit_intercept = rows, degrees, fit_intercept

    def sample(
        self, starts: Starts, *, seed: int, schedule: _core.Schedule, threads: int, progress: Any
    ) -> list[dict[str, Any]]:
        """Run a chain from every start.

        In the core, columns are as long as their slabs are wide.
        """
        scales = self.scales
        reference = (np.array(starts.reference) / scales).tolist()
        chains = _core.sample_student_spike_slab(
            self._rows.core,
            self.prior,
            self._degrees,
            self._rows.unit,
            [_start_at(support, reference) for support in starts.supports],
            reference,
            seed=seed,
            schedule=schedule,
            threads=threads,
            progress=progress,
            modes=starts.modes,
        )
        for chain in chains:
            chain["beta"] = chain["beta"] * scales[chain["support"]]
            own = scales[: chain["mean"].size]  # none before the first draw
            chain["mean"], chain["square"] = chain["mean"] * own, chain["square"] * own**2
        return chains

    def marginals(self, inclusion: _Floats) -> None:
        """Return nothing: given a model, y has no density in closed form."""

    def amend_prior(self, draws: PosteriorDraws, rng: np.random.Generator) -> PosteriorDraws:
        """Add degrees of freedom to draws of the prior, and take intercepts from the median."""
        own, shape = self._degrees, draws.sigma_e.shape
        degrees = np.full(shape, own.value)
        if own.learned:
            degrees = own.least + rng.gamma(own.shape, 1 / own.rate, size=shape)
        intercept = draws.intercept
        if self._fit_intercept:
            intercept = self._rows.middle - (draws.coef @ self.design.mean).reshape(shape)
        return replace(draws, intercept=intercept, noise_df=degrees)

    def amend(self, estimator: Any, chains: list[dict[str, Any]]) -> None:
        """Give a fitted estimator what Student's noise has beyond the normal one.

        The intercept is not at the mean of y, and is a draw of the chain.
        """
        draws, mean = estimator.draws_, self.design.mean
        count = draws.intercept.size
        intercept = draws.intercept
        if self._fit_intercept:
            centred = np.array([chain["intercept"] for chain in chains]) + self._rows.middle
            intercept = centred - (draws.coef @ mean).reshape(centred.shape)
            average = sum(chain["intercept_sum"] for chain in chains) / count
            estimator.intercept_ = float(self._rows.middle + average - mean @ estimator.coef_)
        degrees = np.array([chain["noise_df"] for chain in chains])
        estimator.draws_ = replace(draws, intercept=intercept, noise_df=degrees)
        estimator.row_weights_ = sum(chain["row_weight"] for chain in chains) / count


def noise_problem(draws: PosteriorDraws) -> str:
    """Say in words what has not mixed of Student's noise; nothing if all looks well."""
    if draws.noise_df is None:
        return ""
    nothing = np.zeros((*draws.noise_df.shape, 0))
    return coefficient_problem(nothing, {"noise_df": draws.noise_df, "sigma_e": draws.sigma_e}, [])


def _start_at(support: list[int], reference: list[float]) -> _core.LogitStart:
    start = _core.LogitStart()
    start.support, start.beta = support, [reference[j] for j in support]
    return start


def make_student_problem(
    estimator: Any,
    X: Any,
    y: _Floats,
    sample_weight: _Floats | None,
    settings: PriorSettings,
    df: float | None,
    forced: NDArray[np.int64],
    names: Any,
) -> StudentProblem:
    """Put a prior on columns and noise; ``df`` is None if it is learned.

    Where the prior of normal noise has the variance of y it is here that of the MAD: outliers
    can't make it wider than the bulk of y is.
    """
    fit_intercept = estimator.fit_intercept
    middle, spread = middle_and_spread(y, sample_weight, fit_intercept)
    learns = settings.sigma_e is None or settings.sigma_beta is None
    if spread == 0 and learns:
        raise ValueError(
            "y is the same number in half of the rows or more: Student's noise would take all the "
            'others for outliers; use noise="gaussian", or give sigma_e and sigma_beta.'
        )
    cut = _CUT * spread if spread > 0 else math.inf
    design = estimator._make_design(X, np.clip(y, middle - cut, middle + cut), sample_weight)
    degrees_left = max(design.weight - fit_intercept, 1.0)
    total = degrees_left * spread**2 if spread > 0 else None
    labels = [column_name(j, names) for j in range(design.columns)]
    prior = make_prior(
        design, settings, forced, fit_intercept=fit_intercept, names=labels, total=total
    )
    counts = np.ones(len(y)) if sample_weight is None else sample_weight
    core = _core.make_student_rows(
        make_columns(X),
        design,
        counts,
        np.ascontiguousarray(y - middle),
        fit_intercept,
        _ROOM_BYTES,
        prior.scales,
    )
    unit = total if total is not None else design.yy or 1.0
    rows = _Rows(core, middle, unit)
    return StudentProblem(design, prior, labels, rows, _degrees_prior(df), fit_intercept)


def _degrees_prior(df: float | None) -> _core.DegreesPrior:
    prior = _core.DegreesPrior()
    if df is not None:
        prior.value = df
        return prior
    prior.learned = True
    prior.shape, prior.rate, prior.least = _SHAPE, _RATE, _LEAST
    prior.value = _LEAST + _SHAPE / _RATE
    return prior
