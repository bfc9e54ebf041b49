"""A process that has imported what the command imports slowly, and is forked to run the command.

Each run has a process of its own, in which nothing has run yet, with its own streams and folder,
and ends as Python ends. It differs in its first second alone from one that is started: other
packages are there (not this one: each run imports it), and have read the environment.
"""

import atexit
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

# Importing them starts no threads but those of OpenBLAS and of pyarrow's allocator, and these see
# to forks themselves.
SLOW = (
    "arviz_stats.base",
    "click",
    "jinja2",
    "numpy",
    "pandas",
    "pyarrow.csv",
    "pyarrow.parquet",
    "rich.console",
    "scipy.signal",
    "scipy.stats",
    "sklearn.discriminant_analysis",
    "sklearn.feature_selection",
    "sklearn.isotonic",
    "sklearn.linear_model",
)


class ForkServer:
    """The process, as tests see it. It is started when it is first asked for something."""

    def __init__(self):
        self._process = None

    def run(self, arguments, folder, environment, patience):
        """Run the command; return its exit code, minus the signal if one ended it, and output."""
        if self._process is None:
            self._start(environment)
        pipes = [os.pipe(), os.pipe()]
        request = json.dumps([arguments, os.fspath(folder), environment]).encode()
        socket.send_fds(self._socket, [request], [0, *(end for _, end in pipes)])
        for _, end in pipes:
            os.close(end)
        self._socket.settimeout(patience)
        with ThreadPoolExecutor(len(pipes)) as readers:
            try:
                out, err = readers.map(_read_all, [begin for begin, _ in pipes], timeout=patience)
                code = self._socket.recv(100)
                assert code, self._process.stderr.read()
                return json.loads(code), out, err
            except BaseException:
                self.stop()  # which closes the pipes
                raise

    def _start(self, environment):
        self._socket, its_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its_end:
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__, str(its_end.fileno())],
                pass_fds=[its_end.fileno()],
                env=environment,
                stdin=subprocess.PIPE,  # as Python finds them, so it treats those of the runs
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # killed together with what it runs
            )
        atexit.register(self.stop)

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


def serve(connection):
    """Fork for each request; return its arguments in the child, and None when there are no more."""
    while True:
        request, streams, _, _ = socket.recv_fds(connection, 1 << 20, 3)
        child = os.fork() if request else None
        if child is None:
            return None
        if child == 0:
            connection.close()
            arguments, folder, environment = json.loads(request)
            for place, stream in enumerate(streams):
                os.dup2(stream, place)
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(environment)
        for stream in streams:
            os.close(stream)
        if child == 0:
            return arguments
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        connection.send(json.dumps(code).encode())


if __name__ == "__main__":
    for name in SLOW:
        importlib.import_module(name)
    gc.freeze()
    arguments = serve(socket.socket(fileno=int(sys.argv[1])))
    if arguments is not None:
        from ellzero.cli import main

        sys.argv = arguments
        main()
