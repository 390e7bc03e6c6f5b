"""Annotation files that are not what they should be, and the one line that says so."""

import codecs
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from recompose.errors import DataError
from recompose.tracks.czsl.data.compositional import read_pairs
from recompose.tracks.czsl.data.glove import MEMBER, WIDTH, read_glove
from recompose.tracks.vlc.data.formats import reading
from recompose.tracks.vlc.data.formats.reading import AnnotationItem
from recompose.tracks.vlc.text import lexicon
from tests.errors import raises
from tests.tracks.vlc.data.formats.published import write_csv, write_json

LAYOUT = "a.json: here\nb.json: there"
PLACE = "folder/a.json, item 3, field 'x'"
READERS: dict[str, Callable[[Path, str], list[AnnotationItem]]] = {
    ".json": reading.read_items,
    ".jsonl": reading.read_lines,
    ".csv": lambda path, layout: reading.read_rows(path, layout, ["x"]),
}


def item(**fields: Any) -> AnnotationItem:
    return AnnotationItem(Path("folder/a.json"), "item 3", fields)


def one_line(error: pytest.ExceptionInfo[DataError]) -> str:
    message = str(error.value)
    assert "\n" not in message
    return message


def test_items_of_a_list_are_counted_and_those_of_an_object_named(tmp_path: Path) -> None:
    listed = reading.read_items(write_json(tmp_path / "a.json", [{"x": "one"}, ["first", "second"]]), LAYOUT)
    assert [one.name for one in listed] == ["item 1", "item 2"]
    assert listed[0].text("x") == "one"
    assert listed[1].text(1) == "second"
    named = reading.read_items(write_json(tmp_path / "a.json", {"7": {"x": "one"}, "9": {"x": "two"}}), LAYOUT)
    assert [one.name for one in named] == ["item '7'", "item '9'"]


def test_an_absent_file_says_in_one_line_what_goes_where(tmp_path: Path) -> None:
    for read in READERS.values():
        for path in (tmp_path / "a.json", tmp_path):
            with raises(DataError, "missing-file", path) as error:
                read(path, LAYOUT)
            assert all(line in one_line(error) for line in LAYOUT.splitlines())


@pytest.mark.parametrize(
    ("name", "content", "code", "part"),
    [
        ("a.json", '[\n{"x": 1},\n]', "no-json", ", line 3"),
        ("a.json", "[]", "no-items", ""),
        ("a.json", "3", "wrong-kind", ""),
        ("a.json", '["abc"]', "wrong-kind", ", item 1"),
        ("a.json", '[{"x": 1, "y": 2, "x": 3}]', "no-json", ""),
        ("a.json", '[{"x": NaN}]', "no-json", ""),
        ("a.jsonl", "\n\n", "no-items", ""),
        ("a.jsonl", '{"x": 1}\n{"x": \n', "no-json", ", line 2"),
        ("a.jsonl", "7", "wrong-kind", ", line 1"),
        ("a.csv", "y,z\n1,2\n", "missing-field", ", line 1"),
        ("a.csv", "x,y,y\n1,2,3\n", "duplicate-name", ", line 1"),
        ("a.csv", "x,y\n", "no-items", ""),
        ("a.csv", "x,y\n1,2\n\n1,2,3\n", "wrong-count", ", row 2"),
        ("a.csv", 'x,y\n1,"2\n', "no-csv", ", line 2"),
    ],
)
def test_what_is_not_the_file_expected_is_named(tmp_path: Path, name: str, content: str, code: str, part: str) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with raises(DataError, code) as error:
        READERS[path.suffix](path, LAYOUT)
    assert error.value.place == f"{path}{part}"
    one_line(error)


def test_lines_are_objects_each(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"x": "a\\nb"}\r\n\n{"x": "\u2028"}\n', encoding="utf-8")
    first, second = reading.read_lines(path, LAYOUT)
    assert (first.name, first.text("x"), second.name) == ("line 1", "a\nb", "line 3")


def test_rows_are_those_that_were_written(tmp_path: Path) -> None:
    rows = [{"x": 'a "quoted",\ncell', "y": "\x0b\u2028"}, {"x": "", "y": "z" * 200_000}]
    path = write_csv(tmp_path / "a.csv", ["x", "y"], rows)
    result = reading.read_rows(path, LAYOUT, ["y", "x"])
    assert [one.fields for one in result] == rows
    assert [one.name for one in result] == ["row 1", "row 2"]


def test_what_is_no_caption_is_named_and_a_caption_stays_as_it_is() -> None:
    faults = ({}, "missing-field"), ({"x": " \n\t"}, "empty-text"), ({"x": "a\ud800"}, "half-character")
    for fields, code in faults:
        with raises(DataError, code, PLACE) as error:
            item(**fields).text("x")
        assert one_line(error).endswith(reading.MEND)
    assert item(x=" A dog.\n").text("x") == " A dog.\n"


def test_what_is_no_list_of_captions_is_named() -> None:
    for value, code, part in (([], "wrong-count", ""), (["a", ""], "empty-text", ", entry 2")):
        with raises(DataError, code, f"{PLACE}{part}"):
            item(x=value).texts("x")
    with raises(DataError, "wrong-count", PLACE):
        item(x=["a"]).texts("x", 2)
    assert item(x=["a", "b"]).texts("x", 2) == ["a", "b"]


def test_what_is_no_number_is_named() -> None:
    for value in (None, True, "", "7px", "nan", float("inf"), 10**400):
        with raises(DataError, "no-number", PLACE):
            item(x=value).number("x")


def test_numbers_are_those_of_json_and_of_csv() -> None:
    assert [item(x=value).number("x") for value in (7, 7.5, "7.5", " 7 ")] == [7, 7.5, 7.5, 7]
    assert [item(x=value).whole("x", 8) for value in (7, 7.0, "7", "7.0")] == [7] * 4
    for value, most in ((-1, 8), (7.5, 8), ("8", 8), (2**53, 8), (str(2**53 + 1), None)):
        with raises(DataError, "wrong-number", PLACE):
            item(x=value).whole("x", most)


def test_an_image_lies_in_its_folder() -> None:
    for name in ("../a.jpg", "/etc/passwd", "a/../../b.jpg", "a\\b.jpg", "a\0.jpg"):
        with raises(DataError, "outside-folder", "item 3") as error:
            item(x=name).path("x", "images/vg")
        one_line(error)
    assert item(x="a/b.jpg").path("x", "images/vg") == "images/vg/a/b.jpg"


numbers = st.floats(-40, 40, allow_nan=False).map(lambda value: round(value * 4) / 4)


@given(numbers, numbers, numbers, numbers)
def test_a_box_cuts_out_what_pillow_does(x: float, y: float, w: float, h: float) -> None:
    """Released loaders pass the corner and the corner plus the sides to Pillow, fractions and all."""
    image = Image.linear_gradient("L").resize((32, 24))
    row = item(x=x, y=str(y), w=w, h=h)
    try:
        expected = image.crop((x, y, x + w, y + h))
    except ValueError:
        expected = Image.new("L", (0, 0))
    if 0 in expected.size:
        with raises(DataError, "empty-box", "item 3"):
            row.box("x", "y", "w", "h")
    else:
        cut = image.crop(row.box("x", "y", "w", "h"))
        assert (cut.size, cut.tobytes()) == (expected.size, expected.tobytes())


def test_parts_say_where_they_stand_and_ids_stand_once() -> None:
    inner = item(x=[{"y": ""}]).part("x", list).part(0, dict)
    with raises(DataError, "empty-text", "item 3, field 'x', entry 1, field 'y'"):
        inner.text("y")
    rows = [AnnotationItem(Path("a.csv"), f"row {number}", {"id": one}) for number, one in ((1, "1"), (2, 1))]
    with raises(DataError, "duplicate-name", "row 2, field 'id'"):
        reading.check_distinct(rows, "id")
    reading.check_distinct(rows[:1], "id")


# byte order marks, which editors on Windows put before a text, are passed over by every reader of lists


READ_BY: dict[str, tuple[str, Callable[[Path], Any]]] = {  # all that do not read by ``files`` alone, and two that do
    "train_pairs.txt": ("Canvas Boots\nold cat\n", read_pairs),
    "a.csv": ("a,b\n1,2\n", lambda path: [dict(row.fields) for row in reading.read_rows(path, "", ["a"])]),
    MEMBER: ("the " + " ".join(["0.5"] * WIDTH) + "\n", lambda path: read_glove(path, ["the"]).tolist()),
    "index.noun": ("yak n 1 0 1 0 00000000\n", lexicon._index),
}


@pytest.mark.parametrize("name", READ_BY)
def test_a_byte_order_mark_is_passed_over(tmp_path: Path, name: str) -> None:
    path, (text, read) = tmp_path / name, READ_BY[name]
    path.write_text(text, encoding="utf-8")
    without = read(path)
    assert without
    path.write_bytes(codecs.BOM_UTF8 + path.read_bytes())
    assert read(path) == without


@pytest.mark.parametrize("name", ["train_pairs.txt", "a.csv"])
def test_a_text_that_is_not_utf_8_is_named_with_its_line(tmp_path: Path, name: str) -> None:
    path, (text, read) = tmp_path / name, READ_BY[name]
    path.write_bytes(text.encode() + b"\n\xff\n")
    with raises(DataError, "no-utf-8", f"{path}:{text.count(chr(10)) + 2}"):
        read(path)
