"""Of the members of a class, the pages list those that ellzero defines, not scikit-learn's."""


def _skip(app, what, name, member, skip, options):
    if skip or name.startswith("_"):
        return True
    function = getattr(member, "fget", None) or getattr(member, "__func__", member)
    function = getattr(function, "__wrapped__", function)
    home = getattr(function, "__module__", None)
    return True if home is not None and not str(home).startswith("ellzero") else None


def setup(app):
    """Connect to autodoc."""
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
