"""Rare levels of a category are pooled."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ellzero.tables import (
    DateColumn,
    NumberColumn,
    Table,
    TextColumn,
    encode_columns,
    judge_columns,
    make_plan,
)
from ellzero.tables._levels import least_rows, pool_rare, pool_unknown


def text(words, name="c"):
    levels = sorted({word for word in words if word is not None})
    codes = [-1 if word is None else levels.index(word) for word in words]
    return TextColumn(name, np.array(codes, dtype=np.int32), levels)


def words_of(column):
    return [None if code < 0 else column.levels[code] for code in column.codes]


def encode(columns, **asked):
    """Judge and encode a table; return it and what became of it."""
    table = Table({column.name: column for column in columns}, len(columns[0].missing), "t", "")
    remarks = judge_columns(table, {}, **asked)
    chosen = {key: asked[key] for key in ("rare", "dates") if key in asked}
    return table, encode_columns(table, remarks, **chosen)


def test_levels_of_few_rows_are_one():
    column, pool = pool_rare(text(["a"] * 7 + ["b"] * 5 + ["c"] * 4 + ["d", None, "e"]), 5)
    assert words_of(column) == ["a"] * 7 + ["b"] * 5 + ["other"] * 5 + [None, "other"]
    assert (column.levels, pool.level, pool.rare) == (["a", "b", "other"], "other", ("c", "d", "e"))


@pytest.mark.parametrize(
    ("level", "count", "name"),
    [
        ("other", 3, "other"),  # it just goes in
        ("other", 8, "other (rare)"),
        ("Other", 8, "other (rare)"),
        ("OTHER", 1, "other"),
    ],
)
def test_a_level_that_is_called_other_already(level, count, name):
    column, pool = pool_rare(text(["a"] * 9 + [level] * count + ["b", "c"]), 5)
    assert pool.level == name
    assert len(column.levels) == len(set(column.levels)) == 2 + (count >= 5)
    assert words_of(column)[-1] == name


def test_two_names_that_are_taken():
    column, pool = pool_rare(text(["other"] * 5 + ["other (rare)"] * 5 + ["a", "b"]), 5)
    assert pool.level == "other (rare 2)"
    assert column.levels == ["other", "other (rare)", "other (rare 2)"]


def test_nothing_is_rare_and_levels_without_rows_are_none():
    column = text(["a", "b"])
    assert pool_rare(column, 1) == (column, None)
    assert pool_rare(column, 0) == (column, None)
    found, pool = pool_rare(TextColumn("c", np.array([0, 2, -1], dtype=np.int32), list("xyz")), 0)
    assert (found.levels, words_of(found), pool) == (["x", "z"], ["x", "z", None], None)
    found, pool = pool_rare(TextColumn("c", np.array([-1, -1], dtype=np.int32), []), 5)
    assert (found.levels, pool) == ([], None)


def test_what_is_rare():
    assert [least_rows(None, n) for n in (1, 500, 501, 1234, 100_000)] == [5, 5, 6, 13, 1000]
    assert [least_rows(rare, 10_000) for rare in (0, 1, 7)] == [0, 1, 7]


@given(st.lists(st.sampled_from(["a", "b", "other", "d", None]), min_size=1), st.integers(0, 6))
def test_pooling_keeps_rows_and_what_is_frequent(words, least):
    column, pool = pool_rare(text(words), least)
    after = words_of(column)
    assert len(after) == len(words)
    for before, now in zip(words, after, strict=True):
        if before is None or words.count(before) >= least:
            assert now == before
        else:
            assert now == pool.level
            assert before in pool.rare
    assert all(words.count(level) < least for level in (pool.rare if pool else ()))
    if pool is not None:
        again = pool_unknown(text(words), column.levels, pool.level)
        assert words_of(again) == after


def test_the_table_of_columns_says_what_was_pooled():
    words = ["a"] * 30 + ["b"] * 20 + [f"w{i}" for i in range(10)]
    table, encoding = encode([text(words), NumberColumn("x", np.arange(60) % 7.0)])
    assert encoding.remarks[0].details == "3 levels, reference 'a'; 10 rare ones pooled as 'other'"
    assert encoding.notes == [
        "Levels of fewer than 5 rows are pooled in 'c': rare=1 keeps them apart."
    ]
    plan = make_plan(table, encoding.remarks, "error", False, encoding)
    assert plan.features.names == ["c=b", "c=other", "x"]
    assert plan.pools["c"].rare == tuple(sorted(f"w{i}" for i in range(10)))
    X = plan.features.build(table, None, np.zeros(3))
    assert X.sum(axis=0)[:2].tolist() == [20, 10]
    _, whole = encode([text(words)], rare=0)
    assert whole.remarks[0].details == "12 levels, reference 'a'"
    assert whole.notes == []
    _, one = encode([text(["a"] * 9 + ["b"] * 9 + ["c"])])
    assert one.remarks[0].details == "3 levels, reference 'a'; 1 rare one pooled as 'other'"


def test_surnames_make_no_columns_of_one_row():
    names = [f"name {i}" for i in (*range(250), *range(150))]
    (remark,) = encode([text(names)])[1].remarks
    assert remark.use == "left out"
    assert remark.details == (
        "text of 250 levels, all of fewer than 5 rows: name it in categorical and give rare=1 to "
        "use it"
    )
    (remark,) = encode([text(names)], categorical=["c"])[1].remarks
    assert remark.details == "text of 250 levels, all of fewer than 5 rows: rare=1 keeps them"
    (remark,) = encode([text(names)], categorical=["c"], rare=1)[1].remarks
    assert remark.details.startswith("250 levels, reference")


def test_numbers_as_categories_are_pooled_too():
    values = np.array([1.0] * 20 + [2.0] * 20 + [3.0, 4.0, 5.5])
    table, encoding = encode([NumberColumn("n", values)], categorical=["n"])
    assert table.columns["n"].levels == ["1", "2", "other"]
    assert encoding.pools["n"].rare == ("3", "4", "5.5")


def test_too_many_levels_are_counted_after_pooling():
    frequent = [f"f{i}" for i in range(101) for _ in range(6)]
    rare = [f"r{i}" for i in range(300)]
    (remark,) = encode([text(frequent)], rare=6)[1].remarks
    assert remark.details == "text of 101 levels: name it in categorical to use it"
    (remark,) = encode([text(frequent[:600] + rare)], rare=6)[1].remarks
    assert remark.details == "text of 400 levels: name it in categorical to use it"  # 101 pooled
    (remark,) = encode([text(frequent[:594] + rare)], rare=6)[1].remarks
    assert remark.use == "predictor"
    assert remark.details.startswith("100 levels, reference")


def test_rows_that_are_left_decide():
    words = ["a"] * 10 + ["b"] * 6 + ["c"] * 6
    table = Table({"c": text(words)}, len(words), "t", "")
    remarks = judge_columns(table, {})
    assert remarks[0].details == "3 levels, reference 'a'"
    some = table.take(np.arange(18))  # two of c are left
    encoding = encode_columns(some, remarks)
    assert encoding.remarks[0].details == "3 levels, reference 'a'; 1 rare one pooled as 'other'"
    assert table.columns["c"].levels == ["a", "b", "c"]
    alone = encode_columns(table.take(np.arange(10)), remarks)
    assert (alone.remarks[0].use, alone.remarks[0].details) == ("left out", "constant")
    few = encode_columns(table.take(np.arange(7, 14)), remarks)
    assert few.remarks[0].details == "text of 2 levels, all of fewer than 5 rows: rare=1 keeps them"
    assert few.predictors == []


def test_a_hundred_thousand_levels():
    codes = np.concatenate([np.arange(100_000), np.zeros(2000)]).astype(np.int32)
    column = TextColumn("c", codes, [f"l{i:06}" for i in range(100_000)])
    _, encoding = encode([column], categorical=["c"])
    assert encoding.remarks[0].details == (
        "2 levels, reference 'other'; 99,999 rare ones pooled as 'other'"
    )


def days(*texts, name="d", **more):
    values = np.array(texts, dtype="datetime64[s]")
    seconds = np.where(np.isnat(values), np.nan, values.astype(np.int64).astype(float))
    return DateColumn(name, seconds, **more)


def test_parts_of_dates():
    column = days("2000-03-04", "1969-12-31T23:59:59", "NaT", "1500-01-01", "2300-02-28")
    table, encoding = encode([column], rare=0, dates="parts")
    assert encoding.predictors == ["d year", "d month", "d weekday"]
    np.testing.assert_array_equal(table.columns["d year"].values, [2000, 1969, np.nan, 1500, 2300])
    assert words_of(table.columns["d month"]) == ["Mar", "Dec", None, "Jan", "Feb"]
    assert words_of(table.columns["d weekday"]) == ["Sat", "Wed", None, "Mon", "Wed"]
    assert table.columns["d month"].levels == ["Jan", "Feb", "Mar", "Dec"]  # in their order
    assert encoding.remarks[0].details == (
        "1500-01-01 to 2300-02-28: year, month (reference 'Jan'), weekday (reference 'Wed')"
    )


def test_parts_are_those_of_the_clock():
    midnight = days("2011-12-31T23:00:00", "2012-01-01T23:00:00", offsets=np.full(2, 3600.0))
    table, encoding = encode([midnight], rare=0, dates="parts")
    assert words_of(table.columns["d weekday"]) == ["Sun", "Mon"]
    assert encoding.remarks[0].details == (
        "2012-01-01 to 2012-01-02: weekday (reference 'Mon'); left out: year (constant), month "
        "(constant)"
    )


def test_parts_that_are_of_no_use():
    every = [str(day) for day in np.arange("2012-01-01", "2012-01-15", dtype="datetime64[D]")]
    (remark,) = encode([days(*every)], dates="parts")[1].remarks
    assert (remark.use, remark.details) == (
        "left out",
        "a date; no part of it is of use; left out: year (constant), month (constant), weekday "
        "(all rare)",
    )
    clock = days("1970-01-01T10:00:00", "1970-01-01T11:00:00", calendar=False)
    (remark,) = encode([clock], dates="parts")[1].remarks
    assert remark.details.startswith("a time of day or a duration: name it in time")
    (remark,) = encode([days("2012-01-01", "2013-01-01")])[1].remarks
    assert remark.details == (
        "a date: name it in time to order rows by it, or give dates='parts' to use its year, month "
        "and weekday"
    )


def test_a_column_that_has_the_name_of_a_part():
    column = days(*[f"20{i:02}-05-05" for i in range(10, 22)])
    table, encoding = encode(
        [column, NumberColumn("d year", np.arange(12) % 5.0)], rare=0, dates="parts"
    )
    assert encoding.predictors == ["d year (date)", "d weekday", "d year"]
    assert table.columns["d year"].values.max() == 4


def test_one_indicator_for_all_parts_that_are_missing():
    column = days("2000-03-04", "NaT", "2001-01-01", "2002-02-05")
    table, encoding = encode([column], rare=0, dates="parts")
    plan = make_plan(table, encoding.remarks, "indicator", False, encoding)
    assert [name for name in plan.features.names if "missing" in name] == ["d (missing)"]
    X = plan.features.build(table, None, plan.features.learn(table, None, None))
    assert X[:, -1].tolist() == [0, 1, 0, 0]
    assert X[1, 0] == 2001  # the mean


def test_parts_are_asked_for_where_there_are_no_dates():
    odd = TextColumn("t", np.array([0, 1] * 6, dtype=np.int32), ["u", "v"], "dates of a kind")
    notes = encode([odd], dates="parts")[1].notes
    assert notes[0].startswith("Column 't' is text: dates of a kind; dates are known as 2012-01-31")
    notes = encode([NumberColumn("x", np.arange(9.0) % 4)], dates="parts")[1].notes
    assert notes[0].startswith("dates='parts': no column holds dates; dates are known as")
