"""From archives as upstream packs them to the common layout, and archives that are not so."""

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from recompose.errors import DataError
from recompose.tracks.czsl.data import cgqa, mit_states, ut_zappos
from recompose.tracks.czsl.data.layout import METADATA, SPLIT_NAME
from recompose.tracks.czsl.data.pairs import Statistics
from recompose.tracks.czsl.data.unpacked import move_split
from tests.errors import raises

LISTS = {"train": "wet dog\nold cat\n", "val": "old cat\nold dog\n", "test": "wet cat\n"}
LABELS = [("wet", "dog", "train"), ("old", "cat", "train"), ("old", "dog", "val"), ("wet", "cat", "test")]
STATISTICS = Statistics(2, 2, 2, 2, 1, 1, 1, 0, 1, 1)
UPSTREAM = [
    "Boots/Ankle/A&B Shoes/1.jpg",
    "Boots/Ankle/Levi's® Kids/1.jpg",
    "Shoes/Flats/A&B Shoes/2.3.jpg",
    "Slippers/Boot/a.b.c./4.jpg",
]


def put(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def files(folder: Path) -> dict[str, str]:
    """Every file with its content; of the metadata, which is binary, the name alone."""
    return {
        str(path.relative_to(folder)): "" if path.name == METADATA else path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def image(number: int) -> str:
    """The image name of a label in the metadata."""
    state, name, _ = LABELS[number]
    return f"{state}_{name}/{number}.jpg"


def records(**changed: Any) -> list[dict[str, Any]]:
    """The metadata as upstream has it; changes go into its third record."""
    rows = [
        {"image": image(n), "_image": UPSTREAM[n], "attr": state, "obj": name, "set": split}
        for n, (state, name, split) in enumerate(LABELS)
    ]
    rows[2] |= changed
    return rows


def pack_split(folder: Path, rows: list[dict[str, Any]]) -> None:
    for split, text in LISTS.items():
        put(folder / SPLIT_NAME / f"{split}_pairs.txt", text)
    torch.save(rows, folder / METADATA)


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    folder = tmp_path / "archives" / "it.unpacked"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    return root


@pytest.fixture
def splits(unpacked: Path) -> Path:
    """The archive of splits, which two data sets share."""
    folder = unpacked / "splits" / "compositional_split_natural"
    for name in ("mit-states", "ut-zap50k"):
        pack_split(folder / name, [])
    return folder


def pack_mit_states(unpacked: Path, splits: Path) -> None:
    pack_split(splits / "mit-states", records())
    for number, (state, name, _) in enumerate(LABELS):
        put(unpacked / "release_dataset/release_dataset/images" / f"{state} {name}" / f"{number}.jpg", f"#{number}")
    put(unpacked / "release_dataset/release_dataset/images/adj dog/9.jpg", "no state")
    put(unpacked / "release_dataset/release_dataset/adj_ants.csv", "unused")


def pack_ut_zappos(unpacked: Path, splits: Path, **changed: Any) -> None:
    pack_split(splits / "ut-zap50k", records(**changed))
    for number, path in enumerate(UPSTREAM):
        put(unpacked / "images/ut-zap50k-images" / path, f"#{number}")
    put(unpacked / "images/ut-zap50k-images/Boots/unused.jpg", "unused")


def assert_arranged(module: ModuleType, root: Path) -> None:
    """The four images lie where the metadata says, and the data set is read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "STATISTICS", STATISTICS)
        data = module.read(root)
    assert [(root / sample.path).read_text() for sample in data.samples] == [f"#{n}" for n in range(len(LABELS))]
    assert [(sample.state, sample.object, sample.split) for sample in data.samples] == LABELS
    assert sorted(path.name for path in root.iterdir()) == sorted(["images", METADATA, SPLIT_NAME])


# one's way in an unpacked archive


@pytest.mark.parametrize("name", ["mit-states", "ut-zap50k"])
def test_a_split_moves_with_its_metadata_and_leaves_the_other(
    unpacked: Path, splits: Path, root: Path, name: str
) -> None:
    before = files(splits)
    move_split(unpacked, name, root)
    wanted = {path.removeprefix(f"{name}/"): text for path, text in before.items() if path.startswith(name)}
    assert files(root) == wanted
    assert len(wanted) == 4
    assert files(splits) == {path: text for path, text in before.items() if not path.startswith(name)}


def test_a_split_without_metadata_is_refused(unpacked: Path, splits: Path, root: Path) -> None:
    (splits / "mit-states" / METADATA).unlink()
    with raises(DataError, code="missing-file", place=METADATA):
        move_split(unpacked, "mit-states", root)


# MIT-States


def test_mit_states_folders_get_the_names_that_its_metadata_uses(unpacked: Path, splits: Path, root: Path) -> None:
    pack_mit_states(unpacked, splits)
    mit_states.arrange(unpacked, root)
    assert_arranged(mit_states, root)
    assert (root / "images/adj_dog/9.jpg").read_text() == "no state"


def test_mit_states_images_are_found_in_other_case(unpacked: Path, splits: Path, root: Path) -> None:
    pack_split(splits / "mit-states", records())
    for number, (state, name, _) in enumerate(LABELS):
        put(unpacked / "Release_Dataset/Images" / f"{state.title()} {name}" / f"{number}.JPG", f"#{number}")
    mit_states.arrange(unpacked, root)
    assert_arranged(mit_states, root)


# UT-Zappos


def test_ut_zappos_images_go_from_upstream_places_to_their_labels(unpacked: Path, splits: Path, root: Path) -> None:
    pack_ut_zappos(unpacked, splits)
    ut_zappos.arrange(unpacked, root)
    assert_arranged(ut_zappos, root)
    assert len(files(root / "images")) == len(LABELS)


@pytest.mark.parametrize(("old", "new"), [("Boots", "boots"), ("1.jpg", "1.JPG")])
def test_ut_zappos_images_are_found_in_other_case(unpacked: Path, splits: Path, root: Path, old: str, new: str) -> None:
    pack_split(splits / "ut-zap50k", records())
    for number, path in enumerate(UPSTREAM):
        put(unpacked / "ut-zap50k-images" / path.replace(old, new), f"#{number}")
    ut_zappos.arrange(unpacked, root)
    assert_arranged(ut_zappos, root)


def test_two_records_of_one_upstream_image_both_get_it(unpacked: Path, splits: Path, root: Path) -> None:
    pack_ut_zappos(unpacked, splits, _image=UPSTREAM[0])
    ut_zappos.arrange(unpacked, root)
    assert (root / "images" / image(0)).read_text() == "#0"
    assert (root / "images" / image(2)).read_text() == "#0"


@pytest.mark.parametrize("key", ["image", "_image"])
@pytest.mark.parametrize("name", ["../../secret.txt", "/etc/hostname", "Boots/../../../secret.txt"])
def test_names_that_lead_out_are_refused_and_nothing_outside_is_touched(
    unpacked: Path, splits: Path, root: Path, tmp_path: Path, key: str, name: str
) -> None:
    pack_ut_zappos(unpacked, splits, **{key: name})
    put(unpacked / "secret.txt", "secret")
    put(unpacked / "images/secret.txt", "secret")
    with raises(DataError, code="outside-path", place=f"{METADATA}:2"):
        ut_zappos.arrange(unpacked, root)
    assert (unpacked / "secret.txt").read_text() == (unpacked / "images/secret.txt").read_text() == "secret"
    assert {path.name for path in tmp_path.iterdir()} == {"archives", "root"}
    assert not (root / "secret.txt").exists()


def test_an_upstream_image_that_is_not_there_is_named(unpacked: Path, splits: Path, root: Path) -> None:
    name = "Boots/Ankle/none.jpg"
    pack_ut_zappos(unpacked, splits, _image=name)
    with raises(DataError, code="missing-image", place=f"ut-zap50k-images/{name}"):
        ut_zappos.arrange(unpacked, root)


# C-GQA


def test_cgqa_has_the_layout_already(unpacked: Path, root: Path) -> None:
    outer = "mirror/cgqa"
    pack_split(unpacked / outer, records())
    for number in range(len(LABELS)):
        put(unpacked / outer / "images" / image(number), f"#{number}")
    cgqa.arrange(unpacked, root)
    assert_arranged(cgqa, root)
