"""lam as a criterion: minimised along SBR's path, or over the best models of every size."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from reference.criteria import criterion
from reference.sbr import sbr
from reference.subsets import best_subsets, energy, preprocess

from ellzero import L0Regressor, l0_frontier
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


@given(seed=st.integers(0, 1000), name=st.sampled_from(["bic", "ebic", "ric"]))
def test_the_least_along_the_path(seed, name):
    X, y, _ = make_collinear(40, 15, n_factors=2, coefficients=(3, -2, 1), random_state=seed)
    Z, target = preprocess(X, y)
    stops = literal_path(Z, target)
    values = [criterion(name, 2 * e, len(s), 40, 15) for s, e, _, _ in stops]
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


@pytest.mark.parametrize(("n", "noise"), [(30, 0.0), (300, 0.0), (30, 1e-14)])
def test_ebic_takes_the_smallest_exact_fit(rng, n, noise):
    """Also where the target is made of two columns up to rounding."""
    X = rng.normal(size=(n, 8))
    y = X[:, 1] + X[:, 3] + noise * rng.normal(size=n)
    assert L0Regressor().fit(X, y).support_.tolist() == [1, 3]
    assert L0Regressor(max_size=8).fit(X, y).support_.tolist() == [1, 3]


def test_ebic_does_not_take_a_fit_with_no_rows_to_spare(rng):
    """Seven of seven columns fit eight rows exactly, whatever y is."""
    assert (
        L0Regressor(max_size=7).fit(rng.normal(size=(8, 7)), rng.normal(size=8)).support_.size < 5
    )


def test_forced_columns_are_in_every_model_on_the_path(rng):
    X, y, _ = make_collinear(60, 30, random_state=4)
    free = L0Regressor("ebic").fit(X, y)
    outsider = int(np.setdiff1d(np.arange(30), free.support_)[0])
    model = L0Regressor("ebic", always_include=[outsider]).fit(X, y)
    assert outsider in model.support_
    assert model.objective_ == pytest.approx(
        0.5 * ((y - model.predict(X)) ** 2).sum() + model.lam_ * (model.support_.size - 1)
    )


@given(
    seed=st.integers(0, 1000),
    name=st.sampled_from(["bic", "ebic", "ric"]),
    n=st.integers(10, 30),
    forced=st.sampled_from([(), (2,), (0, 4, 5)]),
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_least_of_all_sizes(seed, name, n, forced):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 1)) + rng.normal(size=(n, 6))
    y = X[:, 0] - X[:, 1] + rng.normal(size=n)
    Z, target = preprocess(X, y)
    f, largest = len(forced), min(6, n - 2)
    best_known = [(e, s) for e, s in best_subsets(Z, target, forced=forced) if len(s) <= largest]
    values = [criterion(name, 2 * e, len(s), n, 6, f) for e, s in best_known]
    chosen = list(best_known[int(np.argmin(values))][1])
    model = L0Regressor(name, always_include=forced, max_size=largest).fit(X, y)
    assert model.support_.tolist() == chosen
    frontier = l0_frontier(X, y, always_include=forced, max_size=largest)
    np.testing.assert_allclose(frontier.criterion(name), values, rtol=1e-9, atol=1e-9)
    assert frontier.at(criterion=name).support.tolist() == chosen
    rss = 0.5 * ((y - model.predict(X)) ** 2).sum()
    if np.isnan(model.lam_):
        assert frontier.interval(len(chosen)) is None
        assert model.objective_ == pytest.approx(rss)
    else:
        assert model.objective_ == pytest.approx(rss + model.lam_ * (len(chosen) - f))


@pytest.mark.filterwarnings("ignore:[23] variables fit y exactly")
def test_a_model_off_the_hull_has_no_price():
    """Exact fits are left out; where they are better at every price, none leads to the rest."""
    off = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 6))
        y = X[:, :3].sum(axis=1)
        model = L0Regressor("bic", max_size=6).fit(X, y)
        if np.isnan(model.lam_):
            off += 1
            assert str(model.certificate_) == (
                "bic is least among the best models known of 0 to 6 variables; no swap improves "
                "it; at every price a model of another size is better"
            )
            assert model.objective_ == pytest.approx(0.5 * ((y - model.predict(X)) ** 2).sum())
            assert model.objective_ == model.certificate_.objective
            assert model.summary().shape[0] == model.support_.size
    assert off > 3


@pytest.mark.parametrize(("n", "p"), [(8, 4), (8, 6), (9, 8), (12, 6), (14, 20), (20, 8), (40, 3)])
def test_noise_of_few_rows(n, p):
    """On 200 fresh data sets of each shape at most 0.3 variables on average."""
    false = 0
    for seed in range(200):
        rng = np.random.default_rng([n, p, seed])
        model = L0Regressor().fit(rng.normal(size=(n, p)), rng.normal(size=n))
        false += model.support_.size
    assert false <= 0.3 * 200


@given(seed=st.integers(0, 1000), n=st.integers(100, 200))
def test_a_hundred_rows_change_next_to_nothing(seed, n):
    """The price of EBIC is that of Chen and Chen to within a percent, as far as it is trusted."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 40)), rng.normal(size=n)
    frontier = l0_frontier(X, y, max_size=12)
    k = frontier.sizes
    textbook = frontier.criterion("bic") + [2 * math.log(math.comb(40, j)) for j in k]
    fit = frontier.criterion("bic") - k * math.log(n)
    np.testing.assert_allclose(frontier.criterion("ebic") - fit, textbook - fit, rtol=0.01)
    assert np.all(frontier.criterion("ebic")[1:] > textbook[1:])


def test_columns_always_included_are_not_chosen(rng):
    """The first free variable pays for the choice among those that are free."""
    X, y = rng.normal(size=(300, 10)), rng.normal(size=300)
    frontier = l0_frontier(X, y, always_include=[1, 4, 7], max_size=4)
    rss = 2 * frontier.energies
    paid = np.diff(frontier.criterion("ebic")) - 300 * np.diff(np.log(rss))
    assert paid[0] == pytest.approx(math.log(300) + 2 * math.log(7), rel=1e-4)
