"""Acquiring a data set: from archives as upstream packs them, from a folder put there by hand, drawn, or not at all."""

import io
import pickle
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import numpy as np
import pytest
from scipy.io import savemat

from recompose.data.content import write_content
from recompose.errors import DataError, DownloadError
from recompose.params import Archive
from recompose.plan import Recipe
from recompose.tracks.gzsl.catalogue import PublishedClasses
from recompose.tracks.gzsl.data import awa2, cub, sun
from recompose.tracks.gzsl.data.acquire import acquire, write_index
from recompose.tracks.gzsl.data.classes import ClassData
from recompose.tracks.gzsl.data.matlab import read_fields
from recompose.tracks.gzsl.data.xlsa17 import LAYOUT
from tests.errors import raises
from tests.tracks.gzsl.data.worlds import COUNTS, World, cells

RECIPE = Recipe("data", "cub", {"adapter": "cub"}, track="gzsl")
FILES = {
    "cub": ("xlsa17.zip", "CUB_200_2011.tgz"),
    "sun": ("xlsa17.zip", "SUNAttributeDB.tar.gz", "SUNAttributeDB_Images.tar.gz"),
    "awa2": ("xlsa17.zip", "AwA2-base.zip", "AwA2-data.zip"),
}
IMAGES = {
    "cub": "CUB_200_2011/images",
    "sun": "images",
    "awa2": "Animals_with_Attributes2/JPEGImages",
}

CLASS_LISTS = ("trainclasses1.txt", "valclasses1.txt")


def archive(file: str) -> Archive:
    return Archive(file=file, urls=[f"http://127.0.0.1:9/{file}"], sha256=None)


def section(adapter: str = "cub") -> PublishedClasses:
    return PublishedClasses(
        adapter=adapter,
        archives=[archive(file) for file in FILES[adapter]],
        word_vectors=archive(f"{adapter.upper()}_attribute.pkl"),
    )


def get(recipe: Recipe, published: PublishedClasses, data: Path, index: Path) -> ClassData:
    """What the phase data does with a data set."""
    root = acquire(recipe, published, data, data / recipe.name)
    index.mkdir(exist_ok=True)
    write_content(root, write_index(recipe, root, index), index)
    return ClassData.read(index)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (cub, sun, awa2):
        monkeypatch.setattr(module, "COUNTS", COUNTS)


def pack(path: Path, files: dict[str, bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as packed:
            for name, content in files.items():
                packed.writestr(name, content)
    else:
        with tarfile.open(path, "w:gz") as packed:
            for name, content in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(content)
                packed.addfile(info, io.BytesIO(content))


def publish(archives: Path, scratch: Path, adapter: str, *, suffix: str = ".jpg") -> None:
    """The small data set as the archives of a public one hold it, or with another suffix of images."""
    world = World()
    folders = [PurePosixPath(name).parent.name for name in world.index["image_files"].flat]
    if adapter == "sun":  # a/auk/indoor holds images of auk_indoor
        places = [f"{folder[4]}/{folder[4:]}/indoor" for folder in folders]
        world.splits["allclasses_names"] = cells(f"{name[4:]}_indoor" for name in world.splits["allclasses_names"].flat)
        for name in CLASS_LISTS:
            world.lists[name] = [f"{line[4:]}_indoor" for line in world.lists[name]]
    else:
        places = folders
    files = [f"{IMAGES[adapter]}/{place}/{row}.jpg" for row, place in enumerate(places)]
    world.index["image_files"] = cells(f"/BS/xian//{file}" for file in files)
    world.write(scratch)
    splits = {
        f"xlsa17/data/{name}/{file}": (scratch / file).read_bytes() if name == adapter.upper() else b"another"
        for name in ("CUB", "SUN", "AWA2")
        for file in ("res101.mat", "att_splits.mat", *CLASS_LISTS)
    }
    pack(archives / "xlsa17.zip", splits)
    (archives / f"{adapter.upper()}_attribute.pkl").write_bytes(pickle.dumps(world.words, 3))
    attributes = (scratch / "attributes.txt").read_bytes()
    images = {file.replace(".jpg", suffix): f"#{row}".encode() for row, file in enumerate(files)}
    if adapter == "cub":
        pack(archives / "CUB_200_2011.tgz", {"attributes.txt": attributes, "CUB_200_2011/README": b"", **images})
    elif adapter == "awa2":
        predicates = {"Animals_with_Attributes2/predicates.txt": attributes.replace(b" ", b"\t", 1)}
        pack(archives / "AwA2-base.zip", predicates)
        pack(archives / "AwA2-data.zip", {**predicates, **images})
    else:
        savemat(scratch / "attributes.mat", {"attributes": cells(["sailing/ boating", "driving", "biking"])})
        names = {"SUNAttributeDB/attributes.mat": (scratch / "attributes.mat").read_bytes()}
        pack(archives / "SUNAttributeDB.tar.gz", names)
        pack(archives / "SUNAttributeDB_Images.tar.gz", images)


@pytest.mark.parametrize(("adapter", "suffix"), [("cub", ".jpg"), ("sun", ".JPG"), ("awa2", ".jpg")])
def test_archives_are_unpacked_checked_and_indexed(tmp_path: Path, adapter: str, suffix: str) -> None:
    archives = tmp_path / "data/archives"
    publish(archives, tmp_path / "scratch", adapter, suffix=suffix)
    recipe = Recipe("data", adapter, {"adapter": adapter}, track="gzsl")
    data = get(recipe, section(adapter), tmp_path / "data", tmp_path / "index")
    assert {name: data.statistics[name] for name in vars(COUNTS)} == vars(COUNTS)
    root = tmp_path / "data" / adapter
    assert [(root / path).read_bytes() for path in data.paths] == [f"#{row}".encode() for row in range(10)]
    assert data.words.tolist() == World().words.tolist()
    assert not list(archives.glob("*.unpacked"))
    names = "attributes.mat" if adapter == "sun" else "attributes.txt"
    lists = ["att_splits.mat", names, "images", "res101.mat", "trainclasses1.txt", "valclasses1.txt", "words.pkl"]
    assert sorted(path.name for path in root.iterdir()) == lists


@pytest.mark.slow
@pytest.mark.parametrize("adapter", ["cub", "sun", "awa2"])
def test_labels_that_count_other_classes_are_noticed(tmp_path: Path, adapter: str) -> None:
    """Two classes of training change places, which no count tells."""
    publish(tmp_path / "data/archives", tmp_path / "scratch", adapter)
    recipe = Recipe("data", adapter, {"adapter": adapter}, track="gzsl")
    root = acquire(recipe, section(adapter), tmp_path / "data", tmp_path / "data" / adapter)
    fields = read_fields(root / "res101.mat", ["labels", "image_files"])
    exchanged = np.array([0, 2, 1, 3, 4])[fields["labels"]]
    savemat(root / "res101.mat", {**fields, "labels": exchanged})
    with raises(DataError, "other-class", place="res101.mat: labels, row 4"):
        write_index(recipe, root, tmp_path)


def test_an_absent_data_set_says_what_to_put_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recompose.data.transports.RETRIES", 0)
    with raises(DownloadError, "no-delivery", tmp_path / "data/archives/CUB_attribute.pkl") as error:
        get(RECIPE, section(), tmp_path / "data", tmp_path / "index")
    assert f"{tmp_path / 'data/cub'}: {LAYOUT}" in str(error.value)
    assert not (tmp_path / "data/cub").exists()


def test_half_a_data_set_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "data/cub/images").mkdir(parents=True)
    with raises(DataError, "incomplete-folder", place="att_splits.mat"):
        get(RECIPE, section(), tmp_path / "data", tmp_path / "index")
    assert (tmp_path / "data/cub/images").exists()


@pytest.mark.parametrize("lacking", ["valclasses1.txt", "images"])
def test_archives_that_lack_something_leave_no_folder(tmp_path: Path, lacking: str) -> None:
    archives = tmp_path / "data/archives"
    publish(archives, tmp_path / "scratch", "cub")
    for path in archives.glob("*z*"):
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as packed:
                files = {name: packed.read(name) for name in packed.namelist()}
        else:
            with tarfile.open(path) as packed:
                files = {member.name: packed.extractfile(member).read() for member in packed}  # type: ignore[union-attr]
        pack(path, {name: content for name, content in files.items() if lacking not in name})
    with raises(DataError, place=lacking) as caught:
        get(RECIPE, section(), tmp_path / "data", tmp_path / "index")
    assert caught.value.code in ("not-one-file", "not-one-folder")
    assert not (tmp_path / "data/cub").exists()
