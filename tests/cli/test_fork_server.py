"""Runs that are forked are those that are started, and the server outlives what becomes of them."""

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest
from command import COMMAND, ellzero
from fork_server import ForkServer
from patience import PATIENCE, wait_until

if sys.platform != "linux":
    pytest.skip("runs are started here, not forked", allow_module_level=True)


@pytest.mark.parametrize(
    "line",
    [
        ("--version",),
        ("explode",),
        ("select", "t.csv", "--target", "y", "--criterion", "bic", "--json", "-"),
    ],
)
def test_a_forked_run_is_a_started_one(tmp_path, line):
    rows = (f"{i},{i * i % 7},{2 * i + i % 3}\n" for i in range(30))
    (tmp_path / "t.csv").write_text("x,z,y\n" + "".join(rows))
    started = ellzero(*line, cwd=tmp_path, ELLZERO_STARTED="in an environment of its own")
    assert ellzero(*line, cwd=tmp_path) == started
    assert ellzero(*line, cwd=tmp_path) == started


def test_a_run_that_is_killed_or_hangs_harms_no_other(tmp_path):
    os.mkfifo(tmp_path / "pipe")  # nothing ever comes out of it
    server = ForkServer()
    environment = dict(os.environ)

    def run(*arguments, patience=PATIENCE):
        return server.run([str(COMMAND), *arguments], tmp_path, environment, patience)

    assert run("--version")[0] == 0
    process = psutil.Process(server._process.pid)
    with ThreadPoolExecutor(1) as aside:
        killed = aside.submit(run, "select", "pipe", "--target", "y")
        wait_until(process.children, "a run")
        process.children()[0].kill()
        assert killed.result() == (-signal.SIGKILL, "", "")
    assert run("--version")[0] == 0
    with pytest.raises(TimeoutError):
        run("select", "pipe", "--target", "y", patience=0.5)
    assert not process.is_running()
    assert run("--version")[0] == 0
    server.stop()
