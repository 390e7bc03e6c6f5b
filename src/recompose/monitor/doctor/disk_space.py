"""The disk space that downloads, unpacked data and caches still need, against the space that is free."""

import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from recompose.monitor.doctor.check import FINE, STOPS, WARNING, Check, size
from recompose.monitor.doctor.inputs import ABSENT, OFFERED, InputSource
from recompose.plan import Recipe
from recompose.workspace import Workspace

CACHES = ("grids", "pixels")  # features are small in comparison: two bytes for each component of an embedding
STRIDES = {"layer1": 4, "layer2": 8, "layer3": 16, "layer4": 32}  # of a ResNet: the side of a region in pixels
CHANNELS = 64  # of a ResNet's layer, for each pixel of its stride


@dataclass(frozen=True)
class SpaceNeed:
    """The disk space that some files need."""

    bytes: int  # of the files of known size
    unknown: int  # files of unknown size, such as caches of data that is not there


def cache_needs(work: Workspace, images: Mapping[str, int]) -> SpaceNeed:
    """Return the space that the missing caches need.

    Args:
        work: the workspace.
        images: the number of images of each data set, by its recipe's digest.
    """
    missing = [recipe for kind in CACHES for recipe in work.missing(work.plan.of(kind))]
    sizes = [_cache_bytes(recipe, images.get(recipe.needs["data"].digest)) for recipe in missing]
    return SpaceNeed(sum(count for count in sizes if count is not None), sizes.count(None))


def _cache_bytes(recipe: Recipe, images: int | None) -> int | None:
    """Return the size of a cache of so many images, or None where it is unknown."""
    image_bytes = _image_bytes(recipe)
    return None if images is None or image_bytes is None else images * image_bytes


def _image_bytes(cache: Recipe) -> int | None:
    """Return the bytes of an image: three colours a pixel, or a ResNet's regions in 16 bits; None for given grids."""
    if cache.kind == "pixels":
        return 3 * int(cache.document["size"]) ** 2
    stride = STRIDES.get(cache.document.get("layer", ""))
    return stride and 2 * (int(cache.document["size"]) // stride) ** 2 * CHANNELS * stride


def check_disks(work: Workspace, sources: Iterable[InputSource], caches: SpaceNeed) -> Iterator[Check]:
    """Check that data and caches fit on their disks; where both are on one disk, together."""
    sizes = {file.place: file.bytes for source in sources for file in source.files if file.state in (OFFERED, ABSENT)}
    downloads = SpaceNeed(
        2 * sum(count or 0 for count in sizes.values()),  # archives are kept beside their unpacked contents
        [*sizes.values()].count(None),
    )
    needs = {work.data: (downloads, "data", "download"), work.results: (caches, "caches", "cache")}
    disks: dict[int, list[Path]] = {}
    for folder in needs:
        disks.setdefault(_existing_folder(folder).stat().st_dev, []).append(folder)
    for folders in disks.values():
        needed = sum(needs[folder][0].bytes for folder in folders)
        free = shutil.disk_usage(_existing_folder(folders[0])).free
        parts = [part for folder in folders for part in _describe_need(*needs[folder])]
        finding = f"{size(free)} free; still to write: {', '.join(parts) or 'nothing of known size'}"
        names = " and ".join(f"{folder.name}/" for folder in folders)
        yield _check_disk(f"disk of {names}", needed, free, finding)


def _describe_need(need: SpaceNeed, title: str, unit: str) -> Iterator[str]:
    """Yield the size of the files of known size, and the number of those of unknown size."""
    if need.bytes:
        yield f"{title} {size(need.bytes)}"
    if need.unknown:
        yield f"{need.unknown} {unit}{'s' if need.unknown > 1 else ''} of unknown size"


def _check_disk(subject: str, needed: int, free: int, finding: str) -> Check:
    if needed > free:
        remedy = f"free {size(needed - free)}, or make data/ and results/ links to a larger disk"
        return Check(subject, STOPS, finding, remedy)
    if needed > free / 2:
        return Check(subject, WARNING, finding, "checkpoints and scores need more space: watch the disk")
    return Check(subject, FINE, finding)


def _existing_folder(folder: Path) -> Path:
    """Return a folder, or its nearest parent that exists."""
    return next(candidate for candidate in (folder, *folder.absolute().parents) if candidate.exists())
