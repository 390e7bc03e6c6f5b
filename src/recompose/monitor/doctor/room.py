"""Whether the disk holds what is still to be written: downloads, what is unpacked of them, and caches."""

import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from recompose.engine import count_of
from recompose.monitor.arrays import layout
from recompose.monitor.doctor.check import FINE, STOPS, WARNING, Check, size
from recompose.monitor.doctor.inputs import ABSENT, OFFERED, Source
from recompose.plan import Recipe
from recompose.workspace import Workspace

CACHES = ("features", "grids", "pixels")


@dataclass(frozen=True)
class Room:
    """What one part of what is to be written takes, as far as that is known."""

    known: int  # bytes
    unknown: int  # how many of it nobody knows the size of, as of caches whose data is not there


def caches(work: Workspace, images: Mapping[str, int]) -> Room:
    """The caches that are still to be written.

    Args:
        work: the workspace.
        images: of a data set, by its recipe's digest.
    """
    missing = [recipe for kind in CACHES for recipe in work.missing(work.plan.of(kind))]
    sizes = [_bytes(recipe, images.get(_data_of(recipe).digest)) for recipe in missing]
    return Room(sum(each for each in sizes if each is not None), sizes.count(None))


def _data_of(cache: Recipe) -> Recipe:
    """The data set whose images a cache is of; features are of its pixels."""
    return cache.needs["data"] if "data" in cache.needs else _data_of(cache.needs["pixels"])


def _bytes(recipe: Recipe, images: int | None) -> int | None:
    """What a cache of so many images takes; None where that is not known."""
    known = layout(recipe)
    return None if images is None or known is None else images * known.image_bytes


def disk(work: Workspace, sources: Iterable[Source], room: Room) -> Iterator[Check]:
    """Whether data and caches fit; where both lie on one disk, together."""
    asked = {file.place: file.bytes for source in sources for file in source.files if file.state in (OFFERED, ABSENT)}
    downloads = Room(
        2 * sum(count or 0 for count in asked.values()),  # what is unpacked takes as much again, and archives are kept
        [*asked.values()].count(None),
    )
    needs = {work.data: (downloads, "data", "downloads"), work.results: (room, "caches", "caches")}
    disks: dict[int, list[Path]] = {}
    for folder in needs:
        disks.setdefault(_existing(folder).stat().st_dev, []).append(folder)
    for folders in disks.values():
        needed = sum(needs[folder][0].known for folder in folders)
        free = shutil.disk_usage(_existing(folders[0])).free
        parts = [part for folder in folders for part in _parts(*needs[folder])]
        found = f"{size(free)} free; still to come: {', '.join(parts) or 'nothing of known size'}"
        named = " and ".join(f"{folder.name}/" for folder in folders)
        yield _disk(f"disk of {named}", needed, free, found)


def _parts(room: Room, what: str, several: str) -> Iterator[str]:
    """What is still to come, and of how much nobody knows the size."""
    if room.known:
        yield f"{what} {size(room.known)}"
    if room.unknown:
        yield f"{count_of(room.unknown, several)} of unknown size"


def _disk(what: str, needed: int, free: int, found: str) -> Check:
    if needed > free:
        remedy = f"{size(needed - free)} are lacking: make room, or let data/ and results/ be links to a larger disk"
        return Check(what, STOPS, found, remedy)
    if needed > free / 2:
        return Check(what, WARNING, found, "checkpoints and scores come on top: watch it")
    return Check(what, FINE, found)


def _existing(folder: Path) -> Path:
    """A folder, or the nearest above it that there is."""
    return next(each for each in (folder, *folder.absolute().parents) if each.exists())
