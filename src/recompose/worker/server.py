"""The server: makes all imports, then forks a child for each request to run one command."""

import gc
import json
import os
import pkgutil
import selectors
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from recompose.interrupts import INTERRUPTED, is_interruptible
from recompose.job_server import ADDRESS, ready_path
from recompose.worker.client import FAILED, OUR_VARIABLES

LIBRARIES = (
    "torch",
    "torchvision",
    "open_clip",
    "pytorch_lightning",
    "omegaconf",  # by Lightning's first training
    "kornia",
    "spacy.lang.en",
    "lemminflect",
    "pandas",
    "seaborn",
    "scipy.stats",
)
BACKLOG = 64  # clients that may wait for a connection


@dataclass
class _Children:
    """The running children, and the client of each."""

    clients: dict[int, socket.socket] = field(default_factory=dict)  # by process id

    def reap(self) -> Iterator[socket.socket]:
        """Send the exit status of ended children to their clients; yields the clients' sockets."""
        while self.clients:
            process, status = os.waitpid(-1, os.WNOHANG)
            if not process:
                return
            client = self.clients.pop(process)
            with suppress(OSError):
                client.sendall(bytes([_exit_status(status)]))
            yield client

    def kill(self, client: socket.socket) -> None:
        """Kill the child of a client that has disconnected."""
        for process, waiting in self.clients.items():
            if waiting is client:
                os.kill(process, signal.SIGKILL)  # the store is safe against kills

    def kill_all(self) -> None:
        """Kill all children."""
        for process in self.clients:
            os.kill(process, signal.SIGKILL)


def _exit_status(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def serve(address: str, preload: Callable[[], None] | None = None) -> None:
    """Answer requests at a socket until standard input ends.

    Args:
        address: the path of the socket.
        preload: makes the imports for the children; None: all that jobs need.
    """
    if is_interruptible():
        signal.signal(signal.SIGINT, _end)
    signal.signal(signal.SIGTERM, _end)
    ended, wakeup = socket.socketpair()
    wakeup.setblocking(False)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(BACKLOG)
    try:
        (preload or import_all)()
        ready_path(address).touch()
        signal.set_wakeup_fd(wakeup.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        _loop(listener, ended)
    finally:
        signal.set_wakeup_fd(-1)  # ends of children are not reported from now on
        for path in (ready_path(address), Path(address)):
            path.unlink(missing_ok=True)
        with suppress(OSError):
            Path(address).parent.rmdir()


def _end(*_: object) -> NoReturn:
    sys.exit(INTERRUPTED)


def _loop(listener: socket.socket, ended: socket.socket) -> None:
    children, selector = _Children(), selectors.DefaultSelector()
    for source in (sys.stdin, listener, ended):
        selector.register(source, selectors.EVENT_READ)
    try:
        while _answer(selector, listener, ended, children):
            pass
    finally:
        children.kill_all()


def _answer(
    selector: selectors.BaseSelector, listener: socket.socket, ended: socket.socket, children: _Children
) -> bool:
    """Handle all events; returns False once standard input has ended."""
    for key, _ in selector.select():
        if key.fileobj is sys.stdin:
            return False
        if key.fileobj is ended:
            ended.recv(4096)
            for client in children.reap():
                with suppress(KeyError):  # a disconnected client
                    selector.unregister(client)
                client.close()
        elif key.fileobj is listener:
            client, _ = listener.accept()
            if _start(client, children):
                selector.register(client, selectors.EVENT_READ)
            else:
                client.close()
        elif selector.get_map().get(key.fd) == key:  # skips clients that were answered just now
            # clients send nothing after their request, so this one has disconnected
            children.kill(key.fileobj)  # type: ignore[arg-type]
            selector.unregister(key.fileobj)
    return True


def _start(client: socket.socket, children: _Children) -> bool:
    """Fork a child for a client's request; returns False without a valid request."""
    try:
        head, descriptors, _, _ = socket.recv_fds(client, 4, 2)
        request = json.loads(_receive(client, int.from_bytes(head, "big")))
    except (OSError, ValueError):
        return False
    process = os.fork()
    if not process:
        _carry_out(request, descriptors)
    children.clients[process] = client
    for descriptor in descriptors:
        os.close(descriptor)
    return True


def _receive(client: socket.socket, length: int) -> bytes:
    parts = b""
    while len(parts) < length:
        part = client.recv(length - len(parts))
        if not part:
            raise OSError("the client has disconnected")
        parts += part
    return parts


def _carry_out(request: dict[str, Any], descriptors: list[int]) -> None:
    """Run the command line in the child, and end."""
    status = FAILED
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if signal.getsignal(signal.SIGINT) is _end:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        null = os.open(os.devnull, os.O_RDONLY)  # the server's standard input signals its end
        for stream, descriptor in enumerate((null, *descriptors)):
            os.dup2(descriptor, stream)
        os.chdir(str(request["folder"]))
        _set_variables(request["variables"])
        sys.argv = ["recompose", *request["arguments"]]
        status = _run()
    except KeyboardInterrupt:
        status = INTERRUPTED
    except BaseException:  # unexpected errors print their traceback
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:  # also with closed streams; the parent's exit handlers must not run here
            os._exit(status)


def _set_variables(variables: dict[str, str]) -> None:
    """Set the variables that this project reads to those of the client, without the server's address."""
    for name in [name for name in os.environ if name.startswith(OUR_VARIABLES)]:
        del os.environ[name]
    os.environ.update(variables)
    os.environ.pop(ADDRESS, None)


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
        if not module.name.endswith("__main__"):  # __main__ would run
            import_module(module.name)
    from recompose.backbones.clip import ARCHITECTURES, tokenizer_of
    from recompose.cli import prepare_workspace
    from recompose.training.cost import PAPER_SCALE

    for architecture in (*(path.stem for path in ARCHITECTURES.glob("*.json")), PAPER_SCALE[0]):
        tokenizer_of(architecture)
    with suppress(RecomposeError, OSError):  # the child reports it
        prepare_workspace()
    gc.freeze()
    gc.enable()


if __name__ == "__main__":
    try:
        serve(sys.argv[1])
    except SystemExit:
        os._exit(INTERRUPTED)  # at a normal exit torch logs to streams that may be closed
