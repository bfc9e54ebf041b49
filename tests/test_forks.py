"""Programs that are forked run as those that are started, and none harms another."""

import signal
from concurrent.futures import ThreadPoolExecutor

import forks
import psutil
import pytest
from forks import FORKS, ForkServer
from patience import wait_until

pytestmark = pytest.mark.skipif(not FORKS, reason="programs are started here, not forked")


@pytest.fixture(scope="module")
def server():
    server = ForkServer(["zoneinfo"], ELLZERO_TOLD="1")
    yield server
    server.stop()


PROGRAMS = {
    "streams": "import sys; print(sys.argv, sys.stdin.read()); sys.exit('no')",
    "kinds of streams": """
import sys
for stream in (sys.stdin, sys.stdout, sys.stderr):
    print(stream.isatty(), stream.encoding, stream.errors, stream.line_buffering, stream.seekable())
""",
    "surroundings": "import os; print(os.getcwd(), sorted(os.environ.items()))",
    "signals": """
import signal
print([(str(s), signal.getsignal(s)) for s in signal.valid_signals() if s != signal.SIGINT])
""",
    "error": "1 / 0",
    "much": "import sys; print('ä' * 200_000); print('é' * 200_000, file=sys.stderr)",
    "end": "import atexit, os; atexit.register(print, 'the end'); print('and', flush=False)",
    "abrupt end": "import os; print('lost'); os._exit(7)",
    "signal": "import os; os.kill(os.getpid(), 15)",
}


@pytest.mark.parametrize("case", PROGRAMS)
def test_as_one_that_is_started(server, case, tmp_path, monkeypatch):
    asked = (PROGRAMS[case], ["-c", "a b", "\udcff"], tmp_path)
    forked = server.run(*asked)
    monkeypatch.setattr(forks, "FORKS", False)
    code, out, err = server.run(*asked)
    assert forked[:2] == (code, out)
    assert forked[2].splitlines()[-1:] == err.splitlines()[-1:]  # all but the frames of the server


def test_modules_are_there_and_changes_are_not(server):
    look = "import sys, os; print('zoneinfo' in sys.modules, hasattr(sys, 'a'), 'A' in os.environ)"
    change = "; sys.a = 1; os.environ['A'] = '1'"
    assert server.run(look + change)[1] == "True False False\n"
    assert server.run(look)[1] == "True False False\n"


def test_killed_or_hanging(server, tmp_path):
    hangs = "import time; time.sleep(10_000)"
    assert server.run("")[0] == 0
    process = psutil.Process(server._process.pid)
    with ThreadPoolExecutor(1) as aside:
        killed = aside.submit(server.run, hangs)
        wait_until(process.children, "a run")
        process.children()[0].kill()
        assert killed.result() == (-signal.SIGKILL, "", "")
    assert server.run("print(1)") == (0, "1\n", "")
    assert process.is_running()
    with pytest.raises(TimeoutError):
        server.run(hangs, patience=0.5)
    assert not process.is_running()
    assert server.run("print(2)") == (0, "2\n", "")


def test_a_module_that_can_not_be_imported_is_told():
    with pytest.raises(RuntimeError, match="No module named 'no_such_module'"):
        ForkServer(["no_such_module"]).run("")
