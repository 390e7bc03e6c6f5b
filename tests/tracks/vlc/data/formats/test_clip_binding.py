"""CLIP-Binding's file, written by hand."""

from pathlib import Path
from typing import Any

from recompose.errors import DataError
from recompose.tracks.vlc.data.suites_on_disk import read_suite
from tests.errors import raises
from tests.tracks.vlc.data.formats.published import questions, write_csv

CAPTIONS = ("red cube", "blue cube", "red sphere", "green cylinder", "gray cube")
COLUMNS = ("file_name", "pos", "neg_0", "neg_1", "neg_2", "neg_3")


def written(root: Path, *rows: dict[str, Any]) -> Path:
    write_csv(root / "clip_binding/two_object/gen.csv", COLUMNS, rows)
    return root


def row(file: str, *captions: str) -> dict[str, str]:
    return dict(zip(COLUMNS, (file, *captions), strict=True))


def test_the_true_caption_stands_first(tmp_path: Path) -> None:
    """An image of two objects stands once for each; the released prompt has no space at its end."""
    other = ("blue sphere", *CAPTIONS[1:])
    suite = read_suite("clip_binding", written(tmp_path, row("CLEVR_1.png", *CAPTIONS), row("CLEVR_1.png", *other)))
    image = "images/clip_binding/two_object/images/gen/CLEVR_1.png"
    assert questions(suite, "clip_binding/plain") == [(image, [*CAPTIONS], 0), (image, [*other], 0)]
    assert questions(suite, "clip_binding") == [
        (image, [f"a photo of{caption}" for caption in captions], 0) for captions in (CAPTIONS, other)
    ]
    assert len(suite.images) == 1


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    with raises(DataError, "outside-folder", "gen.csv, row 1"):
        read_suite("clip_binding", written(tmp_path, row("../1.png", *CAPTIONS)))
    with raises(DataError, "empty-text", "row 1, field 'neg_3'"):
        read_suite("clip_binding", written(tmp_path, row("1.png", *CAPTIONS[:4], "")))
    with raises(DataError, "no-items"):
        read_suite("clip_binding", written(tmp_path))
