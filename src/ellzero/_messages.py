"""Texts for users that name arguments, however these are spelt where the user gave them.

A function of the library has an argument ``missing="drop"`` where the command line has an option
``--missing drop``. A message knows which of its words are arguments, so that whoever shows it can
spell them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Argument", "Message"]


@dataclass(frozen=True)
class Argument:
    """An argument that a message names.

    Attributes
    ----------
    name : str
        As a function of the library calls it.
    value : str, bool, int, float or None
        A value that it has or might be given; None to name it alone.
    """

    name: str
    value: str | bool | float | None = None

    def __str__(self) -> str:
        if self.value is None:
            return self.name
        value = f"{self.value:g}" if isinstance(self.value, float) else repr(self.value)
        return f"{self.name}={value}"


class Message(str):
    """A text that may name arguments. As a text it spells them as the library does.

    Parameters
    ----------
    *parts : str, Message or Argument
        The text, piece by piece.

    Examples
    --------
    >>> from ellzero._messages import Argument, Message
    >>> message = Message("Leave rows out with ", Argument("missing", "drop"), ".")
    >>> print(message)
    Leave rows out with missing='drop'.
    >>> print(message.spelt(lambda argument: f"--{argument.name} {argument.value}"))
    Leave rows out with --missing drop.
    """

    parts: tuple[str | Argument, ...]

    def __new__(cls, *parts: str | Argument) -> Message:
        """Join the parts."""
        flat: list[str | Argument] = []
        for part in parts:
            flat += part.parts if isinstance(part, Message) else [part]
        message = super().__new__(cls, "".join(map(str, flat)))
        message.parts = tuple(flat)
        return message

    def spelt(self, spell: Callable[[Argument], str]) -> str:
        """Return the text with its arguments spelt in another way."""
        return "".join(spell(part) if isinstance(part, Argument) else part for part in self.parts)
