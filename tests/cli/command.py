"""The installed command, run as users run it."""

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from fork_server import ForkServer
from patience import PATIENCE

COMMAND = Path(sys.executable).with_name("ellzero")
_FORKED = ForkServer()


class Result(NamedTuple):
    code: int
    out: str
    err: str


def ellzero(*arguments, cwd=None, limit=None, **environment):
    """Run the command; standard output and error are pipes.

    On Linux it is forked from a process that has imported other packages, which is quick; under a
    limit or in another environment it is started, for these count from the start.
    """
    line = [str(COMMAND), *map(str, arguments)]
    everywhere = {**os.environ, "PYTHONUTF8": "1"}
    if sys.platform == "linux" and limit is None and not environment:
        result = Result(*_FORKED.run(line, cwd or os.getcwd(), everywhere, PATIENCE))
    else:
        done = subprocess.run(
            line,
            cwd=cwd,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            preexec_fn=limit,
            env={**everywhere, **environment},
            check=False,
        )
        result = Result(done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in result.err, result.err
    return result


@contextmanager
def started(*arguments, **options):
    """Start the command, its output and errors in pipes; it does not outlive the block."""
    with subprocess.Popen(
        [str(COMMAND), *map(str, arguments)],
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def ellzero_on_a_terminal(*arguments):
    """Run the command on a terminal; return its exit code and all that was shown."""
    import pty  # not on Windows

    terminal, its_end = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120"}
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), its_end)
    shown = b""
    with started(*arguments, env=environment, start_new_session=True, **streams) as process:
        os.close(its_end)
        try:
            while piece := os.read(terminal, 65_536):
                shown += piece
        except OSError:  # how Linux says that nobody is at the other end
            pass
        finally:
            os.close(terminal)
        return process.wait(PATIENCE), shown
