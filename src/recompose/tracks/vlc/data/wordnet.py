"""WordNet's files: the release, the required files, and their integrity.

FSC-CLIP's code reads the package ``wordnet`` of NLTK's data (ytaek-oh/fsc-clip at 604015d, ``text_negatives_data.py``),
which is Princeton's release 3.0. It is published as ``wordnet.zip``; Princeton's own archive has the same files in a
folder ``dict``. NLTK's reader also opens ``lexnames`` and ``index.sense``, which are not required here.
"""

import re
import shutil
import tempfile
from codecs import BOM_UTF8
from pathlib import Path

from recompose.data.archives import extract
from recompose.data.paths import find_file
from recompose.errors import DataError

VERSION = "3.0"
PARTS = ("adj", "adv", "noun", "verb")
FILES = (
    "cntlist.rev",
    *(f"{kind}.{part}" for kind in ("index", "data") for part in PARTS),
    *(f"{part}.exc" for part in PARTS),
)
LAYOUT = (
    f"{', '.join(FILES)} of WordNet {VERSION}: packages/corpora/wordnet.zip of github.com/nltk/nltk_data, "
    "or the folder dict of wordnetcode.princeton.edu/3.0/WNdb-3.0.tar.gz"
)
REPLACE = f"Replace it with the published file: {LAYOUT}"
_MOST_BYTES = 2**28


def unpack(archive: Path, folder: Path) -> None:
    """Unpack WordNet's files into a new folder, all of them or nothing.

    Raises:
        DataError: the archive is unsafe, or does not hold this release.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        unpacked, partial = Path(scratch) / "unpacked", Path(scratch) / "files"
        extract(archive, unpacked, max_bytes=_MOST_BYTES)
        source = find_file(unpacked, "data.noun").parent
        partial.mkdir()
        for name in FILES:
            if (source / name).is_file():
                shutil.move(source / name, partial / name)
        check(partial, archive)
        partial.rename(folder)


def check(folder: Path, origin: Path | None = None) -> None:
    """Check that a folder holds the files of this release. Files that refer to each other by position are checked byte
    by byte.

    That detects a copy whose line ends were changed.

    Args:
        folder: the folder of the files.
        origin: the path that messages name; by default the folder.

    Raises:
        DataError: a file is missing or empty, of another release, or its lines are not at the positions of its index.
    """
    origin = origin or folder
    for name in FILES:
        if not (folder / name).is_file() or not (folder / name).stat().st_size:
            raise _error(origin, name, "missing-file", f"is missing or empty. Required files: {LAYOUT}")
    for part in PARTS:
        data = (folder / f"data.{part}").read_bytes()
        release = re.search(rb"WordNet ([0-9.]+) Copyright", data[:4096])
        if release is None or release[1].decode() != VERSION:
            actual = "names no release" if release is None else f"is of release {release[1].decode()}"
            message = f"{actual}, not {VERSION}. Required files: {LAYOUT}"
            raise _error(origin, f"data.{part}", "other-release", message)
        _check_places(origin, part, data, (folder / f"index.{part}").read_bytes().removeprefix(BOM_UTF8))


def _check_places(origin: Path, part: str, data: bytes, index: bytes) -> None:
    """Check that synsets begin at the bytes that they and the index name."""
    places, place = set(), 0
    for line in data.split(b"\n"):
        if line[:8].isdigit():
            if int(line[:8]) != place:
                message = f"was changed: its line at byte {place} states byte {int(line[:8])}. {REPLACE}"
                raise _error(origin, f"data.{part}", "changed-file", message)
            places.add(line[:8])
        place += len(line) + 1
    if not places:
        raise _error(origin, f"data.{part}", "no-items", f"holds no synsets. Required files: {LAYOUT}")
    for number, line in enumerate(index.split(b"\n"), start=1):
        if line.strip() and not line.startswith(b" "):  # the licence is indented
            fields = line.split()
            count = int(fields[2]) if len(fields) > 2 and fields[2].isdigit() else 0
            if not count or len(fields) < count + 6 or not places.issuperset(fields[-count:]):
                message = f"is not a word with its synsets in data.{part}. {REPLACE}"
                raise _error(origin, f"index.{part}, line {number}", "changed-file", message)


def _error(origin: Path, part: str, code: str, fault: str) -> DataError:
    """Return the error of a file of the lexicon."""
    return DataError(f"{origin}: {part} {fault}", code=code, place=f"{origin}: {part}")
