"""Acquire: raw data onto this disk, then its index in the common form.

A drawn data set is drawn into ``data/<name>-<digest>``. A public one is unpacked into ``data/<name>``, from archives in
``data/archives`` that are downloaded where they are not there, as are the vectors of its attributes' words. A folder
that somebody put there already is taken as it is, and checked all the same.
"""

from pathlib import Path

from recompose.data.raw import draw_once, unpack
from recompose.params import Section
from recompose.plan import Recipe
from recompose.progress import say
from recompose.tracks.catalogue import load_adapter
from recompose.tracks.gzsl.catalogue import ADAPTERS, PublishedClasses
from recompose.tracks.gzsl.data import xlsa17
from recompose.tracks.gzsl.data.classes import ClassData

MARK = xlsa17.ATTRIBUTES_AND_SPLITS  # tells that a folder is whole


def acquire(recipe: Recipe, section: Section, data: Path, root: Path) -> Path:
    """Bring a data set's raw files onto this disk where they are not there yet; gives their folder.

    Raises:
        DataError, DownloadError: what is there or what came is not the data set.
    """
    adapter = load_adapter(ADAPTERS, recipe.document)
    if not isinstance(section, PublishedClasses):
        draw_once(adapter.draw, recipe, root)
    elif not (root / MARK).exists():
        words = section.word_vectors

        def arrange(unpacked: Path, folder: Path) -> None:
            adapter.arrange(unpacked, folder)
            (unpacked / words.file).rename(folder / f"words{Path(words.file).suffix}")

        unpack(section.archives, data, root, arrange, MARK, xlsa17.LAYOUT, files=[words])
    return root


def write_index(recipe: Recipe, root: Path, folder: Path) -> list[str]:
    """Read and check a data set's raw files, and write its index into a folder; gives the files that it was read from.

    Raises:
        DataError: they are not the data set.
    """
    document = recipe.document
    adapter = load_adapter(ADAPTERS, document)
    data: ClassData = adapter.read(root, document["images"]) if "images" in document else adapter.read(root)
    say(f"{recipe.name}: {len(data.paths)} images read; taking their digests", detail=True)
    data.write(folder)
    return [*xlsa17.annotation_files(root), *data.paths]
