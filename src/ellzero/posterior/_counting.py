"""Numbers of things that users ask for."""

from __future__ import annotations

from numbers import Integral
from typing import Any

__all__ = ["check_count"]


def check_count(name: str, value: Any) -> None:
    """Refuse what is no positive integer."""
    if isinstance(value, bool) or not (isinstance(value, Integral) and int(value) >= 1):
        raise ValueError(f"{name} must be a positive integer; got {value!r}.")
