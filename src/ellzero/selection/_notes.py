"""What estimators warn of, in words for people who have not called them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from ellzero._messages import Argument, Message
from ellzero._warnings import DependentColumnWarning, MixingWarning

__all__ = ["warnings_as_notes"]


@contextmanager
def warnings_as_notes() -> Iterator[list[str]]:
    """Collect warnings; the list is filled at the end of the block, each note once."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notes
    notes += dict.fromkeys(_note(warning.message) for warning in caught)


def _note(warning: Warning | str) -> str:
    if isinstance(warning, DependentColumnWarning):
        argument = "flat" if warning.argument == "flat" else "force"
        return Message(Argument(argument), f": {warning.reason}")
    if isinstance(warning, MixingWarning):
        return f"The posterior has not mixed: {warning.problem}; more draws may help."
    return str(warning)
