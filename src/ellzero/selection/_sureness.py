"""How sure a choice is: what other ways of choosing say of each variable."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero._warnings import DependentColumnWarning
from ellzero.regression import FrontierModel, Stability, stability
from ellzero.regression._losses import Loss
from ellzero.selection._factors import rules_of
from ellzero.selection._feature_matrix import FeatureMatrix
from ellzero.selection._prepare import PreparedTable
from ellzero.selection._settings import Settings
from ellzero.selection._variables import Variables

if TYPE_CHECKING:
    from ellzero.posterior import SpikeSlabClassifier, SpikeSlabRegressor

__all__ = ["Sureness", "make_stability"]

# Tables of more numbers than this take more than some seconds, and the halves a copy of them.
_CELLS = 2.5e7
# Likelihoods take about so many times as long.
_LIKELIHOOD = 25
_LARGEST = 20
# A variable that is chosen on so many halves, or is so probable, is worth a line.
_OFTEN = 0.5
# Signs are spoken of where so many halves tell, and so many of these disagree.
_SOME, _MIXED = 0.1, 0.9


def make_stability(
    matrix: FeatureMatrix, data: PreparedTable, settings: Settings, size: int, ridge: float
) -> Stability | None:
    """Choose on halves of the rows; None where that takes long, or rows are few or in order."""
    rows = np.arange(len(data.y)) if data.weights is None else np.flatnonzero(data.weights)
    groups = None if data.groups is None else data.groups[rows]
    units = len(rows) if groups is None else len(np.unique(groups))
    p = matrix.X.shape[1]
    few_choices = matrix.units is not None and bool(matrix.units.forced.all())
    small = units < 8 or p <= matrix.forced.size or few_choices
    if data.loss.is_likelihood and not small:
        # So that every half can be fitted: of both classes, and not of zeros alone
        y = data.y[rows]
        few = min(
            np.count_nonzero(y), np.count_nonzero(y == 0) if data.loss is Loss.LOGISTIC else 8
        )
        small = few < 8 or (groups is not None and data.loss is Loss.LOGISTIC)
    cells = len(rows) * p * (_LIKELIHOOD if data.loss.is_likelihood else 1)
    if not settings.stability or data.times is not None or small or cells > _CELLS:
        return None
    whole = len(rows) == len(data.y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DependentColumnWarning)  # which is known by now
        return stability(
            matrix.X if whole else matrix.X[rows],
            data.y[rows],
            loss=data.loss.value,
            max_size=max(_LARGEST, size, matrix.forced.size + 1),
            ridge=ridge,
            always_include=matrix.forced,
            **rules_of(matrix.structure),
            sample_weight=None if data.weights is None else data.weights[rows],
            groups=groups,
            random_state=settings.seed,
            n_jobs=-1,
        )


@dataclass(frozen=True)
class Sureness:
    """What several ways of choosing say of the variables.

    Attributes
    ----------
    model : FrontierModel
        The model chosen.
    least, one_se : FrontierModel or None
        The models that the criteria "cv" and "1se" choose: of least cross-validated error, and of
        fewest variables within a standard error of it.
    halves : Stability or None
        What is chosen on halves of the rows.
    posterior : SpikeSlabClassifier, SpikeSlabRegressor or None
        If asked for.
    variables : Variables
        All variables; nothing is asked about those that had to be in.
    """

    model: FrontierModel
    least: FrontierModel | None
    one_se: FrontierModel | None
    halves: Stability | None
    posterior: SpikeSlabClassifier | SpikeSlabRegressor | None
    variables: Variables

    @property
    def size(self) -> int | None:
        """The size of the models on halves: that of the model chosen, but for the empty one."""
        if self.halves is None:
            return None
        sizes = self.halves.sizes
        return int(min(max(self.model.size, sizes[0] + 1), sizes[-1]))

    @property
    def frequencies(self) -> NDArray[np.float64]:
        """How often each feature is chosen on halves; NaN if that was not looked at."""
        if self.halves is None or self.size is None:
            return np.full(len(self.variables), np.nan)
        return np.asarray(self.halves.frequencies[self.size - self.halves.sizes[0]])

    @property
    def signs(self) -> NDArray[np.float64]:
        """The mean sign of each feature where it is chosen on halves."""
        if self.halves is None or self.size is None:
            return np.full(len(self.variables), np.nan)
        return np.asarray(self.halves.signs[self.size - self.halves.sizes[0]])

    @property
    def _inclusion(self) -> NDArray[np.float64]:
        if self.posterior is None:
            return np.full(len(self.variables), np.nan)
        by_feature = self.posterior.inclusion_probabilities_
        return np.array([by_feature[columns[0]] for columns in self.variables.columns])

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for every feature that some way of choosing takes, those chosen first."""
        frequency, signs, inclusion = self.frequencies, self.signs, self._inclusion
        variables = self.variables
        members = variables.of(self.model)
        taken = {*members.tolist()}
        others = {"one_se": self.one_se, "least_error": self.least}
        inside = {
            name: None if other is None else {*variables.of(other).tolist()}
            for name, other in others.items()
        }
        taken = taken.union(*[found for found in inside.values() if found is not None])
        if (
            self.model.size > variables.forced.size
        ):  # else one has to be chosen on halves, by chance
            taken |= {*np.flatnonzero(frequency >= _OFTEN).tolist()}
        taken |= {*np.flatnonzero(inclusion > _OFTEN).tolist()}
        order = members[np.argsort(-variables.costs(self.model), kind="stable")].tolist()
        rest = sorted(
            taken - {*order},
            key=lambda j: (-np.nan_to_num(frequency[j]), -np.nan_to_num(inclusion[j]), j),
        )
        chosen, forced = {*order}, {*variables.forced.tolist()}
        return [
            {
                "name": variables.names[j],
                "chosen": j in chosen,
                "forced": j in forced,
                **{name: None if found is None else j in found for name, found in inside.items()},
                "frequency": frequency[j],
                "sign": np.sign(signs[j]) if frequency[j] > 0 else math.nan,
                "same_sign": (1 + abs(signs[j])) / 2,
                "inclusion": inclusion[j],
            }
            for j in [*order, *rest]
        ]

    def sign_warnings(self) -> list[str]:
        """Say of which variables the sign hangs on which others are in."""
        return [
            f"The sign of {self._name(j)} hangs on which other variables are in: "
            f"{self.variables.value(j, self.model.coef):+.3g} here, {', '.join(found)}."
            for j in self.variables.of(self.model).tolist()
            if (found := self._other_signs(j))
        ]

    def _other_signs(self, j: int) -> list[str]:
        """Say where the sign of a variable of the model is another."""
        value = self.variables.value
        here, found = value(j, self.model.coef), []
        if math.isnan(here):  # several features have no sign
            return []
        if self.least is not None and np.sign(here) * value(j, self.least.coef) < 0:
            elsewhere = value(j, self.least.coef)
            found.append(f"{elsewhere:+.3g} in the model of least cross-validated error")
        frequency, sign = self.frequencies[j], self.signs[j]
        same = (1 + sign * np.sign(here)) / 2
        if frequency >= _SOME and same < _MIXED:
            found.append(
                f"the other one on {1 - same:.0%} of the halves of the rows that choose it"
            )
        if self.posterior is not None:
            average = value(j, np.ravel(self.posterior.coef_))
            if np.sign(here) * average < 0:
                found.append(f"{average:+.3g} on average in the posterior")
        return found

    def words(self) -> list[str]:
        """Say where other ways of choosing disagree about what is in."""
        free = np.setdiff1d(np.arange(len(self.variables)), self.variables.forced)
        members = self.variables.of(self.model)
        chosen, others = np.intersect1d(members, free), np.setdiff1d(free, members)
        rivals = others if chosen.size else chosen  # on halves, one has to be chosen by chance
        frequency, inclusion = self.frequencies, self._inclusion
        with np.errstate(invalid="ignore"):
            shaky = [f"{self._name(j)} ({frequency[j]:.2f})" for j in chosen if frequency[j] < 0.5]
            often = [f"{self._name(j)} ({frequency[j]:.2f})" for j in rivals if frequency[j] > 0.5]
            less = [f"{self._name(j)} ({inclusion[j]:.2f})" for j in chosen if inclusion[j] < 0.5]
            more = [f"{self._name(j)} ({inclusion[j]:.2f})" for j in others if inclusion[j] > 0.5]
        said = {
            "Chosen here, but on fewer than half of the halves of the rows": shaky,
            "Left out here, but chosen on most halves of the rows": often,
            "Chosen here, but less probable than not by the posterior": less,
            "Left out here, but probable by the posterior": more,
        }
        return [f"{what}: {_some(which)}." for what, which in said.items() if which]

    def _name(self, j: int) -> str:
        return repr(self.variables.names[j])


def _some(parts: list[str], most: int = 8) -> str:
    more = f" and {len(parts) - most} more" if len(parts) > most else ""
    return ", ".join(parts[:most]) + more
