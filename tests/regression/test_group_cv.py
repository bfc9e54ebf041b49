"""Cross-validation over groups in a hurry: one valley of the error is taken for the only one."""

import numpy as np
import pytest
from reference.cross_validation import repeated_splits

from ellzero.regression._cross_validation import CV_RIDGES
from ellzero.regression._fold_data import Data
from ellzero.regression._folds import RepeatedFolds
from ellzero.regression._group_cv import GroupCrossValidation
from ellzero.regression._group_folds import GroupFolds
from ellzero.regression._units import Structure, resolve_units


def choices(seed, *, active, max_size=None, n=400, groups=30):
    """Choose with and without hurry, on pairs of columns of which some matter."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(groups), 2)
    X = rng.normal(size=(n, labels.size)) + 0.5 * rng.normal(size=(n, 1))
    y = X[:, np.isin(labels, range(active))].sum(axis=1) + rng.normal(size=n)
    units = resolve_units(Structure(feature_groups=labels.tolist()), None, labels.size, None)
    repeats = RepeatedFolds(Data(X, y, None, True, 1), repeated_splits(5, 2, seed, n))
    how = GroupCrossValidation(units, list(CV_RIDGES), max_size, 1, None, rescales=True)
    folds = GroupFolds(repeats, rescales=True)
    return [each.choose(folds, repeats.error_scale) for each in (how, how._replace(hurried=True))]


@pytest.mark.parametrize("seed", [0, 1])
def test_one_valley_is_found_in_a_hurry_too(seed):
    patient, hurried = choices(seed, active=4)
    # Ridges far beyond the valley were not tried, and no model far beyond it was looked at.
    assert patient.ridges == list(CV_RIDGES)
    tried = len(hurried.ridges)
    assert 3 <= tried < len(CV_RIDGES)
    assert hurried.ridges == list(CV_RIDGES[:tried])
    assert len(hurried.curves) == tried
    assert hurried.max_size <= patient.max_size
    for rule in ("min", "1se"):
        one, two = patient.marks[rule], hurried.marks[rule]
        assert one.ridge == two.ridge
        assert one.size == pytest.approx(two.size)
        assert hurried.max_size >= two.size


def test_a_hurry_looks_ten_sizes_beyond_the_valley():
    patient, hurried = choices(2, active=14)
    best = hurried.marks["min"].size
    assert best > 12  # or the first size that is looked at would do
    assert best + 10 <= hurried.max_size <= best + 12
    assert patient.max_size > hurried.max_size


def test_a_hurry_keeps_to_the_largest_size():
    for choice in choices(3, active=6, max_size=5):
        assert choice.max_size == 5
        assert choice.marks["min"].size <= 5
