"""All suites by their names, and reading those that are on disk."""

from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast, get_args

from recompose.errors import DataError
from recompose.tracks.vlc.catalogue import SuiteForm
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.catalogue import CLASSIFICATIONS, RETRIEVALS, SIMILARITIES, SUBTASKS

_FORMATS = "recompose.tracks.vlc.data.formats"
# the module that reads a suite's files, by the suite's name, which is also that of its folder
FORMATS = {form: f"{_FORMATS}.{form}" for form in get_args(SuiteForm)}


class Format(Protocol):
    """A module that reads the files of a suite."""

    NAME: str
    LAYOUT: str  # which files it needs where

    @staticmethod
    def read(root: Path) -> Suite:
        """Read the suite below a root of raw files."""


def format_of(name: str) -> Format:
    """The module that reads a suite.

    Raises:
        DataError: there is no such suite.
    """
    if name not in FORMATS:
        near = get_close_matches(name.lower(), FORMATS, n=1, cutoff=0.3)
        hint = f"is {near[0]} meant?" if near else f"there are {', '.join(FORMATS)}"
        raise DataError(f"there is no suite {name!r}: {hint}")
    return cast(Format, import_module(FORMATS[name]))


def read_suite(name: str, root: Path) -> Suite:
    """Read a suite below a root of raw files.

    Raises:
        DataError: there is no such suite, or its files are not there or not as published.
    """
    return format_of(name).read(root)


def present(root: Path) -> list[str]:
    """The suites that have a folder of annotation files below a root of raw files."""
    return [name for name in FORMATS if (root / name).is_dir()]


def left_out(suite: Suite) -> list[str]:
    """The sub-tasks that a suite has elsewhere and not here, such as data sets of ELEVATER that are not on disk; none
    where it has its own alone.
    """
    names = [
        name for name in (*SUBTASKS, *CLASSIFICATIONS, *RETRIEVALS, *SIMILARITIES) if name.split("/")[0] == suite.name
    ]
    lacking = [name for name in names if name not in suite.tasks]
    return lacking if len(lacking) < len(names) else []
