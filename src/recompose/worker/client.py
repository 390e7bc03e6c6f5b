"""Has a job of a workflow carried out by the server, where there is one. Imports nothing that is slow to import."""

import json
import os
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from recompose.interrupts import end_at_once

ADDRESS = "RECOMPOSE_WORKER"  # the variable with the path of the server's socket
FAILED = 1


def ask(address: str, arguments: Sequence[str]) -> int | None:
    """Have the server run the command line with these arguments; returns the exit status, or None without a server.

    Standard output and error of the child are this process's own. Where this process ends, the child is ended.
    """
    server = socket.socket(socket.AF_UNIX)
    try:
        server.connect(address)
    except OSError:
        return None
    with server:
        request = json.dumps({"arguments": list(arguments), "folder": str(Path.cwd())}).encode()
        socket.send_fds(server, [len(request).to_bytes(4, "big")], [1, 2])
        server.sendall(request)
        answer = server.recv(1)
    return answer[0] if answer else FAILED


def main() -> None:
    """Run ``recompose`` with this process's arguments, in the server where there is one."""
    before = signal.getsignal(signal.SIGINT)
    end_at_once()  # waiting and importing are nothing to keep a trace of
    address = os.environ.get(ADDRESS)
    status = ask(address, sys.argv[1:]) if address else None
    if status is not None:
        sys.exit(status)
    from recompose.cli import main as run

    signal.signal(signal.SIGINT, before)
    run()
