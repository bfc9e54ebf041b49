"""Prediction by one model, against fits that have no other, and distributions on grids."""

import numpy as np
import pandas as pd
import pytest
from model_kinds import KINDS, make_data, slab_shape, variances
from reference.marginal_likelihood import new_row_cdf
from reference.subsets import preprocess
from scipy import stats

from ellzero import SpikeSlabClassifier, SpikeSlabRegressor
from ellzero.posterior._student_mixture import StudentMixture

QUICK = {"n_chains": 2, "n_draws": 50, "random_state": 0}


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_under_a_model_have_their_probability(kind):
    X, y = make_data()
    n = len(y)
    model = SpikeSlabRegressor(theta=0.4, **KINDS[kind], **QUICK).fit(X, y)
    Z, target = preprocess(X.to_numpy(), y)
    norms = np.linalg.norm(X - X.mean(), axis=0)
    row = pd.DataFrame([[1.0, -0.5, 2.0, 0.0, 1.0]], columns=list(X))
    for i in range(3):
        columns = [list(X).index(name) for name in model.models_["variables"][i]]
        lower, upper = model.predict_interval(row, level=0.8, model=i)
        at = np.array([lower[0], upper[0]]) - y.mean()
        probability = new_row_cdf(
            Z[:, columns],
            target,
            n if kind.startswith("boom") else n - 1,
            slab_shape(Z[:, columns], kind, n),
            variances(kind, y, count=150),
            ((row - X.mean()) / norms).to_numpy()[0, columns],
            1 + 1 / n,
            at,
        )
        np.testing.assert_allclose(probability, [0.1, 0.9], atol=1e-5)


@pytest.mark.parametrize(
    "settings",
    [
        *KINDS.values(),
        {"fit_intercept": False},
        {"feature_groups": {"one": ["a", "d"]}},
        {"slab_scale": {"a": 3.0, "c": 0.5}},
    ],
)
def test_a_model_is_the_fit_in_which_it_is_alone(settings):
    X, y = make_data(seed=5)
    settings = {**settings, "n_chains": 2, "n_draws": 4000, "random_state": 0}
    model = SpikeSlabRegressor(theta=0.3, **settings).fit(X, y)
    for name in ("best", "median"):
        table = model.coefficients(name)
        inside = table.index[table["sd"] > 0]
        alone = SpikeSlabRegressor(theta={column: float(column in inside) for column in X})
        alone.set_params(**settings).fit(X, y)
        np.testing.assert_allclose(table["coefficient"], alone.coef_, atol=1e-7)
        np.testing.assert_allclose(table["sd"], alone.coef_sd_, rtol=1e-6)
        assert table.attrs["intercept"] == pytest.approx(alone.intercept_, abs=1e-7)
        mean, sd = model.predict(X, return_std=True, model=name)
        np.testing.assert_allclose(mean, alone.predict(X), atol=1e-7)
        np.testing.assert_allclose(mean, model.predict(X, model=name), atol=1e-12)
        np.testing.assert_allclose(sd, alone.predict(X, return_std=True)[1], rtol=0.03)
        interval = alone.credible_interval(0.9)
        found = model.coefficients(name, level=0.9)
        for end in ("low", "high"):
            off = np.abs(found[end] - interval[end])
            assert (off <= 0.15 * np.maximum(table["sd"], 1e-12)).all()


@pytest.mark.parametrize("intercept", [True, False])
def test_flat_terms_are_known_as_little_as_least_squares_say(intercept):
    # Everything is normal: one regression with no ridge on flat columns
    X, y = make_data(seed=8)
    settings = {"sigma_e": 1.3, "sigma_beta": 6.0, "flat": ["a", "d"], "fit_intercept": intercept}
    model = SpikeSlabRegressor(theta=0.3, always_include=["c"], **settings, **QUICK).fit(X, y)
    table = model.coefficients("best")
    chosen = [name for name in X if table["sd"][name] > 0]
    assert {"a", "d"} < set(chosen)
    norms = np.linalg.norm(X - (X.mean() if intercept else 0), axis=0)
    ridge = (1.3 / 6.0) ** 2 * norms**2
    ridge = [0.0 if name in ("a", "d") else ridge[list(X).index(name)] for name in chosen]
    full = np.column_stack([np.full(len(y), float(intercept)), X[chosen]])
    precision = full.T @ full + np.diag([0.0 if intercept else 1.0, *ridge])
    mean = np.linalg.solve(precision, full.T @ y)
    covariance = 1.3**2 * np.linalg.inv(precision)
    np.testing.assert_allclose(table["coefficient"][chosen], mean[1:], atol=1e-9)
    np.testing.assert_allclose(table["sd"][chosen], np.sqrt(np.diag(covariance)[1:]), rtol=1e-8)
    new = pd.DataFrame(np.random.default_rng(1).standard_normal((7, 5)) * 3, columns=list(X))
    rows = np.column_stack([np.full(7, float(intercept)), new[chosen]])
    found, sd = model.predict(new, return_std=True, model="best")
    np.testing.assert_allclose(found, rows @ mean, atol=1e-9)
    expected = np.sqrt(1.3**2 + np.einsum("ij,jk,ik->i", rows, covariance, rows))
    np.testing.assert_allclose(sd, expected, rtol=1e-8)
    _, upper = model.predict_interval(new, level=0.9, model="best")
    np.testing.assert_allclose(upper, found + stats.norm.ppf(0.95) * expected, rtol=1e-8)


def test_best_is_the_first_of_all_models_and_median_the_support():
    X, y = make_data(seed=6)
    model = SpikeSlabRegressor(**QUICK).fit(X, y)
    best, median = model.coefficients("best"), model.coefficients("median")
    assert tuple(best.index[best["sd"] > 0]) == model.models_["variables"][0]
    assert np.flatnonzero(median["sd"]).tolist() == model.support_.tolist()
    np.testing.assert_array_equal(model.predict(X, model=0), model.predict(X, model="best"))
    average = model.coefficients("average")
    np.testing.assert_array_equal(average["coefficient"], model.coef_)
    assert average.attrs["intercept"] == model.intercept_


def test_best_of_chains_is_by_odds_not_by_visits():
    X, y = make_data(p=8, seed=7, noise=3.0)
    exact = SpikeSlabRegressor(solver="enumerate", **QUICK).fit(X, y)
    few = SpikeSlabRegressor(solver="gibbs", n_chains=2, n_draws=300, random_state=1).fit(X, y)
    np.testing.assert_allclose(few.predict(X, model="best"), exact.predict(X, model="best"))


def test_the_empty_model_and_sparse_rows():
    from scipy import sparse

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 4)), rng.standard_normal(50)
    model = SpikeSlabRegressor(**QUICK).fit(X, y)
    assert model.models_["size"][0] == 0
    mean, sd = model.predict(sparse.csr_array(X), return_std=True, model="best")
    np.testing.assert_allclose(mean, y.mean(), atol=1e-12)
    lower, upper = model.predict_interval(X, model="best")
    assert sd[0] == pytest.approx(y.std(ddof=1) * np.sqrt(1 + 1 / 50), rel=0.05)
    assert upper - lower == pytest.approx(2 * 2.01 * sd[0], rel=0.03)
    assert (sd == sd[0]).all()


def test_what_is_refused():
    X, y = make_data()
    model = SpikeSlabRegressor(**QUICK).fit(X, y)
    for wrong in ("bma", None, -1, 10_000, True, 1.5):
        with pytest.raises(ValueError, match="model must be 'average', 'best', 'median' or"):
            model.predict(X, model=wrong)
    with pytest.raises(ValueError, match="level"):
        model.coefficients(level=2)
    laplace = SpikeSlabRegressor(slab="laplace", **QUICK).fit(X, y)
    with pytest.raises(ValueError, match=r"is met by 1 draws, too few to predict by it"):
        laplace.predict_interval(X, model=len(laplace.models_) - 1)
    for wrong in ("bma", -1):
        with pytest.raises(ValueError, match="model must be 'average'"):
            laplace.coefficients(wrong)


def test_a_model_under_a_laplace_slab_is_known_by_its_draws():
    X, y = make_data(seed=9, n=80)
    settings = {"slab": "laplace", "n_draws": 4000, "random_state": 0}
    model = SpikeSlabRegressor(theta=0.1, **settings).fit(X, y)
    for name in ("best", "median", 1):
        table = model.coefficients(name, level=0.9)
        inside = table.index[table["sd"] > 0]
        alone = SpikeSlabRegressor(theta={column: float(column in inside) for column in X})
        alone.set_params(**settings).fit(X, y)
        scale = alone.coef_sd_.max()
        np.testing.assert_allclose(table["coefficient"], alone.coef_, atol=0.1 * scale)
        np.testing.assert_allclose(table["sd"], alone.coef_sd_, atol=0.1 * scale)
        mean, sd = model.predict(X, return_std=True, model=name)
        np.testing.assert_allclose(mean, alone.predict(X), atol=0.15 * scale)
        np.testing.assert_allclose(sd, alone.predict(X, return_std=True)[1], rtol=0.05)
        low, _ = model.predict_interval(X, model=name)
        np.testing.assert_allclose(low, alone.predict_interval(X)[0], atol=0.05 * sd[0])
    assert model.draws_.n_draws == 4000  # as it was


@pytest.mark.parametrize("groups", [None, {"one": [0, 1]}])
def test_classes_by_one_model(groups):
    X, y = make_data(seed=10, n=120)
    X, y = X.to_numpy(), (y > y.mean()).astype(int)
    settings = {"sigma_beta": 20.0, "feature_groups": groups, "solver": "gibbs", "random_state": 0}
    model = SpikeSlabClassifier(theta=0.1, n_draws=4000, **settings).fit(X, y)
    for name in ("best", "median"):
        row = model.models_.iloc[0] if name == "best" else None
        inside = model.support_ if row is None else _columns_of(row, groups)
        theta = {j: float(j in inside) for j in range(5)}
        alone = SpikeSlabClassifier(theta=theta, n_draws=2000, **settings).fit(X, y)
        found, sd = model.predict_proba(X, return_std=True, model=name)
        expected, expected_sd = alone.predict_proba(X, return_std=True)
        np.testing.assert_allclose(found, expected, atol=0.02)
        np.testing.assert_allclose(sd, expected_sd, atol=0.02)
        low, high = model.probability_interval(X, model=name)
        np.testing.assert_allclose(low, alone.probability_interval(X)[0], atol=0.05)
        assert (low < high).all()
    with pytest.raises(ValueError, match="model must be"):
        model.predict_proba(X, model="bma")


def _columns_of(row, groups):
    if groups is None:
        return [int(name[1:]) for name in row["variables"]]
    return [j for name in row["groups"] for j in groups.get(name) or [int(name[1:])]]


def test_no_variance_without_degrees_of_freedom():
    X, y = np.array([[0.0], [1.0]]), np.array([0.0, 2.0])
    model = SpikeSlabRegressor(slab="zellner", theta=[1.0], n_draws=10, random_state=0).fit(X, y)
    _, sd = model.predict(X, return_std=True, model="best")
    assert np.isinf(sd).all()
    assert np.isinf(model.coefficients()["sd"]).all()


@pytest.mark.parametrize("degrees", [3.5, np.inf])
def test_mixtures(degrees):
    weight = np.array([0.2, 0.5, 0.3])
    location, scale = np.array([[0.0, 1.0, 5.0]]), np.array([[1.0, 0.5, 2.0]])
    mixture = StudentMixture(weight, location, scale, degrees)
    law = stats.norm if np.isinf(degrees) else stats.t(degrees)
    low, high = mixture.interval(0.9)
    for end, level in ((low, 0.05), (high, 0.95)):
        assert law.cdf((end - location) / scale)[0] @ weight == pytest.approx(level, abs=1e-12)
    draws = np.random.default_rng(0).choice(3, size=400_000, p=weight)
    noise = law.rvs(size=draws.size, random_state=1)
    values = location[0, draws] + scale[0, draws] * noise
    assert mixture.mean()[0] == pytest.approx(values.mean(), abs=0.02)
    assert mixture.sd()[0] == pytest.approx(values.std(), rel=0.02)
