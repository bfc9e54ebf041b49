"""What pytest leaves alone here: the site's settings, and what `make docs` makes."""

collect_ignore = [
    "conf.py",
    "check_links.py",
    "pictures.py",
    "extensions",
    "_build",
    "auto_examples",
    "api",
]
