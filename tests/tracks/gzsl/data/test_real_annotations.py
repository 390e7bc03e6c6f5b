"""The adapters against the benchmarks' real annotations, in the folder named by RECOMPOSE_REAL_DATA.

``index.npz`` there holds what is read of ``res101.mat``, which is some hundred megabytes.
"""

import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from scipy.io import loadmat, savemat

from recompose.tracks.gzsl.data import awa2, cub, sun, xlsa17
from recompose.tracks.gzsl.data.classes import SPLITS, ClassData
from recompose.tracks.gzsl.data.word_vectors import read_words
from tests.tracks.gzsl.data.worlds import cells

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


@PUBLISHED
def test_vectors_of_words_are_those_that_pickle_reads(data: dict[str, ClassData], name: str) -> None:
    """Nobody wrote code into these."""
    path = REAL / name / f"{name}_attribute.pkl"
    trusted = np.load(path, allow_pickle=True)
    assert trusted.shape == (MODULES[name].COUNTS.attributes, 300)
    assert np.array_equal(read_words(path), trusted.astype(np.float32))
    zeros = np.flatnonzero(~data[name].words.any(axis=1)).tolist()
    assert zeros == ([88] if name == "SUN" else [])
