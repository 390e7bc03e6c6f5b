"""A data set's folder, generated, or unpacked from published archives."""

import shutil
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path

from recompose.data.archives import extract
from recompose.data.upstream import verified_download
from recompose.errors import DataError, DownloadError
from recompose.files import Document, fresh_folder
from recompose.params.sections import Archive
from recompose.progress import say
from recompose.recipes.locks import make_once
from recompose.recipes.plan import Recipe

PARTIAL = ".partial"  # after the name of a data set's folder that is being made


def draw_once(draw: Callable[..., None], recipe: Recipe, root: Path) -> None:
    """Generate a data set into its folder, which lies in that of all data, unless it exists: all of it or nothing.

    Args:
        draw: generates a data set in a folder from the values of the recipe's document, such as a ``seed``.
        recipe: of the data set.
        root: the data set's folder.
    """

    def generate() -> None:
        say(f"{root.name}: generating")
        partial = fresh_folder(root.with_name(root.name + PARTIAL))
        draw(partial, **{name: value for name, value in recipe.document.items() if name != "adapter"})
        partial.rename(root)

    make_once(root.parent, root, generate)


def archives_of(recipe: Recipe, *place: str) -> list[Archive]:
    """Return the published files at a place of a recipe's document, with their addresses."""
    digests: Document = recipe.document
    for key in place:
        digests = digests[key]
    urls = recipe.sources["urls"]
    return [Archive(file=file, sha256=sha256, urls=urls[file]) for file, sha256 in digests.items()]


def open_archive(archive: Archive, data: Path) -> AbstractContextManager[Path]:
    """Return a context with the path of a published file in ``data/archives``, downloaded unless it exists.

    Raises:
        DownloadError: no source delivers it, or the existing file is another one.
    """
    return verified_download(data, f"archives/{archive.file}", archive.urls, archive.sha256)


def unpack_once(archive: Archive, data: Path, folder: Path, unpack: Callable[[Path, Path], None]) -> None:
    """Unpack a published archive into a folder below ``data``, unless that exists."""

    def build() -> None:
        with open_archive(archive, data) as path:
            unpack(path, folder)

    make_once(data, folder, build)


def unpack(
    archives: Iterable[Archive],
    data: Path,
    root: Path,
    arrange: Callable[[Path, Path], None],
    mark: str,
    layout: str,
    files: Iterable[Archive] = (),
) -> None:
    """Unpack a data set's archives and arrange them into its folder unless it is complete, all of it or nothing.

    Args:
        archives: the published archives.
        data: the folder that stores archives.
        root: the data set's folder.
        arrange: from a folder of unpacked archives, ``0``, ``1`` and so on, to the data set's folder.
        mark: the file whose presence means that the folder is complete.
        layout: the contents of the folder, for messages.
        files: published files that are not archives; they are copied beside the unpacked ones.

    Raises:
        DataError, DownloadError: the folder exists but is incomplete, or the archives do not hold the data set.
    """

    def build() -> None:
        if root.exists():
            raise DataError(
                f"{root} exists but lacks {mark}. Put a complete data set there ({layout}), "
                "or remove the folder to unpack it from its archives.",
                code="incomplete-folder",
                place=root / mark,
            )
        unpacked = fresh_folder(data / "archives" / f"{root.name}.unpacked")
        try:
            _unpack(archives, files, data, unpacked)
        except DownloadError as error:
            remedy = f"Or put the whole data set, unpacked, at {root}: {layout}."
            raise DownloadError(f"{error} {remedy}", code=error.code, place=error.place) from None
        partial = fresh_folder(root.with_name(root.name + PARTIAL))
        arrange(unpacked, partial)
        partial.rename(root)
        shutil.rmtree(unpacked)

    make_once(data, root / mark, build)


def _unpack(archives: Iterable[Archive], files: Iterable[Archive], data: Path, unpacked: Path) -> None:
    for file in files:
        with open_archive(file, data) as path:
            shutil.copyfile(path, unpacked / file.file)
    for number, archive in enumerate(archives):
        with open_archive(archive, data) as path:
            say(f"{archive.file}: unpacking")
            extract(path, unpacked / str(number))
