"""What is said of an X, y or sample_weight that does not hold numbers: a sentence with its name."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ellzero import (
    HorseshoeRegressor,
    L0Regressor,
    L0RegressorCV,
    L0SegmentDenoiser,
    SpikeSlabRegressor,
    l0_frontier,
)

ROWS = 8
DAYS = np.arange(ROWS).astype("datetime64[D]")
VECTORS = {
    "letters": (list("1bcdefgh"), "must hold numbers; entry 1 is 'b'"),
    "objects": (np.array([1.5, "b"] * 4, dtype=object), "must hold numbers; entry 1 is 'b'"),
    "bytes": (np.array([b"a"] * ROWS), "must hold numbers; entry 0 is b'a'"),
    "categories": (pd.Series(list("aabbccdd"), dtype="category"), "entry 0 is 'a'"),
    "None": ([1, 2, None, 4, 5, 6, 7, 8], "contains NaN"),
    "objects with NaN": (np.array([1, np.nan] * 4, dtype=object), "contains NaN"),
    "pandas.NA": (pd.array([1, None] * 4, dtype="Int64"), "contains NaN"),
    "complex": (np.arange(ROWS) * 1j, "must hold real numbers"),
    "dates": (DAYS, "holds dates or durations, not numbers"),
    "durations": (DAYS - DAYS[0], "holds dates or durations, not numbers"),
    "pandas' dates": (pd.Series(DAYS), "holds dates or durations, not numbers"),
    "moments": ([datetime.datetime(2024, 1, 1)] * ROWS, "entry 0 is datetime.datetime"),
    "dicts": ([{}] * ROWS, r"entry 0 is \{\}"),
    "ragged": ([[1], [1, 2]] * 4, "differ in length"),
}
TABLES = {
    "letters": ([["1", "b"]] * ROWS, "X does not hold real numbers: could not convert"),
    "objects": (np.array([[1.5, "b"]] * ROWS, dtype=object), "X does not hold real numbers: could"),
    "a text": ("abc", "X does not hold real numbers: could not convert"),
    "None": ([[1, None]] * ROWS, "Input X contains NaN"),
    "complex": (
        np.ones((ROWS, 2)) * 1j,
        "X does not hold real numbers: Complex data not supported",
    ),
    "dates": (np.column_stack([DAYS, DAYS]), "X holds dates or durations"),
    "dates in lists": ([[day, day] for day in DAYS], "X holds dates or durations"),
    "moments": ([[datetime.datetime(2024, 1, 1)]] * ROWS, "X does not hold real numbers: float()"),
    "ragged": ([[1, 2], [3]] * 4, "X does not hold real numbers: setting an array element"),
    "a frame": (pd.DataFrame({"u": list("abcdefgh")}), "X: column 'u' does not hold numbers"),
}
FITS = {
    "L0Regressor": lambda X, y: L0Regressor().fit(X, y),
    "L0RegressorCV": lambda X, y: L0RegressorCV(cv=2).fit(X, y),
    "l0_frontier": l0_frontier,
    "SpikeSlabRegressor": lambda X, y: SpikeSlabRegressor(n_draws=5).fit(X, y),
    "HorseshoeRegressor": lambda X, y: HorseshoeRegressor(n_draws=5).fit(X, y),
}


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("case", VECTORS)
def test_y(rng, fit, case):
    y, words = VECTORS[case]
    with pytest.raises(ValueError, match=words) as error:
        FITS[fit](rng.normal(size=(ROWS, 3)), y)
    assert "y " in str(error.value).split("\n")[0]


@pytest.mark.parametrize("case", VECTORS)
def test_sample_weight(rng, case):
    weights, words = VECTORS[case]
    with pytest.raises(ValueError, match=words) as error:
        L0Regressor().fit(rng.normal(size=(ROWS, 3)), np.arange(ROWS), sample_weight=weights)
    assert "sample_weight " in str(error.value)


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("case", TABLES)
def test_table(fit, case):
    X, words = TABLES[case]
    with pytest.raises((TypeError, ValueError)) as error:
        FITS[fit](X, np.arange(float(ROWS)))
    assert str(error.value).startswith(words)
    assert words.endswith("NaN") or "\n" not in str(error.value)


@pytest.mark.parametrize("case", TABLES)
def test_tables_of_predictions_and_transformers(rng, case):
    X, words = TABLES[case]
    width = np.shape(X)[1] if case not in ("ragged", "a text") else 2
    table = pd.DataFrame(rng.normal(size=(ROWS, width)), columns=["u", "v"][:width])
    table = table if case == "a frame" else table.to_numpy()
    y = np.arange(float(ROWS))
    draws = HorseshoeRegressor(n_draws=5, n_chains=1, random_state=0)
    for fitted in (L0Regressor(lam=1.0).fit(table, y), draws.fit(table, y)):
        with pytest.raises((TypeError, ValueError)) as error:
            fitted.predict(X)
        assert str(error.value).startswith(words)
    if case != "None":  # which stands for a gap there
        with pytest.raises((TypeError, ValueError)) as error:
            L0SegmentDenoiser().fit(X)
        assert str(error.value).startswith(words)


@pytest.mark.parametrize(
    "y",
    [
        np.arange(ROWS) > 3,
        np.arange(ROWS, dtype=object),
        [Decimal(i) for i in range(ROWS)],
        [str(i) for i in range(ROWS)],
        pd.array(range(ROWS), dtype="Int64"),
        pd.Series(range(ROWS), dtype="float32"),
    ],
)
def test_numbers_of_every_kind(rng, y):
    X = rng.normal(size=(ROWS, 3))
    plain = L0Regressor(lam=1e-3).fit(X, np.array([float(v) for v in y]))
    fitted = L0Regressor(lam=1e-3).fit(sparse.csc_array(X), y)
    np.testing.assert_allclose(fitted.coef_, plain.coef_, atol=1e-9)
