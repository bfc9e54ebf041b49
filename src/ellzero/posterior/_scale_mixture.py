"""What the bridge and the horseshoe have in common: coefficients that are Gaussian given scales."""

from __future__ import annotations

import warnings
from functools import cached_property
from numbers import Integral, Real
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ellzero import _core
from ellzero._sklearn import Interval, StrOptions, check_fit_input, unchanged_on_error
from ellzero._warnings import MixingWarning
from ellzero.posterior._diagnostics import coefficient_problem, diagnose, standard_deviations
from ellzero.posterior._draws import PosteriorDraws, collect_dense_draws
from ellzero.posterior._prior import check_sigma, noise_prior
from ellzero.posterior._prior_draws import draw_scale_mixture, prior_intercept
from ellzero.posterior._results import PosteriorRegressor
from ellzero.posterior._rows import merge_equal_rows
from ellzero.posterior._run import fingerprint

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ScaleMixtureRegressor"]

# A 95% interval leaves this much on either side.
_TAIL = 0.025


class ScaleMixtureRegressor(PosteriorRegressor):
    """A linear model whose coefficients are Gaussian given scales.

    Subclasses say which prior the scales have.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "tau": [StrOptions({"learn"}), Interval(Real, 0, None, closed="neither")],
        "sigma_e": [StrOptions({"learn"}), Interval(Real, 0, None, closed="neither")],
        "n_chains": [Interval(Integral, 1, None, closed="left")],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "n_warmup": [Interval(Integral, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "random_state": ["random_state"],
        "checkpoint": [str, PathLike, None],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def _set_scales(self, prior: _core.ScaleMixturePrior, n_columns: int) -> tuple[str, ...]:
        """Fill in the prior of the scales; return the names of what is learned of it."""
        raise NotImplementedError

    def _set_units(self, prior: _core.ScaleMixturePrior, design: _core.Quadratic) -> None:
        """Fill in what of the prior is measured by the data; by default there is nothing."""

    def _warn_of_prior(self, design: _core.Quadratic) -> None:
        """Warn of a prior that does not suit the data; by default there is nothing to warn of."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Draw from the posterior.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            The columns. Arrays of floats are not copied; sparse input is not made dense unless p is
            well above n.
        y : array-like of shape (n,)
            The response.
        sample_weight : array-like of shape (n,), default=None
            Frequency weights, not negative: a row of weight 2 is the row twice. Where rows are few
            the draws are the same to the bit.

        Returns
        -------
        self
            The fitted estimator.
        """
        with unchanged_on_error(self):
            self._fit(X, y, sample_weight)
        return self

    def _extend(self, more: int, X: Any, y: Any, sample_weight: Any) -> None:
        self._fit(X, y, sample_weight, more)

    def _fit(self, X: Any, y: Any, sample_weight: Any, more: int = 0) -> None:
        X, y, sample_weight = check_fit_input(self, X, y, sample_weight)
        if self.n_jobs == 0:
            raise ValueError("n_jobs must not be 0.")
        prior = _core.ScaleMixturePrior()
        learned = self._set_scales(prior, X.shape[1])
        sigma_e = check_sigma("sigma_e", self.sigma_e)
        design = self._make_design(*merge_equal_rows(X, y, sample_weight))
        prior.noise, prior.degrees, _ = noise_prior(
            design, sigma_e, fit_intercept=self.fit_intercept
        )
        self._set_units(prior, design)
        run = self._begin(fingerprint(design), more)

        def sample(
            schedule: _core.Schedule, threads: int, progress: Any
        ) -> list[dict[str, NDArray[np.float64]]]:
            chains = _core.sample_scale_mixture(
                design,
                prior,
                chains=self.n_chains,
                warmup=schedule.warmup,
                draws=schedule.draws,
                seed=run.seed,
                threads=threads,
                progress=progress,
                stop=schedule.stop,
                states=schedule.states,
            )
            for chain in chains:
                chain["beta"] *= design.inverse_scale
            return chains

        chains = self._draw(run, sample)
        self.__dict__.pop("diagnostics_", None)  # of an earlier fit
        self.draws_ = collect_dense_draws(
            chains,
            design,
            learned=learned,
            fit_intercept=self.fit_intercept,
            seed=run.seed,
        )
        self.coef_ = self.draws_.coef.mean(axis=0)
        self.coef_sd_ = standard_deviations(self.draws_.coef, axis=0)
        self.intercept_ = design.mean_y - float(design.mean @ self.coef_)
        self.support_ = np.flatnonzero(self._sign_probabilities() > 1 - _TAIL)
        self._mean, self._weight = design.mean, design.weight
        self._warn_of_mixing()
        self._warn_of_prior(design)
        self._finish(run)

    def _draw_prior(
        self, X: Any, y: Any, sample_weight: Any, n_draws: int, rng: np.random.Generator
    ) -> tuple[PosteriorDraws, Any]:
        X, y, sample_weight = check_fit_input(self, X, y, sample_weight)
        prior = _core.ScaleMixturePrior()
        self._set_scales(prior, X.shape[1])
        design = self._make_design(X, y, sample_weight)
        self._set_units(prior, design)
        sigma_e = check_sigma("sigma_e", self.sigma_e)
        noise, _, _ = noise_prior(design, sigma_e, fit_intercept=self.fit_intercept)
        sigma = float(np.sqrt(noise.value))  # a learned one has there what its prior expects
        coef, learned = draw_scale_mixture(prior, sigma, (n_draws, X.shape[1]), rng)
        coef *= design.inverse_scale
        return PosteriorDraws(
            coef=coef,
            intercept=prior_intercept(coef, design, self.fit_intercept),
            sigma_e=np.full((1, n_draws), sigma),
            **{name: values[None, :] for name, values in learned.items()},
        ), X

    def _sign_probabilities(self) -> NDArray[np.float64]:
        """Posterior probabilities of each coefficient's more probable sign."""
        coef = self.draws_.coef
        return np.asarray(np.maximum((coef > 0).mean(axis=0), (coef < 0).mean(axis=0)))

    def _by_chain(self) -> NDArray[np.float64]:
        draws = self.draws_
        by_chain: NDArray[np.float64] = draws.coef.reshape(draws.n_chains, draws.n_draws, -1)
        return by_chain

    def _drawn(self) -> dict[str, NDArray[Any]]:
        return {"beta": self._by_chain()}

    def _warn_of_mixing(self) -> None:
        others = self.draws_.hyperparameters()
        problem = coefficient_problem(self._by_chain(), others, self._names())
        if problem:
            warnings.warn(MixingWarning(type(self).__name__, problem), stacklevel=4)

    @cached_property
    def diagnostics_(self) -> pd.DataFrame:
        """R-hat, effective sample sizes and Monte Carlo errors."""
        check_is_fitted(self, "draws_")
        coef = self._by_chain()
        series = [(name, coef[:, :, j]) for j, name in enumerate(self._names())]
        return diagnose([*series, *self.draws_.hyperparameters().items()])

    def summary(self) -> pd.DataFrame:
        """Tabulate the variables, those farthest from zero first.

        Returns
        -------
        pandas.DataFrame
            Indexed by variable, ordered by the posterior mean in units of the standard deviation.
            ``coefficient``, ``sd``, ``low`` and ``high``: posterior mean, standard deviation and
            95% interval of the coefficient, in units of y per unit of the variable. ``sign``:
            posterior probability of its more probable sign.
        """
        import pandas as pd

        check_is_fitted(self)
        interval = self.credible_interval()
        table = pd.DataFrame(
            {
                "coefficient": self.coef_,
                "sd": self.coef_sd_,
                "low": interval["low"],
                "high": interval["high"],
                "sign": self._sign_probabilities(),
            },
            index=interval.index,
        )
        sd = np.where(self.coef_sd_ > 0, self.coef_sd_, np.inf)
        return table.iloc[np.argsort(-np.abs(self.coef_) / sd, kind="stable")]

    def plot(self, *, max_variables: int = 20) -> Any:
        """Draw coefficients with their 50% and 95% intervals.

        Parameters
        ----------
        max_variables : int, default=20
            How many variables to show, in the order of :meth:`summary`.

        Returns
        -------
        matplotlib.axes.Axes
            Coloured where the 95% interval excludes zero.
        """
        from ellzero.plotting import draw_intervals

        if isinstance(max_variables, bool) or not (
            isinstance(max_variables, Integral) and max_variables >= 1
        ):
            raise ValueError(f"max_variables must be a positive integer; got {max_variables!r}.")
        table = self.summary().head(int(max_variables))
        half = self.credible_interval(0.5).loc[table.index]
        return draw_intervals(table, half.to_numpy().T)
