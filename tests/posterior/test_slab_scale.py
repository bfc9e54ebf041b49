"""Slabs of another width for each column."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from reference.spike_slab import posterior
from reference.subsets import preprocess
from scipy.integrate import quad
from spike_slab_priors import (
    THETAS,
    VARIANCES,
    autoregressive,
    core_prior,
    design_of,
    enumerate_all,
    run_chains,
)

from ellzero import BernoulliGaussian, SpikeSlabRegressor, marginal_map

SCALES = np.array([0.1, 1.0, 6.0, 2.0])
GIVEN = {"sigma_e": 1.5, "sigma_beta": 5.0, "theta": 0.3, "random_state": 0}


@pytest.fixture(scope="module")
def table():
    return autoregressive(30, 4, 0.6, seed=3)


@pytest.mark.parametrize("kind", ["array", "mapping", "series"])
def test_equals_the_literal_sum_over_models(table, kind):
    X, y = table
    frame = pd.DataFrame(X, columns=list("abcd"))
    by_name = {name: scale for name, scale in zip("abcd", SCALES, strict=True) if scale != 1}
    scale = {"array": SCALES, "mapping": by_name, "series": pd.Series(by_name)}[kind]
    model = SpikeSlabRegressor(slab_scale=scale, **GIVEN).fit(frame, y)
    Z, target = preprocess(X, y)
    # A column whose slab is a times as wide is one a times as long under a slab of width one
    inclusion, mean, sd, masses = posterior(
        Z * SCALES,
        target,
        degrees=29,
        precision=lambda Z, tau: tau * np.eye(Z.shape[1]),
        s2_grid=([1.5**2], [0.0]),
        tau_grid=lambda s2: ([s2 / 25.0], [0.0]),
        theta=0.3,
    )
    unit = SCALES / np.linalg.norm(X - X.mean(axis=0), axis=0)
    np.testing.assert_allclose(model.inclusion_probabilities_, inclusion, atol=1e-9)
    np.testing.assert_allclose(model.coef_, mean * unit, rtol=1e-8)
    np.testing.assert_allclose(model.coef_sd_, sd * unit, rtol=1e-8)
    best = marginal_map(X, y, BernoulliGaussian(0.3, 5.0), 1.5, slab_scale=SCALES)
    assert tuple(best.support) == max(masses, key=masses.get)


def test_one_scale_for_all_is_another_sigma_beta(table):
    X, y = table
    scaled = SpikeSlabRegressor(slab_scale=[4.0] * 4, **GIVEN).fit(X, y)
    wider = SpikeSlabRegressor(**{**GIVEN, "sigma_beta": 20.0}).fit(X, y)
    np.testing.assert_allclose(
        scaled.inclusion_probabilities_, wider.inclusion_probabilities_, rtol=1e-9
    )
    assert scaled.log_evidence_ == pytest.approx(wider.log_evidence_, abs=1e-9)
    assert (scaled.draws_.sigma_beta == 5.0).all()


def test_ones_change_no_draw(table):
    X, y = table
    settings = {"solver": "gibbs", "n_draws": 200, "random_state": 0}
    plain = SpikeSlabRegressor(**settings).fit(X, y)
    ones = SpikeSlabRegressor(slab_scale=np.ones(4), **settings).fit(X, y)
    np.testing.assert_allclose(plain.draws_.coef.toarray(), ones.draws_.coef.toarray(), rtol=1e-6)


def test_in_units_of_the_columns(table):
    # Prior deviations of 0.5 per unit of each column, whatever its unit is
    X, y = table
    per_unit = np.array([0.5, 0.5, 0.5, 0.5])
    found = []
    for unit in (1.0, np.array([10.0, 1.0, 0.1, 3.0])):
        table = X * unit
        norms = np.linalg.norm(table - table.mean(axis=0), axis=0)
        scale = per_unit / unit * norms / 5.0
        found.append(SpikeSlabRegressor(slab_scale=scale, **GIVEN).fit(table, y).coef_ * unit)
    np.testing.assert_allclose(*found, rtol=1e-9)


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("variances", [name for name in VARIANCES if "gaussian" in name])
def test_chains_agree_with_all_models(table, variances, theta):
    X, y = table
    prior = core_prior(4, 29, theta=THETAS[theta], **VARIANCES[variances])
    prior.scales = SCALES.tolist()
    design = design_of(X, y)
    exact, _, _ = enumerate_all(design, prior, 10, 0, 1)
    for tempered in (False, True):
        chains = run_chains(design, prior, [[]] * 40, draws=200, warmup=100, tempered=tempered)
        for name in ("inclusion", "mean", "square"):
            found = np.array([chain[name] for chain in chains]) / 200
            error = found.std(axis=0, ddof=1) / np.sqrt(40)
            assert (np.abs(found.mean(axis=0) - exact[name]) < 4.5 * error + 1e-9).all(), name


@pytest.mark.parametrize("tempered", [False, True])
def test_laplace_slabs_of_orthogonal_columns(tempered):
    # Given the variances every column is by itself: a normal mean under its own Laplace slab
    rng = np.random.default_rng(0)
    Z, _ = np.linalg.qr(rng.standard_normal((40, 4)))
    y = Z @ np.array([0.5, 2.0, -3.0, 30.0]) + 0.1 * rng.standard_normal(40)
    prior = core_prior(4, 40, slab="laplace", noise=2.0, spread=30.0, theta=0.3)
    prior.scales = SCALES.tolist()
    design = design_of(Z, y, intercept=False)
    (chain,) = run_chains(design, prior, [[]], draws=20, warmup=10, tempered=tempered)
    for j, (c, scale) in enumerate(zip(Z.T @ y, SCALES, strict=True)):
        rate = np.sqrt(2 / 30.0) / scale

        def moment(power, c=c, rate=rate):
            def integrand(b):
                likelihood = np.exp((c * b - b * b / 2 - c * c / 2) / 2.0)
                return b**power * 0.5 * rate * np.exp(-rate * abs(b)) * likelihood

            ends = sorted({0.0, c - 40, c, c + 40})
            return sum(quad(integrand, *pair, epsabs=0)[0] for pair in pairwise(ends))

        odds = 0.3 / 0.7 * moment(0) * np.exp(c * c / 4)
        inside = odds / (1 + odds)
        assert chain["inclusion"][j] / 20 == pytest.approx(inside, rel=1e-8)
        assert chain["mean"][j] / 20 == pytest.approx(inside * moment(1) / moment(0), rel=1e-7)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"slab_scale": [1.0, 2.0]}, r"slab_scale has shape \(2,\), but X has 4 columns"),
        ({"slab_scale": [1.0, 0.0, 1.0, 1.0]}, "slab_scale must hold numbers from 0.001 to 1000"),
        ({"slab_scale": [1.0, np.nan, 1.0, 1.0]}, "got nan for 'x1'"),
        ({"slab_scale": {0: -1.0}}, "slab_scale must hold numbers from 0.001 to 1000; got -1.0"),
        ({"slab_scale": {"a": 1.0}}, "slab_scale names column 'a', which X does not have"),
        ({"slab_scale": 2.0}, "slab_scale"),
        ({"slab_scale": ["a"] * 4}, "slab_scale must hold numbers"),
        ({"slab_scale": [1.0] * 4, "slab": "zellner"}, "slab_scale is not part of slab='zellner'"),
        ({"slab_scale": [1.0] * 4, "slab": "boom"}, "slab_scale is not part of slab='boom'"),
        (
            {"slab_scale": [1.0, 1.0, 1.0, 900.0], "sigma_e": 0.01, "sigma_beta": 2.0},
            "slab_scale=900 times sigma_beta=2 is too far from sigma_e=0.01",
        ),
    ],
)
def test_bad_scales(table, parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        SpikeSlabRegressor(**parameters).fit(*table)
