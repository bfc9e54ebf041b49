"""Warnings that carry what they are about, so that others can say it in their own words."""

from __future__ import annotations

from collections.abc import Sequence

from sklearn.exceptions import ConvergenceWarning

__all__ = ["DependentColumnWarning", "MixingWarning", "PiecesWarning", "SeparationWarning"]


class DependentColumnWarning(UserWarning):
    """A column that is to be in every model can't enter any.

    Parameters
    ----------
    argument : str
        What named the column.
    column : str
        Its name.
    """

    def __init__(self, argument: str, column: str) -> None:
        super().__init__(argument, column)
        self.argument, self.column = argument, column

    @property
    def reason(self) -> str:
        """What is the matter, whatever the argument is called."""
        return (
            f"column {self.column!r} is constant or depends linearly on the columns before it, so "
            "its coefficient is zero."
        )

    def __str__(self) -> str:
        return f"{self.argument}: {self.reason}"


class MixingWarning(ConvergenceWarning):  # type: ignore[misc]
    """The chains of a sampler have not come to the same distribution, or know it too roughly.

    Parameters
    ----------
    estimator : str
        Whose chains they are.
    problem : str
        What they disagree on, or what is too rough, in words.
    """

    def __init__(self, estimator: str, problem: str) -> None:
        super().__init__(estimator, problem)
        self.estimator, self.problem = estimator, problem

    def __str__(self) -> str:
        return f"{self.estimator} has not mixed: {self.problem}; more n_draws, or extend, may help."


class SeparationWarning(ConvergenceWarning):  # type: ignore[misc]
    """Some columns tell classes apart without error, and nothing keeps coefficients finite.

    Parameters
    ----------
    columns : list of str
        Their names.
    """

    def __init__(self, columns: list[str]) -> None:
        super().__init__(columns)
        self.columns = columns

    def __str__(self) -> str:
        shown = ", ".join(map(repr, self.columns[:5]))
        more = f" and {len(self.columns) - 5} more" if len(self.columns) > 5 else ""
        return (
            f"columns {shown}{more} separate the classes, at least of some rows: without a ridge "
            "their coefficients are where the search has left off, on the way to infinity."
        )


class PiecesWarning(UserWarning):
    """A series that was cut into pieces does not look like pieces.

    Parameters
    ----------
    cautions : sequence of str
        What speaks against it, in sentences.
    name : str
        Which series it is, if there are several.
    others : int
        How many more there are like that.
    """

    def __init__(self, cautions: Sequence[str], name: str = "", others: int = 0) -> None:
        super().__init__(cautions, name, others)
        self.cautions, self.name, self.others = tuple(cautions), name, others

    def __str__(self) -> str:
        text = f"{self.name + ': ' if self.name else ''}{' '.join(self.cautions)}"
        return f"{text} (And {self.others} more series.)" if self.others else text
