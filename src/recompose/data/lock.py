"""``archives.lock``: what published files were when they were first used, by their places below ``data``.

It lies beside ``data``, in the project's folder, and is committed. It is no part of a recipe: entries that are added,
mended or removed make nothing stale.
"""

from pathlib import Path
from typing import Annotated

from filelock import FileLock
from pydantic import Field, TypeAdapter, ValidationError

from recompose.digest import sha256_file
from recompose.errors import DataError
from recompose.files import write_json
from recompose.params.sections import Digest, Section

LOCK = "archives.lock"


class Content(Section):
    """What a file was."""

    bytes: Annotated[int, Field(ge=0)]
    sha256: Digest


_CONTENTS = TypeAdapter(dict[str, Content])


def content_of(path: Path) -> Content:
    """What a file is."""
    return Content(bytes=path.stat().st_size, sha256=sha256_file(path))


def alone(data: Path, name: str) -> FileLock:
    """Keeps other processes, also of other machines that share ``data``, from what is called ``name``."""
    path = data / ".locks" / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(path)


def recorded(data: Path) -> dict[str, Content]:
    """What files below ``data`` were when they were first used, by their places there; empty where none was yet.

    Raises:
        DataError: the lock cannot be read.
    """
    path = data.parent / LOCK
    try:
        return _CONTENTS.validate_json(path.read_bytes())
    except FileNotFoundError:
        return {}
    except ValidationError as error:
        first = error.errors()[0]
        fault = f"{'.'.join(map(str, first['loc']))}: {first['msg']}".removeprefix(": ")
        raise DataError(
            f"{path} is not a list of files with their bytes and sha256 ({fault}): `git checkout -- {LOCK}` brings "
            "back the committed one; where a merge left its marks in it, keep the entries of both sides"
        ) from None


def record(data: Path, place: str, content: Content) -> None:
    """Write down what the file at a place is, in place of what was written of it before."""
    with alone(data, LOCK):
        entries = recorded(data) | {place: content}
        write_json(data.parent / LOCK, {name: entries[name].model_dump() for name in sorted(entries)})
