"""The readers of all tracks against real annotation files, in the folder that RECOMPOSE_REAL_DATA names.

Of the classes, ``index.npz`` there holds what is read of ``res101.mat``, which is some hundred megabytes.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.io import loadmat, savemat

from benchmarks.stand_ins.project import read_params
from recompose.tracks.czsl.data.compositional import SPLIT_NAME, read_pairs
from recompose.tracks.czsl.data.pairs import SPLITS, PairData
from recompose.tracks.czsl.data.worlds import World
from recompose.tracks.gzsl.data import xlsa17
from recompose.tracks.vlc.data.acquire import check_counts
from recompose.tracks.vlc.suites.catalogue import missing_subtasks, read_suite
from tests.precision import ROUNDING
from tests.tracks.gzsl.data.worlds import cells
from tests.tracks.vlc.data.formats.published import questions, touch

if not os.environ.get("RECOMPOSE_REAL_DATA"):
    pytest.skip("RECOMPOSE_REAL_DATA names no folder of real annotation files", allow_module_level=True)

REAL = Path(os.environ["RECOMPOSE_REAL_DATA"])
# as published: states, objects, pairs of training, then seen and unseen ones of validation and of test, and the pairs
# of the closed and of the open world
PAIRS = {
    "mit-states": (115, 245, 1262, 300, 300, 400, 400, 1962, 28_175),
    "ut-zappos": (16, 12, 83, 15, 15, 18, 18, 116, 192),
    "cgqa": (413, 674, 5592, 1040, 1252, 888, 923, 7767, 278_362),
}
CLASSES = {"CUB": "attributes.txt", "SUN": "attributes.mat", "AWA2": "predicates.txt"}
SUITES = {  # of real files where the formats want them -> below the folder
    "sugarcrepe": "sugarcrepe",
    "valse": "valse",
    "comvg/ComVG.csv": "ComVG.csv",
    "coco/coco_karpathy_test.json": "retrieval/coco_karpathy_test.json",
    "imagecode": "imagecode",
}


@pytest.mark.parametrize("name", PAIRS)
def test_real_lists_have_the_published_numbers_of_pairs(name: str) -> None:
    """C-GQA's list of unseen pairs does not tell validation from test, and there is none of the seen pairs in either:
    both are shared out by the published numbers.
    """
    folder = REAL / "czsl" / name / SPLIT_NAME
    files = ("train", "unseen_val_or_test") if name == "cgqa" else SPLITS
    train, val, *others = (read_pairs(folder / f"{file}_pairs.txt") for file in files)
    test = others[0] if others else [*train[-888:], *val[1252:]]
    val = val if others else [*train[:1040], *val[:1252]]
    assert all(len(set(pairs)) == len(pairs) for pairs in (train, val, test))
    data = PairData({"train": train, "val": val, "test": test}, [])
    worlds = World.closed(data), World.open(data)
    sizes = [(len({*pairs} & {*train}), len({*pairs} - {*train})) for pairs in (val, test)]
    counts = len(data.states), len(data.objects), len(train), *sizes[0], *sizes[1]
    assert (*counts, *(len(world.pairs) for world in worlds)) == PAIRS[name]
    assert all(world.seen.sum() == len(train) for world in worlds)


@pytest.mark.parametrize("name", CLASSES)
def test_real_classes_are_read_as_published(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the index as upstream has it: 1-based, with places on another machine. The reader checks the counts."""
    monkeypatch.setattr(xlsa17, "check_images", lambda paths, root: None)  # there are no images beside
    folder, names = REAL / "gzsl" / name, CLASSES[name]
    with np.load(folder / "index.npz") as arrays:
        index = dict(arrays)
    files = cells(f"/BS/xian/data/{file}" for file in index["image_files"])
    savemat(tmp_path / "res101.mat", {"image_files": files, "labels": index["labels"][:, None] + 1.0})
    places = {file: file for file in ("att_splits.mat", "trainclasses1.txt", "valclasses1.txt")}
    places |= {f"attributes{Path(names).suffix}": names, "words.pkl": f"{name}_attribute.pkl"}
    for place, file in places.items():
        (tmp_path / place).symlink_to(folder / file)
    data = xlsa17.read(tmp_path, read_params()["gzsl"]["datasets"][name.lower()]["counts"])
    assert np.array_equal(data.labels, index["labels"])
    for split in ("trainval", "test_seen", "test_unseen"):
        assert np.array_equal(data.rows(split), np.sort(index[f"{split}_loc"]))
    for file, kind in (("trainval", data.seen), ("test", ~data.seen), ("val", data.validation)):
        listed = (folder / f"{file}classes{1 if file == 'val' else ''}.txt").read_text().split()
        assert {*np.array(data.classes)[kind]} == {*listed}
    original = loadmat(folder / "att_splits.mat")["original_att"]
    np.testing.assert_allclose(data.signatures, (original / np.linalg.norm(original, axis=0)).T, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("form", ["sugarcrepe", "valse", "comvg", "coco", "imagecode"])
def test_real_suites_have_the_published_counts_and_items(form: str, tmp_path: Path) -> None:
    for place, file in SUITES.items():
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).symlink_to(REAL / "vlc" / file)
    described = json.loads((REAL / "vlc/imagecode/valid_data.json").read_text(encoding="utf-8"))
    touch(*(tmp_path / f"images/imagecode/{name}/img{n}.jpg" for name in described for n in range(0, 30, 3)))
    suite = read_suite(form, tmp_path)
    check_counts(suite)
    assert not missing_subtasks(suite)
    if form == "sugarcrepe":
        items = json.loads((REAL / "vlc/sugarcrepe/swap_obj.json").read_text(encoding="utf-8")).values()
        assert questions(suite, "sugarcrepe/swap_obj") == [
            (f"images/coco/val2017/{one['filename']}", [one["caption"], one["negative_caption"]], 0) for one in items
        ]
