"""The form xlsa17: what is read of a small data set, and everything that is refused by name."""

import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import savemat

from recompose.errors import DataError
from recompose.tracks.gzsl.data import xlsa17
from recompose.tracks.gzsl.data.classes import SPLITS, ClassData
from tests.errors import raises
from tests.tracks.gzsl.data.worlds import COUNTS, ELSEWHERE, World, cells, column, unit_columns


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "birds"


def refuse(root: Path, code: str, place: object, world: World | None = None) -> None:
    """Check that a data set is refused with one line that names its folder and the place in it."""
    if world:
        world.write(root)
    with raises(DataError, code, place=place) as caught:
        xlsa17.read(root, COUNTS)
    assert "\n" not in str(caught.value)
    assert str(root) in str(caught.value)


def same(one: ClassData, other: ClassData) -> bool:
    """Whether two data sets are equal, types included."""
    theirs = vars(other)
    return all(
        value.dtype == theirs[name].dtype and np.array_equal(value, theirs[name])
        if isinstance(value, np.ndarray)
        else value == theirs[name]
        for name, value in vars(one).items()
        if name in ClassData.__dataclass_fields__
    )


# reading


@pytest.mark.slow
@pytest.mark.parametrize("version", [5, 7])
def test_a_data_set_is_read_from_files_of_both_versions(root: Path, version: int) -> None:
    data = xlsa17.read(World().write(root, version=version), COUNTS)
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
    np.testing.assert_allclose(data.signatures[2], np.array([0, 10, 60]) / np.hypot(10, 60), rtol=1e-7)


def test_training_and_validation_know_no_image_of_the_test(root: Path) -> None:
    data = xlsa17.read(World().write(root), COUNTS)
    assert data.training_rows.tolist() == [3, 7, 9]
    assert data.validation_rows.tolist() == [0, 1]
    assert {data.classes[label] for label in data.labels[data.training_rows]} == {"002.auk", "004.kea"}


@pytest.mark.slow
@pytest.mark.parametrize("version", [5, 7])
def test_hard_images_are_read_where_the_index_knows_them(root: Path, version: int) -> None:
    world = World()
    world.index["hard"] = column(*[0, 1] * 5).astype(np.uint8)
    assert xlsa17.read(world.write(root, version=version), COUNTS).hard.tolist() == [False, True] * 5


def test_what_is_read_is_written_and_read_as_an_index(root: Path, tmp_path: Path) -> None:
    world = World()
    world.index["hard"] = column(*[True, False] * 5)
    data = xlsa17.read(world.write(root), COUNTS)
    (tmp_path / "index").mkdir()
    data.write(tmp_path / "index")
    assert same(ClassData.read(tmp_path / "index"), data)


def test_labels_and_places_may_be_floats_and_rows(root: Path) -> None:
    """MATLAB's own numbers are doubles."""
    before = xlsa17.read(World().write(root), COUNTS)
    world = World()
    world.index["labels"] = world.index["labels"].astype(np.float64)
    world.splits["trainval_loc"] = world.splits["trainval_loc"].astype(np.float32).T
    assert same(xlsa17.read(world.write(root), COUNTS), before)


@pytest.mark.slow
def test_names_of_attributes_may_stand_in_a_matlab_file(root: Path) -> None:
    world = World()
    before = xlsa17.read(world.write(root), COUNTS)
    (root / "attributes.txt").unlink()
    savemat(root / "attributes.mat", {"attributes": cells(before.attributes)})
    assert same(xlsa17.read(root, COUNTS), before)
    assert "attributes.mat" in xlsa17.annotation_files(root)


def test_the_files_that_it_is_read_from_are_named(root: Path) -> None:
    World().write(root)
    there = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    assert {*xlsa17.annotation_files(root), *xlsa17.read(root, COUNTS).paths} == there


@pytest.mark.slow
def test_features_are_not_unpacked(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recompose.tracks.gzsl.data.matlab.MOST_BYTES", 10_000)
    world = World()
    world.index["features"] = np.zeros((2048, 100))
    for version in (5, 7):
        assert len(xlsa17.read(world.write(root, version=version), COUNTS).paths) == 10


@pytest.mark.parametrize("before", ["images", f"{ELSEWHERE}/old/images", "/data/AwA//JPEGImages", "C:/x/./images"])
def test_only_what_is_below_the_images_counts_of_a_path(root: Path, before: str) -> None:
    expected = xlsa17.read(World().write(root), COUNTS).paths
    world = World()
    world.index["image_files"] = cells(name.replace(ELSEWHERE, before) for name in world.index["image_files"].flat)
    assert xlsa17.read(world.write(root), COUNTS).paths == expected


@st.composite
def worlds(draw: Any) -> tuple[World, dict[str, Any]]:
    """A data set with random classes, splits and places, and what is to be read of it."""
    seen, validation, unseen = (draw(st.integers(1, 3)) for _ in range(3))
    count = seen + validation + unseen
    order = np.array(draw(st.permutations(range(count))))  # place among the classes -> kind of class
    kinds = np.array(["train"] * seen + ["val"] * validation + ["unseen"] * unseen)[order]
    images = [(label, "trainval" if kinds[label] != "unseen" else "test_unseen") for label in range(count)]
    for label, test in draw(st.lists(st.tuples(st.integers(0, count - 1), st.booleans()), max_size=12)):
        images.append((label, "test_unseen" if kinds[label] == "unseen" else ["trainval", "test_seen"][test]))
    images = draw(st.permutations(images))
    labels, splits = (np.array(values) for values in zip(*images, strict=True))
    names = [f"{number:03d}.c" for number in draw(st.permutations(range(count)))]
    attributes = draw(st.integers(1, 4))
    strengths = np.random.default_rng(draw(st.integers(0, 99))).uniform(0.1, 1, size=(attributes, count))
    world = World(
        {"labels": labels[:, None] + 1, "image_files": cells(f"/x/images/{row}.jpg" for row in range(len(images)))},
        {
            "allclasses_names": cells(names),
            "att": unit_columns(strengths),
            **{f"{split}_loc": np.flatnonzero(splits == split)[:, None] + 1 for split in SPLITS},
        },
        {
            "trainclasses1.txt": [names[label] for label in np.flatnonzero(kinds == "train")],
            "valclasses1.txt": [names[label] for label in np.flatnonzero(kinds == "val")],
            "attributes.txt": [f"{number + 1}\ta{number}" for number in range(attributes)],
        },
        np.ones((attributes, 2), dtype=np.float32),
    )
    return world, {"classes": tuple(names), "labels": labels, "splits": splits, "kinds": kinds}


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(worlds())
def test_any_data_set_is_read_as_it_is(pair: tuple[World, dict[str, Any]]) -> None:
    world, right = pair
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(xlsa17, "_check_images", lambda data, root: None)
        patch.setattr(xlsa17, "_check_counts", lambda data, expected, root: None)
        data = xlsa17.read(world.write(Path(folder)), COUNTS)
    kinds = right["kinds"]
    assert data.classes == right["classes"]
    assert np.array_equal(data.labels, right["labels"])
    assert np.array_equal(data.splits, right["splits"])
    assert np.array_equal(data.seen, kinds != "unseen")
    assert np.array_equal(data.validation, kinds == "val")
    assert not set(data.training_rows) & set(data.validation_rows)
    assert set(data.training_rows) | set(data.validation_rows) == set(data.rows("trainval"))
    np.testing.assert_allclose(np.linalg.norm(data.signatures, axis=1), 1, rtol=1e-6)


# files and fields


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("res101.mat", "missing-file"),
        ("att_splits.mat", "missing-file"),
        ("trainclasses1.txt", "damaged-file"),
        ("valclasses1.txt", "damaged-file"),
        ("attributes.txt", "not-one-file"),
        ("words.npy", "not-one-file"),
    ],
)
def test_a_missing_file_is_named(root: Path, name: str, code: str) -> None:
    World().write(root)
    (root / name).unlink()
    refuse(root, code, name if code != "not-one-file" else root)


@pytest.mark.parametrize("name", ["attributes", "words"])
def test_two_files_of_one_thing_are_refused(root: Path, name: str) -> None:
    World().write(root)
    for file in (f"{name}.txt", f"{name}.mat", f"{name}.pkl", f"{name}.npy"):
        (root / file).touch()
    refuse(root, "not-one-file", root)


@pytest.mark.parametrize("field", ["labels", "image_files"])
def test_an_index_without_a_field_is_refused(root: Path, field: str) -> None:
    world = World()
    del world.index[field]
    refuse(root, "missing-field", f"res101.mat: {field}", world)


@pytest.mark.parametrize("field", ["att", "allclasses_names", "trainval_loc", "test_seen_loc", "test_unseen_loc"])
def test_splits_without_a_field_are_refused(root: Path, field: str) -> None:
    world = World()
    del world.splits[field]
    refuse(root, "missing-field", f"att_splits.mat: {field}", world)


def test_a_field_of_another_kind_is_refused(root: Path) -> None:
    world = World()
    world.index["labels"] = cells(["owl"] * 10)
    refuse(root, "wrong-type", "res101.mat: labels", world)
    world = World()
    world.splits["allclasses_names"] = column(1, 2, 3, 4)
    refuse(root, "wrong-type", "att_splits.mat: allclasses_names", world)
    world = World()
    world.splits["att"] = cells(["red"] * 3)
    refuse(root, "wrong-shape", "att_splits.mat: att", world)


def test_a_table_in_the_place_of_a_column_is_refused(root: Path) -> None:
    world = World()
    world.index["labels"] = world.index["labels"].reshape(5, 2)
    refuse(root, "wrong-shape", "res101.mat: labels", world)


# images


@pytest.mark.parametrize("label", [0, 5, -1, 2.5, np.nan, np.inf])
def test_a_label_of_no_class_is_refused(root: Path, label: float) -> None:
    world = World()
    world.index["labels"] = world.index["labels"].astype(float)
    world.index["labels"][6] = label
    refuse(root, "wrong-number", "res101.mat: labels, row 7", world)


def test_fewer_labels_than_images_are_refused(root: Path) -> None:
    world = World()
    world.index["labels"] = world.index["labels"][:-1]
    refuse(root, "wrong-count", "res101.mat: labels", world)


@pytest.mark.parametrize(
    "name",
    [
        "/BS/images/../../etc/passwd",
        "images/../images/x.jpg",
        "../images/x.jpg",
        "/etc/passwd",
        "/BS/images",
        "/BS/images/",
        "/BS/images/..",
        "/BS/images/a\\..\\x.jpg",
        "/BS/pictures/x.jpg",
        "",
    ],
)
def test_an_image_outside_its_folder_is_refused(root: Path, name: str) -> None:
    world = World()
    world.index["image_files"][4, 0] = name
    refuse(root, "outside-folder", "res101.mat: image_files, row 5", world)


@settings(max_examples=200, deadline=None)
@given(st.text("ab./\\\0:~ é", max_size=12), st.sampled_from(["", "/x/images/", "images/", "JPEGImages//"]))
def test_no_name_leads_out_of_the_folder(name: str, before: str) -> None:
    place = xlsa17._below_images(before + name)
    if place is not None:
        resolved = Path(f"/data/{place}").resolve()
        assert resolved.is_relative_to("/data/images") and resolved != Path("/data/images")


def test_an_image_that_stands_there_twice_is_refused(root: Path) -> None:
    """In two splits it would be a leak that no place in a split tells."""
    world = World()
    world.index["image_files"][9] = world.index["image_files"][2, 0].replace("/BS/", "/")
    refuse(root, "duplicate-image", "image_files, row 10", world)


def test_missing_images_are_counted(root: Path) -> None:
    World().write(root)
    (root / "images/001.owl/owl_1.jpg").unlink()
    (root / "images/004.kea/kea_9.jpg").unlink()
    refuse(root, "missing-image", "images/001.owl/owl_1.jpg")


@pytest.mark.parametrize("hard", [column(0, 1), column(*[2] * 10), column(*[0.5] * 10), cells(["no"] * 10)])
def test_flags_of_hard_images_have_to_be_flags(root: Path, hard: np.ndarray) -> None:
    world = World()
    world.index["hard"] = hard
    refuse(root, "wrong-flags", "res101.mat: hard", world)


@pytest.mark.parametrize("place", [0, 11, 2.5, np.nan])
def test_a_place_of_no_image_is_refused(root: Path, place: float) -> None:
    world = World()
    world.splits["test_seen_loc"] = column(9, place, 5)
    refuse(root, "wrong-number", "att_splits.mat: test_seen_loc, row 2", world)


def test_an_image_in_two_splits_is_refused(root: Path) -> None:
    world = World()
    world.splits["test_seen_loc"] = column(9, 3, 4)
    refuse(root, "two-splits", "att_splits.mat: test_seen_loc, row 3", world)


def test_an_image_twice_in_a_split_is_refused(root: Path) -> None:
    world = World()
    world.splits["trainval_loc"] = column(10, 1, 2, 1, 8)
    refuse(root, "duplicate-image", "att_splits.mat: trainval_loc", world)


def test_an_image_in_no_split_is_refused(root: Path) -> None:
    world = World()
    world.splits["test_seen_loc"] = column(9, 5)
    refuse(root, "no-split", "att_splits.mat", world)


# classes


def test_a_class_that_is_seen_and_unseen_is_refused(root: Path) -> None:
    world = World()
    world.splits |= {"trainval_loc": column(10, 1, 2, 4, 8, 6), "test_unseen_loc": column(7)}
    refuse(root, "seen-and-unseen", "the class 003.jay", world)


def test_a_class_that_only_the_test_of_seen_classes_has_is_refused(root: Path) -> None:
    world = World()
    world.splits |= {"trainval_loc": column(10, 1, 2, 8), "test_seen_loc": column(9, 3, 5, 4)}
    refuse(root, "untrained-class", "the class 002.auk", world)


def test_a_class_without_images_is_refused(root: Path) -> None:
    world = World()
    world.splits["allclasses_names"] = cells([*world.splits["allclasses_names"].flat, "005.emu"])
    refuse(root, "empty-class", "the class 005.emu", world)


@pytest.mark.parametrize("name", ["002.auk", "", " "])
def test_classes_have_names_of_their_own(root: Path, name: str) -> None:
    world = World()
    world.splits["allclasses_names"][2, 0] = name
    refuse(root, "duplicate-name" if name.strip() else "no-name", "att_splits.mat: class 3", world)


@pytest.mark.parametrize("name", ["trainclasses1.txt", "valclasses1.txt"])
def test_lists_name_classes_that_there_are(root: Path, name: str) -> None:
    world = World()
    world.lists[name] = [*world.lists[name], "", "005.emu"]
    number = len(list(world.lists[name]))
    refuse(root, "unknown-class", f"{name}:{number}", world)


@pytest.mark.parametrize("name", ["trainclasses1.txt", "valclasses1.txt"])
def test_lists_name_no_unseen_class(root: Path, name: str) -> None:
    world = World()
    world.lists[name] = ["003.jay", *world.lists[name]]
    refuse(root, "unseen-class", f"{name}:1", world)


@pytest.mark.parametrize("name", ["trainclasses1.txt", "valclasses1.txt"])
def test_lists_share_no_class_and_repeat_none(root: Path, name: str) -> None:
    world = World()
    world.lists[name] = [*world.lists[name], "004.kea"]
    refuse(root, "duplicate-class", name, world)


def test_every_seen_class_is_listed(root: Path) -> None:
    world = World()
    world.lists["valclasses1.txt"] = []
    refuse(root, "unlisted-class", root, world)


@pytest.mark.parametrize("name", ["trainclasses1.txt", "attributes.txt"])
def test_lists_are_text_of_some_size(root: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    World().write(root)
    whole = (root / name).read_bytes()
    (root / name).write_bytes(whole + b"\xff\xfe")
    refuse(root, "no-utf-8", name)
    (root / name).write_bytes(whole.replace(b"\n", b"\r\n"))
    assert xlsa17.read(root, COUNTS)
    monkeypatch.setattr(xlsa17, "_MOST_BYTES", 3)
    refuse(root, "large-file", ".txt")


# attributes


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_strengths_that_are_no_numbers_are_refused(root: Path, value: float) -> None:
    world = World()
    world.splits["att"][1, 2] = value
    refuse(root, "not-finite", "att_splits.mat: att, row 2, column 3", world)


def test_a_class_without_attributes_is_refused(root: Path) -> None:
    world = World()
    world.splits["att"][:, 3] = 0
    refuse(root, "wrong-length", "att, column 4", world)


def test_strengths_that_were_not_divided_by_their_length_are_refused(root: Path) -> None:
    world = World()
    world.splits["att"] = world.splits["original_att"]
    refuse(root, "wrong-length", "att, column 1", world)


def test_strengths_of_another_shape_are_refused(root: Path) -> None:
    world = World()
    world.splits["att"] = world.splits["att"].T
    refuse(root, "wrong-shape", "att_splits.mat: att", world)
    world.splits["att"] = unit_columns(np.ones((2, 4)))
    refuse(root, "wrong-shape", "att_splits.mat: att", world)
    world.splits["att"] = np.ones((3, 4, 2))
    refuse(root, "wrong-shape", "att_splits.mat: att", world)


@pytest.mark.parametrize("line", ["4 has_tail::long", "has_tail::long", "3", "x has_tail::long"])
def test_attributes_are_counted_and_named(root: Path, line: str) -> None:
    world = World()
    world.lists["attributes.txt"] = [*list(world.lists["attributes.txt"])[:2], line]
    refuse(root, "wrong-line", "attributes.txt:3", world)


def test_attributes_have_names_of_their_own(root: Path) -> None:
    world = World()
    world.lists["attributes.txt"] = ["1 red", "2 long", "3 red"]
    refuse(root, "duplicate-name", "attributes.txt: attribute 3", world)


def test_word_vectors_of_other_attributes_are_refused(root: Path) -> None:
    refuse(root, "wrong-count", root / "words.npy", World(words=np.ones((4, 2))))


# counts


@pytest.mark.parametrize("name", list(asdict(COUNTS)))
def test_a_wrong_count_is_named(root: Path, name: str) -> None:
    World().write(root)
    with raises(DataError, "wrong-count", place=root) as caught:
        xlsa17.read(root, replace(COUNTS, **{name: asdict(COUNTS)[name] + 7}))
    assert name.replace("_", " ") in str(caught.value)


# labels and folders


def test_images_lie_in_folders_of_their_classes(root: Path) -> None:
    assert same(xlsa17.read(World().write(root), COUNTS, "_".join), xlsa17.read(root, COUNTS))


def test_numbers_in_the_names_of_classes_are_no_labels(root: Path) -> None:
    """CUB's trap: the number of a class is not its place among the classes."""
    world = World()
    world.index["labels"] = column(*[int(name[len(ELSEWHERE) + 1 :][:3]) for name in world.index["image_files"].flat])
    world.splits |= {
        "trainval_loc": column(6, 7, 4, 1, 2),
        "test_seen_loc": column(3, 5),
        "test_unseen_loc": column(8, 9, 10),
    }
    counts = replace(COUNTS, test_seen_images=2, test_unseen_images=3)
    assert xlsa17.read(world.write(root), counts).labels.tolist() == [0, 0, 0, 1, 1, 2, 2, 3, 3, 3]
    with raises(DataError, "other-class", place="labels, row 1"):
        xlsa17.read(root, counts, "_".join)


def test_labels_are_blamed_before_the_lists_of_classes_that_contradict_them(root: Path) -> None:
    world = World()
    world.index["labels"] = column(*[int(name[len(ELSEWHERE) + 1 :][:3]) for name in world.index["image_files"].flat])
    with raises(DataError, "unseen-class"):
        xlsa17.read(world.write(root), COUNTS)
    with raises(DataError, "other-class", place=f"{root / 'res101.mat'}: labels, row 1") as caught:
        xlsa17.read(root, COUNTS, "_".join)
    assert "the label 1, which is 002.auk" in str(caught.value)
    assert "not the numbers in folders' names" in str(caught.value)
