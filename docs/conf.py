"""Settings of the site: `make docs` builds it, offline."""

import sys
import urllib.request
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))

import ellzero  # noqa: E402

project = "ellzero"
author = "The ellzero developers"
project_copyright = author
version = release = ellzero.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "code_blocks",
    "mathml",
    "own_members",
]
exclude_patterns = ["_build", "extensions", "_templates", "auto_examples/*.ipynb"]
templates_path = ["_templates"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(sklearn|numpy|pandas|scipy)\..*")]

# Other projects' pages are linked to where they can be reached; offline the names stay plain.
_INVENTORIES = {
    "numpy": "https://numpy.org/doc/stable/",
    "sklearn": "https://scikit-learn.org/stable/",
    "pandas": "https://pandas.pydata.org/docs/",
}


def _reachable(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}objects.inv", timeout=2):
            return True
    except OSError:
        return False


if _reachable(_INVENTORIES["numpy"]):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        name: (address, None) for name, address in _INVENTORIES.items() if _reachable(address)
    }

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
autodoc_member_order = "groupwise"
autodoc_default_options = {"members": True, "inherited-members": True}
numpydoc_show_class_members = False
default_role = "literal"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "gallery.InOrder",
    "copyfile_regex": "",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,
    "reset_modules": ("matplotlib", "gallery.reset"),
    "matplotlib_animations": False,
    "image_scrapers": ("matplotlib",),
    "default_thumb_file": str(HERE / "images" / "frontier.png"),
}

html_theme = "pydata_sphinx_theme"
html_title = "ellzero"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_domain_indices = False
html_show_sourcelink = False
html_math_renderer = "mathml"
html_sidebars = {"start": [], "choosing": [], "index": []}
html_theme_options = {
    "show_prev_next": True,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
}
