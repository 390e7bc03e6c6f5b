"""WordNet's files: the release, and the required files.

FSC-CLIP's code reads the package ``wordnet`` of NLTK's data (ytaek-oh/fsc-clip at 604015d, ``text_negatives_data.py``),
which is Princeton's release 3.0. It is published as ``wordnet.zip``; Princeton's own archive has the same files in a
folder ``dict``. NLTK's reader also opens ``lexnames`` and ``index.sense``, which are not required here.
"""

import re
import shutil
import tempfile
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
    """Check that a folder holds the files of this release.

    Args:
        folder: the folder of the files.
        origin: the path that messages name; by default the folder.

    Raises:
        DataError: a file is missing or empty, or of another release.
    """
    origin = origin or folder
    for name in FILES:
        if not (folder / name).is_file() or not (folder / name).stat().st_size:
            raise _error(origin, name, "missing-file", f"is missing or empty. Required files: {LAYOUT}")
    for part in PARTS:
        with (folder / f"data.{part}").open("rb") as file:
            release = re.search(rb"WordNet ([0-9.]+) Copyright", file.read(4096))
        if release is None or release[1].decode() != VERSION:
            actual = "names no release" if release is None else f"is of release {release[1].decode()}"
            message = f"{actual}, not {VERSION}. Required files: {LAYOUT}"
            raise _error(origin, f"data.{part}", "other-release", message)


def _error(origin: Path, part: str, code: str, fault: str) -> DataError:
    """Return the error of a file of the lexicon."""
    return DataError(f"{origin}: {part} {fault}", code=code, place=f"{origin}: {part}")
