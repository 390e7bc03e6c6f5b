"""Acquiring a public data set: from archives, from a folder put there by hand, or not at all."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from recompose.data.content import write_content
from recompose.errors import DataError, DownloadError
from recompose.plan import Recipe
from recompose.tracks.czsl.catalogue import PublishedPairs
from recompose.tracks.czsl.data.acquire import acquire, write_index
from recompose.tracks.czsl.data.compositional import METADATA, SPLIT_NAME
from recompose.tracks.czsl.data.pairs import PairData
from tests.errors import raises
from tests.tracks.vlc.data.published import archive, contents, pack

COUNTS = {"states": 2, "objects": 2, "val_images": 1, "test_images": 2}
RECIPE = Recipe("data", "cgqa", {"adapter": "compositional", "counts": COUNTS}, track="czsl")
SPLITS = {"train": ["red car", "old dog"], "val": ["red car"], "test": ["old dog", "old car"]}


def acquire_root(folder: Path) -> Path:
    section = PublishedPairs(adapter="compositional", archives=[archive("cgqa.zip")])
    return acquire(RECIPE, section, folder, folder / "cgqa")


def test_an_archive_is_unpacked_checked_and_indexed(tmp_path: Path) -> None:
    labels = [(split, *pair.split()) for split, pairs in SPLITS.items() for pair in pairs]
    torch.save(
        [{"image": f"{n}.jpg", "attr": s, "obj": o, "set": t} for n, (t, s, o) in enumerate(labels)], tmp_path / "t"
    )
    files = {f"images/{number}.jpg": b"#%d" % number for number in range(len(labels))}
    lists = {f"{SPLIT_NAME}/{split}_pairs.txt": "\n".join(pairs).encode() for split, pairs in SPLITS.items()}
    packed = files | lists | {METADATA: (tmp_path / "t").read_bytes()}
    pack(tmp_path / "archives/cgqa.zip", {f"cgqa/{name}": content for name, content in packed.items()})
    root = acquire_root(tmp_path)
    (tmp_path / "index").mkdir()
    write_content(root, write_index(RECIPE, root, tmp_path / "index"), tmp_path / "index")
    samples = PairData.read(tmp_path / "index").samples
    assert [(sample.split, sample.state, sample.object) for sample in samples] == labels
    assert [(root / sample.path).read_bytes() for sample in samples] == [*files.values()]
    assert [*contents(tmp_path / "archives")] == ["cgqa.zip"]
    other = replace(RECIPE, document={"adapter": "compositional", "counts": COUNTS | {"val_images": 2}})
    with raises(DataError, "wrong-counts", f"{root}: val_images"):
        write_index(other, root, tmp_path / "index")


def test_an_absent_data_set_says_what_to_put_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recompose.data.transports.RETRIES", 0)
    with raises(DownloadError, "no-delivery", tmp_path / "archives/cgqa.zip") as error:
        acquire_root(tmp_path)
    assert f"{tmp_path / 'cgqa'}: images/, {METADATA}" in str(error.value)
    assert not (tmp_path / "cgqa").exists()


def test_half_a_data_set_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "cgqa/images").mkdir(parents=True)
    with pytest.raises(DataError) as caught:
        acquire_root(tmp_path)
    assert METADATA in str(caught.value)
    assert (tmp_path / "cgqa/images").exists()
