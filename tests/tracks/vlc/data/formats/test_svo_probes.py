"""SVO-Probes as published, in small."""

from pathlib import Path
from typing import Any

import pytest

from recompose.errors import DataError
from recompose.tracks.vlc.data.formats import svo_probes
from recompose.tracks.vlc.data.suites_on_disk import read_suite
from tests.errors import raises
from tests.tracks.vlc.data.formats.published import questions, touch, write_csv

COLUMNS = (
    "sentence", "pos_triplet", "neg_triplet", "pos_url", "neg_url", "pos_image_id", "neg_image_id",
    "subj_neg", "verb_neg", "obj_neg",
)  # fmt: skip


def row(sentence: str, true: int, false: int, *differs: str) -> dict[str, Any]:
    marks = {name: name.removesuffix("_neg") in differs for name in svo_probes.SETS}
    triplets = {"pos_triplet": "girl,stand,grass", "neg_triplet": "dog,stand,grass"}
    urls = {"pos_url": "http://a/b.jpg", "neg_url": "http://a/c,d.jpg"}
    return {"sentence": sentence, **triplets, **urls, "pos_image_id": true, "neg_image_id": false, **marks}


ROWS = [
    row("A girl stands in grass.", 1, 2, "subj"),
    row("A girl stands in grass.", 1, 3, "verb"),
    row("A girl sits.", 3, 4, "verb"),
    row("A girl eats.", 5, 1, "obj"),
    row("A girl eats.", 5, 2, "verb", "obj"),  # no set's
    row("A girl eats.", 5, 3),
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_csv(tmp_path / "svo_probes/svo_probes.csv", COLUMNS, ROWS)
    touch(*(tmp_path / f"images/svo_probes/{number}.jpg" for number in range(1, 6)))
    return tmp_path


def test_rows_that_differ_in_one_thing_ask_which_image_it_is(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = read_suite("svo_probes", root)
    first, second, third, fourth, fifth = (f"images/svo_probes/{number}.jpg" for number in range(1, 6))
    assert questions(suite, "svo_probes/subj_neg") == [("A girl stands in grass.", [first, second], 0)]
    assert questions(suite, "svo_probes/verb_neg") == [
        ("A girl stands in grass.", [first, third], 0),
        ("A girl sits.", [third, fourth], 0),
    ]
    assert questions(suite, "svo_probes/obj_neg") == [("A girl eats.", [fifth, first], 0)]
    assert "left out without an image: 0 of 1 subj_neg, 0 of 2 verb_neg, 0 of 1 obj_neg" in capsys.readouterr().err


def test_items_that_lack_an_image_are_left_out_and_counted(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "images/svo_probes/4.jpg").unlink()
    suite = read_suite("svo_probes", root)
    assert [sentence for sentence, _, _ in questions(suite, "svo_probes/verb_neg")] == ["A girl stands in grass."]
    assert len(suite.images) == 4
    assert "0 of 1 subj_neg, 1 of 2 verb_neg, 0 of 1 obj_neg" in capsys.readouterr().err


def test_a_set_without_images_is_none(root: Path) -> None:
    (root / "images/svo_probes/5.jpg").unlink()
    folder = root / "images/svo_probes"
    with raises(DataError, "missing-image", folder):
        read_suite("svo_probes", root)
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    with raises(DataError, "missing-image", folder):
        read_suite("svo_probes", root)


@pytest.mark.parametrize(
    ("fields", "code", "place"),
    [
        ({"verb_neg": "maybe"}, "wrong-kind", "field 'verb_neg'"),
        ({"verb_neg": ""}, "empty-text", "field 'verb_neg'"),
        ({"pos_image_id": "../1"}, "no-number", "field 'pos_image_id'"),
        ({"neg_image_id": "1.5"}, "wrong-number", "field 'neg_image_id'"),
        ({"sentence": ""}, "empty-text", "field 'sentence'"),
    ],
)
def test_a_broken_row_is_named(root: Path, fields: dict[str, Any], code: str, place: str) -> None:
    path = write_csv(root / "svo_probes/svo_probes.csv", COLUMNS, [*ROWS[:4], {**ROWS[0], **fields}])
    with raises(DataError, code, f"{path}, row 5") as error:
        read_suite("svo_probes", root)
    assert str(error.value.place).endswith(place)
