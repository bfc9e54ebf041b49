r"""How well one model explains y, with its coefficients and variances integrated out: p(y | S).

In a basis in which the slab of a model with k members is ``N(0, sigma_beta^2 I)`` (for single
columns that of the columns themselves), with :math:`G = V \Lambda V'` their Gram matrix,
:math:`w = V'Z_S'y` and :math:`\tau = \sigma_e^2 / \sigma_\beta^2`,

.. math:: E(\tau) = \tfrac12 \Bigl( y'y - \sum_i \frac{w_i^2}{\lambda_i + \tau} \Bigr), \quad
          \log p(y \mid S, \tau, \sigma_e^2) = \tfrac12 \sum_i \log\frac{\tau}{\lambda_i + \tau}
          - \frac{E(\tau)}{\sigma_e^2} - \tfrac N2 \log 2 \pi \sigma_e^2

so one eigendecomposition gives it for every tau. The noise is integrated out in closed form, tau by
a trapezoidal rule in its logarithm. Under "zellner" and "boom" there is no tau, and all is closed.
A density is that of y up to shifts if there is an intercept: of its n - 1 contrasts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import solve_triangular
from scipy.special import logsumexp

from ellzero import _core
from ellzero._engine import make_engine, thread_count
from ellzero.posterior._flat import FlatTerms
from ellzero.posterior._prior import log_likelihood_constant

__all__ = ["Conditional", "Marginals", "VariancePrior", "gram_of", "make_marginals", "whiten"]

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

# Models are known by the Gram matrix of at most so many columns, the most probable ones.
_MOST_COLUMNS = 500
_BLOCK = 16  # columns of the Gram matrix at a time
# A column of a group whose pivot is below this depends on the ones before it, as in the core.
_DEPENDENT = 1e-9
# Where tau ends, as in the core; and how far below the highest a node is that adds nothing.
_LOW, _HIGH = math.log(1e-10), math.log(1e10)
_NEGLIGIBLE = 50.0
_NODES = 200
# Nodes, and what is negligible, where each of them is a component of a mixture.
_FEWER = (100, 28.0)


class VariancePrior(NamedTuple):
    """A variance: given, or inverse gamma, by itself or ``relative`` to that of the noise."""

    learned: bool
    value: float
    shape: float
    rate: float
    relative: bool

    @classmethod
    def of(cls, variance: _core.Variance) -> VariancePrior:
        """Copy what the core has."""
        return cls(
            variance.learned, variance.value, variance.shape, variance.rate, variance.relative
        )


class Conditional(NamedTuple):
    """The posterior given a model: a mixture over values of tau, one if it is not learned.

    At each of them the coefficients in the eigenbasis are independent, around ``mean``, with
    variance ``s2 * spread``; s2 is ``total``, or inverse gamma with this shape and rate ``total``.
    """

    weight: _Floats  # by node
    mean: _Floats  # by node and coefficient
    spread: _Floats
    total: _Floats  # by node
    shape: float | None
    loadings: Any  # what turns the coefficients into those of all columns, in the user's units

    @property
    def degrees(self) -> float:
        """Degrees of freedom of the Student distributions in the mixture; infinite of normals."""
        return math.inf if self.shape is None else 2 * self.shape

    @property
    def scale(self) -> _Floats:
        """Their squared scale for a spread of one, by node."""
        return self.total if self.shape is None else self.total / self.shape


class KeptFlat(NamedTuple):
    """Flat terms, which were taken out of y and of all columns, in the user's units."""

    units: _Integers
    columns: _Integers
    alone: _Floats  # their coefficients where the others are zero
    root: _Floats  # root'root is their covariance over s2, given the others


@dataclass(frozen=True)
class Marginals:
    """What the marginal likelihoods of models are made of, for the most probable units.

    Plain numbers and arrays, so that a fit can be kept without its data.
    """

    slab: str
    yy: float
    degrees: float
    noise: VariancePrior
    slab_variance: VariancePrior
    g: float
    information: float
    diagonal: float
    constant: float  # of the log density, the same for all models
    units: _Integers  # those known here
    unit_of: _Integers  # the unit of each column of the basis
    gram: _Floats
    zy: _Floats
    loadings: Any  # csr_array: from coefficients in the basis to those of the user's columns
    flat: KeptFlat | None = None

    def knows(self, support: _Integers) -> bool:
        """Whether all units of a model are known here; flat ones are part of every model."""
        if self.flat is not None:
            support = np.setdiff1d(support, self.flat.units)
        place = np.searchsorted(self.units, support)
        return bool(self.units.size or not support.size) and bool(
            (self.units[np.minimum(place, self.units.size - 1)] == support).all()
        )

    def log_marginal(self, support: _Integers) -> float:
        """Return log p(y | S); NaN if S has a unit that is not known here."""
        if not self.knows(support):
            return math.nan
        values, _, products = self._curve(self._columns(support))
        squares = products**2
        if not self._learns_tau():
            return self.constant + self._given(values, squares)
        x, heights = _nodes(lambda x: self._log_weight(x, values, squares), *self._range())
        top = float(heights.max())
        return self.constant + top + math.log(float(np.exp(heights - top).sum()) * (x[1] - x[0]))

    def conditional(self, support: _Integers) -> Conditional:
        """Return the posterior of what is in a model, given the model."""
        columns = self._columns(support)
        values, vectors, products = self._curve(columns)
        squares, turned = products**2, self.loadings[:, columns] @ vectors
        if self._learns_tau():
            x, heights = _nodes(
                lambda x: self._log_weight(x, values, squares), *self._range(), *_FEWER
            )
            alpha, ridge, weight = 1.0, np.exp(x), np.exp(heights - logsumexp(heights))
        else:
            alpha, fixed = self._alpha_and_ridge()
            ridge, weight = np.array([fixed]), np.ones(1)
        spread = 1 / (alpha * (values + ridge[:, None]))
        half = np.maximum(0.5 * (self.yy - spread @ squares), 0.0)
        shape, total = self._noise_given(ridge, half)
        return Conditional(weight, spread * products, spread, total, shape, turned)

    def _range(self) -> tuple[float, float]:
        # The prior of 1 / tau falls off slowly: what is left out below is e^-46 of the whole
        relative = self.slab_variance.learned and self.slab_variance.relative
        return (_LOW - 46 / self.slab_variance.shape if relative else _LOW), _HIGH

    def _learns_tau(self) -> bool:
        return self.slab == "gaussian" and (self.noise.learned or self.slab_variance.learned)

    def _alpha_and_ridge(self) -> tuple[float, float]:
        """Return those of the precision ``alpha (G + ridge)`` of the coefficients, over s2."""
        if self.slab == "zellner":
            return 1 + 1 / self.g, 0.0
        if self.slab == "boom":
            alpha = 1 + self.information * (1 - self.diagonal)
            return alpha, self.information * self.diagonal / alpha
        return 1.0, self.noise.value / self.slab_variance.value

    def _columns(self, support: _Integers) -> _Integers:
        """Return the places of a model's columns in the basis."""
        most = int(self.unit_of.max(initial=-1)) + 1
        inside = np.zeros(most, dtype=bool)
        inside[support[support < most]] = True
        return np.flatnonzero(inside[self.unit_of])

    def _curve(self, columns: _Integers) -> tuple[_Floats, _Floats, _Floats]:
        """Return the eigenvalues and eigenvectors of their Gram matrix, and w."""
        values, vectors = np.linalg.eigh(self.gram[np.ix_(columns, columns)])
        values = np.maximum(values, 0.0)
        if self.slab == "zellner":  # what depends on other members is no part of the model
            kept = values > 1e-12
            values, vectors = values[kept], vectors[:, kept]
        return values, vectors, vectors.T @ self.zy[columns]

    def _given(self, values: _Floats, squares: _Floats) -> float:
        """Return the log density where there is no tau to integrate over, but for the constant."""
        alpha, ridge = self._alpha_and_ridge()
        precision = alpha * (values + ridge)
        prior = {
            "zellner": values / self.g,
            "boom": self.information * ((1 - self.diagonal) * values + self.diagonal),
        }.get(self.slab, np.full(values.size, ridge))
        value = 0.5 * float(np.log(prior / precision).sum())
        half = max(0.5 * (self.yy - float((squares / precision).sum())), 0.0)
        if not self.noise.learned:
            return value - half / self.noise.value
        return value - (self.noise.shape + 0.5 * self.degrees) * math.log(self.noise.rate + half)

    def _log_weight(self, x: _Floats, values: _Floats, squares: _Floats) -> _Floats:
        """Return the log density of y and of x = log tau, but for the constant, at some x."""
        tau = np.exp(x)
        precision = values + tau[:, None]
        energy = np.maximum(0.5 * (self.yy - (squares / precision).sum(axis=1)), 0.0)
        out = 0.5 * (values.size * x - np.log(precision).sum(axis=1))
        shape, total = self._noise_given(tau, energy)
        a2, b2 = self.slab_variance.shape, self.slab_variance.rate
        if shape is not None:  # both variances are learned
            out = out + a2 * x - shape * np.log(total)
            return np.asarray(out - b2 * tau if self.slab_variance.relative else out)
        if self.noise.learned:
            power = self.noise.shape + 0.5 * self.degrees
            return np.asarray(out - power * np.log(total) - (self.noise.rate + energy) / total)
        rate = b2 / (1 if self.slab_variance.relative else self.noise.value)
        return np.asarray(out - energy / total + a2 * x - rate * tau)

    def _noise_given(self, tau: _Floats, energy: _Floats) -> tuple[float | None, _Floats]:
        """Return shape and rate of s2 given tau; no shape, and s2 itself, where tau gives it."""
        noise, slab = self.noise, self.slab_variance
        if not noise.learned:
            return None, np.full(energy.shape, noise.value)
        if self.slab != "gaussian":
            return noise.shape + 0.5 * self.degrees, noise.rate + energy
        if not slab.learned:
            return None, tau * slab.value
        if slab.relative:
            return noise.shape + 0.5 * self.degrees, noise.rate + energy
        return noise.shape + slab.shape + 0.5 * self.degrees, noise.rate + slab.rate * tau + energy


def _nodes(
    log_density: Callable[[_Floats], _Floats],
    low: float,
    high: float,
    count: int = _NODES,
    negligible: float = _NEGLIGIBLE,
) -> tuple[_Floats, _Floats]:
    """Return evenly spaced nodes over where a density is not negligible, and its logarithm there.

    The interval closes in on that part until it is most of it, so that a peak of any width has
    enough nodes for the trapezoidal rule to be exact but for rounding.
    """
    while True:
        x = np.linspace(low, high, count)
        heights = log_density(x)
        inside = np.flatnonzero(heights > heights.max() - negligible)
        first, last = max(int(inside[0]) - 1, 0), min(int(inside[-1]) + 1, count - 1)
        if last - first > 0.8 * (count - 1):
            return x, heights
        low, high = float(x[first]), float(x[last])


def make_marginals(
    design: _core.Quadratic,
    prior: _core.SpikeSlabPrior,
    groups: list[_Integers],
    scales: _Floats,
    probabilities: _Floats,
    flat: FlatTerms | None,
) -> Marginals | None:
    """Keep what the marginal likelihoods of the most probable models need; None for "laplace".

    ``groups`` are the columns of each unit, of which ``scales`` says by how much the slab of its
    orthonormal basis is wider than that of one column. ``flat`` was taken out of the design.
    """
    if prior.slab == _core.Slab.laplace:
        return None
    kept: list[int] = []
    width = 0
    for unit in np.argsort(-probabilities, kind="stable"):
        width += len(groups[unit])
        if probabilities[unit] == 0 or width > _MOST_COLUMNS:
            break
        if flat is None or unit not in flat.units:
            kept.append(int(unit))
    units = np.sort(np.array(kept, dtype=np.int64))
    columns = np.concatenate([*(groups[u] for u in units), np.empty(0, dtype=np.int64)])
    gram = gram_of(make_engine(design, 1.0, thread_count()), columns)
    turn, unit_of = _bases(gram, [len(groups[u]) for u in units], scales[units], units)
    p = design.columns
    place = sparse.csr_array(
        (design.inverse_scale[columns], (columns, np.arange(columns.size))),
        shape=(p, columns.size),
    )
    return Marginals(
        slab=prior.slab.name,
        yy=design.yy,
        degrees=prior.degrees,
        noise=VariancePrior.of(prior.noise),
        slab_variance=VariancePrior.of(prior.slab_variance),
        g=prior.g,
        information=prior.information,
        diagonal=prior.diagonal,
        constant=log_likelihood_constant(prior),
        units=units,
        unit_of=unit_of,
        gram=turn.T @ gram @ turn,
        zy=turn.T @ design.zy[columns],
        loadings=_load(sparse.csr_array(place @ turn), flat),
        flat=None if flat is None else _keep(flat, p),
    )


def _load(loadings: Any, flat: FlatTerms | None) -> Any:
    """Add what coefficients of flat columns take up of the others."""
    if flat is None:
        return loadings
    taken = sparse.csr_array(-(flat.loadings @ loadings))
    rows = sparse.csr_array(
        (np.ones(flat.rank), (flat.columns, np.arange(flat.rank))),
        shape=(loadings.shape[0], flat.rank),
    )
    return sparse.csr_array(loadings + rows @ taken)


def _keep(flat: FlatTerms, p: int) -> KeptFlat:
    alone = flat.complete(np.zeros(p))[flat.columns]
    return KeptFlat(flat.units, flat.columns, alone, flat.root)


def gram_of(engine: _core.Engine, columns: _Integers) -> _Floats:
    """Return the Gram matrix of some columns, centred and of unit norm, as an engine has them."""
    out = np.empty((columns.size, columns.size))
    for begin in range(0, columns.size, _BLOCK):
        block = columns[begin : begin + _BLOCK]
        out[begin : begin + _BLOCK] = engine.gram_columns(block)[:, columns]
    return 0.5 * (out + out.T)


def _bases(
    gram: _Floats, widths: list[int], scales: _Floats, units: _Integers
) -> tuple[Any, _Integers]:
    """Return what turns coefficients in the scaled bases of groups into those of columns."""
    if all(width == 1 for width in widths):
        return sparse.diags_array(scales, format="csr"), np.asarray(units)
    blocks, unit_of, begin = [], [], 0
    for width, scale, unit in zip(widths, scales, units, strict=True):
        own = gram[begin : begin + width, begin : begin + width]
        block = np.array([[scale]]) if width == 1 else scale * whiten(own)
        blocks.append(block)
        unit_of += [unit] * block.shape[1]
        begin += width
    return sparse.csr_array(sparse.block_diag(blocks)), np.array(unit_of, dtype=np.int64)


def whiten(gram: _Floats) -> _Floats:
    """Return T with T'GT = I, over the columns that don't depend on the ones before them."""
    kept: list[int] = []
    for j in range(len(gram)):
        if gram[j, j] <= 0:
            continue
        left = gram[j, j]
        if kept:
            part = np.linalg.solve(gram[np.ix_(kept, kept)], gram[kept, j])
            left -= gram[kept, j] @ part
        if left > _DEPENDENT:
            kept.append(j)
    root = np.linalg.cholesky(gram[np.ix_(kept, kept)])
    out = np.zeros((len(gram), len(kept)))
    out[kept] = solve_triangular(root, np.eye(len(kept)), lower=True).T
    return out
