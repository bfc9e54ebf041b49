import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("ellzero", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ellzero")


@pytest.fixture
def rng():
    return np.random.default_rng(20180812)
