"""Records: what ``record.json``, lineages and the reports hold of stored results.

They are validated when they are read, since anybody may have written them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from recompose.digest import digest, short
from recompose.errors import DamagedError
from recompose.files import Document, read_json, write_json
from recompose.recipes.plan import Recipe

RECORD = "record.json"
LOG = "log.txt"
COSTS = "costs.json"
OF_COSTS = "/costs"  # the end of the roles in which costs are needed, which are no part of a content
VOLATILE = {LOG, COSTS}  # files that differ between builds of the same recipe


class LenientModel(BaseModel):
    """The required part of a document, which may hold more."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)

    def plain(self) -> Document:
        """Return the document as it was read, with its keys in the order of the fields."""
        return self.model_dump(by_alias=True, exclude_unset=True)


class StoredFile(LenientModel):
    """A file of a folder."""

    sha256: str
    bytes: int


class Build(LenientModel):
    """The host, device, packages, time and commit of a build, and as reports hold it, its content: what may differ
    between two builds of a recipe.
    """

    started: str
    attempts: int
    seconds: float
    commit: str | None
    dirty: bool | None
    host: str
    device: str
    instruction_set: str | None = None  # the largest one that torch used
    libraries: str | None = None  # of matrix products and convolutions on a processor, as torch was built with
    system: str = ""
    python: str = ""
    packages: dict[str, str]
    shared_by: int | None = None  # the number of recipes that were built together, if several were
    equal_to: str | None = None  # the key of the content that was copied, if the same code made it of the same inputs
    inputs: dict[str, str] = {}
    files: dict[str, StoredFile] = {}  # none: unknown, in files of older versions; records have them beside it

    @property
    def processor(self) -> str:
        """What computed it, in words: the device, its instruction set and libraries."""
        return ", ".join(filter(None, (self.device, self.instruction_set, self.libraries)))

    @property
    def content(self) -> str:
        """The digest of all files that the recipe determines; empty where they are unknown."""
        return content_of(self.files) if self.files else ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Record(Recipe):
    """The record of a complete folder: its recipe, and how it was made."""

    inputs: dict[str, str]  # role -> the content of the need
    files: dict[str, StoredFile]
    made: Build

    @classmethod
    def of_recipe(cls, recipe: Recipe, **values: Any) -> Self:
        """Return the record of a recipe with these inputs, files and build."""
        return cls(**{part.name: getattr(recipe, part.name) for part in fields(Recipe)}, **values)

    @property
    def content(self) -> str:
        """The digest of all files that the recipe determines; recipes that need them record it."""
        return content_of(self.files)

    def input_of(self, role: str) -> str:
        """Return the digest of what is needed of it in a role: of its costs, in one that ends so, or of its content."""
        costs = self.files.get(COSTS) if role.endswith(OF_COSTS) else None
        return costs.sha256 if costs else self.content

    @property
    def build(self) -> Build:
        """The part that may differ between builds, without files that nothing is made from."""
        files = {name: file for name, file in self.files.items() if name not in VOLATILE}
        return self.made.model_copy(update={"inputs": self.inputs, "files": files})

    @classmethod
    def read(cls, path: Path) -> "Record":
        """Read the record of a complete folder.

        Raises:
            DamagedError: it is missing, invalid, or another recipe's.
        """
        key = f"{path.parent.parent.name}/{path.parent.name}"
        try:
            record = _RECORD.validate_python(read_json(path))
            is_own = record.identity == record.digest and record.key == key
        except FileNotFoundError:
            raise DamagedError(path, "is not there", "make it with `snakemake --cores all`", "missing-record") from None
        except ValidationError as error:
            raise DamagedError(path, f"is no record ({complaint(error)})", remedy(key), "no-record") from None
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise DamagedError(path, f"is no record ({error})", remedy(key), "no-record") from None
        if not is_own:
            raise DamagedError(path, "holds another recipe than its folder's name", remedy(key), "other-recipe")
        return record

    def write(self, path: Path) -> None:
        """Write the record atomically, which makes the folder complete."""
        files = {name: file.plain() for name, file in self.files.items()}
        write_json(path, {**self.plain(), "inputs": self.inputs, "files": files, "made": self.made.plain()})


_RECORD = TypeAdapter(Record)


def content_of(files: Mapping[str, StoredFile]) -> str:
    """Return the digest of all files that a recipe determines."""
    return digest({name: file.sha256 for name, file in files.items() if name not in VOLATILE})


def remedy(key: str) -> str:
    """Return the remedy for a damaged folder."""
    return f"put the file back, or run `recompose store discard {key}` to make it again"


def complaint(error: ValidationError) -> str:
    """Return the first error of a document."""
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}".removeprefix(": ")


def code_text(code: Mapping[str, str]) -> str:
    """Return the digest of a fingerprint with the number of its modules; empty for none."""
    return f"{short(digest(dict(code)))} ({len(code)} modules)" if code else ""


def flat(document: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of a document under their dotted names."""
    for name, value in document.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value
