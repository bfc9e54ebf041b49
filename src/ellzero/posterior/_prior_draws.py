"""What a prior says before the data: draws of its parameters, and of responses under them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import block_diag
from sklearn.base import clone
from sklearn.utils import check_random_state

from ellzero import _core
from ellzero._engine import make_engine, thread_count
from ellzero.posterior._arviz import dense
from ellzero.posterior._counting import check_count
from ellzero.posterior._draws import PosteriorDraws, groups_of
from ellzero.posterior._marginals import gram_of, whiten
from ellzero.posterior._model_prior import ModelPrior

if TYPE_CHECKING:
    from ellzero.posterior._prior import PriorSettings
    from ellzero.posterior._problems import ColumnProblem

__all__ = [
    "PriorModel",
    "UnitColumns",
    "draw_regression_prior",
    "draw_scale_mixture",
    "draw_spike_slab",
    "prior_intercept",
]

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

# Sets of dependent columns have no density under "zellner": so many are drawn for one that has.
_MOST_TRIES = 1000
# Beyond this a number is as good as infinite; a bridge of a small power gets there.
_LARGEST_LOG = 300.0


class PriorModel:
    """A model whose prior, as far as that is scaled to data, can be drawn from with these."""

    fit_intercept: bool

    def sample_prior(
        self,
        X: Any,
        y: Any,
        n_draws: int = 1000,
        *,
        sample_weight: Any = None,
        random_state: Any = None,
    ) -> PosteriorDraws:
        """Draw the parameters from the prior that a fit to these data would have.

        What the prior says next to nothing of is held, so that draws can be looked at: the flat
        intercept of a regression is such that the mean of y is met at the means of the columns,
        coefficients of other flat terms fit what is left of y by least squares, and a ``sigma_e``
        that is learned, whose prior is worth a hundredth of a row and spreads over hundreds of
        powers of ten, is ``sqrt(var(y) / 2)``. Everything else is drawn.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            The columns, as for ``fit``.
        y : array-like of shape (n,)
            The response, which priors are scaled to.
        n_draws : int, default=1000
            How many.
        sample_weight : array-like of shape (n,), default=None
            Weights, as for ``fit``.
        random_state : int, RandomState instance or None, default=None
            Seed.

        Returns
        -------
        PosteriorDraws
            As ``draws_`` has them, in one chain. The estimator itself stays as it is.

        Examples
        --------
        >>> from ellzero import SpikeSlabRegressor
        >>> from ellzero.datasets import load_diabetes_interactions
        >>> diabetes = load_diabetes_interactions()
        >>> prior = SpikeSlabRegressor(expected_size=5).sample_prior(
        ...     diabetes.data, diabetes.target, 4000, random_state=0
        ... )
        >>> bool(4.5 < prior.size.mean() < 5.5)
        True
        """
        return self._prior_and_rows(X, y, n_draws, sample_weight, random_state)[0]

    def sample_prior_predictive(
        self,
        X: Any,
        y: Any,
        n_draws: int = 1000,
        *,
        sample_weight: Any = None,
        random_state: Any = None,
    ) -> NDArray[Any]:
        """Draw responses from the prior: what data look like before they are seen.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            The columns, as for ``fit``, and the rows to draw responses of.
        y : array-like of shape (n,)
            The response, which priors are scaled to.
        n_draws : int, default=1000
            How many.
        sample_weight : array-like of shape (n,), default=None
            Weights, as for ``fit``.
        random_state : int, RandomState instance or None, default=None
            Seed.

        Returns
        -------
        ndarray of shape (n_draws, n)
            In the units of y; of two classes, 1 for the second. The parameters are those that
            :meth:`sample_prior` draws with the same seed, which says what is held.

        Examples
        --------
        >>> from ellzero import SpikeSlabRegressor
        >>> from ellzero.datasets import load_diabetes_interactions
        >>> diabetes = load_diabetes_interactions()
        >>> X, y = diabetes.data, diabetes.target
        >>> drawn = SpikeSlabRegressor().sample_prior_predictive(X, y, 200, random_state=0)
        >>> drawn.shape
        (200, 442)
        """
        draws, table, rng = self._prior_and_rows(X, y, n_draws, sample_weight, random_state)
        linear = dense(draws.coef @ table.T) + draws.intercept.reshape(-1, 1)
        return self._draw_given(draws, linear, rng)

    def _prior_and_rows(
        self, X: Any, y: Any, n_draws: Any, sample_weight: Any, random_state: Any
    ) -> tuple[PosteriorDraws, Any, np.random.Generator]:
        """Draw from the prior; the second is X, checked."""
        check_count("n_draws", n_draws)
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        # Checking X and y leaves notes behind, which are none of the estimator's business
        copy = clone(self)
        draws, table = copy._draw_prior(X, y, sample_weight, int(n_draws), rng)
        return draws, table.tocsr() if sparse.issparse(table) else table, rng

    def _draw_prior(
        self, X: Any, y: Any, sample_weight: Any, n_draws: int, rng: np.random.Generator
    ) -> tuple[PosteriorDraws, Any]:
        """Return draws, and X as it was checked."""
        raise NotImplementedError

    def _draw_given(
        self, draws: PosteriorDraws, linear: _Floats, rng: np.random.Generator
    ) -> NDArray[Any]:
        """Return responses around linear predictors."""
        raise NotImplementedError


class UnitColumns:
    """The columns of each unit, in a design, and how wide their slabs are over sigma_beta."""

    def __init__(
        self, design: _core.Quadratic, groups: list[_Integers], scales: _Floats | None
    ) -> None:
        self.design, self.groups, self._scales = design, groups, scales
        self._engine = make_engine(design, 1.0, thread_count())
        self._known: dict[int, _Floats] = {}

    def gram(self, columns: _Integers) -> _Floats:
        """Return the Gram matrix of some columns, centred and of unit norm."""
        return gram_of(self._engine, columns)

    def basis(self, unit: int) -> _Floats:
        """Return what turns the coefficients of a unit's scaled basis into those of its columns.

        Without scales the columns of a group share the variance of one.
        """
        if unit not in self._known:
            own = self.groups[unit]
            turn = np.ones((1, 1)) if own.size == 1 else whiten(self.gram(own))
            shared = 1 / np.sqrt(max(turn.shape[1], 1))
            self._known[unit] = turn * (shared if self._scales is None else self._scales[unit])
        return self._known[unit]


def draw_spike_slab(
    prior: Any,
    slab: str,
    models: ModelPrior,
    columns: UnitColumns,
    s2: float,
    n_draws: int,
    rng: np.random.Generator,
) -> tuple[Any, _Floats | None, _Floats | None]:
    """Draw coefficients in the user's units, slab variances and theta.

    ``prior`` is the core's, for columns of unit norm; s2 is the variance of the noise.
    """
    spread = _draw_variance(prior.slab_variance, s2, n_draws, rng)
    begins, support, values, thetas = [0], [], [], []
    for draw in range(n_draws):
        for _ in range(_MOST_TRIES):
            theta, units = models.draw(rng)
            own = [columns.groups[u] for u in units]
            places = np.concatenate([*own, np.empty(0, dtype=np.int64)]).astype(np.int64)
            bases = [columns.basis(u) for u in units.tolist()]
            turn = block_diag(*bases) if bases else np.zeros((0, 0))
            if slab in ("zellner", "boom"):
                gram = turn.T @ columns.gram(places) @ turn
                beta = _draw_joint(prior, slab, gram, s2, rng)
            elif slab == "laplace":
                beta = rng.laplace(scale=np.sqrt(spread[draw] / 2), size=turn.shape[1])
            else:
                beta = np.sqrt(spread[draw]) * rng.standard_normal(turn.shape[1])
            if beta is not None:
                break
        else:
            raise ValueError(
                f"the prior draws sets of columns that depend on each other, {_MOST_TRIES} times "
                "over, which have no density under slab='zellner': expect fewer variables."
            )
        order = np.argsort(places)
        support.append(places[order])
        values.append((turn @ beta * columns.design.inverse_scale[places])[order])
        begins.append(begins[-1] + places.size)
        thetas.append(theta)
    shape = (n_draws, columns.design.columns)
    coef = sparse.csr_array((np.concatenate(values), np.concatenate(support), begins), shape=shape)
    has_spread = slab in ("gaussian", "laplace")
    return coef, spread if has_spread else None, _as_floats(thetas)


def _as_floats(thetas: list[float | None]) -> _Floats | None:
    return None if thetas[0] is None else np.array(thetas, dtype=np.float64)


def _draw_variance(
    variance: _core.Variance, s2: float, n_draws: int, rng: np.random.Generator
) -> _Floats:
    if not variance.learned:
        return np.full(n_draws, variance.value)
    drawn = variance.rate / rng.gamma(variance.shape, size=n_draws)
    return np.asarray(drawn * (s2 if variance.relative else 1.0))


def _draw_joint(
    prior: _core.SpikeSlabPrior, slab: str, gram: _Floats, s2: float, rng: np.random.Generator
) -> _Floats | None:
    """Draw coefficients whose slab has the Gram matrix in it; None if that is singular."""
    k = len(gram)
    if slab == "zellner":
        if k and np.linalg.eigvalsh(gram)[0] < 1e-9:
            return None
        precision = gram / prior.g
    else:
        precision = prior.information * ((1 - prior.diagonal) * gram + prior.diagonal * np.eye(k))
    root = np.linalg.cholesky(precision)
    return np.asarray(np.sqrt(s2) * np.linalg.solve(root.T, rng.standard_normal(k)))


def draw_scale_mixture(
    prior: _core.ScaleMixturePrior, s: float, shape: tuple[int, int], rng: np.random.Generator
) -> tuple[_Floats, dict[str, _Floats]]:
    """Draw coefficients for columns of unit norm, and what is learned beside them.

    ``s`` is the standard deviation of the noise, which a horseshoe's scale is in units of.
    """
    n_draws = shape[0]
    learned: dict[str, _Floats] = {}
    if prior.is_horseshoe:
        own = prior.horseshoe
        tau = np.full(n_draws, own.tau)
        if own.learn_tau:
            learned["tau"] = tau = own.tau_scale * s * np.abs(rng.standard_cauchy(n_draws))
        wide = tau[:, None] * np.abs(rng.standard_cauchy(shape))
        if own.regularised:
            half = own.slab_df / 2
            slab = own.slab_scale * np.sqrt(half / rng.gamma(half, size=n_draws))
            learned["slab"] = slab
            wide = wide / np.hypot(1, wide / slab[:, None])
        return wide * rng.standard_normal(shape), learned
    bridge = prior.bridge
    alpha, log_tau = np.full(n_draws, bridge.alpha), np.full(n_draws, np.log(bridge.tau))
    if bridge.learn_alpha:
        learned["alpha"] = alpha = rng.uniform(bridge.least_alpha, bridge.greatest_alpha, n_draws)
    if bridge.learn_tau:
        log_tau = -np.log(rng.gamma(bridge.nu_shape, size=n_draws) / bridge.nu_rate) / alpha
        learned["tau"] = np.exp(np.minimum(log_tau, _LARGEST_LOG))
    # |beta / tau|^alpha is Gamma(1 / alpha)
    power = np.log(rng.gamma(1 / alpha[:, None], size=shape)) / alpha[:, None]
    size = np.exp(np.minimum(log_tau[:, None] + power, _LARGEST_LOG))
    return size * rng.choice([-1.0, 1.0], size=shape), learned


def prior_intercept(coef: Any, design: _core.Quadratic, fit_intercept: bool) -> _Floats:
    """Return intercepts that meet the mean of y at the means of the columns, as one chain."""
    count = coef.shape[0]
    if not fit_intercept:
        return np.zeros((1, count))
    return np.asarray(design.mean_y - coef @ design.mean).reshape(1, count)


def draw_regression_prior(
    problem: ColumnProblem,
    settings: PriorSettings,
    n_draws: int,
    rng: np.random.Generator,
    *,
    fit_intercept: bool,
) -> PosteriorDraws:
    """Draw the parameters of a linear regression under a spike-and-slab prior."""
    design, prior = problem.design, problem.prior
    columns = UnitColumns(design, problem.groups, problem.scales)
    s2 = prior.noise.value  # a learned one has there what its prior expects
    models = problem.model_prior(settings.theta)
    coef, spread, theta = draw_spike_slab(prior, settings.slab, models, columns, s2, n_draws, rng)
    if problem.flat is not None:  # what the others leave of y is fitted by least squares
        noise = np.zeros((n_draws, problem.flat.rank))
        coef = problem.flat.add_draws(coef, np.zeros(n_draws), noise)
    return PosteriorDraws(
        coef=coef,
        intercept=prior_intercept(coef, design, fit_intercept),
        sigma_e=np.full((1, n_draws), np.sqrt(s2)),
        sigma_beta=None if spread is None else np.sqrt(spread)[None, :],
        theta=None if theta is None else theta[None, :],
        groups=None if problem.home is None else groups_of(coef, problem.home),
    )
