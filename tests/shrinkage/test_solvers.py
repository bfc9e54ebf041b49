"""Proximal gradient and its kin: descent, stationarity, and optima where they can be known."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet as SklearnElasticNet

from ellzero import L0Regressor
from ellzero.datasets import make_collinear
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
    KSparse,
    LeastSquares,
    Lq,
    TweediePenalty,
    discrete_first_order,
    iterative_hard_thresholding,
    proximal_gradient,
    proximal_path,
)

GROUPS = np.repeat(np.arange(4), 3)
PENALTIES = [
    L0(0.02),
    L1(0.05),
    L2(0.3),
    ElasticNet(0.05, 0.2),
    Lq(0.05, 0.5),
    Lq(0.05, 0.7),
    SCAD(0.05),
    MCP(0.05),
    GroupL0(0.05, GROUPS),
    GroupL1(0.1, GROUPS),
    KSparse(4),
]


def problem(seed=0, n=40, p=12):
    X, y, _ = make_collinear(n, p, coefficients=(2, -1, 1), random_state=seed)
    return X, y


class Logistic:
    """A smooth convex loss of one's own, with no more than is asked for."""

    def __init__(self, X, y):
        self.X, self.y = X, y

    def value(self, beta):
        return float(np.logaddexp(0, -self.y * (self.X @ beta)).sum())

    def gradient(self, beta):
        return -self.X.T @ (self.y * expit(-self.y * (self.X @ beta)))


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("step", ["lipschitz", "backtracking", 10.0])
def test_the_objective_falls_to_a_stationary_point(penalty, step):
    X, y = problem()
    loss = LeastSquares(X, y)
    solution = proximal_gradient(loss, penalty, step=step, tol=1e-9)
    assert solution.converged
    assert (np.diff(solution.objectives) <= 1e-12).all()
    assert solution.objective == solution.objectives[-1]
    assert solution.objective == pytest.approx(loss.value(solution.coef) + penalty(solution.coef))
    assert len(solution.objectives) == solution.n_iter + 1
    beta, size = solution.coef, solution.step
    again = penalty.prox(beta - size * loss.gradient(beta), size)
    assert np.abs(again - beta).max() / size == pytest.approx(
        solution.stationarity, rel=1e-6, abs=1e-9
    )
    assert solution.stationarity <= 1e-9 * np.abs(X.T @ y).max()


@pytest.mark.parametrize("accelerate", [True, False])
def test_convex_penalties_against_scikit_learn(accelerate):
    X, y = problem(1)
    n = len(y)
    theirs = SklearnElasticNet(alpha=0.25 / n, l1_ratio=0.2, fit_intercept=False, tol=1e-12).fit(
        X, y
    )
    mine = proximal_gradient(
        LeastSquares(X, y), ElasticNet(0.05, 0.2), accelerate=accelerate, tol=1e-10
    )
    np.testing.assert_allclose(mine.coef, theirs.coef_, atol=1e-8)


def test_acceleration_saves_steps():
    X, y, _ = make_collinear(100, 60, random_state=0)
    loss = LeastSquares(X, y)
    fast, slow = (
        proximal_gradient(loss, L1(0.01), accelerate=a, max_iter=100_000) for a in (True, False)
    )
    assert fast.n_iter < slow.n_iter / 3
    assert fast.objective == pytest.approx(slow.objective, rel=1e-5)


def test_ridge_has_a_closed_form():
    X, y = problem(2)
    solution = proximal_gradient(LeastSquares(X, y), L2(0.3), tol=1e-12)
    exact = np.linalg.solve(X.T @ X + 0.3 * np.eye(X.shape[1]), X.T @ y)
    np.testing.assert_allclose(solution.coef, exact, atol=1e-9)


@pytest.mark.parametrize("family", [BernoulliGaussian, BernoulliLaplace])
def test_a_tweedie_penalty_on_an_orthonormal_design_is_the_posterior_mean(family):
    rng = np.random.default_rng(0)
    X = np.linalg.qr(rng.normal(size=(30, 6)))[0]
    prior, sigma_e = family(0.3, 2.0), 0.5
    y = X @ np.array([3.0, 0, 0, -2, 0, 0.5]) + sigma_e * rng.normal(size=30)
    solution = proximal_gradient(
        LeastSquares(X, y, sigma_e), TweediePenalty(prior, sigma_e), tol=1e-12
    )
    mean = prior.posterior_mean(X.T @ y, sigma_e=sigma_e)
    np.testing.assert_allclose(solution.coef, mean, atol=1e-9)


def test_a_tweedie_penalty_on_a_collinear_design():
    X, y = problem(3)
    penalty = TweediePenalty(BernoulliLaplace(0.2, 2.0), 0.2)
    solution = proximal_gradient(LeastSquares(X, y, 0.2), penalty)
    assert solution.converged
    assert solution.step <= 0.04
    assert (np.diff(solution.objectives) <= 1e-10).all()


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from([L1(0.3), MCP(0.3), L0(0.1), KSparse(2)]))
def test_a_loss_of_ones_own(seed, penalty):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 5))
    y = np.where(X @ [2.0, -1, 0, 0, 0] + rng.logistic(size=30) > 0, 1.0, -1.0)
    loss = Logistic(X, y)
    solution = proximal_gradient(loss, penalty, start=np.zeros(5), tol=1e-7)
    assert solution.converged
    assert (np.diff(solution.objectives) <= 1e-10).all()
    gradient = loss.gradient(solution.coef)
    again = penalty.prox(solution.coef - solution.step * gradient, solution.step)
    np.testing.assert_allclose(again, solution.coef, atol=1e-4)


def test_sparse_designs():
    X, y = problem(4)
    X = np.where(np.abs(X) > 0.1, X, 0)
    dense = proximal_gradient(LeastSquares(X, y), L1(0.05), tol=1e-10)
    thin = proximal_gradient(LeastSquares(sparse.csc_array(X), y), L1(0.05), tol=1e-10)
    np.testing.assert_allclose(thin.coef, dense.coef, atol=1e-9)
    first, second = (
        discrete_first_order(LeastSquares(Z, y), 3, random_state=0)
        for Z in (X, sparse.csr_array(X))
    )
    np.testing.assert_allclose(first.coef, second.coef, atol=1e-8)


def test_the_lipschitz_constant():
    X, y = problem(5)
    exact = np.linalg.norm(X, 2) ** 2
    assert exact <= LeastSquares(X, y).lipschitz * (1 + 1e-9) <= 1.001 * exact
    assert LeastSquares(X, y, 0.1).lipschitz == pytest.approx(100 * LeastSquares(X, y).lipschitz)


def test_a_path_is_warm_started():
    X, y, _ = make_collinear(80, 40, random_state=1)
    loss = LeastSquares(X, y)
    penalties = [L1(lam) for lam in np.geomspace(1, 0.01, 12)]
    path = proximal_path(loss, penalties)
    cold = [proximal_gradient(loss, penalty) for penalty in penalties]
    assert sum(s.n_iter for s in path) < sum(s.n_iter for s in cold)
    for warm, other in zip(path, cold, strict=True):
        assert warm.objective == pytest.approx(other.objective, rel=1e-4)


def test_iterative_hard_thresholding_on_an_orthonormal_design_is_exact():
    rng = np.random.default_rng(1)
    X = np.linalg.qr(rng.normal(size=(20, 6)))[0]
    y = rng.normal(size=20)
    z = X.T @ y
    lam = 0.5 * np.sort(np.abs(z))[2] ** 2 * 1.0001
    solution = iterative_hard_thresholding(X, y, lam, step=1.0, tol=1e-12)
    np.testing.assert_allclose(
        solution.coef, np.where(np.abs(z) > math.sqrt(2 * lam), z, 0), atol=1e-9
    )


def test_iterative_hard_thresholding_never_beats_the_frontier():
    for seed in range(5):
        X, y, _ = make_collinear(60, 30, random_state=seed)
        y = y - y.mean()
        lam = 0.05
        best = L0Regressor(lam).fit(X, y).objective_
        for step in ("lipschitz", "backtracking"):
            solution = iterative_hard_thresholding(X, y, lam, step=step)
            assert solution.objective >= best - 1e-9


def test_discrete_first_order_against_all_subsets():
    hits = 0
    for seed in range(10):
        X, y, _ = make_collinear(40, 10, n_factors=0, coefficients=(2, -1, 1), random_state=seed)
        loss = LeastSquares(X, y)
        best = min(
            loss.value(loss.refit(np.array(s))) for s in itertools.combinations(range(10), 3)
        )
        solution = discrete_first_order(loss, 3, random_state=seed)
        assert solution.objective >= best - 1e-10
        assert np.count_nonzero(solution.coef) <= 3
        assert loss.value(solution.coef) == pytest.approx(solution.objective)
        hits += solution.objective < best + 1e-8
    assert hits == 10


def test_discrete_first_order_refits_a_loss_of_ones_own():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 8))
    y = np.where(X @ np.r_[3.0, -2.0, np.zeros(6)] + rng.logistic(size=80) > 0, 1.0, -1.0)
    loss = Logistic(X, y)
    solution = discrete_first_order(loss, 2, start=np.zeros(8), n_starts=3, random_state=0)
    assert solution.support.tolist() == [0, 1]
    assert np.abs(loss.gradient(solution.coef)[:2]).max() < 1e-4
    assert (np.diff(solution.objectives) <= 1e-9).all()


def test_the_same_seed_gives_the_same_answer():
    X, y, _ = make_collinear(60, 40, random_state=2)
    loss = LeastSquares(X, y)
    first, second = (discrete_first_order(loss, 5, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first.coef, second.coef)


def test_published_steps_and_no_coefficients():
    X, y = problem(6)
    loss = LeastSquares(X, y)
    assert discrete_first_order(loss, 0).objective == pytest.approx(0.5 * y @ y)
    full = discrete_first_order(loss, 12, step="lipschitz").objective
    assert full == pytest.approx(loss.value(np.linalg.lstsq(X, y, rcond=None)[0]))


def test_a_warning_when_steps_run_out():
    X, y = problem()
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter=3 steps"):
        solution = proximal_gradient(LeastSquares(X, y), L1(0.001), max_iter=3)
    assert not solution.converged
    assert solution.n_iter <= 3
    assert solution.stationarity > 0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda f: proximal_gradient(3, L1(1)), TypeError, "loss must have the methods value and"),
        (
            lambda f: proximal_gradient(f, 3),
            TypeError,
            "penalty must have the methods value and prox",
        ),
        (
            lambda f: proximal_gradient(f, L0(1), accelerate=True),
            ValueError,
            "accelerate must be Fa",
        ),
        (
            lambda f: proximal_gradient(f, L0(1), step="long"),
            ValueError,
            "step must be 'lipschitz'",
        ),
        (lambda f: proximal_gradient(f, L0(1), step=-1), ValueError, "step must be a positive"),
        (lambda f: proximal_gradient(f, L0(1), max_iter=0), ValueError, "max_iter must be a posit"),
        (lambda f: proximal_gradient(f, L0(1), tol=-1), ValueError, "tol must be a number"),
        (lambda f: proximal_gradient(f, L0(1), start=[[1]]), ValueError, "start must be one-dimen"),
        (lambda f: proximal_gradient(f, L0(1), start=[1.0]), ValueError, "start must have 12 numb"),
        (lambda f: proximal_gradient(Logistic(1, 1), L0(1)), ValueError, "start must be given for"),
        (lambda f: discrete_first_order(f, -1), ValueError, "k must be an integer, not negative"),
        (lambda f: discrete_first_order(f, 1, n_starts=0), ValueError, "n_starts must be a posit"),
        (lambda f: LeastSquares(f.X, f.y[1:]), ValueError, "inconsistent numbers of samples"),
        (lambda f: LeastSquares(f.X, f.y, 0), ValueError, "sigma_e must be a positive"),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call(LeastSquares(*problem()))
