"""The benchmarks' own format on disk, ``compositional-split-natural``: pair lists, metadata, images.

    <root>/images/...
    <root>/metadata_compositional-split-natural.t7
    <root>/compositional-split-natural/{train,val,test}_pairs.txt

Read as the field's shared data set class reads it (CSP at 660fcff), with its silent assumptions turned into errors.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import NotRequired, TypedDict

import torch

from recompose.data.foreign_files import reason_of
from recompose.data.paths import find_folder, is_inside, name_as_listed
from recompose.errors import DataError
from recompose.files import read_text
from recompose.tracks.checks import check_counts, check_images
from recompose.tracks.czsl.data.pairs import SPLITS, Pair, PairData, Sample

SPLIT_NAME = "compositional-split-natural"
METADATA = f"metadata_{SPLIT_NAME}.t7"
MARK, LAYOUT = METADATA, f"images/, {METADATA}, {SPLIT_NAME}/"
MISSING = "NA"


class PairRecord(TypedDict):
    """A record of the metadata: an image's path, its state, its object and its split."""

    image: str
    attr: str
    obj: str
    set: str
    _image: NotRequired[str]  # of UT-Zappos: the path upstream


def read_pairs(path: Path) -> list[Pair]:
    """Return the pairs of a list, one ``state object`` a line.

    Raises:
        DataError: no such file, a line that is not two words, or a pair that occurs twice.
    """
    try:
        lines = read_text(path).splitlines()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error}", code="unreadable-file", place=path) from None
    pairs: dict[Pair, None] = {}
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if words and (len(words) != 2 or (words[0], words[1]) in pairs):
            place = f"{path}:{number}"
            raise DataError(f"{place}: expected another 'state object', found {line!r}", code="no-pair", place=place)
        if words:
            pairs[words[0], words[1]] = None
    return list(pairs)


def record_error(code: str, path: Path, number: int, fault: str) -> DataError:
    """Return the error of a record, counted from 0, of a metadata file."""
    return DataError(f"{path}, record {number}: {fault}", code=code, place=f"{path}:{number}")


def read_metadata(path: Path) -> list[PairRecord]:
    """Return the records of a ``.t7`` file: a pickle, of which only plain values are allowed.

    Raises:
        DataError: no such file, other than plain values, or a record without image, attr, obj or set.
    """
    try:
        records = torch.load(path, map_location="cpu", weights_only=True)
        if not isinstance(records, list):
            raise ValueError("it holds other data")
    except FileNotFoundError:
        raise DataError(f"{path} is missing", code="missing-file", place=path) from None
    except Exception as error:  # a damaged or hostile pickle can raise any exception
        message = f"{path} is not a plain list of records: {reason_of(path, error)}"
        raise DataError(message, code="wrong-format", place=path) from None
    for number, record in enumerate(records):
        if not isinstance(record, dict) or not all(
            isinstance(record.get(key), str) for key in ("image", "attr", "obj", "set")
        ):
            fault = f"expected strings under image, attr, obj and set, found {record!r:.200}"
            raise record_error("wrong-record", path, number, fault)
    return records


def _labelled_samples(records: list[PairRecord], pairs: dict[str, list[Pair]], path: Path) -> Iterator[Sample]:
    """Yield the records that belong to a split, not those without a label or outside all pair lists."""
    listed = {split: set(pairs[split]) for split in SPLITS}
    anywhere = set().union(*listed.values())
    for number, record in enumerate(records):
        pair, split = (record["attr"], record["obj"]), record["set"]
        if MISSING in (*pair, split) or pair not in anywhere:
            continue
        if pair not in listed.get(split, ()):
            fault = f"{' '.join(pair)} is in set {split}, but there is none, or not in {split}_pairs.txt"
            raise record_error("unlisted-pair", path, number, fault)
        if not is_inside(record["image"]):
            fault = f"the image name {record['image']!r} leads out of the images folder"
            raise record_error("outside-path", path, number, fault)
        yield Sample(f"images/{PurePosixPath(record['image'])}", *pair, split)


def read(root: Path, counts: Mapping[str, int] | None = None) -> PairData:
    """Read and check a data set.

    Args:
        root: its folder.
        counts: those of its statistics that are known.

    Raises:
        DataError: a file is missing or malformed, an image is missing, or a count is another one.
    """
    folder = root / SPLIT_NAME
    pairs = {split: read_pairs(folder / f"{split}_pairs.txt") for split in SPLITS}
    metadata = root / METADATA
    data = PairData(pairs, _labelled_samples(read_metadata(metadata), pairs, metadata))
    check_counts(data.statistics, counts, root)
    check_images(data.paths, root)
    return data


def annotation_files(root: Path) -> list[str]:
    """Return the files that a data set is read from, without its images, as paths below its folder."""
    return [METADATA, *(f"{SPLIT_NAME}/{split}_pairs.txt" for split in SPLITS)]


def write(root: Path, data: PairData) -> None:
    """Write pair lists and metadata in this format, beside the images."""
    folder = root / SPLIT_NAME
    folder.mkdir(parents=True, exist_ok=True)
    for split in SPLITS:
        lines = [f"{state} {name}\n" for state, name in data.pairs_of[split]]
        (folder / f"{split}_pairs.txt").write_text("".join(lines), encoding="utf-8")
    records = [
        {"image": s.path.removeprefix("images/"), "attr": s.state, "obj": s.object, "set": s.split}
        for s in data.samples
    ]
    torch.save(records, root / METADATA)


# from archives to the data set's folder


def arrange(unpacked: Path, root: Path) -> None:
    """Move an unpacked archive that has the layout already."""
    images = find_folder(find_folder(unpacked, SPLIT_NAME).parent, "images")
    move_split(unpacked, SPLIT_NAME, root)
    move_images(images, root)


def move_split(unpacked: Path, name: str, root: Path) -> None:
    """Move the pair lists, in the folder of this name in the archives, and the metadata beside them.

    Raises:
        DataError: the files are absent, or present more than once.
    """
    folder = find_folder(unpacked, name)
    metadata = folder.parent / METADATA
    if not metadata.is_file():
        message = f"{folder.parent} has pair lists but no {METADATA}"
        raise DataError(message, code="missing-file", place=metadata)
    folder.rename(root / SPLIT_NAME)
    metadata.rename(root / METADATA)


def move_images(images: Path, root: Path) -> None:
    """Move a folder of images, which get the names that the metadata has for them, beside the metadata.

    Raises:
        DataError: the metadata is malformed.
    """
    images.rename(root / "images")
    name_as_listed(root / "images", [record["image"] for record in read_metadata(root / METADATA)])
