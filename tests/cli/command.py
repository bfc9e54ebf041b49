"""The installed command, run as users run it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

COMMAND = Path(sys.executable).with_name("ellzero")


class Result(NamedTuple):
    code: int
    out: str
    err: str


def ellzero(*arguments, cwd=None, limit=None, **environment):
    """Run the command; standard output and error are pipes."""
    done = subprocess.run(
        [str(COMMAND), *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        preexec_fn=limit,
        env={**os.environ, "PYTHONUTF8": "1", **environment},
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Result(done.returncode, done.stdout, done.stderr)
