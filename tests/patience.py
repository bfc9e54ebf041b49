"""How long tests wait for what has to come."""

import time

# Seconds. What takes longer hangs: nothing that is waited for takes nearly as long, on a machine
# that is busy with other work too. Less than the limit of a test in pyproject.toml.
PATIENCE = 300


def wait_until(condition, what):
    """Return when a condition holds; it is looked at every 50 ms."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"{what}: not within {PATIENCE} seconds"
        time.sleep(0.05)
