"""Published files of suites: their addresses, and the places where their contents are read."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from recompose.data.paths import is_inside, is_litter
from recompose.tracks.vlc.data.formats.reading import COCO, FLICKR30K, VISUAL_GENOME

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")


@dataclass(frozen=True)
class Source:
    """A published file of a suite, or an archive of such files.

    Example:
        >>> VISUAL_GENOME_PARTS[0].target("images/VG_100K/7.jpg")
        'images/vg/7.jpg'
    """

    file: str  # its path below data/archives; a pattern of shells where its name differs
    places: Mapping[str, str]  # pattern of names in it, after any folders -> the folder of what its only group matches
    urls: tuple[str, ...] = ()
    terms: str = ""  # what only a person can do; without an address, where it is, too
    unpack: Callable[[Path, Path], None] | None = None  # from the file into a new folder; None: by its suffix

    @property
    def stored(self) -> str:
        """The path of its download below data/archives; where ``file`` is a pattern, its name is the publisher's."""
        return f"{self.file.rpartition('/')[0]}/{self.urls[0].rpartition('/')[2]}" if "*" in self.file else self.file

    @property
    def is_archive(self) -> bool:
        """Return whether it holds files."""
        return not self.file.endswith((".json", ".jsonl", ".csv", ".py", ".txt"))

    def target(self, name: str) -> str | None:
        """Return the place, below the root of raw files, of a file in it; None if no suite reads that file."""
        hidden = any(part.startswith(".") for part in PurePosixPath(name).parts)
        if not is_inside(name) or not name.isprintable() or hidden or is_litter(name):
            return None
        for pattern, folder in self.places.items():
            if match := re.fullmatch(f"(?:.*/)?{pattern}", name, re.IGNORECASE):
                return f"{folder}/{match[1]}"
        return None


def archive(folder: str, address: str, places: Mapping[str, str]) -> Source:
    """Return the source of an archive, which is stored in a folder under its own name."""
    return Source(f"{folder}/{address.partition('?')[0].rpartition('/')[2]}", places, (address,))


def plain_files(suite: str, address: str, *names: str) -> tuple[Source, ...]:
    """Return the sources of a suite's annotation files, which are published one by one below an address."""
    return tuple(Source(f"{suite}/{name}", place_of(suite, name), (f"{address}/{name}",)) for name in names)


def drive_file(suite: str, name: str, identity: str) -> Source:
    """Return the source of an annotation file at Google Drive."""
    return Source(f"{suite}/{name}", place_of(suite, name), (drive(identity),))


def drive(identity: str) -> str:
    """Return the address of a file at Google Drive, without its question about viruses."""
    return f"https://drive.usercontent.google.com/download?id={identity}&export=download&confirm=t"


def github(repository: str, commit: str) -> str:
    """Return the address of a repository's files at a commit."""
    return f"https://github.com/{repository}/raw/{commit}"


def place_of(suite: str, name: str) -> dict[str, str]:
    """Return the place of an annotation file, which keeps its name in the suite's folder."""
    return {f"({re.escape(name)})": suite}


def _coco(name: str) -> Source:
    return Source(f"{name}.zip", {rf"({name}/[^/]+\.jpg)": COCO}, (f"http://images.cocodataset.org/zips/{name}.zip",))


# both parts in one folder
VISUAL_GENOME_PARTS = tuple(
    archive(
        "vg", f"https://cs.stanford.edu/people/rak248/VG_100K_2/{name}", {r"VG_100K(?:_2)?/(\d+\.jpg)": VISUAL_GENOME}
    )
    for name in ("images.zip", "images2.zip")
)
TRAIN2014, VAL2014, VAL2017 = map(_coco, ("train2014", "val2014", "val2017"))
FLICKR30K_IMAGES = Source(
    "flickr30k-images.tar.gz",
    {r"(flickr30k-images/\d+\.jpg)": FLICKR30K},
    terms="on request, by a form at shannon.cs.illinois.edu/DenotationGraph",
)
SWIG_IMAGES = archive(
    "swig",
    "https://swig-data-weights.s3.us-east-2.amazonaws.com/images_512.zip",
    {r"images_512/([^/]+\.jpg)": "images/swig"},
)
