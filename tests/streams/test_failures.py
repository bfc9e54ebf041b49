"""Parts that do not belong together, or change: one sentence that names the part."""

import shutil

import numpy as np
import pandas as pd
import pytest
from stream_tables import ask, choose_in_parts, look, make_frames, write, write_parts

from ellzero.streams import Budget, select_stream
from ellzero.tables import DataError, ReadOptions
from ellzero.tables._parts import find_parts, look_at_parts

FRAMES = make_frames(3, 60)
PLAIN = ask(missing="error", family="gaussian")
NUMBERS = [frame[["a", "b", "y"]] for frame in FRAMES]


def refused(words, *places, settings=PLAIN, **how):
    with pytest.raises(DataError, match=words) as caught:
        choose_in_parts(*places, settings=settings, **how)
    assert str(caught.value).endswith(".")
    assert str(caught.value).count(". ") <= 1


def test_a_missing_value_is_allowed_as_in_memory(tmp_path):
    gap = NUMBERS[1].copy()
    gap.loc[7, "a"] = np.nan
    pattern = write_parts(tmp_path, [NUMBERS[0], gap, NUMBERS[2]])
    refused(r"Values are missing in 'a' \(1\) of 183 rows: .*missing", pattern)
    found = choose_in_parts(pattern, settings=ask(missing="drop"))
    assert (found.data.n_read, found.data.n_fitted) == (183, 182)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_columns_that_are_lost_added_or_retyped(tmp_path, kind):
    pattern = write_parts(tmp_path, NUMBERS, kind)
    second = tmp_path / f"part-1.{kind}"
    write(NUMBERS[1].drop(columns="b"), second)
    refused(rf"part-1\.{kind} has no column 'b', which .*part-0", pattern)
    write(NUMBERS[1].assign(e=1.0), second)
    refused(rf"part-1\.{kind} has a column 'e', which .*part-0\.{kind} has not", pattern)
    write(NUMBERS[1].assign(b="high"), second)
    refused(rf"part-1\.{kind}: column 'b' holds texts, but numbers in", pattern)


def test_whole_numbers_and_decimals_are_both_numbers(tmp_path):
    whole = NUMBERS[1].assign(b=np.arange(len(NUMBERS[1])))
    pattern = write_parts(tmp_path, [NUMBERS[0], whole, NUMBERS[2]])
    assert choose_in_parts(pattern, settings=PLAIN).data.n_fitted == 183


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_column_without_values_in_one_part_is_of_any_kind(tmp_path, kind):
    frames = [frame[["city", "day", "a", "y"]].copy() for frame in FRAMES]
    frames[0]["city"] = pd.Series([None] * len(frames[0]), dtype=object)
    way = ask(rare=0, dates="parts")
    found = choose_in_parts(write_parts(tmp_path, frames, kind), settings=way)
    known = set(FRAMES[1]["city"]) | set(FRAMES[2]["city"])
    assert found.plan.levels["city"] == sorted(known)
    assert next(r for r in found.data.remarks if r.name == "city").n_missing == len(frames[0])


def test_a_file_that_is_cut_is_found_before_any_work(tmp_path):
    pattern = write_parts(tmp_path, NUMBERS)
    last = tmp_path / "part-2.parquet"
    last.write_bytes(last.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"part-2\.parquet is not a whole Parquet file"):
        look_at_parts(find_parts([pattern]), ReadOptions(), (), ())


def test_a_flipped_bit_is_found_by_its_checksum(tmp_path):
    pattern = write_parts(
        tmp_path, NUMBERS, write_page_checksum=True, compression="none", use_dictionary=False
    )
    part = tmp_path / "part-1.parquet"
    content = bytearray(part.read_bytes())
    content[300] ^= 4
    part.write_bytes(content)
    refused(r"part-1\.parquet can't be read to its end: .*CRC", pattern)


def test_a_part_that_changes_between_passes(tmp_path):
    pattern = write_parts(tmp_path, NUMBERS)
    data = look(pattern, settings=PLAIN)
    write(NUMBERS[1] * 2, tmp_path / "part-1.parquet")
    with pytest.raises(DataError, match=r"part-1\.parquet has changed since"):
        select_stream(data, PLAIN)


def test_empty_parts_and_copies(tmp_path):
    pattern = write_parts(tmp_path, [NUMBERS[0], NUMBERS[1][:0], NUMBERS[2]])
    found = choose_in_parts(pattern, settings=PLAIN)
    assert any("part-1.parquet has no rows." in note for note in found.notes)
    refused(r"part-0\.parquet is named twice", pattern, tmp_path / "part-0.parquet")
    shutil.copy(tmp_path / "part-0.parquet", tmp_path / "part-9.parquet")
    refused(r"part-9\.parquet is a copy of .*part-0", pattern)
    (tmp_path / "part-9.parquet").write_bytes(b"")
    refused(r"part-9\.parquet is empty", tmp_path)
    refused(r"There is no file .*nothing", tmp_path / "nothing-*.parquet")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"groups": "a"}, "groups reads one table"),
        ({"time": "a"}, "time reads one table"),
        ({"test_share": 0.2}, "test_share reads one table"),
        ({"family": "poisson"}, "family='poisson' reads one table"),
        ({"repeats": 3}, "put into folds once"),
        ({"weights": "b", "frequency": True}, "must hold whole numbers"),
    ],
)
def test_what_needs_rows_in_memory_is_refused(tmp_path, more, words):
    refused(words, write_parts(tmp_path, NUMBERS), settings=ask(**more))


def test_a_binary_target_is_sent_to_memory(tmp_path):
    frames = [frame.assign(y=(frame["y"] > 0).astype(float)) for frame in NUMBERS]
    pattern = write_parts(tmp_path, frames)
    refused("binary: logistic regression needs one table", pattern, settings=ask())
    found = choose_in_parts(pattern, settings=PLAIN)
    assert any("Least squares is used" in note for note in found.notes)


def test_memory_that_is_too_little_is_said_with_what_it_takes():
    with pytest.raises(DataError, match=r"memory is too little: products of 5,000 features in 10"):
        Budget(2e9, 2).shape(5000, 5000, 10, 40)
    small, large = (Budget(most, 2).shape(1000, 1000, 10, 40) for most in (2e9, 2e10))
    assert small.rows < large.rows
    assert Budget(2e9, 1).shape(1000, 1000, 10, 40).rows == small.rows
