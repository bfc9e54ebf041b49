"""What ArviZ is given, of versions 0.x and 1.x (make test-arviz), and that it can use it."""

import sys
import warnings
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import logsumexp

from ellzero import (
    BayesianBridgeRegressor,
    HorseshoeRegressor,
    SpikeSlabClassifier,
    SpikeSlabRegressor,
)

mpl.use("Agg")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of what it will be like in later versions
    try:
        az = pytest.importorskip("arviz", reason="the package arviz is optional")
    except FileNotFoundError:  # once a day it writes a file, and another worker was quicker
        az = pytest.importorskip("arviz", reason="the package arviz is optional")
NEW = int(az.__version__.split(".")[0]) >= 1
# It warns of itself, and of packages beneath it
pytestmark = pytest.mark.filterwarnings("ignore")

QUICK = {"n_chains": 2, "n_draws": 300, "n_warmup": 100, "random_state": 0}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((40, 4)), columns=list("abcd"))
    return X, X["a"] - X["b"] + rng.standard_normal(40) + 5


@pytest.fixture(scope="module")
def classes(table):
    X, y = table
    return X, np.where(y > 5, "high", "low")


REGRESSORS = {
    "columns": SpikeSlabRegressor(**QUICK),
    "chains": SpikeSlabRegressor(solver="gibbs", **QUICK),
    "groups": SpikeSlabRegressor(feature_groups={"g": ["a", "b"]}, **QUICK),
    "bridge": BayesianBridgeRegressor(**QUICK),
    "horseshoe": HorseshoeRegressor(**QUICK),
}


@pytest.mark.parametrize("name", REGRESSORS)
def test_groups_of_a_regression(table, name):
    X, y = table
    model = REGRESSORS[name].fit(X, y)
    data = model.to_arviz(X, y, random_state=0)
    draws = model.draws_
    coef = draws.coef if isinstance(draws.coef, np.ndarray) else draws.coef.toarray()
    posterior = data["posterior"]
    np.testing.assert_array_equal(posterior["beta"].to_numpy().reshape(600, 4), coef)
    assert posterior["predictor"].to_numpy().tolist() == list("abcd")
    assert posterior["sigma_e"].shape == posterior["intercept"].shape == (2, 300)
    linear = coef @ X.to_numpy().T + draws.intercept.reshape(-1, 1)
    expected = stats.norm.logpdf(y.to_numpy(), linear, draws.sigma_e.reshape(-1, 1))
    found = data["log_likelihood"]["y"]
    assert found.dims == ("chain", "draw", "observation")
    np.testing.assert_allclose(found.to_numpy().reshape(600, 40), expected, atol=1e-10)
    np.testing.assert_array_equal(data["observed_data"]["y"], y)
    new = data["posterior_predictive"]["y"].to_numpy().reshape(600, 40)
    off = (new - linear) / draws.sigma_e.reshape(-1, 1)
    assert stats.kstest(off.ravel(), "norm").pvalue > 1e-4
    if name == "groups":
        np.testing.assert_array_equal(data["sample_stats"]["size"], draws.size)
        assert posterior["group"].to_numpy().tolist() == ["g", "c", "d"]
        assert posterior["included"].shape == (2, 300, 3)
    again = model.to_arviz(X, y, random_state=0)["posterior_predictive"]["y"]
    np.testing.assert_array_equal(again.to_numpy().reshape(600, 40), new)


def test_groups_of_a_classifier(classes):
    X, y = classes
    model = SpikeSlabClassifier(**QUICK).fit(X, y)
    data = model.to_arviz(X, y, random_state=0)
    linear = model.draws_.coef.toarray() @ X.to_numpy().T + model.draws_.intercept.reshape(-1, 1)
    second = 1 / (1 + np.exp(-linear))
    ones = y == model.classes_[1]
    expected = np.log(np.where(ones, second, 1 - second))
    found = data["log_likelihood"]["y"].to_numpy().reshape(600, 40)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    new = data["posterior_predictive"]["y"].to_numpy().reshape(600, 40)
    assert set(np.unique(new)) == {0, 1}
    np.testing.assert_allclose(new.mean(axis=0), second.mean(axis=0), atol=0.12)
    np.testing.assert_array_equal(data["observed_data"]["y"], ones.astype(int))
    assert np.isfinite(_elpd(az.loo(data)))


def test_rows_under_noise_of_student(table):
    X, y = table
    model = SpikeSlabRegressor(**QUICK).fit(X, y)
    df = np.random.default_rng(0).uniform(1, 9, size=(2, 300))
    model.draws_ = replace(model.draws_, noise_df=df)
    linear = model.draws_.coef.toarray() @ X.to_numpy().T + model.draws_.intercept.reshape(-1, 1)
    sigma, df = model.draws_.sigma_e.reshape(-1, 1), df.reshape(-1, 1)
    data = model.to_arviz(X, y, random_state=0)
    found = data["log_likelihood"]["y"].to_numpy().reshape(600, 40)
    np.testing.assert_allclose(found, stats.t.logpdf(y.to_numpy(), df, linear, sigma), atol=1e-9)
    new = data["posterior_predictive"]["y"].to_numpy().reshape(600, 40)
    levels = stats.t.cdf((new - linear) / sigma, df)
    assert stats.kstest(levels.ravel(), "uniform").pvalue > 1e-4


def test_only_what_is_asked_for(table):
    X, y = table
    model = REGRESSORS["columns"].fit(X, y)
    assert _groups(model.to_arviz()) == {"posterior", "sample_stats"}
    some = model.to_arviz(X, y, log_likelihood=False)
    assert _groups(some) == {"posterior", "sample_stats", "posterior_predictive", "observed_data"}
    some = model.to_arviz(X, y, posterior_predictive=False)
    assert _groups(some) == {"posterior", "sample_stats", "log_likelihood", "observed_data"}


@pytest.mark.parametrize("name", REGRESSORS)
def test_the_prior_comes_along(table, name):
    X, y = table
    model = REGRESSORS[name].fit(X, y)
    data = model.to_arviz(X, y, prior=50, random_state=3)
    assert set(data["prior"].data_vars) == set(data["posterior"].data_vars)
    drawn = model.sample_prior_predictive(X, y, 50, random_state=3)
    np.testing.assert_allclose(data["prior_predictive"]["y"].to_numpy()[0], drawn, atol=1e-8)


def test_pictures_and_tables(table):
    X, y = table
    first = REGRESSORS["chains"].fit(X, y).to_arviz(X, y)
    second = HorseshoeRegressor(**QUICK).fit(X, y).to_arviz(X, y)
    assert len(az.summary(first, var_names=["beta"])) == 4
    assert set(az.compare({"spikes": first, "horseshoe": second}).index) == {"spikes", "horseshoe"}
    az.plot_trace(first, var_names=["beta", "sigma_e"])
    az.plot_forest(first, var_names=["beta"])
    (az.plot_ppc_dist if NEW else az.plot_ppc)(first)
    mpl.pyplot.close("all")


@pytest.mark.parametrize(
    "settings",
    [{"sigma_beta": 8.0}, {"slab": "zellner"}, {"feature_groups": {"g": ["a", "b"]}}],
)
def test_leaving_rows_out_is_what_refits_say(table, settings):
    # Exact: every row out in turn, the others fitted anew, all models visited
    X, y = table
    model = SpikeSlabRegressor(**settings, n_draws=2000, random_state=0).fit(X, y)
    found = az.loo(model.to_arviz(X, y), pointwise=True)
    assert float(np.max(found.pareto_k)) < 0.7
    exact = 0.0
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        fit = SpikeSlabRegressor(**settings, n_draws=500, random_state=i).fit(X[others], y[others])
        coef, at_zero, sd = fit._predictive_draws()
        density = stats.norm.logpdf(y[i], coef @ X.to_numpy()[i] + at_zero, sd)
        exact += logsumexp(density) - np.log(density.size)
    assert _elpd(found) == pytest.approx(exact, abs=0.2)
    in_sample = logsumexp(model._row_log_likelihood(X.to_numpy(), y.to_numpy()), axis=0)
    assert (in_sample - np.log(8000)).sum() > exact + 1.5  # the test can tell


def test_rows_have_to_be_those_of_the_fit(table):
    X, y = table
    model = REGRESSORS["columns"].fit(X, y, sample_weight=np.arange(40) % 2 + 1)
    with pytest.raises(ValueError, match="X has 40 rows, but the model was fitted to 60"):
        model.to_arviz(X, y)
    twice = np.repeat(np.arange(40), np.arange(40) % 2 + 1)
    data = model.to_arviz(X.iloc[twice], y.iloc[twice])
    assert data["log_likelihood"]["y"].shape == (2, 300, 60)
    with pytest.raises(ValueError, match="X and y belong together"):
        model.to_arviz(X)
    with pytest.raises(ValueError, match="y has 39 numbers, but X has 40 rows"):
        model.to_arviz(X, y[:39])
    with pytest.raises(ValueError, match="finite"):
        model.to_arviz(X, np.full(40, np.nan))


def test_without_the_package(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match=r"arviz, 0.20 or newer, 1.x included: pip install"):
        REGRESSORS["columns"].fit(*table).to_arviz()


def _elpd(loo):
    return float(loo.elpd if NEW else loo.elpd_loo)


def _groups(data):
    return {str(name).strip("/") for name in (data.groups if NEW else data.groups())} - {""}
