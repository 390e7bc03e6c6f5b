"""The adapters against the benchmarks' real annotations, in the folder named by RECOMPOSE_REAL_DATA.

``index.npz`` there holds what is read of ``res101.mat``, which is some hundred megabytes.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from scipy.io import loadmat, savemat

from recompose.errors import DataError
from recompose.tracks.gzsl.data import awa2, cub, sun, xlsa17
from recompose.tracks.gzsl.data.classes import SPLITS, ClassData
from recompose.tracks.gzsl.data.matlab import read_fields
from recompose.tracks.gzsl.data.word_vectors import read_words
from tests.errors import raises
from tests.tracks.gzsl.data.worlds import cells, write_version_7

if not os.environ.get("RECOMPOSE_REAL_DATA"):
    pytest.skip("RECOMPOSE_REAL_DATA names no folder of real annotation files", allow_module_level=True)

REAL = Path(os.environ["RECOMPOSE_REAL_DATA"]) / "gzsl"
NAMES = {"CUB": "attributes.txt", "SUN": "attributes.mat", "AWA2": "predicates.txt"}
MODULES = {"CUB": cub, "SUN": sun, "AWA2": awa2}
PUBLISHED = pytest.mark.parametrize("name", list(MODULES))


def index(name: str) -> dict[str, np.ndarray]:
    with np.load(REAL / name / "index.npz") as arrays:
        return dict(arrays)


@pytest.fixture(scope="module", autouse=True)
def no_images() -> Iterator[None]:
    """There are no images beside the real annotations."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(xlsa17, "_check_images", lambda data, root: None)
        yield


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The real data sets, their indices as upstream has them: 1-based, with places on another machine."""
    roots = {}
    for name in MODULES:
        root = roots[name] = tmp_path_factory.mktemp(name)
        arrays = index(name)
        files = cells(f"/BS/xian/data/{file}" for file in arrays["image_files"])
        savemat(root / "res101.mat", {"image_files": files, "labels": arrays["labels"][:, None] + 1.0})
        for file in ("att_splits.mat", "trainclasses1.txt", "valclasses1.txt"):
            (root / file).symlink_to(REAL / name / file)
        (root / f"attributes{Path(NAMES[name]).suffix}").symlink_to(REAL / name / NAMES[name])
        (root / "words.pkl").symlink_to(REAL / name / f"{name}_attribute.pkl")
    return roots


@pytest.fixture(scope="module")
def data(roots: dict[str, Path]) -> dict[str, ClassData]:
    return {name: module.read(roots[name]) for name, module in MODULES.items()}


def relabelled(root: Path, folder: Path, relabel: Callable[[np.ndarray, list[str]], np.ndarray]) -> Path:
    """A copy of a data set with other labels [images], from those that it has and the places of its images."""
    copytree(root, folder, symlinks=True)
    fields = read_fields(root / "res101.mat", ["image_files", "labels"])
    labels = relabel(fields["labels"].ravel(), list(fields["image_files"].flat))
    savemat(folder / "res101.mat", {**fields, "labels": labels[:, None]})
    return folder


def listed(name: str, file: str) -> set[str]:
    return set((REAL / name / file).read_text().split())


@PUBLISHED
def test_the_counts_are_those_that_papers_print(data: dict[str, ClassData], name: str) -> None:
    counts = data[name].statistics
    expected = asdict(MODULES[name].COUNTS)
    assert {key: counts[key] for key in expected} == expected
    assert counts["images"] == sum(counts[f"{split}_images"] for split in SPLITS)
    assert counts["training_images"] + counts["validation_images"] == counts["trainval_images"]


@PUBLISHED
def test_labels_and_splits_are_those_of_the_index(data: dict[str, ClassData], name: str) -> None:
    arrays = index(name)
    assert np.array_equal(data[name].labels, arrays["labels"])
    for split in SPLITS:
        assert np.array_equal(data[name].rows(split), np.sort(arrays[f"{split}_loc"]))
    assert np.array_equal(np.flatnonzero(data[name].seen), arrays["seenclasses"])
    assert np.array_equal(np.flatnonzero(~data[name].seen), arrays["unseenclasses"])


@PUBLISHED
def test_classes_are_divided_as_in_the_lists(data: dict[str, ClassData], name: str) -> None:
    classes = np.array(data[name].classes)
    assert set(classes[data[name].seen]) == listed(name, "trainvalclasses.txt")
    assert set(classes[~data[name].seen]) == listed(name, "testclasses.txt")
    assert set(classes[data[name].validation]) == listed(name, "valclasses1.txt")


@PUBLISHED
def test_the_released_validation_holds_the_test_of_seen_classes_and_ours_does_not(
    data: dict[str, ClassData], name: str
) -> None:
    """train_loc and val_loc, as CE-GZSL and others take them, are all images of the classes of the two lists."""
    one = data[name]
    classes = np.array(one.classes)[one.labels]
    released = np.isin(classes, list(listed(name, "trainclasses1.txt") | listed(name, "valclasses1.txt")))
    test_seen = one.rows("test_seen")
    assert released.sum() == len(one.rows("trainval")) + len(test_seen)
    assert released[test_seen].all()
    ours = np.concatenate([one.training_rows, one.validation_rows])
    assert not np.intersect1d(ours, test_seen).size
    assert not np.intersect1d(ours, one.rows("test_unseen")).size
    assert np.array_equal(np.sort(ours), one.rows("trainval"))
    assert not np.intersect1d(one.labels[one.training_rows], one.labels[one.validation_rows]).size


def test_cub_releases_as_many_images_of_training_and_validation_as_its_lists_have(data: dict[str, ClassData]) -> None:
    """5875 and 2946, the lengths of CUB's train_loc and val_loc, where 4702 and 2355 are of trainval_loc."""
    classes = np.array(data["CUB"].classes)[data["CUB"].labels]
    released = [np.isin(classes, list(listed("CUB", f"{kind}classes1.txt"))).sum() for kind in ("train", "val")]
    assert released == [5875, 2946]


@PUBLISHED
def test_signatures_are_the_original_strengths_over_their_lengths(data: dict[str, ClassData], name: str) -> None:
    original = loadmat(REAL / name / "att_splits.mat")["original_att"]
    expected = (original / np.linalg.norm(original, axis=0)).T
    np.testing.assert_allclose(data[name].signatures, expected, rtol=0, atol=1e-7)
    np.testing.assert_allclose(np.linalg.norm(data[name].signatures, axis=1), 1, rtol=1e-6)


def test_cub_labels_are_not_the_numbers_of_classes(data: dict[str, ClassData]) -> None:
    one = data["CUB"]
    numbers = np.array([int(name[:3]) for name in one.classes])
    assert sorted(numbers) == list(range(1, 201))
    assert (numbers - 1 != np.arange(200)).mean() > 0.9
    folders = np.array([int(path.split("/")[1][:3]) for path in one.paths])
    assert np.array_equal(numbers[one.labels], folders)


def test_cub_labelled_by_the_numbers_of_classes_is_refused(roots: dict[str, Path], tmp_path: Path) -> None:
    def numbers(labels: np.ndarray, files: list[str]) -> np.ndarray:
        return np.array([int(file.split("/")[-2][:3]) for file in files])

    with raises(DataError, "other-class", place="res101.mat: labels, row "):
        cub.read(relabelled(roots["CUB"], tmp_path / "CUB", numbers))


@pytest.mark.parametrize("name", ["CUB", "SUN"])
def test_classes_that_change_places_are_noticed_by_their_folders(
    roots: dict[str, Path], data: dict[str, ClassData], tmp_path: Path, name: str
) -> None:
    """Two classes of training leave all counts as they are."""
    one, other = 1 + np.flatnonzero(data[name].seen & ~data[name].validation)[:2]

    def exchanged(labels: np.ndarray, files: list[str]) -> np.ndarray:
        return np.where(labels == one, other, np.where(labels == other, one, labels))

    with raises(DataError, "other-class"):
        MODULES[name].read(relabelled(roots[name], tmp_path / name, exchanged))


@PUBLISHED
def test_vectors_of_words_are_those_that_pickle_reads(data: dict[str, ClassData], name: str) -> None:
    """Nobody wrote code into these."""
    path = REAL / name / f"{name}_attribute.pkl"
    trusted = np.load(path, allow_pickle=True)
    assert trusted.shape == (MODULES[name].COUNTS.attributes, 300)
    assert np.array_equal(read_words(path), trusted.astype(np.float32))
    zeros = np.flatnonzero(~data[name].words.any(axis=1)).tolist()
    assert zeros == ([88] if name == "SUN" else [])


def test_attributes_are_called_as_they_are(data: dict[str, ClassData]) -> None:
    assert data["CUB"].attributes[:2] == ("has_bill_shape::curved_(up_or_down)", "has_bill_shape::dagger")
    assert data["SUN"].attributes[:2] == ("sailing/ boating", "driving")
    assert data["AWA2"].attributes[:2] == ("black", "white")


@PUBLISHED
def test_images_lie_below_the_folder_of_images(data: dict[str, ClassData], name: str) -> None:
    first = {
        "CUB": "images/001.Black_footed_Albatross/Black_Footed_Albatross_0001_796111.jpg",
        "SUN": "images/a/abbey/sun_aakbdcgfpksytcwj.jpg",
        "AWA2": "images/antelope/antelope_10001.jpg",
    }
    assert data[name].paths[0] == first[name]
    assert len(set(data[name].paths)) == MODULES[name].COUNTS.images


def test_the_same_is_read_of_files_of_version_7(tmp_path: Path) -> None:
    path = REAL / "CUB/att_splits.mat"
    names = ["att", "allclasses_names", *(f"{split}_loc" for split in SPLITS)]
    fields = read_fields(path, names)
    write_version_7(tmp_path / "att_splits.mat", fields)
    again = read_fields(tmp_path / "att_splits.mat", names)
    assert again.keys() == fields.keys() == set(names)
    assert all(np.array_equal(again[name], fields[name]) for name in names)


@PUBLISHED
def test_an_index_is_written_and_read(tmp_path: Path, data: dict[str, ClassData], name: str) -> None:
    data[name].write(tmp_path)
    again = ClassData.read(tmp_path)
    assert again.statistics == data[name].statistics
    assert np.array_equal(again.signatures, data[name].signatures)
    assert again.paths == data[name].paths


def test_one_data_set_is_not_taken_for_another(roots: dict[str, Path]) -> None:
    with raises(DataError, "wrong-count"):
        cub.read(roots["SUN"])
