"""CREPE's productivity as published, in small: with columns that nobody reads, boxes as 1.0, and sets of negatives."""

import ast
import csv
from pathlib import Path
from typing import Any

import pytest

from recompose.errors import DataError
from recompose.tracks.vlc.data.suite import ABSENT, Choices
from recompose.tracks.vlc.data.suites_on_disk import read_suite
from tests.errors import raises
from tests.tracks.vlc.data.formats.published import questions, write_csv

SETS = ("atom", "swap", "negate")


def row(**fields: Any) -> dict[str, Any]:
    counts = {"n": 4, "n_objects": 2, "n_relations": 2, "n_attributes": 0, "n_connected_components": 1}
    negatives = str(["Table behind cat", 'Table "behind", it\'s a dog', "Table behind dog"])
    box = {"x": 237.0, "y": 391.0, "width": 402.0, "height": 208.0}
    return {"image_id": 23, "caption": "Table behind dog", **counts, "hard_negs": negatives, **box, **fields}


def path(root: Path, name: str) -> Path:
    return root / f"crepe/prod_hard_negatives/prod_vg_hard_negs_{name}_all.csv"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in SETS:
        rows = [
            row(caption=f"{name} of table"),
            row(image_id=2401, n=14, hard_negs="['one']", x=0.5, y=1.5),
            row(image_id=7, hard_negs="{'there is no dög', 'a cat', 'a dog'}"),
        ]
        write_csv(path(tmp_path, name), [*rows[0]], rows)
    return tmp_path


def test_candidates_are_the_caption_and_its_negatives_of_a_box(root: Path) -> None:
    suite = read_suite("crepe", root)
    assert [*suite.tasks] == [f"crepe/{name}" for name in SETS]
    for name in SETS:
        expected = []
        with path(root, name).open(encoding="utf-8", newline="") as file:
            for published in csv.DictReader(file):
                x, y, width, height = (float(published[side]) for side in ("x", "y", "width", "height"))
                box = tuple(round(side) for side in (x, y, x + width, y + height))
                negatives = ast.literal_eval(published["hard_negs"])
                false = sorted(negatives) if isinstance(negatives, set) else negatives  # a set has no order
                expected.append(((f"images/vg/{published['image_id']}.jpg", box), [published["caption"], *false], 0))
        assert questions(suite, f"crepe/{name}") == expected
    assert expected[2][1] == ["Table behind dog", "a cat", "a dog", "there is no dög"]


def test_items_may_have_negatives_of_different_numbers(root: Path) -> None:
    task = read_suite("crepe", root).tasks["crepe/atom"]
    assert isinstance(task, Choices)
    assert (task.offered == ABSENT).sum(axis=1).tolist() == [0, 2, 0]
    assert task.groups == ("4", "13", "4")  # the second has 14 atoms


@pytest.mark.parametrize(
    ("fields", "code", "place"),
    [
        ({"hard_negs": "[]"}, "wrong-count", "field 'hard_negs'"),
        ({"hard_negs": "['a', '']"}, "empty-text", "entry 2"),
        ({"hard_negs": "['a', 3]"}, "wrong-kind", "entry 2"),
        ({"hard_negs": "{'a', 3}"}, "wrong-kind", "field 'hard_negs'"),
        ({"hard_negs": "a"}, "wrong-kind", "field 'hard_negs'"),
        ({"hard_negs": "'a'"}, "wrong-kind", "field 'hard_negs'"),
        ({"hard_negs": "[open('a')]"}, "wrong-kind", "field 'hard_negs'"),
        ({"hard_negs": "[" * 9999}, "wrong-kind", "field 'hard_negs'"),
        ({"hard_negs": "['a\0']"}, "wrong-kind", "field 'hard_negs'"),
        ({"caption": " "}, "empty-text", "field 'caption'"),
        ({"image_id": "../23"}, "no-number", "field 'image_id'"),
        ({"image_id": -23}, "wrong-number", "field 'image_id'"),
        ({"width": 0}, "empty-box", "row 2"),
        ({"height": ""}, "no-number", "field 'height'"),
    ],
)
def test_a_broken_row_is_named(root: Path, fields: dict[str, Any], code: str, place: str) -> None:
    broken = row(**fields)
    write_csv(path(root, "negate"), [*broken], [row(), broken])
    with raises(DataError, code, f"{path(root, 'negate')}, row 2") as error:
        read_suite("crepe", root)
    assert str(error.value.place).endswith(place)


def test_a_missing_column_and_a_missing_file_are_named(root: Path) -> None:
    write_csv(path(root, "atom"), ["image_id"], [{"image_id": 1}])
    with raises(DataError, "missing-field", "line 1"):
        read_suite("crepe", root)
    path(root, "atom").unlink()
    with raises(DataError, "missing-file", path(root, "atom")):
        read_suite("crepe", root)
