"""What a rule chooses from, on some rows: the best models of every size, and of every price."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ellzero._certificate import Certificate
from ellzero.regression import Frontier, FrontierModel
from ellzero.regression._cross_validation import Choice

__all__ = ["PRICE", "Chosen", "Fit", "Outcome", "Procedure", "Search"]

PRICE = "this price"
# Columns, their coefficients for unit norm, and the intercept for centred columns
Fit = tuple[NDArray[np.int64], NDArray[np.float64], float]


class Chosen(NamedTuple):
    """What a rule has chosen on some rows."""

    search: Search
    model: Any  # as the search knows it
    lam: float | None = None  # if the rule goes by the price
    ridge: float = 0.0
    rescaling: float = 1.0  # of coefficients
    by_folds: Choice | None = None  # what it was chosen from, if by cross-validation

    @property
    def size(self) -> int:
        """How many variables the model has."""
        return self.search.size_of(self.model)


class Outcome(NamedTuple):
    """A model, what it was chosen from, and what is known of it."""

    frontier: Frontier
    model: FrontierModel
    lam: float | None
    certificate: Certificate
    notes: list[str]


class Search(Protocol):
    """A search on some rows: over columns, or over groups of them."""

    @property
    def largest(self) -> int:
        """The size up to which a criterion is trusted."""

    def of_size(self, size: int) -> Any:
        """Return the best model of a size, or of the largest that there is below it."""

    def at_price(self, lam: float) -> Any:
        """Return the solution at a price."""

    def of_least(self, criterion: str) -> Any:
        """Return the model of least criterion."""

    def size_of(self, model: Any) -> int:
        """Return how many variables a model has."""

    def fit(self, model: Any, rescaling: float) -> Fit:
        """Return the coefficients of a model."""

    def fits(self, rescaling: float) -> Sequence[Fit]:
        """Return those of the best model of each size, from the smallest on."""

    def model_at_price(self, found: Chosen) -> FrontierModel:
        """Return what `outcome_at_price` does, the model alone."""

    def outcome_of_size(self, found: Chosen, size: int) -> Outcome:
        """Return a model that was chosen by its size."""

    def outcome_at_price(self, found: Chosen, rule: str) -> Outcome:
        """Return a model that was chosen by its price, or by a rule of cross-validation."""

    def outcome_by_criterion(self, found: Chosen, criterion: str) -> Outcome:
        """Return a model that was chosen by a criterion."""


class Procedure(Protocol):
    """A cross-validation."""

    @property
    def ridges(self) -> list[float]:
        """What the ridge is chosen from."""

    def choose(self, folds: Any) -> Choice:
        """Compute the curve of every ridge, and choose by each rule."""
