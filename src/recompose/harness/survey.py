"""The state of suites on disk: what can be evaluated, and what is absent, incomplete or broken."""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Literal

import numpy as np

from recompose.console import first, print_findings, print_json
from recompose.errors import DataError, MissingFilesError
from recompose.harness.evaluation import FEW
from recompose.harness.named_suites import ALL, KnownSuites, NamedSuite
from recompose.progress import printable
from recompose.tracks.vlc.data.suite import Suite, files
from recompose.tracks.vlc.suites.catalogue import FORMS, layout_of, missing_subtasks
from recompose.tracks.vlc.suites.tasks import ABSENT, Task
from recompose.tracks.vlc.suites.values import check

# partial: some sub-tasks are absent or lack images, the others can be evaluated; incomplete: files are absent without
# which nothing can; broken: its files are not the suite
SuiteState = Literal["complete", "partial", "incomplete", "broken", "absent"]
STYLES = {
    "complete": "green",
    "partial": "yellow",
    "incomplete": "bold red",
    "broken": "bold red",
    "absent": "dim",
}  # by state, in the order of the last line


@dataclass(frozen=True)
class SurveyedSuite:
    """A suite as it is on disk."""

    name: str
    state: SuiteState
    suite: Suite | None = None  # what can be evaluated of it; None: nothing
    error: DataError | None = None  # None: the suite is complete
    lacking: tuple[str, ...] = ()  # the other sub-tasks

    @property
    def finding(self) -> str:
        """The reason why the suite is not complete, or its size."""
        if self.error:
            fault = self.error.fault if isinstance(self.error, MissingFilesError) else str(self.error)
            without = f"without {', '.join(first(self.lacking, FEW))} and means over them: " if self.suite else ""
            return without + printable(" ".join(fault.split()))
        assert self.suite
        return f"{len(self.suite.tasks)} sub-tasks, {len(self.suite.images):,} images, {len(self.suite.texts):,} texts"

    @property
    def line(self) -> str:
        """What happens in an evaluation to a suite that is not complete, and why."""
        return f"{self.name} is {'evaluated' if self.suite else f'{self.state} and left out:'} {self.finding}"

    @property
    def remedy(self) -> str:
        """The files that are required; empty where the suite is complete."""
        return f"required files: {layout_of(self.name)}" if self.error else ""


def survey(
    requested: NamedSuite | str, root: Path, *, with_images: bool = True, items: int | None = None
) -> SurveyedSuite:
    """Read a suite, and judge whether it is complete.

    Args:
        requested: the suite, or its name, see ``KnownSuites.find``.
        root: the folder of raw files.
        with_images: whether sub-tasks without some of their images are left out.
        items: the largest number of items of a sub-task, of suites that can be limited.

    Raises:
        DataError: there is no such suite.
    """
    named = requested if isinstance(requested, NamedSuite) else KnownSuites().find(requested)
    name, folder, layout = named.name, root / named.folder, named.layout
    if not folder.is_dir():
        return SurveyedSuite(name, "absent", error=MissingFilesError(f"there is no {folder}", layout, place=root))
    try:
        suite = named.read(root, items)
        check([suite])
        absent = [path for path in files([suite]) if not (root / path).is_file()] if with_images else []
    except MissingFilesError as error:
        return SurveyedSuite(name, "incomplete", error=error)
    except DataError as error:
        return SurveyedSuite(name, "broken", error=error)
    except OSError as error:
        message = f"{error.filename} is not readable: {error.strerror}; check its permissions"
        return SurveyedSuite(name, "broken", error=DataError(message, code="unreadable-file", place=error.filename))
    if absent:
        fault = f"images are absent ({len(absent):,}), the first is {root / absent[0]}"
        remedy = f"{fault}; --skip-broken leaves out their items"
        missing = MissingFilesError(remedy, layout, code="missing-image", place=root / absent[0])
        return without_images(suite, set(absent), "incomplete", missing)
    if lacking := missing_subtasks(suite):
        missing = MissingFilesError(f"{folder} lacks files of sub-tasks", layout, place=folder)
        return SurveyedSuite(name, "partial", suite, missing, tuple(lacking))
    return SurveyedSuite(name, "complete", suite)


def without_images(suite: Suite, paths: Set[str], state: SuiteState, error: DataError) -> SurveyedSuite:
    """Return a suite without the sub-tasks that show any of these images.

    Args:
        suite: the suite.
        paths: of images that cannot be used.
        state: that of a suite without any other sub-task.
        error: the reason why the images cannot be used.
    """
    unusable = np.array([picture.path in paths for picture in suite.images], dtype=bool)

    def shows(task: Task) -> bool:
        numbers = task.image_numbers
        return bool(unusable[numbers[numbers != ABSENT]].any())

    tasks = {name: task for name, task in suite.tasks.items() if not shows(task)}
    if not tasks:
        return SurveyedSuite(suite.name, state, error=error)
    lacking = (*missing_subtasks(suite), *(name for name in suite.tasks if name not in tasks))
    return SurveyedSuite(suite.name, "partial", replace(suite, tasks=tasks), error, lacking)


def suites_present(
    requested: Sequence[str], root: Path, known: KnownSuites | None = None
) -> tuple[list[NamedSuite], list[str]]:
    """Return the requested suites on disk, and the names of those that are absent where ``ALL`` are requested.

    Args:
        requested: names of suites, see ``KnownSuites.find``; ``ALL`` are the published ones on disk.
        root: the folder of raw files.
        known: the suites that can be named; None: those of this package.

    Raises:
        DataError: an unknown suite, a named one is not on disk, or there is none at all.
    """
    suites = known or KnownSuites()
    named = suites.find_all([name for name in requested if name != ALL])
    if not root.is_dir():
        message = f"there is no folder {root} with suites; name it with --data"
        raise DataError(message, code="missing-folder", place=root)
    if absent := {entry: suite for entry, suite in named.items() if not (root / suite.folder).is_dir()}:
        expected = "".join(f"\n  {entry}: {suite.layout}" for entry, suite in absent.items())
        message = f"{', '.join(absent)}: absent below {root}. Files expected there:{expected}"
        raise DataError(message, code="missing-suite", place=f"{root}: {', '.join(absent)}")
    if ALL not in requested:
        return [*named.values()], []
    if not (on_disk := [name for name in FORMS if (root / name).is_dir()]):
        command = f"recompose data check --data {quote(str(root))}"
        message = f"no suite is below {root}; `{command}` lists the files of all suites"
        raise DataError(message, code="missing-suite", place=root)
    unpublished = [suite for suite in named.values() if suite.name not in FORMS]
    return [*map(suites.find, on_disk), *unpublished], [name for name in FORMS if name not in on_disk]


def show_suites(data: Path, *, as_json: bool) -> int:
    """Print each published suite below a folder, with its state and what it lacks; return the exit code."""
    suites = [survey(name, data) for name in FORMS]
    counts = Counter[str](suite.state for suite in suites)
    if as_json:
        parts = ("name", "state", "finding", "remedy")
        print_json([{part: getattr(suite, part) for part in parts} for suite in suites])
    else:
        rows = ((suite.name, (suite.state, STYLES[suite.state]), suite.finding, suite.remedy) for suite in suites)
        print_findings("suite", rows)
        print(", ".join(f"{counts[state]} {state}" for state in STYLES if counts[state]))
    return 1 if counts["incomplete"] or counts["broken"] else 0
