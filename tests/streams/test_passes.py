"""Passes: bits, near-exact fits, intervals, clusters, and what people see."""

import numpy as np
import pandas as pd
import pytest
from stream_tables import ask, choose_in_memory, choose_in_parts, make_frames, write, write_parts

from ellzero._progress import PartProgress
from ellzero.report import make_report
from ellzero.selection import summarise
from ellzero.streams import parse_memory
from ellzero.streams._runner import Cluster
from ellzero.tables import DataError
from ellzero.tables._facts import NumberFacts, TextFacts, facts_from, facts_to
from ellzero.tables._identifiers import Numbering

PLAIN = ask(missing="error", size=2)


def frames_of(X, y, parts):
    table = pd.DataFrame(X, columns=[f"v{j}" for j in range(X.shape[1])]).assign(y=y)
    return [table.iloc[rows] for rows in np.array_split(np.arange(len(table)), parts)]


def test_bits_do_not_depend_on_threads(tmp_path):
    pattern = write_parts(tmp_path, [frame.drop(columns="day") for frame in make_frames(3, 80)])
    one, two, three = (
        choose_in_parts(pattern, settings=ask(interactions=True), threads=threads)
        for threads in (1, 2, 3)
    )
    for other in (two, three):
        assert (other.frontier.energies == one.frontier.energies).all()
        assert (other.model.coef == one.model.coef).all()
        assert (other.residuals == one.residuals).all()
        assert other.score.error == one.score.error


def test_a_fit_that_is_all_but_exact_is_judged_by_rows(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    X[:, 1] = X[:, 0] + 1e-3 * X[:, 1]  # ill-conditioned, too
    noise = 1e-9 * rng.normal(size=400)
    y = X[:, 0] + X[:, 1] + noise
    found = choose_in_parts(write_parts(tmp_path, frames_of(X, y, 3)), settings=PLAIN)
    exact, *_ = np.linalg.lstsq(np.column_stack([np.ones(400), X[:, :2]]), y, rcond=None)
    left = y - exact[0] - X[:, :2] @ exact[1:]
    # By statistics alone, the sum of squares would be rounding: 1e-16 of that of y
    assert left @ left < 1e-16 * (y @ y)
    np.testing.assert_allclose(found.model.rss, left @ left, rtol=1e-5)
    np.testing.assert_allclose(found.model.coef[:2], exact[1:], rtol=1e-8)
    assert found.score.error == pytest.approx(np.mean(left**2), rel=0.1)
    assert any("exact to ten digits" in note for note in found.notes)


def test_errors_of_folds_are_those_of_statistics_where_these_are_good(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 5))
    y = X[:, 0] - X[:, 3] + rng.normal(size=500)
    found = choose_in_parts(write_parts(tmp_path, frames_of(X, y, 2)), settings=PLAIN)
    # The error of size 2 is of the same models, from statistics
    assert found.score.error == pytest.approx(found.score.size_errors[2], rel=1e-12)
    # Intervals reach as far as rows held out were off, up to the width of a bin
    level = 0.8
    reach = found.linear.reach(level)
    sd = np.sqrt(found.score.error)
    assert 1.2 * sd < reach < 1.4 * sd  # 1.28 for normal noise
    assert len(found.residuals) == 500


def test_intervals_are_those_of_memory_up_to_folds(tmp_path):
    frames = [frame[["a", "b", "y"]] for frame in make_frames(3, 200)]
    write(pd.concat(frames), tmp_path / "whole.parquet")
    found = choose_in_parts(write_parts(tmp_path, frames), settings=PLAIN)
    expected = choose_in_memory(tmp_path / "whole.parquet", PLAIN)
    for level in (0.5, 0.9):
        assert found.linear.reach(level) == pytest.approx(expected.linear.reach(level), rel=0.05)


def test_a_cluster_finds_the_same_bits(tmp_path):
    distributed = pytest.importorskip("distributed")
    pattern = write_parts(tmp_path, [frame.drop(columns="day") for frame in make_frames(3, 60)])
    here = choose_in_parts(pattern, settings=ask())
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
    ) as own:
        runner = Cluster(own.scheduler_address, lambda words: None)
        there = choose_in_parts(pattern, settings=ask(), runner=runner)
        runner.close()
    assert (there.frontier.energies == here.frontier.energies).all()
    assert (there.model.coef == here.model.coef).all()


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2GB", 2e9), ("500 mb", 5e8), ("1.5G", 1.5e9), ("2", 2e9), ("1GiB", 2.0**30)],
)
def test_sizes_of_memory(text, expected):
    assert parse_memory(text) == expected


@pytest.mark.parametrize("text", ["", "much", "0GB", "-1GB", "2XB"])
def test_what_is_no_size_of_memory(text):
    with pytest.raises(DataError, match="memory must be like 2GB"):
        parse_memory(text)


def test_progress_names_parts_and_time_left():
    said = []
    progress = PartProgress(said.append, "Summing", [1.0, 3.0], 0)
    progress.done(1)
    assert said[0] == "Summing: 0 of 2 parts"
    assert said[1].startswith("Summing: 1 of 2 parts after 0 s, about ")
    assert said[1].endswith(" left")


@pytest.mark.parametrize("cut", [0, 1, 4, 9, 12])
@pytest.mark.parametrize(
    "values",
    [
        np.arange(12.0),
        np.arange(12.0)[::-1] + 1,
        np.array([1, 2, np.nan, 4, 7, 9, 11, 12, 14, 15, 17, 18.0]),
        np.array([3.5, *np.arange(11.0)]),
        np.full(12, np.nan),
    ],
)
def test_facts_of_stretches_are_those_of_all_rows(values, cut):
    whole = NumberFacts.of(values)
    both = NumberFacts.of(values[:cut]).then(NumberFacts.of(values[cut:]))
    for name in ("id", "row", "x"):
        several = len(whole.few) > 2
        assert both.numbering.numbers_rows(name, several) == Numbering.of(values).numbers_rows(
            name, several
        )
    assert (both.rows, both.n_missing, both.low, both.high) == (
        whole.rows,
        whole.n_missing,
        whole.low,
        whole.high,
    )
    assert (len(both.few) > 2) == (len(whole.few) > 2)
    assert both.mean == pytest.approx(whole.mean, rel=1e-14)
    again = facts_from(facts_to(both))
    assert isinstance(again, NumberFacts)
    assert str(again) == str(both)


def test_texts_of_too_many_levels_are_not_kept():
    one, two = (
        TextFacts(
            6000, 0, {f"{k}-{j}": 1 for j in range(6000)}, {f"{k}-{j}": 1.0 for j in range(6000)}
        )
        for k in range(2)
    )
    assert one.then(two).many
    assert one.then(two).counts == {}


def test_the_report_and_the_json_say_what_they_are_made_of(tmp_path):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(12_000, 3))
    y = X[:, 0] + rng.normal(size=12_000)
    found = choose_in_parts(write_parts(tmp_path, frames_of(X, y, 2)), settings=PLAIN)
    content = summarise(found, "ellzero select")
    assert content["data"]["parts"] == 2
    assert len(found.residuals) < 12_000
    page = make_report(found, content)
    assert "A sample of the 12,000 rows." in page
    assert "SHA-256 of the size, the beginning and the end of every file" in page
