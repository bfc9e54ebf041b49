import numpy as np
import pytest
from arviz_stats.base import array_stats

from ellzero.posterior import _effective_size
from ellzero.posterior._effective_size import effective_size


def autoregressive_chains(rng, n_chains, n_draws, memory):
    out = rng.standard_normal((n_chains, n_draws))
    for t in range(1, n_draws):
        out[:, t] += memory * out[:, t - 1]
    return out


@pytest.mark.parametrize("bulk", [False, True])
@pytest.mark.parametrize("memory", [-0.9, -0.3, 0.0, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("shape", [(1, 4), (1, 17), (2, 60), (4, 501)])
def test_equals_the_size_by_all_autocovariances(rng, shape, memory, bulk):
    smooth = autoregressive_chains(rng, *shape, memory)
    for draws in (smooth, np.round(smooth), (smooth > 0.5).astype(float), smooth + 1e3):
        if np.ptp(draws) == 0:
            continue
        with np.errstate(all="ignore"):
            expected = array_stats.ess(draws, method="bulk" if bulk else "mean")
        assert effective_size(draws, bulk=bulk) == pytest.approx(expected, rel=1e-9, nan_ok=True)


def test_chains_that_disagree_are_worth_little(rng):
    draws = rng.standard_normal((4, 500)) + np.array([[0.0], [0], [9], [9]])
    assert effective_size(draws) == pytest.approx(array_stats.ess(draws, method="mean"), rel=1e-9)
    assert effective_size(draws) < 20


def test_draws_that_mix_well_need_no_transform(rng, monkeypatch):
    draws = autoregressive_chains(rng, 4, 1000, 0.5)
    expected = effective_size(draws)
    monkeypatch.setattr(_effective_size, "_MOST_LAGS", 0)
    assert effective_size(draws) == pytest.approx(expected, rel=1e-9)  # by ArviZ


def test_a_constant_is_worth_all_of_its_draws():
    assert effective_size(np.full((2, 50), 3.0)) == 100
