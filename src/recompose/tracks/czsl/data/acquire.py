"""Acquire: raw data onto this disk, then its index in the common form.

A synthetic data set is drawn into ``data/<name>-<digest>``. A public one is unpacked into ``data/<name>``, from archives in ``data/archives``
that are downloaded where they are not there. A folder that somebody put there already is taken as it is, and checked all the same.
"""

import importlib
import shutil
from pathlib import Path
from types import ModuleType

from filelock import FileLock

from recompose.data.archives import extract
from recompose.data.download import DownloadError, download
from recompose.drawing.scenes import write_corpus
from recompose.files import fresh_folder
from recompose.params import Archive, Downloaded, ShapesPairs
from recompose.plan import Recipe, module_of
from recompose.progress import say
from recompose.tracks.czsl.data import compositional
from recompose.tracks.czsl.data.content import changed, write_content
from recompose.tracks.czsl.data.layout import METADATA, SPLIT_NAME
from recompose.tracks.czsl.data.location import data_root
from recompose.tracks.czsl.data.pairs import PairData

LAYOUT = f"images/, {METADATA}, {SPLIT_NAME}/"


def acquire(recipe: Recipe, section: ShapesPairs | Downloaded, data: Path, index: Path) -> None:
    """Bring a data set onto this disk where it is not, read and check it, and write its index into a folder.

    Raises:
        DataError, DownloadError, UnsafeArchive: what is there or what came is not the data set.
    """
    root = bring(recipe, section, data)
    module = importlib.import_module(module_of(recipe.name))
    pairs = module.read(root, section.images.model_dump()) if isinstance(section, ShapesPairs) else module.read(root)
    say(f"{recipe.name}: {len(pairs.samples)} images read; taking their digests")
    pairs.write(index)
    write_content(root, pairs, index)


def bring(recipe: Recipe, section: ShapesPairs | Downloaded, data: Path) -> Path:
    """Bring a data set's raw files onto this disk where they are not there yet; gives their folder.

    Raises:
        DataError, DownloadError, UnsafeArchive: what is there or what came is not the data set.
    """
    root = data_root(recipe, section, data)
    module = importlib.import_module(module_of(recipe.name))
    if isinstance(section, ShapesPairs):
        _draw(module, section, root)
    elif not (root / METADATA).exists():
        _unpack(module, section, data, root)
    return root


def _draw(module: ModuleType, section: ShapesPairs, root: Path) -> None:
    if not root.exists():
        images = section.images.model_dump()
        say(f"{root.name}: drawing {sum(images.values())} images")
        partial = fresh_folder(root.with_name(root.name + ".partial"))
        module.draw(partial, seed=section.seed, images=images)
        partial.rename(root)


def _unpack(module: ModuleType, section: Downloaded, data: Path, root: Path) -> None:
    if root.exists():
        raise compositional.DataError(
            f"{root} is there but lacks {METADATA}. Put a whole data set there ({LAYOUT}), "
            "or remove the folder to have it unpacked from its archives."
        )
    archives = data / "archives"
    archives.mkdir(parents=True, exist_ok=True)
    unpacked = fresh_folder(archives / f"{root.name}.unpacked")
    for number, archive in enumerate(section.archives):
        try:
            path = bring_archive(archive, data)
        except DownloadError as error:
            raise DownloadError(f"{error}\nOr put the whole data set, unpacked, at {root}: {LAYOUT}.") from None
        say(f"{archive.file}: unpacking")
        extract(path, unpacked / str(number))
    partial = fresh_folder(root.with_name(root.name + ".partial"))
    module.arrange(unpacked, partial)
    partial.rename(root)
    shutil.rmtree(unpacked)


def bring_archive(archive: Archive, data: Path) -> Path:
    """Download a published file into ``data/archives`` where it is not there yet; gives its path.

    Raises:
        DownloadError: no mirror delivers it, or what is there has another digest.
    """
    path = data / "archives" / archive.file
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(f"{path.name}.lock")):  # archives are shared, and wanted side by side
        download(archive.urls, path, sha256=archive.sha256)
    return path


def check_content(root: Path, pairs: PairData, index: Path) -> None:
    """Compare the files on disk with what was found when they were indexed.

    Raises:
        DataError: they were changed since.
    """
    files = changed(root, pairs, index)
    if files:
        raise compositional.DataError(
            f"{root} was changed since it was indexed: {files[0]}"
            + (f" and {len(files) - 1} more" if len(files) > 1 else "")
            + ". Put the files back; a synthetic data set is drawn anew where its folder is removed."
        )


def acquire_corpus(recipe: Recipe, data: Path) -> Path:
    """Draw the corpus that pretrains the small backbone, where it is not there yet; gives its folder."""
    root = data / recipe.folder
    root.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(root.with_name(f".{root.name}.lock")):  # backbones share it, and are made side by side
        if not root.exists():
            say(f"{root.name}: drawing {recipe.document['scenes']} scenes")
            partial = root.with_name(root.name + ".partial")
            shutil.rmtree(partial, ignore_errors=True)
            write_corpus(partial, scenes=recipe.document["scenes"], seed=recipe.document["seed"])
            partial.rename(root)
    return root
