"""Acquiring a public data set: from archives, from a folder put there by hand, or not at all."""

import zipfile
from pathlib import Path

import pytest
import torch

from recompose.data.content import write_content
from recompose.errors import DataError, DownloadError
from recompose.params import Archive
from recompose.plan import Recipe
from recompose.tracks.czsl.catalogue import PublishedPairs
from recompose.tracks.czsl.data import cgqa
from recompose.tracks.czsl.data.acquire import acquire, write_index
from recompose.tracks.czsl.data.layout import METADATA
from recompose.tracks.czsl.data.pairs import PairData, Statistics
from tests.errors import raises

RECIPE = Recipe("data", "cgqa", {"adapter": "cgqa"}, track="czsl")
SMALL = Statistics(2, 2, 2, 2, 1, 0, 1, 1, 1, 2)
SPLITS = {"train": ["red car", "old dog"], "val": ["red car"], "test": ["old dog", "old car"]}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgqa, "STATISTICS", SMALL)


def section(url: str = "http://127.0.0.1:9/cgqa.zip") -> PublishedPairs:
    return PublishedPairs(adapter="cgqa", archives=[Archive(file="cgqa.zip", urls=[url], sha256=None)])


def acquire_index(recipe: Recipe, published: PublishedPairs, data: Path, index: Path) -> None:
    """What the phase data does with a data set."""
    root = acquire(recipe, published, data, data / recipe.name)
    index.mkdir(exist_ok=True)
    write_content(root, write_index(recipe, root, index), index)


def put_data_set(root: Path) -> None:
    """C-GQA in small, as its archive holds it."""
    (root / "compositional-split-natural").mkdir(parents=True)
    (root / "images").mkdir()
    records = []
    for split, pairs in SPLITS.items():
        (root / "compositional-split-natural" / f"{split}_pairs.txt").write_text("\n".join(pairs))
        for pair in pairs:
            state, name = pair.split()
            image = f"{split}-{state}-{name}.jpg"
            (root / "images" / image).write_bytes(image.encode())
            records.append({"image": image, "attr": state, "obj": name, "set": split})
    torch.save(records, root / METADATA)


def test_an_archive_that_is_there_is_unpacked_checked_and_indexed(tmp_path: Path) -> None:
    put_data_set(tmp_path / "made/cgqa")
    archives = tmp_path / "data/archives"
    archives.mkdir(parents=True)
    with zipfile.ZipFile(archives / "cgqa.zip", "w") as archive:
        for path in sorted((tmp_path / "made").rglob("*")):
            archive.write(path, path.relative_to(tmp_path / "made"))
    acquire_index(RECIPE, section(), tmp_path / "data", tmp_path / "index")
    assert PairData.read(tmp_path / "index").statistics == SMALL
    assert (tmp_path / "data/cgqa/images/test-old-car.jpg").read_bytes() == b"test-old-car.jpg"
    assert not list(archives.glob("*.unpacked"))


def test_an_absent_data_set_says_what_to_put_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recompose.data.transports.RETRIES", 0)
    with raises(DownloadError, "no-delivery", tmp_path / "data/archives/cgqa.zip") as error:
        acquire_index(RECIPE, section(), tmp_path / "data", tmp_path / "index")
    assert f"{tmp_path / 'data/cgqa'}: images/, {METADATA}" in str(error.value)
    assert not (tmp_path / "data/cgqa").exists()


def test_half_a_data_set_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "data/cgqa/images").mkdir(parents=True)
    with pytest.raises(DataError) as caught:
        acquire_index(RECIPE, section(), tmp_path / "data", tmp_path / "index")
    assert METADATA in str(caught.value)
    assert (tmp_path / "data/cgqa/images").exists()
