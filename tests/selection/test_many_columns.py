"""Tables of many columns: nothing looks through all names for each name.

Names count how often they are compared. Looking one up in a list compares it with most of the
others, so a bound of some comparisons a column tells the two apart.
"""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from ellzero.selection import Settings, load_model, prepare, save_model, select, summarise
from ellzero.selection._feature_matrix import resolve_forced
from ellzero.selection._linear_model import LinearModel
from ellzero.tables import (
    Feature,
    Features,
    NumberColumn,
    Table,
    TextColumn,
    _csv,
    _read,
    judge_columns,
    read_table,
)

COLUMNS = 400
MOST = 30 * COLUMNS


class Name(str):
    """A text that counts its comparisons."""

    compared = 0

    def __eq__(self, other):
        Name.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


@pytest.fixture
def names(monkeypatch):
    """Have all names that are read from files count, and start at nought."""
    inner = _read.open_table

    def opened(*arguments):
        found, attempts = inner(*arguments)
        return [Name(name) for name in found], attempts

    monkeypatch.setattr(_read, "open_table", opened)
    Name.compared = 0
    return [f"column {j}" for j in range(COLUMNS)]


def write(path, names, rng):
    X = rng.normal(size=(25, len(names))).round(3)
    X[:, 0] = 3 * X[:, 1] + X[:, 2]
    if path.suffix == ".parquet":
        pa.parquet.write_table(pa.table(dict(zip(names, X.T, strict=True))), path)
    else:
        np.savetxt(path, X, fmt="%g", delimiter=",", header=",".join(names), comments="")
    return path


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_reading_and_choosing(tmp_path, rng, names, suffix):
    path = write(tmp_path / f"t.{suffix}", names, rng)
    half = names[1::2]
    table = read_table(path, text=half[:5], drop=half[5:10], only=names)
    assert len(table.columns) == COLUMNS - 5
    assert len(table.unread) == 5
    table = read_table(path)
    asked = Settings(names[0], size=3, keep=tuple(half), force=tuple(names[2:5]))
    summarise(select(prepare(table, asked), asked), "")
    assert 0 < Name.compared < MOST


def test_all_columns_at_once_as_categories_that_are_kept_and_forced(names):
    values = np.arange(20.0) % 4
    columns = {Name(name): NumberColumn(Name(name), values) for name in names}
    every = [Name(name) for name in names]
    judge_columns(Table(columns, 20, "t", ""), {}, categorical=every, keep=every)
    assert len(resolve_forced(tuple(every), [Feature(n, "number", n) for n in every])) == COLUMNS
    assert Name.compared < MOST


def test_many_levels(rng, names, tmp_path):
    levels = [Name(name) for name in names]
    column = TextColumn("c", np.arange(COLUMNS, dtype=np.int32), levels)
    table = Table({"c": column}, COLUMNS, "t", "")
    features = tuple(Feature(f"c={level}", "level", "c", Name(level)) for level in names)
    made = Features(features, learns=False)
    np.testing.assert_array_equal(made.build(table, None, np.zeros(COLUMNS)), np.eye(COLUMNS))
    assert Name.compared < MOST
    ones = (1.0,) * COLUMNS
    model = LinearModel("y", 0.0, features, ones, ones, False, {"c": names}, {})
    save_model(model, tmp_path / "m.json")
    assert load_model(tmp_path / "m.json") == model


def test_predicting_with_many_features(names):
    features = tuple(Feature(Name(name), "number", Name(name)) for name in names)
    ones = (1.0,) * COLUMNS
    model = LinearModel("y", 0.0, features, ones, ones, False, {}, {})
    columns = {Name(name): NumberColumn(name, np.arange(3.0)) for name in names}
    table = Table(columns, 3, "t", "")
    bad, words = model.check(table, lenient=False)
    assert (bad.any(), words) == (False, [])
    np.testing.assert_array_equal(model.predict(table), COLUMNS * np.arange(3.0))
    assert Name.compared < MOST


def test_a_header_of_more_than_a_megabyte(tmp_path, rng):
    names = [f"{'a long name ' * 3000}{j}" for j in range(40)]
    table = read_table(write(tmp_path / "t.csv", names, rng))
    assert (list(table.columns), table.n_rows) == (names, 25)


def test_rows_of_more_than_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr(_csv, "_BLOCK", 4096)
    n = 200
    line = ",".join(["1." + "0" * 80] * n)
    path = tmp_path / "t.csv"
    path.write_text(",".join(f"x{j}" for j in range(n)) + f"\n{line}\n{line}\n")
    table = read_table(path)
    assert (len(table.columns), table.n_rows) == (n, 2)
