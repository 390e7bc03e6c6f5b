"""The server of jobs: what a client is answered, and what ends when something is killed."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from recompose.interrupts import INTERRUPTED
from recompose.workflow.job_server import ADDRESS
from recompose.workflow.worker.client import FAILED
from tests.conftest import wait_for

# a server whose command line runs its first argument as Python: it imports nothing that takes a while
SERVER = """
import sys, types
from recompose.workflow.worker.server import serve

def preload():
    command_line = types.ModuleType("recompose.cli")
    command_line.main = lambda: exec(sys.argv[1], {})
    sys.modules["recompose.cli"] = command_line

serve(sys.argv[1], int(sys.argv[2]), preload)
"""
SAYS_ITS_NUMBER = "import os, time; print(os.getpid(), flush=True); "
WAITS = SAYS_ITS_NUMBER + "time.sleep(3600)"

Process = subprocess.Popen[str]


def is_gone(pid: int) -> bool:
    """Return true where no process of this number computes; one that nobody has asked after may be left."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.fixture
def address(tmp_path: Path) -> str:
    """The path of a socket in a folder of its own; a path of one has few characters."""
    folder = Path("/tmp") / f"recompose-{os.getpid()}-{time.monotonic_ns()}"
    folder.mkdir()
    return str(folder / "socket")


def start(address: str) -> Process:
    """Start a server at a socket that listens."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        return start_with(address, listener)


def start_with(address: str, listener: socket.socket) -> Process:
    return subprocess.Popen(
        [sys.executable, "-c", SERVER, address, str(listener.fileno())],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        pass_fds=[listener.fileno()],
    )


@pytest.fixture
def server(address: str) -> Iterator[Process]:
    """A server that answers."""
    process = start(address)
    yield process
    with suppress(BrokenPipeError):
        process.communicate()


def client(address: str, *arguments: str, folder: Path | None = None, output: int = subprocess.PIPE) -> Process:
    """A client that has asked for a command."""
    return subprocess.Popen(
        [sys.executable, "-m", "recompose.workflow.worker", *arguments],
        cwd=folder,
        env=os.environ | {ADDRESS: address, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
    )


def number(waiting: Process) -> int:
    """The number of the process that carries out what a client has asked for, as that says it."""
    assert waiting.stdout
    return int(waiting.stdout.readline())


@pytest.mark.usefixtures("server")
def test_a_request_is_carried_out_in_the_clients_folder_with_its_output(address: str, tmp_path: Path) -> None:
    code = "import os, sys; print(os.getcwd(), sys.argv[2:]); print('wrong', file=sys.stderr)"
    asking = client(address, code, "--row", "a b", folder=tmp_path)
    assert asking.communicate() == (f"{tmp_path} ['--row', 'a b']\n", "wrong\n")
    assert asking.returncode == 0


@pytest.mark.usefixtures("server")
def test_a_child_has_the_clients_variables_of_this_project(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOMPOSE_PROFILE", "smoke")
    code = "import os; print(*sorted(name for name in os.environ if name.startswith('RECOMPOSE_')))"
    own = sorted(name for name in os.environ if name.startswith("RECOMPOSE_"))
    assert client(address, code).communicate()[0].split() == own
    assert "RECOMPOSE_PROFILE" in own


@pytest.mark.slow
@pytest.mark.usefixtures("server")
def test_what_a_child_starts_as_itself_is_its_own_command(address: str) -> None:
    """Lightning starts the other processes of a run on several devices so."""
    starts = (
        "import subprocess, sys\n"
        "from lightning_fabric.strategies.launchers.subprocess_script import _basic_subprocess_cmd\n"
        "sys.argv[1:] = ['make', '--help']\n"
        "sys.exit(subprocess.run(_basic_subprocess_cmd()).returncode)"
    )
    asking = client(address, starts)
    printed, wrong = asking.communicate()
    assert (asking.returncode, wrong) == (0, "")
    assert "recompose make" in printed


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("raise SystemExit", 0),
        ("raise SystemExit(3)", 3),
        ("raise SystemExit('in words')", 1),
        ("raise KeyboardInterrupt", INTERRUPTED),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", FAILED),
    ],
)
def test_a_client_ends_as_what_it_asked_for_does(address: str, code: str, status: int) -> None:
    asking = client(address, code)
    assert asking.communicate()[1] == ""
    assert asking.returncode == status


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("error", ["ValueError", "BrokenPipeError", "KeyError"])
def test_an_error_that_nobody_expects_is_told_with_its_place(address: str, error: str) -> None:
    asking = client(address, f"raise {error}('odd')")
    told = asking.communicate()[1]
    assert told.startswith("Traceback") and f"{error}: " in told
    assert asking.returncode == FAILED


@pytest.mark.slow
def test_the_child_of_a_killed_server_goes_on(server: Process, address: str, tmp_path: Path) -> None:
    done = tmp_path / "done"
    waits = "import sys; from pathlib import Path\nwhile not Path(sys.argv[2]).exists(): time.sleep(0.01)\nprint(1)"
    asking = client(address, SAYS_ITS_NUMBER + waits, str(done))
    number(asking)
    server.kill()
    server.wait()
    assert "Usage: " in client(address, "--help").communicate()[0]
    done.touch()
    assert asking.communicate()[0] == "1\n"
    assert asking.returncode == 0


@pytest.mark.slow
@pytest.mark.usefixtures("server")
def test_a_client_that_is_killed_takes_its_child_along_and_no_other(address: str) -> None:
    killed, other = client(address, WAITS), client(address, WAITS)
    child, spared = number(killed), number(other)
    killed.kill()
    killed.communicate()
    wait_for(lambda: is_gone(child))
    assert not is_gone(spared)
    other.kill()
    other.communicate()
    wait_for(lambda: is_gone(spared))
    assert client(address, "pass").wait() == 0


ENDS = [(None, 0), (signal.SIGINT, INTERRUPTED), (signal.SIGTERM, INTERRUPTED)]


@pytest.mark.parametrize(("signal_", "status"), ENDS)
def test_a_server_ends_with_its_children_and_socket(address: str, signal_: int | None, status: int) -> None:
    server = start(address)
    asking = client(address, WAITS)
    child = number(asking)
    if signal_:
        server.send_signal(signal_)
    assert server.communicate()[1] == ""
    assert server.returncode == status
    asking.communicate()
    assert asking.returncode == FAILED
    wait_for(lambda: is_gone(child))
    assert not Path(address).parent.exists()


@pytest.mark.usefixtures("server")
def test_a_client_that_is_interrupted_says_nothing_and_takes_its_child_along(address: str) -> None:
    asking = client(address, WAITS)
    child = number(asking)
    asking.send_signal(signal.SIGINT)
    assert asking.communicate()[1] == ""
    assert asking.returncode == -signal.SIGINT
    wait_for(lambda: is_gone(child))


def test_a_connection_that_asks_for_nothing_is_closed(server: Process, address: str) -> None:
    for words in (b"", b"nonsense\n", b'\0{"half":'):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(address)
            connection.sendall(words)
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(1) == b""
    assert client(address, "pass").wait() == 0
    assert server.poll() is None


@pytest.mark.slow
@pytest.mark.parametrize("left", [False, True])
def test_without_a_server_a_client_carries_it_out_itself(address: str, left: bool) -> None:
    if left:  # the socket of one that was killed
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
    asking = client(address, "--help")
    printed, wrong = asking.communicate()
    assert (asking.returncode, wrong) == (0, "")
    assert "Rebuild the tables and figures of papers" in printed
