"""The steps that were carried out, and what each took: kept from one start to the next, told as a table."""

from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.stand_ins.measuring import TOO_LONG
from recompose.files import read_json, write_json

MEBI = 2**20
HEADER = (
    "| data set | phase | of | images | seconds | making | MiB stored | peak MiB | of GPU |\n"
    "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
)


@dataclass(frozen=True)
class Step:
    """A step, and what it took; of one that was killed and went on later, what it took then."""

    dataset: str
    phase: str
    of: str  # the method, or the backbone
    images: int  # that it went through; of a run those of training
    seconds: float  # of its process
    stored: int  # bytes
    peak: int  # bytes of memory
    making: float = 0.0  # seconds, of those of its process, as the record has them: without starting and checking
    gpu: int = 0  # bytes
    attempts: int = 1
    code: int = 0  # the process' exit status

    @property
    def name(self) -> str:
        """What it is called."""
        return " ".join(filter(None, (self.phase, self.dataset, self.of)))

    @property
    def line(self) -> str:
        """A row of the Markdown table."""
        again = f" ({self.attempts} attempts)" if self.attempts > 1 else ""
        failed = " (not finished)" if self.code == TOO_LONG else f" (ended with {self.code})" if self.code else ""
        cells = (
            self.dataset,
            self.phase,
            f"{self.of}{again}{failed}",
            f"{self.images:,}" if self.images else "",
            f"{self.seconds:.1f}",
            f"{self.making:.1f}" if self.making else "",
            f"{self.stored / MEBI:,.1f}" if self.stored else "",
            f"{self.peak / MEBI:,.0f}",
            f"{self.gpu / MEBI:,.0f}" if self.gpu else "",
        )
        return f"| {' | '.join(cells)} |"


class Steps:
    """The steps that were carried out in a folder, in the order in which they were first.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Steps(Path(folder) / "steps.json").add(Step("cub", "data", "", 1179, 3.21, 2**20, 2**22))
        ...     steps = Steps(Path(folder) / "steps.json")
        >>> print(steps.table.splitlines()[-1])
        | cub | data |  | 1,179 | 3.2 |  | 1.0 | 4 |  |
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        known = (Step(**each) for each in (read_json(path) if path.exists() else []))
        self._steps = {step.name: step for step in known}

    def add(self, step: Step) -> None:
        """Keep a step, in the place of what it took before."""
        self._steps[step.name] = step
        write_json(self._path, [asdict(each) for each in self._steps.values()])

    @property
    def failed(self) -> list[Step]:
        """Those whose process ended with an error."""
        return [step for step in self._steps.values() if step.code]

    @property
    def table(self) -> str:
        """All of them, in Markdown."""
        return "\n".join([HEADER, *(step.line for step in self._steps.values())])
