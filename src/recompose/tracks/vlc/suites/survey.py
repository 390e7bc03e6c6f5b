"""The state of suites on disk: what can be evaluated, and what is absent, incomplete or broken."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from recompose.errors import DataError, MissingFilesError
from recompose.progress import printable
from recompose.tracks.model_evaluation import ALL, SuiteCondition, SuiteState
from recompose.tracks.vlc.data.suite import Suite, files
from recompose.tracks.vlc.data.suites_on_disk import FORMS, layout_of, missing_subtasks, present_suites, read_suite
from recompose.tracks.vlc.suites.metric_values import check

MAX_NAMES = 4  # sub-tasks in a message


@dataclass(frozen=True)
class SurveyedSuite:
    """A suite as it is on disk."""

    name: str
    state: SuiteState
    suite: Suite | None = None  # what can be evaluated of it; None: nothing
    error: DataError | None = None  # None: the suite is complete

    def condition(self) -> SuiteCondition:
        """Return the state in words, with the remedy."""
        if self.error:
            remedy = f"required files: {one_line(layout_of(self.name))}"
            return SuiteCondition(self.name, self.state, finding(self.error), remedy)
        assert self.suite
        size = f"{len(self.suite.tasks)} sub-tasks, {len(self.suite.images):,} images, {len(self.suite.texts):,} texts"
        return SuiteCondition(self.name, self.state, size)


def survey(name: str, root: Path, *, with_images: bool = True) -> SurveyedSuite:
    """Read a suite, and judge whether it is complete.

    Args:
        name: the suite.
        root: the folder of raw files.
        with_images: whether a suite without some of its images is incomplete.

    Raises:
        DataError: there is no such suite.
    """
    layout = layout_of(name)
    if name not in present_suites(root):
        return SurveyedSuite(name, "absent", error=MissingFilesError(f"there is no {root / name}", layout, place=root))
    try:
        suite = read_suite(name, root)
        check([suite])
        if with_images:
            _check_images(suite, root, layout)
    except MissingFilesError as error:
        return SurveyedSuite(name, "incomplete", error=error)
    except DataError as error:
        return SurveyedSuite(name, "broken", error=error)
    except OSError as error:
        message = f"{error.filename} is not readable: {error.strerror}; check its permissions"
        return SurveyedSuite(name, "broken", error=DataError(message, code="unreadable-file", place=error.filename))
    if absent := missing_subtasks(suite):
        more = f" and {len(absent) - MAX_NAMES} more" if len(absent) > MAX_NAMES else ""
        fault = f"{name} lacks {', '.join(absent[:MAX_NAMES])}{more}: means over them have no number"
        return SurveyedSuite(name, "partial", suite, MissingFilesError(fault, layout, place=root / name))
    return SurveyedSuite(name, "complete", suite)


def suites_present(requested: Sequence[str], root: Path) -> tuple[list[str], list[str]]:
    """Return the requested suites on disk, and those that are absent where ``ALL`` are requested.

    Raises:
        DataError: an unknown suite, a named one is not on disk, or there is none at all.
    """
    named = [name for name in dict.fromkeys(requested) if name != ALL]
    layouts = {name: one_line(layout_of(name)) for name in named}
    on_disk = present_suites(root)
    if absent := [name for name in named if name not in on_disk]:
        expected = "".join(f"\n  {name}: {layouts[name]}" for name in absent)
        message = f"{', '.join(absent)}: absent below {root}. Files expected there:{expected}"
        raise DataError(message, code="missing-suite", place=f"{root}: {', '.join(absent)}")
    if ALL not in requested:
        return named, []
    if not on_disk:
        message = f"no suite is below {root}; `recompose doctor --suites --data {root}` lists the files of all suites"
        raise DataError(message, code="missing-suite", place=root)
    return on_disk, [name for name in FORMS if name not in on_disk]


def finding(error: DataError) -> str:
    """Return what is wrong with a suite, on one line."""
    return one_line(error.fault if isinstance(error, MissingFilesError) else str(error))


def one_line(text: str) -> str:
    """Return a text on one line that can be printed."""
    return printable(" ".join(text.split()))


def _check_images(suite: Suite, root: Path, layout: str) -> None:
    """Check that all images exist, before any is encoded.

    Raises:
        MissingFilesError: an image is missing.
    """
    images = list(files([suite]))
    absent = [path for path in images if not (root / path).is_file()]
    if absent:
        fault = f"{len(absent):,} of {len(images):,} images are absent, the first is {root / absent[0]}"
        remedy = f"{fault}; --skip-broken leaves out their items"
        raise MissingFilesError(remedy, layout, code="missing-image", place=root / absent[0])
