"""The readers over the benchmarks' real lists of pairs, in the folder named by RECOMPOSE_REAL_DATA."""

import os
from collections import Counter
from itertools import cycle, islice
from pathlib import Path
from types import ModuleType

import pytest
import torch

from recompose.tracks.czsl.data import cgqa, mit_states, ut_zappos
from recompose.tracks.czsl.data.compositional import read_pairs
from recompose.tracks.czsl.data.layout import METADATA, SPLIT_NAME
from recompose.tracks.czsl.data.pairs import SPLITS, Pair, PairData
from recompose.tracks.czsl.data.worlds import World

if not os.environ.get("RECOMPOSE_REAL_DATA"):
    pytest.skip("RECOMPOSE_REAL_DATA names no folder of real annotation files", allow_module_level=True)

REAL = Path(os.environ["RECOMPOSE_REAL_DATA"]) / "czsl"
MODULES = {"mit-states": mit_states, "ut-zappos": ut_zappos, "cgqa": cgqa}
# as published: states, objects, pairs of training, then seen and unseen ones of validation and of test, and the pairs
# of the closed and of the open world
PUBLISHED = {
    "mit-states": (115, 245, 1262, 300, 300, 400, 400, 1962, 28_175),
    "ut-zappos": (16, 12, 83, 15, 15, 18, 18, 116, 192),
    "cgqa": (413, 674, 5592, 1040, 1252, 888, 923, 7767, 278_362),
}
IMAGES = ["0.jpg", "1.jpg", "2.jpg"]  # which all records of a data set share

every_data_set = pytest.mark.parametrize("name", MODULES)


def real_pairs(name: str) -> dict[str, list[Pair]]:
    """Return the pairs of each split. C-GQA's list of unseen pairs does not tell validation from test, and there is
    none of the seen pairs in either: both are shared out by the published numbers.
    """
    folder = REAL / name / SPLIT_NAME
    if name != "cgqa":
        return {split: read_pairs(folder / f"{split}_pairs.txt") for split in SPLITS}
    train, unseen = (read_pairs(folder / f"{file}_pairs.txt") for file in ("train", "unseen_val_or_test"))
    return {"train": train, "val": [*train[:1040], *unseen[:1252]], "test": [*train[-888:], *unseen[1252:]]}


@every_data_set
def test_real_lists_have_the_published_numbers_of_pairs(name: str) -> None:
    pairs = real_pairs(name)
    assert all(len(set(of_split)) == len(of_split) for of_split in pairs.values())
    train, val, test = (set(pairs[split]) for split in SPLITS)
    data = PairData(pairs, [])
    closed, everything = World.closed(data), World.open(data)
    assert (
        len(data.states),
        len(data.objects),
        len(train),
        len(val & train),
        len(val - train),
        len(test & train),
        len(test - train),
        len(closed.pairs),
        len(everything.pairs),
    ) == PUBLISHED[name]
    assert closed.seen.sum() == everything.seen.sum() == len(train)
    for split, of_split in (("val", val), ("test", test)):
        assert closed.candidates[split].sum() == len(train | of_split)


def test_cgqa_has_the_published_vocabularies() -> None:
    data = PairData(real_pairs("cgqa"), [])
    assert data.states == sorted((REAL / "cgqa" / "attrs.txt").read_text().split())
    assert data.objects == sorted((REAL / "cgqa" / "objs.txt").read_text().split())


def write_data_set(root: Path, module: ModuleType, pairs: dict[str, list[Pair]]) -> Counter[tuple[str, str, str]]:
    """Write a data set of the real lists with the published number of images; return the number of each label."""
    labels: list[tuple[str, str, str]] = []
    (root / SPLIT_NAME).mkdir()
    for split in SPLITS:
        (root / SPLIT_NAME / f"{split}_pairs.txt").write_text("".join(f"{s} {o}\n" for s, o in pairs[split]))
        images = getattr(module.STATISTICS, f"{split}_images")
        labels += [(split, *pair) for pair in islice(cycle(pairs[split]), images)]
    names = cycle(IMAGES)
    records = [{"image": next(names), "attr": s, "obj": o, "set": split} for split, s, o in labels]
    unlabelled = [{"image": "0.jpg", "attr": "NA", "obj": "NA", "set": "NA"}] * 500
    torch.save([*unlabelled, *records, *unlabelled], root / METADATA)
    (root / "images").mkdir()
    for name in IMAGES:
        (root / "images" / name).touch()
    return Counter(labels)


@every_data_set
def test_a_whole_data_set_of_the_real_lists_is_read(tmp_path: Path, name: str) -> None:
    pairs = real_pairs(name)
    labels = write_data_set(tmp_path, MODULES[name], pairs)
    data = MODULES[name].read(tmp_path)
    assert data.statistics == MODULES[name].STATISTICS
    assert Counter((s.split, s.state, s.object) for s in data.samples) == labels
    assert data.pairs_of == {split: sorted(pairs[split]) for split in SPLITS}
