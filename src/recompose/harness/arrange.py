"""Published suites, downloaded, unpacked, and put where they are read.

Files that exist are never replaced, moved or removed. What an archive holds is unpacked beside its place and renamed
into it, so that a folder appears whole or not at all; an existing folder gets the files that it lacks. Files that are
unpacked somewhere else are linked: their folder stays as it is, and needs no more room. A hard link also outlives that
folder; across disks, where there is none, the link is symbolic.
"""

import errno
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from urllib.parse import urlsplit

from recompose.console import first
from recompose.data.archives import extract
from recompose.data.paths import files_below, spelling
from recompose.data.upstream import verified_download
from recompose.errors import DataError, DownloadError
from recompose.files import fresh_folder, link, write_atomically
from recompose.harness.survey import survey
from recompose.progress import say
from recompose.recipes.locks import lock_below
from recompose.tracks.vlc.data.formats.sources import ARCHIVES, Source
from recompose.tracks.vlc.data.suite import files
from recompose.tracks.vlc.suites.catalogue import format_of, read_suite

WORK = ".arranging"  # below the root of raw files, while an archive is unpacked
IMAGES = "images/"
STORED = "archives"  # below data
SHOWN = 6  # names of files in a line


@dataclass(frozen=True)
class Arrangement:
    """The state of a suite's files: complete, or lines about what is lacking and where it is."""

    is_complete: bool
    lines: tuple[str, ...]


def fetch(form: str, root: Path, data: Path) -> Arrangement:
    """Download what a published suite lacks and its authors publish at an address, and put it where it is read.

    Args:
        form: the suite.
        root: the root of raw files.
        data: the folder of all raw inputs: downloads are stored in its ``archives``, and recorded in the lock beside.

    Raises:
        DataError: there is no such suite, or a file is damaged.
    """
    _arrange(form, root, data, None)
    failures: dict[str, str] = {}  # by servers, which are not asked again
    for phase in _phases(form):
        absent = _absent(form, root)
        for source in _needed(phase, root, absent):
            server = urlsplit(source.urls[0]).netloc if source.urls else ""
            if server and server not in failures:
                try:
                    with verified_download(data, f"{STORED}/{source.stored}", source.urls, None) as path:
                        _place(path, source.stored, source, root, data, absent)
                except DownloadError as error:
                    failures[server] = str(error)
        if failures:
            break  # no images without annotations
    return _examine(form, root, data, [*failures.values()])


def arrange(form: str, root: Path, data: Path, folder: Path | None = None) -> Arrangement:
    """Put a published suite's files where they are read, from archives and unpacked files on this machine.

    Args:
        form: the suite.
        root: the root of raw files; files unpacked at another place of the suite's folders are found there.
        data: the folder of all raw inputs, whose ``archives`` are searched.
        folder: another folder to search, for archives and for unpacked files.

    Raises:
        DataError: there is no such suite or folder, or an archive is damaged, hostile or of another suite.
        DownloadError: an archive is not the recorded one.
    """
    if folder and not folder.is_dir():
        raise DataError(f"{folder} is no folder; name that of the suite's files", code="missing-folder", place=folder)
    _arrange(form, root, data, folder)
    return _examine(form, root, data)


def _arrange(form: str, root: Path, data: Path, folder: Path | None) -> None:
    for phase in _phases(form):
        absent = _absent(form, root)
        if _link_unpacked(phase, form, root, data, folder, absent):
            absent = _absent(form, root)
        for source in _needed(phase, root, absent):
            for path, name in _stored(source, form, root, data, folder):
                if _is_used(source, name, absent):
                    is_recorded = path.is_relative_to(data / STORED)  # others are the user's own
                    stored = path.relative_to(data).as_posix() if is_recorded else ""
                    with verified_download(data, stored, (), None) if is_recorded else nullcontext():
                        _place(path, name, source, root, data, absent)


def _phases(form: str) -> list[list[Source]]:
    """Return a suite's sources: first those of annotations, which name the images that are needed."""
    sources = format_of(form).SOURCES
    return [[source for source in sources if _only_images(source) is images] for images in (False, True)]


def _only_images(source: Source) -> bool:
    return all(folder.startswith(IMAGES) for folder in source.places.values())


def _absent(form: str, root: Path) -> list[str] | None:
    """Return the images that a suite lacks; None if it cannot be read yet."""
    try:
        return [path for path in files([read_suite(form, root)]) if not (root / path).is_file()]
    except DataError:
        return None


def _needed(sources: Iterable[Source], root: Path, absent: list[str] | None) -> list[Source]:
    """Return the sources of what a suite lacks, among which are these images; None: it cannot be read."""

    def is_needed(source: Source) -> bool:
        if not source.is_archive:
            target = source.target(source.file)
            return target is None or not (root / target).exists()
        if absent is None:
            return not (_only_images(source) and all((root / folder).is_dir() for folder in source.places.values()))
        return any(path.startswith(f"{folder}/") for path in absent for folder in source.places.values())

    return [source for source in sources if is_needed(source)]


def _is_used(source: Source, name: str, absent: list[str] | None) -> bool:
    """Return whether an image is absent that lies in an archive of this name, where its place follows from that."""
    inside = source.target(f"{_stem(name)}/-")
    return inside is None or absent is None or any(path.startswith(inside[:-1]) for path in absent)


def _stem(name: str) -> str:
    """Return the name of the folder for an archive's content; that of another file."""
    return next((name[: -len(end)] for end in (*ARCHIVES, ".parquet") if name.lower().endswith(end)), name)


def _stored(source: Source, form: str, root: Path, data: Path, folder: Path | None) -> Iterator[tuple[Path, str]]:
    """Yield the files of a source on this machine, with their names in the folder that was searched."""
    inner, last = source.file.partition("/")[2], source.file.rpartition("/")[2]
    searched = [(data / STORED, source.file), (root / form, inner)]
    if folder:
        names = [source.file, inner, last]
        searched += [(folder, name) for name in names if not name.startswith("*")]  # not all archives of a folder
    paths = {path: base for base, name in searched if name for path in base.glob(name) if path.is_file()}
    yield from ((path, path.relative_to(base).as_posix()) for path, base in sorted(paths.items()))


@contextmanager
def _staged(root: Path, data: Path) -> Iterator[Path]:
    """Yield a new folder, whose ``staged`` is added to the root at the end; one process does so at a time."""
    with lock_below(data, "arrange"):
        work = fresh_folder(root / WORK)
        try:
            yield work
            _add(work / "staged", root)
        finally:
            shutil.rmtree(work)


def _place(path: Path, name: str, source: Source, root: Path, data: Path, absent: list[str] | None) -> None:
    """Unpack a file of a source, and put its content where it is read."""
    say(f"{path}: unpacking")
    with _staged(root, data) as work:
        unpacked, staged = work / "unpacked", work / "staged"
        _unpack(path, unpacked / _stem(name), source)
        for inner in [file for file in files_below(unpacked) if file.name.lower().endswith(ARCHIVES)]:
            if not (there := inner.with_name(_stem(inner.name))).exists():
                extract(inner, there)
        for file, target in _targets(files_below(unpacked), unpacked, source, absent):
            if (staged / target).exists():
                raise DataError(f"{path} holds {target} twice", code="duplicate-name", place=path)
            (staged / target).parent.mkdir(parents=True, exist_ok=True)
            file.rename(staged / target)
        if not staged.exists():
            message = f"{path} holds no file that matches {', '.join(source.places)}; get the published one"
            raise DataError(message, code="missing-member", place=path)


def _unpack(path: Path, folder: Path, source: Source) -> None:
    folder.parent.mkdir(parents=True)
    if source.unpack:
        source.unpack(path, folder)
    elif path.name.lower().endswith(ARCHIVES):
        extract(path, folder)
    else:
        shutil.copyfile(path, folder)


def _targets(
    found: Iterable[Path], folder: Path, source: Source, absent: list[str] | None
) -> Iterator[tuple[Path, str]]:
    """Yield the files below a folder that a source has places for, with these: that of an absent file, or of the source
    itself, which is spelled in another way, unless a file there is spelled as it is.
    """
    targets = {path: source.target(path.relative_to(folder).as_posix()) for path in found}
    exact, listed = {*targets.values()}, {spelling(path): path for path in (source.file, *(absent or ()))}
    for path, target in targets.items():
        if target:
            place = listed.get(spelling(target), target)
            yield path, target if place in exact else place


def _link_unpacked(
    sources: Sequence[Source], form: str, root: Path, data: Path, folder: Path | None, absent: list[str] | None
) -> bool:
    """Link the files that somebody has unpacked, in a folder of the suite or in another one; return whether any was."""
    files_in, links = cache(files_below), dict[str, Path]()
    for source in sources:
        heaps = [*filter(None, [folder]), root / form, *(root / place for place in source.places.values())]
        for heap in dict.fromkeys(heaps):
            for file, target in _targets(files_in(heap), heap, source, absent):
                if not os.path.lexists(root / target):
                    links.setdefault(target, file)
    if links:
        with _staged(root, data) as work:
            for target, file in links.items():
                (work / "staged" / target).parent.mkdir(parents=True, exist_ok=True)
                link(file, work / "staged" / target)
    return bool(links)


def _add(staged: Path, target: Path) -> None:
    """Move what the target lacks into it: a folder whole where it is absent, otherwise the files that are."""
    if not os.path.lexists(target):
        try:
            staged.rename(target)
            return
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
        if staged.is_file():  # a folder of the place is a link to another disk
            write_atomically(target, partial(shutil.copyfile, staged))
            return
        target.mkdir()
    if staged.is_dir():
        for child in sorted(staged.iterdir()):
            _add(child, target / child.name)


def _examine(form: str, root: Path, data: Path, failures: Sequence[str] = ()) -> Arrangement:
    """Return whether a suite is complete, with lines about what it lacks."""
    surveyed = survey(form, root)
    if surveyed.state == "complete":
        return Arrangement(True, (*failures, f"{form} can be evaluated in {root}: {surveyed.finding}"))
    remedies: dict[str, list[str]] = {}
    for source in _needed(format_of(form).SOURCES, root, _absent(form, root)):
        remedies.setdefault(source.terms or f"`recompose data fetch {form}` downloads it", []).append(source.file)
    lines = [surveyed.line, *(f"{', '.join(first(names, SHOWN))}: {remedy}" for remedy, names in remedies.items())]
    last = f"put what you have into {data / STORED} under these names; then `recompose data arrange {form}`"
    return Arrangement(False, (*failures, *lines, last))
