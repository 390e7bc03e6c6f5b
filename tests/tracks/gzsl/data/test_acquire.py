"""The acquisition of a data set from archives as upstream packs them."""

import io
import pickle
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import numpy as np
import pytest
from scipy.io import savemat

from recompose.data.content import write_content
from recompose.errors import DataError
from recompose.params import Archive
from recompose.plan import Recipe
from recompose.tracks.gzsl.catalogue import PublishedClasses
from recompose.tracks.gzsl.data import awa2, cub, sun
from recompose.tracks.gzsl.data.acquire import acquire, write_index
from recompose.tracks.gzsl.data.classes import ClassData
from recompose.tracks.gzsl.data.matlab import read_fields
from tests.errors import raises
from tests.tracks.gzsl.data.worlds import COUNTS, World, cells

FILES = {
    "cub": ("xlsa17.zip", "CUB_200_2011.tgz"),
    "sun": ("xlsa17.zip", "SUNAttributeDB.tar.gz", "SUNAttributeDB_Images.tar.gz"),
    "awa2": ("xlsa17.zip", "AwA2-base.zip", "AwA2-data.zip"),
}
IMAGES = {"cub": "CUB_200_2011/images", "sun": "images", "awa2": "Animals_with_Attributes2/JPEGImages"}
CLASS_LISTS = ("trainclasses1.txt", "valclasses1.txt")


def archive(file: str) -> Archive:
    return Archive(file=file, urls=[f"http://127.0.0.1:9/{file}"], sha256=None)


def acquire_root(adapter: str, data: Path) -> Path:
    recipe = Recipe("data", adapter, {"adapter": adapter}, track="gzsl")
    words = archive(f"{adapter.upper()}_attribute.pkl")
    section = PublishedClasses(adapter=adapter, archives=[*map(archive, FILES[adapter])], word_vectors=words)
    return acquire(recipe, section, data, data / adapter)


def index(adapter: str, root: Path, folder: Path) -> ClassData:
    folder.mkdir(exist_ok=True)
    recipe = Recipe("data", adapter, {"adapter": adapter}, track="gzsl")
    write_content(root, write_index(recipe, root, folder), folder)
    return ClassData.read(folder)


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


def publish(archives: Path, scratch: Path, adapter: str, *, suffix: str = ".jpg", lacking: str = "nothing") -> None:
    """Write the archives of a small data set, with another suffix of images, or without some files."""
    world = World()
    folders = [PurePosixPath(name).parent.name for name in world.index["image_files"].flat]
    if adapter == "sun":  # a/auk/indoor holds images of auk_indoor
        folders = [f"{folder[4]}/{folder[4:]}/indoor" for folder in folders]
        world.splits["allclasses_names"] = cells(f"{name[4:]}_indoor" for name in world.splits["allclasses_names"].flat)
        for name in CLASS_LISTS:
            world.lists[name] = [f"{line[4:]}_indoor" for line in world.lists[name]]
    files = [f"{IMAGES[adapter]}/{folder}/{row}.jpg" for row, folder in enumerate(folders)]
    world.index["image_files"] = cells(f"/BS/xian//{file}" for file in files)
    world.write(scratch)
    splits = {
        f"xlsa17/data/{name}/{file}": (scratch / file).read_bytes() if name == adapter.upper() else b"another"
        for name in ("CUB", "SUN", "AWA2")
        for file in ("res101.mat", "att_splits.mat", *CLASS_LISTS)
    }
    attributes = (scratch / "attributes.txt").read_bytes()
    images = {file.replace(".jpg", suffix): f"#{row}".encode() for row, file in enumerate(files)}
    contents = {"xlsa17.zip": splits}
    if adapter == "cub":
        contents["CUB_200_2011.tgz"] = {"attributes.txt": attributes, "CUB_200_2011/README": b"", **images}
    elif adapter == "awa2":
        predicates = {"Animals_with_Attributes2/predicates.txt": attributes.replace(b" ", b"\t", 1)}
        contents |= {"AwA2-base.zip": predicates, "AwA2-data.zip": {**predicates, **images}}
    else:
        savemat(scratch / "attributes.mat", {"attributes": cells(["sailing/ boating", "driving", "biking"])})
        names = {"SUNAttributeDB/attributes.mat": (scratch / "attributes.mat").read_bytes()}
        contents |= {"SUNAttributeDB.tar.gz": names, "SUNAttributeDB_Images.tar.gz": images}
    for file, packed in contents.items():
        pack(archives / file, {name: content for name, content in packed.items() if lacking not in name})
    (archives / f"{adapter.upper()}_attribute.pkl").write_bytes(pickle.dumps(world.words, 3))


@pytest.mark.parametrize(("adapter", "suffix"), [("cub", ".jpg"), ("sun", ".JPG"), ("awa2", ".jpg")])
def test_archives_are_unpacked_checked_and_indexed(tmp_path: Path, adapter: str, suffix: str) -> None:
    publish(tmp_path / "data/archives", tmp_path / "scratch", adapter, suffix=suffix)
    root = acquire_root(adapter, tmp_path / "data")
    data = index(adapter, root, tmp_path / "index")
    assert {name: data.statistics[name] for name in vars(COUNTS)} == vars(COUNTS)
    assert [(root / path).read_bytes() for path in data.paths] == [f"#{row}".encode() for row in range(10)]
    assert data.words.tolist() == World().words.tolist()
    names = "attributes.mat" if adapter == "sun" else "attributes.txt"
    lists = ["att_splits.mat", names, "images", "res101.mat", "trainclasses1.txt", "valclasses1.txt", "words.pkl"]
    assert sorted(path.name for path in root.iterdir()) == lists
    # two classes of training change places, which no count tells
    fields = read_fields(root / "res101.mat", ["labels", "image_files"])
    savemat(root / "res101.mat", {**fields, "labels": np.array([0, 2, 1, 3, 4])[fields["labels"]]})
    with raises(DataError, "other-class", place="res101.mat: labels, row 4"):
        index(adapter, root, tmp_path / "index")


@pytest.mark.parametrize(("lacking", "code"), [("valclasses1.txt", "not-one-file"), ("images", "not-one-folder")])
def test_archives_that_lack_something_leave_no_folder(tmp_path: Path, lacking: str, code: str) -> None:
    publish(tmp_path / "data/archives", tmp_path / "scratch", "cub", lacking=lacking)
    with raises(DataError, code, place=lacking):
        acquire_root("cub", tmp_path / "data")
    assert not (tmp_path / "data/cub").exists()
