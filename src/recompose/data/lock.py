"""``archives.lock``: sizes and digests of published files at their first use, by their paths below ``data``.

It lies beside ``data``, in the project's folder, and is committed. It is no part of a recipe: adding, correcting or
removing an entry makes nothing stale.
"""

from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from recompose.digest import sha256_file
from recompose.errors import DataError
from recompose.files import write_json
from recompose.locks import lock_below
from recompose.params.sections import Digest, Section
from recompose.records import complaint

LOCK = "archives.lock"


class Content(Section):
    """The size and digest of a file."""

    bytes: Annotated[int, Field(ge=0)]
    sha256: Digest


_CONTENTS = TypeAdapter(dict[str, Content])


def content_of(path: Path) -> Content:
    """Return the size and digest of a file."""
    return Content(bytes=path.stat().st_size, sha256=sha256_file(path))


def lock_entries(data: Path) -> dict[str, Content]:
    """Return the recorded sizes and digests of files by their paths below ``data``; empty where none is recorded.

    Raises:
        DataError: the lock cannot be read.
    """
    path = data.parent / LOCK
    try:
        return _CONTENTS.validate_json(path.read_bytes())
    except FileNotFoundError:
        return {}
    except ValidationError as error:
        message = (
            f"{path} is not a list of files with their bytes and sha256 ({complaint(error)}): restore it with `git "
            f"checkout -- {LOCK}`; if a merge left conflict markers in it, keep the entries of both sides"
        )
        raise DataError(message, code="damaged-lock", place=path) from None


def record(data: Path, place: str, content: Content) -> None:
    """Record the size and digest of the file at a path, replacing an earlier entry."""
    with lock_below(data, LOCK):
        entries = lock_entries(data) | {place: content}
        write_json(data.parent / LOCK, {name: entries[name].model_dump() for name in sorted(entries)})
