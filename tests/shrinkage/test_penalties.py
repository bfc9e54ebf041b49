"""Penalties: what holds for all of them, and what each promises."""

import math

import numpy as np
import pyproximal
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pylops import MatrixMult

from ellzero.shrinkage import (
    L0,
    L1,
    L2,
    MCP,
    SCAD,
    BernoulliGaussian,
    BernoulliLaplace,
    ElasticNet,
    GroupL0,
    GroupL1,
    Horseshoe,
    KSparse,
    Lq,
    NormalMixture,
    SpikeSlabLasso,
    TweediePenalty,
)

prices = st.floats(0.01, 5.0)
steps = st.floats(0.05, 8.0)
reals = st.floats(-12, 12)


@st.composite
def separable(draw):
    lam = draw(prices)
    return draw(
        st.sampled_from(
            [
                L0(lam),
                L1(lam),
                L2(lam),
                ElasticNet(lam, draw(prices)),
                Lq(lam, 0.5),
                Lq(lam, 2 / 3),
                Lq(lam, draw(st.floats(0.05, 0.95))),
                SCAD(lam, draw(st.floats(2.1, 6))),
                MCP(lam, draw(st.floats(1.1, 6))),
            ]
        )
    )


def objective(penalty, z, x, step):
    return penalty.value(z) + float(np.sum((z - x) ** 2)) / (2 * step)


@given(separable(), reals, steps)
@example(SCAD(1.0, 2.5), 3.2, 3.0)
@example(SCAD(1.0, 2.5), 4.4, 6.0)
@example(MCP(1.0, 1.5), 3.2, 3.0)
@example(L0(2.0), 2.0, 1.0)
def test_the_prox_is_the_minimiser(penalty, x, step):
    z = penalty.prox([x], step)
    best = objective(penalty, z, x, step)
    # A grid over all that can be the minimiser, and finer around the one returned.
    grid = np.concatenate([np.linspace(-13, 13, 521), z + np.linspace(-0.05, 0.05, 201), [0.0, x]])
    others = [objective(penalty, np.array([v]), x, step) for v in grid]
    assert best <= min(others) + 1e-12 * (1 + abs(best))
    assert penalty.moreau_envelope([x], step) == pytest.approx(best)
    assert best <= penalty.value([x]) + 1e-12


@given(separable(), st.lists(reals, min_size=2, max_size=2), steps)
def test_the_prox_increases_and_is_odd(penalty, pair, step):
    x = np.sort(pair)
    z = penalty.prox(x, step)
    assert z[1] >= z[0]
    np.testing.assert_array_equal(penalty.prox(-x, step), -z)


@given(separable(), reals, steps)
def test_the_gradient_of_the_envelope(penalty, x, step):
    h = 1e-6
    ends = penalty.prox([x - h, x + h], step)
    if ends[1] - ends[0] > 1e-3:  # it jumps in between: there is no gradient
        return
    high, low = (penalty.moreau_envelope([v], step) for v in (x + h, x - h))
    gradient = penalty.envelope_gradient([x], step)[0]
    assert (high - low) / (2 * h) == pytest.approx(gradient, abs=1e-4)


@given(st.lists(reals, min_size=6, max_size=6), prices, steps)
def test_groups(x, lam, step):
    x = np.array(x)
    groups = np.array(["b", "a", "b", "c", "c", "c"])
    weights = np.array([1.0, 2.0, 0.5])
    for penalty in (GroupL0(lam, groups, weights), GroupL1(lam, groups, weights)):
        z = penalty.prox(x, step)
        best = objective(penalty, z, x, step)
        assert best == pytest.approx(penalty.moreau_envelope(x, step))
        assert best <= penalty.value(x) + 1e-9
        # By symmetry a group's solution is a multiple of it.
        for label in "abc":
            for factor in np.linspace(0, 1, 101):
                other = z.copy()
                other[groups == label] = factor * x[groups == label]
                assert best <= objective(penalty, other, x, step) + 1e-9 * (1 + best)


@given(st.floats(0, 5), st.lists(reals, min_size=5, max_size=5), steps)
def test_groups_of_one_are_l0_and_l1(lam, x, step):
    groups = np.arange(5)
    np.testing.assert_array_equal(GroupL0(lam, groups).prox(x, step), L0(lam).prox(x, step))
    np.testing.assert_allclose(
        GroupL1(lam, groups).prox(x, step), L1(lam).prox(x, step), atol=1e-12
    )


@given(st.integers(0, 7), st.lists(st.integers(-3, 3), min_size=6, max_size=6))
def test_k_sparse(k, x):
    x = np.array(x, dtype=float)
    penalty = KSparse(k)
    z = penalty.prox(x)
    assert np.count_nonzero(z) <= k
    order = np.argsort(-np.abs(x), kind="stable")  # of equal ones the first
    want = np.zeros(6)
    want[order[:k]] = x[order[:k]]
    np.testing.assert_array_equal(z, want)
    assert penalty.value(z) == 0
    assert penalty.value(np.ones(8)) == math.inf
    assert penalty.moreau_envelope(x, 2.0) == pytest.approx(((x - z) ** 2).sum() / 4)


def test_the_l0_threshold_is_the_root_of_twice_lam_step():
    # ERRATA: not lam
    penalty, step = L0(3.0), 0.5
    edge = math.sqrt(3.0)
    x = np.array([edge * (1 - 1e-15), edge, -edge, edge * (1 + 1e-15)])
    np.testing.assert_array_equal(penalty.prox(x, step) != 0, [False, True, True, True])


@pytest.mark.parametrize("q", [0.5, 2 / 3])
def test_closed_forms_agree_with_newton(q):
    x = np.geomspace(1e-3, 1e6, 2001)
    closed, newton = Lq(1.3, q).prox(x, 0.7), Lq(1.3, q + 1e-14).prox(x, 0.7)
    np.testing.assert_array_equal(closed > 0, newton > 0)
    np.testing.assert_allclose(closed, newton, rtol=1e-11)


def test_lq_lies_between_l0_and_l1():
    x = np.linspace(-6, 6, 101)
    np.testing.assert_allclose(Lq(1.0, 1e-9).prox(x), L0(1.0).prox(x), atol=1e-7)
    np.testing.assert_allclose(Lq(1.0, 1 - 1e-9).prox(x), L1(1.0).prox(x), atol=1e-6)


def test_free_of_charge_nothing_moves():
    x = np.array([-1.0, 0.0, 2.0])
    groups = [0, 0, 1]
    for penalty in (L0(0), L1(0), L2(0), ElasticNet(0, 0), Lq(0, 0.3), SCAD(0), MCP(0)):
        np.testing.assert_array_equal(penalty.prox(x), x)
    for penalty in (GroupL0(0, groups), GroupL1(0, groups), KSparse(3)):
        np.testing.assert_array_equal(penalty.prox(x), x)


PRIORS = [
    BernoulliGaussian(0.1, 3.0),
    BernoulliLaplace(0.1, 3.0),
    SpikeSlabLasso(0.1, 0.2, 3.0),
    Horseshoe(0.3),
    NormalMixture([0.5, 0.5], [0.5, 1.0], means=[-1.0, 2.0]),
]


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("sigma_e", [1.0, 0.4])
def test_the_prox_of_a_tweedie_penalty_is_the_posterior_mean(prior, sigma_e):
    penalty, x = TweediePenalty(prior, sigma_e), np.linspace(-9, 9, 61) * sigma_e
    step = sigma_e**2
    mean = prior.posterior_mean(x, sigma_e=sigma_e)
    np.testing.assert_array_equal(penalty.prox(x, step), mean)
    # and does minimise: on a grid, without knowing of posterior means
    z = np.linspace(-10, 10, 2001) * sigma_e
    phi = prior.penalty(z, sigma_e=sigma_e)
    for target, point in zip(x[::6], mean[::6], strict=True):
        values = phi + (z - target) ** 2 / (2 * step)
        here = objective(penalty, point, target, step)
        assert here <= values.min() + 1e-12
        assert here == pytest.approx(values.min(), abs=2e-4)
    # the envelope is -log m, up to a constant
    drops = [penalty.moreau_envelope(v, step) for v in x[::6]]
    logs = prior.log_marginal(x[::6], sigma_e=sigma_e)
    np.testing.assert_allclose(np.add(drops, logs), drops[0] + logs[0], atol=1e-11)
    # and its gradient minus the score
    gradient = penalty.envelope_gradient(x, step)
    np.testing.assert_allclose(gradient, -prior.score(x, sigma_e=sigma_e), atol=1e-12)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("share", [0.01, 0.3, 0.9])
def test_smaller_steps_of_a_tweedie_penalty(prior, share):
    penalty, step = TweediePenalty(prior, 0.7), 0.49 * share
    x = np.linspace(-6, 6, 41)
    z = penalty.prox(x, step)
    assert (np.diff(z) > 0).all()
    grid = np.linspace(-6.5, 6.5, 4001)
    phi = prior.penalty(grid, sigma_e=0.7)
    for target, point in zip(x[::5], z[::5], strict=True):
        least = (phi + (grid - target) ** 2 / (2 * step)).min()
        assert objective(penalty, point, target, step) <= least + 1e-12
    slope = prior.penalty_derivative(z, sigma_e=0.7)
    np.testing.assert_allclose(z + step * slope, x, atol=1e-12)


def test_larger_steps_of_a_tweedie_penalty_are_refused():
    with pytest.raises(ValueError, match=r"step must be at most sigma_e\*\*2"):
        TweediePenalty(PRIORS[0], 1.0).prox([1.0], 1.01)


def test_as_pyproximal_has_them():
    rng = np.random.default_rng(0)
    x = rng.normal(size=50) * 3
    pairs = [
        # pyproximal's L0 thresholds at sigma step, as the paper does (ERRATA): not its prox
        (L0(0.7), pyproximal.L0(math.sqrt(2 * 0.7 / 0.8))),
        (L1(0.7), pyproximal.L1(0.7)),
        (L2(0.7), pyproximal.L2(sigma=0.7)),
        (SCAD(0.7, 3.7), pyproximal.SCAD(0.7, 3.7)),
        (KSparse(7), pyproximal.L0Ball(7)),
    ]
    for mine, theirs in pairs:
        np.testing.assert_allclose(mine.prox(x, 0.8), theirs.prox(x, 0.8), atol=1e-12)
        if not isinstance(mine, KSparse | L0):
            assert mine(x) == pytest.approx(float(theirs(x)))


@pytest.mark.parametrize("penalty", [L1(0.3), MCP(0.3), TweediePenalty(PRIORS[1], 0.9)])
def test_in_a_solver_of_pyproximal(penalty):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 8)) / math.sqrt(40)
    y = X @ np.r_[3.0, -2.0, np.zeros(6)] + 0.1 * rng.normal(size=40)
    step = 0.9 / np.linalg.norm(X, 2) ** 2
    loss = pyproximal.L2(Op=MatrixMult(X), b=y)
    found = pyproximal.optimization.primal.ProximalGradient(
        loss, penalty, x0=np.zeros(8), tau=min(step, 0.8), niter=400
    )
    again = penalty.prox(found - min(step, 0.8) * X.T @ (X @ found - y), min(step, 0.8))
    np.testing.assert_allclose(again, found, atol=1e-9)


def test_shapes():
    x = np.arange(-3.0, 3.0).reshape(2, 3)
    for penalty in (L0(1), L1(1), Lq(1, 0.4), SCAD(1), KSparse(2), TweediePenalty(PRIORS[0])):
        assert penalty.prox(x).shape == (2, 3)
        np.testing.assert_array_equal(penalty.prox(x.T), penalty.prox(x).T)
        assert penalty.prox(x[:0]).shape == (0, 3)
        assert penalty.value(2.0) >= 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: L0(-1), "lam must be a finite number, not negative; got -1"),
        (lambda: L1("a"), "lam must be a finite number"),
        (lambda: L2(math.nan), "ridge must be a finite number"),
        (lambda: ElasticNet(1, -1), "ridge must be a finite number"),
        (lambda: SCAD(1, 2), "a must be larger than 2; got 2"),
        (lambda: MCP(1, 1), "gamma must be larger than 1; got 1"),
        (lambda: Lq(1, 1), "q must be strictly between 0 and 1; got 1"),
        (lambda: KSparse(1.5), "k must be an integer, not negative; got 1.5"),
        (lambda: GroupL0(1, []), "groups must be one label a coefficient"),
        (lambda: GroupL1(1, [0, 1], [1]), "weights must be one number per group, 2"),
        (lambda: GroupL1(1, [0, 1]).prox([1, 2, 3]), "x must have the shape of groups"),
        (lambda: L0(1).prox([1], 0), "step must be a positive finite number"),
        (lambda: L0(1).moreau_envelope([1], -1), "step must be a positive finite number"),
        (lambda: L0(1).prox([math.nan]), "x must hold finite numbers"),
        (lambda: TweediePenalty(PRIORS[0], 0), "sigma_e must be a positive"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_prior_is_a_prior():
    with pytest.raises(TypeError, match="prior must be a prior of ellzero"):
        TweediePenalty("horseshoe")
