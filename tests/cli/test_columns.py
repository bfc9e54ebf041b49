"""What columns are taken for, as users see it."""

import json

import numpy as np
import pytest
from command import ellzero


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    rng = np.random.default_rng(3)
    rows = []
    for i, day in enumerate(rng.permutation(900)[:300]):
        date = (np.datetime64("2019-01-01") + day).tolist()
        city = "Oslo" if i % 3 == 0 else "Rome" if i % 3 == 1 else f"Village {i}"
        y = 3 * (city == "Rome") + 5 * (date.month == 7) + rng.normal()
        rows.append(f"{i % 50},{city},{date:%b %d %Y},{y:.3f}")
    path = tmp_path_factory.mktemp("visits") / "visits.csv"
    path.write_text("\n".join(["patient_id,city,day,y", *rows]) + "\n")
    return path


def test_pooled_levels_and_parts_of_dates(visits, tmp_path):
    asked = ["--target", "y", "--criterion", "bic", "--dates", "parts", "--json", "r.json"]
    result = ellzero("select", visits, *asked, "--save", "m.json", cwd=tmp_path)
    assert result.code == 0, result.err
    assert "3 levels, reference 'Oslo'; 100 rare ones pooled as 'other'" in result.out
    assert "name it in --groups to keep its rows together in folds, or in --keep" in result.out
    assert "to 2021-" in result.out
    assert "pooled in 'city': --rare 1 keeps them apart" in result.err
    content = json.loads((tmp_path / "r.json").read_text())
    names = {variable["name"] for variable in content["model"]["variables"]}
    assert names == {"city", "day month"}
    features = {f["name"] for v in content["model"]["variables"] for f in v["features"]}
    assert {"city=Rome", "city=other", "day month=Jul"} <= features
    details = {column["name"]: column["details"] for column in content["data"]["columns"]}
    assert "; 100 rare ones pooled as 'other'" in details["city"]
    new = tmp_path / "new.csv"
    new.write_text("city,day\nRome,2022-07-01\nVillage 2,2022/07/01\nAtlantis,Jan 1 2022\n")
    result = ellzero("predict", "m.json", new, cwd=tmp_path)
    assert result.code == 0, result.err
    assert "has not seen: 'Atlantis' in 1 rows, taken as 'other'" in result.err
    rome, village, atlantis = map(float, result.out.split()[1:])
    assert rome - village == pytest.approx(3, abs=1)
    assert village - atlantis == pytest.approx(5, abs=1.5)


def test_levels_are_not_pooled_if_not_asked_for(visits):
    asked = ["--target", "y", "--criterion", "bic", "--rare", 0, "--categorical", "city"]
    result = ellzero("select", visits, *asked)
    assert "102 levels, reference 'Oslo'" in result.out
    assert "pooled" not in result.out + result.err


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--rare", -1], 2, "-1 is not in the range"),
        (["--dates", "years"], 2, "'years' is not one of 'leave', 'parts'"),
        (["--time", "city"], 1, "--time: column 'city' holds text, not dates or numbers"),
        (["--time", "city"], 1, "dates are known as 2012-01-31, 2012/01/31, 31.01.2012, Jan 31"),
        (["--force", "day"], 1, "give --dates parts to use its year, month and weekday"),
    ],
)
def test_what_can_be_wrong(visits, options, code, words):
    result = ellzero("select", visits, "--target", "y", *options)
    assert (result.code, words in result.err) == (code, True), result.err
    assert "Traceback" not in result.err


def test_a_table_of_nothing_but_names_says_how_to_use_them(tmp_path):
    rows = [f"name {i // 2},{i % 7}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["surname,y", *rows]) + "\n")
    result = ellzero("select", "t.csv", "--target", "y", cwd=tmp_path)
    assert result.code == 1
    assert result.err == (
        "Error: t.csv has no column to choose from ('surname' left out); 'surname' is text of 20 "
        "levels, all of fewer than 5 rows: --rare 1 keeps them.\n"
    )


def test_dates_order_rows_of_a_series(tmp_path):
    rows = [
        f"{month} 1 2000,{value}"
        for month, value in zip(("Mar", "Jan", "Feb"), (3, 1, 2), strict=True)
    ]
    (tmp_path / "s.csv").write_text("\n".join(["t,x", *rows]) + "\n")
    result = ellzero(
        "segment",
        "s.csv",
        "--column",
        "x",
        "--time",
        "t",
        "--lam",
        0.1,
        "--signal",
        "-",
        cwd=tmp_path,
    )
    assert result.code == 0, result.err
    assert [line.split(",")[0] for line in result.out.splitlines()[1:]] == [
        "2000-01-01",
        "2000-02-01",
        "2000-03-01",
    ]


def test_advice_is_read_to_its_end(tmp_path):
    """However long the values before it are, in a pipe too."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=200), "y": rng.normal(size=200)})
    table["after"] = pd.to_timedelta(np.arange(200), unit="s")
    table["seen"] = pd.date_range("2012-01-01", periods=200).astype(str)
    for row in range(4):
        table.loc[row, "seen"] = f"not on the form, see the remark of nurse number {row} overleaf"
    table["often"] = [f"2012-01-0{row % 10 or 9}" for row in range(200)]
    table.loc[::2, "often"] = "a word that is said of every second row, and at some length too"
    table.to_parquet(tmp_path / "t.parquet")
    result = ellzero("select", "t.parquet", "--target", "y", cwd=tmp_path)
    assert result.code == 0, result.err
    rows = {line.split()[0]: line for line in result.out.splitlines() if line}
    assert rows["after"].endswith("name it in --time to order rows by it, or make numbers of it")
    assert rows["seen"].endswith(" and 1 more (--na if that means missing)")
    assert "'not on the form, see the re...'" in rows["seen"]
    assert "reference 'a word that is said of ever...'" in rows["often"]
