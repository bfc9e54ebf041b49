"""A posterior as ArviZ has it: ``InferenceData`` of its versions 0.x, a ``DataTree`` of 1.x."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ellzero._estimators import SelectingModel
from ellzero.posterior._draws import PosteriorDraws

__all__ = ["ArvizModel", "dense"]

_Floats = NDArray[np.float64]
_BLOCK = 256
# ArviZ 1.x has a dimension "variable" of its own, where variables are those of the model
_DIMS = {"beta": ["predictor"], "included": ["group"], "y": ["observation"]}
_MISSING = (
    'to_arviz needs the package arviz, 0.20 or newer, 1.x included: pip install "ellzero[arviz]".'
)


class ArvizModel(SelectingModel):
    """A model known by draws, which it can hand on to ArviZ.

    Subclasses say what a row is worth under each draw, and draw new responses.
    """

    draws_: PosteriorDraws
    _weight: float

    def to_arviz(
        self,
        X: Any = None,
        y: Any = None,
        *,
        log_likelihood: bool = True,
        posterior_predictive: bool = True,
        prior: int = 0,
        random_state: Any = None,
    ) -> Any:
        """Return the draws as ArviZ has them; needs the package arviz, 0.20 or newer.

        With the rows that the model was fitted to, which it does not keep, there is what
        ``arviz.loo``, ``arviz.compare`` and pictures of predictive checks need: ``plot_ppc`` of
        ArviZ 0.x, ``plot_ppc_dist`` of 1.x.

        Parameters
        ----------
        X, y : array-like, default=None
            The rows of ``fit`` and their responses, both or neither. A row of weight 2 has to be
            given twice: to leave out one row means one of the two.
        log_likelihood, posterior_predictive : bool, default=True
            Whether these groups are made where X and y are given; each takes
            ``8 n_chains n_draws n`` bytes.
        prior : int, default=0
            So many draws from the prior come along where X and y are given, in the groups ``prior``
            and ``prior_predictive``: see ``sample_prior``.
        random_state : int, RandomState instance or None, default=None
            Seed of the predictive draws, and of the prior's.

        Returns
        -------
        arviz.InferenceData or xarray.DataTree
            The latter of ArviZ 1.x. Its group ``posterior`` holds ``beta`` (dense, by
            ``predictor``), ``intercept`` and, where there are draws of them, ``sigma_e``,
            ``sigma_beta``, ``theta``, ``tau``, ``alpha`` and ``noise_df``; with groups also
            ``included``, by ``group``: 1 where it is in. Of a spike-and-slab posterior,
            ``sample_stats`` holds ``size``, the number of variables, or groups, in the model. With
            rows, ``log_likelihood`` holds the log density of ``y`` by ``observation``, given the
            draw's coefficients, intercept and noise; ``posterior_predictive`` one new response of
            each row for every draw; ``observed_data`` the responses. Classes are 1 for
            ``classes_[1]``.
        """
        check_is_fitted(self)
        if (X is None) != (y is None):
            raise ValueError("X and y belong together: give both, or neither.")
        draws = self.draws_
        coords: dict[str, Any] = {"predictor": self._names()}
        groups = {"posterior": self._parameters(draws)}
        if sparse.issparse(draws.coef):
            groups["sample_stats"] = {"size": draws.size}
        if draws.groups is not None:
            coords["group"] = self._unit_names()
        if X is not None:
            table = self._check_rows(X)
            response = self._check_response(y, table.shape[0])
            if table.shape[0] != self._weight:
                raise ValueError(
                    f"X has {table.shape[0]} rows, but the model was fitted to {self._weight:g}: "
                    "give those, each as often as its sample_weight says."
                )
            coords["observation"] = np.arange(len(response))
            rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
            if log_likelihood:
                density = self._row_log_likelihood(table, response)
                groups["log_likelihood"] = {"y": _by_chain(density, draws)}
            if posterior_predictive:
                new = self._draw_given(draws, self._linear(table), rng)
                groups["posterior_predictive"] = {"y": _by_chain(new, draws)}
            if prior:
                before, _, rng = self._prior_and_rows(X, y, prior, None, random_state)
                linear = dense(before.coef @ table.T) + before.intercept.reshape(-1, 1)
                groups["prior"] = self._parameters(before)
                new = self._draw_given(before, linear, rng)
                groups["prior_predictive"] = {"y": _by_chain(new, before)}
            groups["observed_data"] = {"y": response}
        known = {name for values in groups.values() for name in values}
        dims = {name: own for name, own in _DIMS.items() if name in known}
        return _convert(groups, coords, dims)

    def _parameters(self, draws: PosteriorDraws) -> dict[str, NDArray[Any]]:
        """Return coefficients and hyperparameters, and who is in of groups, by chain and draw."""
        out = {"beta": _by_chain(draws.coef, draws), "intercept": draws.intercept}
        out.update(draws.hyperparameters())
        if draws.groups is not None:
            out["included"] = _by_chain(draws.groups, draws)
        return out

    def _row_log_likelihood(self, table: Any, response: _Floats) -> _Floats:
        """Return the log density of each row's response, by draw and row."""
        out = np.empty((self.draws_.intercept.size, len(response)))
        for begin in range(0, len(response), _BLOCK):
            rows = slice(begin, begin + _BLOCK)
            out[:, rows] = self._log_density(self._linear(table[rows]), response[rows])
        return out

    def _linear(self, table: Any) -> _Floats:
        """Return the linear predictor by draw and row."""
        return dense(self.draws_.coef @ table.T) + self.draws_.intercept.reshape(-1, 1)

    def _check_response(self, y: Any, n_rows: int) -> _Floats:
        raise NotImplementedError

    def _log_density(self, linear: _Floats, response: _Floats) -> _Floats:
        raise NotImplementedError

    def _draw_given(
        self, draws: PosteriorDraws, linear: _Floats, rng: np.random.Generator
    ) -> NDArray[Any]:
        raise NotImplementedError

    def _check_rows(self, X: Any) -> Any:
        raise NotImplementedError

    def _prior_and_rows(
        self, X: Any, y: Any, n_draws: Any, sample_weight: Any, random_state: Any
    ) -> tuple[PosteriorDraws, Any, np.random.Generator]:
        raise NotImplementedError

    def _names(self) -> list[str]:
        raise NotImplementedError

    def _unit_names(self) -> list[str]:
        raise NotImplementedError


def _by_chain(values: Any, draws: PosteriorDraws) -> NDArray[Any]:
    """Return rows that are draws, chain after chain, by chain and draw."""
    return dense(values).reshape(draws.n_chains, draws.n_draws, -1)


def _convert(groups: dict[str, Any], coords: dict[str, Any], dims: dict[str, Any]) -> Any:
    try:
        import arviz
    except ImportError:
        raise ImportError(_MISSING) from None
    if int(arviz.__version__.split(".")[0]) >= 1:
        return arviz.from_dict(groups, coords=coords, dims=dims)
    return arviz.from_dict(**groups, coords=coords, dims=dims)


def dense(values: Any) -> _Floats:
    """Return an array that is not sparse."""
    return np.asarray(values.toarray() if sparse.issparse(values) else values)
