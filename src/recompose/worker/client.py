"""The client: has a job carried out by the server, if there is one. It makes no slow imports."""

import json
import os
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from recompose.interrupts import end_at_once
from recompose.job_server import ADDRESS, ready_path

FAILED = 1
OUR_VARIABLES = "RECOMPOSE_"  # how the variables begin that this project reads; the server gets those of its client
IF_READY = "--if-ready"  # the first argument of a job that would rather make its own imports than wait for the server's


def ask(address: str, arguments: Sequence[str]) -> int | None:
    """Have the server run the command line with these arguments; returns the exit status, or None without a server.

    The child writes to this process's standard output and error. The server kills the child if this process ends.
    """
    server = socket.socket(socket.AF_UNIX)
    try:
        server.connect(address)
    except OSError:
        return None
    with server:
        variables = {name: value for name, value in os.environ.items() if name.startswith(OUR_VARIABLES)}
        request = json.dumps({"arguments": list(arguments), "folder": str(Path.cwd()), "variables": variables}).encode()
        socket.send_fds(server, [len(request).to_bytes(4, "big")], [1, 2])
        server.sendall(request)
        answer = server.recv(1)
    return answer[0] if answer else FAILED


def main() -> None:
    """Run ``recompose`` with this process's arguments, in the server if there is one."""
    handler = signal.getsignal(signal.SIGINT)
    end_at_once()  # waiting and importing need no traceback
    address, waits = os.environ.get(ADDRESS), sys.argv[1:2] != [IF_READY]
    if not waits:
        del sys.argv[1]
    status = ask(address, sys.argv[1:]) if address and (waits or ready_path(address).exists()) else None
    if status is not None:
        sys.exit(status)
    from recompose.cli import main as run

    signal.signal(signal.SIGINT, handler)
    run()
