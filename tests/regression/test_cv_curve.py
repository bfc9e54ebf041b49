"""What errors of folds become as curves, against sums to the letter."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.cross_validation import best_factor

from ellzero import _core


def draw_path(rng, scale):
    """Return the solutions of a fold, as they may be: errors are those of fits to some rows."""
    count = int(rng.integers(1, 6))
    rows = int(rng.integers(2, 9))
    y = scale * rng.standard_normal(rows)
    fits = y * rng.uniform(0, 0.9, (count, 1)) + scale * 0.3 * rng.standard_normal((count, rows))
    fits[0] = 0
    left = y - fits
    return _core.FoldPath(
        np.sort(rng.uniform(0.1, 9, count - 1))[::-1].copy(),
        0.0,
        np.arange(float(count)),
        (left**2).mean(axis=1),
        (left * fits).mean(axis=1),
        (fits**2).mean(axis=1),
        float(rows),
    )


def at(path, price):
    """Return the solution at a price."""
    return int((path.lambdas > price).sum())


@given(
    seed=st.integers(0, 10_000),
    n_repeats=st.integers(1, 3),
    n_folds=st.integers(1, 6),
    cautiously=st.booleans(),
    exponent=st.sampled_from([-140, 0, 140]),
)
def test_the_best_factor_of_every_interval(seed, n_repeats, n_folds, cautiously, exponent):
    rng = np.random.default_rng(seed)
    repeats = [[draw_path(rng, 1.0) for _ in range(n_folds)] for _ in range(n_repeats)]
    unit = 2.0**exponent  # whose squares are errors; the reference sees them without it
    scaled = [
        [
            _core.FoldPath(
                path.lambdas,
                path.end,
                path.sizes,
                unit**2 * path.errors,
                unit**2 * path.along,
                unit**2 * path.square,
                path.weight,
            )
            for path in paths
        ]
        for paths in repeats
    ]
    low, _ = _core.intervals_of([path for paths in scaled for path in paths])
    tables = [_core.FoldTable(paths, low) for paths in scaled]
    nothing = [_core.errors_of_nothing(paths) for paths in scaled]
    factors = np.geomspace(1, 3, 5)
    found = _core.best_factors(tables, nothing, factors, cautiously)
    for place, end in enumerate(low):
        folds = [
            [
                (path.errors[s], path.along[s], path.square[s], path.weight)
                for path in paths
                for s in [at(path, end)]
            ]
            for paths in repeats
        ]
        bases = [[path.errors[0] for path in paths] for paths in repeats]
        assert found[place] == best_factor(folds, bases, factors, cautiously)


def test_errors_that_are_not_finite_are_no_best_factor():
    path = _core.FoldPath(
        np.empty(0), 0.0, np.zeros(1), np.ones(1), np.array([1.0]), np.array([np.inf]), 1.0
    )
    table = _core.FoldTable([path], np.zeros(1))
    assert _core.best_factors([table], [np.ones(1)], np.array([1.0, 2.0]), False) == 1.0


def test_what_does_not_fit_together_is_refused():
    path = _core.FoldPath(np.empty(0), 0.0, np.zeros(1), np.ones(1), np.ones(1), np.ones(1), 1.0)
    table = _core.FoldTable([path], np.zeros(1))
    for repeats, nothing in (([], []), ([table], []), ([table], [np.ones(2)])):
        with pytest.raises(ValueError, match="nothing"):
            _core.best_factors(repeats, nothing, np.ones(1), False)
