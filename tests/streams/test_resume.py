"""Jobs that are killed, on real processes, and go on to the same bits."""

import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE
from stream_tables import ask, choose_in_parts, look, make_frames, write, write_parts

from ellzero.selection import summarise
from ellzero.streams import _checkpoint, select_stream
from ellzero.tables import DataError

# Kills itself at some writing of the checkpoint: before the file is renamed, or after.
SCRIPT = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
pattern, path, kill_at, before = sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5] == "before"
import ellzero.streams._checkpoint as checkpoint
checkpoint._SHARE = 0
write, count = checkpoint.write_aside, 0

def deadly(path, content):
    global count
    count += 1
    if count == kill_at and before:
        os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    write(path, content)
    if count == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)

checkpoint.write_aside = deadly
from stream_tables import ask, choose_in_parts
choose_in_parts(pattern, settings=ask(missing="drop"), checkpoint=Path(path))
"""
TESTS = Path(__file__).parents[1]
COMMAND = Path(sys.executable).with_name("ellzero")


def run(*arguments, **options):
    return subprocess.run(
        [*map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
        **options,
    )


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """The pattern of parts, and what is said of them without interruption."""
    folder = tmp_path_factory.mktemp("parts")
    pattern = write_parts(folder, [frame.drop(columns="day") for frame in make_frames(6, 60)])
    return pattern, summarise(choose_in_parts(pattern, settings=ask(missing="drop")), "")


# Six parts are looked at for their columns, and again for their rows, each with a writing at the
# end; then six are summed, the last of which closes with the pass.
@pytest.mark.parametrize(("kill_at", "when"), [(3, "after"), (10, "before"), (17, "after")])
def test_the_same_bits_after_kill_9(parts, tmp_path, kill_at, when):
    pattern, expected = parts
    path = tmp_path / "kept.npz"
    killed = run(sys.executable, "-c", SCRIPT, TESTS, pattern, path, kill_at, when)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert path.exists()
    found = choose_in_parts(pattern, settings=ask(missing="drop"), checkpoint=path)
    assert summarise(found, "") == expected
    assert not path.exists()


def test_a_disk_that_is_full_leaves_nothing_half_written(parts, tmp_path):
    path = tmp_path / "kept.npz"
    asked = ["select", parts[0], "--target", "y", "--missing", "drop", "--resume", path]

    def little():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    done = run(COMMAND, *asked, preexec_fn=little)
    assert done.returncode == 1
    assert done.stderr == f"Error: {path} can't be written: file too large.\n"
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_over_a_part(parts):
    pattern = Path(parts[0])
    part = pattern.with_name("part-2.parquet")
    before = part.read_bytes()
    done = run(COMMAND, "select", pattern, "--target", "y", "--json", part)
    assert done.returncode == 2
    assert "part-2.parquet is a part: it would be written over." in done.stderr
    assert part.read_bytes() == before


class StoppedError(Exception):
    pass


def stop_when(words):
    def say(said):
        if said.startswith(words):
            raise StoppedError

    return say


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A pattern of parts, settings, and the checkpoint of a job that was interrupted."""
    monkeypatch.setattr(_checkpoint, "_SHARE", 0)
    pattern = write_parts(tmp_path, [frame[["a", "b", "y"]] for frame in make_frames(4, 60)])
    settings, path = ask(missing="error"), tmp_path / "kept.npz"
    data = look(pattern, settings=settings, checkpoint=path)
    with pytest.raises(StoppedError):
        select_stream(data, settings, stop_when("Summing products: 2 of 4"))
    return pattern, settings, path


def test_what_was_summed_is_not_read_again(kept, monkeypatch):
    pattern, settings, path = kept
    expected = choose_in_parts(pattern, settings=settings)
    read = []
    from ellzero.streams import _recipe

    original = _recipe.read_part
    monkeypatch.setattr(
        _recipe,
        "read_part",
        lambda layout, part, *a: read.append(part.number) or original(layout, part, *a),
    )
    data = look(pattern, settings=settings, checkpoint=path)
    with pytest.raises(StoppedError):
        select_stream(data, settings, stop_when("Looking at residuals"))
    assert read[0] >= 1
    found = select_stream(look(pattern, settings=settings, checkpoint=path), settings)
    assert (found.frontier.energies == expected.frontier.energies).all()
    assert (found.model.coef == expected.model.coef).all()
    assert found.score.error == expected.score.error


def test_a_part_that_changed_since_is_named(kept, tmp_path):
    pattern, settings, path = kept
    write(make_frames(1, 70)[0][["a", "b", "y"]], tmp_path / "part-0.parquet")
    with pytest.raises(DataError, match=r"part-0\.parquet has changed since checkpoint"):
        look(pattern, settings=settings, checkpoint=path)


def test_another_job_does_not_go_on(kept):
    pattern, _, path = kept
    with pytest.raises(DataError, match=r"asked something else \(folds, seed\)"):
        look(pattern, settings=ask(missing="error", folds=4, seed=1), checkpoint=path)
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(DataError, match="is no checkpoint of passes, or not whole"):
        look(pattern, settings=ask(missing="error"), checkpoint=path)
