"""The acquisition of raw data of pairs and of classes, and its index in a track's common form.

A synthetic data set is generated in ``data/<name>-<digest>``. A published one is unpacked into ``data/<name>``, from
archives in ``data/archives``, which are downloaded if they are absent. A folder that is already there is used as it is,
and checked all the same.
"""

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from recompose.data.raw import archives_of, draw_once, unpack
from recompose.progress import say
from recompose.recipes.plan import Recipe


def reader_of(recipe: Recipe) -> ModuleType:
    """Return the module that reads a data set, and generates a synthetic one."""
    return import_module(recipe.made_by["reader"])


def acquire(recipe: Recipe, raw: Path) -> Path:
    """Bring a data set's raw files onto this disk if they are absent; return their folder.

    The document of a published one may have ``places`` in its archives, for ``arrange`` of its reader, and ``files``
    that are no archives, by their names in its folder. The module of its ``layout`` has MARK, the file of a complete
    folder, and LAYOUT, its contents.

    Raises:
        DataError, DownloadError: the files, present or downloaded, are not the data set.
    """
    reader, root, document = reader_of(recipe), recipe.raw_folder(raw), recipe.document
    if "archives" not in document:
        draw_once(reader.draw, recipe, root)
        return root
    form = import_module(recipe.made_by["layout"])
    files = {name: archive for name in document.get("files", {}) for archive in archives_of(recipe, "files", name)}

    def arrange(unpacked: Path, folder: Path) -> None:
        reader.arrange(unpacked, folder, **document.get("places", {}))
        for name, archive in files.items():
            (unpacked / archive.file).rename(folder / f"{name}{Path(archive.file).suffix}")

    if not (root / form.MARK).exists():
        unpack(archives_of(recipe, "archives"), raw, root, arrange, form.MARK, form.LAYOUT, files=files.values())
    return root


def read_raw(recipe: Recipe, root: Path) -> Any:
    """Read and check a data set's raw files: with its numbers of ``images`` if it is generated, with its ``counts`` if
    they are known.

    Raises:
        DataError: the files are not the data set.
    """
    document = recipe.document
    return reader_of(recipe).read(root, *(document[key] for key in ("images", "counts") if key in document))


def index(recipe: Recipe, root: Path, folder: Path) -> list[str]:
    """Write a data set's index into a folder; return the raw files that were read and checked."""
    content = read_raw(recipe, root)
    say(f"{recipe.name}: {len(content.paths)} images read; taking their digests", detail=True)
    content.write(folder)
    reader = reader_of(recipe)
    # a plugin may have its own
    form = reader if hasattr(reader, "annotation_files") else import_module(recipe.made_by["layout"])
    return [*form.annotation_files(root), *content.paths]
