"""The adapters against the benchmarks' real lists, in the folder named by RECOMPOSE_REAL_DATA."""

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

if not os.environ.get("RECOMPOSE_REAL_DATA"):
    pytest.skip("RECOMPOSE_REAL_DATA names no folder of real annotation files", allow_module_level=True)

REAL = Path(os.environ["RECOMPOSE_REAL_DATA"]) / "czsl"
LISTED = [(mit_states, "mit-states"), (ut_zappos, "ut-zappos")]
FILES = [f"images/{number}.jpg" for number in range(5)]  # shared by all records of a generated data set


def real_pairs(name: str) -> dict[str, list[Pair]]:
    return {split: read_pairs(REAL / name / SPLIT_NAME / f"{split}_pairs.txt") for split in SPLITS}


def words(name: str) -> list[str]:
    return (REAL / "cgqa" / name).read_text().split()


def generate(root: Path, module: ModuleType, pairs: dict[str, list[Pair]]) -> Counter[tuple[str, str, str]]:
    """Build a data set with the real lists and as many images as papers print, and give its labels."""
    labels: list[tuple[str, str, str]] = []
    for split in SPLITS:
        (root / SPLIT_NAME).mkdir(parents=True, exist_ok=True)
        (root / SPLIT_NAME / f"{split}_pairs.txt").write_text("".join(f"{s} {o}\n" for s, o in pairs[split]))
        images = getattr(module.STATISTICS, f"{split}_images")
        labels += [(split, *pair) for pair in islice(cycle(pairs[split]), images)]
    names = cycle(path.removeprefix("images/") for path in FILES)
    records = [{"image": next(names), "attr": s, "obj": o, "set": split, "_image": "x"} for split, s, o in labels]
    unlabelled = [{"image": "0.jpg", "attr": "NA", "obj": "NA", "set": "NA"}] * 1000
    torch.save([*unlabelled[:500], *records, *unlabelled[500:]], root / METADATA)
    (root / "images").mkdir()
    for path in FILES:
        (root / path).touch()
    return Counter(labels)


@pytest.fixture(scope="module")
def cgqa_pairs() -> tuple[set[Pair], set[Pair]]:
    """Training's pairs and all unseen ones."""
    folder = REAL / "cgqa" / SPLIT_NAME
    return set(read_pairs(folder / "train_pairs.txt")), set(read_pairs(folder / "unseen_val_or_test_pairs.txt"))


@pytest.mark.parametrize(("module", "name"), LISTED)
def test_real_lists_have_the_counts_that_papers_print(module: ModuleType, name: str) -> None:
    pairs, printed = real_pairs(name), module.STATISTICS
    train, val, test = (set(pairs[split]) for split in SPLITS)
    assert len(train) == len(pairs["train"]) == printed.train_pairs
    assert (len(val & train), len(val - train)) == (printed.val_seen, printed.val_unseen)
    assert (len(test & train), len(test - train)) == (printed.test_seen, printed.test_unseen)
    assert len({state for state, _ in train | val | test}) == printed.states
    assert len({name for _, name in train | val | test}) == printed.objects


@pytest.mark.parametrize(("module", "name"), LISTED)
def test_a_whole_data_set_with_the_real_lists_is_read(tmp_path: Path, module: ModuleType, name: str) -> None:
    pairs = real_pairs(name)
    labels = generate(tmp_path, module, pairs)
    data = module.read(tmp_path)
    assert data.statistics == module.STATISTICS
    assert Counter((s.split, s.state, s.object) for s in data.samples) == labels
    assert data.pairs_of == {split: sorted(pairs[split]) for split in SPLITS}
    assert {sample.path for sample in data.samples} == set(FILES)


def test_cgqa_lists_have_the_counts_that_papers_print(cgqa_pairs: tuple[set[Pair], set[Pair]]) -> None:
    train, unseen = cgqa_pairs
    printed = cgqa.STATISTICS
    assert not train & unseen
    assert len(train) == printed.train_pairs == 5592
    assert len(unseen) == printed.val_unseen + printed.test_unseen == 923 + 1252


def test_cgqa_vocabularies_follow_from_its_lists(cgqa_pairs: tuple[set[Pair], set[Pair]]) -> None:
    train, unseen = cgqa_pairs
    data = PairData({"train": sorted(train), "val": sorted(unseen), "test": []}, [])
    assert data.states == sorted(words("attrs.txt"))
    assert data.objects == sorted(words("objs.txt"))
    assert (len(data.states), len(data.objects)) == (cgqa.STATISTICS.states, cgqa.STATISTICS.objects) == (413, 674)
    assert data.statistics.train_pairs == 5592
    assert data.statistics.val_unseen == 2175
