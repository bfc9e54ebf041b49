"""What users are told, and that what they gave stays as it was."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from ellzero._warnings import DependentColumnWarning, MixingWarning
from ellzero.cli._wording import in_options
from ellzero.selection import Settings, prepare, select
from ellzero.selection._notes import warnings_as_notes
from ellzero.tables import DataError, NumberColumn, Table


def table_of(**columns):
    made = {name: NumberColumn(name, values.astype(float)) for name, values in columns.items()}
    return Table(made, len(next(iter(columns.values()))), "t", "")


@pytest.mark.parametrize("criterion", ["cv", "bic"])
@pytest.mark.parametrize("posterior", [False, True])
def test_a_forced_column_that_depends_on_others(rng, criterion, posterior):
    x, z = rng.normal(size=(2, 60))
    table = table_of(x=x, z=z, double=2 * x, y=x + z + rng.normal(size=60))
    asked = Settings("y", criterion=criterion, force=("x", "double"), posterior=posterior)
    (note,) = select(prepare(table, asked), asked).notes
    words = "column 'double' is constant or depends linearly on the columns before it"
    assert note.startswith(f"force: {words}")
    assert in_options(note).startswith(f"--force: {words}")


def test_a_criterion_that_cannot_judge(rng):
    x, z = rng.normal(size=(2, 40))
    asked = Settings("y", criterion="bic")
    notes = select(prepare(table_of(x=x, z=z, y=x), asked), asked).notes
    assert "which BIC can't judge: give lam or size." in notes[0]
    assert "which BIC can't judge: give --lam or --size." in in_options(notes[0])


def test_warnings_in_words_for_people_who_called_no_estimator():
    with warnings_as_notes() as notes:
        for _ in range(2):
            warnings.warn(MixingWarning("SpikeSlabRegressor", "they disagree"), stacklevel=1)
        warnings.warn("something else", UserWarning, stacklevel=1)
    assert notes == [
        "The posterior has not mixed: they disagree; more draws may help.",
        "something else",
    ]


def test_warnings_carry_what_they_are_about():
    for warning in (DependentColumnWarning("always_include", "x"), MixingWarning("A", "b")):
        assert str(pickle.loads(pickle.dumps(warning))) == str(warning)
    assert issubclass(MixingWarning, ConvergenceWarning)
    assert str(MixingWarning("A", "b")) == (
        "A has not mixed: b; more n_draws, or extend, may help."
    )


@pytest.mark.parametrize("settings", [{}, {"interactions": True}, {"criterion": "bic"}])
def test_the_table_is_as_it_was(rng, settings):
    columns = {name: rng.normal(size=50) for name in "abcy"}
    table = table_of(**columns)
    asked = Settings("y", weights="c", **settings) if not settings else Settings("y", **settings)
    table.columns["c"].values[:] = np.abs(columns["c"])
    before = {name: column.values.copy() for name, column in table.columns.items()}
    data = prepare(table, asked)
    names = list(data.plan.features.names)
    first = select(data, asked)
    assert list(table.columns) == list(before)
    for name, values in before.items():
        np.testing.assert_array_equal(table.columns[name].values, values)
    assert data.plan.features.names == names
    again = select(data, asked)
    np.testing.assert_array_equal(first.model.coef, again.model.coef)
    assert first.notes == again.notes


def test_rows_to_fit_on_that_weigh_nothing(rng):
    weights = np.zeros(40)
    weights[-8:] = 1.0
    table = table_of(x=rng.normal(size=40), y=rng.normal(size=40), t=np.arange(40), w=weights)
    asked = Settings("y", time="t", weights="w", test_share=0.25)
    with pytest.raises(DataError, match="test_share leaves only rows of weight 0 to fit on"):
        prepare(table, asked)
    table.columns["w"].values[:] = weights[::-1]
    with pytest.raises(DataError, match="test_share leaves only rows of weight 0 to test on"):
        prepare(table, asked)


@pytest.mark.parametrize("missing", ["drop", "mean"])
def test_folds_that_weigh_nothing(rng, missing):
    """Two rows have all the weight, in one group: nothing to judge by, and nothing to choose by."""
    weights = np.zeros(12)
    weights[[3, 9]] = 1.0
    x = rng.normal(size=12)
    x[5] = np.nan
    y = rng.normal(size=12)
    table = table_of(x=x, z=rng.normal(size=12), y=y, w=weights, g=np.arange(12) % 3)
    asked = Settings("y", weights="w", groups="g", missing=missing, criterion="cv")
    data = prepare(table, asked)
    with pytest.raises(DataError, match="weights leave no fold with rows both to fit and to test"):
        select(data, asked)
    asked = Settings("y", weights="w", groups="g", missing=missing)
    chosen = select(prepare(table, asked), asked)
    assert chosen.score is None
