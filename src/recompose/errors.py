"""Every error that this project raises on purpose, as one tree.

Their messages name file, place and remedy, and are all that users see.
"""

from pathlib import Path


class RecomposeError(Exception):
    """Something is wrong that a person can mend: the message says what and how."""


# what was asked for


class ParamsError(RecomposeError, ValueError):
    """params.yaml is wrong: the message says where and what is allowed."""


class PlanError(RecomposeError, ValueError):
    """What papers declare and a profile asks for do not go together."""


class ChangedError(RecomposeError, RuntimeError):
    """Parameters or code changed while a workflow ran, or something is asked for that is not planned."""


# data that comes from outside


class DataError(RecomposeError, RuntimeError):
    """A data set on disk is not what it should be: the message names file, place and remedy."""


class WordVectorsError(DataError):
    """Word vectors are not what they should be."""


class UnsafeArchive(DataError, ValueError):  # noqa: N818 - it is the archive that is at fault
    """An archive holds what must not be unpacked."""


class DownloadError(RecomposeError, RuntimeError):
    """No mirror delivers a file, or what came is another one."""


# what is stored


class DamagedError(RecomposeError, RuntimeError):
    """A stored file is not what its record says.

    ``fault`` says only what is wrong; the message says of which file, and what to do about it.
    """

    def __init__(self, path: Path, fault: str, remedy: str) -> None:
        super().__init__(f"{path} {fault}: {remedy}")
        self.path, self.fault = path, fault


class UnknownError(RecomposeError, ValueError):
    """There is no such thing in the store."""


class FailedError(RecomposeError, RuntimeError):
    """Some of what a process had to make failed; the rest is complete."""


# what is reported


class LineageError(RecomposeError, ValueError):
    """A file is no lineage; ``state`` is what an audit calls it then."""

    state = "tampered"


class OutdatedLineageError(LineageError):
    """A file is a lineage as other code writes it."""

    state = "stale"


class TraceError(RecomposeError, LookupError):
    """There is no such number: the message says which there are."""


class DownstreamError(RecomposeError, LookupError):
    """The reports were made from nothing that is called so, or from several things."""


class DiffError(RecomposeError, LookupError):
    """There is nothing to compare with: the message says why."""


class CrateError(RecomposeError, RuntimeError):
    """There is nothing to put into a crate, or no place for it."""
