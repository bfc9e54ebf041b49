import numpy as np
import pytest

from ellzero.datasets import load_diabetes_interactions, make_collinear


def test_the_papers_design():
    X, _, beta = make_collinear(random_state=0)
    assert X.shape == (120, 100)
    np.testing.assert_allclose(X.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(X, axis=0), 1)
    assert sorted(beta[beta != 0]) == [-5, -4, -3, -2, -1, 1, 2, 3, 4, 5]
    # d = 5: most of the variance is in five directions
    spectrum = np.linalg.svd(X, compute_uv=False) ** 2
    assert spectrum[:5].sum() / spectrum.sum() > 0.6


def test_signal_to_noise_ratio():
    X, y, beta = make_collinear(20_000, 20, snr_db=10, random_state=1)
    signal = X @ beta
    assert 10 * np.log10(signal.var() / (y - signal).var()) == pytest.approx(10, abs=0.1)
    X, y, beta = make_collinear(50, 20, snr_db=np.inf, random_state=1)
    np.testing.assert_allclose(y, X @ beta, rtol=1e-12)


def test_columns_have_the_covariance_of_the_factors():
    X, _, _ = make_collinear(50_000, 6, n_factors=0, coefficients=(1,), random_state=2)
    np.testing.assert_allclose(X.T @ X, np.eye(6), atol=0.02)


def test_seeds():
    first, again, other = (make_collinear(random_state=s) for s in (3, 3, 4))
    np.testing.assert_array_equal(first[1], again[1])
    assert not np.array_equal(first[1], other[1])


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"n": 1}, "n must be"),
        ({"p": 0}, "p must be"),
        ({"n_factors": -1}, "n_factors must"),
        ({"p": 5}, "coefficients must be one-dimensional with at most p=5"),
        ({"snr_db": np.nan}, "snr_db must"),
        ({"snr_db": -np.inf}, "snr_db must"),
        ({"snr_db": "a"}, "snr_db must"),
        ({"n": 2.5}, "n must be"),
        ({"n": None}, "n must be"),
        ({"n_factors": 1.5}, "n_factors must be"),
        ({"coefficients": [np.nan]}, "Input coefficients contains NaN"),
        ({"coefficients": [1e300]}, "coefficients must be"),
    ],
)
def test_bad_arguments(arguments, name):
    with pytest.raises(ValueError, match=name):
        make_collinear(**arguments)


def test_diabetes():
    diabetes = load_diabetes_interactions()
    names = diabetes.feature_names
    assert diabetes.data.shape == (442, 64)
    assert len(set(names)) == 64
    assert names[:10] == ["age", "sex", "bmi", "map", "tc", "ldl", "hdl", "tch", "ltg", "glu"]
    assert sum("^" in name for name in names) == 9
    assert "sex^2" not in names
    assert sum(":" in name for name in names) == 45
    np.testing.assert_allclose(diabetes.data.sum(), 0, atol=1e-10)
    np.testing.assert_allclose((diabetes.data**2).sum(), 1)
    assert diabetes.target.name == "progression"
    assert diabetes.target.mean() == pytest.approx(152.13, abs=0.01)
    # A product is made of standardised columns, then standardised itself.
    standard = (diabetes.data - diabetes.data.mean()) / diabetes.data.std(ddof=0)
    product = standard["age"] * standard["sex"]
    assert np.corrcoef(product, diabetes.data["age:sex"])[0, 1] == pytest.approx(1)
