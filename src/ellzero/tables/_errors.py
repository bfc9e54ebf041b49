"""What is wrong with data, in words for the person who brought them."""

from __future__ import annotations

from collections.abc import Iterable

from ellzero._messages import Argument, Message

__all__ = ["DataError", "listed", "shortened"]


class DataError(ValueError):
    """Data that can't be used. The message is for users: one sentence, no traceback needed.

    Parameters
    ----------
    *parts : str, Message or Argument
        The message, piece by piece.
    """

    def __init__(self, *parts: str | Argument) -> None:
        super().__init__(Message(*parts))

    @property
    def message(self) -> Message:
        """The message, which knows the arguments that it names."""
        return Message(*self.args)


def listed(names: Iterable[str], most: int = 5) -> str:
    """Write names as a list, quoted, and how many more there are."""
    names = list(names)
    text = ", ".join(repr(name) for name in names[:most])
    return text if len(names) <= most else f"{text} and {len(names) - most} more"


def shortened(value: str, most: int = 30) -> str:
    """Cut a long value, so that what is said after it is still read."""
    return value if len(value) <= most else value[: most - 3] + "..."
