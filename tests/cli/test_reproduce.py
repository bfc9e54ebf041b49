"""``ellzero reproduce``, as people run it, interrupt it and go on."""

import signal

import pytest
from command import ellzero, ellzero_on_a_terminal, started
from patience import PATIENCE, wait_until


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def wait_for_trials(folder, count):
    path = folder / "trials" / "simulation.jsonl"
    wait_until(lambda: path.exists() and path.read_bytes().count(b"\n") > count, "a trial")


def test_killed_and_resumed_equals_uninterrupted(tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    size = "--trials=6"
    assert ellzero("reproduce", "accuracy", "--out", whole, "--seed=3", size).code == 0
    with started("reproduce", "accuracy", "--out", broken, "--seed=3", size, "--jobs=2") as process:
        wait_for_trials(broken, 2)
    assert process.returncode == -signal.SIGKILL
    kept = (broken / "trials" / "simulation.jsonl").read_bytes()
    refused = ellzero("reproduce", "accuracy", "--out", broken, "--seed=3", size)
    assert (refused.code, refused.out) == (1, "")
    assert "finished trials: go on from them with --resume" in refused.err
    resumed = ellzero("reproduce", "accuracy", "--out", broken, "--seed=3", size, "--resume")
    assert (resumed.code, resumed.err) == (0, "")
    first, second = contents(whole), contents(broken)
    trials = [found.pop("trials/simulation.jsonl") for found in (first, second)]
    assert first == second
    # None repeated, none lost: the same lines, the earlier ones as they were
    assert trials[1].startswith(kept[: kept.rfind(b"\n") + 1])
    assert sorted(trials[0].splitlines()) == sorted(trials[1].splitlines())


def test_ctrl_c_says_how_to_go_on(tmp_path):
    folder = tmp_path / "new"
    with started("reproduce", "accuracy", "--out", folder, "--trials=500", "--jobs=2") as process:
        wait_for_trials(folder, 1)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    lines = [line for line in error.splitlines() if line]
    assert lines[-1] == "Error: interrupted."
    assert lines[-2].startswith("Finished trials are in ")
    assert len(lines) == 2


def test_the_parts_are_those_of_the_library():
    from ellzero.cli._reproduce import _PARTS
    from ellzero.paper import PARTS

    assert ("all", *PARTS) == _PARTS


def test_what_is_printed(tmp_path):
    result = ellzero("reproduce", "penalties", "posterior-means", "--out", tmp_path / "new")
    assert (result.code, result.err) == (0, "")
    lines = [line.split() for line in result.out.splitlines()]
    assert lines[1] == ["posterior-means", "3", "0", "0"]
    assert lines[2] == ["penalties", "3", "0", "0"]
    assert result.out.strip().endswith("new/index.html")
    quiet = ellzero("reproduce", "penalties", "--out", tmp_path / "new", "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


def test_progress_and_time_left_on_a_terminal(tmp_path):
    code, shown = ellzero_on_a_terminal(
        "reproduce", "selection", "--trials=2", "--jobs=1", "--out", tmp_path
    )
    assert code == 0
    assert b"2/2" in shown
    assert b"left" in shown


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["figures"], 2, "'figures' is not one of 'all', 'posterior-means'"),
        (["--trials=0"], 2, "0 is not in the range x>=1"),
        (["--jobs=-1"], 2, "-1 is not in the range x>=1"),
        (["--seed=-1"], 2, "-1 is not in the range"),
        (["accuracy", "--dask=tcp://127.0.0.1:1", "--trials=2"], 1, "No Dask scheduler answers"),
        (["accuracy", "--dask=no address", "--trials=2"], 1, "No Dask scheduler answers at 'no a"),
        (["penalties", "--out=/dev/null/a"], 1, "can't be made a folder"),
        (["penalties", "--out=/dev/null"], 1, "is a file, not a folder"),
    ],
)
def test_bad_usage(tmp_path, arguments, code, message):
    result = ellzero("reproduce", *arguments, cwd=tmp_path)
    assert (result.code, result.out) == (code, "")
    assert message in result.err
    assert len(result.err.splitlines()) <= 4
