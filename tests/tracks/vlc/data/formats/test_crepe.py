"""CREPE's productivity as published, in small."""

from pathlib import Path
from typing import Any

import pytest

from recompose.errors import DataError
from recompose.tracks.vlc.data.suite import ABSENT, Choices
from recompose.tracks.vlc.data.suites_on_disk import read_suite
from tests.errors import raises
from tests.tracks.vlc.data.formats.published import questions, write_csv


def row(**fields: Any) -> dict[str, Any]:
    published = {"image_id": 23, "caption": "Table behind dog", "x": 1, "y": 2, "width": 30, "height": 40}
    return {**published, "hard_negs": str(["Table behind cat", 'Table "behind", it\'s a dog']), **fields}


def path(root: Path, name: str, complexity: int) -> Path:
    return root / f"crepe/prod_hard_negatives/{name}/prod_vg_hard_negs_{name}_complexity_{complexity}.csv"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("atom", "swap", "negate"):
        for complexity in range(4, 13):
            rows = [row(caption=f"{name} of {complexity}"), row(image_id=complexity, hard_negs="['one']")]
            write_csv(path(tmp_path, name, complexity), [*rows[0]], rows)
    return tmp_path


def test_files_of_all_complexities_are_one_sub_task(root: Path) -> None:
    suite = read_suite("crepe", root)
    assert [*suite.tasks] == ["crepe/atom", "crepe/swap", "crepe/negate"]
    found = questions(suite, "crepe/swap")
    assert found[:2] == [
        (
            ("images/vg/23.jpg", (1, 2, 31, 42)),
            ["swap of 4", "Table behind cat", 'Table "behind", it\'s a dog'],
            0,
        ),
        (("images/vg/4.jpg", (1, 2, 31, 42)), ["Table behind dog", "one"], 0),
    ]
    assert [captions[0] for _, captions, _ in found[::2]] == [f"swap of {complexity}" for complexity in range(4, 13)]


def test_items_may_have_negatives_of_different_numbers(root: Path) -> None:
    task = read_suite("crepe", root).tasks["crepe/atom"]
    assert isinstance(task, Choices)
    assert ((task.offered == ABSENT).sum(axis=1) == [0, 1] * 9).all()
    assert task.groups == tuple(str(complexity) for complexity in range(4, 13) for _ in range(2))


@pytest.mark.parametrize(
    ("fields", "code", "place"),
    [
        ({"hard_negs": "[]"}, "wrong-count", "field 'hard_negs'"),
        ({"hard_negs": "['a', '']"}, "empty-text", "entry 2"),
        ({"hard_negs": "['a', 3]"}, "wrong-kind", "entry 2"),
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
    write_csv(path(root, "negate", 9), [*broken], [row(), broken])
    with raises(DataError, code, "negate_complexity_9.csv, row 2") as error:
        read_suite("crepe", root)
    assert str(error.value.place).endswith(place)


def test_a_missing_column_and_a_missing_file_are_named(root: Path) -> None:
    write_csv(path(root, "atom", 4), ["image_id"], [{"image_id": 1}])
    with raises(DataError, "missing-field", "line 1"):
        read_suite("crepe", root)
    path(root, "atom", 4).unlink()
    with raises(DataError, "missing-file", "atom_complexity_4.csv"):
        read_suite("crepe", root)
