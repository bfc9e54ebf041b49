"""Formulas as MathML, which browsers draw by themselves: no script, no network."""

import re

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

# A fraction of two digits without braces is good TeX that docutils does not read.
_DIGITS = re.compile(r"\\t?frac(\d)(\d)")
# Bars that open and close alike can't tell what to stretch over: they stay as high as a letter.
_BARS = re.compile(r"<mo(?: stretchy=\"false\")?>([|\u2016])</mo>")
# A little room between log and n, as TeX leaves.
_APPLIED = re.compile(r"(<mo>&ApplyFunction;</mo>)(?!\s*<mo stretchy=\"false\">\()")


def _mathml(node, as_block):
    text = _DIGITS.sub(r"\\frac{\1}{\2}", node.astext()).replace(r"\tfrac", r"\frac")
    drawn = tex2mathml(text, as_block=as_block)
    drawn = _BARS.sub(r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>', drawn)
    return _APPLIED.sub(r'\1<mspace width="0.1667em"></mspace>', drawn)


def _visit_inline(writer, node):
    writer.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def _visit_block(writer, node):
    writer.body.append(writer.starttag(node, "div", CLASS="math notranslate"))
    # An equation that is referred to carries its number.
    if node.get("number"):
        writer.body.append(f'<span class="eqno">({node["number"]})</span>')
    writer.body.append(_mathml(node, as_block=True))
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app):
    """Register the renderer as ``html_math_renderer = "mathml"``."""
    app.add_html_math_renderer(
        "mathml", inline_renderers=(_visit_inline, None), block_renderers=(_visit_block, None)
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
