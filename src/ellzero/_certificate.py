"""What is known about a model that was found."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ellzero.proof._record import Record

__all__ = ["Certificate"]


@dataclass(frozen=True)
class Certificate:
    """What is known about a model that was found; as a text, a sentence about it.

    Attributes
    ----------
    kind : {"swaps", "flips", "stopped", "proof", "gap"}
        How far the search went. "proof": to the end, nothing better exists. "gap": as far as its
        time, or the columns, allowed; see ``bound``. Without a proof asked for, "swaps": no
        insertion, removal or swap of a variable improves the model at its price or, where it has
        none, no swap does at its size. "flips": no insertion or removal does; swaps were not
        tried. "stopped": ``max_size`` kept the search from a larger model that is better.
    statement : str
        The same in words.
    choice : str
        How the price or the size was chosen, in words; empty if it was given.
    proved : bool
        Whether nothing is better by more than ``tolerance``. False for every search.
    objective : float or None
        The value that was optimised. Of :class:`ellzero.L0Regressor` and
        :class:`ellzero.L0RegressorCV`: ``objective_``, which is minimised. Of
        :func:`ellzero.marginal_map`: ``log_posterior``, which is maximised.
    bound : float or None
        The value that no model can be better than; None if no such value is known.
    tolerance : float or None
        What a proof leaves open, in the units of the objective: the gap that was allowed, and at
        least what rounding can do. None if no proof was asked for, as all that follows.
    nodes : int
        Parts that the supports were divided into for the proof.
    seconds : float or None
        What it took; certificates that differ in nothing else are equal.
    always_in, always_out : tuple of int
        Columns that are in, or in none, of all supports whose objective is at most ``objective +
        tolerance``. Known without a whole proof as well.
    sizes_certified : tuple of int
        The sizes whose best support is proved.

    Examples
    --------
    >>> from ellzero import L0Regressor
    >>> from ellzero.datasets import load_diabetes_interactions
    >>> diabetes = load_diabetes_interactions()
    >>> model = L0Regressor(lam=5_000).fit(diabetes.data, diabetes.target)
    >>> print(model.certificate_)
    no insertion, removal or swap improves it
    >>> model.certificate_.kind, model.certificate_.proved, model.certificate_.gap
    ('swaps', False, None)
    """

    kind: str
    statement: str
    choice: str = ""
    proved: bool = False
    objective: float | None = None
    bound: float | None = None
    tolerance: float | None = None
    nodes: int = 0
    seconds: float | None = field(default=None, compare=False)
    always_in: tuple[int, ...] = ()
    always_out: tuple[int, ...] = ()
    sizes_certified: tuple[int, ...] = ()
    record: Record | None = field(default=None, compare=False, repr=False)

    def _repr_html_(self) -> str:
        from ellzero._notebook import show_certificate

        return show_certificate(self)

    @property
    def gap(self) -> float | None:
        """How far the objective is from the bound, as a share of it; None if one is not known."""
        if self.objective is None or self.bound is None:
            return None
        distance = abs(self.objective - self.bound)
        return distance / abs(self.objective) if distance else 0.0

    def __str__(self) -> str:
        return f"{self.choice}; {self.statement}" if self.choice else self.statement

    def as_sentences(self) -> str:
        """Return whole sentences, which also say whether it is proved.

        Returns
        -------
        str
            For people who have not called an estimator.

        Examples
        --------
        >>> from ellzero import Certificate
        >>> Certificate("stopped", "stopped at max_size=3").as_sentences()
        'Stopped at max_size=3. It is a search, not a proof.'
        """
        text = str(self)
        text = f"{text[:1].upper()}{text[1:]}."
        if self.kind == "gap":
            return f"{text} So it is not proved."
        return text if self.proved else f"{text} It is a search, not a proof."

    def save(self, path: str | Path) -> None:
        """Save the proof, or what there is of one, so that others can check it.

        Parameters
        ----------
        path : str or pathlib.Path
            The file: JSON that ``ellzero verify`` reads.

        Examples
        --------
        >>> from ellzero import Certificate
        >>> Certificate("flips", "no insertion or removal improves it").save("certificate.json")
        Traceback (most recent call last):
            ...
        ValueError: Only a proof can be saved: ask for one with solver="exact" or Frontier.certify.
        """
        if self.record is None:
            raise ValueError(
                'Only a proof can be saved: ask for one with solver="exact" or Frontier.certify.'
            )
        if self.record.empty:
            raise ValueError(
                "There is no proof to be saved: y does not vary, or no bound is known."
            )
        if not self.record.complete:
            raise ValueError(
                "The tree of the proof was too large to be kept, so it can't be saved."
            )
        from ellzero.tables import write_aside

        write_aside(Path(path), self.record.text())

    @classmethod
    def of_search(
        cls,
        *,
        swaps: bool = True,
        effect: str = "improves it",
        price: str = "",
        left_aside: float | None = None,
    ) -> Certificate:
        """Certify the end of a search: none of the moves that it tries has the effect.

        ``price`` is what the price is called, where the sentence has to name it. ``left_aside`` is
        how nearly columns depend on the support that were not tried; None if there are none.
        """
        moves = "insertion, removal or swap" if swaps else "insertion or removal of one variable"
        where = f" at {price}" if price else ""
        aside = cls._aside(left_aside)
        return cls("swaps" if swaps else "flips", f"no {moves} {effect}{where}{aside}")

    @classmethod
    def of_size_search(
        cls, *, off_hull: bool = False, left_aside: float | None = None
    ) -> Certificate:
        """Certify the best model of its size that was found.

        ``off_hull`` says as well that it is the solution at no price.
        """
        priced = "; at every price a model of another size is better" if off_hull else ""
        return cls("swaps", f"no swap improves it{cls._aside(left_aside)}{priced}")

    @staticmethod
    def _aside(limit: float | None) -> str:
        if limit is None:
            return ""
        return f" (columns that depend on it to within {limit:g} left aside)"

    @classmethod
    def of_held_back_search(
        cls, max_size: int, column: str, n_more: int, gain: float
    ) -> Certificate:
        """Certify a search that ``max_size`` kept from a better objective.

        A model of ``n_more`` more variables, ``column`` among them, is better by ``gain``.
        """
        more = (
            f"inserting {column!r}"
            if n_more == 1
            else f"{n_more} more variables, {column!r} among them,"
        )
        return cls._stopped(max_size, f": {more} would lower the objective by {gain:.6g}")

    @classmethod
    def of_held_back_criterion(cls, max_size: int, criterion: str, *, largest: bool) -> Certificate:
        """Certify a model that ``max_size`` kept from one of a lower criterion.

        ``largest`` tells whether the model itself has ``max_size`` variables.
        """
        why = (
            f", where {criterion} was still least"
            if largest
            else f": larger models have a lower {criterion}"
        )
        return cls._stopped(max_size, why)

    @classmethod
    def _stopped(cls, max_size: int, why: str) -> Certificate:
        return cls("stopped", f"stopped at max_size={max_size}{why}")

    def with_least_criterion(self, criterion: str, among: str) -> Certificate:
        """Return the same for a price at which a criterion is least among some models."""
        return replace(self, choice=f"{criterion} is least among {among}")

    def with_least_error(self, rule: str, max_size: int, price: str) -> Certificate:
        """Return the same for a price that cross-validation has chosen by a rule."""
        error = (
            f"the error is least at {price}"
            if rule == "min"
            else f"the error at {price} is within one standard error of the least"
        )
        return replace(self, choice=f"{error} among sizes up to {max_size}")

    def with_size(self, size: int) -> Certificate:
        """Return the same for a model whose size was asked for."""
        return replace(self, choice=f"it is the best model of {size} variables that was found")

    def with_bound(self, bound: float | None) -> Certificate:
        """Return the same with another value that nothing is better than."""
        return replace(self, bound=bound)

    def with_limit(self, max_size: int) -> Certificate:
        """Return the same among models of up to ``max_size`` variables, of which larger pay."""
        return replace(self, statement=f"{self.statement}, among up to max_size={max_size}")

    def with_objective(self, objective: float) -> Certificate:
        """Return the same with the value that was optimised."""
        if self.tolerance is not None:
            bound = None if self.bound is None else min(self.bound, objective)
            return replace(self, objective=objective, bound=bound)
        # Every fit passes here: dataclasses.replace would take three times as long.
        return Certificate(
            self.kind, self.statement, self.choice, self.proved, objective, self.bound
        )
