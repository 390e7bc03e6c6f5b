"""A call of Snakemake as a child process that writes its output to a log."""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from recompose.engine import check_targets
from recompose.workspace import Workspace

LOG = "logs/snakemake.log"  # below results/
SNAKEMAKE = (sys.executable, "-m", "snakemake")
LAST_LINES = 5
STEPS = ("make_", "artifacts_of_")  # begin the names of rules that a stage or a paper has
_RULE = re.compile(r"^rule (\w+):", re.MULTILINE)
_FAILED = re.compile(r"^Error in rule (?P<rule>[^\s:]+):\n(?P<about>(?:^[ \t]+.*\n)*)", re.MULTILINE)
_ABOUT = re.compile(r"^\s+(?P<name>message|log): (?P<value>.*?)(?: \(check log file.*)?$", re.MULTILINE)


def check_known_targets(targets: Iterable[str], work: Workspace) -> None:
    """Check targets before Snakemake starts, which takes longer; those of single steps are left to Snakemake.

    Raises:
        PlanError: nothing has such a name; the message names the nearest target.
    """
    files = [work.root / "workflow/Snakefile", *work.root.glob("workflow/rules/*.smk")]
    rules = [name for file in files if file.is_file() for name in _RULE.findall(file.read_text(encoding="utf-8"))]
    known = [*rules, *(paper.target for paper in work.papers)]
    check_targets((target for target in targets if not target.startswith(STEPS)), known, work)


class SnakemakeCall:
    """A call that makes targets, or everything.

    It stays in the process group, so an interrupt from the terminal ends both.
    """

    def __init__(self, root: Path, results: Path, targets: Iterable[str], command: Sequence[str] = SNAKEMAKE) -> None:
        self.log = results / LOG
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self._start = log.tell()
            self._process = subprocess.Popen(
                [*command, *targets, "--cores", "all"],
                cwd=root,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def wait(self, seconds: float | None = None) -> int | None:
        """Wait until it ends, or for so many seconds; return its exit code, or None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self._process.returncode

    def output(self) -> str:
        """Return the output of this call, which the log appends to that of earlier calls."""
        with self.log.open("rb") as log:
            log.seek(self._start)
            return log.read().decode("utf-8", errors="replace")

    def failures(self) -> list[str]:
        """Return the failed jobs, each with its log, or the last lines of the output where it names none."""
        output = self.output()
        failures = list(dict.fromkeys(_failures(output)))  # a job that is tried again may fail again
        return failures or [line.strip() for line in output.splitlines() if line.strip()][-LAST_LINES:]


def _failures(output: str) -> Iterator[str]:
    for failure in _FAILED.finditer(output):
        about = {name: value for name, value in _ABOUT.findall(failure["about"]) if value != "None"}
        log = f"; see {about['log']}" if "log" in about else ""
        yield f"{about.get('message', failure['rule'])}{log}"
