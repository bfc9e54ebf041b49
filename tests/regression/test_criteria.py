"""lam as a criterion minimised along SBR's path."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from reference.sbr import sbr
from reference.subsets import energy, preprocess

from ellzero import L0Regressor
from ellzero.datasets import make_collinear


def literal_path(Z, y):
    """SBR by continuation: supports and the lam from which each is reached."""
    support, lam = [], math.inf
    stops = []
    while True:
        base = energy(Z, y, support)
        gains = [
            (base - energy(Z, y, [*support, i]), -i) for i in range(Z.shape[1]) if i not in support
        ]
        best, i = max(gains, default=(0.0, None))
        stops.append((sorted(support), base, best, lam))
        if not gains:
            return stops
        lam = best
        assume(lam > 1e-6 * base)  # below that the energies refitted here know too few digits of it
        assert lam < stops[-1][3]
        # A little below, so that the insertion is not a tie.
        support = sbr(Z, y, lam * (1 - 1e-9), start=[*support, -i])[0]


def literal_criterion(name, rss, k, n, p):
    value = n * math.log(rss / n)
    if name == "ric":
        return value + 2 * k * math.log(p)
    value += k * math.log(n)
    return value + (2 * math.log(math.comb(p, k)) if name == "ebic" else 0)


@given(seed=st.integers(0, 1000), name=st.sampled_from(["bic", "ebic", "ric"]))
def test_the_least_along_the_path(seed, name):
    X, y, _ = make_collinear(40, 15, n_factors=2, coefficients=(3, -2, 1), random_state=seed)
    Z, target = preprocess(X, y)
    stops = literal_path(Z, target)
    values = [literal_criterion(name, 2 * e, len(s), 40, 15) for s, e, _, _ in stops]
    support, e, low, high = stops[int(np.argmin(values))]
    model = L0Regressor(name, solver="sbr", max_size=15).fit(X, y)
    assert model.support_.tolist() == support
    expected = math.sqrt(low * high)
    if math.isinf(high) or low == 0:
        expected = 2 * low or high / 2
    assert model.lam_ == pytest.approx(expected, rel=1e-8)
    assert model.objective_ == pytest.approx(e + expected * len(support), rel=1e-8)


@given(seed=st.integers(0, 1000))
def test_lam_gives_a_model_that_sbr_does_not_leave(seed):
    X, y, _ = make_collinear(60, 30, random_state=seed)
    chosen = L0Regressor("ebic", solver="sbr", max_size=30).fit(X, y)
    again = L0Regressor(chosen.lam_, solver="sbr", start=chosen.support_).fit(X, y)
    assert again.n_iter_ == 0
    np.testing.assert_array_equal(again.support_, chosen.support_)


def test_noise_selects_nothing(rng):
    X, y = rng.normal(size=(200, 50)), rng.normal(size=200)
    model = L0Regressor("ebic").fit(X, y)
    assert model.support_.size == 0
    assert model.intercept_ == pytest.approx(y.mean())
    assert L0Regressor(model.lam_).fit(X, y).support_.size == 0


def test_a_perfect_fit_is_left_out_and_said_so(rng):
    X = rng.normal(size=(30, 5))
    with pytest.warns(UserWarning, match="2 variables fit y exactly"):
        model = L0Regressor("bic").fit(X, X[:, 1] + X[:, 3])
    assert model.support_.size == 1


def test_forced_columns_are_in_every_model_on_the_path(rng):
    X, y, _ = make_collinear(60, 30, random_state=4)
    free = L0Regressor("ebic").fit(X, y)
    outsider = int(np.setdiff1d(np.arange(30), free.support_)[0])
    model = L0Regressor("ebic", always_include=[outsider]).fit(X, y)
    assert outsider in model.support_
    assert model.objective_ == pytest.approx(
        0.5 * ((y - model.predict(X)) ** 2).sum() + model.lam_ * (model.support_.size - 1)
    )
