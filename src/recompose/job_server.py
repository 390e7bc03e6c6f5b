"""The server of jobs: a child process that imports torch once, and forks a child of its own for each job."""

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

ADDRESS = "RECOMPOSE_WORKER"  # the variable with the path of the server's socket
# a job gives torch its threads; threads of the server itself would not survive the fork
SINGLE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
BACKLOG = 64  # clients that may wait for a connection


class JobServer:
    """A server as a child of this process, with which it ends, also if this process is killed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server for processes that this one starts from now on, unless this process was given one.

        Clients can connect from then on; they are answered once the server has made its imports.
        """
        if ADDRESS in os.environ:
            return
        short = None if len(os.fsencode(tempfile.gettempdir())) < 80 else "/tmp"  # a socket's path has some 100 bytes
        address = str(Path(tempfile.mkdtemp(prefix="recompose-", dir=short)) / "socket")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
            listener.listen(BACKLOG)
            command = [sys.executable, "-m", "recompose.worker.server", address, str(listener.fileno())]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, env=os.environ | SINGLE, pass_fds=[listener.fileno()]
            )
        os.environ[ADDRESS] = address

    def stop(self) -> None:
        """End the server and its jobs, if this process started it."""
        if self._process and self._process.stdin:
            os.environ.pop(ADDRESS, None)
            self._process.stdin.close()
            self._process.wait()
            self._process = None
