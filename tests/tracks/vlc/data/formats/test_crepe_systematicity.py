"""CREPE's systematicity as published, in small."""

from pathlib import Path
from typing import Any

import pytest

from recompose.errors import DataError
from recompose.tracks.vlc.data.formats.crepe_systematicity import CORPORA, NEGATIVES, SPLITS
from recompose.tracks.vlc.data.suites_on_disk import read_suite
from recompose.tracks.vlc.suites.aggregation import CREPE_SYSTEMATICITY
from tests.errors import raises
from tests.tracks.vlc.data.formats.published import questions, write_csv


def row(caption: str, **fields: Any) -> dict[str, Any]:
    published = {"region_id": 374, "caption": caption, "x": 1, "y": 2, "width": 30, "height": 40, "image_id": 2}
    return {**published, **{column: str([f"{kind} {caption}"]) for kind, column in NEGATIVES.items()}, **fields}


def path(root: Path, corpus: str, split: str) -> Path:
    return root / f"crepe_systematicity/syst_hard_negatives/syst_vg_hard_negs_{split}_compounds_in_{corpus}.csv"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for corpus in CORPORA:
        for split in SPLITS:
            rows = [row(f"{corpus} {split}"), row("a brick", valid_hard_negs_atom="['an egg', \"a dog's\"]")]
            write_csv(path(tmp_path, corpus, split), [*rows[0]], rows)
    return tmp_path


def test_each_training_set_split_and_kind_of_negatives_is_a_sub_task(root: Path) -> None:
    suite = read_suite("crepe_systematicity", root)
    assert {*suite.tasks} == {*CREPE_SYSTEMATICITY}
    region = ("images/vg/2.jpg", (1, 2, 31, 42))
    assert questions(suite, "crepe_systematicity/yfcc_unseen_atom") == [
        (region, ["yfcc unseen", "atom yfcc unseen"], 0),
        (region, ["a brick", "an egg", "a dog's"], 0),
    ]
    assert questions(suite, "crepe_systematicity/laion_seen_comp")[1] == (
        region,
        ["a brick", "comp a brick"],
        0,
    )


def test_a_region_without_a_negative_is_left_out_of_that_kind_alone(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row("a brick", valid_hard_negs_comp="[]"), row("an egg")]
    write_csv(path(root, "laion", "seen"), [*rows[0]], rows)
    suite = read_suite("crepe_systematicity", root)
    sizes = [len(questions(suite, f"crepe_systematicity/laion_seen_{kind}")) for kind in NEGATIVES]
    assert sizes == [2, 1, 2]
    assert "1 of 2 regions" in "".join(capsys.readouterr())


def test_a_broken_row_is_named(root: Path) -> None:
    broken = row("a brick", valid_hard_negs_combined="[1]")
    write_csv(path(root, "cc12m", "seen"), [*broken], [broken])
    with raises(DataError, "wrong-kind", "seen_compounds_in_cc12m.csv, row 1, field 'valid_hard_negs_combined'"):
        read_suite("crepe_systematicity", root)
