"""The converse: penalties seen as posterior means."""

import numpy as np
import pytest

from ellzero.shrinkage import (
    L0,
    L1,
    L2,
    MCP,
    SCAD,
    BernoulliGaussian,
    BernoulliLaplace,
    ElasticNet,
    GroupL1,
    KSparse,
    Lq,
    NormalMixture,
    Penalty,
    TweediePenalty,
    implied_prior,
)


@pytest.mark.parametrize("sigma_e", [1.0, 0.3])
@pytest.mark.parametrize(
    "make",
    [
        lambda s: BernoulliGaussian(0.2, 3 * s),
        lambda s: BernoulliLaplace(0.3, 2 * s),
        lambda s: NormalMixture([0.5, 0.5], [0.5 * s, 2 * s]),
    ],
)
def test_from_prior_to_penalty_and_back(make, sigma_e):
    prior = make(sigma_e)
    found = implied_prior(TweediePenalty(prior, sigma_e), sigma_e)
    assert found.reasons == ()
    assert found.divergence < 1e-6
    exact = prior.log_marginal(found.y, sigma_e=sigma_e)
    np.testing.assert_allclose(found.log_marginal, exact, atol=1e-6)
    y = np.linspace(-5, 5, 41) * sigma_e
    means = [p.posterior_mean(y, sigma_e=sigma_e) for p in (found.prior, prior)]
    np.testing.assert_allclose(*means, atol=0.02 * sigma_e)


def test_ridge_is_normal():
    found = implied_prior(L2(0.25), 1.0)  # N(0, 4)
    weights, means = np.asarray(found.prior.weights), np.asarray(found.prior.means)
    assert weights @ means**2 == pytest.approx(4, rel=1e-3)
    np.testing.assert_allclose(
        found.log_marginal, -(found.y**2) / 10 - np.log(10 * np.pi) / 2, atol=1e-7
    )


@pytest.mark.parametrize(
    ("penalty", "reasons"),
    [
        (L0(0.5), ["constant from -1 to 1", "jumps at 1;", "not integrable"]),
        (L1(0.7), ["constant from -0.7 to 0.7"]),
        (ElasticNet(0.7, 1.0), ["constant from -0.7 to 0.7"]),
        (SCAD(0.7), ["constant from -0.7 to 0.7", "not integrable"]),
        (MCP(0.7), ["constant from -0.7 to 0.7", "not integrable"]),
        (Lq(1.0, 0.5), ["constant from -1.5 to 1.5", "jumps at 1.5;"]),
        (L2(0.0), ["not integrable"]),
    ],
)
def test_why_there_is_none(penalty, reasons):
    found = implied_prior(penalty)
    assert found.prior is None
    assert len(found.reasons) == len(reasons)
    for said, expected in zip(found.reasons, reasons, strict=True):
        assert expected in said
    assert len(found.y) == len(found.log_marginal)
    # minus the envelope, up to a constant
    drop = [penalty.moreau_envelope(v) for v in found.y[::20]]
    np.testing.assert_allclose(np.ptp(np.add(drop, found.log_marginal[::20])), 0, atol=2e-3)


class Quartic(Penalty):
    """x^4 / 4: smooth, convex, proper; and no negative log of a normal mixture."""

    def _value(self, x):
        return float((x**4).sum() / 4)

    def _prox(self, x, step):
        z = x / (1 + step)
        for _ in range(100):
            z = z - (z + step * z**3 - x) / (1 + 3 * step * z**2)
        return z


def test_a_smooth_one_that_is_none():
    found = implied_prior(Quartic())
    assert found.prior is None
    assert "no mixture of normals" in found.reasons[0]
    assert found.divergence > 1e-5


def test_not_separable():
    with pytest.raises(ValueError, match="penalty must be separable and symmetric"):
        implied_prior(KSparse(1))
    with pytest.raises(ValueError, match="x must have the shape of groups"):
        implied_prior(GroupL1(1.0, [0, 0]))


def test_not_a_penalty():
    with pytest.raises(TypeError, match="penalty must be a penalty of ellzero"):
        implied_prior(3)
