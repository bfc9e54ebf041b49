"""The search over single columns, on some rows."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ellzero._certificate import Certificate
from ellzero._messages import Argument, Message
from ellzero.regression import Frontier, FrontierModel
from ellzero.regression._criteria import trusted_size
from ellzero.regression._growth import MARGIN, GrowingFrontier, Solutions
from ellzero.regression._hull import middle
from ellzero.regression._problem import DEFAULT_MAX_SIZE, Problem
from ellzero.selection._search import PRICE, Chosen, Fit, Outcome
from ellzero.tables import DataError

__all__ = ["ColumnSearch"]


class ColumnSearch:
    """The best known set of columns of every size; a model is its size.

    Parameters
    ----------
    problem : Problem
        The rows.
    max_size : int, default=None
        The most columns that a model may have.

    Attributes
    ----------
    growing : GrowingFrontier
        The table of the best.
    """

    def __init__(self, problem: Problem, max_size: int | None = None) -> None:
        self.growing = GrowingFrontier(problem, swaps=True)
        p = problem.design.columns
        self._most = p if max_size is None else min(p, max_size)
        self._solved: tuple[int, Solutions] | None = None

    @cached_property
    def largest(self) -> int:
        """The size up to which a criterion is trusted."""
        problem = self.growing.problem
        trusted = min(DEFAULT_MAX_SIZE, trusted_size(problem.weight, problem.design.columns))
        return min(self._most, problem.forced.size + trusted)

    def of_size(self, size: int) -> int:
        """Return the best model of a size, or of the largest that there is below it."""
        self.growing.grow(min(self._most, size + MARGIN))
        return min(size, self.growing.last)

    def at_price(self, lam: float) -> int:
        """Return the solution at a price."""
        self.growing.cover(lam, self._most)
        return self.growing.hull.size_at(lam)

    def of_least(self, criterion: str) -> int:
        """Return the model of least criterion."""
        self.growing.grow(self.largest)
        problem, solutions = self.growing.problem, self.growing.solutions()
        sizes = np.diff(solutions.begins)
        if problem.weight < 1:  # too little to tell anything
            return int(sizes[0])
        values = problem.criterion(criterion, solutions.rss, sizes, int(sizes[0]))
        return int(sizes[np.argmin(values)])

    def size_of(self, model: int) -> int:
        """Return how many variables a model has."""
        return model

    def fit(self, model: int, rescaling: float) -> Fit:
        """Return the coefficients of a model."""
        return self._solutions(rescaling).model(model - self.growing.first)

    def fits(self, rescaling: float) -> list[Fit]:
        """Return those of the best model of each size, from the smallest on."""
        solutions = self._solutions(rescaling)
        return [solutions.model(place) for place in range(len(solutions.rss))]

    def _solutions(self, rescaling: float) -> Solutions:
        if self._solved is None or self._solved[0] != self.growing.last:
            self._solved = self.growing.last, self.growing.solutions()
        return self._solved[1].rescaled(rescaling, self.growing.problem.total)

    def model_at_price(self, found: Chosen) -> FrontierModel:
        """Return what `outcome_at_price` does, the model alone."""
        return self._settle(found)[1]

    def _settle(self, found: Chosen) -> tuple[Frontier, FrontierModel]:
        """Look some sizes beyond a model that was chosen by its price."""
        frontier = Frontier(self.growing, found.rescaling)
        frontier.grow(min(self._most, max(found.size + MARGIN, int(frontier.sizes[-1]))))
        held_back = found.size == self._most  # larger ones, which could be better, don't count
        model = frontier.at(size=found.size) if held_back else frontier.at(lam=found.lam)
        return frontier, model

    def outcome_of_size(self, found: Chosen, size: int) -> Outcome:
        """Return a model that was chosen by its size."""
        frontier = Frontier(self.growing, found.rescaling)
        if size > frontier.sizes[-1]:
            raise DataError(
                Argument("size", size),
                f", but only {frontier.sizes[-1]} features are linearly independent.",
            )
        model = frontier.at(size=size)
        lam = None if model.interval is None else middle(*model.interval)
        certificate = Certificate.of_size_search().with_size(size).with_objective(model.energy)
        return Outcome(frontier, model, lam, certificate, [])

    def outcome_at_price(self, found: Chosen, rule: str) -> Outcome:
        """Return a model that was chosen by its price, or by a rule of cross-validation."""
        assert found.lam is not None
        frontier, model = self._settle(found)
        certificate = Certificate.of_search(price=PRICE)
        if found.by_folds is not None:
            largest = found.by_folds.max_size
            certificate = Certificate.of_search().with_least_error(rule, largest, PRICE)
        certificate = certificate.with_objective(_objective(frontier, model, found.lam))
        return Outcome(frontier, model, found.lam, certificate, [])

    def outcome_by_criterion(self, found: Chosen, criterion: str) -> Outcome:
        """Return a model that was chosen by a criterion."""
        frontier, best = Frontier(self.growing, found.rescaling), found.size
        name = criterion.upper()
        notes: list[str] = []
        if np.isinf(frontier.criterion(criterion)).any() and criterion != "ebic":
            notes.append(
                Message(
                    f"Some models fit the target exactly, which {name} can't judge: give ",
                    Argument("lam"),
                    " or ",
                    Argument("size"),
                    ".",
                )
            )
        if best == self.largest < self._most:
            notes.append(say_held_back(name, best))
        model = frontier.at(size=best)
        lam = None if model.interval is None else middle(*model.interval)
        certificate = (
            Certificate.of_size_search(off_hull=True)
            if lam is None
            else Certificate.of_search(price=PRICE)
        )
        certificate = certificate.with_least_criterion(
            name, f"the best models known of {frontier.sizes[0]} to {frontier.sizes[-1]} variables"
        ).with_objective(model.energy if lam is None else _objective(frontier, model, lam))
        return Outcome(frontier, model, lam, certificate, notes)


def say_held_back(name: str, best: int) -> str:
    """Say that a criterion chose the largest model that it was asked about."""
    return (
        f"{name} is least at {best} variables, the most that it can be trusted to choose from "
        "with so many rows: a larger model was not looked at."
    )


def _objective(frontier: Frontier, model: FrontierModel, lam: float) -> float:
    """Return what a model minimises at a price, which forced features don't pay."""
    n_priced = model.size - int(frontier.sizes[0])
    return model.energy + lam * n_priced if n_priced else model.energy
