"""The benchmarks' format: what is read, what is dropped, and everything that is refused by name."""

import pickle
import posixpath
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from recompose.data.paths import is_inside
from recompose.errors import DataError
from recompose.tracks.czsl.data import compositional
from recompose.tracks.czsl.data.compositional import read_metadata, read_pairs
from recompose.tracks.czsl.data.layout import METADATA, SPLIT_NAME
from recompose.tracks.czsl.data.pairs import PairData, Sample, Statistics
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
EXPECTED = Statistics(2, 2, 2, 2, 1, 1, 2, 1, 1, 1)
UNSAFE = ["", "/etc/passwd", "a/../../x.jpg", "a\\..\\x.jpg", "a\0b.jpg"]
SAFE = ["a b/c d.jpg", "..a/b..jpg", "été/狗.jpg"]


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

    def read(*more: Any, **counts: int) -> PairData:
        torch.save([*(record(*row) for row in RECORDS), *more], root / METADATA)
        return compositional.read(root, replace(EXPECTED, **counts))

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


def test_blank_lines_and_windows_line_ends_in_lists_do_not_matter(root: Path) -> None:
    path = root / SPLIT_NAME / "train_pairs.txt"
    path.write_bytes(b"\r\n  dry\tcat \r\n\r\nwet dog")
    assert read_pairs(path) == [("dry", "cat"), ("wet", "dog")]


@pytest.mark.parametrize("dropped", ["NA dog train", "wet dog NA", "old dog train", "old dog holdout"])
def test_records_without_a_label_or_outside_all_lists_are_dropped(
    with_records: Callable[..., PairData], dropped: str
) -> None:
    state, name, split = dropped.split()
    assert len(with_records(record("x.jpg", state, name, split)).samples) == len(RECORDS)


def test_the_pair_decides_and_not_its_words(with_records: Callable[..., PairData]) -> None:
    data = with_records(record("a/1.jpg", "wet", "dog", "test"), test_images=2)
    assert data.samples[-1] == Sample("images/a/1.jpg", "wet", "dog", "test")


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


# pair lists


@pytest.mark.parametrize("line", ["wet", "wet dog train"])
def test_a_line_that_is_not_two_words_is_named(root: Path, line: str) -> None:
    path = root / SPLIT_NAME / "val_pairs.txt"
    path.write_text(f"dry cat\n\n{line}\nwet cat\n")
    with raises(DataError, code="no-pair", place=f"{path}:3"):
        compositional.read(root, EXPECTED)


def test_a_repeated_pair_is_named(root: Path) -> None:
    path = root / SPLIT_NAME / "test_pairs.txt"
    path.write_text("wet dog\ndry dog\nwet dog\n")
    with raises(DataError, code="repeated-pair", place=f"{path}:3"):
        compositional.read(root, EXPECTED)


def test_a_missing_list_is_named(root: Path) -> None:
    path = root / SPLIT_NAME / "val_pairs.txt"
    path.unlink()
    with raises(DataError, code="unreadable-file", place=path):
        compositional.read(root, EXPECTED)


# metadata


def test_missing_metadata_is_named(root: Path) -> None:
    (root / METADATA).unlink()
    with raises(DataError, code="missing-file", place=root / METADATA):
        compositional.read(root, EXPECTED)


def test_metadata_that_is_no_list_is_named(root: Path) -> None:
    torch.save({"image": "x"}, root / METADATA)
    with raises(DataError, code="wrong-format", place=root / METADATA):
        compositional.read(root, EXPECTED)


@pytest.mark.parametrize("key", ["image", "attr", "obj", "set"])
@pytest.mark.parametrize("value", [3, "left out"])
def test_a_record_that_lacks_a_text_is_named(
    with_records: Callable[..., PairData], root: Path, key: str, value: Any
) -> None:
    wrong = record("a/1.jpg", "wet", "dog", "train") | {key: value}
    if value == "left out":
        del wrong[key]
    with raises(DataError, code="wrong-record", place=WRONG_RECORD):
        with_records(wrong)


def test_a_record_that_is_no_dictionary_is_named(with_records: Callable[..., PairData]) -> None:
    with raises(DataError, code="wrong-record", place=WRONG_RECORD):
        with_records(["x.jpg", "wet", "dog", "train"])


def test_an_unknown_set_is_named(with_records: Callable[..., PairData]) -> None:
    with raises(DataError, code="unknown-split", place=WRONG_RECORD):
        with_records(record("a/1.jpg", "wet", "dog", "holdout"))


def test_a_pair_in_a_split_that_does_not_list_it_is_named(with_records: Callable[..., PairData]) -> None:
    with raises(DataError, code="unlisted-pair", place=WRONG_RECORD):
        with_records(record("a/1.jpg", "wet", "cat", "train"))


# hostile and damaged metadata


class Hostile:
    """Unpickled, it would create a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (str(self.path), "w")


def save_pickle(document: Any, path: Path) -> None:
    path.write_bytes(pickle.dumps(document))


def save_old(document: Any, path: Path) -> None:
    torch.save(document, path, _use_new_zipfile_serialization=False)


@pytest.mark.parametrize("save", [save_pickle, save_old, torch.save])
def test_a_pickle_that_would_run_code_is_refused_and_does_not_run(
    root: Path, save: Callable[[Any, Path], None]
) -> None:
    victim = root / "victim"
    save([record("a", "wet", "dog", "train", extra=Hostile(victim))], root / METADATA)
    with raises(DataError, code="wrong-format", place=root / METADATA):
        compositional.read(root, EXPECTED)
    assert not victim.exists()


def test_the_hostile_pickle_is_one(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    torch.save(Hostile(victim), tmp_path / "it")
    torch.load(tmp_path / "it", weights_only=False).close()
    assert victim.exists()


@pytest.mark.parametrize("content", [b"", b"<!DOCTYPE html>", b"PK\3\4abc"])
def test_metadata_that_is_something_else_is_named(root: Path, content: bytes) -> None:
    (root / METADATA).write_bytes(content)
    with raises(DataError, code="wrong-format", place=root / METADATA):
        read_metadata(root / METADATA)


def reading_of(path: Path, content: bytes) -> str:
    """What becomes of metadata with this content: it is read, or named as wrong, or reading fails otherwise."""
    path.write_bytes(content)
    try:
        read_metadata(path)
    except DataError as error:
        return "named" if str(path) in str(error.place) else repr(error)
    except Exception as error:
        return repr(error)
    return "read"


@pytest.mark.parametrize("zipped", [True, False])
def test_metadata_cut_short_anywhere_is_named(root: Path, zipped: bool) -> None:
    path = root / METADATA
    torch.save([record(*row) for row in RECORDS[:2]], path, _use_new_zipfile_serialization=zipped)
    whole = path.read_bytes()
    lengths = range(0, len(whole), len(whole) // 40)
    assert {length: reading_of(path, whole[:length]) for length in lengths} == dict.fromkeys(lengths, "named")


# image names


@pytest.mark.parametrize("name", UNSAFE)
def test_names_that_lead_out_are_refused(with_records: Callable[..., PairData], name: str) -> None:
    assert not is_inside(name)
    with raises(DataError, code="outside-path", place=WRONG_RECORD):
        with_records(record(name, "wet", "dog", "train"))


@pytest.mark.parametrize("name", SAFE)
def test_odd_but_harmless_names_are_read(with_records: Callable[..., PairData], root: Path, name: str) -> None:
    assert is_inside(name)
    (root / "images" / name).parent.mkdir(exist_ok=True)
    (root / "images" / name).touch()
    data = with_records(record(name, "wet", "dog", "train"), train_images=3)
    assert (root / data.samples[-1].path).samefile(root / "images" / name)


@pytest.mark.slow
@settings(deadline=None)
@given(st.text(st.sampled_from("./ab\\\0"), max_size=8) | st.text())
def test_names_taken_for_inside_are_inside(name: str) -> None:
    joined = posixpath.normpath(posixpath.join("/data/images", name))
    if is_inside(name):
        assert joined == "/data/images" or joined.startswith("/data/images/")


# images and counts


def test_the_first_missing_image_is_named(root: Path) -> None:
    (root / "images/a/2.jpg").unlink()
    (root / "images/a/4.jpg").unlink()
    with raises(DataError, code="missing-image", place=root / "images/a/2.jpg"):
        compositional.read(root, EXPECTED)


@pytest.mark.parametrize("field", list(Statistics.__dataclass_fields__))
def test_each_wrong_count_is_named(root: Path, field: str) -> None:
    for off in (40, -1):
        with raises(DataError, code="wrong-counts", place=f"{root}: {field}"):
            compositional.read(root, replace(EXPECTED, **{field: getattr(EXPECTED, field) + off}))
