"""The parts of the nonparametric mixture against sums and matrices written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ellzero.shrinkage import EmpiricalTweedie
from ellzero.shrinkage._npmle import fit_mixture
from ellzero.shrinkage._npmle_condition import density, find_excess
from ellzero.shrinkage._npmle_masses import Sample, _Kernel, maximise


def _phi(points, at):
    return np.exp(-0.5 * (points[:, None] - at) ** 2)


@given(
    seed=st.integers(0, 10_000),
    count=st.integers(1, 80),
    width=st.sampled_from([0.1, 5.0, 40.0, 1e4]),
)
@settings(max_examples=40, deadline=None)
def test_the_condition_is_bounded_everywhere(seed, count, width):
    rng = np.random.default_rng(seed)
    points = np.sort(rng.uniform(-width, width, count))
    ratio = rng.uniform(0, 1, count) * rng.choice([0.1, 1.0, 1.001])
    bound, peaks = find_excess(points, ratio)
    at = np.concatenate([points + off for off in np.linspace(-3, 3, 301)])
    D = ratio @ _phi(points, at)
    largest = max(1.0, D.max())
    assert np.log(largest) <= bound + 1e-12
    # The grid is fine where it has to be.
    assert bound <= np.log(largest) + 2e-4
    assert ((points[0] <= peaks) & (peaks <= points[-1])).all()
    if D.max() > 1 + 1e-6:
        top = at[D.argmax()]
        assert np.abs(peaks - top).min() < 0.05


@given(seed=st.integers(0, 10_000), width=st.sampled_from([1.0, 30.0, 1e3]))
@settings(max_examples=20, deadline=None)
def test_the_kernel_is_a_matrix(seed, width):
    rng = np.random.default_rng(seed)
    points = np.sort(rng.uniform(0, width, 150))
    centres = np.sort(rng.uniform(0, width, 40))
    A, dense = _Kernel(points, centres, 9.0), _phi(points, centres)
    v, u = rng.uniform(size=40), rng.uniform(size=150)
    np.testing.assert_allclose(A.times(v), dense @ v, atol=1e-14)
    np.testing.assert_allclose(density(centres, v, points), dense @ v, atol=1e-14)
    np.testing.assert_allclose(A.transposed_times(u), dense.T @ u, atol=1e-14)
    rows, columns, diagonal = rng.uniform(size=150), rng.uniform(size=40), rng.uniform(0.1, 1, 40)
    B = rows[:, None] * dense * columns
    expected = np.linalg.solve(B.T @ B + np.diag(diagonal), v)
    np.testing.assert_allclose(A.solve(rows, columns, diagonal, v), expected, atol=1e-11)


def test_the_masses_meet_the_conditions(rng):
    """Where D is one at centres that have mass, and at most one elsewhere, nothing is better."""
    points = np.sort(np.r_[rng.normal(size=200), 15 + 3 * rng.normal(size=200)])
    shares = rng.dirichlet(np.ones(400))
    sample = Sample(points, shares)
    coarse = Sample(points[::2], shares[::2] + shares[1::2])  # curvature of another sample
    centres = np.linspace(points[0], points[-1], 60)
    for rough in (sample, coarse):
        masses = maximise(sample, rough, centres)
        A = _phi(points, centres)
        D = A.T @ (shares / (A @ masses))
        assert masses.sum() == pytest.approx(1, abs=1e-9)
        assert D.max() < 1 + 1e-8
        assert masses @ (1 - D) < 1e-10


def test_a_wide_sample_is_as_likely_as_its_parts_are(rng):
    """Far apart, two samples don't know of each other, but for their shares of the mass."""
    parts = [np.sort(rng.normal(size=300) * 2 + shift) for shift in (0.0, 500.0)]
    points, shares = np.concatenate(parts), np.full(600, 1 / 600)
    both = fit_mixture(points, shares, 1e-6, 30)
    mine = shares @ np.log(_phi(points, both.centres) @ both.masses)
    alone = 0.0
    for part in parts:
        one = fit_mixture(part, np.full(300, 1 / 300), 1e-6, 30)
        alone += 0.5 * np.log(0.5 * _phi(part, one.centres) @ one.masses).mean()
    assert both.gap <= 1e-6
    assert mine == pytest.approx(alone, abs=3e-6)


@pytest.mark.parametrize("far", [0.0, 1e4])
def test_the_likelihood_is_that_of_the_prior(far, rng):
    y = 2.5 * np.r_[rng.normal(size=200), 30 * rng.random(100), far]
    for width in (0, 0.1):
        rule = EmpiricalTweedie(2.5, bin_width=width).fit(y)
        expected = rule.prior_.log_marginal(y, sigma_e=2.5).sum()
        assert rule.log_likelihood_ == pytest.approx(expected, rel=1e-10)
