"""A process that imports modules, then forks for each request and runs a program in the child.

`python -P fork_server.py SOCKET MODULE...`: a request is JSON, with standard output and error
beside it, the answer is the exit code. The other end of the socket is `forks.py`.
"""

import gc
import importlib
import json
import os
import socket
import sys


def serve(connection):
    """Return, in each child, the program that it is to run; when nobody asks any more, None."""
    connection.send(b"ready")
    while True:
        request, streams, _, _ = socket.recv_fds(connection, 1 << 20, 2)
        child = os.fork() if request else None
        if child is None:
            return None
        if child == 0:
            connection.close()
            asked = json.loads(request)
            for place, stream in enumerate(streams, 1):
                os.dup2(stream, place)
                os.close(stream)
            os.chdir(asked["folder"])
            os.environ.clear()
            os.environ.update(asked["environment"])
            sys.argv = asked["arguments"]
            return asked["program"]
        for stream in streams:
            os.close(stream)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        connection.send(json.dumps(code).encode())


if __name__ == "__main__":
    for name in sys.argv[2:]:
        importlib.import_module(name)
    gc.freeze()  # children neither go through what was imported nor copy it
    program = serve(socket.socket(fileno=int(sys.argv[1])))
    if program is not None:
        exec(program, {"__name__": "__main__"})
