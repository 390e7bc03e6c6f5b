"""ComVG's file, written by hand."""

from pathlib import Path

import pytest

from recompose.errors import DataError
from recompose.tracks.vlc.data.suites_on_disk import read_suite
from tests.errors import raises
from tests.tracks.vlc.data.formats.published import questions

HEADER = "id,sentence,pos_triplet,neg_triplet,pos_image_id,neg_image_id,neg_value,sentence_id"
ROWS = (
    """1,a man is sitting at a table,"man,sit,table","('dog', 'sit', 'table')",2358258,2357994,subject,215""",
    """2,a man is sitting at a table,"man,sit,table","('man', 'leave', 'table')",2358258,2400993,verb,215""",
)


def written(root: Path, *lines: str) -> Path:
    (root / "comvg").mkdir()
    (root / "comvg/ComVG.csv").write_text("\r\n".join(lines))
    return root


def test_a_sentence_and_two_images(tmp_path: Path) -> None:
    suite = read_suite("comvg", written(tmp_path, HEADER, *ROWS))
    assert questions(suite, "comvg") == [
        ("a man is sitting at a table", [f"images/vg/{number}.jpg" for number in (2358258, other)], 0)
        for other in (2357994, 2400993)
    ]
    assert len(suite.texts) == 1
    assert questions(suite, "comvg/verb") == questions(suite, "comvg")[1:]


@pytest.mark.parametrize(
    ("lines", "code", "place"),
    [
        ((HEADER, ROWS[0], ROWS[0]), "duplicate-name", "ComVG.csv, row 2, field 'id'"),
        ((HEADER, ROWS[0].replace("2357994", "../7")), "no-number", "row 1, field 'neg_image_id'"),
        ((HEADER.replace("pos_image_id", "image"), *ROWS), "missing-field", "line 1"),
        ((HEADER,), "no-items", "ComVG.csv"),
        ((HEADER, ROWS[0].replace("subject", "adverb")), "unknown-name", "row 1, field 'neg_value'"),
        ((HEADER, ROWS[0]), "no-items", "ComVG.csv, verb"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, lines: tuple[str, ...], code: str, place: str) -> None:
    with raises(DataError, code, place):
        read_suite("comvg", written(tmp_path, *lines))
