"""Rare levels and dates on their way from a table to a model, and to predictions."""

import numpy as np
import pytest

from ellzero.selection import Settings, load_model, prepare, save_model, select, summarise
from ellzero.tables import DataError, DateColumn, NumberColumn, Table, TextColumn, read_table

N = 400


@pytest.fixture
def path(tmp_path, rng):
    """A CSV file of visits: cities, most of them rare, and dates in a format of one country."""
    days = np.datetime64("2015-01-01") + rng.permutation(1400)[:N]
    place = rng.random(N)
    cities = np.where(place < 0.5, "Oslo", np.where(place < 0.8, "Rome", ""))
    cities = [city or f"Village {i}" for i, city in enumerate(cities)]
    months = days.astype("datetime64[M]").astype(int) % 12
    weekdays = (days.astype(int) + 3) % 7
    x = rng.normal(size=N).round(3)
    rare = np.array([city.startswith("V") for city in cities])
    y = x + 4 * rare + 6 * (months == 2) + 5 * (weekdays == 5) + 0.2 * rng.normal(size=N)
    written = [f"{d.day}/{d.month}/{d.year}" for d in days.tolist()]
    lines = [f"{c},{w},{a},{b:.4f}" for c, w, a, b in zip(cities, written, x, y, strict=True)]
    path = tmp_path / "visits.csv"
    path.write_text("\n".join(["city,day,x,y", *lines]) + "\n")
    return path


def run(path, **asked):
    settings = Settings("y", **{"criterion": "bic", **asked})
    return select(prepare(read_table(path), settings), settings)


def predict(model, path, folder):
    save_model(model, folder / "m.json")
    loaded = load_model(folder / "m.json")
    table = read_table(path, only=loaded.columns, text=loaded.texts, day_first=loaded.day_first)
    return loaded.predict_checked(table, lenient=False)[0]


def test_a_model_of_pooled_levels_and_parts_of_dates(path, tmp_path):
    chosen = run(path, dates="parts", levels=True)
    assert {"x", "city=other", "day month=Mar", "day weekday=Sat"} <= set(chosen.model.names)
    assert chosen.model.size < 10
    remarks = {remark.name: remark for remark in chosen.data.remarks}
    assert "rare ones pooled as 'other'" in remarks["city"].details
    assert ": year, month (reference '" in remarks["day"].details
    np.testing.assert_allclose(predict(chosen.linear, path, tmp_path), chosen.fitted)
    references = {v["name"]: v["reference"] for v in summarise(chosen, "")["model"]["variables"]}
    assert references["city=other"] == "Oslo"
    assert references["day month=Mar"] == chosen.plan.references["day month"]
    # Two rows from which nobody could tell which is the day: the model knows
    new = tmp_path / "new.csv"
    new.write_text("city,day,x\nOslo,3/2/2016,0\nAtlantis,2/3/2016,0\n")
    feb, mar = predict(chosen.linear, new, tmp_path)
    assert mar - feb == pytest.approx(10, abs=1)


@pytest.mark.parametrize("missing", ["mean", "indicator"])
def test_dates_with_gaps_and_interactions(path, tmp_path, missing):
    lines = path.read_text().splitlines()
    for place in range(5, N, 9):
        fields = lines[place].split(",")
        lines[place] = ",".join([fields[0], "", *fields[2:]])
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match=r"Values are missing in 'day' \(44\)"):
        run(path, dates="parts")
    chosen = run(path, dates="parts", missing=missing, interactions=True, rare=9, size=8)
    names = chosen.plan.features.names
    assert ("day (missing)" in names) == (missing == "indicator")
    assert "day month=Mar:day weekday=Sat" in names
    assert not any(name.count("day month=") == 2 for name in names)
    np.testing.assert_allclose(predict(chosen.linear, path, tmp_path), chosen.fitted)
    dropped = run(path, dates="parts", missing="drop")
    assert len(dropped.data.y) == N - 44


def test_forced_dates(path):
    chosen = run(path, dates="parts", force=("day",))
    made = [f.name for f in chosen.plan.features.features if f.column.startswith("day ")]
    assert len(made) == 1 + 11 + 6
    assert set(made) <= set(chosen.model.names)
    one = run(path, dates="parts", force=("day weekday",), lam=1e9)
    assert sorted(one.model.names) == sorted(n for n in made if "weekday" in n)
    with pytest.raises(DataError, match="force: column 'day' can't be used: a date: name it in"):
        run(path, force=("day",))


def test_the_column_that_orders_rows_may_have_parts(path):
    chosen = run(path, dates="parts", time="day", criterion="cv", folds=4, test_share=0.2)
    (remark,) = [r for r in chosen.data.remarks if r.name == "day"]
    assert remark.use == "time"
    assert "weekday (reference" in remark.details
    assert "day weekday=Sat" in chosen.model.names
    assert "each later" in chosen.folds
    plain = run(path, time="day")
    assert not any(name.startswith("day") for name in plain.plan.features.names)


def test_levels_are_counted_in_the_rows_that_are_left(rng):
    levels = ["a"] * 40 + ["b"] * 40 + ["c"] * 6
    codes = np.repeat([0, 1, 2], [40, 40, 6]).astype(np.int32)
    y = rng.normal(size=86)
    y[-3:] = np.nan
    columns = {
        "c": TextColumn("c", codes, ["a", "b", "c"]),
        "x": NumberColumn("x", rng.normal(size=86)),
        "y": NumberColumn("y", y),
    }
    table = Table(columns, len(levels), "t", "")
    data = prepare(table, Settings("y", missing="drop"))
    assert data.plan.levels == {"c": ["a", "b", "other"]}
    assert data.plan.pools["c"].rare == ("c",)
    assert table.columns["c"].levels == ["a", "b", "c"]  # the caller's is as it was
    assert prepare(table, Settings("y", missing="drop", rare=3)).plan.pools == {}


def test_rows_held_out_have_the_same_levels(path):
    chosen = run(path, test_share=0.3, seed=2)
    table, _, _ = chosen.data.held_out
    assert table.columns["city"].levels == ["Oslo", "Rome", "other"]
    assert np.isfinite(chosen.held_out["rmse"])


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"rare": -1}, "rare must be a whole number from 0 up"),
        ({"dates": "years"}, "dates must be 'leave' or 'parts'"),
        (
            {"force": ("day",), "dates": "parts", "rare": 999},
            "not among the features|can't be used",
        ),
    ],
)
def test_what_can_be_wrong(path, asked, words):
    if "rare" in asked and asked["rare"] > 0:
        text = path.read_text().splitlines()
        rows = [text[1].split(",")[:2] + line.split(",")[2:] for line in text[1:]]
        path.write_text("\n".join([text[0], *(",".join(row) for row in rows)]) + "\n")
    with pytest.raises(DataError, match=words):
        run(path, **asked)


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (
            ["01/02/2012", "02/03/2012"],
            r"'t' holds dates whose day and month can't be told apart;",
        ),
        (["2012Q1", "2012Q2"], r"'t' holds text, not dates or numbers \(such as '2012Q1'\);"),
        (["2012-01-01", "2012-01-02", "soon"], r"'t' holds dates, but for 'soon' \(na='soon' if"),
    ],
)
def test_times_that_cannot_be_read_are_told_what_can(tmp_path, days, words):
    path = tmp_path / "t.csv"
    rows = [f"{days[i % len(days)]},{i % 7},{i % 5}" for i in range(30)]
    path.write_text("\n".join(["t,x,y", *rows]) + "\n")
    with pytest.raises(DataError, match=rf"time: column {words}") as error:
        run(path, time="t")
    assert "dates are known as 2012-01-31, 2012/01/31," in str(error.value)


def test_a_date_in_another_zone_is_a_moment_in_folds_and_a_day_in_parts(rng):
    hours = 3600.0 * np.arange(60)
    when = DateColumn("t", hours, np.where(np.arange(60) % 2, 3600.0 * 12, 0.0))
    columns = {
        "t": when,
        "x": NumberColumn("x", rng.normal(size=60)),
        "y": NumberColumn("y", rng.normal(size=60)),
    }
    data = prepare(Table(columns, 60, "t", ""), Settings("y", time="t", dates="parts"))
    np.testing.assert_array_equal(data.times, hours)
    weekdays = data.table.columns["t weekday"]
    assert [weekdays.levels[code] for code in weekdays.codes[[12, 13]]] == ["Thu", "Fri"]
