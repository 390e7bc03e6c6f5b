"""A data set's folder, drawn, or unpacked from published archives."""

import shutil
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path

from recompose.data.archives import extract
from recompose.data.upstream import verified_download
from recompose.errors import DataError, DownloadError
from recompose.files import fresh_folder
from recompose.params import Archive
from recompose.plan import Recipe
from recompose.progress import say


def draw_once(draw: Callable[..., None], recipe: Recipe, root: Path) -> None:
    """Draw a data set into its folder where it is not there yet, all of it or nothing.

    Args:
        draw: from a folder and what the recipe's document says, such as a ``seed``, to a data set in that folder.
        recipe: of the data set.
        root: the data set's folder.
    """
    if not root.exists():
        say(f"{root.name}: drawing")
        partial = fresh_folder(root.with_name(root.name + ".partial"))
        draw(partial, **{name: value for name, value in recipe.document.items() if name != "adapter"})
        partial.rename(root)


def brought_archive(archive: Archive, data: Path) -> AbstractContextManager[Path]:
    """A published file in ``data/archives`` for the block that reads it, downloaded where it is not there yet.

    Raises:
        DownloadError: no mirror delivers it, or what is there is another file.
    """
    return verified_download(data, f"archives/{archive.file}", archive.urls, archive.sha256)


def unpack(
    archives: Iterable[Archive],
    data: Path,
    root: Path,
    arrange: Callable[[Path, Path], None],
    mark: str,
    layout: str,
    files: Iterable[Archive] = (),
) -> None:
    """Unpack a data set's archives and arrange them into its folder, all of it or nothing.

    Args:
        archives: what it is published as.
        data: where archives are kept.
        root: the data set's folder.
        arrange: from a folder of unpacked archives, ``0``, ``1`` and so on, to the data set's folder.
        mark: the file that tells that the folder is whole.
        layout: what the folder holds, for messages.
        files: what is published beside the archives and is none; it lies beside the unpacked ones.

    Raises:
        DataError, DownloadError: the folder is there but not whole, or what came is not the data set.
    """
    if root.exists():
        raise DataError(
            f"{root} is there but lacks {mark}. Put a whole data set there ({layout}), "
            "or remove the folder to have it unpacked from its archives."
        )
    unpacked = fresh_folder(data / "archives" / f"{root.name}.unpacked")
    try:
        for file in files:
            with brought_archive(file, data) as path:
                shutil.copyfile(path, unpacked / file.file)
        for number, archive in enumerate(archives):
            with brought_archive(archive, data) as path:
                say(f"{archive.file}: unpacking")
                extract(path, unpacked / str(number))
    except DownloadError as error:
        raise DownloadError(f"{error}\nOr put the whole data set, unpacked, at {root}: {layout}.") from None
    partial = fresh_folder(root.with_name(root.name + ".partial"))
    arrange(unpacked, partial)
    partial.rename(root)
    shutil.rmtree(unpacked)
