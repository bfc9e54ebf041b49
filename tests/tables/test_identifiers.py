"""What tells rows apart is left out, and what is only called so is not."""

import numpy as np
import pytest

from ellzero.tables import NumberColumn, Table, TextColumn, judge_columns
from ellzero.tables._identifiers import names_identifier, numbers_rows

N = 40
COUNT = np.arange(1.0, N + 1)
RNG = np.random.default_rng(0)
SHUFFLED = RNG.permutation(COUNT)
PANEL = np.repeat(np.arange(8.0), 5)
KEPT = np.sort(RNG.permutation(np.arange(2.0, 60))[:N])  # some rows were dropped
UNNAMED = ["", "Unnamed: 0", "(unnamed 1)", "...1", "__index_level_0__"]
IDENTIFIERS = [
    "id", "ids", "Id", "ID", "uuid", "guid", "patient_id", "store.id", "Customer ID", "id_student",
    "PassengerId", "customerID", "rownames", "row.names", "row_id", "rowid", "row_number", "userid",
    *UNNAMED,
]  # fmt: skip
ROWS = ["row", "Index", "idx", "obs", "Obs.", "case", "key", "nr", "No", "case_no", "#"]
MEASUREMENTS = [
    "x", "X1", "paid", "grid", "covid", "humid", "idea", "width", "David", "kid", "Idaho", "number",
    "price index ratio", "nitrogen", "monkey", "brow", "Unnamed: 3", "(unnamed 4)",
]  # fmt: skip


@pytest.mark.parametrize("name", ["x", "X", "X1", "V1", "anything", *ROWS, *IDENTIFIERS])
@pytest.mark.parametrize("values", [COUNT, COUNT - 1, COUNT[::-1]])
def test_what_numbers_the_rows_is_an_identifier_by_any_name(name, values):
    assert numbers_rows(name, values)
    gaps = values.copy()
    gaps[[0, 7, 8]] = np.nan
    assert numbers_rows(name, gaps)


@pytest.mark.parametrize("name", ["x", "year", "rank", "age", "X"])
@pytest.mark.parametrize("values", [COUNT + 1949, SHUFFLED, KEPT, PANEL, 2 * COUNT, COUNT / 2])
def test_other_numbers_are_measurements_by_other_names(name, values):
    assert not numbers_rows(name, values)


@pytest.mark.parametrize("name", IDENTIFIERS)
def test_names_of_identifiers(name):
    assert names_identifier(name)
    for values in (SHUFFLED * 3, PANEL, KEPT, COUNT + 1e9):
        assert numbers_rows(name, values)
    for values in (COUNT + 0.5, COUNT % 2, np.where(COUNT < 9, np.inf, COUNT)):
        assert not numbers_rows(name, values)


@pytest.mark.parametrize("name", ROWS)
def test_names_of_rows_are_believed_if_numbers_grow(name):
    assert numbers_rows(name, KEPT)
    assert numbers_rows(name, COUNT + 1000)  # a part of a longer table
    assert numbers_rows(name, KEPT[::-1])
    cases = {
        "decimals, as of nitric oxide": COUNT / 10,
        "cases and controls": COUNT % 2,
        "rows of a field": PANEL,
        "a key in music": SHUFFLED % 12,
        "an index that falls and rises": 100 + SHUFFLED,
        "an index that rises": 100 + np.cumsum(RNG.integers(1, 5, N)),
        "few rows": np.array([1.0, 3.0, 4.0]),
    }
    for what, values in cases.items():
        assert not numbers_rows(name, values), what


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_names_that_only_look_alike(name):
    assert not names_identifier(name)
    assert not numbers_rows(name, SHUFFLED * 3)
    assert not numbers_rows(name, KEPT)


def text(name, words):
    levels = sorted(set(words))
    codes = [levels.index(word) if word else -1 for word in words]
    return TextColumn(name, np.array(codes, dtype=np.int32), levels)


def remark(column, **asked):
    (found,) = judge_columns(Table({column.name: column}, N, "t", ""), {}, **asked)
    return found


def test_the_hint_says_how_to_use_it():
    found = remark(NumberColumn("x", COUNT))
    assert (found.use, found.details) == (
        "left out",
        "an identifier, it seems: name it in keep to use it",
    )
    found = remark(NumberColumn("id", PANEL))
    assert found.details == (
        "an identifier, it seems: name it in groups to keep its rows together in folds, or in keep "
        "to use it"
    )
    assert remark(NumberColumn("id", PANEL), keep=["id"]).use == "predictor"
    assert remark(NumberColumn("id", PANEL), categorical=["id"]).use == "predictor"


def test_texts_of_which_80_percent_differ():
    words = [f"w{i}" for i in range(31)] + ["w0"] * 9
    assert remark(text("t", words)).use == "predictor"  # 31 of 40
    words = [f"w{i}" for i in range(32)] + ["w0"] * 8
    found = remark(text("t", words))
    assert found.use == "left out"
    assert found.details == (
        "an identifier, it seems (text, 32 different values): name it in categorical to use it"
    )
    for asked in ({"categorical": ["t"]}, {"keep": ["t"]}):
        used = remark(text("t", words), **asked)
        assert used.use == "predictor"
        assert used.details == "2 levels, reference 'other'; 31 rare ones pooled as 'other'"
    words[9:] = [""] * 31  # of the nine rows with a value, all differ
    found = remark(text("t", words))
    assert found.details == (
        "an identifier, it seems (text, all different): name it in categorical and give rare=1 to "
        "use it"
    )
    assert remark(text("t", words), categorical=["t"], rare=1).use == "predictor"


def test_texts_by_the_name_of_an_identifier():
    words = [f"P{i % 8}" for i in range(N)]
    found = remark(text("patient_id", words))
    assert (found.use, "name it in groups" in found.details) == ("left out", True)
    assert remark(text("patient", words)).use == "predictor"
    assert remark(text("patient_id", words), keep=["patient_id"]).use == "predictor"
    assert remark(text("has_id", ["yes", "no"] * (N // 2))).use == "predictor"
    assert remark(text("index", words)).use == "predictor"
