"""The benchmarks' own format on disk, ``compositional-split-natural``: pair lists, metadata, images.

    <root>/images/...
    <root>/metadata_compositional-split-natural.t7
    <root>/compositional-split-natural/{train,val,test}_pairs.txt

Read as the field's shared data set class reads it (CSP at 660fcff), with its silent assumptions turned into errors.
"""

import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import NotRequired, TypedDict

import torch

from recompose.data.foreign_files import reason_of
from recompose.data.paths import is_inside
from recompose.errors import DataError
from recompose.files import read_text
from recompose.tracks.czsl.data.layout import METADATA, SPLIT_NAME
from recompose.tracks.czsl.data.pairs import SPLITS, Pair, PairData, Sample, Statistics

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
    pairs: dict[Pair, str] = {}
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if not words:
            continue
        place = f"{path}:{number}"
        if len(words) != 2:
            raise DataError(f"{place}: expected 'state object', found {line!r}", code="no-pair", place=place)
        pair = (words[0], words[1])
        if pair in pairs:
            raise DataError(f"{place}: {line} is also {pairs[pair]}", code="repeated-pair", place=place)
        pairs[pair] = place
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
    except FileNotFoundError:
        raise DataError(f"{path} is missing", code="missing-file", place=path) from None
    except Exception as error:  # a damaged or hostile pickle can raise any exception
        message = f"{path} is not a plain list of records: {reason_of(path, error)}"
        raise DataError(message, code="wrong-format", place=path) from None
    if not isinstance(records, list):
        message = f"{path} holds a {type(records).__name__} instead of a list of records"
        raise DataError(message, code="wrong-format", place=path)
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
        if split not in listed:
            fault = f"set is {split!r}, expected train, val, test or {MISSING}"
            raise record_error("unknown-split", path, number, fault)
        if pair not in listed[split]:
            fault = f"{' '.join(pair)} is in set {split} but not in {split}_pairs.txt"
            raise record_error("unlisted-pair", path, number, fault)
        yield Sample(_image_path(record["image"], path, number), *pair, split)


def _image_path(name: str, path: Path, number: int) -> str:
    if not is_inside(name):
        raise record_error("outside-path", path, number, f"the image name {name!r} leads out of the images folder")
    return f"images/{PurePosixPath(name)}"


def read(root: Path, expected: Statistics) -> PairData:
    """Read and check a data set.

    Raises:
        DataError: a file is missing or malformed, an image is missing, or the counts are not the expected ones.
    """
    folder = root / SPLIT_NAME
    pairs = {split: read_pairs(folder / f"{split}_pairs.txt") for split in SPLITS}
    metadata = root / METADATA
    data = PairData(pairs, _labelled_samples(read_metadata(metadata), pairs, metadata))
    _check_counts(data.statistics, expected, root)
    _check_images(data, root)
    return data


def _check_counts(data: Statistics, expected: Statistics, root: Path) -> None:
    counts, right = asdict(data), asdict(expected)
    wrong = [name for name in right if counts[name] != right[name]]
    if wrong:
        faults = "; ".join(f"{name.replace('_', ' ')}: {counts[name]} instead of {right[name]}" for name in wrong)
        raise DataError(
            f"{root} is not the data set it should be ({faults}). "
            "Is this another release, or was it split by pairs instead of by the metadata's `set`?",
            code="wrong-counts",
            place=f"{root}: {', '.join(wrong)}",
        )


def _check_images(data: PairData, root: Path) -> None:
    # os.path.isfile, because it never raises
    missing = [sample.path for sample in data.samples if not os.path.isfile(root / sample.path)]  # noqa: PTH113
    if missing:
        message = f"{root} lacks {len(missing)} of {len(data.samples)} images, the first is {missing[0]}"
        raise DataError(message, code="missing-image", place=root / missing[0])


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
