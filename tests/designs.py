"""Designs that should say the same of the same rows."""

import numpy as np

from ellzero._engine import make_engine


def assert_same(one, other, rtol=1e-9):
    for name in ("mean", "inverse_scale", "zy", "yy", "mean_y", "weight"):
        expected = np.asarray(getattr(other, name))
        scale = np.abs(expected).max(initial=1e-300)
        np.testing.assert_allclose(getattr(one, name), expected, rtol=rtol, atol=rtol * scale)
    ours, theirs = make_engine(one, 0.0, 1), make_engine(other, 0.0, 1)
    columns = np.arange(min(one.columns, 16))
    np.testing.assert_allclose(
        ours.gram_columns(columns), theirs.gram_columns(columns), rtol=rtol, atol=rtol
    )
