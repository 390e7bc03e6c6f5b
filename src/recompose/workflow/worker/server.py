"""The server: makes all imports, then forks a child for each request to run one command."""

import gc
import json
import os
import pkgutil
import select
import signal
import socket
import socketserver
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

from recompose.interrupts import INTERRUPTED, is_interruptible
from recompose.workflow.job_server import ADDRESS
from recompose.workflow.worker.client import FAILED, OUR_VARIABLES

LIBRARIES = (  # that modules import on use
    "omegaconf",  # by Lightning's first training
    "kornia",
    "spacy.lang.en",
    "lemminflect",
    "pandas",
    "seaborn",
    "scipy.stats",
)
MOMENT = 0.1  # seconds until the server notices that it has to end


class Server(socketserver.ForkingMixIn, socketserver.UnixStreamServer):
    """A server at a socket that listens already. It ends, and kills its children, once standard input ends."""

    max_children = 1_000  # as many as clients ask for: those decide how many jobs run at once

    def __init__(self, address: str, listener: int) -> None:
        super().__init__(address, Request, bind_and_activate=False)
        self.socket.close()
        self.socket = socket.socket(fileno=listener)

    def service_actions(self) -> None:
        """Reap ended children, and end if standard input has ended."""
        super().service_actions()
        if select.select([sys.stdin], [], [], 0)[0]:
            raise SystemExit

    def kill_children(self) -> None:
        """Kill all children; the store is safe against kills."""
        for process in self.active_children or ():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


class Request(socketserver.BaseRequestHandler):
    """A client's request, which a child of the server carries out."""

    server: Server

    def handle(self) -> None:
        """Run the command line with the client's output, folder and variables, and answer with its exit status."""
        status = FAILED
        self.server.socket.close()  # clients of a server that was killed are refused, not kept waiting
        try:
            _, descriptors, _, _ = socket.recv_fds(self.request, 1, 2)
            with self.request.makefile("rb") as lines:
                request = json.loads(lines.readline())
        except (ConnectionError, ValueError):  # a client that ended, or is none of ours
            return
        try:
            threading.Thread(target=_end_with, args=[self.request], daemon=True).start()
            _take_over(descriptors)
            os.chdir(str(request["folder"]))
            _set_variables(request["variables"])
            _become([*map(str, request["arguments"])])
            status = _run()
        except KeyboardInterrupt:
            status = INTERRUPTED
        except BaseException:  # unexpected errors print their traceback
            traceback.print_exc()
        finally:
            with suppress(OSError):
                sys.stdout.flush()
                sys.stderr.flush()
        with suppress(OSError):
            self.request.sendall(bytes([status]))


def _end_with(client: socket.socket) -> None:
    """End this process once its client has ended; clients send nothing after their request."""
    with suppress(OSError):
        client.recv(1)
    os.kill(os.getpid(), signal.SIGKILL)


def _take_over(descriptors: list[int]) -> None:
    """Use a client's standard output and error, and the signals of a process of its own."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    null = os.open(os.devnull, os.O_RDONLY)  # the server's standard input signals its end
    for stream, descriptor in enumerate((null, *descriptors)):
        os.dup2(descriptor, stream)


def serve(address: str, listener: int, preload: Callable[[], None] | None = None) -> None:
    """Answer requests until standard input ends.

    Args:
        address: the path of the socket.
        listener: the descriptor of the listening socket.
        preload: makes the imports for the children; None: all that jobs need.
    """
    if is_interruptible():
        signal.signal(signal.SIGINT, _end)
    signal.signal(signal.SIGTERM, _end)
    with Server(address, listener) as server:
        try:
            (preload or import_all)()
            server.serve_forever(MOMENT)
        finally:
            server.kill_children()
            with suppress(OSError):
                Path(address).unlink()
                Path(address).parent.rmdir()


def _end(*_: object) -> NoReturn:
    sys.exit(INTERRUPTED)


def _set_variables(variables: dict[str, str]) -> None:
    """Set the variables that this project reads to those of the client, without the server's address."""
    for name in [name for name in os.environ if name.startswith(OUR_VARIABLES)]:
        del os.environ[name]
    os.environ.update(variables)
    os.environ.pop(ADDRESS, None)


def _become(arguments: list[str]) -> None:
    """Let this process look like one that runs ``python -m recompose`` with these arguments.

    Lightning starts further processes of a run on several devices as this one seems to have been started.
    """
    sys.argv = ["recompose", *arguments]
    sys.modules["__main__"].__spec__ = find_spec("recompose.__main__")


def _run() -> int:
    from recompose.cli import main

    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def import_all() -> None:
    """Import everything that jobs need, load tokenizers, and plan once: children inherit all of it."""
    gc.disable()  # what is imported stays; looking for garbage in it takes a fifth of the time
    for name in LIBRARIES:
        import_module(name)
    import recompose
    from recompose.errors import RecomposeError

    for module in pkgutil.walk_packages(recompose.__path__, "recompose."):
        # __main__ would run; no job evaluates models of a user's own
        if not module.name.endswith("__main__") and not module.name.startswith(("recompose.main", "recompose.harness")):
            import_module(module.name)
    from recompose.backbones.clip import ARCHITECTURES, tokenizer_of
    from recompose.training.cost import PAPER_SCALE
    from recompose.workspace import open_workspace

    for architecture in (*(path.stem for path in ARCHITECTURES.glob("*.json")), PAPER_SCALE[0]):
        tokenizer_of(architecture)
    with suppress(RecomposeError, OSError):  # the child reports it
        _ = [recipe.key for recipe in open_workspace(".").plan.by_key.values()]  # reads and digests the sources
    gc.freeze()
    gc.enable()


if __name__ == "__main__":
    try:
        serve(sys.argv[1], int(sys.argv[2]))
    except SystemExit:
        os._exit(INTERRUPTED)  # at a normal exit torch logs to streams that may be closed
