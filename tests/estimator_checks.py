"""scikit-learn's own checks, with nothing skipped or marked as expected to fail."""

import subprocess
import sys

import sklearn
from patience import PATIENCE
from sklearn.utils.fixes import parse_version

# Of three classes these make two by the class of the first row, after they have shuffled the rows
# in one of the two tables that they compare: which are then not the same.
WRONG_FOR_TWO_CLASSES = (
    dict.fromkeys(
        [
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        ],
        "fixed in scikit-learn 1.7",
    )
    if parse_version(sklearn.__version__) < parse_version("1.7")
    else {}
)


def assert_passes_every_check(estimator, at_least=41, wrong=()):
    """Run check_estimator on an expression such as "L0Regressor()", in a process of its own.

    The checks of the array API need SCIPY_ARRAY_API before SciPy is imported. At least so many
    checks have to run; ``wrong`` are those that are wrong themselves, with a reason.
    """
    program = f"""
import os, warnings
os.environ["SCIPY_ARRAY_API"] = "1"
warnings.simplefilter("ignore")
from sklearn.utils.estimator_checks import check_estimator
from ellzero import *
wrong = {dict(wrong)!r}
results = check_estimator({estimator}, on_fail="raise", expected_failed_checks=wrong)
assert len(results) >= {at_least}, len(results)
assert all(r["status"] == "passed" or r["check_name"] in wrong for r in results), results
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
