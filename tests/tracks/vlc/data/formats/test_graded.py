"""SICK's and STS-Benchmark's files, written by hand."""

from pathlib import Path

import pytest

from recompose.errors import DataError
from recompose.tracks.vlc.data.suite import Similarity, Suite
from recompose.tracks.vlc.data.suites_on_disk import read_suite
from tests.errors import raises

SICK = [
    "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment",
    "6\tThere is no boy playing\tA group of kids is playing\t3.3\tNEUTRAL",
    '7\tA group of "kids is playing\tThere is no boy playing\t4.7\tNEUTRAL',
]
STS = [
    "main-captions\tMSRvid\t2012test\t0024\t2.500\tA girl is styling her hair.\tA girl is brushing her hair.",
    'main-news\tMSRpar\t2012test\t0005\t5\t"Oil" rose.\tA girl is styling her hair.\tlicence\tsource',
]


def written(root: Path, path: str, lines: list[str], end: str = "\n") -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes((end.join(lines) + end).encode())
    return root


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
def test_sick(tmp_path: Path, end: str) -> None:
    suite = read_suite("sick", written(tmp_path, "sick/SICK_test_annotated.txt", SICK, end))
    task = suite.tasks["sick"]
    assert isinstance(task, Similarity)
    assert suite.images == ()
    first, second = ([suite.texts[text] for text in texts] for texts in (task.first, task.second))
    assert first == ["There is no boy playing", 'A group of "kids is playing']
    assert second == ["A group of kids is playing", "There is no boy playing"]
    assert task.graded.tolist() == [3.3, 4.7]


def test_sts_b_has_no_header_and_rows_of_several_lengths(tmp_path: Path) -> None:
    suite = read_suite("sts_b", written(tmp_path, "sts_b/sts-test.csv", STS))
    task = suite.tasks["sts_b"]
    assert isinstance(task, Similarity)
    assert suite.texts == ("A girl is styling her hair.", '"Oil" rose.', "A girl is brushing her hair.")
    assert (task.first.tolist(), task.second.tolist(), task.graded.tolist()) == ([0, 1], [2, 0], [2.5, 5.0])


def test_an_index_keeps_it(tmp_path: Path) -> None:
    suite = read_suite("sick", written(tmp_path, "sick/SICK_test_annotated.txt", SICK))
    suite.write(tmp_path / "sick.json")
    again = Suite.read(tmp_path / "sick.json")
    before, after = suite.tasks["sick"], again.tasks["sick"]
    assert isinstance(before, Similarity) and isinstance(after, Similarity)
    assert again.texts == suite.texts
    for name, value in vars(before).items():
        assert vars(after)[name].tolist() == value.tolist() and vars(after)[name].dtype == value.dtype


@pytest.mark.parametrize(
    ("lines", "code", "place"),
    [
        ([SICK[0]], "no-items", "SICK_test_annotated.txt"),
        ([SICK[0].replace("sentence_B", "other"), SICK[1]], "missing-field", "line 1"),
        ([*SICK[:2], "7\tone"], "wrong-count", "line 3"),
        ([*SICK[:2], f"{SICK[2]}\tmore"], "wrong-count", "line 3"),
        ([*SICK[:2], SICK[1]], "duplicate-name", "line 3, field 'pair_ID'"),
        ([SICK[0], SICK[1].replace("3.3", "0.9")], "wrong-number", "line 2, field 'relatedness_score'"),
        ([SICK[0], SICK[1].replace("3.3", "nan")], "no-number", "line 2, field 'relatedness_score'"),
        ([SICK[0], "8\t \tone\t3\tNEUTRAL"], "empty-text", "line 2, field 'sentence_A'"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, lines: list[str], code: str, place: str) -> None:
    with raises(DataError, code, place):
        read_suite("sick", written(tmp_path, "sick/SICK_test_annotated.txt", lines))


def test_a_row_of_sts_b_that_is_cut_short_is_named(tmp_path: Path) -> None:
    with raises(DataError, "wrong-count", "sts-test.csv, line 2"):
        read_suite("sts_b", written(tmp_path, "sts_b/sts-test.csv", [STS[0], STS[1].split("\tA girl")[0]]))
