"""The acquisition of raw data, and its index in the common format.

A synthetic data set is generated in ``data/<name>-<digest>``. A published one is unpacked into ``data/<name>``, from
archives in ``data/archives``, which are downloaded if they are absent, as are the vectors of its attributes' words. A
folder that is already there is used as it is, and checked all the same.
"""

from pathlib import Path

from recompose.data.raw import draw_once, unpack
from recompose.params import Section
from recompose.plan import Recipe
from recompose.progress import say
from recompose.tracks.catalogue import Adapters, load_adapter, read_raw
from recompose.tracks.gzsl.catalogue import ADAPTERS, PublishedClasses, Xlsa17Classes
from recompose.tracks.gzsl.data import xlsa17
from recompose.tracks.gzsl.data.classes import ClassData

MARK = xlsa17.ATTRIBUTES_AND_SPLITS  # the file of a complete folder


def acquire(recipe: Recipe, section: Section, data: Path, root: Path, adapters: Adapters = ADAPTERS) -> Path:
    """Bring a data set's raw files onto this disk if they are absent; return their folder.

    Raises:
        DataError, DownloadError: the files, present or downloaded, are not the data set.
    """
    adapter = load_adapter(adapters, recipe.document)
    if not isinstance(section, PublishedClasses):
        draw_once(adapter.draw, recipe, root)
    elif not (root / MARK).exists():
        words = section.word_vectors
        places = {}
        if isinstance(section, Xlsa17Classes):
            places = {"name": section.folder, "images": section.image_folder, "attributes": section.attribute_file}

        def arrange(unpacked: Path, folder: Path) -> None:
            adapter.arrange(unpacked, folder, **places)
            (unpacked / words.file).rename(folder / f"words{Path(words.file).suffix}")

        unpack(section.archives, data, root, arrange, MARK, xlsa17.LAYOUT, files=[words])
    return root


def write_index(recipe: Recipe, root: Path, folder: Path, adapters: Adapters = ADAPTERS) -> list[str]:
    """Write a data set's index into a folder; return the raw files that were read and checked."""
    data: ClassData = read_raw(adapters, recipe.document, root)
    say(f"{recipe.name}: {len(data.paths)} images read; taking their digests", detail=True)
    data.write(folder)
    adapter = load_adapter(adapters, recipe.document)
    annotation_files = getattr(adapter, "annotation_files", xlsa17.annotation_files)  # a plugin may have its own form
    return [*annotation_files(root), *data.paths]
