"""The tree of errors that this project raises.

Users see the messages alone, which name file, place and remedy.
"""

from pathlib import Path


class RecomposeError(Exception):
    """An error that a user can fix; the message says how."""


# parameters and plans


class ParamsError(RecomposeError, ValueError):
    """An error in params.yaml; the message names the place and the allowed values."""


class PlanError(RecomposeError, ValueError):
    """A mismatch between the papers' declarations and a profile."""


class ChangedError(RecomposeError, RuntimeError):
    """A recipe that is not in the plan, as after a change of parameters or code while a workflow ran."""


# external data


class DataError(RecomposeError, RuntimeError):
    """An invalid data set on disk; the message names file, place and remedy."""


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

    def __init__(self, path: Path, fault: str, remedy: str) -> None:
        super().__init__(f"{path} {fault}: {remedy}")
        self.path, self.fault = path, fault


class UnknownError(RecomposeError, ValueError):
    """A key that is not in the store."""


class FailedError(RecomposeError, RuntimeError):
    """A process in which some recipes failed; the others are complete."""


# reports


class LineageError(RecomposeError, ValueError):
    """An invalid lineage file; ``state`` is its trust state in an audit."""

    state = "tampered"


class OutdatedLineageError(LineageError):
    """A lineage file in the format of another version of the code."""

    state = "stale"


class TraceError(RecomposeError, LookupError):
    """A number that does not exist; the message names those that do."""


class DownstreamError(RecomposeError, LookupError):
    """A name that no recipe, or several recipes, of the reports match."""


class DiffError(RecomposeError, LookupError):
    """A revision or file to compare with that does not exist."""


class CrateError(RecomposeError, RuntimeError):
    """A crate without content or without a place to write it."""
