"""scikit-learn's own checks, with nothing skipped or marked as expected to fail."""

import subprocess
import sys

from patience import PATIENCE


def assert_passes_every_check(estimator, at_least=41):
    """Run check_estimator on an expression such as "L0Regressor()", in a process of its own.

    The checks of the array API need SCIPY_ARRAY_API before SciPy is imported.
    """
    program = f"""
import os, warnings
os.environ["SCIPY_ARRAY_API"] = "1"
warnings.simplefilter("ignore")
from sklearn.utils.estimator_checks import check_estimator
from ellzero import *
results = check_estimator({estimator}, on_fail="raise")
assert len(results) >= {at_least} and all(r["status"] == "passed" for r in results), results
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
