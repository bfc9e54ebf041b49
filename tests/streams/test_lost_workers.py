"""`ellzero select --dask` on real workers that are killed: the same bits, or one sentence."""

import json
import signal
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from functools import partial

import pytest
from patience import PATIENCE
from stream_tables import make_frames, write_parts

from ellzero.cli._main import _run
from ellzero.streams import _runner

distributed = pytest.importorskip("distributed", reason="distributed is not installed")

# A worker that dies, without a word, as it begins to sum the products of a part.
DEADLY = """
import os, signal
from distributed.diagnostics.plugin import WorkerPlugin

class Deadly(WorkerPlugin):
    def transition(self, key, start, finish, **more):
        if finish == "executing" and key.startswith("_sum_one-"):
            os.kill(os.getpid(), signal.SIGKILL)

async def dask_setup(worker):
    await worker.plugin_add(Deadly(), name="deadly")
"""


@contextmanager
def cluster(folder, others):
    """Start a scheduler, a worker that will die and some others; nobody starts them again."""
    script = folder / "deadly.py"
    script.write_text(DEADLY)
    with ExitStack() as stack:
        own = stack.enter_context(
            distributed.LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50)
        )
        command = [sys.executable, "-m", "distributed.cli.dask_worker", own.scheduler_address]
        command += ["--no-nanny", "--no-dashboard", "--nthreads", "1"]
        command += ["--local-directory", str(folder / "scratch")]
        workers = []
        for more in (["--preload", str(script)], *[[]] * others):
            worker = subprocess.Popen(
                [*command, *more], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            workers.append(stack.enter_context(worker))
            stack.callback(worker.kill)
        with distributed.Client(own, set_as_default=False) as client:
            client.wait_for_workers(len(workers), timeout=PATIENCE)
        yield own.scheduler_address, workers[0]


@pytest.fixture(scope="module")
def pattern(tmp_path_factory):
    frames = [frame.drop(columns="day") for frame in make_frames(6, 60)]
    return write_parts(tmp_path_factory.mktemp("parts"), frames)


def select(pattern, *more):
    asked = ["select", pattern, "--target", "y", "--missing", "mean", "--folds", "3", *more]
    return _run([str(word) for word in asked])


def test_a_worker_killed_in_the_middle_changes_no_bit(pattern, tmp_path):
    expected, found = tmp_path / "here.json", tmp_path / "there.json"
    assert select(pattern, "--memory", "1GB", "--json", expected) == 0
    with cluster(tmp_path, others=1) as (address, doomed):
        assert select(pattern, "--memory", "1GB", "--dask", address, "--json", found) == 0
        assert doomed.wait(PATIENCE) == -signal.SIGKILL
    one, two = (json.loads(path.read_text()) for path in (expected, found))
    assert one["model"]["variables"]
    one.pop("command"), two.pop("command")
    assert one == two


def test_without_any_worker_left_one_sentence_says_so(pattern, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(_runner, "Cluster", partial(_runner.Cluster, patience=0.5))
    with cluster(tmp_path, others=0) as (address, doomed):
        assert select(pattern, "--dask", address, "--json", tmp_path / "out.json") == 1
        assert doomed.wait(PATIENCE) == -signal.SIGKILL
    assert capsys.readouterr().err == "Error: The cluster has had no workers for 0.5 s.\n"
    assert not (tmp_path / "out.json").exists()
