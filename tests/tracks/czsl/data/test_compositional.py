"""The benchmarks' format: what is read, dropped and refused by name, and archives as upstream packs them."""

import tempfile
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recompose.data.content import write_content
from recompose.errors import DataError, DownloadError
from recompose.recipes.plan import Recipe
from recompose.tracks import TRACKS
from recompose.tracks.acquiring import acquire, index
from recompose.tracks.czsl.catalogue import ADAPTERS, PublishedPairs
from recompose.tracks.czsl.data import compositional, mit_states, ut_zappos
from recompose.tracks.czsl.data.compositional import METADATA, SPLIT_NAME, read_metadata
from recompose.tracks.czsl.data.pairs import SPLITS, PairData, Sample
from recompose.tracks.planning import data_recipe
from tests.errors import raises
from tests.tracks.vlc.data.published import archive, contents, pack

pytestmark = pytest.mark.filterwarnings("ignore:Detected pickle protocol:UserWarning")

Record = dict[str, Any]

LISTS = {"train": "wet dog\ndry cat\n", "val": "dry cat\nwet cat\n", "test": "wet dog\ndry dog\n"}
LABELS = [
    *(("dry", "cat", "train"), ("wet", "dog", "train"), ("wet", "cat", "val")),
    *(("dry", "dog", "test"), ("dry", "cat", "val")),
]
IMAGES = [f"{state}_{name}/{number}.jpg" for number, (state, name, _) in enumerate(LABELS)]
RECORDS = [(image, *label) for image, label in zip(IMAGES, LABELS, strict=True)]
COUNTS = ("states", "objects", "train_pairs", "train_images", "val_seen", "val_unseen", "val_images")
EXPECTED = dict(zip(COUNTS, (2, 2, 2, 2, 1, 1, 2), strict=True)) | {"test_seen": 1, "test_unseen": 1, "test_images": 1}


def record(image: str, state: str, name: str, split: str, **others: Any) -> Record:
    return {"image": image, "attr": state, "obj": name, "set": split, **others}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small data set in which all is right."""
    pack_cgqa(tmp_path)
    return tmp_path / "mirror/cgqa"


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
def test_records_without_a_label_or_outside_all_lists_are_dropped(root: Path, dropped: str) -> None:
    with_record(record("x.jpg", *dropped.split()))(root)
    assert len(compositional.read(root, EXPECTED).samples) == len(RECORDS)


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


RIGHT = record(*RECORDS[1])
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
    ("missing-image", f"images/{IMAGES[2]}", lambda root: [(root / "images" / IMAGES[n]).unlink() for n in (2, 4)]),
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


UPSTREAM = [
    "Boots/Ankle/A&B Shoes/1.jpg",
    "Boots/Ankle/Levi's® Kids/1.jpg",
    "Shoes/Flats/A&B Shoes/2.3.jpg",
    "Slippers/Boot/a.b.c./4.jpg",
    "Shoes/5.jpg",
]
SHARED = "splits/compositional_split_natural"  # the archive that two data sets share
OUTSIDE = "../../secret.txt"


def put(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def pack_split(folder: Path, **changed: Any) -> None:
    """Write pair lists and metadata as upstream has them; changes go into the third record."""
    for split, text in LISTS.items():
        put(folder / SPLIT_NAME / f"{split}_pairs.txt", text)
    rows = [record(*row, _image=upstream) for row, upstream in zip(RECORDS, UPSTREAM, strict=True)]
    rows[2] |= changed
    torch.save(rows, folder / METADATA)


def pack_mit_states(unpacked: Path) -> None:
    pack_split(unpacked / SHARED / "mit-states")
    pack_split(unpacked / SHARED / "ut-zap50k")
    for number, image in enumerate(IMAGES):
        put(unpacked / "release_dataset/release_dataset/images" / image.replace("_", " "), f"#{number}")


def pack_mit_states_in_other_case(unpacked: Path) -> None:
    pack_split(unpacked / SHARED / "mit-states")
    for number, (state, name, _) in enumerate(LABELS):
        put(unpacked / f"Release_Dataset/Images/{state.title()} {name}/{number}.JPG", f"#{number}")


def pack_ut_zappos(unpacked: Path, old: str = "", new: str = "", **changed: Any) -> None:
    pack_split(unpacked / SHARED / "ut-zap50k", **changed)
    for number, path in enumerate(UPSTREAM):
        put(unpacked / "images/ut-zap50k-images" / path.replace(old, new), f"#{number}")
    put(unpacked / "images/ut-zap50k-images/Boots/unused.jpg", "unused")


def pack_cgqa(unpacked: Path) -> None:
    pack_split(unpacked / "mirror/cgqa")
    for number, image in enumerate(IMAGES):
        put(unpacked / "mirror/cgqa/images" / image, f"#{number}")


PACKED: dict[str, tuple[ModuleType, Callable[[Path], None]]] = {
    "mit-states": (mit_states, pack_mit_states),
    "mit-states in other case": (mit_states, pack_mit_states_in_other_case),
    "ut-zappos": (ut_zappos, pack_ut_zappos),
    "ut-zappos in other case": (ut_zappos, lambda unpacked: pack_ut_zappos(unpacked, "1.jpg", "1.JPG")),
    "cgqa": (compositional, pack_cgqa),
}


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    return tmp_path / "archives/it.unpacked"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    (tmp_path / "target").mkdir()
    return tmp_path / "target"


@pytest.mark.parametrize("name", PACKED)
def test_images_get_the_places_that_the_metadata_names(unpacked: Path, target: Path, name: str) -> None:
    module, pack = PACKED[name]
    pack(unpacked)
    module.arrange(unpacked, target)
    data = module.read(target)
    assert [(target / sample.path).read_text() for sample in data.samples] == [f"#{n}" for n in range(len(LABELS))]
    assert [(sample.state, sample.object, sample.split) for sample in data.samples] == LABELS
    assert sorted(path.name for path in target.iterdir()) == sorted(["images", METADATA, SPLIT_NAME])


@pytest.mark.parametrize(
    ("code", "place", "changed"),
    [
        ("outside-path", f"{METADATA}:2", {"image": OUTSIDE}),
        ("outside-path", f"{METADATA}:2", {"_image": "/etc/hostname"}),
        ("missing-image", "ut-zap50k-images/Boots/none.jpg", {"_image": "Boots/none.jpg"}),
        ("outside-path", f"{METADATA}:2", {"_image": ""}),
    ],
)
def test_a_wrong_name_is_refused_and_nothing_outside_is_touched(
    unpacked: Path, target: Path, code: str, place: str, changed: dict[str, str]
) -> None:
    pack_ut_zappos(unpacked, **changed)
    secrets = [unpacked / "secret.txt", unpacked / "images/secret.txt"]
    for secret in secrets:
        put(secret, "secret")
    with raises(DataError, code=code, place=place):
        ut_zappos.arrange(unpacked, target)
    assert [secret.read_text() for secret in secrets] == ["secret", "secret"]
    assert not (target / "secret.txt").exists()


def recipe_of(counts: dict[str, int]) -> Recipe:
    section = PublishedPairs(adapter="compositional", archives=[archive("cgqa.zip")], counts=counts)
    return data_recipe(TRACKS["czsl"], "cgqa", section, ADAPTERS["compositional"], seed=0)


def test_an_archive_is_unpacked_checked_and_indexed(tmp_path: Path) -> None:
    pack_cgqa(tmp_path / "packed")
    pack(tmp_path / "archives/cgqa.zip", contents(tmp_path / "packed/mirror"))
    recipe = recipe_of(EXPECTED)
    root = acquire(recipe, tmp_path)
    assert root == tmp_path / "cgqa"
    (tmp_path / "index").mkdir()
    write_content(root, index(recipe, root, tmp_path / "index"), tmp_path / "index")
    samples = PairData.read(tmp_path / "index").samples
    assert [(sample.state, sample.object, sample.split) for sample in samples] == LABELS
    assert [(root / sample.path).read_text() for sample in samples] == [f"#{n}" for n in range(len(LABELS))]
    assert [*contents(tmp_path / "archives")] == ["cgqa.zip"]
    with raises(DataError, "wrong-counts", f"{root}: val_images"):
        index(recipe_of(EXPECTED | {"val_images": 3}), root, tmp_path / "index")


def test_an_absent_data_set_says_what_to_put_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recompose.data.transports.RETRIES", 0)
    with raises(DownloadError, "no-delivery", tmp_path / "archives/cgqa.zip") as error:
        acquire(recipe_of(EXPECTED), tmp_path)
    assert f"{tmp_path / 'cgqa'}: images/, {METADATA}" in str(error.value)
    assert not (tmp_path / "cgqa").exists()


def test_half_a_data_set_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "cgqa/images").mkdir(parents=True)
    with pytest.raises(DataError) as caught:
        acquire(recipe_of(EXPECTED), tmp_path)
    assert METADATA in str(caught.value)
    assert (tmp_path / "cgqa/images").exists()


# the common form of a data set: vocabularies, pairs and counts derived by hand, and its files


PAIRS = {
    "train": [("wet", "dog"), ("dry", "cat"), ("wet", "cat"), ("dry", "cat")],
    "val": [("wet", "dog"), ("old", "cat")],
    "test": [("dry", "cat"), ("wet", "cat"), ("old", "dog")],
}
awkward = st.sampled_from([*"a ,;\"'\\\t\n\r\v", "\u2028", "é", "狗"])
names = st.text(awkward | st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
pairs = st.lists(st.tuples(names, names), min_size=1, max_size=4)
splits = st.fixed_dictionaries(dict.fromkeys(SPLITS, pairs))


def test_seen_pairs_are_those_of_training() -> None:
    data = PairData(PAIRS, [])
    assert data.is_seen(data.pairs).tolist() == [True, False, False, True, True]
    # dry, old and wet with cat and dog
    assert data.seen_matrix.tolist() == [[True, False], [False, False], [True, True]]


@pytest.mark.slow
@settings(deadline=None)
@given(splits, st.lists(names, max_size=5))
@example({split: [("old", "dog")] for split in SPLITS}, ["carriage\rreturn"])
def test_an_index_is_read_as_it_was_written_whatever_the_names(
    pairs_of: dict[str, list[tuple[str, str]]], paths: list[str]
) -> None:
    labels = cycle((*pair, split) for split in SPLITS for pair in pairs_of[split])
    data = PairData(pairs_of, [Sample(f"images/{path}", *label) for path, label in zip(paths, labels, strict=False)])
    with tempfile.TemporaryDirectory() as folder:
        data.write(Path(folder))
        again = PairData.read(Path(folder))
    assert (again.pairs_of, again.samples, again.statistics) == (data.pairs_of, data.samples, data.statistics)
