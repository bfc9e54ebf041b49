"""One HTML page of what is in the folder: figures, claims, and what was measured."""

from __future__ import annotations

import base64
import html
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
from markupsafe import Markup

from ellzero.report import number, policy_hash
from ellzero.tables import DataError, write_aside

__all__ = ["check_page", "write_page"]

_GENERATOR = "ellzero reproduce"
_VERDICTS = ("confirmed", "better", "not confirmed")


def check_page(folder: Path, wanted: Iterable[str]) -> None:
    """Raise if the path is no folder, or holds a page or, without one, data that are not ours."""
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder} is a file, not a folder.")
    page = folder / "index.html"
    if page.exists():
        start = page.read_bytes()[:4096].decode("utf-8", errors="replace")
        if f'name="generator" content="{_GENERATOR}"' not in start:
            raise DataError(f"{page} is not ours to overwrite: choose another folder.")
        return
    found = [folder / f"data/{name}{end}" for name in wanted for end in (".parquet", ".csv")]
    found += [folder / f"figures/{name}{end}" for name in wanted for end in (".png", ".svg")]
    for path in found:
        if path.exists():
            raise DataError(f"{path} is not ours to overwrite: choose another folder.")


def write_page(folder: Path, parts: Mapping[str, ModuleType]) -> Path:
    """Write the page of all parts whose data are in the folder, and return where."""
    from jinja2 import Environment, StrictUndefined

    style = "".join(
        (files(package) / "style.css").read_text(encoding="utf-8")
        for package in ("ellzero.report", "ellzero.paper")
    )
    environment = Environment(autoescape=True, undefined=StrictUndefined, lstrip_blocks=True)
    template = environment.from_string(
        (files("ellzero.paper") / "template.html").read_text(encoding="utf-8")
    )
    sections = [
        _section(name, module, folder)
        for name, module in parts.items()
        if (folder / "data" / f"{name}.parquet").exists()
        and (folder / "figures" / f"{name}.svg").exists()
    ]
    counts = Counter(
        claim.verdict for section in sections for claim in section["claims"] if not claim.beyond
    )
    page = folder / "index.html"
    write_aside(
        page,
        template.render(
            style=Markup(style),
            style_hash=policy_hash(style),
            generator=_GENERATOR,
            sections=sections,
            counts=[(verdict, counts[verdict]) for verdict in _VERDICTS],
        ),
    )
    return page


def _section(name: str, module: ModuleType, folder: Path) -> dict[str, Any]:
    path = folder / "data" / f"{name}.parquet"
    picture = (folder / "figures" / f"{name}.svg").read_bytes()
    try:
        data = pd.read_parquet(path)
        claims, table = module.claims(data), module.tabulate(data)
    except (KeyError, ValueError, IndexError):
        raise DataError(
            f"{path} was not made by this version of ellzero: remove it, or choose another folder."
        ) from None
    return {
        "name": name,
        "title": module.TITLE,
        "caption": module.CAPTION,
        "picture": base64.b64encode(picture).decode("ascii"),
        "claims": claims,
        "table": _table(table),
        "facts": data.attrs,
    }


def _table(table: pd.DataFrame) -> Markup:
    """Write a data frame as HTML, its numbers short."""
    flat = table.reset_index()
    numeric = [pd.api.types.is_numeric_dtype(flat[column]) for column in flat]
    head = "".join(
        f"<th{_right(right)}>{html.escape(str(column))}</th>"
        for column, right in zip(flat.columns, numeric, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{_right(right)}>{html.escape(number(value, 3) if right else str(value))}</td>"
            for value, right in zip(row, numeric, strict=True)
        )
        + "</tr>\n"
        for row in flat.itertuples(index=False)
    )
    return Markup(f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table>")


def _right(right: bool) -> str:
    return ' class="num"' if right else ""
