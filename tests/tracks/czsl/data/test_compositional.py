"""The benchmarks' format: what is read, what is dropped, and everything that is refused by name."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from recompose.errors import DataError
from recompose.tracks.czsl.data import compositional
from recompose.tracks.czsl.data.compositional import METADATA, SPLIT_NAME, read_metadata
from recompose.tracks.czsl.data.pairs import PairData, Sample
from tests.errors import raises

pytestmark = pytest.mark.filterwarnings("ignore:Detected pickle protocol:UserWarning")

Record = dict[str, Any]

LISTS = {"train": "wet dog\ndry cat\n", "val": "dry cat\nwet cat\n", "test": "wet dog\ndry dog\n"}
RECORDS = [
    ("b/1.jpg", "dry", "cat", "train"),
    ("a/1.jpg", "wet", "dog", "train"),
    ("a/2.jpg", "wet", "cat", "val"),
    ("a/3.jpg", "dry", "dog", "test"),
    ("a/4.jpg", "dry", "cat", "val"),
]
COUNTS = ("states", "objects", "train_pairs", "train_images", "val_seen", "val_unseen", "val_images")
EXPECTED = dict(zip(COUNTS, (2, 2, 2, 2, 1, 1, 2), strict=True)) | {"test_seen": 1, "test_unseen": 1, "test_images": 1}


def record(image: str, state: str, name: str, split: str, **others: Any) -> Record:
    return {"image": image, "attr": state, "obj": name, "set": split, **others}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small data set in which all is right."""
    root = tmp_path / "root"
    (root / SPLIT_NAME).mkdir(parents=True)
    for split, text in LISTS.items():
        (root / SPLIT_NAME / f"{split}_pairs.txt").write_text(text)
    for image, *_ in RECORDS:
        (root / "images" / image).parent.mkdir(parents=True, exist_ok=True)
        (root / "images" / image).touch()
    torch.save([record(*row) for row in RECORDS], root / METADATA)
    return root


@pytest.fixture
def with_records(root: Path) -> Callable[..., PairData]:
    """Reads the data set with these records after its own."""

    def read(*more: Any) -> PairData:
        with_record(*more)(root)
        return compositional.read(root, EXPECTED)

    return read


WRONG_RECORD = f"{METADATA}:5"  # the first after those of the data set


# reading


def test_samples_come_in_the_order_of_the_metadata(root: Path) -> None:
    data = compositional.read(root, EXPECTED)
    assert data.samples == [Sample(f"images/{image}", *others) for image, *others in RECORDS]
    assert data.pairs_of["val"] == [("dry", "cat"), ("wet", "cat")]


@pytest.mark.parametrize("zipped", [True, False])
def test_metadata_of_old_and_new_torch_is_read(root: Path, zipped: bool) -> None:
    records = [record(*row, _image="Boots/1.jpg", size=(3, 4.5), tag=None) for row in RECORDS]
    torch.save(records, root / METADATA, _use_new_zipfile_serialization=zipped)
    assert read_metadata(root / METADATA) == records


@pytest.mark.parametrize("dropped", ["NA dog train", "wet dog NA", "old dog train", "old dog holdout"])
def test_records_without_a_label_or_outside_all_lists_are_dropped(
    with_records: Callable[..., PairData], dropped: str
) -> None:
    state, name, split = dropped.split()
    assert len(with_records(record("x.jpg", state, name, split)).samples) == len(RECORDS)


def test_what_is_written_is_read_again(root: Path) -> None:
    data = PairData(
        {"train": [("wet", "dog"), ("dry", "cat")], "val": [("wet", "cat")], "test": [("dry", "dog")]},
        [
            Sample("images/b c/1.jpg", "wet", "dog", "train"),
            Sample("images/images/2.jpg", "wet", "cat", "val"),
            Sample("images/a/é.jpg", "dry", "dog", "test"),
        ],
    )
    for sample in data.samples:
        (root / sample.path).parent.mkdir(exist_ok=True)
        (root / sample.path).touch()
    compositional.write(root, data)
    again = compositional.read(root, data.statistics)
    assert (again.pairs_of, again.samples) == (data.pairs_of, data.samples)


# what is refused


class Hostile:
    """Unpickled, it would create a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (str(self.path), "w")


def with_record(*rows: Any) -> Callable[[Path], None]:
    """Put records after those of the data set."""
    return lambda root: torch.save([*(record(*row) for row in RECORDS), *rows], root / METADATA)


def with_list(split: str, text: str) -> Callable[[Path], Any]:
    return lambda root: (root / SPLIT_NAME / f"{split}_pairs.txt").write_text(text)


RIGHT = record("a/1.jpg", "wet", "dog", "train")
FAULTS: list[tuple[str, str, Callable[[Path], Any]]] = [
    ("no-pair", "val_pairs.txt:3", with_list("val", "dry cat\n\nwet\nwet cat\n")),
    ("no-pair", "test_pairs.txt:3", with_list("test", "wet dog\ndry dog\nwet dog\n")),
    ("unreadable-file", "val_pairs.txt", lambda root: (root / SPLIT_NAME / "val_pairs.txt").unlink()),
    ("missing-file", METADATA, lambda root: (root / METADATA).unlink()),
    ("wrong-format", METADATA, lambda root: torch.save({"image": "x"}, root / METADATA)),
    ("wrong-format", METADATA, lambda root: (root / METADATA).write_bytes((root / METADATA).read_bytes()[:300])),
    ("wrong-format", METADATA, lambda root: with_record(RIGHT | {"extra": Hostile(root / "victim")})(root)),
    ("wrong-record", WRONG_RECORD, with_record(["x.jpg", "wet", "dog", "train"])),
    ("wrong-record", WRONG_RECORD, with_record(RIGHT | {"attr": 3})),
    ("unlisted-pair", WRONG_RECORD, with_record(RIGHT | {"set": "holdout"})),
    ("unlisted-pair", WRONG_RECORD, with_record(RIGHT | {"obj": "cat"})),
    ("outside-path", WRONG_RECORD, with_record(RIGHT | {"image": "a/../../x.jpg"})),
    ("missing-image", "images/a/2.jpg", lambda root: [(root / f"images/a/{n}.jpg").unlink() for n in (2, 4)]),
]


@pytest.mark.parametrize(("code", "place", "spoil"), FAULTS)
def test_a_fault_is_named_by_its_place(root: Path, code: str, place: str, spoil: Callable[[Path], Any]) -> None:
    spoil(root)
    with raises(DataError, code=code, place=place):
        compositional.read(root, EXPECTED)
    assert not (root / "victim").exists()


def test_each_wrong_count_is_named(root: Path) -> None:
    for name, count in EXPECTED.items():
        with raises(DataError, code="wrong-counts", place=f"{root}: {name}"):
            compositional.read(root, EXPECTED | {name: count + 1})
