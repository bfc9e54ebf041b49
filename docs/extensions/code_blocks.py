"""Blocks of code end with their last line: an empty one after output is there for doctest."""

from docutils import nodes


def _trim(app, doctree):
    for block in doctree.findall(nodes.literal_block):
        if block.rawsource == block.astext():
            text = block.rawsource.rstrip()
            block.rawsource = text
            block[:] = [nodes.Text(text)]


def setup(app):
    """Look at every page once it is read."""
    app.connect("doctree-read", _trim)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
