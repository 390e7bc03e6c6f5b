"""The server of jobs: a child process that imports torch once, and forks a child of its own for each job."""

import os
import signal
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
RESTARTS = 20  # of a server that is killed, as by a system without memory; then jobs make their own imports


def start_server() -> None:
    """Start the server for processes that this one starts from now on, unless this process was given one.

    Clients can connect from then on; they are answered once the server has made its imports. A server that is killed is
    started again. It ends with this process, also if that is killed.
    """
    if ADDRESS in os.environ:
        return
    short = None if len(os.fsencode(tempfile.gettempdir())) < 80 else "/tmp"  # a socket's path has some 100 bytes
    address = str(Path(tempfile.mkdtemp(prefix="recompose-", dir=short)) / "socket")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(BACKLOG)
    server = _start(address, listener)
    threading.Thread(target=_restart, args=(server, address, listener), daemon=True).start()
    os.environ[ADDRESS] = address


def _start(address: str, listener: socket.socket) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "recompose.worker.server", address, str(listener.fileno())]
    return subprocess.Popen(command, stdin=subprocess.PIPE, env=os.environ | SINGLE, pass_fds=[listener.fileno()])


def _restart(server: "subprocess.Popen[bytes]", address: str, listener: socket.socket) -> None:
    """Start the server again each time that it is killed; clients that connect meanwhile wait for the new one."""
    with listener:
        for _ in range(RESTARTS):
            if server.wait() != -signal.SIGKILL:
                return
            server = _start(address, listener)
    server.wait()  # its standard input is open as long as it is known here
