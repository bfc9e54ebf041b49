"""L0SegmentDenoiser as a scikit-learn transformer."""

import numpy as np
import pandas as pd
import pytest
from estimator_checks import assert_passes_every_check
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

from ellzero import L0SegmentDenoiser, segment
from ellzero.datasets import make_spikes


@pytest.mark.parametrize("options", ["", "1.0, decay=0.9, jumps='positive', solver='pelt'"])
def test_scikit_learns_checks(options):
    assert_passes_every_check(f"L0SegmentDenoiser({options})")


@pytest.mark.parametrize("lam", ["bic", "cv", 0.5])
def test_every_row_by_itself(lam):
    rows = np.array([make_spikes(200, decay=0.9, random_state=seed)[0] for seed in range(5)])
    rows[2, 20:30] = np.nan
    model = L0SegmentDenoiser(lam, decay=0.9, jumps="positive")
    found = model.fit_transform(rows)
    for row, out in zip(rows, found, strict=True):
        np.testing.assert_array_equal(out, segment(row, lam, decay=0.9, jumps="positive").signal)
    np.testing.assert_array_equal(model.transform(rows[:2]), found[:2])


def test_in_a_pipeline_and_with_names():
    rows = np.array([make_spikes(50, decay=0.9, random_state=seed)[0] for seed in range(9)])
    table = pd.DataFrame(rows, columns=[f"t{k}" for k in range(50)])
    model = L0SegmentDenoiser(0.5, decay=0.9).set_output(transform="pandas").fit(table)
    assert model.transform(table).columns.tolist() == table.columns.tolist()
    assert make_pipeline(L0SegmentDenoiser(0.5), PCA(2)).fit_transform(rows).shape == (9, 2)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.full((2, 3), np.inf))
    with pytest.raises(ValueError, match="X is too large for its squares to be summed"):
        L0SegmentDenoiser().fit_transform(np.full((2, 3), 1e200))
