r"""How far the answer moves if fewer or more variables had been expected.

With theta ~ Beta(1, b), b = p / s - 1 and s the expected size, a model with k of the F variables
that may go either way has prior mass

.. math:: m_s(k) = B(1 + k, b + F - k) / B(1, b)

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

__all__ = ["BySize", "Sensitivity", "SizePrior", "by_size", "measure_sensitivity"]

_Floats = NDArray[np.float64]
_LEAST_ESS = 100.0


class SizePrior(NamedTuple):
    """What the prior makes of the expected size."""

    expected_size: float
    n_columns: int
    n_free: int  # that may go either way
    n_always: int  # in every model
    rate: float | None  # of the prior of sigma_beta^2, if that knows the expected size

    def log_masses(self, expected_size: float) -> _Floats:
        """Return log m(k) for every number of free variables, up to a constant."""
        k, b = np.arange(self.n_free + 1), self.n_columns / expected_size - 1
        return np.asarray(betaln(1 + k, b + self.n_free - k) - betaln(1, b), dtype=np.float64)

    def log_ratios(
        self, expected_size: float, k: NDArray[np.int64], sigma_beta: _Floats | None
    ) -> _Floats:
        """Return the log of how many times as much models of k free variables would weigh."""
        ratios = self.log_masses(expected_size) - self.log_masses(self.expected_size)
        out: _Floats = ratios[k]
        if self.rate is not None and sigma_beta is not None:
            share = self.expected_size / expected_size
            out = out + np.log(share) + (1 - share) * self.rate / sigma_beta**2
        return out


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
    """

    expected_size: float
    expected: tuple[float, float]
    size: tuple[float, float]
    inclusion: tuple[_Floats, _Floats]
    move: float
    variable: str
    ess: float

    @property
    def reliable(self) -> bool:
        """Whether the draws are enough to tell: worth at least 100."""
        return self.ess >= _LEAST_ESS

    def __str__(self) -> str:
        """Say it in a sentence."""
        half, twice = self.expected
        had = f"Had {half:g} or {twice:.4g} variables been expected instead of "
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
    """The posterior of the number of free variables, and of each being in at that number."""

    mass: _Floats  # of shape (n_free + 1,)
    inclusion: _Floats  # of shape (n_free + 1, p)


def by_size(masses: _Floats, free: NDArray[np.int64], n_columns: int) -> BySize:
    """Add up masses of models; bit b of a model's place says whether column free[b] is in."""
    codes = np.arange(masses.size)
    sizes = np.zeros(masses.size, dtype=np.int64)
    for bit in range(free.size):
        sizes += codes >> bit & 1
    inclusion = np.zeros((free.size + 1, n_columns))
    for bit, column in enumerate(free):
        inside = np.where(codes >> bit & 1, masses, 0.0)
        inclusion[:, column] = np.bincount(sizes, inside, free.size + 1)
    mass: _Floats = np.zeros(free.size + 1)
    np.add.at(mass, sizes, masses)
    return BySize(mass, inclusion)


def measure_sensitivity(
    prior: SizePrior,
    inclusion: _Floats,
    names: list[str],
    coef: Any,
    sigma_beta: _Floats | None,
    exact: BySize | None,
) -> Sensitivity:
    """Weigh models, or where they were not all visited draws, by what other priors make of them.

    ``inclusion`` are the probabilities as they are, ``coef`` and ``sigma_beta`` the draws.
    """
    s, p = prior.expected_size, prior.n_columns
    expected = (s / 2, min(2 * s, (s + p) / 2))
    found, ess = [], np.inf
    for other in expected:
        if exact is not None:
            ratios = prior.log_ratios(other, np.arange(prior.n_free + 1), None)
            weights = np.exp(ratios - ratios.max())
            free = weights @ exact.inclusion / (weights @ exact.mass)
            found.append(np.where(exact.inclusion.any(axis=0), free, inclusion))
            continue
        k = np.clip(np.diff(coef.indptr) - prior.n_always, 0, prior.n_free)
        spread = None if sigma_beta is None else sigma_beta.ravel()
        ratios = prior.log_ratios(other, k, spread)
        weights = np.exp(ratios - ratios.max())
        weights /= weights.sum()
        ess = min(ess, float(1 / (weights @ weights)))
        inside = sparse.csr_array((np.ones(coef.nnz), coef.indices, coef.indptr), shape=coef.shape)
        # What the weights change, to the averages of conditional probabilities
        change = inside.T @ (weights - 1 / weights.size)
        found.append(np.clip(inclusion + change, 0, 1))
    moves = np.maximum(*(np.abs(each - inclusion) for each in found))
    widest = int(np.argmax(moves))
    return Sensitivity(
        expected_size=s,
        expected=expected,
        size=(float(found[0].sum()), float(found[1].sum())),
        inclusion=(found[0], found[1]),
        move=float(moves[widest]),
        variable=names[widest],
        ess=ess,
    )
