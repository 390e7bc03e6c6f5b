"""COCO's captions in the form of NegCLIP's authors, written by hand and by pandas."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recompose.errors import DataError
from recompose.tracks.vlc.data.negclip_list import LAYOUT, LIST, annotation_files, arrange, read

HEADER = "\ttitle\tfilepath\tneg_caption\tneg_image\n"
PLACE = "coco/val2014/COCO_val2014_000000184613.jpg"


def corpus(root: Path, table: str, *images: str) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    (root / LIST).write_text(table, encoding="utf-8", newline="")
    for image in images:
        (root / "images" / image).parent.mkdir(parents=True, exist_ok=True)
        (root / "images" / image).write_bytes(b"")
    return root


def row(number: int, caption: str, path: str = PLACE) -> str:
    return f"{number}\t{caption}\t{path}\t['A yak holding a child .']\t[2973, 1515]\n"


def test_rows_are_read_as_they_stand(tmp_path: Path) -> None:
    table = HEADER + row(0, "A child and a yak.") + row(1, '"A sign that says ""Go"" \n"', "coco/train2014/b.jpg")
    one = read(corpus(tmp_path, table, PLACE.removeprefix("coco/"), "train2014/b.jpg"))
    assert one.paths == ("images/val2014/COCO_val2014_000000184613.jpg", "images/train2014/b.jpg")
    assert one.captions == ("A child and a yak.", 'A sign that says "Go" \n')


def test_rows_that_stand_twice_count_twice(tmp_path: Path) -> None:
    one = read(corpus(tmp_path, HEADER + row(0, "A yak.") * 2, PLACE.removeprefix("coco/")))
    assert one.captions == ("A yak.", "A yak.") and len(one.paths) == 2


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), min_size=1, max_size=30)


@given(captions=st.lists(TEXT.filter(str.strip), min_size=1, max_size=8))
def test_what_pandas_writes_is_read(tmp_path_factory: pytest.TempPathFactory, captions: list[str]) -> None:
    table = pd.DataFrame({"title": captions, "filepath": PLACE, "neg_caption": "[]", "neg_image": "[]"})
    root = corpus(tmp_path_factory.mktemp("coco"), table.to_csv(sep="\t"), PLACE.removeprefix("coco/"))
    assert read(root).captions == tuple(captions)


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ("\tcaption\tfilepath\n0\ta\tb\n", "line 1: expected one column 'title', found 0"),
        ("title\ttitle\tfilepath\na\ta\tb\n", "line 1: expected one column 'title', found 2"),
        ("\ttitle\tpath\n0\ta\tb\n", "line 1: expected one column 'filepath', found 0"),
        ("", "line 1: expected one column 'title', found 0"),
        (HEADER, "has no rows"),
        (HEADER + row(0, " "), "row 1: the caption is empty; correct or remove the row"),
        (HEADER + row(0, "A yak.", "coco/../../a.jpg"), "row 1: the image 'coco/../../a.jpg' lies outside of"),
        (HEADER + row(0, "A yak.", "/etc/a.jpg"), "row 1: the image '/etc/a.jpg' lies outside of"),
        (HEADER + row(0, "A yak.", "coco//etc/a.jpg"), "row 1: the image 'coco//etc/a.jpg' lies outside of"),
        (HEADER + row(0, "A yak.", ""), "row 1: the image '' lies outside of"),
        (HEADER + row(0, "A yak.") + "1\tA yak.\n", "row 2: 2 cells in 5 columns"),
        (HEADER + row(0, '"A yak."!'), "line 2: not a table with tabs"),
        (HEADER + row(0, "A yak."), "COCO_val2014_000000184613.jpg and 0 more images are missing"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, table: str, complaint: str) -> None:
    with pytest.raises(DataError) as caught:
        read(corpus(tmp_path, table))
    assert complaint in str(caught.value) and "\n" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_no_list_and_no_text(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path)
    assert str(caught.value) == f"{tmp_path / LIST} is missing. Required files: {LAYOUT}"
    (tmp_path / LIST).write_bytes(HEADER.encode() + b"\xff")
    with pytest.raises(DataError, match="byte 39: not UTF-8"):
        read(tmp_path)


def test_archives_are_arranged(tmp_path: Path) -> None:
    unpacked, root = tmp_path / "unpacked", tmp_path / "root"
    for number, name in enumerate(("train2014", "val2014")):
        (unpacked / str(number) / name).mkdir(parents=True)
        (unpacked / str(number) / name / "a.jpg").write_bytes(name.encode())
    (unpacked / LIST).write_text(HEADER + row(0, "A yak.", "coco/val2014/a.jpg"))
    root.mkdir()
    arrange(unpacked, root)
    assert read(root).paths == ("images/val2014/a.jpg",)
    assert (root / "images/train2014/a.jpg").read_bytes() == b"train2014"
    assert annotation_files(root) == [LIST]
