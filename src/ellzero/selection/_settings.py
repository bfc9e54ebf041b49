"""What the user asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ellzero.regression._cross_validation import CV_RIDGES

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """What is asked of a table.

    Attributes
    ----------
    target : str
        The column to predict.
    family : {"auto", "gaussian", "binomial", "poisson"}
        What the target is taken for: numbers, one of two values, or counts. "auto" is "binomial"
        for a target of two values, and else "gaussian".
    criterion : {"ebic", "bic", "ric", "cv", "1se"}
        How a model is chosen, unless ``size`` or ``lam`` is given.
    size : int or None
        The number of variables.
    lam : float or None
        The price of a variable.
    max_size : int or None
        The most variables that a model may have, unless ``size`` is given; None goes on until the
        cross-validated error has long been rising, or as far as a criterion can be trusted.
    force : tuple of str
        Columns or features that are in every model.
    flat : tuple of str
        Those that are so under a flat prior, for a posterior.
    interactions : bool
        Whether squares and products are added.
    levels : bool
        Whether the levels of a category enter one by one; else a category enters whole.
    heredity : {"strong", "weak"} or None
        Whether a product needs all the columns that it is made of, one of them, or none.
    weights : str or None
        A column of weights.
    frequency : bool
        Whether weights are counts; else they are rescaled to sum to the number of rows.
    ridge : float or None
        Ridge penalty, for columns of unit norm; None means 0, but for a choice by cross-validation,
        which then chooses it too, and for likelihoods, which have one that is hardly felt.
    folds : int or None
        Number of folds of the cross-validation; None means 10, or fewer for few rows.
    repeats : int or None
        How often folds at random are made; None means up to 10, fewer for large tables: those of
        more than 2 million numbers for a choice by cross-validation, and of more than 100,000 to
        judge other choices.
    groups, time : str or None
        A column whose values stay together in folds, or whose order folds respect.
    categorical, keep : tuple of str
        Columns to encode as categories; columns to use although they look like identifiers.
    rare : int or None
        Levels of categories of fewer rows than this are pooled; None means 5, or 1% of the rows if
        that is more.
    dates : {"leave", "parts"}
        Whether the year, month and weekday of dates are used.
    missing : {"error", "drop", "mean", "indicator"}
        What to do about missing values.
    test_share : float
        Share of rows that are held out from everything.
    prove : float or None
        For how many seconds to try to prove that no model is better.
    posterior : bool
        Whether to compute the posterior too.
    stability : bool
        Whether to choose on halves of the rows too, where that takes seconds.
    seed : int
        Seed of folds, held-out rows and draws.
    """

    target: str
    family: str = "auto"
    criterion: str = "ebic"
    size: int | None = None
    lam: float | None = None
    max_size: int | None = None
    force: tuple[str, ...] = ()
    flat: tuple[str, ...] = ()
    interactions: bool = False
    levels: bool = False
    heredity: str | None = None
    weights: str | None = None
    frequency: bool = False
    ridge: float | None = None
    folds: int | None = None
    repeats: int | None = None
    groups: str | None = None
    time: str | None = None
    categorical: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    rare: int | None = None
    dates: str = "leave"
    missing: str = "error"
    test_share: float = 0.0
    prove: float | None = None
    posterior: bool = False
    stability: bool = True
    seed: int = 0

    @property
    def roles(self) -> dict[str, str]:
        """The role of each column that is not a predictor."""
        named = {
            self.target: "target",
            self.weights: "weights",
            self.groups: "groups",
            self.time: "time",
        }
        return {name: role for name, role in named.items() if name is not None}

    @property
    def shrinks(self) -> bool:
        """Whether it is chosen by cross-validation how much to shrink."""
        return self.cross_validated and self.ridge is None

    @property
    def ridges(self) -> list[float]:
        """What the ridge is chosen from, or the one given."""
        return list(CV_RIDGES) if self.shrinks else [self.ridge or 0.0]

    @property
    def cross_validated(self) -> bool:
        """Whether the price is chosen by cross-validation."""
        return self.size is None and self.lam is None and self.criterion in ("cv", "1se")

    def by_cross_validation(self) -> Settings:
        """Return the same for a choice by cross-validation."""
        return replace(self, criterion="cv", size=None, lam=None)
