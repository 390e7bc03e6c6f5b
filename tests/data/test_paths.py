"""Finding one's way in unpacked archives: the one file, or its copies."""

from pathlib import Path

import pytest

from recompose.data.paths import find_file
from recompose.errors import DataError
from tests.errors import raises


def put(path: Path, content: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


@pytest.mark.parametrize("outer", ["", "a", "a/b c/d"])
def test_a_file_is_found_below_any_folders(tmp_path: Path, outer: str) -> None:
    wanted = put(tmp_path / outer / "names/words.txt")
    put(tmp_path / "other_names/words.txt", "others")
    (tmp_path / "z/names/words.txt").mkdir(parents=True)
    assert find_file(tmp_path, "names/words.txt") == wanted


def test_copies_of_a_file_count_as_one(tmp_path: Path) -> None:
    first = put(tmp_path / "0/words.txt", "red\n")
    put(tmp_path / "1/words.txt", "red\n")
    assert find_file(tmp_path, "words.txt") == first


def test_files_that_differ_are_refused(tmp_path: Path) -> None:
    put(tmp_path / "0/words.txt", "red\n")
    put(tmp_path / "1/words.txt", "blue\n")
    with raises(DataError, "not-one-file", place=tmp_path / "words.txt"):
        find_file(tmp_path, "words.txt")
