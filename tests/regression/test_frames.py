"""What a DataFrame of plain numbers is taken for, without scikit-learn's checks, against them."""

import numpy as np
import pandas as pd
import pytest

from ellzero import L0Regressor, _sklearn


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table,
        lambda table: table.astype({"a": np.float32}),
        lambda table: table.astype({"a": int}),
        lambda table: table.astype({"a": bool}),
        lambda table: table.astype({"a": "Float64"}),
        lambda table: table.astype(np.float32),
        lambda table: table.astype(int),
        lambda table: table.iloc[::2],
        lambda table: table.rename(columns=dict(zip("abcd", range(4), strict=True))),
        lambda table: table.T.copy().T,
    ],
)
@pytest.mark.parametrize("series", [True, False])
def test_frames_are_read_as_scikit_learn_reads_them(change, series, rng, monkeypatch):
    table = change(pd.DataFrame(rng.integers(-9, 9, (60, 4)).astype(float), columns=list("abcd")))
    y = table.to_numpy().astype(float) @ [1.0, 0.0, 2.0, 0.0] + rng.normal(size=len(table))
    y = pd.Series(y, index=table.index) if series else y
    quick = L0Regressor("bic").fit(table, y)
    monkeypatch.setattr(_sklearn, "_is_plain", lambda array, dimensions: False)
    slow = L0Regressor("bic").fit(table, y)
    np.testing.assert_allclose(quick.coef_, slow.coef_, rtol=1e-12)
    assert quick.n_features_in_ == slow.n_features_in_ == 4
    names = [getattr(model, "feature_names_in_", None) for model in (quick, slow)]
    if names[1] is None:
        assert names[0] is None
    else:
        assert names[0].dtype == names[1].dtype == object
        assert names[0].tolist() == names[1].tolist()


def test_bad_frames_are_refused_as_before(rng):
    table = pd.DataFrame(rng.normal(size=(20, 3)), columns=list("abc"))
    y = rng.normal(size=20)
    with pytest.raises(ValueError, match="NaN"):
        L0Regressor().fit(table.where(table > 0), y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        L0Regressor().fit(table, y[:-1])
    with pytest.raises(TypeError, match="strings"):
        L0Regressor().fit(table.set_axis(["a", 1, "c"], axis=1), y)
    model = L0Regressor().fit(table, y)
    assert not hasattr(model.fit(table.to_numpy(), y), "feature_names_in_")
