import os
import signal

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  which brings a BLAS of its own
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_limits

settings.register_profile(
    "ellzero",
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],  # on a busy machine anything is
)
settings.load_profile("ellzero")

# Where each core has a worker, threads of BLAS have none: they turn while they wait, which takes a
# tenth of the time of tests that use it. Processes that tests start have them.
if "PYTEST_XDIST_WORKER" in os.environ:
    threadpool_limits(1, user_api="blas")

# A shell has what it runs in the background ignore Ctrl-C, and Python, finding that, installs no
# handler: nothing here, and nothing started from here, could be interrupted.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def rng():
    return np.random.default_rng(20180812)
