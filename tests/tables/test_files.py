"""Files that are written whole or not at all."""

import os
import subprocess
import sys
import time

import pytest

from ellzero.tables import DataError, write_aside

WRITER = """
import sys
from pathlib import Path
from ellzero.tables import write_aside
path, contents = Path(sys.argv[1]), [letter * 5_000_000 for letter in "ab"]
while True:
    for content in contents:
        write_aside(path, content)
        print("written", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no kill -9 there")
def test_whoever_is_killed_leaves_the_old_file_or_the_new_one(tmp_path, rng):
    path = tmp_path / "f"
    whole = {letter * 5_000_000 for letter in "ab"}
    for delay in rng.uniform(0, 0.05, size=12):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE
        ) as process:
            for _ in range(rng.integers(1, 4)):  # so many were written
                assert process.stdout.readline() == b"written\n"
            time.sleep(delay)
            process.kill()
        assert path.read_text() in whole


def test_links_stay_links_and_modes_stay_modes(tmp_path):
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "f").write_text("old")
    (tmp_path / "inside" / "f").chmod(0o640)
    (tmp_path / "link").symlink_to("inside/f")
    (tmp_path / "dangling").symlink_to("inside/g")
    for name in ("link", "dangling"):
        write_aside(tmp_path / name, "new")
        assert (tmp_path / name).is_symlink()
    assert [(tmp_path / "inside" / name).read_text() for name in "fg"] == ["new", "new"]
    assert (tmp_path / "inside" / "f").stat().st_mode & 0o777 == 0o640


def test_the_longest_name_has_room(tmp_path):
    write_aside(tmp_path / ("x" * 255), "content")
    assert [path.name for path in tmp_path.iterdir()] == ["x" * 255]


def test_links_in_a_circle_are_an_error(tmp_path):
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(DataError, match="circle can't be written"):
        write_aside(tmp_path / "circle", "content")
    assert (tmp_path / "circle").is_symlink()


@pytest.mark.skipif(not os.path.exists("/dev/fd/1"), reason="no names for what is open")
def test_what_is_open_is_written_to_as_it_is(tmp_path):
    with (tmp_path / "f").open("w") as file:
        file.write("first ")
        file.flush()
        before = os.stat(tmp_path / "f").st_ino
        write_aside(type(tmp_path)(f"/dev/fd/{file.fileno()}"), "second")
    assert (tmp_path / "f").read_text() == "first second"
    assert os.stat(tmp_path / "f").st_ino == before
