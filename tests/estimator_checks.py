"""scikit-learn's own checks, with nothing skipped or marked as expected to fail."""

import sklearn
from forks import ForkServer
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

# The checks of the array API need it before SciPy is imported.
_SERVER = ForkServer(["sklearn.utils.estimator_checks", "scipy.stats"], SCIPY_ARRAY_API="1")


def assert_passes_every_check(estimator, at_least=41, wrong=()):
    """Run check_estimator on an expression such as "L0Regressor()", in a process of its own.

    At least so many checks have to run; ``wrong`` are those that are wrong themselves, with a
    reason.
    """
    program = f"""
import warnings
warnings.simplefilter("ignore")
from sklearn.utils.estimator_checks import check_estimator
from ellzero import *
wrong = {dict(wrong)!r}
results = check_estimator({estimator}, on_fail="raise", expected_failed_checks=wrong)
assert len(results) >= {at_least}, len(results)
assert all(r["status"] == "passed" or r["check_name"] in wrong for r in results), results
"""
    code, _, errors = _SERVER.run(program)
    assert code == 0, errors[-3000:]
