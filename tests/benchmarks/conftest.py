import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

_FOLDER = Path(__file__).parents[2] / "benchmarks"

if _FOLDER.is_dir():
    sys.path.append(str(_FOLDER))  # benchmarks import each other by name
else:
    collect_ignore_glob = ["*"]  # an sdist has none
