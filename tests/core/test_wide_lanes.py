"""Loops of eight lanes give the bits of loops of four."""

import numpy as np
import pytest

from ellzero import L0Regressor, L0RegressorCV, _core, l0_frontier
from ellzero.datasets import make_collinear

_HAS_WIDE = _core.take_wide_lanes(True)


@pytest.fixture(params=[np.float64, np.float32], ids=["float64", "float32"])
def table(request):
    X, y, _ = make_collinear(93, 341, random_state=4)
    return np.ascontiguousarray(X, dtype=request.param), y


@pytest.mark.skipif(not _HAS_WIDE, reason="this processor has no AVX-512, or slows down for it")
@pytest.mark.parametrize(
    "fit",
    [
        lambda X, y: l0_frontier(X, y, max_size=13).energies,
        lambda X, y: l0_frontier(np.asfortranarray(X), y, max_size=13).energies,
        lambda X, y: L0Regressor(0.01, solver="sbr").fit(X, y).coef_,
        lambda X, y: L0RegressorCV(n_repeats=1).fit(X, y).cv_results_["mean_error"],
        lambda X, y: L0RegressorCV(n_repeats=2).fit(X, y).cv_results_["mean_error"],
        lambda X, y: L0RegressorCV(n_repeats=1).fit(X[:, :37], y).cv_results_["mean_error"],
    ],
)
def test_eight_lanes_give_the_bits_of_four(table, fit):
    wide = fit(*table)
    _core.take_wide_lanes(False)
    try:
        narrow = fit(*table)
    finally:
        _core.take_wide_lanes(True)
    np.testing.assert_array_equal(wide, narrow)
