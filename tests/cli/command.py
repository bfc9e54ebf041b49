"""The installed command, run as users run it."""

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from forks import FORKS, ForkServer
from patience import PATIENCE

COMMAND = Path(sys.executable).with_name("ellzero")
# What commands import of other packages, as far as it takes long
_SERVER = ForkServer(
    [
        "arviz_stats.base",
        "click",
        "jinja2",
        "pandas",
        "pyarrow.parquet",
        "rich.console",
        "scipy.signal",
        "scipy.stats",
        "sklearn.discriminant_analysis",
        "sklearn.feature_selection",
        "sklearn.isotonic",
        "sklearn.linear_model",
    ],
    PYTHONUTF8="1",
)


class Result(NamedTuple):
    code: int
    out: str
    err: str


def ellzero(*arguments, cwd=".", limit=None, **environment):
    """Run the command; standard output and error are pipes.

    It is forked, or else started: under a limit or in another environment, which both count from
    the start, and where there are no forks.
    """
    line = [str(COMMAND), *map(str, arguments)]
    if FORKS and limit is None and not environment:
        program = "from ellzero.cli import main; main()"
        result = Result(*_SERVER.run(program, line, cwd))
    else:
        done = subprocess.run(
            line,
            cwd=cwd,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            preexec_fn=limit,
            env={**os.environ, "PYTHONUTF8": "1", **environment},
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
