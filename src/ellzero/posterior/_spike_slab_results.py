"""What a fitted spike-and-slab posterior offers, beyond any posterior: models and probabilities."""

from __future__ import annotations

import math
from functools import cached_property
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ellzero.posterior._counting import check_count
from ellzero.posterior._credible_sets import Correlations, CredibleSet, find_credible_sets
from ellzero.posterior._diagnostics import diagnose, probability_errors
from ellzero.posterior._group_table import tabulate_groups
from ellzero.posterior._jointness import Pairs, pairs_from_draws, tabulate_pairs
from ellzero.posterior._models import Models, models_from_draws
from ellzero.posterior._results import PosteriorModel
from ellzero.posterior._sensitivity import BySize, Sensitivity, SizePrior, measure_sensitivity
from ellzero.posterior._unit_prior import NO_UNITS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MADE_LATER", "SpikeSlabResults"]

# What is made when it is asked for.
MADE_LATER = (
    "diagnostics_",
    "probability_errors_",
    "models_",
    "credible_sets_",
    "sensitivity_",
    "group_probabilities_",
)


class SpikeSlabResults(PosteriorModel):
    """A posterior over sets of units, which are columns or groups of them.

    Subclasses set what is declared here: ``_home``, the unit of each column, and ``_group_names``
    are None if there are no groups and no rules; ``_conditional``, by chain, draw and unit, is None
    if all models were visited.
    """

    inclusion_probabilities_: NDArray[np.float64]
    solver_: str
    _unit_probabilities: NDArray[np.float64]
    _home: NDArray[np.int64] | None
    _group_names: list[str] | None
    _conditional: NDArray[np.float32] | None
    _certain: NDArray[np.bool_] | None = None  # units that are in, or out, by the prior
    _errors: NDArray[np.float64] | None = None  # of probabilities, where all models were visited
    _correlations: Correlations
    _models: Models | None
    _pairs: Pairs | None
    _by_size: BySize | None
    _size_prior: SizePrior | None
    _flat_units: NDArray[np.int64] = NO_UNITS  # always in, under no slab

    def _drawn(self) -> dict[str, NDArray[Any]]:
        assert self._conditional is not None
        return {"conditional": self._conditional}

    @cached_property
    def models_(self) -> pd.DataFrame:
        """The models met, with their posterior mass, best first."""
        import pandas as pd

        models, names = self._model_table(), self._unit_names()
        what = "variables" if self._group_names is None else "groups"
        return pd.DataFrame(
            {
                what: [tuple(names[j] for j in support) for support in models.supports],
                "size": [support.size for support in models.supports],
                "mass": models.mass,
                **self._odds_columns(),
            }
        )

    def _odds_columns(self) -> dict[str, NDArray[np.float64]]:
        """Return what else is known of each model; nothing, by default."""
        return {}

    @cached_property
    def credible_sets_(self) -> list[CredibleSet]:
        """Sets of variables of which, with probability .95, at least one is in the model."""
        models, names = self._model_table(), self._unit_names()
        n_draws = float(self.draws_.intercept.size)
        if self._conditional is None and models.mass.sum() > 1 - 1e-3:
            n_draws = np.inf  # the masses are exact
        else:
            models = models_from_draws(self._inside())
        inclusion = self._chosen_probabilities()
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
        errors = None
        if self._conditional is not None:
            series = [
                (name, self._conditional[:, :, j]) for j, name in enumerate(self._unit_names())
            ]
            errors = self._unit_errors()
        return diagnose([*series, *self._other_series().items()], errors=errors)

    @cached_property
    def probability_errors_(self) -> NDArray[np.float64]:
        """Standard errors of the inclusion probabilities."""
        check_is_fitted(self, "draws_")
        if self._errors is not None:
            return self._errors
        errors = self._unit_errors()
        return errors if self._home is None else errors[self._home]

    def _unit_errors(self) -> NDArray[np.float64]:
        if self._conditional is None:
            return np.zeros(len(self._unit_names()))
        return probability_errors(self._conditional, self._certain)

    def _other_series(self) -> dict[str, NDArray[np.float64]]:
        """Return the draws of what else is diagnosed, by name."""
        return self.draws_.hyperparameters()

    @cached_property
    def sensitivity_(self) -> Sensitivity | None:
        """How far the answer moves under half and twice the expected size."""
        check_is_fitted(self, "draws_")
        if self._size_prior is None:
            return None
        return measure_sensitivity(
            self._size_prior,
            self._unit_probabilities,
            self._unit_names(),
            self._inside(),
            self.draws_.sigma_beta,
            self._by_size,
        )

    @cached_property
    def group_probabilities_(self) -> pd.Series:
        """Posterior probability of each group, by name."""
        import pandas as pd

        check_is_fitted(self, "draws_")
        if self._group_names is None:
            raise AttributeError("group_probabilities_ is there with groups, or rules for columns.")
        index = pd.Index(self._group_names, name="group", dtype=object)
        return pd.Series(self._unit_probabilities, index=index, name="inclusion")

    def _chosen_probabilities(self) -> NDArray[np.float64]:
        """Return the probability of every unit, zero for what was never in question."""
        out = self._unit_probabilities.copy()
        out[self._flat_units] = 0.0
        return out

    def _unit_names(self) -> list[str]:
        return self._names() if self._group_names is None else self._group_names

    def _inside(self) -> Any:
        """Return a sparse matrix whose entries are the variables, or groups, in each draw."""
        return self.draws_.coef if self.draws_.groups is None else self.draws_.groups

    def _model_table(self) -> Models:
        check_is_fitted(self, "draws_")
        if self._models is None:
            self._models = models_from_draws(self._inside())
        return self._models

    def _support_of(self, model: Any) -> NDArray[np.int64]:
        """Return the units of the model that the user names: best, median or a row of models_."""
        check_is_fitted(self, "draws_")
        if isinstance(model, str) and model == "median":
            return np.flatnonzero(self._unit_probabilities > 0.5)
        supports = self._model_table().supports
        if isinstance(model, str) and model == "best":
            return supports[self._best_row()]
        is_row = isinstance(model, Integral) and not isinstance(model, bool)
        if not (is_row and 0 <= int(model) < len(supports)):
            raise ValueError(
                "model must be 'average', 'best', 'median' or the number of a row of models_, "
                f"below {len(supports)}; got {model!r}."
            )
        return supports[int(model)]

    def _best_row(self) -> int:
        """Return the row of the most probable model in models_."""
        return 0

    def summary(self) -> pd.DataFrame:
        """Tabulate the variables, the most probable first.

        Returns
        -------
        pandas.DataFrame
            Indexed by variable. ``inclusion``: posterior probability that it is in; ``mcse``: its
            Monte Carlo error, zero where all models were visited. ``coefficient``, ``sd``, ``low``
            and ``high``: posterior mean, standard deviation and 95% interval of its coefficient, in
            units of y per unit of the variable, zeros of models
            without it included. ``if_included``: the mean over models that have it.
            ``attrs["solver"]`` says how it was computed; ``attrs["sensitivity"]``, where theta is
            learned, how far it moves under half and twice the expected size. With groups, or rules
            for columns, it is indexed by group and variable: ``inclusion`` and ``mcse`` are in the
            row of the group, and the rest in those of its columns beneath.

        Examples
        --------
        >>> from ellzero import SpikeSlabRegressor
        >>> from ellzero.datasets import load_diabetes_interactions
        >>> diabetes = load_diabetes_interactions()
        >>> model = SpikeSlabRegressor(random_state=0).fit(diabetes.data, diabetes.target)
        >>> print(model.summary().head(3).index.tolist())
        ['bmi', 'ltg', 'map']
        """
        check_is_fitted(self)
        table = self._variable_table()
        if self._home is not None:
            names, probabilities = self._unit_names(), self._unit_probabilities
            errors = np.zeros(len(names))
            errors[self._home] = self.probability_errors_
            table = tabulate_groups(table, self._home, names, probabilities, errors)
        else:
            table = table.sort_values("inclusion", ascending=False, kind="stable")
        table.attrs["solver"] = self.solver_
        if self.sensitivity_ is not None:
            table.attrs["sensitivity"] = str(self.sensitivity_)
        return table

    def _variable_table(self) -> pd.DataFrame:
        """Return a row for each column, in their order."""
        import pandas as pd

        interval = self.credible_interval()
        inclusion = self.inclusion_probabilities_
        with np.errstate(invalid="ignore", divide="ignore"):
            if_included = np.where(inclusion > 0, self.coef_ / inclusion, 0.0)
        return pd.DataFrame(
            {
                "inclusion": inclusion,
                "mcse": self.probability_errors_,
                "coefficient": self.coef_,
                "sd": self.coef_sd_,
                "low": interval["low"],
                "high": interval["high"],
                "if_included": if_included,
            },
            index=interval.index,
        )

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
            check_count("max_variables", max_variables)
        inclusion, names = self._unit_probabilities, self._unit_names()
        columns = np.argsort(-inclusion, kind="stable")
        columns = columns[inclusion[columns] >= min_inclusion][:max_variables]
        if self._pairs is not None:
            pairs, n_draws = self._pairs.of(columns), math.inf
        else:
            pairs = pairs_from_draws(self._inside(), columns)
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
        import pandas as pd

        from ellzero.plotting import draw_jointness

        check_count("max_variables", max_variables)
        pairs = self.jointness(min_inclusion=0.0, max_variables=max_variables)
        inclusion = pd.Series(self._unit_probabilities, index=self._unit_names())
        inclusion = inclusion.sort_values(ascending=False, kind="stable")
        return draw_jointness(pairs, inclusion.head(int(max_variables)))

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

        check_count("max_variables", max_variables)
        check_is_fitted(self)
        table = self._variable_table().sort_values("inclusion", ascending=False, kind="stable")
        return draw_inclusion(table.head(int(max_variables)))
