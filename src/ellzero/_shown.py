"""Texts from a file, safe to be shown: on a terminal, and on a page."""

from __future__ import annotations

import unicodedata

__all__ = ["shown"]

# Harmless, though not printable: what joins letters in some scripts
_JOINERS = "\u200c\u200d"


def shown(text: str) -> str:
    r"""Return a text in which characters that can't be seen are written as Python escapes.

    Control characters can move the cursor; marks of direction reverse the text after them, so that
    it reads as another.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        The same, with escapes such as ``\x1b`` in place of characters that can't be seen.

    Examples
    --------
    >>> from ellzero._shown import shown
    >>> print(shown("a\x1b[31m\u202eb"))
    a\x1b[31m\u202eb
    """
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(char: str) -> str:
    if char.isprintable() or char in _JOINERS or unicodedata.category(char) == "Zs":
        return char
    return repr(char)[1:-1]
