"""What users hear before they rely on a result."""

import numpy as np
import pytest

from ellzero.cli._wording import in_options
from ellzero.regression._losses import Loss
from ellzero.selection import Settings, prepare, select
from ellzero.selection._target import Target, caution_target
from ellzero.tables import NumberColumn, Table


def run(columns, **settings):
    made = {name: NumberColumn(name, values.astype(float)) for name, values in columns.items()}
    asked = Settings("y", **settings)
    return select(prepare(Table(made, len(columns["y"]), "t", ""), asked), asked)


def leaks(chosen):
    return [note for note in chosen.warnings if "drop" in note]


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e9])
def test_a_target_that_is_the_sum_of_two_columns(rng, scale):
    casual, registered, other = scale * rng.integers(0, 500, size=(3, 200))
    chosen = run({"casual": casual, "other": other, "registered": registered,
                  "y": casual + registered})  # fmt: skip
    assert set(chosen.model.names) == {"casual", "registered"}
    (note,) = leaks(chosen)
    assert note.startswith("'y' is reproduced exactly by 'casual', 'registered'.")
    assert in_options(note).endswith("leave such columns out with --drop.")


def test_a_target_that_is_nearly_a_column(rng):
    x, z = rng.normal(size=(2, 200))
    chosen = run({"z": z, "x": x, "y": x + 0.02 * rng.normal(size=200)})
    (note,) = leaks(chosen)
    assert note.startswith("'x' predicts 'y' all but exactly.")
    assert leaks(run({"z": z, "x": x, "y": x + 0.1 * rng.normal(size=200)})) == []


def test_few_rows_that_are_fitted_exactly_are_no_leak(rng):
    columns = {f"x{j}": rng.normal(size=8) for j in range(8)}
    assert leaks(run({**columns, "y": rng.normal(size=8)})) == []


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([0, 1, 1, 0, 1], "is binary (0 or 1). Least squares is used: it models the probability"),
        ([1, 2, 2, 1, 2], "is binary (1 or 2). Least squares is used: it models by a straight"),
        ([0, 3, 1, 0, 2], "looks like a count (whole numbers from 0 to 3). Least squares is used"),
        ([1, 30, 4, 1, 2], "looks like a count (whole numbers from 1 to 30)"),
        ([1, 5, 3, 3, 2], ""),  # marks, it may be
        ([25, 346, 100, 100, 30], ""),
        ([0.5, 0, 1, 2, 1], ""),
        ([0, 1, 2, 3, 4], ""),  # all different
        ([-1, 0, 2, 2, 5], ""),
    ],
)
def test_what_a_target_is(y, words):
    notes = caution_target("y", Target(np.array(y, dtype=float), Loss.SQUARED))
    assert [words in note for note in notes] == ([True] if words else [])
