"""The tree of errors that this project raises.

Users read the message, which names file, place and remedy. Programs read ``code``, a stable name of the mistake, and
``place``, the file, key or argument that has it: wording may change, these do not.
"""

import errno
import re
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any


class RecomposeError(Exception):
    """An error that a user can fix; the message says how.

    Args:
        message: what is wrong, where, and the remedy.
        code: the name of the mistake, such as ``missing-file``; by default that of the class.
        place: the file, key, row or argument that is wrong, if there is one.

    Example:
        >>> error = DataError("a.csv: line 3 names no image; add one", code="no-image", place="a.csv:3")
        >>> error.code, error.place
        ('no-image', 'a.csv:3')
    """

    code = "error"
    problems: Sequence[Any] = ()  # of an error about values of a file: each with its keys

    def __init_subclass__(cls) -> None:
        """Name the mistakes of a class after it: those of WordVectorsError are ``word-vectors``."""
        cls.code = re.sub("(?<=[a-z])(?=[A-Z])", "-", cls.__name__.removesuffix("Error")).lower()

    def __init__(self, message: str, *, code: str | None = None, place: object = None) -> None:
        super().__init__(message)
        self.code = code or type(self).code
        self.place = None if place is None else str(place)


class ArgumentError(RecomposeError, ValueError):
    """An argument that a function does not accept.

    Example:
        >>> error = ArgumentError("alpha", "is 2, not a share from 0 to 1")
        >>> str(error), error.place
        ('alpha is 2, not a share from 0 to 1', 'alpha')
    """

    def __init__(self, name: str, fault: str, *, code: str | None = None) -> None:
        super().__init__(f"{name} {fault}", code=code, place=name)


class ProgramError(RecomposeError, RuntimeError):
    """A program that is missing or refuses, such as git; the message is the program's own, on one line."""


# parameters and plans


class ParamsError(RecomposeError, ValueError):
    """An error in params.yaml; the message names the place and the allowed values."""


class PlanError(RecomposeError, ValueError):
    """A mismatch between the papers' declarations and a profile."""


class PluginError(RecomposeError, ValueError):
    """A plugin that does not exist, whose declaration is wrong, or whose code cannot be fingerprinted."""


class OtherArithmeticError(RecomposeError, RuntimeError):
    """A process that computes by other arithmetic than a recipe has; the command line starts it anew."""

    def __init__(self, wanted: str, found: str) -> None:
        remedy = f"start it with RECOMPOSE_ARITHMETIC={wanted}, and import recompose before NumPy and torch"
        super().__init__(f"arithmetic is to be {wanted}, and this process computes by {found}: {remedy}")
        self.wanted = wanted


class ChangedError(RecomposeError, RuntimeError):
    """Code that was changed while a workflow ran."""


# external data


class DataError(RecomposeError, RuntimeError):
    """An invalid data set on disk; the message names file, place and remedy."""


class MissingFilesError(DataError):
    """Absent files of a data set.

    ``fault`` says in a few words which are absent; the message adds all files that are required.
    """

    def __init__(self, fault: str, layout: str, *, code: str = "missing-file", place: object = None) -> None:
        super().__init__(f"{fault}; required files: {'; '.join(layout.splitlines())}", code=code, place=place)
        self.fault = fault


class WordVectorsError(DataError):
    """An invalid file of word vectors."""


class UnsafeArchive(DataError, ValueError):  # noqa: N818 - the archive is at fault
    """An archive with members that must not be unpacked."""


class DownloadError(RecomposeError, RuntimeError):
    """A file that no mirror delivers, or that arrived with another digest."""


# the store


class DamagedError(RecomposeError, RuntimeError):
    """A stored file that differs from its record.

    ``fault`` is the difference; the message adds the file and the remedy.
    """

    def __init__(self, path: Path, fault: str, remedy: str, code: str | None = None) -> None:
        super().__init__(f"{path} {fault}: {remedy}", code=code, place=path)
        self.path, self.fault = path, fault


class UnknownError(RecomposeError, ValueError):
    """A key of a result that is not there, or of several ones."""


class FailedError(RecomposeError, RuntimeError):
    """A process in which some recipes failed; the others are complete."""


class BusyError(RecomposeError, RuntimeError):
    """A folder that another process writes into."""


class CheckpointError(RecomposeError, ValueError):
    """A checkpoint of another method or of other settings; its place is the parameters that differ."""


# reports


class ProvenanceError(RecomposeError, ValueError):
    """An invalid file of provenance."""


class TraceError(RecomposeError, LookupError):
    """A number that does not exist; the message names those that do."""


class DiffError(RecomposeError, LookupError):
    """A revision or file to compare with that does not exist."""


class ReleaseError(RecomposeError, RuntimeError):
    """An archive that is no valid release, or reports that cannot be released."""


# the operating system

_FULL = "free space; the same command continues from what is complete"
_REMEDIES = MappingProxyType(
    {
        errno.ENOENT: "check the path; `snakemake --cores all` makes results that are missing",
        errno.EACCES: "this user has no permission; grant it, or work in a separate clone",
        errno.EPERM: "it is protected, or another user owns it; work in a separate clone",
        errno.EROFS: "work in a clone on a writable file system",
        errno.ENOSPC: _FULL,
        errno.EDQUOT: _FULL,
    }
)


def error_text(error: Exception) -> str:
    """Return the message of an error; an error of the operating system, or of a library that reads files, becomes one
    line with place and remedy.

    The place is the file, or else the line of code that failed.

    Example:
        >>> error_text(OSError(errno.EROFS, "Read-only file system", "results"))
        'results: Read-only file system: work in a clone on a writable file system'
    """
    if not isinstance(error, OSError):
        return str(error)
    place = error.filename
    if not place and (frames := traceback.extract_tb(error.__traceback__)):
        place = f"{frames[-1].filename}:{frames[-1].lineno}"
    fault = " ".join((error.strerror or str(error) or type(error).__name__).split())
    remedy = _REMEDIES.get(error.errno or 0, "check that file; the same command continues from what is complete")
    return ": ".join(filter(None, (place and str(place), fault, remedy)))
