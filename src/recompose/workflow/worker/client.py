"""The client: has a job carried out by the server, if there is one. It makes no slow imports."""

import json
import os
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from recompose.interrupts import end_late
from recompose.workflow.job_server import ADDRESS

FAILED = 1
OUR_VARIABLES = "RECOMPOSE_"  # how the variables begin that this project reads; the server gets those of its client


def ask(address: str, arguments: Sequence[str]) -> int | None:
    """Have the server run the command line with these arguments; returns the exit status, or None without a server.

    The child writes to this process's standard output and error, and is killed if this process ends.
    """
    with socket.socket(socket.AF_UNIX) as server, suppress(OSError):
        server.connect(address)
        variables = {name: value for name, value in os.environ.items() if name.startswith(OUR_VARIABLES)}
        request = json.dumps({"arguments": list(arguments), "folder": str(Path.cwd()), "variables": variables})
        socket.send_fds(server, [b"\0"], [1, 2])
        server.sendall(request.encode() + b"\n")  # JSON has no line breaks within
        answer = server.recv(1)
        return answer[0] if answer else FAILED
    return None


def main() -> None:
    """Run ``recompose`` with this process's arguments, in the server if there is one."""
    handler = signal.getsignal(signal.SIGINT)
    end_late()  # waiting and importing need no traceback
    address = os.environ.get(ADDRESS)
    if address and (status := ask(address, sys.argv[1:])) is not None:
        sys.exit(status)
    from recompose.cli import main as run

    signal.signal(signal.SIGINT, handler)
    run()
