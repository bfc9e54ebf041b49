"""Trials over processes, clusters and interruptions."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from patience import PATIENCE, wait_until

from ellzero.paper import _run_trials
from ellzero.paper._run_trials import one_thread, run_trials
from ellzero.paper._simulation import run_trial, simulate
from ellzero.paper._trial_file import TrialFile, count_trials


def square(seed, number):
    return [{"square": seed + number**2, "third": number / 3}]


def refuse(seed, number):
    raise RuntimeError(f"no {number}")


def run(path=None, trials=5, seed=1, function=square, **options):
    tasks = [(number,) for number in range(trials)]
    return run_trials("squares", function, tasks, seed, keys=("number",), path=path, **options)


def test_in_the_order_of_tasks_and_with_progress():
    told = []
    table = run(jobs=2, progress=lambda done, total: told.append((done, total)))
    assert table["number"].tolist() == [0, 1, 2, 3, 4]
    assert table["square"].tolist() == [1, 2, 5, 10, 17]
    assert told == [(done, 5) for done in range(6)]


def test_two_workers_equal_one(trial_file):
    options = {"dask": None, "progress": None}
    one = simulate(4, 0, jobs=1, path=trial_file, **options)
    two = simulate(4, 0, jobs=2, path=None, **options)
    pd.testing.assert_frame_equal(one, two, check_exact=True)
    # And any trial by itself equals the one that came after others.
    with one_thread():
        alone = pd.DataFrame(run_trial(0, 120, 100, 3))
    assert alone["squared_error"].tolist() == one.query("trial == 3")["squared_error"].tolist()


def test_trials_in_the_file_are_not_run_again(tmp_path):
    path = tmp_path / "trials.jsonl"
    whole = run(path)
    assert count_trials(path) == 5
    pd.testing.assert_frame_equal(run(path, function=refuse), whole)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], lines[4], lines[2]]))
    told = []
    again = run(path, progress=lambda done, total: told.append(done))
    pd.testing.assert_frame_equal(again, whole)
    assert told == [2, 3, 4, 5]
    assert count_trials(path) == 5
    # More trials than before, and fewer
    assert len(run(path, trials=7)) == 7
    assert count_trials(path) == 7
    pd.testing.assert_frame_equal(run(path, trials=5, function=refuse), whole)


@pytest.mark.parametrize("kept", [1, 20, -1])
def test_a_line_without_an_end_is_cut_off(tmp_path, kept):
    path = tmp_path / "trials.jsonl"
    whole = run(path)
    content = path.read_bytes()
    start = content.rstrip(b"\n").rfind(b"\n") + 1
    torn = content[start:][:kept]
    path.write_bytes(content[:start] + torn)
    pd.testing.assert_frame_equal(run(path), whole)
    assert path.read_bytes() == content


def test_a_header_without_an_end_is_cut_off_too(tmp_path):
    path = tmp_path / "trials.jsonl"
    path.write_bytes(b'{"format": "ellz')
    assert len(run(path)) == 5
    assert count_trials(path) == 5


def test_what_is_no_trial_file_is_left_alone(tmp_path):
    path = tmp_path / "trials.jsonl"
    path.write_bytes(b"my notes")
    with pytest.raises(ValueError, match="does not hold trials"):
        run(path)
    assert path.read_bytes() == b"my notes"
    with pytest.raises(ValueError, match="is a folder, not a file of trials"):
        count_trials(tmp_path)


@pytest.mark.parametrize(
    "line", [b"{", b"[]", b"7", b'{"task": 3, "rows": []}', b'{"task": [3]}', b"\xff\xfe", b""]
)
def test_a_damaged_line_is_named(tmp_path, line):
    path = tmp_path / "trials.jsonl"
    run(path)
    lines = path.read_bytes().splitlines()
    lines[2] = line
    path.write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(ValueError, match=r"Line 3 of .*trials.jsonl is damaged"):
        run(path)


def test_trials_of_something_else(tmp_path):
    path = tmp_path / "trials.jsonl"
    run(path)
    with pytest.raises(ValueError, match="holds trials with seed 1, not 2"):
        run(path, seed=2)
    with (
        pytest.raises(ValueError, match="holds trials with study squares, not cubes"),
        TrialFile(path, "cubes", 1),
    ):
        pass
    lines = path.read_text().splitlines(keepends=True)
    header = json.loads(lines[0])
    header["versions"]["numpy"] = "1.0"
    path.write_text(json.dumps(header) + "\n" + "".join(lines[1:]))
    with pytest.raises(ValueError, match=r"holds trials with versions .*numpy 1.0, .*not"):
        run(path)
    path.write_text('{"a": 1}\n')
    with pytest.raises(ValueError, match="does not hold trials"):
        run(path)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no flock")
def test_one_process_at_a_time(tmp_path):
    path = tmp_path / "trials.jsonl"
    with TrialFile(path, "squares", 1), pytest.raises(ValueError, match="Another process"):
        run(path)


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_in_a_trial_keeps_the_others(tmp_path, jobs):
    path = tmp_path / "trials.jsonl"
    run(path, trials=2)
    with pytest.raises(RuntimeError, match="no "):
        run(path, function=refuse, jobs=jobs)
    assert count_trials(path) == 2


def test_one_thread_puts_things_back(monkeypatch):
    from threadpoolctl import threadpool_info, threadpool_limits

    def threads():
        return [pool["num_threads"] for pool in threadpool_info()]

    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with threadpool_limits(2):
        before = threads()
        assert set(before) == {2}
        with one_thread():
            assert set(threads()) == {1}
            assert os.environ["OMP_NUM_THREADS"] == "1"
        assert "OMP_NUM_THREADS" not in os.environ
        assert threads() == before
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    with one_thread():
        assert os.environ["OMP_NUM_THREADS"] == "1"
    assert os.environ["OMP_NUM_THREADS"] == "3"


# Connections that a killed worker left behind
quiet_dask = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """A scheduler and two workers, each a process of its own; the address and the workers."""
    pytest.importorskip("distributed", reason="the package distributed is optional")
    for name in ("_SCHEDULER_PATIENCE", "_WORKER_PATIENCE"):
        monkeypatch.setattr(_run_trials, name, PATIENCE)
    dask = Path(sys.executable).with_name("dask")
    place = tmp_path / "scheduler.json"
    started = []

    def start(*arguments):
        with (tmp_path / "dask.log").open("a") as log:
            started.append(subprocess.Popen([dask, *arguments], stdout=log, stderr=log))
        return started[-1]

    quiet = ("--scheduler-file", place, "--no-dashboard")
    start("scheduler", "--host", "127.0.0.1", "--port", "0", *quiet)
    workers = [
        start("worker", "--nthreads", "1", "--no-nanny", "--local-directory", tmp_path, *quiet)
        for _ in range(2)
    ]
    try:
        wait_until(lambda: place.exists() and place.read_text().strip(), "a scheduler")
        yield json.loads(place.read_text())["address"], workers
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


@quiet_dask
def test_a_cluster_that_loses_a_worker(cluster, tmp_path, trial_file):
    from distributed import Client

    address, workers = cluster
    with Client(address, timeout=PATIENCE, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=PATIENCE)
    path = tmp_path / "trials.jsonl"
    told = []

    def kill_one(done, total):
        told.append(done)
        if done == 2:
            workers[0].send_signal(signal.SIGKILL)

    table = simulate(6, 0, jobs=None, dask=address, path=path, progress=kill_one)
    assert workers[0].wait(timeout=PATIENCE) == -signal.SIGKILL
    assert told == list(range(7))
    assert count_trials(path) == 6
    here = simulate(6, 0, jobs=1, dask=None, path=trial_file, progress=None)
    pd.testing.assert_frame_equal(table, here, check_exact=True)


@quiet_dask
def test_a_cluster_of_other_versions(cluster, monkeypatch):
    address, _ = cluster
    monkeypatch.setattr(_run_trials, "package_versions", lambda: {"numpy": "0.1"})
    with pytest.raises(ValueError, match=r"A worker has .*numpy .*, not numpy 0.1: its numbers"):
        simulate(2, 0, jobs=None, dask=address, path=None, progress=None)


@quiet_dask
def test_a_cluster_without_the_package(cluster):
    """A function of a module that workers don't have, as none of theirs would be."""
    with pytest.raises(ValueError, match=r"The workers at .* can't run trials: No module named"):
        run(dask=cluster[0])


@quiet_dask
def test_a_cluster_without_workers(cluster, monkeypatch):
    from distributed import Client

    address, workers = cluster
    with Client(address, timeout=PATIENCE, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=PATIENCE)
        for worker in workers:
            worker.kill()
            worker.wait()
        wait_until(lambda: not client.nthreads(), "a scheduler that misses its workers")
    monkeypatch.setattr(_run_trials, "_WORKER_PATIENCE", 1)
    with pytest.raises(ValueError, match="has no workers"):
        run(dask=address)


def test_no_cluster_there():
    pytest.importorskip("distributed", reason="the package distributed is optional")
    with pytest.raises(ValueError, match="No Dask scheduler answers at"):
        run(dask="tcp://127.0.0.1:1")
    with pytest.raises(ValueError, match="No Dask scheduler answers at"):
        run(dask="nonsense://")
