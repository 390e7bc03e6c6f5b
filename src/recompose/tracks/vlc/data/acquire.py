"""Acquire: raw data onto this disk, then its index in the common form.

Drawn data is drawn into ``data/<name>-<digest>``. A published corpus is unpacked into ``data/<name>``, from archives in
``data/archives`` that are downloaded where they are not there, with a spaCy model and WordNet's files beside its
images. Published suites lie in one folder, in which they share images, and are put there by hand but for what archives
params.yaml names. A folder that somebody put there already is taken as it is, and checked all the same.
"""

import importlib
import shutil
from functools import partial
from pathlib import Path
from types import ModuleType

from recompose.data.archives import extract
from recompose.data.raw import brought_archive, draw_once, unpack
from recompose.errors import DataError
from recompose.files import write_atomically, write_json
from recompose.params import Section
from recompose.plan import Recipe
from recompose.progress import say
from recompose.tracks.vlc.catalogue import ADAPTERS, Corpus, PublishedSuite
from recompose.tracks.vlc.data import analysis, wordnet
from recompose.tracks.vlc.data.captions import DOCS, Captions, write_docs
from recompose.tracks.vlc.data.counts import check_counts
from recompose.tracks.vlc.data.index import write_suites
from recompose.tracks.vlc.data.suite import Suite, files

MODEL, LEXICON = "model", "lexicon"  # folders of a corpus
_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")


def _adapter(recipe: Recipe) -> ModuleType:
    return importlib.import_module(ADAPTERS[recipe.document["adapter"]].module)


def acquire(recipe: Recipe, section: Section, data: Path, root: Path) -> Path:
    """Bring raw files onto this disk where they are not there yet; gives their folder.

    Raises:
        DataError, DownloadError: what is there or what came is not the data.
    """
    adapter = _adapter(recipe)
    if isinstance(section, Corpus):
        _bring_corpus(adapter, section, data, root)
    elif isinstance(section, PublishedSuite):
        _bring_suite(adapter, recipe.name, section, data, root)
    else:
        draw_once(adapter.draw, recipe, root)
    return root


def _bring_corpus(adapter: ModuleType, section: Corpus, data: Path, root: Path) -> None:
    if not (root / adapter.MARK).exists():
        archives = [archive for archive in section.archives if archive.file.endswith(_ARCHIVES)]
        lists = [archive for archive in section.archives if archive not in archives]
        if not section.archives:
            raise DataError(f"{root / adapter.MARK} is absent. What has to be there: {adapter.LAYOUT}")
        unpack(archives, data, root, adapter.arrange, adapter.MARK, adapter.LAYOUT, files=lists)
    if not (root / MODEL).exists():
        with brought_archive(section.model, data) as path:
            analysis.unpack_model(path, root / MODEL)
    if not (root / LEXICON).exists():
        with brought_archive(section.lexicon, data) as path:
            wordnet.unpack(path, root / LEXICON)


def _bring_suite(adapter: ModuleType, name: str, section: PublishedSuite, data: Path, root: Path) -> None:
    """Put what is downloaded of a suite in its place: archives are of its own images, other files its annotations."""
    folder, images = root / adapter.NAME, root / "images" / adapter.NAME
    if sum(archive.file.endswith(_ARCHIVES) for archive in section.archives) > 1:
        raise DataError(f"{name}: one archive of images can be unpacked, into {images}: put the others there yourself")
    for archive in section.archives:
        place = folder / archive.file
        if archive.file.endswith(_ARCHIVES):
            if not images.exists():
                with brought_archive(archive, data) as path:
                    extract(path, images)
        elif not place.exists():
            with brought_archive(archive, data) as path:
                write_atomically(place, partial(shutil.copyfile, path))
    if not folder.is_dir():
        raise DataError(f"{name}: {folder} is absent. What has to be there, below {root}: {adapter.LAYOUT}")


def write_index(recipe: Recipe, root: Path, folder: Path) -> list[str]:
    """Read and check raw files, and write their index into a folder; gives the files that it was read from.

    Raises:
        DataError: they are not the data.
    """
    adapter, entry = _adapter(recipe), ADAPTERS[recipe.document["adapter"]]
    if entry.kind == "suites":
        return _write_suites(adapter, entry.synthetic, root, folder)
    corpus: Captions = adapter.read(root)
    say(f"{recipe.name}: {len(corpus.paths)} captions read", detail=True)
    corpus.write(folder)
    counts = {"captions": len(corpus.captions), "images": len(set(corpus.paths))}
    write_json(folder / "statistics.json", counts)
    shutil.copytree(root / LEXICON, folder / LEXICON, dirs_exist_ok=True)
    if entry.synthetic:
        shutil.copyfile(root / DOCS, folder / DOCS)
        return [*_beside_images(root, corpus.paths), *corpus.paths]
    wordnet.check(root / LEXICON)
    write_docs(list(analysis.annotate(corpus.captions, root / MODEL)), folder)
    tools = [*_below(root / MODEL, root), *_below(root / LEXICON, root)]
    return [*adapter.annotation_files(root), *tools, *corpus.paths]


def _write_suites(adapter: ModuleType, drawn: bool, root: Path, folder: Path) -> list[str]:
    if not drawn:
        suite: Suite = adapter.read(root)
        check_counts(suite)
        images = list(files([suite]))
        _check_images(suite.name, images, root, adapter.LAYOUT)
        write_suites([suite], folder)
        return [*_below(root / suite.name, root), *images]
    suites: list[Suite] = list(adapter.read(root))
    write_suites(suites, folder)
    images = list(files(suites))
    return [*_beside_images(root, images), *images]


def _check_images(suite: str, images: list[str], root: Path, layout: str) -> None:
    """See to it that all images are there, before anything is encoded.

    Raises:
        DataError: one is not.
    """
    absent = [path for path in images if not (root / path).is_file()]
    if absent:
        raise DataError(
            f"{suite}: {len(absent)} of {len(images)} images are not below {root}, the first is {absent[0]}. What has "
            f"to be there: {layout}. Leave {suite} out of the profile's suites, or evaluate without these images: "
            "recompose evaluate --skip-broken"
        )


def _below(folder: Path, root: Path) -> list[str]:
    """The files below a folder, by their paths below the root."""
    return sorted(path.relative_to(root).as_posix() for path in folder.rglob("*") if path.is_file())


def _beside_images(root: Path, images: tuple[str, ...] | list[str]) -> list[str]:
    """The files of a drawn world that are no images of it."""
    shown = set(images)
    return [path for path in _below(root, root) if path not in shown]
