"""Count how many small faults in the code its tests notice, for each group of files, a room.

Usage: ``python -m benchmarks.mutation [ROOM ...] [--sample 60] [--seed 0] [--jobs 2]``. A mutant has one comparison,
operation, condition, number or return value changed. It is killed if a test of its room fails. The default sample of
all rooms takes hours.
"""

import argparse
import os
import signal
import sys
import tempfile
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from random import Random
from types import CodeType

import pytest

from benchmarks.machine import machine
from benchmarks.mutants import Mutant, mutants

ROOT = Path(__file__).parent.parent
MADE_ONCE = "RECOMPOSE_MADE_ONCE"  # the folder of the projects that tests share, see tests/conftest.py
SOURCES, TESTS = ROOT / "src/recompose", ROOT / "tests"
ROOMS = {  # room -> its files and folders of sources -> their tests
    "metrics": {
        "tracks/czsl/metrics": ("tracks/czsl/metrics",),
        "tracks/gzsl/metrics.py": ("tracks/gzsl/test_metrics.py",),
        "tracks/seen_unseen.py": ("tracks/czsl/metrics", "tracks/gzsl/test_metrics.py"),
        "tracks/vlc/suites/accuracy.py": ("tracks/vlc/suites/test_accuracy.py",),
        "tracks/vlc/suites/ranks.py": ("tracks/vlc/suites/test_accuracy.py",),
        "tracks/vlc/attribution/faithfulness.py": ("tracks/vlc/attribution/test_store.py",),
    },
    "losses": {
        "tracks/vlc/losses.py": ("tracks/vlc/test_losses.py",),
        "tracks/vlc/methods/fsc_clip.py": ("tracks/vlc/test_losses.py",),
    },
    "methods": {f"tracks/{track}/methods": (f"tracks/{track}/methods",) for track in ("czsl", "gzsl", "vlc")},
    "recipes": {
        "recipes/store.py": ("test_store.py",),
        "recipes/records.py": ("test_store.py",),
        "recipes/locks.py": ("test_locks.py",),
        "recipes/plan.py": ("test_plan.py",),
        "recipes/fingerprint.py": ("test_fingerprint.py",),
    },
    "state": {"recipes/state.py": ("recipes/test_state.py",)},
    "audit": {"audit": ("audit",)},
    "claims": {"claims": ("claims",)},
    "graph": {"workflow/graph.py": ("test_graph.py",)},
}
# imported once, not for each mutant; nothing of this project, whose modules are changed
PRELOADED = (
    "hypothesis",
    "open_clip",
    "pydantic",
    "pytorch_lightning",
    "ruamel.yaml",
    "scipy.stats",
    "seaborn",
    "torch",
)
UNABLE = 120  # the exit status of a process in which pytest cannot be started
LIMIT = 300  # seconds, after which a mutant counts as killed: it never ends


class MutantLoader(SourceFileLoader):
    """A loader of one module, also its finder, with another source than its file has."""

    source = ""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.source, self.path, "exec")


@dataclass(frozen=True)
class Fault:
    """A mutant of a file, and the tests that should fail with it."""

    path: Path
    mutant: Mutant
    tests: tuple[str, ...]

    @property
    def module(self) -> str:
        """The name of the changed module."""
        return ".".join(self.path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")


def faults_of(room: str) -> list[Fault]:
    """Return all mutants of the files of a room."""
    return [
        Fault(path, mutant, tests)
        for place, tests in ROOMS[room].items()
        for path in sorted((SOURCES / place).rglob("*.py") if (SOURCES / place).is_dir() else [SOURCES / place])
        for mutant in mutants(path.read_text(encoding="utf-8"))
    ]


def are_killed(faults: Iterable[Fault], jobs: int) -> Iterator[bool]:
    """Yield for each fault whether a test fails with it; ``jobs`` of them are tried at once.

    Each is tried in a process forked from the main thread, as tests fork too: from any other, theirs would end in the
    join of that thread.

    Raises:
        RuntimeError: pytest cannot run the tests.
    """
    running = deque[tuple[Fault, int]]()
    for fault in faults:
        running.append((fault, _forked(fault)))
        if len(running) == jobs:
            yield _is_killed(*running.popleft())
    while running:
        yield _is_killed(*running.popleft())


def _forked(fault: Fault) -> int:
    process = os.fork()
    if not process:
        code = UNABLE
        try:
            code = _run_tests(fault)
        finally:
            os._exit(code)
    return process


def _is_killed(fault: Fault, process: int) -> bool:
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if code in (UNABLE, pytest.ExitCode.NO_TESTS_COLLECTED):  # a usage error is a mutant that cannot be imported
        raise RuntimeError(f"pytest cannot run the tests of {fault.module}: {code}")
    return code != pytest.ExitCode.OK


def _run_tests(fault: Fault) -> int:
    def stop(*_: object) -> None:
        raise TimeoutError

    assert fault.module not in sys.modules, f"{fault.module} is imported before it is changed"
    loader = MutantLoader(fault.module, str(fault.path))
    loader.source = fault.mutant.source
    sys.meta_path.insert(0, loader)  # type: ignore[arg-type]
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    # engines start processes, where nothing is changed; but an audit of what they made is done in this one
    left_out = "browser or slow" if fault.tests[0].startswith("audit") else "browser or engines"
    options = ["-x", "-q", "-p", "no:cacheprovider", "-m", f"not ({left_out})"]
    folder = f"--basetemp={tempfile.gettempdir()}/{os.getpid()}"
    with Path(os.devnull).open("w") as nothing, redirect_stdout(nothing), redirect_stderr(nothing):
        return int(pytest.main([*options, folder, *(str(TESTS / name) for name in fault.tests)]))


def tried(room: str, sample: int, seed: int, jobs: int) -> Iterator[tuple[Fault, bool]]:
    """Yield a sample of the mutants of a room, and whether they are killed.

    Raises:
        RuntimeError: the tests of a changed module fail without any change.
    """
    every = faults_of(room)
    chosen = Random(seed).sample(every, min(sample, len(every)))
    unchanged = {fault.tests: replace(fault, mutant=Mutant(0, "", fault.path.read_text("utf-8"))) for fault in chosen}
    for fault, killed in zip(unchanged.values(), are_killed(unchanged.values(), jobs), strict=True):
        if killed:
            raise RuntimeError(f"the tests of {fault.module} fail without a change")
    return zip(chosen, are_killed(chosen, jobs), strict=True)


def main() -> None:
    """Print each survivor, then a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=f"of {', '.join(ROOMS)}; by default all")
    parser.add_argument("--sample", type=int, default=60, help="mutants of each room")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    os.environ["HYPOTHESIS_PROFILE"] = "repeatable"
    for name in PRELOADED:
        import_module(name)
    rows = []
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        os.environ["TMPDIR"] = os.environ[MADE_ONCE] = tempfile.tempdir = folder
        for room in arguments.rooms or ROOMS:
            counts = Counter[bool]()
            for fault, killed in tried(room, arguments.sample, arguments.seed, arguments.jobs):
                counts[killed] += 1
                if not killed:
                    text = fault.mutant.text.splitlines()[0]
                    print(f"{fault.module}:{fault.mutant.line} survives: {text}", flush=True)
            rows.append(f"| {room} | {counts[True]} / {counts.total()} |")
    print(f"\nOn {machine()}.\n\n| room | killed |\n| --- | ---: |", *rows, sep="\n")


if __name__ == "__main__":
    main()
