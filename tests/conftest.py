import signal

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "ellzero",
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],  # on a busy machine anything is
)
settings.load_profile("ellzero")

# A shell has what it runs in the background ignore Ctrl-C, and Python, finding that, installs no
# handler: nothing here, and nothing started from here, could be interrupted.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def rng():
    return np.random.default_rng(20180812)
