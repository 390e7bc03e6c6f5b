"""Annotation files that are not what they should be, and the one line that says so."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from recompose.errors import DataError
from recompose.tracks.vlc.data.formats import reading
from recompose.tracks.vlc.data.formats.reading import AnnotationItem
from tests.tracks.vlc.data.formats.published import write_csv, write_json

LAYOUT = "a.json: here\nb.json: there"


def item(**fields: Any) -> AnnotationItem:
    return AnnotationItem(Path("folder/a.json"), "item 3", fields)


def said(error: pytest.ExceptionInfo[DataError]) -> str:
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


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_mark_of_byte_order_is_no_part_of_a_file(tmp_path: Path, mark: bytes) -> None:
    (tmp_path / "a.json").write_bytes(mark + '[{"x": "schön"}]'.encode())
    assert reading.read_items(tmp_path / "a.json", LAYOUT)[0].text("x") == "schön"
    (tmp_path / "a.csv").write_bytes(mark + "x\nschön\n".encode())
    assert reading.read_rows(tmp_path / "a.csv", LAYOUT, ["x"])[0].text("x") == "schön"


def test_an_absent_file_says_in_one_line_what_goes_where(tmp_path: Path) -> None:
    for read in (reading.read_items, reading.read_lines, lambda path, layout: reading.read_rows(path, layout, [])):
        for path in (tmp_path / "a.json", tmp_path):
            with pytest.raises(DataError) as error:
                read(path, LAYOUT)
            assert said(error) == f"{path} is absent; required files: a.json: here; b.json: there"


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "line 1: not JSON"),
        (b'[\n{"x": 1},\n]', "line 3: not JSON"),
        (b"\xff\xfe", "byte 1: not UTF-8"),
        (b"[]", "holds no items"),
        (b"{}", "holds no items"),
        (b"3", "expected a list of items or an object"),
        (b'"abc"', "expected a list of items or an object"),
        (b'["abc"]', "item 1: neither an object nor a list"),
        (b'[{"x": 1, "y": 2, "x": 3}]', "the key 'x' occurs twice in one object"),
        (b'{"7": {}, "7": {}}', "the key '7' occurs twice in one object"),
        (b'[{"x": NaN}]', "NaN is not a number of JSON"),
        (b'[{"x": -Infinity}]', "-Infinity is not a number of JSON"),
        (b"[" * 100_000, "too many lists in lists"),
        (b"[" + b"9" * 5_000 + b"]", "limit"),
    ],
)
def test_what_is_not_the_json_expected(tmp_path: Path, content: bytes, fault: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(DataError) as error:
        reading.read_items(path, LAYOUT)
    assert said(error).startswith(f"{path}, ")
    assert fault in said(error)
    assert said(error).endswith(reading.MEND)


def test_lines_are_objects_each(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"x": "a\\nb"}\r\n\n{"x": "\u2028"}\n', encoding="utf-8")
    first, second = reading.read_lines(path, LAYOUT)
    assert (first.name, first.text("x"), second.name) == ("line 1", "a\nb", "line 3")
    for content, fault in [
        ("\n\n", "holds no items"),
        ('{"x": 1}\n{"x": \n', "line 2: not JSON"),
        ("7", "line 1: nei"),
    ]:
        path.write_text(content, encoding="utf-8")
        with pytest.raises(DataError, match=fault) as error:
            reading.read_lines(path, LAYOUT)
        said(error)


def test_rows_are_those_that_were_written(tmp_path: Path) -> None:
    rows = [{"x": 'a "quoted",\ncell', "y": "\x0b\u2028"}, {"x": "", "y": "z" * 200_000}]
    path = write_csv(tmp_path / "a.csv", ["x", "y"], rows)
    found = reading.read_rows(path, LAYOUT, ["y", "x"])
    assert [one.fields for one in found] == rows
    assert [one.name for one in found] == ["row 1", "row 2"]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("", "line 1: there is no column 'x'"),
        ("y,z\n1,2\n", "line 1: there is no column 'x'"),
        ("x,y,y\n1,2,3\n", "line 1: a column occurs twice"),
        ("x,y\n", "holds no items"),
        ("x,y\n1,2\n\n1,2,3\n", "row 2: 3 cells in 2 columns"),
        ("x,y\n1\n", "row 1: 1 cells in 2 columns"),
        ('x,y\n1,"2\n', "line 2: not CSV"),
        ('x,y\n1,"2"3\n', "line 2: not CSV"),
    ],
)
def test_what_is_not_the_csv_expected(tmp_path: Path, content: str, fault: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError) as error:
        reading.read_rows(path, LAYOUT, ["x"])
    assert said(error).startswith(f"{path}, {fault}")


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({}, "there is no field 'x'"),
        ({"x": None}, "field 'x' is not a text"),
        ({"x": 7}, "field 'x' is not a text"),
        ({"x": ["a"]}, "field 'x' is not a text"),
        ({"x": ""}, "field 'x' is empty"),
        ({"x": " \n\t"}, "field 'x' is empty"),
        ({"x": "a\ud800"}, "field 'x' holds half a character"),
    ],
)
def test_what_is_no_caption(fields: dict[str, Any], fault: str) -> None:
    with pytest.raises(DataError) as error:
        item(**fields).text("x")
    assert said(error) == f"folder/a.json, item 3: {fault}; {reading.MEND}"


def test_a_caption_stays_as_it_is() -> None:
    assert item(x=" A dog.\n").text("x") == " A dog.\n"


@pytest.mark.parametrize(
    ("value", "count", "fault"),
    [
        ("ab", None, "field 'x' is not a list"),
        ([], None, "field 'x' has 0 entries, not one or more"),
        (["a"], 2, "field 'x' has 1 entries, not 2"),
        (["a", ""], None, "field 'x': entry 2 is empty"),
        (["a", 3], 2, "field 'x': entry 2 is not a text"),
    ],
)
def test_what_is_no_list_of_captions(value: Any, count: int | None, fault: str) -> None:
    with pytest.raises(DataError) as error:
        item(x=value).texts("x", count)
    assert fault in said(error)
    assert item(x=["a", "b"]).texts("x", 2) == ["a", "b"]


@pytest.mark.parametrize("value", [None, True, "", "7px", "nan", "inf", [], {}, float("inf"), 10**400])
def test_what_is_no_number(value: Any) -> None:
    with pytest.raises(DataError, match="field 'x' is not a number"):
        item(x=value).number("x")


def test_numbers_are_those_of_json_and_of_csv() -> None:
    assert [item(x=value).number("x") for value in (7, 7.5, "7.5", " 7 ")] == [7, 7.5, 7.5, 7]
    assert [item(x=value).whole("x", 8) for value in (7, 7.0, "7", "7.0")] == [7] * 4
    for value in (-1, 7.5, "8", 8, 2**53):
        with pytest.raises(DataError, match="not a whole number from 0 below 8"):
            item(x=value).whole("x", 8)
    with pytest.raises(DataError, match=r"is 9.0072e\+15, not a whole number from 0; "):
        item(x=str(2**53 + 1)).whole("x")


@pytest.mark.parametrize("name", ["../a.jpg", "/etc/passwd", "a/../../b.jpg", "a\\b.jpg", "a\0.jpg"])
def test_an_image_lies_in_its_folder(name: str) -> None:
    with pytest.raises(DataError, match="lies outside of its folder images/vg") as error:
        item(x=name).path("x", "images/vg")
    said(error)


def test_an_image_is_a_path_below_the_root() -> None:
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
        with pytest.raises(DataError, match="pixels is empty"):
            row.box("x", "y", "w", "h")
    else:
        cut = image.crop(row.box("x", "y", "w", "h"))
        assert (cut.size, cut.tobytes()) == (expected.size, expected.tobytes())


def test_a_box_is_of_numbers() -> None:
    with pytest.raises(DataError, match="item 3: field 'w' is not a number"):
        item(x=1, y=2, w="wide", h=3).box("x", "y", "w", "h")
    with pytest.raises(DataError, match="the box at 1, 2 of 0 x 3 pixels is empty"):
        item(x=1, y=2, w=0, h=3).box("x", "y", "w", "h")


def test_parts_say_where_they_stand() -> None:
    inner = item(x=[{"y": ""}]).part("x", list).part(0, dict)
    with pytest.raises(DataError, match="item 3, field 'x', entry 1: field 'y' is empty"):
        inner.text("y")
    with pytest.raises(DataError, match="field 'x' is not an object"):
        item(x=[]).part("x", dict)


@pytest.mark.parametrize("ids", [["1", "1"], [1, 1], ["1", 1]])
def test_ids_stand_once(ids: list[str | int]) -> None:
    rows = [AnnotationItem(Path("a.csv"), f"row {number}", {"id": one}) for number, one in enumerate(ids, start=1)]
    with pytest.raises(DataError, match="row 2: field 'id' '1' is also that of row 1"):
        reading.check_distinct(rows, "id")
    reading.check_distinct(rows[:1], "id")
