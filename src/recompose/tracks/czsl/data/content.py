"""What was found in a data set's raw files when it was indexed, and what was changed since."""

from pathlib import Path

from recompose.digest import digest, sha256_file
from recompose.files import read_json, write_json
from recompose.tracks.czsl.data.layout import METADATA, SPLIT_NAME
from recompose.tracks.czsl.data.pairs import PairData

CONTENT = "content.json"  # of an index: a digest of each list, of the metadata, and one of all images
IMAGES = "images.json"  # and one of each image


def write_content(root: Path, pairs: PairData, index: Path) -> None:
    """Write into the folder of an index what is found in a data set's folder."""
    images = digests(root, pairs)
    write_json(index / IMAGES, images)
    write_json(index / CONTENT, content(root, images))


def digests(root: Path, pairs: PairData) -> dict[str, str]:
    """The digest of each image on disk: its path in the data set's folder -> SHA-256; empty where it is missing."""
    paths = sorted({sample.path for sample in pairs.samples})
    return {path: sha256_file(root / path) if (root / path).is_file() else "" for path in paths}


def content(root: Path, images: dict[str, str]) -> dict[str, str]:
    """Digests of what was found on disk: of each list, of the metadata, and one over all images."""
    lists = [root / METADATA, *sorted((root / SPLIT_NAME).glob("*_pairs.txt"))]
    return {file.name: sha256_file(file) for file in lists if file.is_file()} | {"images": digest(images)}


def changed(root: Path, pairs: PairData, index: Path) -> list[str]:
    """The files of a data set that are not what they were when it was indexed, by their paths or names."""
    before, images_before = read_json(index / CONTENT), read_json(index / IMAGES)
    images = digests(root, pairs)
    now = content(root, images)
    lists = [name for name in before if name != "images" and now.get(name) != before[name]]
    return [*lists, *(path for path, found in images.items() if images_before.get(path) != found)]
