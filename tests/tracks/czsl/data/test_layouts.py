"""From archives as upstream packs them to the common layout, and archives of another form."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from recompose.errors import DataError
from recompose.tracks.czsl.data import compositional, mit_states, ut_zappos
from recompose.tracks.czsl.data.compositional import METADATA, SPLIT_NAME
from tests.errors import raises

LISTS = {"train": "wet dog\nold cat\n", "val": "old cat\nold dog\n", "test": "wet cat\n"}
LABELS = [("wet", "dog", "train"), ("old", "cat", "train"), ("old", "dog", "val"), ("wet", "cat", "test")]
IMAGES = [f"{state}_{name}/{number}.jpg" for number, (state, name, _) in enumerate(LABELS)]
UPSTREAM = [
    "Boots/Ankle/A&B Shoes/1.jpg",
    "Boots/Ankle/Levi's® Kids/1.jpg",
    "Shoes/Flats/A&B Shoes/2.3.jpg",
    "Slippers/Boot/a.b.c./4.jpg",
]
SPLITS = "splits/compositional_split_natural"  # the archive that two data sets share
OUTSIDE = "../../secret.txt"


def put(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def pack_split(folder: Path, **changed: Any) -> None:
    """Write pair lists and metadata as upstream has them; changes go into the third record."""
    for split, text in LISTS.items():
        put(folder / SPLIT_NAME / f"{split}_pairs.txt", text)
    rows = [
        {"image": image, "_image": upstream, "attr": state, "obj": name, "set": split}
        for image, upstream, (state, name, split) in zip(IMAGES, UPSTREAM, LABELS, strict=True)
    ]
    rows[2] |= changed
    torch.save(rows, folder / METADATA)


def pack_mit_states(unpacked: Path) -> None:
    pack_split(unpacked / SPLITS / "mit-states")
    pack_split(unpacked / SPLITS / "ut-zap50k")
    for number, image in enumerate(IMAGES):
        put(unpacked / "release_dataset/release_dataset/images" / image.replace("_", " "), f"#{number}")


def pack_mit_states_in_other_case(unpacked: Path) -> None:
    pack_split(unpacked / SPLITS / "mit-states")
    for number, (state, name, _) in enumerate(LABELS):
        put(unpacked / f"Release_Dataset/Images/{state.title()} {name}/{number}.JPG", f"#{number}")


def pack_ut_zappos(unpacked: Path, old: str = "", new: str = "", **changed: Any) -> None:
    pack_split(unpacked / SPLITS / "ut-zap50k", **changed)
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
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


@pytest.mark.parametrize("name", PACKED)
def test_images_get_the_places_that_the_metadata_names(unpacked: Path, root: Path, name: str) -> None:
    module, pack = PACKED[name]
    pack(unpacked)
    module.arrange(unpacked, root)
    data = module.read(root)
    assert [(root / sample.path).read_text() for sample in data.samples] == [f"#{n}" for n in range(len(LABELS))]
    assert [(sample.state, sample.object, sample.split) for sample in data.samples] == LABELS
    assert sorted(path.name for path in root.iterdir()) == sorted(["images", METADATA, SPLIT_NAME])


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
    unpacked: Path, root: Path, code: str, place: str, changed: dict[str, str]
) -> None:
    pack_ut_zappos(unpacked, **changed)
    secrets = [unpacked / "secret.txt", unpacked / "images/secret.txt"]
    for secret in secrets:
        put(secret, "secret")
    with raises(DataError, code=code, place=place):
        ut_zappos.arrange(unpacked, root)
    assert [secret.read_text() for secret in secrets] == ["secret", "secret"]
    assert not (root / "secret.txt").exists()
