"""Dates in texts, whatever file they come from."""

import gzip
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ellzero.tables import DateColumn, NumberColumn, ReadOptions, TextColumn, read_table
from ellzero.tables._dates import TextDates, WrittenDates


def read(folder, words, name="t.csv", options=None, **asked):
    """Read texts as the column d of a file of two columns."""
    path = folder / name
    if name.endswith("parquet"):
        pa.parquet.write_table(pa.table({"d": words, "x": range(len(words))}), path)
    else:
        lines = [f'"{word}";{place}' for place, word in enumerate(words)]
        raw = "\n".join(["d;x", *lines, ""]).encode(options.encoding if options else "utf-8")
        path.write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
    return read_table(path, options, **asked).columns["d"]


def shown(column):
    """Return what the calendar and the clock showed."""
    assert isinstance(column, DateColumn)
    moments = np.round(column.local * 1000).astype("datetime64[ms]")
    return [None if gap else str(m) for gap, m in zip(column.missing, moments, strict=True)]


def parse(words, day_first=None):
    dates = TextDates(day_first)
    dates.add(pa.array(words), np.arange(len(words)))
    return dates.finish()


# Before pandas 3, its moments are counted in nanoseconds, and end in 1677 and 2262.
FIRST, LAST = datetime(1, 1, 2), datetime(9999, 12, 30)
if int(pd.__version__.split(".")[0]) < 3:
    FIRST, LAST = datetime(1678, 1, 1), datetime(2261, 12, 31)

MIDNIGHT = "2012-01-31T00:00:00.000"
ONE_MOMENT = {
    "2012-01-31": MIDNIGHT,
    "2012/01/31": MIDNIGHT,
    "2012/1/31": MIDNIGHT,
    "31.01.2012": MIDNIGHT,
    "31.1.2012": MIDNIGHT,
    "Jan 31 2012": MIDNIGHT,
    "Jan 31, 2012": MIDNIGHT,
    "January 31, 2012": MIDNIGHT,
    "31 Jan 2012": MIDNIGHT,
    "31 JANUARY 2012": MIDNIGHT,
    "31-Jan-2012": MIDNIGHT,
    "31JAN2012": MIDNIGHT,
    "31/01/2012": MIDNIGHT,
    "31-01-2012": MIDNIGHT,
    "01/31/2012": MIDNIGHT,
    "1/31/2012": MIDNIGHT,
    " 2012/01/31 ": MIDNIGHT,
    "2012/01/31 10:30": "2012-01-31T10:30:00.000",
    "Jan 31 2012 10:30:05": "2012-01-31T10:30:05.000",
    "31.01.2012 10:30:05.25": "2012-01-31T10:30:05.250",
    "1/31/2012 12:30:00 AM": "2012-01-31T00:30:00.000",
    "1/31/2012 1:30 pm": "2012-01-31T13:30:00.000",
    "2012-01-31T23:30:00+02:00": "2012-01-31T23:30:00.000",
    "2012-01-31 23:30:00-0500": "2012-01-31T23:30:00.000",
    "2012/01/31 23:30 Z": "2012-01-31T23:30:00.000",
    "Sept 1 2012": "2012-09-01T00:00:00.000",
    "2012-01-31 23:59:59.123456789": "2012-01-31T23:59:59.123",
}
FAR_MOMENTS = {
    "1500/01/31 10:00": "1500-01-31T10:00:00.000",
    "Feb 29 2400": "2400-02-29T00:00:00.000",
    "9999-12-31 23:59:59.5": "9999-12-31T23:59:59.500",
    "2400-12-31 23:59:59.123456789": "2400-12-31T23:59:59.123",
}
if FIRST.year == 1:
    ONE_MOMENT |= FAR_MOMENTS


@pytest.mark.parametrize("word", ONE_MOMENT)
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
def test_formats_that_are_known(tmp_path, word, name):
    column = read(tmp_path, [word, "", word] if name != "t.parquet" else [word, None, word], name)
    assert shown(column) == [ONE_MOMENT[word], None, ONE_MOMENT[word]]


@pytest.mark.skipif(FIRST.year == 1, reason="pandas 3 knows them")
@pytest.mark.parametrize("word", FAR_MOMENTS)
def test_moments_that_pandas_does_not_know_are_said(word):
    assert parse(["2012/01/01", "2012/01/02", word]).startswith(f"dates, but for '{word}'")


@pytest.mark.parametrize(
    "words",
    [
        ["20120131", "20120201"],
        ["1.5", "2.5"],
        ["2012", "2013"],
    ],
)
def test_numbers_are_no_dates(tmp_path, words):
    assert isinstance(read(tmp_path, words), NumberColumn)


@pytest.mark.parametrize(
    "words",
    [
        ["2012-01", "2012-02"],
        ["2012Q1", "2012Q2"],
        ["01/02/12", "13/02/12"],
        ["31 Janvier 2012", "28 Février 2012"],
        ["12-34-5678", "99-10-2012"],
        ["May", "June"],
        ["2012-01-31 25:00", "2012-01-31 24:00"],
        ["2012/01/31 10:00 PST", "2012/01/31 11:00 PST"],
        ["2012/01/31 10:00+99:00", "2012/01/31 11:00+99:00"],
        ["2001-02-29", "2001-02-30"],
        ["0000-00-00", "0000-01-01"],
        ["2012-01-31-7", "2012-01-31-8"],
        ["名前", "😀"],
    ],
)
def test_texts_stay_texts(tmp_path, words):
    column = read(tmp_path, words)
    assert isinstance(column, TextColumn)
    assert (sorted(column.levels), column.undated) == (sorted(words), "")


def test_a_column_of_several_formats_that_can_all_be_told(tmp_path):
    column = read(tmp_path, ["2012-01-31", "Jan 30 2012", "29.1.2012", "2012/01/28 10:00"])
    assert [day[8:10] for day in shown(column)] == ["31", "30", "29", "28"]


@pytest.mark.parametrize(
    ("words", "undated"),
    [
        (["01/02/2012", "03/04/2012", "12/12/2012"], "day and month can't be told apart"),
        (["13/02/2012", "02/13/2012"], "the day first here and the month first there"),
        (["2012/01/01", "2012/01/02", "soon"], r"dates, but for 'soon' \(na='soon' if"),
        (["2012-01-01", "2001-02-28", "2001-02-29"], "dates, but for '2001-02-29'"),
        (["2012-01-01 10:00Z", "2012-01-02 10:00"], "some with a time zone and some without"),
    ],
)
def test_dates_that_cannot_be_told_stay_texts_and_say_why(tmp_path, words, undated):
    column = read(tmp_path, words)
    assert isinstance(column, TextColumn)
    assert len(column.levels) == len(words)  # no row is lost
    with pytest.raises(AssertionError, match=undated):
        raise AssertionError(column.undated)


def test_a_day_past_the_12th_settles_the_order_wherever_it_stands(tmp_path):
    rows = [f"{1 + i % 12:02}/{1 + i % 7:02}/2012" for i in range(300_000)]
    column = read(tmp_path, [*rows, "13/01/2012"])
    assert column.day_first is True
    assert shown(column.take(np.array([0, 11, 300_000]))) == [
        "2012-01-01T00:00:00.000",
        "2012-05-12T00:00:00.000",
        "2012-01-13T00:00:00.000",
    ]
    assert read(tmp_path, [*rows, "01/13/2012"]).day_first is False
    assert read(tmp_path, ["01/01/2012", "02/02/2012"]).day_first is None  # it makes no difference


def test_the_order_that_is_given_is_for_what_cannot_be_told(tmp_path):
    words = ["01/02/2012", "03/04/2012"]
    assert shown(read(tmp_path, words, day_first={"d": True}))[0][:10] == "2012-02-01"
    assert shown(read(tmp_path, words, day_first={"d": False}))[0][:10] == "2012-01-02"
    told = read(tmp_path, [*words, "01/13/2012"], day_first={"d": True})
    assert (told.day_first, shown(told)[0][:10]) == (False, "2012-01-02")


def test_zones_order_by_the_moment_and_show_the_clock(tmp_path):
    words = ["2012-03-31 23:00:00-05:00", "2012-04-01 00:00:00+02:00", "2012-04-01 00:00:00Z"]
    column = read(tmp_path, words)
    assert np.argsort(column.values).tolist() == [1, 2, 0]
    assert [day[:10] for day in shown(column)] == ["2012-03-31", "2012-04-01", "2012-04-01"]
    late = read(tmp_path, ["2012-01-01T00:00:00Z"] * 200_000 + words)
    np.testing.assert_array_equal(late.values[-3:], column.values)
    pa.parquet.write_table(
        pa.table({"d": pa.array([1333227600, None], pa.timestamp("s", tz="Europe/Berlin"))}),
        tmp_path / "z.parquet",
    )
    zoned = read_table(tmp_path / "z.parquet").columns["d"]
    assert shown(zoned) == ["2012-03-31T23:00:00.000", None]
    assert zoned.values[0] == 1333227600


def test_more_dates_than_a_text_may_have_levels(tmp_path):
    start = datetime(2000, 1, 1)
    words = [f"{start + timedelta(hours=i):%b %d %Y %H:%M}" for i in range(150_000)]
    column = read(tmp_path, words)
    np.testing.assert_array_equal(np.diff(column.values), 3600)
    almost = read(tmp_path, [*words, "later"])
    assert almost.levels is None
    assert "dates, but for 'later'" in almost.undated
    gaps = read(tmp_path, [""] * 400_000 + words[:5])
    assert (gaps.n_missing, shown(gaps)[-1]) == (400_000, "2000-01-01T04:00:00.000")


def test_other_encodings_and_decimal_commas(tmp_path):
    options = ReadOptions(encoding="utf-16", decimal=",")
    assert shown(read(tmp_path, ["1 Jan 2000", "2 Jan 2000"], options=options)) == [
        "2000-01-01T00:00:00.000",
        "2000-01-02T00:00:00.000",
    ]


def test_what_is_asked_for_as_text_is_one(tmp_path):
    column = read(tmp_path, ["Jan 1 2000", "Jan 2 2000"], text=["d"])
    assert column.levels == ["Jan 1 2000", "Jan 2 2000"]


def test_categories_and_stata(tmp_path):
    days = pd.Categorical(["2012/01/31", "2012/02/01", "2012/01/31"])
    pd.DataFrame({"d": days}).to_parquet(tmp_path / "c.parquet")
    assert shown(read_table(tmp_path / "c.parquet").columns["d"])[1][:10] == "2012-02-01"
    pd.DataFrame({"d": days.astype(str), "n": [1, 2, 3]}).to_stata(tmp_path / "t.dta")
    assert shown(read_table(tmp_path / "t.dta").columns["d"])[1][:10] == "2012-02-01"
    pd.DataFrame({"d": pd.Categorical([1, 2, 1])}).to_feather(tmp_path / "n.feather")
    assert read_table(tmp_path / "n.feather").columns["d"].levels == ["1", "2"]


def test_times_of_day_are_no_dates(tmp_path):
    column = read(tmp_path, ["10:00:00", "11:30:00"])
    assert (column.calendar, np.diff(column.values)) == (False, 5400)


@given(
    st.lists(
        st.datetimes(FIRST, LAST).map(lambda moment: moment.replace(microsecond=0)),
        min_size=1,
    ),
    st.sampled_from(
        [
            "%Y-%m-%d %H:%M:%S",
            "%Y/%m/%dT%H:%M:%S",
            "%d.%m.%Y %H:%M:%S",
            "%B %d, %Y %H:%M:%S",
            "%d %b %Y %I:%M:%S %p",
            "%d/%m/%Y %H:%M:%S",
            "%m-%d-%Y %H:%M:%S",
        ]
    ),
)
def test_dates_are_read_as_python_writes_them(moments, layout):
    # Years of fewer than four digits are written with zeros everywhere but in glibc
    words = [m.strftime(layout.replace("%Y", f"{m.year:04}")) for m in moments]
    dates = parse(list(dict.fromkeys(words)), day_first=layout.startswith("%d"))
    assert isinstance(dates, WrittenDates)
    expected = [m.replace(tzinfo=UTC).timestamp() for m in dict.fromkeys(moments)]
    np.testing.assert_array_equal(dates.values, expected)


@given(st.lists(st.text(max_size=30), min_size=1, unique=True))
def test_no_text_is_too_odd(words):
    found = parse(words)
    assert isinstance(found, (str, WrittenDates))


def test_most_columns_are_given_up_at_the_first_sight(monkeypatch):
    looked = []
    monkeypatch.setattr("ellzero.tables._dates._parse", looked.append)
    dates = TextDates()
    for _ in range(3):
        dates.add(pa.array(["Oslo", "Rome", "31 Dec 2000"]), np.arange(3))
    assert (dates.possible, looked, dates.itemsize) == (False, [], 0)


def test_reading_no_texts_that_are_dates_does_not_import_pandas(tmp_path):
    (tmp_path / "t.csv").write_text(
        "town,n,flag,day,moment\n"
        "Oslo,1.5,true,2000-01-01,2000-01-01 10:00:00\n"
        "Rome,2.5,false,2000-01-02,2000-01-02 10:00:00\n"
        "31 Dec 2000,3.5,true,2000-01-03,2000-01-03 10:00:00\n"
    )
    code = (
        "import sys; from pathlib import Path; from ellzero.tables import read_table\n"
        "table = read_table(Path(sys.argv[1]))\n"
        "print(*(type(column).__name__ for column in table.columns.values()))\n"
        "print('pandas' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "t.csv"], capture_output=True, text=True, check=True
    )
    kinds = "TextColumn NumberColumn NumberColumn DateColumn DateColumn"
    assert done.stdout == f"{kinds}\nFalse\n"
