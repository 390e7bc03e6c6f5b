"""What tests of several folders share."""

import filecmp
import functools
import gc
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from hypothesis import settings
from ruamel.yaml import YAML

from recompose.workflow.job_server import ADDRESS, start_server
from recompose.workspace import Workspace
from tests.configuration import edit, new_workspace

# what a shell runs in its background ignores interrupts, and so would all that tests start and interrupt
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# tests run side by side: threads that wait for each other's cores cost more than they give
os.environ["OMP_NUM_THREADS"] = "1"

# pytest.approx without a tolerance is for numbers of 64 bits, which are the same to nine digits on every processor
type(pytest.approx(1.0)).DEFAULT_RELATIVE_TOLERANCE = 1e-9  # type: ignore[attr-defined]
assert pytest.approx(1.0) != 1 + 1e-8

# HYPOTHESIS_PROFILE=fast is for test-fast, and repeatable for what a change has to pass: the same examples each time,
# where tests by hand draw new ones; no deadlines, as tests share the machine with each other
settings.register_profile("thorough", deadline=None)
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("fast", deadline=None, max_examples=10)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "thorough"))

gc.disable()  # until all is collected, which stays: looking for garbage in it takes a tenth of the tests' time

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
# seconds after which something hangs; no machine is that slow, and nothing is measured by it
PATIENCE = 4 * 3600


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs a project that the engines made is theirs; what needs the whole smoke, which takes minutes, begins.
    What needs a browser is marked as such.
    """
    made = {"chance_project", "trained_project", "smoke_project"}
    for item in items:
        if made & set(getattr(item, "fixturenames", ())):
            item.add_marker("engines")
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
    items.sort(key=lambda item: "smoke_project" not in getattr(item, "fixturenames", ()))


def pytest_collection_finish() -> None:
    """Leave what was imported and collected alone, and look for garbage from here on."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def _signal_handlers() -> Iterator[None]:
    """Undo what commands that run in this process do to its signals: an interrupt would end the process."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@functools.cache
def job_server() -> str:
    """The address of a server of jobs with this working tree's code, which this process starts once.

    Without it, each call of Snakemake would start one, and jobs that need no backbone would import for themselves.
    """
    start_server()
    return os.environ.pop(ADDRESS)


def wait_for(condition: Callable[[], object], process: "subprocess.Popen[str] | None" = None) -> None:
    """Wait until something is so; a process must not end before."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert process is None or process.poll() is None, process.communicate()[1][-3000:]
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


class Project:
    """A copy of the project in a git repository of its own, driven as users drive it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def call(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command in the project, with the environment's programs and nobody's git settings."""
        variables = environment() | ({ADDRESS: job_server()} if self.has_code_of_this_tree() else {})
        done = subprocess.run(command, cwd=self.root, env=variables, capture_output=True, text=True, timeout=PATIENCE)
        if check and done.returncode:
            raise AssertionError(f"{' '.join(command)} failed:\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}")
        return done

    def has_code_of_this_tree(self) -> bool:
        """Whether no file of the code was edited or added here."""
        names = _source_files(self.root)
        return names == _source_files(ROOT) and all(filecmp.cmp(ROOT / name, self.root / name) for name in names)

    def jobs(self, *arguments: str) -> dict[str, int]:
        """How many jobs of which rules Snakemake would start."""
        return announced(self.snakemake("--dry-run", *arguments).stdout)

    def recompose(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run the command line, in the server of jobs, which has made the imports."""
        return self.call(sys.executable, "-m", "recompose.workflow.worker", *arguments, check=check)

    def start(self, *command: str, **variables: str) -> "subprocess.Popen[str]":
        """Start a command in the project, in a process group of its own."""
        return subprocess.Popen(
            command,
            cwd=self.root,
            env=environment() | variables,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def snakemake(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run the workflow."""
        return self.call("snakemake", "--cores", "all", *arguments, check=check)

    def set(self, values: Mapping[str, Any]) -> None:
        """Set keys of params.yaml, given by their dotted places; the rest of the text stays as it is."""
        path = self.root / "params.yaml"
        path.write_text(with_values(path.read_text(), values))

    def commit(self, message: str) -> None:
        """Commit everything that git does not ignore."""
        self.call("git", "add", "--all")
        self.call("git", "commit", "--quiet", "--allow-empty", "--message", message)

    def clone(self, target: Path) -> "Project":
        """A fresh clone."""
        self.call("git", "clone", "--quiet", str(self.root), str(target))
        return Project(target)

    def copy(self, target: Path) -> "Project":
        """The same project, with its data and results, elsewhere."""
        shutil.copytree(self.root, target, symlinks=True)
        return Project(target)

    def runs(self) -> dict[str, bytes]:
        """The record of every complete run and evaluation, by key."""
        records = [path for kind in ("runs", "evaluations") for path in self.root.glob(f"results/{kind}/*/record.json")]
        return {f"{path.parent.parent.name}/{path.parent.name}": path.read_bytes() for path in records}

    @property
    def published(self) -> Path:
        """The folder of the profile's reports."""
        profile = re.search(r"^profile: (\S+)", (self.root / "params.yaml").read_text(), flags=re.MULTILINE)
        assert profile
        return self.root / "reports" / profile[1]

    def reports(self) -> dict[str, bytes]:
        """The bytes of everything that is published, but for when, where and how long it was made."""
        paths = [path for path in self.published.rglob("*") if path.is_file() and path.name != "made.json"]
        return {str(path.relative_to(self.published)): path.read_bytes() for path in paths}

    def table(self, name: str = "msci/table-2.csv") -> str:
        """A table as it stands."""
        return (self.published / name).read_text()


def _source_files(root: Path) -> set[Path]:
    """The files of the code in a folder of the project, without what Python compiled."""
    paths = (path for path in (root / "src/recompose").rglob("*") if "__pycache__" not in path.parts)
    return {path.relative_to(root) for path in paths if path.is_file()}


def with_values(text: str, values: Mapping[str, Any]) -> str:
    """Return the text of parameters with other values under these dotted paths, as DVC would write it."""
    document, stream = YAML().load(text), io.StringIO()
    edit(document, values)
    YAML().dump(document, stream)
    return stream.getvalue()


def announced(output: str) -> dict[str, int]:
    """How many jobs of which rules a dry run of everything announces."""
    table = re.search(r"^job +count\n[- ]+\n(.*?)^total", output, flags=re.MULTILINE | re.DOTALL)
    rows = [line.split() for line in table[1].splitlines()] if table else []
    return {rule: int(count) for rule, count in rows if rule != "all"}


def environment() -> dict[str, str]:
    """The variables of a user who has activated the environment and set up git."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GIT_", "DVC_", "SNAKEMAKE", "PYTEST")) and name != "PYTHONDONTWRITEBYTECODE"
    }  # a process that may keep no compiled files takes twice the time to start
    return kept | {
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": "src",
        "GIT_AUTHOR_NAME": "test",
        "GIT_AUTHOR_EMAIL": "test@example.org",
        "GIT_COMMITTER_NAME": "test",
        "GIT_COMMITTER_EMAIL": "test@example.org",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "DVC_NO_ANALYTICS": "1",
    }


def commit_files(root: Path, *paths: str) -> Path:
    """Commit these paths of a folder in a repository of its own; return the folder."""
    for command in (["init", "--quiet"], ["add", *paths], ["commit", "--quiet", "--message", "files"]):
        subprocess.run(["git", *command], cwd=root, env=environment(), check=True)
    return root


def restore_files(root: Path, path: str) -> Path:
    """Restore a path of a folder as it was committed; return the folder."""
    subprocess.run(["git", "checkout", "--quiet", "--", path], cwd=root, env=environment(), check=True)
    return root


def new_project(root: Path) -> Project:
    """The files of this working tree that git tracks or would, committed in a repository of their own."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        source = ROOT / name
        if source.is_file() and not name.startswith(("reports/", "dvc.lock")):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, root / name)
    project = Project(root)
    project.call("git", "init", "--quiet", "--initial-branch", "main")
    project.set({"profile": "smoke"})  # the default is for people
    return project


def made_once(tmp_path_factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that the first of all workers that wants it makes; the others wait for it."""
    shared = tmp_path_factory.getbasetemp()
    shared = shared.parent if os.environ.get("PYTEST_XDIST_WORKER") else shared
    shared = Path(os.environ.get("RECOMPOSE_MADE_ONCE", shared))  # of several processes, as mutants are tried
    folder, done = shared / name, shared / f"{name}.done"
    with FileLock(shared / f"{name}.lock"):
        if not done.exists():
            make(folder)
            done.touch()
    return folder


def with_methods(root: Path, *methods: str) -> Project:
    """The project with these methods alone, on less than the smoke profile has, committed; nothing is made."""
    project = new_project(root)
    smoke = "profiles.smoke"
    project.set(
        {
            f"{smoke}.czsl.methods": list(methods),
            f"{smoke}.czsl.seeds": [0, 1],
            f"{smoke}.czsl.variant_seeds": [0],
            f"{smoke}.override.czsl.datasets.shapes-pairs.images": {"train": 400, "val": 150, "test": 150},
            f"{smoke}.gzsl": None,
            f"{smoke}.vlc": None,
            # pretrained, as kills and edits are to be borne there, too; assets are what the whole profile has
            f"{smoke}.czsl.backbone": "shapes-clip-from-scratch",
            f"{smoke}.override.backbones.shapes-clip-from-scratch.scenes": 256,
            f"{smoke}.override.backbones.shapes-clip-from-scratch.epochs": 2,
            f"{smoke}.override.czsl.methods.c-s-o.training.epochs": 2,
        }
    )
    project.commit(f"The project with {', '.join(methods)} alone")
    return project


def _carried_out(root: Path, *methods: str) -> None:
    project = with_methods(root, *methods)
    project.snakemake()
    project.recompose("store", "commit")
    project.commit("Its results")


@pytest.fixture(scope="module")
def in_64_bits() -> Iterator[None]:
    """Compute in 64 bits in all tests of a module, and in what it builds for them."""
    import torch

    from tests.precision import default_dtype

    with default_dtype(torch.float64):
        yield


TOOLS = {  # what some tests are skipped without -> programs, all of a group, and how to get them
    "a browser": ([("chromium", "chromedriver")], "apt-get install chromium chromium-driver"),
    "LaTeX": ([("tectonic",), ("pdflatex",)], "apt-get install texlive-latex-recommended"),
    "Slurm": ([("sbatch", "scontrol")], "a cluster, or a single node of your own"),
}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which tools are absent, and how to get them, where tests were skipped."""
    if terminalreporter.stats.get("skipped"):
        for name, (groups, source) in TOOLS.items():
            if not any(all(map(shutil.which, programs)) for programs in groups):
                terminalreporter.write_line(
                    f"{name} is absent, and tests that need it are skipped. To get it: {source}"
                )


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    """The profile demo, in which nothing is made."""
    return new_workspace(tmp_path)


@pytest.fixture(scope="session")
def chance_project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The one method that needs no backbone, carried out once for all workers: copy it before changing it."""
    return Project(made_once(tmp_path_factory, "chance", lambda root: _carried_out(root, "chance")))


def _smoke(root: Path) -> None:
    project = new_project(root)
    project.commit("The project")
    # with a server of its own, which plans once for all jobs: the plan of all papers takes seconds
    process = project.start("snakemake", "--cores", "4")
    output = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 0, output[-6000:]


@pytest.fixture(scope="session")
def smoke_project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The whole smoke profile, carried out once for all workers, on four cores: it takes minutes and is only read."""
    return Project(made_once(tmp_path_factory, "smoke", _smoke))


@pytest.fixture(scope="session")
def trained_project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A trained method beside chance, carried out once for all workers: copy it before changing it."""
    return Project(made_once(tmp_path_factory, "trained", lambda root: _carried_out(root, "chance", "c-s-o")))


@pytest.fixture
def trained(trained_project: Project, tmp_path: Path) -> Project:
    """A copy of ``trained_project`` that a test may change."""
    return trained_project.copy(tmp_path / "project")


@pytest.fixture
def closed() -> Iterator[None]:
    """No figure stays open."""
    from matplotlib import pyplot as plt

    yield
    left = plt.get_fignums()
    plt.close("all")
    assert left == []


@pytest.fixture
def chance(chance_project: Project, tmp_path: Path) -> Project:
    """A copy of ``chance_project`` that a test may change."""
    return chance_project.copy(tmp_path / "project")
