"""The form xlsa17: what is read of a small data set, what is refused by name, and archives as upstream packs them."""

import os
import pickle
import struct
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

import h5py
import numpy as np
import pytest
from scipy.io import savemat

from benchmarks.stand_ins.project import read_params
from recompose.data.content import write_content
from recompose.errors import DataError, WordVectorsError
from recompose.recipes.plan import Recipe
from recompose.tracks import TRACKS, acquiring
from recompose.tracks.gzsl.catalogue import ADAPTERS, Xlsa17Classes
from recompose.tracks.gzsl.data import matlab, xlsa17
from recompose.tracks.gzsl.data.classes import ClassData
from recompose.tracks.gzsl.data.matlab import read_fields
from recompose.tracks.gzsl.data.word_vectors import read_words
from recompose.tracks.planning import data_recipe
from tests.errors import raises
from tests.precision import ROUNDING
from tests.tracks.gzsl.data.worlds import COUNTS, World, cells, column, read_at_once, unit_columns
from tests.tracks.loops import assert_same
from tests.tracks.vlc.data.published import archive, pack


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "birds"


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read files in this process."""
    monkeypatch.setattr(xlsa17, "read_fields", read_at_once)


# reading


def test_a_data_set_is_read(root: Path, at_once: None) -> None:
    data = xlsa17.read(World().write(root), COUNTS)
    assert data.classes == ("002.auk", "004.kea", "001.owl", "003.jay")
    assert data.attributes == ("has_bill::curved (up)", "has_wing::red", "has_tail::long")
    assert data.paths[:4] == (*(f"images/001.owl/owl_{row}.jpg" for row in range(3)), "images/002.auk/auk_3.jpg")
    assert data.labels.tolist() == [2, 2, 2, 0, 0, 3, 3, 1, 1, 1]
    short = {"trainval": "t", "test_seen": "s", "test_unseen": "u"}
    assert [short[split] for split in data.splits] == list("ttstsuutst")
    assert data.seen.tolist() == [True, True, True, False]
    assert data.validation.tolist() == [False, False, True, False]
    assert data.words.tolist() == [[1, 2], [0, 0], [-3, 0.5]]
    assert not data.hard.any()
    assert {array.dtype for array in (data.signatures, data.words)} == {np.dtype(np.float32)}
    np.testing.assert_allclose(data.signatures[2], np.array([0, 10, 60]) / np.hypot(10, 60), rtol=ROUNDING)


def test_training_and_validation_know_no_image_of_the_test(root: Path, at_once: None) -> None:
    data = xlsa17.read(World().write(root), COUNTS)
    assert data.training_rows.tolist() == [3, 7, 9]
    assert data.validation_rows.tolist() == [0, 1]
    assert {data.classes[label] for label in data.labels[data.training_rows]} == {"002.auk", "004.kea"}


def test_what_is_read_is_written_and_read_as_an_index(root: Path, at_once: None, tmp_path: Path) -> None:
    world = World()
    world.index["hard"] = column(*[True, False] * 5)
    data = xlsa17.read(world.write(root), COUNTS)
    assert data.hard.tolist() == [True, False] * 5
    (tmp_path / "index").mkdir()
    data.write(tmp_path / "index")
    assert_same(ClassData.read(tmp_path / "index"), data)


# what is refused


def give(part: str, name: str, value: Any) -> Callable[[World], None]:
    return lambda world: getattr(world, part).update({name: value})


def put(part: str, name: str, place: Any, value: Any) -> Callable[[World], None]:
    """Have one entry of a field be another."""

    def change(world: World) -> None:
        field = getattr(world, part)[name]
        field = field.astype(float) if isinstance(value, float) else field
        field[place] = value
        getattr(world, part)[name] = field

    return change


def listed(name: str, *lines: str) -> Callable[[World], None]:
    return lambda world: world.lists.update({name: [*world.lists[name], *lines]})


def without(part: str, name: str) -> Callable[[World], None]:
    return lambda world: getattr(world, part).pop(name)


REFUSED: list[tuple[str, str, Callable[[World], Any]]] = [
    ("missing-field", "res101.mat: labels", without("index", "labels")),
    ("wrong-type", "res101.mat: labels", give("index", "labels", cells(["owl"] * 10))),
    *(("wrong-number", "res101.mat: labels, row 7", put("index", "labels", 6, one)) for one in (0.0, 5.0, np.nan)),
    ("wrong-count", "res101.mat: labels", give("index", "labels", np.ones((9, 1)))),
    ("outside-folder", "image_files, row 5", put("index", "image_files", (4, 0), "/BS/images/../../etc/passwd")),
    ("outside-folder", "image_files, row 5", put("index", "image_files", (4, 0), "/BS/pictures/x.jpg")),
    # in two splits it would be a leak that no place in a split tells
    ("duplicate-image", "image_files, row 10", put("index", "image_files", (9, 0), "/images/001.owl/owl_2.jpg")),
    ("wrong-number", "att_splits.mat: test_seen_loc, row 2", give("splits", "test_seen_loc", column(9, 11, 5))),
    ("two-splits", "att_splits.mat: test_seen_loc, row 3", give("splits", "test_seen_loc", column(9, 3, 4))),
    ("no-split", "att_splits.mat", give("splits", "test_seen_loc", column(9, 5))),
    (
        "seen-and-unseen",
        "the class 003.jay",
        lambda world: world.splits.update(trainval_loc=column(10, 1, 2, 4, 8, 6), test_unseen_loc=column(7)),
    ),
    (
        "untrained-class",
        "the class 002.auk",
        lambda world: world.splits.update(trainval_loc=column(10, 1, 2, 8), test_seen_loc=column(9, 3, 5, 4)),
    ),
    (
        "empty-class",
        "the class 005.emu",
        give("splits", "allclasses_names", cells(["002.auk", "004.kea", "001.owl", "003.jay", "005.emu"])),
    ),
    *(("wrong-classes", "", listed("valclasses1.txt", "", name)) for name in ("005.emu", "003.jay", "004.kea")),
    ("wrong-classes", "", give("lists", "valclasses1.txt", [])),
    ("wrong-length", "att_splits.mat: att, column 3", put("splits", "att", (1, 2), np.nan)),
    ("wrong-length", "att, column 4", put("splits", "att", (slice(None), 3), 0.0)),
    ("wrong-shape", "att_splits.mat: att", give("splits", "att", unit_columns(np.ones((4, 3))))),
    ("wrong-line", "attributes.txt:3", give("lists", "attributes.txt", ["1 a", "2 b", "4 c"])),
    ("wrong-count", "words.npy", lambda world: setattr(world, "words", np.ones((4, 2)))),
]


@pytest.mark.parametrize(("code", "place", "change"), REFUSED)
def test_what_is_wrong_with_a_data_set_is_named(
    root: Path, at_once: None, code: str, place: str, change: Callable[[World], Any]
) -> None:
    world = World()
    change(world)
    with raises(DataError, code, place=place) as caught:
        xlsa17.read(world.write(root), COUNTS)
    assert "\n" not in str(caught.value)
    assert str(root) in str(caught.value)


# counts


def test_each_wrong_count_is_named(root: Path, at_once: None) -> None:
    World().write(root)
    for name, count in COUNTS.items():
        with raises(DataError, "wrong-counts", place=f"{root}: {name}"):
            xlsa17.read(root, COUNTS | {name: count + 7})


FILES = {
    "cub": ("xlsa17.zip", "CUB_200_2011.tgz"),
    "sun": ("xlsa17.zip", "SUNAttributeDB.tar.gz", "SUNAttributeDB_Images.tar.gz"),
    "awa2": ("xlsa17.zip", "AwA2-base.zip", "AwA2-data.zip"),
}
IMAGES = {"cub": "CUB_200_2011/images", "sun": "images", "awa2": "Animals_with_Attributes2/JPEGImages"}
CLASS_LISTS = ("trainclasses1.txt", "valclasses1.txt")


def recipe_of(adapter: str) -> Recipe:
    """Return the recipe of a small data set in place of the published one of params.yaml."""
    files = {
        "counts": COUNTS,
        "archives": [archive(file).model_dump() for file in FILES[adapter]],
        "word_vectors": archive(f"{adapter.upper()}_attribute.pkl").model_dump(),
    }
    section = Xlsa17Classes.model_validate(read_params()["gzsl"]["datasets"][adapter] | files)
    return data_recipe(TRACKS["gzsl"], adapter, section, ADAPTERS["xlsa17"], seed=0)


def acquire_root(adapter: str, data: Path) -> Path:
    root = acquiring.acquire(recipe_of(adapter), data)
    assert root == data / adapter
    return root


def index(adapter: str, root: Path, folder: Path) -> ClassData:
    folder.mkdir(exist_ok=True)
    write_content(root, acquiring.index(recipe_of(adapter), root, folder), folder)
    return ClassData.read(folder)


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
def test_archives_are_unpacked_checked_and_indexed(tmp_path: Path, at_once: None, adapter: str, suffix: str) -> None:
    publish(tmp_path / "data/archives", tmp_path / "scratch", adapter, suffix=suffix)
    root = acquire_root(adapter, tmp_path / "data")
    data = index(adapter, root, tmp_path / "index")
    assert data.statistics.items() >= COUNTS.items()
    assert [(root / path).read_bytes() for path in data.paths] == [f"#{row}".encode() for row in range(10)]
    assert data.words.tolist() == World().words.tolist()
    names = "attributes.mat" if adapter == "sun" else "attributes.txt"
    lists = ["att_splits.mat", names, "images", "res101.mat", "trainclasses1.txt", "valclasses1.txt", "words.pkl"]
    assert sorted(path.name for path in root.iterdir()) == lists
    # two classes of training change places, which no count tells
    fields = read_at_once(root / "res101.mat", ["labels", "image_files"])
    savemat(root / "res101.mat", {**fields, "labels": np.array([0, 2, 1, 3, 4])[fields["labels"]]})
    with raises(DataError, "other-class", place="res101.mat: labels, row 4"):
        index(adapter, root, tmp_path / "index")


@pytest.mark.parametrize(("lacking", "code"), [("valclasses1.txt", "not-one-file"), ("images", "not-one-folder")])
def test_archives_that_lack_something_leave_no_folder(tmp_path: Path, lacking: str, code: str) -> None:
    publish(tmp_path / "data/archives", tmp_path / "scratch", "cub", lacking=lacking)
    with raises(DataError, code, place=lacking):
        acquire_root("cub", tmp_path / "data")
    assert not (tmp_path / "data/cub").exists()


# fields of MATLAB files, and files that are damaged, hostile or of another kind


FIELDS = {
    "att": np.arange(12.0).reshape(3, 4) / 7,
    "loc": np.array([[3], [1]], dtype=np.uint16),
    "names": cells(["owl", "", "grizzly+bear", "狗 été"]),
    "flag": np.array([[True], [False]]),
}


def write_version_7(path: Path) -> None:
    """Write the fields in HDF5 as MATLAB 7.3 does: behind its header, transposed, texts in datasets of their own."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, array in FIELDS.items():
            if array.dtype == object:
                references = file.create_dataset(name, array.T.shape, h5py.ref_dtype)
                for number, text in enumerate(array.flat):
                    units = np.frombuffer(text.encode("utf-16-le"), "<u2")[:, None]
                    cell = file.create_dataset(f"#refs#/{number}", data=units if text else np.zeros(2, np.uint64))
                    cell.attrs["MATLAB_class"] = np.bytes_("char")
                    if not text:
                        cell.attrs["MATLAB_empty"] = 1
                    references[0, number] = cell.ref
            else:
                file[name] = array.T.astype(np.uint8) if array.dtype == bool else array.T
    with path.open("r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")


WRITERS: dict[str, Callable[[Path], None]] = {
    "5": lambda path: savemat(path, FIELDS),
    "5 packed": lambda path: savemat(path, FIELDS, do_compression=True),
    "7.3": write_version_7,
}


@pytest.mark.slow
@pytest.mark.parametrize("version", WRITERS)
def test_packed_files_hold_the_same(tmp_path: Path, version: str) -> None:
    WRITERS[version](tmp_path / "a.mat")
    fields = read_fields(tmp_path / "a.mat", FIELDS)
    assert fields.keys() == FIELDS.keys()
    for name, array in FIELDS.items():
        assert fields[name].shape == array.shape
        assert fields[name].tolist() == array.tolist()
    assert read_fields(tmp_path / "a.mat", ["loc", "labels"]).keys() == {"loc"}


def end_early(path: Path, version: str, size: int) -> None:
    WRITERS[version](path)
    path.write_bytes(path.read_bytes()[:size])


def declare_huge_shape(path: Path) -> None:
    savemat(path, {"att": cells(["owl"] * 4).reshape(2, 2)})
    sides = struct.pack("<ii", 2, 2)
    path.write_bytes(path.read_bytes().replace(sides, struct.pack("<ii", 2**30, 2**20)))


WRONG: list[tuple[str, Callable[[Path], object]]] = [
    ("missing-file", lambda path: None),
    ("damaged-file", lambda path: path.write_bytes(b"<html>not found</html>")),
    ("damaged-file", lambda path: end_early(path, "5 packed", 200)),
    ("damaged-file", lambda path: path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")),
    ("damaged-file", declare_huge_shape),
    ("wrong-field", lambda path: savemat(path, {"att": np.array([1 + 2j])})),
]


@pytest.mark.slow
@pytest.mark.parametrize(("code", "write"), WRONG)
def test_another_file_or_field_is_refused_by_one_line(
    tmp_path: Path, code: str, write: Callable[[Path], object]
) -> None:
    write(tmp_path / "a.mat")
    with raises(DataError, code, place=tmp_path / "a.mat") as caught:
        read_fields(tmp_path / "a.mat", ["att"])
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("does", ["import os; os.abort()", "import time; time.sleep(60)"])
def test_a_reader_that_crashes_or_does_not_end_is_an_error_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str
) -> None:
    """A module of the search path takes the place of the reader of version 5."""
    WRITERS["5"](tmp_path / "a.mat")
    (tmp_path / "crashing.py").write_text(does)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(matlab.mat_fields, "__name__", "crashing")
    monkeypatch.setattr(matlab, "MOST_SECONDS", 2)
    with raises(DataError, "damaged-file", place=tmp_path / "a.mat"):
        read_fields(tmp_path / "a.mat", ["att"])


@pytest.mark.slow
def test_a_field_that_unpacks_to_more_than_is_allowed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matlab, "MOST_BYTES", 90)
    WRITERS["5"](tmp_path / "a.mat")
    with raises(DataError, "wrong-field", place=tmp_path / "a.mat"):
        read_fields(tmp_path / "a.mat", ["att"])


# word vectors


VECTORS = np.random.default_rng(0).normal(size=(4, 6))
VECTORS[2] = 0  # as that of one of SUN's attributes
SIDES = b"K\x04K\x06\x86"  # of the vectors in a pickle


def dump(content: Any, protocol: int = 3) -> Callable[[Path], None]:
    return lambda path: path.with_suffix(".pkl").write_bytes(pickle.dumps(content, protocol))


def dump_bytes(content: bytes) -> Callable[[Path], None]:
    return lambda path: path.with_suffix(".pkl").write_bytes(content)


def save_vectors(content: np.ndarray) -> Callable[[Path], None]:
    return lambda path: np.save(path.with_suffix(".npy"), content)


def written(folder: Path, write: Callable[[Path], None]) -> Path:
    write(folder / "words")
    (path,) = folder.glob("words.*")
    return path


@pytest.mark.parametrize(
    "write",
    [
        dump(VECTORS),
        dump(VECTORS.astype(">f8"), 4),
        dump(np.asfortranarray(VECTORS)),
        # the published ones name NumPy's parts as versions before 2 did
        dump_bytes(pickle.dumps(VECTORS, 3).replace(b"numpy._core.multiarray", b"numpy.core.multiarray")),
        save_vectors(VECTORS),
    ],
)
def test_an_array_is_read_however_it_was_written(tmp_path: Path, write: Callable[[Path], None]) -> None:
    words = read_words(written(tmp_path, write))
    assert words.dtype == np.float32
    assert np.array_equal(words, VECTORS.astype(np.float32))


class HostileVectors:
    """An object whose pickle makes a folder as soon as it is opened."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("run",)


def save_hostile(path: Path) -> None:
    np.save(path.with_suffix(".npy"), np.array([HostileVectors()], dtype=object), allow_pickle=True)


def save_too_short(path: Path) -> None:
    save_vectors(VECTORS)(path)
    file = path.with_suffix(".npy")
    file.write_bytes(file.read_bytes().replace(b"(4, 6), }" + b" " * 10, b"(400000000, 600), }"))


NOT_FINITE, TOO_LARGE = VECTORS.copy(), VECTORS.copy()
NOT_FINITE[3, 1], TOO_LARGE[3, 1] = np.nan, 1e39
WRONG_VECTORS: list[tuple[str, Callable[[Path], None]]] = [
    ("hostile-pickle", dump(HostileVectors())),
    ("hostile-pickle", dump_bytes(b"cos\nsystem\n(S'touch run'\ntR.")),
    ("hostile-pickle", dump_bytes(b"cnumpy.core.multiarray\nfromfile\n.")),
    ("hostile-pickle", dump_bytes(b"crecompose.tracks.gzsl.data.word_vectors\n_PARTS\n.")),
    ("no-array", dump_bytes(b"<html>not found</html>")),
    ("no-array", dump_bytes(b"cnumpy\nndarray\n.")),  # a part of an array alone
    ("no-array", dump_bytes(pickle.dumps(VECTORS, 3).replace(SIDES, b"K\x04K\xff\x86"))),
    ("no-array", dump(VECTORS.tolist())),
    ("no-array", save_hostile),
    ("no-array", save_too_short),
    ("wrong-shape", save_vectors(VECTORS[0])),
    ("not-finite", dump(NOT_FINITE)),
    ("not-finite", dump(TOO_LARGE)),
]


@pytest.mark.parametrize(("code", "write"), WRONG_VECTORS)
def test_other_content_is_refused_and_nothing_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, write: Callable[[Path], None]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, write)
    with raises(WordVectorsError, code, f"{path}:4" if code == "not-finite" else path):
        read_words(path)
    assert [*tmp_path.iterdir()] == [path]


def test_missing_vectors_are_named(tmp_path: Path) -> None:
    with raises(WordVectorsError, "missing-file", tmp_path / "words.pkl"):
        read_words(tmp_path / "words.pkl")
