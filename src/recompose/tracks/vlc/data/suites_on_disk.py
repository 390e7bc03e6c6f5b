"""All suites by their names, and readers of those on disk."""

from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast, get_args

from recompose.errors import DataError
from recompose.tracks.vlc.catalogue import SuiteForm
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.catalogue import CLASSIFICATIONS, RETRIEVALS, SIMILARITIES, SUBTASKS

_FORMATS = "recompose.tracks.vlc.data.formats"
# name of a suite, also of its folder -> the module that reads its files
FORMATS = {form: f"{_FORMATS}.{form}" for form in get_args(SuiteForm)}


class Format(Protocol):
    """A module that reads the files of a suite."""

    NAME: str
    LAYOUT: str  # the required files

    @staticmethod
    def read(root: Path) -> Suite:
        """Read the suite below a root of raw files."""


def format_of(name: str) -> Format:
    """Return the module that reads a suite.

    Raises:
        DataError: there is no such suite.
    """
    if name not in FORMATS:
        near = get_close_matches(name.lower(), FORMATS, n=1, cutoff=0.3)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(FORMATS)}"
        raise DataError(f"there is no suite {name!r}: {hint}")
    return cast(Format, import_module(FORMATS[name]))


def read_suite(name: str, root: Path) -> Suite:
    """Read a suite below a root of raw files.

    Raises:
        DataError: there is no such suite, or its files are missing or not as published.
    """
    return format_of(name).read(root)


def present_suites(root: Path) -> list[str]:
    """Return the suites whose folder of annotation files exists below a root of raw files."""
    return [name for name in FORMATS if (root / name).is_dir()]


def missing_subtasks(suite: Suite) -> list[str]:
    """Return the sub-tasks that a suite lacks here, such as data sets of ELEVATER that are not on disk; none if all its
    sub-tasks are its own.
    """
    names = [
        name for name in (*SUBTASKS, *CLASSIFICATIONS, *RETRIEVALS, *SIMILARITIES) if name.split("/")[0] == suite.name
    ]
    missing = [name for name in names if name not in suite.tasks]
    return missing if len(missing) < len(names) else []
