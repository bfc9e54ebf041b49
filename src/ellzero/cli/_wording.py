"""The library's messages, in terms of options."""

from __future__ import annotations

from ellzero._messages import Argument, Message

__all__ = ["in_options"]


def in_options(text: str) -> str:
    """Return a text of the library with the arguments that it names as options."""
    return text.spelt(_option) if isinstance(text, Message) else text


def _option(argument: Argument) -> str:
    option = f"--{argument.name.replace('_', '-')}"
    value = argument.value
    if value is None or value is True:
        return option
    return f"{option} {value:g}" if isinstance(value, float) else f"{option} {value}"
