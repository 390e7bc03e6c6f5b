"""Acquisition of raw data, and its index in the common form.

Synthetic data is generated in ``data/<name>-<digest>``. A published corpus is unpacked into ``data/<name>`` from
archives in ``data/archives``, which are downloaded unless they exist, with a spaCy model and WordNet's files beside its
images. A drawn corpus of a plugin has parses and a lexicon of its own, or is parsed as published ones are. Published
suites lie in one folder, in which they share images. Their files are added by hand, except the
archives that params.yaml names. An existing folder is used as it is, and checked all the same.
"""

import shutil
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from types import SimpleNamespace

from recompose.data.archives import extract
from recompose.data.paths import files_below
from recompose.data.raw import archives_of, draw_once, open_archive, unpack, unpack_once
from recompose.errors import DataError
from recompose.files import write_atomically, write_json
from recompose.progress import say
from recompose.recipes.plan import Recipe
from recompose.tracks.acquiring import reader_of
from recompose.tracks.vlc.data import analysis, wordnet
from recompose.tracks.vlc.data.captions import DOCS, Captions, write_docs
from recompose.tracks.vlc.data.formats.sources import ARCHIVES
from recompose.tracks.vlc.data.formats.suite_files import UNLIMITED, Limit
from recompose.tracks.vlc.data.index import write_suites
from recompose.tracks.vlc.data.suite import Suite, files
from recompose.tracks.vlc.suites.catalogue import SUBTASKS, Adapters, layout_of, missing_subtasks, read_suite

MODEL, LEXICON = "model", "lexicon"  # folders of a corpus
UNSETTLED = ("svo_probes/*", "vl_checklist/*/hake")  # sub-tasks whose items depend on the images that still exist
ITEMS = {  # data sets of images to classify or to retrieve are not checked
    task.name: task.items for task in SUBTASKS.values() if task.items and task.query not in ("classes", "retrieval")
}


def acquire_corpus(recipe: Recipe, raw: Path) -> Path:
    """Acquire the raw files of a published corpus that are missing on this disk, and return their folder.

    Raises:
        DataError, DownloadError: the existing or downloaded files are not the data.
    """
    reader, root, published = reader_of(recipe), recipe.raw_folder(raw), archives_of(recipe, "archives")
    if not (mark := root / reader.MARK).exists():
        archives = [archive for archive in published if archive.file.endswith(ARCHIVES)]
        lists = [archive for archive in published if archive not in archives]
        if not published:
            raise DataError(f"{mark} is absent. Required files: {reader.LAYOUT}", code="missing-file", place=mark)
        unpack(archives, raw, root, reader.arrange, reader.MARK, reader.LAYOUT, files=lists)
    _unpack_parser(recipe, raw, root)
    return root


def acquire_drawn(recipe: Recipe, raw: Path) -> Path:
    """Generate a corpus or suites unless they exist, and return their folder. Where the document of a corpus names what
    parses its captions, that is unpacked beside it.
    """
    reader, root = reader_of(recipe), recipe.raw_folder(raw)
    draw_once(lambda root, *, model=None, lexicon=None, **values: reader.draw(root, **values), recipe, root)
    if "model" in recipe.document:
        _unpack_parser(recipe, raw, root)
    return root


def _unpack_parser(recipe: Recipe, raw: Path, root: Path) -> None:
    """Unpack the spaCy model and WordNet's files beside a corpus, unless they are there."""
    for place, unpack_files in ((MODEL, analysis.unpack_model), (LEXICON, wordnet.unpack)):
        (archive,) = archives_of(recipe, place)
        unpack_once(archive, raw, root / place, unpack_files)


def acquire_suite(recipe: Recipe, raw: Path) -> Path:
    """Store a published suite's downloads: archives hold its own images, other files are its annotations. Return the
    folder of all suites.

    Raises:
        DataError, DownloadError: the existing or downloaded files are not the data.
    """
    name, suite, root = recipe.name, recipe.document["folder"], recipe.raw_folder(raw)
    folder, images, archives = root / suite, root / "images" / suite, archives_of(recipe, "archives")
    if sum(archive.file.endswith(ARCHIVES) for archive in archives) > 1:
        message = f"only one archive of images can be unpacked into {images}; add the others by hand"
        raise DataError(f"{name}: {message}", code="several-archives", place=name)
    for archive in archives:
        place = folder / archive.file
        if archive.file.endswith(ARCHIVES):
            unpack_once(archive, raw, images, extract)
        elif not place.exists():
            with open_archive(archive, raw) as path:
                write_atomically(place, partial(shutil.copyfile, path))
    if not folder.is_dir():
        message = f"{folder} is absent. Required files below {root}: {_layout(recipe)}"
        raise DataError(f"{name}: {message}", code="missing-file", place=folder)
    return root


def index_suites(recipe: Recipe, root: Path, folder: Path) -> list[str]:
    """Read and check synthetic suites, write their index, and return the files that it was read from."""
    suites = list(reader_of(recipe).read(root))
    write_suites(suites, folder)
    images = list(files(suites))
    return [*_other_files(root, images), *images]


def index_suite(recipe: Recipe, root: Path, folder: Path) -> list[str]:
    """Read and check a published suite, write its index, and return the files that it was read from.

    Raises:
        DataError: the files are not the data.
    """
    suites = [_read_suite(recipe, root)]
    write_suites(suites, folder)
    return [*_files_below(root / recipe.document["folder"], root), *files(suites)]


def index_corpus(recipe: Recipe, root: Path, folder: Path) -> list[str]:
    """Read and check a corpus, write its index, and return the files that it was read from.

    Raises:
        DataError: the files are not the data.
    """
    reader = reader_of(recipe)
    corpus: Captions = reader.read(root)
    say(f"{recipe.name}: {len(corpus.paths)} captions read", detail=True)
    corpus.write(folder)
    counts = {"captions": len(corpus.captions), "images": len(set(corpus.paths))}
    write_json(folder / "statistics.json", counts)
    _write_parses(recipe.name, corpus, root, folder)
    if not hasattr(reader, "annotation_files"):  # it is drawn: all files are the corpus
        return [*_other_files(root, corpus.paths), *corpus.paths]
    tools = [*_files_below(root / MODEL, root), *_files_below(root / LEXICON, root)]
    return [*reader.annotation_files(root), *tools, *corpus.paths]


def _write_parses(name: str, corpus: Captions, root: Path, folder: Path) -> None:
    """Write the parses of captions and the lexicon: a drawn corpus brings its own, unless a model is beside it.

    Raises:
        DataError: it brings none, or the lexicon beside a model is not WordNet.
    """
    is_parsed_here = (root / MODEL).exists()
    for file in (LEXICON,) if is_parsed_here else (DOCS, LEXICON):
        if not (root / file).exists():
            message = f"{root / file} is absent: `draw` writes it, or the section derives from ParsedCorpus"
            raise DataError(f"{name}: {message}", code="missing-file", place=root / file)
    shutil.copytree(root / LEXICON, folder / LEXICON, dirs_exist_ok=True)
    if not is_parsed_here:
        shutil.copyfile(root / DOCS, folder / DOCS)
        return
    wordnet.check(root / LEXICON)
    write_docs(list(analysis.annotate(corpus.captions, root / MODEL)), folder)


def _read_suite(recipe: Recipe, root: Path) -> Suite:
    """Read a published suite, and check it: its images, too, before any is encoded.

    Raises:
        DataError: a file or an image is absent, or the suite has other numbers of items than the published one.
    """
    form, name, place = (recipe.document[key] for key in ("adapter", "suite", "folder"))
    limit = Limit(recipe.document.get("items"), recipe.document.get("items_seed"))
    suite = read_suite(form, root, name, place, limit, _own_form(recipe))
    check_counts(suite, limit)
    if lacking := missing_subtasks(suite):
        say(f"{suite.name} lacks {', '.join(lacking)}: means over them have no number")
    images = list(files([suite]))
    if absent := [path for path in images if not (root / path).is_file()]:
        raise DataError(
            f"{name}: {len(absent)} of {len(images)} images are not below {root}, the first is {absent[0]}. Required "
            f"files: {_layout(recipe)}. Remove {name} from the profile's suites, or evaluate without these "
            "images: recompose evaluate --skip-broken",
            code="missing-image",
            place=root / absent[0],
        )
    return suite


def check_counts(suite: Suite, limit: Limit = UNLIMITED) -> None:
    """Check the number of items of each sub-task of a published suite whose number is published, up to a limit.

    Raises:
        DataError: a sub-task has more items or fewer.
    """
    if suite.form:
        return
    for name, task in suite.tasks.items():
        published = ITEMS.get(name)
        if published is None or any(fnmatchcase(name, pattern) for pattern in UNSETTLED):
            continue
        expected = min(published, limit.items or published)
        if task.count != expected:
            raise DataError(
                f"{name}: {task.count} items instead of {expected}, of the {published} that are published; "
                "restore the published annotation files and all images",
                code="wrong-count",
                place=name,
            )


def _layout(recipe: Recipe) -> str:
    """Return the files that a suite requires, below the root of raw files."""
    return layout_of(recipe.document["adapter"], recipe.document["folder"], _own_form(recipe))


def _own_form(recipe: Recipe) -> Adapters:
    """Return the entry of a plugin's form by the recipe of a suite, for what reads suites."""
    subtasks = recipe.document.get("subtasks", {})
    rules = {f"{recipe.document['adapter']}/{task}": tuple(rule) for task, rule in subtasks.items()}
    module = recipe.made_by["reader"]
    return {recipe.document["adapter"]: SimpleNamespace(module=module, kind="suites", synthetic=False, rules=rules)}


def _files_below(folder: Path, root: Path) -> list[str]:
    """Return the files below a folder, by their paths below the root."""
    return [path.relative_to(root).as_posix() for path in files_below(folder)]


def _other_files(root: Path, images: tuple[str, ...] | list[str]) -> list[str]:
    """Return the files of a synthetic replicate that are no images."""
    image_paths = set(images)
    return [path for path in _files_below(root, root) if path not in image_paths]
