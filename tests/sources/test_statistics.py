"""Statistics in place of rows: what estimators make of them."""

import json

import numpy as np
import pandas as pd
import pytest

from ellzero import (
    BernoulliGaussian,
    L0Classifier,
    L0PoissonRegressor,
    L0Regressor,
    L0RegressorCV,
    SpikeSlabRegressor,
    SufficientStatistics,
    l0_frontier,
    marginal_map,
    stability,
)
from ellzero.sources._moments import assign_folds


def make_table(seed, n=300, p=12, far=0.0, rho=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    beta = np.zeros(p)
    beta[[1, 4, 7]] = 1, -1, 0.5
    return X + far, X @ beta + rng.normal(size=n)


def in_blocks(X, y, size=64, weight=None):
    for a in range(0, len(y), size):
        block = X[a : a + size], y[a : a + size]
        yield block if weight is None else (*block, weight[a : a + size])


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("far", [0.0, 1e4])
@pytest.mark.parametrize("seed", range(3))
def test_l0_regressor_is_as_in_memory(seed, far, fit_intercept):
    X, y = make_table(seed, far=far)
    statistics = SufficientStatistics.from_arrays(in_blocks(X, y))
    known = L0Regressor(fit_intercept=fit_intercept).fit(statistics)
    whole = L0Regressor(fit_intercept=fit_intercept).fit(X, y)
    assert (known.support_ == whole.support_).all()
    # About zero, columns far from it are all but the same: products know half the digits
    digits = 1e-8 if fit_intercept or not far else 1e-6
    np.testing.assert_allclose(known.coef_, whole.coef_, rtol=digits, atol=1e-10)
    np.testing.assert_allclose(known.intercept_, whole.intercept_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(known.objective_, whole.objective_, rtol=0.1 * digits)
    np.testing.assert_allclose(known.predict(X), whole.predict(X), atol=1e-6)


@pytest.mark.parametrize(
    "parameters",
    [
        {"solver": "sbr", "lam": 3.0},
        {"solver": "exact", "lam": 3.0},
        {"size": 3},
        {"lam": "bic", "ridge": 0.1},
        {"feature_groups": {"a": [0, 1], "b": [4, 5, 6]}},
        {"always_include": [2], "penalty_factor": {4: 2.0}},
    ],
    ids=str,
)
def test_all_ways_to_search_take_statistics(parameters):
    X, y = make_table(3)
    statistics = SufficientStatistics.from_arrays(in_blocks(X, y))
    known = L0Regressor(**parameters).fit(statistics)
    whole = L0Regressor(**parameters).fit(X, y)
    assert (known.support_ == whole.support_).all()
    np.testing.assert_allclose(known.coef_, whole.coef_, rtol=1e-8, atol=1e-12)


def test_weights_count_as_rows_do():
    X, y = make_table(4)
    weight = np.random.default_rng(0).integers(0, 3, size=len(y)).astype(float)
    statistics = SufficientStatistics.from_arrays(in_blocks(X, y, weight=weight))
    assert statistics.weight == weight.sum()
    assert statistics.n == len(y)
    known, whole = L0Regressor().fit(statistics), L0Regressor().fit(X, y, weight)
    np.testing.assert_allclose(known.coef_, whole.coef_, rtol=1e-8, atol=1e-12)


def test_frontier_and_proof_are_as_in_memory():
    X, y = make_table(5)
    statistics = SufficientStatistics.from_arrays(in_blocks(X, y))
    known, whole = l0_frontier(statistics), l0_frontier(X, y)
    for size in range(13):
        assert (known.at(size=size).support == whole.at(size=size).support).all()
    numbers = [frontier.to_frame().select_dtypes("number") for frontier in (known, whole)]
    pd.testing.assert_frame_equal(*numbers, rtol=1e-8, atol=1e-9)
    assert known.certify(size=5).proved


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("ridge", [0.0, [0.0, 0.1], "cv"], ids=str)
def test_cross_validation_is_that_of_the_same_folds(fit_intercept, ridge):
    X, y = make_table(6, n=400)
    fold = np.concatenate(
        [
            assign_folds(part, 0, min(64, 400 - a), folds=5, seed=2)
            for part, a in enumerate(range(0, 400, 64))
        ]
    )
    splits = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(5)]
    statistics = SufficientStatistics.from_arrays(in_blocks(X, y), folds=5, random_state=2)
    assert statistics.n_folds == 5
    known = L0RegressorCV(ridge=ridge, fit_intercept=fit_intercept).fit(statistics)
    whole = L0RegressorCV(ridge=ridge, fit_intercept=fit_intercept, cv=splits).fit(X, y)
    assert (known.support_ == whole.support_).all()
    assert known.ridge_ == whole.ridge_
    np.testing.assert_allclose(known.lam_, whole.lam_, rtol=1e-8)
    np.testing.assert_allclose(known.coef_, whole.coef_, rtol=1e-7, atol=1e-10)
    for name in ("mean_error", "se_error", "r2", "split0_error"):
        np.testing.assert_allclose(
            known.cv_results_[name], whole.cv_results_[name], rtol=1e-8, atol=1e-10
        )


def test_nested_errors_and_groups_of_folds_are_as_in_memory():
    X, y = make_table(7, n=400)
    fold = assign_folds(0, 0, 400, folds=4, seed=0)
    splits = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(4)]
    statistics = SufficientStatistics.from_arrays([(X, y)], folds=4)
    known = L0RegressorCV(nested=True).fit(statistics)
    whole = L0RegressorCV(nested=True, cv=splits).fit(X, y)
    np.testing.assert_allclose(known.nested_score_, whole.nested_score_, rtol=1e-8)
    groups = {"a": [0, 1], "b": [4, 5, 6]}
    for ridge in (0.0, "cv"):
        known = L0RegressorCV(feature_groups=groups, ridge=ridge).fit(statistics)
        whole = L0RegressorCV(feature_groups=groups, ridge=ridge, cv=splits).fit(X, y)
        assert known.groups_ == whole.groups_
        np.testing.assert_allclose(known.coef_, whole.coef_, rtol=1e-7, atol=1e-10)


def test_frontiers_of_groups_are_as_in_memory():
    X, y = make_table(7, n=200)
    X = np.column_stack([X, X[:, 0] - X[:, 1]])  # which its group has already
    groups = {"a": [0, 1, X.shape[1] - 1], "b": [4, 5, 6]}
    how = {"feature_groups": groups, "max_size": 4}
    known = l0_frontier(SufficientStatistics.from_arrays([(X, y)]), **how)
    whole = l0_frontier(X, y, **how)
    np.testing.assert_allclose(known.energies, whole.energies, rtol=1e-8)
    for size in known.sizes:
        one, other = known.at(size=int(size)), whole.at(size=int(size))
        assert one.groups == other.groups
        np.testing.assert_allclose(one.coef, other.coef, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize(
    "parameters",
    [{}, {"slab": "zellner"}, {"solver": "gibbs"}, {"flat": [0, 3], "slab_scale": {1: 2.0}}],
    ids=str,
)
def test_posterior_is_as_in_memory(parameters):
    X, y = make_table(8)
    statistics = SufficientStatistics.from_arrays(in_blocks(X, y))
    known = SpikeSlabRegressor(random_state=0, n_draws=2000, **parameters).fit(statistics)
    whole = SpikeSlabRegressor(random_state=0, n_draws=2000, **parameters).fit(X, y)
    far = 0.03 if parameters.get("solver") else 1e-6
    assert np.abs(known.inclusion_probabilities_ - whole.inclusion_probabilities_).max() < far
    np.testing.assert_allclose(known.predict(X[:5]), whole.predict(X[:5]), atol=0.05)


def test_the_most_probable_model_is_as_in_memory():
    X, y = make_table(9)
    statistics = SufficientStatistics.from_arrays(in_blocks(X, y))
    prior = BernoulliGaussian(0.1, 10.0)
    known = marginal_map(statistics, None, prior, sigma_e=1.0)
    whole = marginal_map(X, y, prior, sigma_e=1.0)
    assert (known.support == whole.support).all()
    np.testing.assert_allclose(known.log_posterior, whole.log_posterior, rtol=1e-9)


def test_names_reach_the_estimator():
    X, y = make_table(10, p=8)
    names = [f"v{j}" for j in range(8)]
    statistics = SufficientStatistics.from_arrays([(pd.DataFrame(X, columns=names), y)])
    model = L0Regressor(always_include=["v2"]).fit(statistics)
    assert list(model.feature_names_in_) == names
    assert "v2" in model.get_feature_names_out()
    assert not hasattr(L0Regressor().fit(X, y), "feature_names_in_")


def test_float32_rows_are_summed_in_float64():
    X, y = make_table(11)
    single = X.astype(np.float32)
    statistics = SufficientStatistics.from_arrays([(single, y)])
    whole = SufficientStatistics.from_arrays([(single.astype(np.float64), y)])
    assert (statistics.covariance().to_numpy() == whole.covariance().to_numpy()).all()


def test_layouts_and_kinds_of_blocks_agree():
    X, y = make_table(12)
    X[:, 0] = np.round(X[:, 0])
    expected = np.cov(np.column_stack([X, y]), rowvar=False)
    from scipy import sparse

    frame = pd.DataFrame(X)
    frame[0] = frame[0].astype(int)
    frame[1] = frame[1].astype("Float64")
    for table in (X, np.asfortranarray(X), frame, sparse.csr_array(X), X.tolist()):
        found = SufficientStatistics.from_arrays([(table, y)])
        np.testing.assert_allclose(found.covariance(), expected, rtol=1e-10)
        np.testing.assert_allclose(found.means()[:-1], X.mean(axis=0), atol=1e-14)


def test_merge_is_all_rows():
    X, y = make_table(13, far=1e6)
    halves = [
        SufficientStatistics.from_arrays([(X[a], y[a])], folds=3)
        for a in (slice(0, 140), slice(140, 300))
    ]
    whole = SufficientStatistics.from_arrays([(X[:140], y[:140]), (X[140:], y[140:])], folds=3)
    merged = halves[0].merge(halves[1])
    assert (merged.n, merged.n_folds) == (300, 3)
    np.testing.assert_allclose(merged.covariance(), whole.covariance(), rtol=1e-9)
    assert halves[0].n == 140  # and is as it was


@pytest.mark.parametrize("folds", [0, 4])
def test_saved_and_loaded_it_is_the_same_to_the_bit(tmp_path, folds):
    X, y = make_table(14)
    statistics = SufficientStatistics.from_arrays(in_blocks(X, y), folds=folds)
    path = tmp_path / "statistics.npz"
    statistics.save(path)
    loaded = SufficientStatistics.load(path)
    assert repr(loaded) == repr(statistics)
    assert (loaded.names, loaded.target, loaded.weight) == (
        statistics.names,
        statistics.target,
        statistics.weight,
    )
    for one, two in zip(loaded._folds, statistics._folds, strict=True):
        assert (one.products == two.products).all()
        assert (one.mean == two.mean).all()
    first, second = (L0Regressor().fit(s) for s in (loaded, statistics))
    assert (first.coef_ == second.coef_).all()
    with np.load(path, allow_pickle=False) as archive:  # as documented
        assert json.loads(str(archive["header"]))["version"] == 1
    assert [item.name for item in tmp_path.iterdir()] == ["statistics.npz"]


def test_other_files_are_refused(tmp_path):
    X, y = make_table(15)
    path = tmp_path / "a.npz"
    with pytest.raises(FileNotFoundError):
        SufficientStatistics.load(path)
    path.write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="not a file of sufficient statistics"):
        SufficientStatistics.load(path)
    np.savez(path, a=np.zeros(3))
    with pytest.raises(ValueError, match="not a file of sufficient statistics"):
        SufficientStatistics.load(path)
    np.savez(path, header=np.array(json.dumps({"format": "something"})))
    with pytest.raises(ValueError, match="something else"):
        SufficientStatistics.load(path)
    np.savez(path, header=np.array([object()], dtype=object))
    with pytest.raises(ValueError, match="not a file of sufficient statistics"):
        SufficientStatistics.load(path)
    SufficientStatistics.from_arrays([(X, y)]).save(path)
    raw = path.read_bytes()
    path.write_bytes(raw[: len(raw) // 2])
    with pytest.raises(ValueError, match="or not whole"):
        SufficientStatistics.load(path)
    with _content(raw) as content:
        arrays = dict(content)
    for change, match in (
        ({"rows": arrays["rows"][:0]}, "damaged"),
        ({"products": arrays["products"] * np.nan}, "damaged"),
        ({"shift": arrays["shift"][:-1]}, "damaged"),
        ({"header": _with(arrays, version=99)}, "version 99"),
        ({"header": _with(arrays, names=["a"])}, "damaged"),
    ):
        np.savez(path, **{**arrays, **change})
        with pytest.raises(ValueError, match=match):
            SufficientStatistics.load(path)


def _content(raw):
    import io

    return np.load(io.BytesIO(raw), allow_pickle=False)


def _with(arrays, **changes):
    return np.array(json.dumps({**json.loads(str(arrays["header"])), **changes}))


def test_what_needs_rows_says_so():
    X, y = make_table(16)
    statistics = SufficientStatistics.from_arrays([(X, y)])
    model = L0Regressor().fit(statistics)
    for call in (
        lambda: L0PoissonRegressor().fit(statistics, y),
        lambda: stability(statistics, y),
        lambda: l0_frontier(statistics, loss="logistic"),
        lambda: model.predict(statistics),
        lambda: L0Classifier().fit(statistics, y),
    ):
        with pytest.raises(ValueError, match="needs the rows of X"):
            call()
    with pytest.raises(ValueError, match="y must be None"):
        L0Regressor().fit(statistics, y)
    with pytest.raises(ValueError, match="sample_weight must be None"):
        L0Regressor().fit(statistics, sample_weight=np.ones(300))
    for model in (L0Regressor(), L0RegressorCV(), SpikeSlabRegressor()):
        with pytest.raises(ValueError, match="requires y"):
            model.fit(X)
    with pytest.raises(ValueError, match="requires y"):
        l0_frontier(X)


def test_folds_have_to_be_there_and_must_not_be_contradicted():
    X, y = make_table(17)
    plain = SufficientStatistics.from_arrays([(X, y)])
    with pytest.raises(ValueError, match="keep no folds apart"):
        L0RegressorCV().fit(plain)
    folded = SufficientStatistics.from_arrays([(X, y)], folds=4)
    assert L0RegressorCV(cv=4).fit(folded).n_repeats_ == 1
    with pytest.raises(ValueError, match="cv=5, but the statistics in place of X have 4 folds"):
        L0RegressorCV(cv=5).fit(folded)
    with pytest.raises(ValueError, match="one set of folds"):
        L0RegressorCV(n_repeats=3).fit(folded)
    with pytest.raises(ValueError, match="groups must be None"):
        L0RegressorCV().fit(folded, groups=np.ones(300))


@pytest.mark.parametrize(
    ("blocks", "match"),
    [
        ([], "there are no rows"),
        ([(np.zeros((0, 3)), np.zeros(0))], "there are no rows"),
        ([(np.zeros((2, 3)), np.zeros(3))], "X has 2 rows, but y has the shape"),
        ([(np.zeros((2, 3)), np.zeros(2)), (np.zeros((2, 4)), np.zeros(2))], "block 1 has 4 col"),
        ([(np.zeros(3), np.zeros(3))], "block 0: X must have two dimensions"),
        ([(np.array([["a"]]), np.zeros(1))], "block 0: X must hold numbers"),
        ([(np.zeros((1, 1)), np.array(["a"]))], "block 0: y must hold numbers"),
        ([(np.ones((2, 1)), np.ones(2), np.array([1, -1]))], "not negative"),
        ([(np.ones((2, 1)), np.ones(2), np.zeros(2))], "not be zero for every row"),
        ([(np.ones((2, 1)), np.ones(2), np.ones(2)), (np.ones((2, 1)), np.ones(2))], "or none"),
        (
            [(np.array([[1.0], [np.nan]]), np.ones(2))],
            "block 0: 'x0' is missing or infinite in row",
        ),
        ([(np.array([[1.0], [2.0]]), np.array([1, np.inf]))], "block 0: 'y' is missing"),
        ([(np.array([[1e200], [-1e200]]), np.ones(2))], "'x0' are too large"),
    ],
)
def test_bad_blocks_get_one_sentence(blocks, match):
    with pytest.raises(ValueError, match=match):
        SufficientStatistics.from_arrays(blocks)


def test_bad_arguments_get_one_sentence():
    X, y = make_table(18, n=20)
    with pytest.raises(TypeError, match="must be a pair"):
        SufficientStatistics.from_arrays([X])
    for folds in (1, -2, 2.5, True):
        with pytest.raises(ValueError, match="folds must be 0, or from 2"):
            SufficientStatistics.from_arrays([(X, y)], folds=folds)
    with pytest.raises(TypeError, match="random_state must be an integer"):
        SufficientStatistics.from_arrays([(X, y)], random_state=None)
    with pytest.raises(ValueError, match="random_state must be from 0"):
        SufficientStatistics.from_arrays([(X, y)], random_state=-1)
    with pytest.raises(ValueError, match="n_jobs must be a positive"):
        SufficientStatistics.from_arrays([(X, y)], n_jobs=0)
    with pytest.raises(ValueError, match="take fewer folds"):
        SufficientStatistics.from_arrays([(X, y)], folds=20)
    with pytest.raises(ValueError, match="names has 2 entries"):
        SufficientStatistics.from_arrays([(X, y)], names=["a", "b"])
    with pytest.raises(ValueError, match="more than one column called 'a'"):
        SufficientStatistics.from_arrays([(X[:, :2], y)], names=["a", "a"])
    one = SufficientStatistics.from_arrays([(X, y)])
    with pytest.raises(TypeError, match="merge takes SufficientStatistics"):
        one.merge(X)
    with pytest.raises(ValueError, match="differ in their columns"):
        one.merge(SufficientStatistics.from_arrays([(X[:, 1:], y)]))
    with pytest.raises(ValueError, match="differ in their folds"):
        one.merge(SufficientStatistics.from_arrays([(X, y)], folds=2))


def test_a_constant_column_and_a_constant_response_are_as_in_memory():
    X, y = make_table(19)
    X[:, 3] = 1e9 + 0.1
    statistics = SufficientStatistics.from_arrays(in_blocks(X, y))
    assert (L0Regressor().fit(statistics).support_ == L0Regressor().fit(X, y).support_).all()
    flat = SufficientStatistics.from_arrays(in_blocks(X, np.full(300, 0.1)))
    assert L0Regressor().fit(flat).support_.size == 0


def test_a_fit_that_is_all_but_exact_is_spoken_of():
    X, _ = make_table(20)
    y = X[:, 2] - X[:, 5]
    known = SufficientStatistics.from_arrays(in_blocks(X, y), folds=3)
    with pytest.warns(UserWarning, match="exact to ten digits"):
        assert set(L0Regressor().fit(known).support_) >= {2, 5}
    with pytest.warns(UserWarning, match="exact to ten digits"):
        L0RegressorCV().fit(known)
