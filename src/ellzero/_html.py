"""Small HTML tables for notebooks: text escaped, light and dark, no script, no network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from ellzero._shown import shown

__all__ = ["bar", "box", "cell", "names"]

# Colours follow the notebook: JupyterLab and the PyData theme say which they are in an attribute,
# VS Code in a class; all others are taken at the word of the system.
_LIGHT = "--ez-accent:#0b63a5;--ez-ink:#1c1e21;--ez-soft:#5b6168;--ez-rule:#d9dce0"
_DARK = "--ez-accent:#6cb4ee;--ez-ink:#e6e8ea;--ez-soft:#a2a9b1;--ez-rule:#3b424a"
_STYLE = (
    f".ez-box{{{_LIGHT};color:var(--ez-ink);font:13px/1.45 system-ui,sans-serif;max-width:54em;"
    "overflow-x:auto;margin:.4em 0}"
    f"@media(prefers-color-scheme:dark){{.ez-box{{{_DARK}}}}}"
    "body[data-jp-theme-light=true] .ez-box,html[data-theme=light] .ez-box,"
    f".vscode-light .ez-box{{{_LIGHT}}}"
    "body[data-jp-theme-light=false] .ez-box,html[data-theme=dark] .ez-box,"
    f".vscode-dark .ez-box{{{_DARK}}}"
    ".ez-box p{margin:.15em 0}.ez-box .ez-soft{color:var(--ez-soft)}"
    ".ez-box table{border-collapse:collapse;margin:.3em 0;border:0;font-size:13px;color:inherit;"
    "background:none}"
    ".ez-box th,.ez-box td{text-align:left;padding:.1em .9em .1em 0;border:0;background:none;"
    "border-bottom:1px solid var(--ez-rule);vertical-align:baseline;white-space:nowrap;"
    "color:inherit}"
    ".ez-box th{color:var(--ez-soft);font-weight:600}"
    ".ez-box .ez-num{text-align:right!important;font-variant-numeric:tabular-nums}"
    ".ez-box .ez-text{text-align:left!important;white-space:normal;"
    "overflow-wrap:anywhere;max-width:26em;min-width:6em}"
    ".ez-box .ez-bar{display:inline-block;height:.65em;background:var(--ez-accent);"
    "min-width:1px}"
    ".ez-box svg{display:block;max-width:100%}"
)


def cell(value: object) -> str:
    """Return a text or a number, safe to be put on a page."""
    return escape(shown(str(value)))


def bar(share: float) -> str:
    """Return a bar, of at most 6 em, for a share."""
    return f'<span class="ez-bar" style="width:{6 * min(max(share, 0.0), 1.0):.2f}em"></span>'


def names(texts: Iterable[object], most: int = 12) -> str:
    """Return names with commas between them, of many the first."""
    texts = list(texts)
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return cell(", ".join(str(text) for text in texts[:most])) + more


def box(
    title: str,
    columns: Sequence[str] = (),
    rows: Sequence[Sequence[str]] = (),
    *,
    text: Sequence[int] = (0,),
    lead: str = "",
    notes: Sequence[str] = (),
    left_out: int = 0,
) -> str:
    """Return a titled table.

    Parameters
    ----------
    title, lead : str
        What it is, in one line, and a picture or so below it. The title is escaped here, the lead
        is HTML.
    columns : sequence of str
        Headings, escaped here.
    rows : sequence of sequences of str
        Cells, as HTML: see `cell`, `bar` and `names`.
    text : sequence of int
        The columns that hold texts; the others hold numbers, and are set flush right.
    notes : sequence of str
        Sentences below the table, escaped here.
    left_out : int
        How many rows are not shown.

    Returns
    -------
    str
        One element with its own style.
    """

    def kind(place: int) -> str:
        return "ez-text" if place in text else "ez-num"

    heads = "".join(f'<th class="{kind(j)}">{cell(name)}</th>' for j, name in enumerate(columns))
    body = "".join(
        "<tr>" + "".join(f'<td class="{kind(j)}">{value}</td>' for j, value in enumerate(row))
        + "</tr>"
        for row in rows
    )  # fmt: skip
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>" if rows else ""
    below = [*([f"And {left_out:,} more."] if left_out else []), *notes]
    words = "".join(f'<p class="ez-soft">{cell(note)}</p>' for note in below if note)
    title = f"<p><strong>{cell(title)}</strong></p>"
    return f'<div class="ez-box"><style>{_STYLE}</style>{title}{lead}{table}{words}</div>'
