"""The server of jobs: a child process that imports torch once, and forks a child of its own for each job."""

import os
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ADDRESS = "RECOMPOSE_WORKER"  # the variable with the path of the server's socket
# a job gives torch its threads; threads of the server itself would not survive the fork
SINGLE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
BACKLOG = 64  # clients that may wait for a connection


def start_server() -> None:
    """Start the server for processes that this one starts from now on, unless this process was given one.

    Clients can connect from then on; they are answered once the server has made its imports. It ends with this process,
    also if that is killed. Jobs whose server was killed, as by a system without memory, make their own imports.
    """
    if ADDRESS in os.environ:
        return
    short = None if len(os.fsencode(tempfile.gettempdir())) < 80 else "/tmp"  # a socket's path has some 100 bytes
    address = str(Path(tempfile.mkdtemp(prefix="recompose-", dir=short)) / "socket")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(BACKLOG)
        command = [sys.executable, "-m", "recompose.workflow.worker.server", address, str(listener.fileno())]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, env=os.environ | SINGLE, pass_fds=[listener.fileno()])
    threading.Thread(target=server.wait, daemon=True).start()  # its standard input is open as long as it is known here
    os.environ[ADDRESS] = address
