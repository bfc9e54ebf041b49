r"""How far the answer moves if fewer or more variables had been expected.

With theta ~ Beta(1, b), b = p / s - 1 and s the expected size, a model with k of the F variables
that may go either way has prior mass

.. math:: m_s(k) = B(1 + k, b + F - k) / B(1, b)

(under heredity F is the number that may be in beside the others of the model, and b another number)

so that what was found under s becomes what another s' would have found if models weigh
:math:`m_{s'}(k) / m_s(k)` times as much. Where the prior of sigma_beta^2, InvGamma(1, v / s), knows
the expected size too, a draw weighs :math:`s / s' \exp((v / s - v / s') / \sigma_\beta^2)` times
that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import betaln

from ellzero.posterior._unit_prior import NO_UNITS, count_candidates, theta_rate
from ellzero.regression._parents import Parents

__all__ = ["BySize", "Sensitivity", "SizePrior", "by_size", "measure_sensitivity"]

_Floats = NDArray[np.float64]
_LEAST_ESS = 100.0


class SizePrior(NamedTuple):
    """What the prior makes of the expected size."""

    expected_size: float
    n_units: int  # columns, or groups
    free: NDArray[np.int64]  # those that may go either way
    always: NDArray[np.int64]  # those in every model
    rate: float | None  # of the prior of sigma_beta^2, if that knows the expected size
    parents: Parents | None = None
    strong: bool = True
    what: str = "variables"
    flat: NDArray[np.int64] = NO_UNITS  # those of the latter that were never expected or not

    def log_masses(
        self, expected_size: float, k: NDArray[np.int64], m: NDArray[np.int64]
    ) -> _Floats:
        """Return log m(k) for k free units in, of m that may be."""
        b = theta_rate(expected_size, self.n_units, self.parents, self.strong, self.flat)
        return np.asarray(betaln(1 + k, b + m - k) - betaln(1, b), dtype=np.float64)

    def log_ratios(
        self,
        expected_size: float,
        k: NDArray[np.int64],
        m: NDArray[np.int64],
        sigma_beta: _Floats | None,
    ) -> _Floats:
        """Return the log of how many times as much models of k free units would weigh."""
        now = self.log_masses(self.expected_size, k, m)
        out = self.log_masses(expected_size, k, m) - now
        if self.rate is not None and sigma_beta is not None:
            share = self.expected_size / expected_size
            out = out + np.log(share) + (1 - share) * self.rate / sigma_beta**2
        return np.asarray(out)

    def counts_of(self, inside: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return k and m of every row of a sparse matrix."""
        k = np.clip(np.diff(inside.indptr) - self.always.size, 0, self.free.size)
        by_unit = inside.tocsc()

        def contains(unit: int) -> NDArray[np.bool_]:
            rows = np.zeros(inside.shape[0], dtype=bool)
            rows[by_unit.indices[by_unit.indptr[unit] : by_unit.indptr[unit + 1]]] = True
            return rows

        m = count_candidates(contains, k.size, self.free, self.parents, self.strong)
        return k, m


@dataclass(frozen=True)
class Sensitivity:
    """How far the answer moves if half or twice as many variables had been expected.

    Printed, it is a sentence.

    Attributes
    ----------
    expected_size : float
        How many variables the prior expects.
    expected : tuple of two floats
        How many it would have expected: half as many, and twice (or half way to all columns).
    size : tuple of two floats
        The posterior's expected number of variables then.
    inclusion : tuple of two ndarrays of shape (p,)
        The inclusion probabilities then.
    move : float
        The largest change of an inclusion probability.
    variable : str
        The variable whose probability changes most.
    ess : float
        How many draws the weighted draws are worth, the lesser of the two; infinite where all
        models were visited.
    what : str
        What is counted: "variables", or "groups".
    """

    expected_size: float
    expected: tuple[float, float]
    size: tuple[float, float]
    inclusion: tuple[_Floats, _Floats]
    move: float
    variable: str
    ess: float
    what: str = "variables"

    @property
    def reliable(self) -> bool:
        """Whether the draws are enough to tell: worth at least 100."""
        return self.ess >= _LEAST_ESS

    def __str__(self) -> str:
        """Say it in a sentence."""
        half, twice = self.expected
        had = f"Had {half:g} or {twice:.4g} {self.what} been expected instead of "
        had += f"{self.expected_size:g}: "
        if not self.reliable:
            return (
                f"{had}these draws do not say (they are worth {self.ess:.0f}, fewer than "
                f"{_LEAST_ESS:.0f})."
            )
        low, high = sorted(self.size)
        return (
            f"{had}expected size {low:.1f} to {high:.1f}, probabilities move by at most "
            f"{self.move:.2f} ({self.variable})."
        )


class BySize(NamedTuple):
    """The posterior of how many free units are in and may be, and of each being in then."""

    k: NDArray[np.int64]
    m: NDArray[np.int64]
    mass: _Floats  # one for each pair of these
    inclusion: _Floats  # a row for each pair, by unit


def by_size(masses: _Floats, prior: SizePrior) -> BySize:
    """Add up masses of models; bit b of a model's place says whether unit free[b] is in."""
    free = prior.free
    codes = np.arange(masses.size)
    k = np.zeros(masses.size, dtype=np.int64)
    for bit in range(free.size):
        k += codes >> bit & 1
    place = {int(unit): bit for bit, unit in enumerate(free)}
    always = set(prior.always.tolist())

    def contains(unit: int) -> NDArray[np.bool_]:
        if unit in place:
            return np.asarray(codes >> place[unit] & 1, dtype=bool)
        return np.full(masses.size, unit in always)

    kind, pairs = k, np.arange(free.size + 1) * (free.size + 1) + free.size
    if prior.parents is not None:
        m = count_candidates(contains, masses.size, free, prior.parents, prior.strong)
        pairs, kind = np.unique(k * (free.size + 1) + m, return_inverse=True)
    inclusion = np.zeros((pairs.size, prior.n_units))
    for bit, unit in enumerate(free):
        inside = np.where(codes >> bit & 1, masses, 0.0)
        inclusion[:, unit] = np.bincount(kind, inside, pairs.size)
    mass: _Floats = np.zeros(pairs.size)
    np.add.at(mass, kind, masses)
    return BySize(pairs // (free.size + 1), pairs % (free.size + 1), mass, inclusion)


def measure_sensitivity(
    prior: SizePrior,
    inclusion: _Floats,
    names: list[str],
    inside: Any,
    sigma_beta: _Floats | None,
    exact: BySize | None,
) -> Sensitivity:
    """Weigh models, or where they were not all visited draws, by what other priors make of them.

    ``inclusion`` are the probabilities as they are; ``inside``, a sparse matrix whose entries are
    the units in each draw, and ``sigma_beta`` the draws.
    """
    s, p = prior.expected_size, prior.n_units - prior.flat.size
    expected = (s / 2, min(2 * s, (s + p) / 2))
    found, ess = [], np.inf
    k, m = (exact.k, exact.m) if exact is not None else prior.counts_of(inside)
    for other in expected:
        if exact is not None:
            ratios = prior.log_ratios(other, k, m, None)
            weights = np.exp(ratios - ratios.max())
            free = weights @ exact.inclusion / (weights @ exact.mass)
            found.append(np.where(exact.inclusion.any(axis=0), free, inclusion))
            continue
        spread = None if sigma_beta is None else sigma_beta.ravel()
        ratios = prior.log_ratios(other, k, m, spread)
        weights = np.exp(ratios - ratios.max())
        weights /= weights.sum()
        ess = min(ess, float(1 / (weights @ weights)))
        ones = sparse.csr_array(
            (np.ones(inside.nnz), inside.indices, inside.indptr), shape=inside.shape
        )
        # What the weights change, to the averages of conditional probabilities
        change = ones.T @ (weights - 1 / weights.size)
        found.append(np.clip(inclusion + change, 0, 1))
    moves = np.maximum(*(np.abs(each - inclusion) for each in found))
    widest = int(np.argmax(moves))
    return Sensitivity(
        expected_size=s,
        expected=expected,
        size=(_size_of(found[0], prior), _size_of(found[1], prior)),
        inclusion=(found[0], found[1]),
        move=float(moves[widest]),
        variable=names[widest],
        ess=ess,
        what=prior.what,
    )


def _size_of(inclusion: _Floats, prior: SizePrior) -> float:
    """Return how many variables are expected in all, but for flat ones."""
    return float(np.delete(inclusion, prior.flat).sum())
