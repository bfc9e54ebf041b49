"""The search over groups of columns under rules, on some rows."""

from __future__ import annotations

from typing import Any

from ellzero._certificate import Certificate
from ellzero._messages import Argument
from ellzero.regression import FrontierModel
from ellzero.regression._group_criterion import least_criterion
from ellzero.regression._group_frontier import GroupFrontier, UserTerms
from ellzero.regression._group_search import GroupSearch, UnitModel
from ellzero.regression._growth import MARGIN
from ellzero.regression._hull import middle
from ellzero.regression._price_hull import Sketch
from ellzero.regression._structured import MOVES
from ellzero.selection._column_search import say_held_back
from ellzero.selection._search import PRICE, Chosen, Fit, Outcome
from ellzero.tables import DataError

__all__ = ["UnitSearch"]


class UnitSearch:
    """The best known set of groups of every size.

    Parameters
    ----------
    search : GroupSearch
        The table of the best.
    names : ndarray of str, or None
        The names of the columns; None in a fold, where no model is described.
    max_size : int, default=None
        The most groups that a model may have.
    """

    def __init__(self, search: GroupSearch, names: Any = None, max_size: int | None = None) -> None:
        self._search, self._names = search, names
        self._most = search.largest if max_size is None else min(search.largest, max_size)

    @property
    def largest(self) -> int:
        """The size up to which a criterion is trusted."""
        return min(self._most, self._search.default_size(criterion=True))

    def of_size(self, size: int) -> UnitModel:
        """Return the best model of a size, or of the largest that there is below it."""
        self._search.grow(size + MARGIN)
        models = self._search.models()
        return [model for model in models if model.size <= size or model is models[0]][-1]

    def at_price(self, lam: float) -> UnitModel:
        """Return the solution at a price."""
        self._search.cover(lam, self._most)
        hull = self._search.outline()
        return self._search.fit(hull.at(max(lam, hull.end)).units)

    def of_least(self, criterion: str) -> UnitModel:
        """Return the model of least criterion."""
        self._search.grow(self.largest)
        if self._search.design.weight < 1:  # too little to tell anything
            return self._search.models()[0]
        return least_criterion(self._search, criterion, alone=self._names is None)

    def size_of(self, model: UnitModel) -> int:
        """Return how many groups a model has."""
        return model.size

    def fit(self, model: UnitModel, rescaling: float) -> Fit:
        """Return the coefficients of a model."""
        scaled = model.rescaled(rescaling, self._search.total)
        return scaled.support, scaled.beta, scaled.intercept

    def fits(self, rescaling: float) -> list[Fit]:
        """Return those of the best model of up to each size, from the smallest on."""
        best: list[Sketch] = []
        for model in self._search.sketches():
            best += [best[-1]] * (model.size - best[0].size - len(best)) if best else []
            best.append(model)
        fits = [self._search.coefficients(model.units) for model in best]
        return [(support, rescaling * beta, intercept) for support, beta, intercept in fits]

    def model_at_price(self, found: Chosen) -> FrontierModel:
        """Return what `outcome_at_price` does, the model alone: no others are fitted."""
        assert found.lam is not None
        model = found.model
        if not self._is_held_back(found):
            self._look_beyond(found)
            model = self._search.fit(self._search.outline().at(found.lam).units)
        terms = UserTerms.of(self._search, self._names, found.rescaling)
        return terms.describe(model, None)

    def _is_held_back(self, found: Chosen) -> bool:
        """Whether larger models than one, which could be better, don't count."""
        return found.size == self._most

    def _look_beyond(self, found: Chosen) -> None:
        """Look at some sizes beyond a model that was chosen by its price."""
        self._search.grow(min(self._most, found.size + MARGIN))

    def outcome_of_size(self, found: Chosen, size: int) -> Outcome:
        """Return a model that was chosen by its size."""
        frontier = GroupFrontier(self._search, self._names, found.rescaling)
        if size not in frontier.sizes:
            known = ", ".join(str(one) for one in frontier.sizes[:20])
            raise DataError(
                Argument("size", size),
                f", but the sizes that have a model of their own are {known}.",
            )
        model = frontier.at(size=size)
        lam = None if model.interval is None else middle(*model.interval)
        certificate = Certificate("swaps", MOVES).with_size(size).with_objective(model.energy)
        return Outcome(frontier, model, lam, certificate, [])

    def outcome_at_price(self, found: Chosen, rule: str) -> Outcome:
        """Return a model that was chosen by its price, or by a rule of cross-validation."""
        assert found.lam is not None
        held_back = self._is_held_back(found)
        if not held_back:
            self._look_beyond(found)
        frontier = GroupFrontier(self._search, self._names, found.rescaling)
        model = frontier._describe(found.model) if held_back else frontier.at(lam=found.lam)
        certificate = Certificate("swaps", f"{MOVES} at {PRICE}")
        if found.by_folds is not None:
            largest = found.by_folds.max_size
            certificate = Certificate("swaps", MOVES).with_least_error(rule, largest, PRICE)
        objective = model.energy + found.lam * model.price
        return Outcome(frontier, model, found.lam, certificate.with_objective(objective), [])

    def outcome_by_criterion(self, found: Chosen, criterion: str) -> Outcome:
        """Return a model that was chosen by a criterion."""
        frontier = GroupFrontier(self._search, self._names, found.rescaling)
        name, model = criterion.upper(), frontier._describe(found.model)
        notes = []
        if model.size == self.largest < self._most:
            notes.append(say_held_back(name, model.size))
        lam = None if model.interval is None else middle(*model.interval)
        elsewhere = "; at every price another model is better" if lam is None else f" at {PRICE}"
        certificate = Certificate("swaps", f"{MOVES}{elsewhere}").with_least_criterion(
            name,
            f"the best models known of {frontier.sizes[0]} to {frontier.sizes[-1]} variables, and "
            "of as many columns",
        )
        objective = model.energy + (0.0 if lam is None else lam * model.price)
        return Outcome(frontier, model, lam, certificate.with_objective(objective), notes)
