"""A family that is wrong in every way, to see that it is noticed."""

import os
import time


def check_broken(rng):
    kind = rng.integers(4)
    assert kind != 0, "wrong"
    if kind == 1:
        os.abort()
    if kind == 3:
        time.sleep(1e6)
