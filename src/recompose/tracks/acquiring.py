"""The acquisition of raw data, and its index in a track's common form.

A synthetic data set is generated in ``data/<name>-<digest>``. A published one is unpacked into ``data/<name>``, from
archives in ``data/archives``, which are downloaded if they are absent. A folder that is already there is used as it is,
and checked all the same.
"""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from recompose.data.raw import draw_once, unpack
from recompose.params.sections import Archive, Section
from recompose.progress import say
from recompose.recipes.plan import Recipe
from recompose.tracks.catalogue import Adapters, load_adapter, read_raw

OUTSIDE_FINGERPRINTS = True  # raw files are compared by their digests


def acquire(recipe: Recipe, section: Section, data: Path, root: Path, adapters: Adapters, layout: str) -> Path:
    """Bring a data set's raw files onto this disk if they are absent; return their folder.

    Args:
        recipe: of the data set.
        section: of params.yaml. That of a published data set may have ``places`` in its archives, for ``arrange`` of
            the adapter, and ``files`` that are no archives, by their names in its folder.
        data: the folder of all data.
        root: the data set's folder.
        adapters: the track's.
        layout: the module of the form of published data sets, with ``MARK``, the file of a complete folder, and
            ``LAYOUT``, its contents.

    Raises:
        DataError, DownloadError: the files, present or downloaded, are not the data set.
    """
    adapter, form = load_adapter(adapters, recipe.document), import_module(layout)
    archives = getattr(section, "archives", None)
    files: Mapping[str, Archive] = getattr(section, "files", {})

    def arrange(unpacked: Path, folder: Path) -> None:
        adapter.arrange(unpacked, folder, **getattr(section, "places", {}))
        for name, archive in files.items():
            (unpacked / archive.file).rename(folder / f"{name}{Path(archive.file).suffix}")

    if archives is None:
        draw_once(adapter.draw, recipe, root)
    elif not (root / form.MARK).exists():
        unpack(archives, data, root, arrange, form.MARK, form.LAYOUT, files=files.values())
    return root


def write_index(recipe: Recipe, root: Path, folder: Path, adapters: Adapters, layout: str) -> list[str]:
    """Write a data set's index into a folder; return the raw files that were read and checked."""
    content = read_raw(adapters, recipe.document, root)
    say(f"{recipe.name}: {len(content.paths)} images read; taking their digests", detail=True)
    content.write(folder)
    adapter = load_adapter(adapters, recipe.document)
    form = adapter if hasattr(adapter, "annotation_files") else import_module(layout)  # a plugin may have its own
    return [*form.annotation_files(root), *content.paths]
