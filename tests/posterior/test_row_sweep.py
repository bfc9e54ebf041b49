"""Local scales with the coefficients integrated out, against inverses and quadrature."""

import numpy as np
import pytest
from reference.row_sweep import left_out, local_moments

from ellzero import _core
from ellzero._engine import make_design

DRAWS = 20_000


def unit_design(n, p, seed, copies=False):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, p))
    if copies:
        Z[:, 1] = Z[:, 0]
        Z[:, 3] = Z[:, 2] + 1e-3 * Z[:, 3]
    Z /= np.linalg.norm(Z, axis=0)
    return Z, 3 * rng.standard_normal(n), rng


@pytest.mark.parametrize(("n", "p"), [(5, 3), (12, 24), (13, 25), (30, 130), (60, 20)])
@pytest.mark.parametrize("spread", [0.5, 6.0])  # the larger has variances of 1e6 and more
@pytest.mark.parametrize("copies", [False, True])
def test_every_column_is_told_what_the_others_leave(n, p, spread, copies):
    if copies and p < 4:
        pytest.skip("too few columns")
    Z, y, rng = unit_design(n, p, 3, copies)
    h, then = np.exp(spread * rng.standard_normal((2, p)) - 2)
    order, a, c, squares = _core.visit_scales(make_design(Z, y, None, False, 1), h, then)
    assert sorted(order) == list(range(p))
    now = h.copy()
    for j in order:
        expected = left_out(Z, y, now, j)
        # Beside variances of 1e10 the identity is known to 1e-6.
        assert a[j] == pytest.approx(expected[0], rel=1e-5, abs=1e-8)
        assert c[j] == pytest.approx(expected[1], rel=1e-5, abs=1e-7)
        now[j] = then[j]
    M = np.eye(n) + (Z * then) @ Z.T
    assert squares[-1] == pytest.approx(y @ np.linalg.solve(M, y), rel=1e-6)


def test_more_large_variances_than_one_group_has_room_for():
    Z, y, rng = unit_design(40, 150, 4)
    h, then = np.exp(rng.uniform(6, 16, (2, 150)))
    order, a, c, _ = _core.visit_scales(make_design(Z, y, None, False, 1), h, then)
    now = h.copy()
    for j in order:
        expected = left_out(Z, y, now, j)
        assert a[j] == pytest.approx(expected[0], rel=1e-5, abs=1e-8)
        assert c[j] == pytest.approx(expected[1], rel=1e-5, abs=1e-7)
        now[j] = then[j]


def assert_follows(drawn, log_density, shift, **limits):
    for of in (
        lambda x: np.tanh(x / 4),
        lambda x: np.tanh((x + shift) / 2),
        lambda x: np.tanh(x / 4) ** 2,
        lambda x: (x + shift > 0) * 1.0,
    ):
        mean, sd = local_moments(log_density, of, **limits)
        # What happens less than once in all these draws may happen a few times.
        assert abs(of(drawn).mean() - mean) < 4.5 * sd / np.sqrt(DRAWS) + 4 / DRAWS


@pytest.mark.parametrize("ridge", [0.0, 0.02, 5.0])
@pytest.mark.parametrize("unit", [-12.0, -3.0, 4.0])
@pytest.mark.parametrize("z", [0.0, 1.5, 4.0, 12.0])
def test_local_scale_of_the_horseshoe(z, unit, ridge):
    a, s2 = 0.6, 1.7
    c = z * np.sqrt(a * s2)

    def log_density(x):  # of x = log lambda^2
        h = 1 / (np.exp(-x - unit) + ridge)
        prior = 0.5 * x - np.logaddexp(0, x)
        return prior - 0.5 * np.log1p(h * a) + h * c**2 / (2 * s2 * (1 + h * a))

    drawn = _core.draw_horseshoe_scale(a, c, s2, unit, ridge, DRAWS, 1)
    assert_follows(drawn, log_density, unit)


@pytest.mark.parametrize("e", [1e-6, 0.3, 40.0])
@pytest.mark.parametrize("x", [1e-6, 0.4, 3.0, 1000.0])
def test_local_scale_under_a_slab_given_its_coefficient(x, e):
    def log_density(v):  # of v = log u
        return v - x * np.exp(v) + 0.5 * np.log1p(e * np.exp(-v)) - np.logaddexp(0, v)

    drawn = np.log(_core.draw_regularised_precision(x, e, DRAWS, 1))
    assert_follows(drawn, log_density, np.log(x), low=-200, high=30)


@pytest.mark.parametrize("z", [0.0, 1e3, 1e9])
@pytest.mark.parametrize("unit", [-60.0, 0.0, 60.0])
def test_numbers_far_apart(z, unit):
    drawn = _core.draw_horseshoe_scale(1e-12, 1e-6 * z, 1.0, unit, 0.0, 100, 1)
    assert np.isfinite(drawn).all()
