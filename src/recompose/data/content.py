"""Data: raw files with an index of them, the digests of the files that were read, and those that changed since."""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from recompose.digest import sha256_files
from recompose.errors import DataError
from recompose.files import read_json, write_json
from recompose.recipes.plan import Recipe

CONTENT = "content.json"  # of an index: raw file -> SHA-256


def make_data(recipe: Recipe, needs: Mapping[str, Path], folder: Path) -> None:
    """Download or generate raw data, check it and index it."""
    root = acquire(recipe, needs["raw"])
    write_content(root, function_of(recipe, "index")(recipe, root, folder), folder)


def acquire(recipe: Recipe, raw: Path) -> Path:
    """Bring a data set's raw files below the folder of raw files if they are absent; return their folder.

    Raises:
        DataError, DownloadError: the files, present or downloaded, are not the data set.
    """
    root: Path = function_of(recipe, "acquire")(recipe, raw)
    return root


def function_of(recipe: Recipe, role: str) -> Callable[..., Any]:
    """Return the function that has a role in the making of a recipe."""
    module, _, name = recipe.made_by[role].partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


def unchanged_raw(recipe: Recipe, index: Path, raw: Path) -> Path:
    """Return the folder of the raw files of a data set, unchanged since they were indexed.

    Args:
        recipe: of the data set.
        index: its folder.
        raw: the folder of raw files.

    Raises:
        DataError: a file was changed.
    """
    root = acquire(recipe, raw)
    if files := changed_files(root, index):
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        message = (
            f"{root} was changed since it was indexed: {files[0]}{more}. "
            "Put the files back; to generate a synthetic data set again, remove its folder."
        )
        raise DataError(message, code="changed-data", place=root / files[0])
    return root


def write_content(root: Path, names: Iterable[str], index: Path) -> None:
    """Write the digests of the raw files that an index was read from into its folder, by their paths below ``root``."""
    write_json(index / CONTENT, _digests(root, sorted(set(names))))


def _digests(root: Path, names: list[str]) -> dict[str, str]:
    """Return the digests of files; the digest of a missing file is empty."""
    present = [name for name in names if (root / name).is_file()]
    digests = dict(zip(present, sha256_files(root / name for name in present), strict=True))
    return {name: digests.get(name, "") for name in names}


def raw_files(index: Path) -> dict[str, str]:
    """Return the raw files that an index was read from: path -> SHA-256."""
    digests: dict[str, str] = read_json(index / CONTENT)
    return digests


def changed_files(root: Path, index: Path) -> list[str]:
    """Return the raw files that have changed since they were indexed."""
    indexed = raw_files(index)
    return [name for name, sha256 in _digests(root, list(indexed)).items() if indexed[name] != sha256]
