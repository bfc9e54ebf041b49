"""Cross-validation over groups of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from ellzero.regression._cross_validation import Choice
from ellzero.regression._group_cv import GroupCrossValidation
from ellzero.regression._group_folds import GroupFolds
from ellzero.selection._rules import FoldsInTurn

__all__ = ["UnitCrossValidation"]


class UnitCrossValidation(NamedTuple):
    """How folds are searched, and what a price is chosen from."""

    how: GroupCrossValidation

    @property
    def ridges(self) -> list[float]:
        """What the ridge is chosen from."""
        return self.how.ridges

    def choose(self, folds: Any) -> Choice:
        """Compute the curve of every ridge, and choose by each rule."""
        one = hasattr(folds, "batches")
        repeats = cast(Sequence[FoldsInTurn], [folds] if one else folds)
        made = GroupFolds(repeats, rescales=self.how.rescales)
        return self.how.choose(made, repeats[0].error_scale)
