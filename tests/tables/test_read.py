import bz2
import codecs
import gzip
import hashlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from ellzero import _memory
from ellzero.tables import (
    DataError,
    DateColumn,
    NumberColumn,
    ReadOptions,
    TextColumn,
    read_table,
)


def write(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


def numbers(table, name):
    column = table.columns[name]
    assert isinstance(column, NumberColumn)
    return column.values


def words(table, name):
    column = table.columns[name]
    assert isinstance(column, TextColumn)
    return [None if code < 0 else column.levels[code] for code in column.codes]


def test_columns_of_every_kind(tmp_path):
    text = "n,f,b,t,d,when\n1,1.5,true,x,2024-01-31,2024-01-31 10:00:00\n2,,false,,2024-02-01,\n"
    table = read_table(write(tmp_path / "t.csv", text))
    assert table.n_rows == 2
    np.testing.assert_array_equal(numbers(table, "n"), [1, 2])
    np.testing.assert_array_equal(numbers(table, "f"), [1.5, np.nan])
    np.testing.assert_array_equal(numbers(table, "b"), [1, 0])
    assert words(table, "t") == ["x", None]
    assert isinstance(table.columns["d"], DateColumn)
    assert np.diff(table.columns["d"].values) == 86_400
    assert table.columns["when"].n_missing == 1


@pytest.mark.parametrize("place", [0, 1, 20_000, 299_999])
def test_a_decimal_makes_a_decimal_column_wherever_it_stands(tmp_path, place):
    rows = [f"{i % 97},{i % 13}" for i in range(300_000)]
    rows[place] = "0.25,7"
    table = read_table(write(tmp_path / "t.csv", "x,y\n" + "\n".join(rows) + "\n"))
    assert numbers(table, "x")[place] == 0.25
    assert numbers(table, "x").sum() == sum(i % 97 for i in range(300_000)) - place % 97 + 0.25


def test_a_word_far_down_makes_a_text_column_and_leaves_the_others(tmp_path):
    rows = [f"{i % 7},{i % 5},2024-01-0{1 + i % 9},{i % 2 == 0}" for i in range(400_000)]
    rows[-1] = "seven,2.5,2024-01-05,true"
    table = read_table(write(tmp_path / "t.csv", "x,z,d,b\n" + "\n".join(rows) + "\n"))
    assert sorted(table.columns["x"].levels) == ["0", "1", "2", "3", "4", "5", "6", "seven"]
    assert numbers(table, "z")[-1] == 2.5
    assert isinstance(table.columns["d"], DateColumn)
    assert numbers(table, "b")[:3].tolist() == [1, 0, 1]


def test_a_column_that_is_empty_at_first_may_hold_anything_later(tmp_path):
    rows = [f"{i},," for i in range(600_000)]
    rows[-1] = "1,2.5,word"
    table = read_table(write(tmp_path / "t.csv", "i,x,t\n" + "\n".join(rows) + "\n"))
    assert numbers(table, "x")[-1] == 2.5
    assert table.columns["x"].n_missing == 599_999
    assert words(table, "t")[-1] == "word"


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_in_the_header(tmp_path, mark):
    text = f'"a{mark}1"{mark}b\n1{mark}2\n'
    assert list(read_table(write(tmp_path / "t.csv", text)).columns) == [f"a{mark}1", "b"]


def test_any_delimiter_decimal_encoding_and_na(tmp_path):
    path = write(tmp_path / "t.txt", "größe:x\n1,5:weg\n2,5:3\n", "latin-1")
    options = ReadOptions(delimiter=":", encoding="latin-1", decimal=",", na=("weg",))
    table = read_table(path, options)
    np.testing.assert_array_equal(numbers(table, "größe"), [1.5, 2.5])
    np.testing.assert_array_equal(numbers(table, "x"), [np.nan, 3])


MARKED = {"utf-16": "utf-16", "utf-32": "utf-32", "utf-8-sig": None}
UNMARKED = {name: name for name in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")}


@pytest.mark.parametrize(("encoding", "hint"), [*MARKED.items(), *UNMARKED.items()])
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
@pytest.mark.parametrize("asked", ["utf-8", "latin-1"])
def test_the_encoding_that_is_named_is_the_right_one(tmp_path, encoding, hint, suffix, asked):
    # More than a block, and letters of which a block may have one half
    text = "größe,where\n" + "1.5,Zürich 😀\n2,Łódź\n" * 150_000
    raw = text.encode(encoding)
    path = tmp_path / f"t{suffix}"
    path.write_bytes(gzip.compress(raw, 1) if suffix.endswith("gz") else raw)
    options = ReadOptions(encoding=asked)
    if hint is not None:
        with pytest.raises(DataError, match=r"is not written in \S+: try encoding=") as error:
            read_table(path, options)
        assert str(error.value).endswith(f"try encoding={hint!r}.")
        options = ReadOptions(encoding=hint)
    elif asked == "latin-1":
        options = ReadOptions(encoding=encoding)
    table = read_table(path, options)
    assert list(table.columns) == ["größe", "where"]
    assert (table.n_rows, numbers(table, "größe").sum()) == (300_000, 525_000)
    assert table.columns["where"].levels == ["Zürich 😀", "Łódź"]


def test_a_big_endian_mark_and_a_quoted_field_at_the_end(tmp_path):
    text = 'x,t\n1,a\n2,"b\nc"\n'
    (tmp_path / "t.csv").write_bytes(codecs.BOM_UTF16_BE + text.encode("utf-16-be"))
    with pytest.raises(DataError, match=r"try encoding='utf-16'\."):
        read_table(tmp_path / "t.csv")
    table = read_table(tmp_path / "t.csv", ReadOptions(encoding="utf-16"))
    assert words(table, "t") == ["a", "b\nc"]


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (b"\x1f\x8b....", r"is a gzip file, not text: let its name end in \.gz"),
        (b"PAR1....", r"is a Parquet file, not text: let its name end in \.parquet"),
        (b"PK\x03\x04....", "is a zip file or an Excel workbook, not text: save a table of it"),
    ],
)
def test_what_is_no_text_is_called_by_its_name(tmp_path, start, message):
    (tmp_path / "t.csv").write_bytes(start)
    with pytest.raises(DataError, match=message):
        read_table(tmp_path / "t.csv")


def test_decimal_commas_far_down(tmp_path):
    rows = ["1;2"] * 700_000 + ["0,5;w"]
    table = read_table(
        write(tmp_path / "t.csv", "x;y\n" + "\n".join(rows) + "\n"), ReadOptions(decimal=",")
    )
    assert numbers(table, "x")[-1] == 0.5
    assert table.columns["y"].levels == ["2", "w"]


def test_quotes_newlines_and_emoji_in_names_and_values(tmp_path):
    text = '"a ""b""","c\nd",😀,<script>\n"x, ""y""","1\n2",3,4\n'
    table = read_table(write(tmp_path / "t.csv", text))
    assert list(table.columns) == ['a "b"', "c\nd", "😀", "<script>"]
    assert words(table, 'a "b"') == ['x, "y"']
    assert words(table, "c\nd") == ["1\n2"]
    assert numbers(table, "<script>") == [4]


def test_byte_order_mark_and_windows_line_ends(tmp_path):
    table = read_table(write(tmp_path / "t.csv", "\ufeffx,y\r\n1,2\r\n"))
    assert list(table.columns) == ["x", "y"]
    assert table.n_rows == 1


def test_columns_without_a_name_get_one(tmp_path):
    table = read_table(write(tmp_path / "t.csv", ",x\n0,1\n1,2\n"))
    assert list(table.columns) == ["(unnamed 1)", "x"]


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_compressed(tmp_path, suffix, pack):
    path = tmp_path / f"t.csv{suffix}"
    path.write_bytes(pack(b"x,y\n1,2\n"))
    assert numbers(read_table(path), "y") == [2]


def frame():
    return pd.DataFrame(
        {
            "i": np.array([1, 2, 3], dtype="int32"),
            "x": [1.5, np.nan, 2.5],
            "c": pd.Categorical(["u", "v", "u"]),
            "t": ["p", "q", None],
        }
    )


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream", "feather", "dta"])
def test_other_formats_hold_the_same(tmp_path, kind):
    table = pa.Table.from_pandas(frame(), preserve_index=False)
    path = tmp_path / f"t.{'arrow' if kind == 'stream' else kind}"
    if kind == "parquet":
        pa.parquet.write_table(table, path)
    elif kind == "feather":
        pa.feather.write_feather(table, path)
    elif kind == "dta":
        frame().assign(t=["p", "q", ""]).to_stata(path, write_index=False)
    else:
        new = pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream
        with new(path, table.schema) as writer:
            writer.write_table(table)
    read = read_table(path)
    np.testing.assert_array_equal(numbers(read, "i"), [1, 2, 3])
    np.testing.assert_array_equal(numbers(read, "x"), [1.5, np.nan, 2.5])
    assert words(read, "c") == ["u", "v", "u"]
    assert words(read, "t")[:2] == ["p", "q"]
    assert list(read_table(path, only=["x"]).columns) == ["x"]
    assert read_table(path, drop=["x", "t"]).unread == ("x", "t")


def test_types_of_parquet(tmp_path):
    table = pa.table(
        {
            "d": pa.array([1, None], pa.decimal128(10, 2)),
            "b": pa.array([True, None]),
            "n": pa.array([None, None], pa.null()),
            "f": pa.array([0.5, 1.0], pa.float32()),
            "day": pa.array([0, 1], pa.date32()),
            "ms": pa.array([0, 1500], pa.timestamp("ms", tz="UTC")),
            "codes": pa.array(["x", None]).dictionary_encode(),
            "big": pa.array(["x", "y"], pa.large_string()),
        }
    )
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    read = read_table(tmp_path / "t.parquet")
    np.testing.assert_array_equal(numbers(read, "d"), [1, np.nan])
    np.testing.assert_array_equal(numbers(read, "b"), [1, np.nan])
    assert np.isnan(numbers(read, "n")).all()
    assert np.diff(read.columns["ms"].values) == 1.5
    assert np.diff(read.columns["day"].values) == 86_400
    assert words(read, "codes") == ["x", None]
    assert words(read, "big") == ["x", "y"]
    lists = pa.table({"x": [1.0], "nest": [[1, 2]]})
    pa.parquet.write_table(lists, tmp_path / "nested.parquet")
    with pytest.raises(DataError, match=r"'nest' holds values of the type list.*with drop\."):
        read_table(tmp_path / "nested.parquet")
    assert read_table(tmp_path / "nested.parquet", drop=["nest"]).n_rows == 1


def test_numbers_read_as_text_are_levels(tmp_path):
    table = read_table(write(tmp_path / "t.csv", "x,y\n1,2\n01,2\n"), text=["x"])
    assert words(table, "x") == ["1", "01"]
    assert NumberColumn("x", np.array([2.0, 1.5, np.nan])).as_text().levels == ["1.5", "2"]


def test_many_levels_are_not_kept_unless_asked_for(tmp_path):
    path = write(tmp_path / "t.csv", "x\n" + "\n".join(f"w{i}" for i in range(12_000)) + "\n")
    assert read_table(path).columns["x"].levels is None
    assert len(read_table(path, text=["x"]).columns["x"].levels) == 12_000


def test_levels_do_not_depend_on_the_order_of_rows(tmp_path):
    one = read_table(write(tmp_path / "1.csv", "x,y\nb,1\na,2\n")).columns["x"]
    other = read_table(write(tmp_path / "2.csv", "x,y\na,2\nb,1\n")).columns["x"]
    assert one.levels == other.levels == ["a", "b"]
    assert one.codes[::-1].tolist() == other.codes.tolist()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"x,y\n1,2\n3\n", "a row has 1 fields where the header has 2"),
        (b"x,y\n1,2\n1,2,3\n", "a row has 3 fields where the header has 2"),
        (b"x,x\n1,2\n", "more than one column is called 'x'"),
        ("x\né\n".encode("latin-1"), "is not written in utf-8: try encoding='latin-1'"),
        (b"x\n" + b"1\n" * 900_000 + b"\xe9\n", "is not written in utf-8: try encoding="),
        (b"x,y\n\x00\x00,1\n", "is not a text file"),
        (b'x,y\n1,2\n3,"4\n5,6\n7,8\n', "a quoted field does not end"),
        (b'x,y\n1,"2\n' + b"5,6\n" * 3_000_000, "a quoted field does not end|cut off"),
    ],
)
def test_what_is_wrong_with_a_text_file(tmp_path, content, words):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=words):
        read_table(path)


def test_a_compressed_file_cut_in_the_middle(tmp_path):
    rng = np.random.default_rng(0)
    packed = gzip.compress(b"x\n" + "\n".join(map(str, rng.random(200_000))).encode())
    path = tmp_path / "t.csv.gz"
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(DataError, match="can't be read"):
        read_table(path)


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "dta"])
def test_other_files_cut_in_the_middle(tmp_path, suffix):
    whole = tmp_path / f"whole.{suffix}"
    table = pa.Table.from_pandas(frame()[["i", "x"]], preserve_index=False)
    if suffix == "parquet":
        pa.parquet.write_table(table, whole)
    elif suffix == "dta":
        frame()[["i", "x"]].to_stata(whole, write_index=False)
    else:
        pa.feather.write_feather(table, whole)
    path = tmp_path / f"t.{suffix}"
    for share in (0.1, 0.5, 0.9):
        path.write_bytes(whole.read_bytes()[: int(share * whole.stat().st_size)])
        with pytest.raises(DataError, match=r"is not a whole \w+ file|can't be read"):
            read_table(path)


def test_names_that_are_not_there(tmp_path):
    path = write(tmp_path / "t.csv", "x,y\n1,2\n")
    with pytest.raises(DataError, match="has no column 'z', which drop names"):
        read_table(path, drop=["z"])
    with pytest.raises(DataError, match="is a directory"):
        read_table(tmp_path)
    with pytest.raises(DataError, match="can't be read: no such file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(DataError, match="both ','"):
        read_table(path, ReadOptions(delimiter=",", decimal=","))


def test_progress_and_hash(tmp_path):
    seen = []
    path = write(tmp_path / "t.csv", "x\n1\n2\n")
    table = read_table(path, progress=seen.append)
    assert seen == [2]
    assert table.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
def test_a_table_that_is_too_large_for_memory(tmp_path, monkeypatch, suffix):
    path = tmp_path / f"t.{suffix}"
    n = 200_000
    if suffix == "parquet":
        pa.parquet.write_table(pa.table({"x": np.zeros(n), "y": np.zeros(n)}), path)
    else:
        raw = b"x,y\n" + b"0,0\n" * n  # compressed, a thousandth of it
        path.write_bytes(gzip.compress(raw) if suffix == "csv.gz" else raw)
    assert read_table(path).n_rows == n
    monkeypatch.setattr(_memory, "_memory", lambda: 1e6)
    with pytest.raises(DataError, match=r"rows alone take 0\.0 GB, more than this machine has"):
        read_table(path)


@pytest.mark.parametrize("start", [b"", b"x,y\n"])
def test_a_line_without_an_end_takes_little_memory(tmp_path, start):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(start + b"1" * 300_000_000, 1))
    code = (
        "import sys, tracemalloc; from pathlib import Path; import pyarrow as pa\n"
        "from ellzero.tables import read_table\n"
        "tracemalloc.start()\n"
        "try: read_table(Path(sys.argv[1]))\n"
        "except ValueError as error: print(error, file=sys.stderr)\n"
        "print(pa.default_memory_pool().max_memory() + tracemalloc.get_traced_memory()[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
    )
    assert "has no header" in done.stderr or "a row does not end within" in done.stderr
    assert int(done.stdout) < 100_000_000


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".csv.bz2", ".parquet", ".arrow"])
def test_what_can_be_read_only_once(tmp_path, suffix):
    """A named pipe, whose content is known by how it begins."""
    whole = tmp_path / f"whole{suffix}"
    if suffix == ".parquet":
        pa.parquet.write_table(pa.table({"x": [1.0, 2.0]}), whole)
    elif suffix == ".arrow":
        pa.feather.write_feather(pa.table({"x": [1.0, 2.0]}), whole, compression="uncompressed")
    else:
        pack = {".csv.gz": gzip.compress, ".csv.bz2": bz2.compress}.get(suffix, bytes)
        whole.write_bytes(pack(b"x\n1\n2\n"))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(whole.read_bytes()))
    writer.start()
    table = read_table(pipe)
    writer.join()
    assert numbers(table, "x").tolist() == [1, 2]
    assert table.name == str(pipe)
    assert table.sha256 == hashlib.sha256(whole.read_bytes()).hexdigest()


def test_devices_are_no_tables():
    with pytest.raises(DataError, match="/dev/zero is a device, not a table"):
        read_table(Path("/dev/zero"))
    with pytest.raises(DataError, match="/dev/null is empty"):
        read_table(Path("/dev/null"))


def test_a_name_that_is_no_text(tmp_path):
    path = tmp_path / "a\udcff.csv"
    path.write_text("x\n1\n")
    assert numbers(read_table(path), "x") == [1]
