"""What every posterior under a spike-and-slab prior says of variables and models."""

from __future__ import annotations

import math
from functools import cached_property
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ellzero.posterior._credible_sets import Correlations, CredibleSet, find_credible_sets
from ellzero.posterior._diagnostics import diagnose
from ellzero.posterior._jointness import Pairs, pairs_from_draws, tabulate_pairs
from ellzero.posterior._models import Models, models_from_draws
from ellzero.posterior._results import PosteriorModel
from ellzero.posterior._sensitivity import BySize, Sensitivity, SizePrior, measure_sensitivity

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SpikeSlabPosterior"]


class SpikeSlabPosterior(PosteriorModel):
    """A posterior over models.

    Subclasses set ``inclusion_probabilities_``, ``draws_`` and what is private here: probabilities
    by chain, draw and column (None where all models were visited), correlations of the columns,
    models and pairs where they are known without draws, and the prior of the number of variables
    where theta is learned.
    """

    inclusion_probabilities_: NDArray[np.float64]
    _conditional: NDArray[np.float32] | None
    _correlations: Correlations
    _models: Models | None
    _pairs: Pairs | None
    _by_size: BySize | None
    _size_prior: SizePrior | None

    def summary(self) -> pd.DataFrame:
        """Tabulate the variables, the most probable first."""
        raise NotImplementedError

    def _other_series(self) -> dict[str, NDArray[np.float64]]:
        """Return what else is diagnosed, by name."""
        return self.draws_.hyperparameters()

    @cached_property
    def models_(self) -> pd.DataFrame:
        """The models met, with their posterior mass, best first."""
        import pandas as pd

        models, names = self._model_table(), self._names()
        return pd.DataFrame(
            {
                "variables": [tuple(names[j] for j in support) for support in models.supports],
                "size": [support.size for support in models.supports],
                "mass": models.mass,
            }
        )

    @cached_property
    def credible_sets_(self) -> list[CredibleSet]:
        """Sets of variables of which, with probability .95, at least one is in the model."""
        models, names = self._model_table(), self._names()
        n_draws = float(self.draws_.intercept.size)
        if self._conditional is None and models.mass.sum() > 1 - 1e-3:
            n_draws = np.inf  # the masses are exact
        else:
            models = models_from_draws(self.draws_.coef)
        inclusion = self.inclusion_probabilities_
        return [
            CredibleSet(
                found.columns,
                inclusion[found.columns],
                found.probability,
                [names[j] for j in found.columns],
                [tuple(names[j] for j in group) for group in found.together],
                found.purity,
            )
            for found in find_credible_sets(models, inclusion, self._correlations, 0.95, n_draws)
        ]

    @cached_property
    def diagnostics_(self) -> pd.DataFrame:
        """R-hat, effective sample sizes and Monte Carlo errors."""
        check_is_fitted(self, "draws_")
        series: list[tuple[str, Any]] = []
        if self._conditional is not None:
            series = [(name, self._conditional[:, :, j]) for j, name in enumerate(self._names())]
        return diagnose([*series, *self._other_series().items()])

    @cached_property
    def sensitivity_(self) -> Sensitivity | None:
        """How far the answer moves under half and twice the expected size."""
        check_is_fitted(self, "draws_")
        if self._size_prior is None:
            return None
        return measure_sensitivity(
            self._size_prior,
            self.inclusion_probabilities_,
            self._names(),
            self.draws_.coef,
            self.draws_.sigma_beta,
            self._by_size,
        )

    def _model_table(self) -> Models:
        check_is_fitted(self, "draws_")
        if self._models is None:
            self._models = models_from_draws(self.draws_.coef)
        return self._models

    def jointness(
        self, *, min_inclusion: float = 0.05, max_variables: int | None = 20
    ) -> pd.DataFrame:
        """Tabulate pairs of variables: in together, or in each other's place.

        Parameters
        ----------
        min_inclusion : float, default=0.05
            Variables less probable than this are left out.
        max_variables : int or None, default=20
            How many variables to pair, the most probable first; None means all that are probable
            enough.

        Returns
        -------
        pandas.DataFrame
            One row per pair, ``first`` being the more probable; those that differ most from chance
            come first. ``both`` and ``either``: posterior probability that both, or at least one,
            are in. ``by_chance``: what ``both`` would be if neither cared for the other.
            ``log_odds_ratio``: log of how many times greater the odds of one are where the other is
            in; positive if they are in together, negative if they stand in for each other. NaN of a
            variable that is always in. Exact with "enumerate"; otherwise from draws, half a draw
            added to each of the four counts, so one that rests on few draws is near zero.

        Examples
        --------
        The total of two columns stands in for them; they are in together.

        >>> import numpy as np
        >>> import pandas as pd
        >>> from ellzero import SpikeSlabRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = pd.DataFrame(rng.standard_normal((100, 2)), columns=["rent", "food"])
        >>> X["total"] = X["rent"] + X["food"] + 0.3 * rng.standard_normal(100)
        >>> y = X["rent"] + X["food"] + 2 * rng.standard_normal(100)
        >>> model = SpikeSlabRegressor(theta=0.2, random_state=0).fit(X, y)
        >>> pairs = model.jointness().set_index(["first", "second"])
        >>> bool(pairs.loc[("total", "rent"), "log_odds_ratio"] < 0)
        True
        """
        check_is_fitted(self)
        if isinstance(min_inclusion, bool) or not (
            isinstance(min_inclusion, Real) and 0 <= min_inclusion <= 1
        ):
            raise ValueError(f"min_inclusion must be between 0 and 1; got {min_inclusion!r}.")
        if max_variables is not None:
            _check_count("max_variables", max_variables)
        inclusion, names = self.inclusion_probabilities_, self._names()
        columns = np.argsort(-inclusion, kind="stable")
        columns = columns[inclusion[columns] >= min_inclusion][:max_variables]
        if self._pairs is not None:
            pairs, n_draws = self._pairs.of(columns), math.inf
        else:
            pairs = pairs_from_draws(self.draws_.coef, columns)
            n_draws = float(self.draws_.intercept.size)
        return tabulate_pairs(pairs, [names[j] for j in columns], n_draws)

    def plot_jointness(self, *, max_variables: int = 12) -> Any:
        """Draw which variables are in together, and which are in each other's place.

        A square is the larger, the more the probability of both differs from chance; blue where
        they are in together more often, orange where less. On the diagonal are the probabilities of
        the variables.

        Parameters
        ----------
        max_variables : int, default=12
            How many variables to show, the most probable first.

        Returns
        -------
        matplotlib.axes.Axes
            The picture.
        """
        from ellzero.plotting import draw_jointness

        _check_count("max_variables", max_variables)
        pairs = self.jointness(min_inclusion=0.0, max_variables=max_variables)
        return draw_jointness(pairs, self.summary()["inclusion"].head(int(max_variables)))

    def plot(self, *, max_variables: int = 20) -> Any:
        """Draw inclusion probabilities, and coefficients with their 95% intervals.

        Parameters
        ----------
        max_variables : int, default=20
            How many variables to show, the most probable first.

        Returns
        -------
        ndarray of matplotlib.axes.Axes
            The two panels.
        """
        from ellzero.plotting import draw_inclusion

        _check_count("max_variables", max_variables)
        return draw_inclusion(self.summary().head(int(max_variables)))


def _check_count(name: str, value: Any) -> None:
    if isinstance(value, bool) or not (isinstance(value, Integral) and int(value) >= 1):
        raise ValueError(f"{name} must be a positive integer; got {value!r}.")
