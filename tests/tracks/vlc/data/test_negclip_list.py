"""COCO's captions in the form of NegCLIP's authors, written by hand and by pandas."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recompose.errors import DataError
from recompose.tracks.vlc.data.negclip_list import LAYOUT, LIST, annotation_files, arrange, read
from tests.errors import raises

HEADER = "\ttitle\tfilepath\tneg_caption\tneg_image\n"
NEGATIVES = "['A yak holding a child .', \"A yak's child .\"]"
PLACE = "coco/val2014/COCO_val2014_000000184613.jpg"


def corpus(root: Path, table: str, *images: str) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    (root / LIST).write_text(table, encoding="utf-8", newline="")
    for image in images:
        (root / "images" / image).parent.mkdir(parents=True, exist_ok=True)
        (root / "images" / image).write_bytes(b"")
    return root


def row(number: int, caption: str, path: str = PLACE) -> str:
    return f"{number}\t{caption}\t{path}\t{NEGATIVES}\t[2973, 1515]\n"


def test_rows_are_read_as_they_stand(tmp_path: Path) -> None:
    table = HEADER + row(0, "A child and a yak.") + row(1, '"A sign that says ""Go"" \n"', "coco/train2014/b.jpg")
    one = read(corpus(tmp_path, table, PLACE.removeprefix("coco/"), "train2014/b.jpg"))
    assert one.paths == ("images/val2014/COCO_val2014_000000184613.jpg", "images/train2014/b.jpg")
    assert one.captions == ("A child and a yak.", 'A sign that says "Go" \n')
    assert one.negatives == (("A yak holding a child .", "A yak's child ."),) * 2


def test_rows_that_stand_twice_count_twice(tmp_path: Path) -> None:
    one = read(corpus(tmp_path, HEADER + row(0, "A yak.") * 2, PLACE.removeprefix("coco/")))
    assert one.captions == ("A yak.", "A yak.") and len(one.paths) == 2


def test_a_list_without_negatives_is_read(tmp_path: Path) -> None:
    table = f"title\tfilepath\nA yak.\t{PLACE}\n"
    assert read(corpus(tmp_path, table, PLACE.removeprefix("coco/"))).negatives == ()


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), min_size=1, max_size=30)


@given(captions=st.lists(TEXT.filter(str.strip), min_size=1, max_size=8))
def test_what_pandas_writes_is_read(tmp_path_factory: pytest.TempPathFactory, captions: list[str]) -> None:
    table = pd.DataFrame({"title": captions, "filepath": PLACE, "neg_caption": "[]", "neg_image": "[]"})
    root = corpus(tmp_path_factory.mktemp("coco"), table.to_csv(sep="\t"), PLACE.removeprefix("coco/"))
    assert read(root).captions == tuple(captions)


@pytest.mark.parametrize(
    ("table", "code", "place"),
    [
        ("\tcaption\tfilepath\n0\ta\tb\n", "missing-field", f"{LIST}, line 1"),
        (HEADER + row(0, " "), "empty-text", f"{LIST}, row 1"),
        (HEADER + row(0, "A yak.", "coco/../../a.jpg"), "outside-folder", f"{LIST}, row 1"),
        (HEADER + row(0, "A yak.", "coco//etc/a.jpg"), "outside-folder", f"{LIST}, row 1"),
        (HEADER + row(0, "A yak.") + "1\tA yak.\n", "wrong-count", f"{LIST}, row 2"),
        *(
            (HEADER + row(0, "A yak.").replace(NEGATIVES, cell), "wrong-type", f"{LIST}, row 1")
            for cell in ("[1]", "[' ']", "[exit()]")
        ),
        (HEADER + row(0, "A yak."), "missing-image", "COCO_val2014_000000184613.jpg"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, table: str, code: str, place: str) -> None:
    with raises(DataError, code, place) as caught:
        read(corpus(tmp_path, table))
    assert "\n" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_no_list(tmp_path: Path) -> None:
    with raises(DataError, "missing-file", tmp_path / LIST) as caught:
        read(tmp_path)
    assert LAYOUT in str(caught.value)


def test_archives_are_arranged(tmp_path: Path) -> None:
    image = "a.jpg"
    unpacked, root = tmp_path / "unpacked", tmp_path / "root"
    for number, name in enumerate(("train2014", "val2014")):
        (unpacked / str(number) / name).mkdir(parents=True)
        (unpacked / str(number) / name / image).write_bytes(name.encode())
    (unpacked / LIST).write_text(HEADER + row(0, "A yak.", "coco/val2014/a.jpg"))
    root.mkdir()
    arrange(unpacked, root)
    assert read(root).paths == ("images/val2014/a.jpg",)
    assert (root / "images/train2014" / image).read_bytes() == b"train2014"
    assert (root / "images/val2014/a.jpg").read_bytes() == b"val2014"
    assert annotation_files(root) == [LIST]
