"""The folder that is written: figures, data and the page."""

import html
import re

import numpy as np
import pandas as pd
import pytest
from pyarrow.csv import read_csv

from ellzero.paper import PARTS, reproduce
from ellzero.tables import DataError

PLAIN = ("posterior-means", "penalties")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("paper") / "new" / "folder"
    page = reproduce([*PLAIN, "accuracy", "selection"], out, trials=3)
    assert page == out / "index.html"
    return out


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_what_is_in_the_folder(folder):
    names = [*PLAIN, "accuracy", "selection"]
    assert {*contents(folder)} == {
        "index.html",
        "trials/simulation.jsonl",
        *(f"figures/{name}.{kind}" for name in names for kind in ("png", "svg")),
        *(f"data/{name}.{kind}" for name in names for kind in ("parquet", "csv")),
    }


@pytest.mark.parametrize("name", ["posterior-means", "accuracy", "selection"])
def test_csv_and_parquet_are_the_same(folder, name):
    stem = folder / "data" / name
    parquet = pd.read_parquet(stem.with_suffix(".parquet"))
    csv = read_csv(stem.with_suffix(".csv")).to_pandas()  # unlike pandas, to the last bit
    pd.testing.assert_frame_equal(parquet, csv, check_exact=True, check_dtype=False)
    if name == "accuracy":
        assert parquet.attrs["seed"] == 0
        assert parquet.attrs["trials"] == 3


def test_the_page_has_every_figure_claim_and_verdict(folder):
    page = (folder / "index.html").read_text(encoding="utf-8")
    shown = html.unescape(page)
    assert page.count("data:image/svg+xml;base64,") == 4
    for name in (*PLAIN, "accuracy", "selection"):
        data = pd.read_parquet(folder / "data" / f"{name}.parquet")
        section = shown[shown.index(f'<h2 id="{name}">') :]
        for claim in PARTS[name].claims(data):
            assert claim.claim in section
            assert claim.measured in section
            assert claim.rule in section
    claims = [
        claim
        for name in (*PLAIN, "accuracy", "selection")
        for claim in PARTS[name].claims(pd.read_parquet(folder / "data" / f"{name}.parquet"))
        if not claim.beyond
    ]
    for verdict in ("confirmed", "better", "not confirmed"):
        count = sum(claim.verdict == verdict for claim in claims)
        assert re.search(rf"[ \n]{count} {verdict}[,.]", shown)
    assert "<script" not in page
    assert not re.search(r'(src|href)="(?!data:|data/|figures/|#)', page)


def test_the_same_bytes_again(folder, tmp_path):
    reproduce([*PLAIN, "accuracy", "selection"], tmp_path, trials=3, jobs=1)
    first, again = contents(folder), contents(tmp_path)
    # Trials are written as they are done, so in any order.
    assert sorted(first.pop("trials/simulation.jsonl").splitlines()) == sorted(
        again.pop("trials/simulation.jsonl").splitlines()
    )
    assert first == again


def test_parts_join_what_is_there(folder, tmp_path):
    reproduce("penalties", tmp_path)
    assert not (tmp_path / "trials").exists()
    reproduce("posterior-means", tmp_path)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert page.index('<h2 id="posterior-means">') < page.index('<h2 id="penalties">')


def test_numbers_of_numpy_are_numbers(tmp_path):
    reproduce("accuracy", tmp_path, trials=np.int64(1), seed=np.int32(0), jobs=np.int8(1))
    assert pd.read_parquet(tmp_path / "data" / "accuracy.parquet").attrs["trials"] == 1


def test_finished_trials_are_not_lost(folder):
    before = contents(folder)
    with pytest.raises(DataError, match=r"simulation.jsonl holds 3 finished trials: go on"):
        reproduce("accuracy", folder, trials=3)
    assert contents(folder) == before
    with pytest.raises(ValueError, match="holds trials with seed 0, not 1"):
        reproduce("accuracy", folder, trials=3, seed=1, resume=True)
    assert contents(folder) == before
    reproduce("accuracy", folder, trials=3, resume=True)
    assert contents(folder) == before


def test_a_part_without_its_figure_or_of_another_make(tmp_path):
    reproduce(PLAIN, tmp_path)
    (tmp_path / "figures" / "penalties.svg").unlink()
    page = reproduce("posterior-means", tmp_path).read_text(encoding="utf-8")
    assert '<h2 id="penalties">' not in page
    reproduce(PLAIN, tmp_path)
    (tmp_path / "data" / "penalties.parquet").write_bytes(b"not a table")
    with pytest.raises(DataError, match=r"penalties.parquet was not made by this version"):
        reproduce("posterior-means", tmp_path)
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "data" / "penalties.parquet")
    with pytest.raises(DataError, match=r"penalties.parquet was not made by this version"):
        reproduce("posterior-means", tmp_path)


def test_trials_are_looked_at_before_any_work(folder, tmp_path):
    (tmp_path / "trials").mkdir()
    (tmp_path / "trials" / "timing.jsonl").write_text("{}\n{}\n")
    with pytest.raises(ValueError, match=r"timing.jsonl does not hold trials"):
        reproduce("all", tmp_path, trials=1, resume=True)
    assert [path.name for path in tmp_path.iterdir()] == ["trials"]


def test_times_of_another_machine_are_not_mixed_in(tmp_path, monkeypatch):
    from ellzero.paper import timing

    monkeypatch.setattr(timing, "_SMALL", ((30, 10),))
    monkeypatch.setattr(timing, "_LARGE", ())
    path = tmp_path / "timing.jsonl"
    timing.compute(1, trial_file=path)
    monkeypatch.setattr(timing, "describe_machine", lambda: "an abacus")
    with pytest.raises(ValueError, match=r"holds trials with machine .*, not an abacus"):
        timing.compute(1, trial_file=path)


def test_pages_of_others_are_not_overwritten(tmp_path):
    (tmp_path / "index.html").write_text("<title>My site</title>")
    with pytest.raises(DataError, match=r"index.html is not ours to overwrite"):
        reproduce("penalties", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]


@pytest.mark.parametrize("path", ["data/penalties.csv", "figures/penalties.png"])
def test_data_of_others_are_not_overwritten(tmp_path, path):
    (tmp_path / path).parent.mkdir()
    (tmp_path / path).write_text("mine")
    with pytest.raises(DataError, match=rf"{path} is not ours to overwrite"):
        reproduce(PLAIN, tmp_path)
    assert contents(tmp_path) == {path: b"mine"}
    reproduce("posterior-means", tmp_path)
    assert (tmp_path / path).read_text() == "mine"


def test_a_folder_that_was_left_in_the_middle_is_ours(tmp_path, monkeypatch):
    from ellzero.paper import _reproduce

    with monkeypatch.context() as patch:
        patch.setattr(_reproduce, "_write_data", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            reproduce("penalties", tmp_path)
    assert (tmp_path / "figures" / "penalties.svg").exists()
    assert "<h2" in reproduce("penalties", tmp_path).read_text(encoding="utf-8")


def test_bad_folders_and_parts(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="is a file, not a folder"):
        reproduce("penalties", tmp_path / "file")
    with pytest.raises(DataError, match="can't be made a folder: not a directory"):
        reproduce("penalties", tmp_path / "file" / "below")
    with pytest.raises(ValueError, match=r"parts must be 'all' or some of .*; got 'penalty'"):
        reproduce("penalty", tmp_path / "new")
    with pytest.raises(ValueError, match="got none"):
        reproduce([], tmp_path / "new")
    with pytest.raises(ValueError, match="trials must be"):
        reproduce("all", tmp_path / "new", trials=0)
    assert not (tmp_path / "new").exists()
