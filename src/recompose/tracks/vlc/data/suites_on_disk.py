"""All forms of suites, and readers of suites on disk."""

from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast, get_args

from recompose.errors import DataError
from recompose.tracks.vlc.data.formats.sources import Source
from recompose.tracks.vlc.data.formats.suite_files import UNLIMITED, Limit, SuiteFiles
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.catalogue import CLASSIFICATIONS, RETRIEVALS, SIMILARITIES, SUBTASKS, SuiteForm

FORMS = get_args(SuiteForm)  # published suites, also the names of their folders and of the modules that read them


class Format(Protocol):
    """A module that reads suites of one form."""

    LAYOUT: str  # the required files; <suite> is the suite's folder
    SOURCES: tuple[Source, ...]  # the published files

    @staticmethod
    def read(files: SuiteFiles) -> Suite:
        """Read a suite."""


def format_of(form: str) -> Format:
    """Return the module that reads suites of a form.

    Raises:
        DataError: there is no such form.
    """
    if form not in FORMS:
        near = get_close_matches(form.lower(), FORMS)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(FORMS)}"
        raise DataError(f"there is no suite {form!r}: {hint}", code="unknown-suite", place=form)
    return cast(Format, import_module(f"recompose.tracks.vlc.data.formats.{form}"))


def layout_of(form: str, folder: str = "") -> str:
    """Return the files that a suite of a form requires, below the root of raw files, on one line.

    Args:
        form: the form.
        folder: the suite's folder; empty: that of the published suite.
    """
    layout = "; ".join(format_of(form).LAYOUT.replace("<suite>", folder or form).splitlines())
    return layout if folder not in ("", form) else f"{layout}; `recompose data fetch {form}` gets what is public"


def read_suite(form: str, root: Path, name: str = "", folder: str = "", limit: Limit = UNLIMITED) -> Suite:
    """Read a suite below a root of raw files.

    Args:
        form: the published suite whose files have the same form.
        root: the root of raw files.
        name: the name of the suite; empty: that of the published one.
        folder: the folder of its files; empty: its name.
        limit: the largest number of items of a sub-task, of forms in ``catalogue.LIMITED``.

    Raises:
        DataError: there is no such form, or files are missing or of another form.
    """
    name = name or form
    folder = folder or name
    return format_of(form).read(SuiteFiles(root, form, name, folder, layout_of(form, folder), limit))


def present_suites(root: Path) -> list[str]:
    """Return the published suites whose folder of annotation files exists below a root of raw files."""
    return [name for name in FORMS if (root / name).is_dir()]


def missing_subtasks(suite: Suite) -> list[str]:
    """Return the sub-tasks that a suite lacks here, such as data sets of ELEVATER that are not on disk; none if all its
    sub-tasks are its own.
    """
    names = [
        name for name in (*SUBTASKS, *CLASSIFICATIONS, *RETRIEVALS, *SIMILARITIES) if name.split("/")[0] == suite.name
    ]
    missing = [name for name in names if name not in suite.tasks]
    return missing if len(missing) < len(names) else []
