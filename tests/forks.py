"""Programs that are run in processes forked from one that has imported what they import slowly.

Each has a process of its own, in which nothing has run yet, with its own streams, folder and
environment, and ends as Python ends. What it can't tell is what happens in the first second of a
process that is started: modules that are there already don't show that an import is missing, and
have read the environment. So the modules are those of other packages, never of this one.

On Linux only: elsewhere, where libraries don't bear a fork or there is none, they are started.
"""

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from patience import PATIENCE

FORKS = sys.platform == "linux"


class ForkServer:
    """A process that has imported some modules, in some environment.

    It starts with the first run. Modules may start no threads that do not see to forks themselves,
    as those of OpenBLAS and of pyarrow's allocator do.
    """

    def __init__(self, modules, **environment):
        self._modules = modules
        self._environment = environment
        self._process = None

    def run(self, program, arguments=("-c",), folder=".", patience=PATIENCE):
        """Run a program with ``sys.argv``; standard output and error are pipes, input is empty.

        Returns the exit code (minus the signal that ended it), the output and the errors.
        """
        environment = {**os.environ, **self._environment}
        if not FORKS:
            return _start_afresh(program, arguments, folder, environment, patience)
        if self._process is None:
            self._start(environment)
        request = {
            "program": program,
            "arguments": arguments,
            "folder": os.path.abspath(folder),
            "environment": environment,
        }
        pipes = [os.pipe(), os.pipe()]
        sent = json.dumps(request).encode()
        socket.send_fds(self._socket, [sent], [end for _, end in pipes])
        for _, end in pipes:
            os.close(end)
        with ThreadPoolExecutor(len(pipes)) as readers:
            try:
                out, err = readers.map(_read_all, [begin for begin, _ in pipes], timeout=patience)
                return json.loads(self._socket.recv(100)), out, err
            except BaseException:
                self.stop()  # so that readers find the end
                raise

    def _start(self, environment):
        self._socket, its_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        script = Path(__file__).with_name("fork_server.py")
        with its_end:
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(script), str(its_end.fileno()), *self._modules],
                pass_fds=[its_end.fileno()],
                env=environment,
                stdin=subprocess.DEVNULL,  # programs have the same, and other pipes
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # to be killed with all that it runs
            )
        atexit.register(self.stop)
        self._socket.settimeout(PATIENCE)
        if not self._socket.recv(100):
            errors = self._process.stderr.read().decode()
            self.stop()
            raise RuntimeError(errors)

    def stop(self):
        """End it, and what it runs."""
        if self._process is not None:
            self._socket.close()
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.communicate()
            self._process = None


def _read_all(pipe):
    with os.fdopen(pipe, encoding="utf-8") as file:
        return file.read()


def _start_afresh(program, arguments, folder, environment, patience):
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments[1:]],
        cwd=folder,
        env=environment,
        timeout=patience,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return done.returncode, done.stdout, done.stderr
