"""What all reports have in common: templates, style, and a security policy that names them."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from ellzero._format import fixed, number, percent, plural, signed
from ellzero._shown import shown

__all__ = ["policy_hash", "render"]


def render(
    template: str, styles: tuple[str, ...], script: str | None = None, **content: Any
) -> str:
    """Return a page.

    Parameters
    ----------
    template : str
        File of the template.
    styles : tuple of str
        Files of its style sheets, one after the other.
    script : str or None
        File of its script.
    **content
        What the template shows; ``filters`` are functions of its own.

    Returns
    -------
    str
        HTML. Its security policy allows its own style sheet and script, by their hashes, and
        nothing else.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_read),
        autoescape=True,
        undefined=StrictUndefined,
        lstrip_blocks=True,
        finalize=_readable,
    )
    environment.filters.update(
        fixed=fixed, number=number, percent=percent, plural=plural, signed=signed
    )
    environment.filters.update(content.pop("filters", {}))
    style = "".join(_read(name) for name in styles)
    content.update(style=Markup(style), style_hash=policy_hash(style))
    if script is not None:
        code = _read(script)
        content.update(script=Markup(code), script_hash=policy_hash(code))
    return environment.get_template(template).render(**content)


def policy_hash(text: str) -> str:
    """Return the hash by which a page's security policy allows a style sheet or a script."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _read(name: str) -> str:
    return (files("ellzero.report") / name).read_text(encoding="utf-8")


def _readable(value: Any) -> Any:
    """Escape unprintable characters in texts; the page's own markup stays as it is."""
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value
