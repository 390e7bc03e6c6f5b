"""Finding one's way in unpacked archives: the one file, or its copies."""

from pathlib import Path

from recompose.data.paths import files_below, find_file, find_folder, name_as_listed
from recompose.errors import DataError
from tests.errors import raises


def put(path: Path, content: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def test_copies_of_a_file_count_as_one(tmp_path: Path) -> None:
    first = put(tmp_path / "0/words.txt", "red\n")
    put(tmp_path / "1/words.txt", "red\n")
    assert find_file(tmp_path, "words.txt") == first


def test_files_that_differ_are_refused(tmp_path: Path) -> None:
    put(tmp_path / "0/words.txt", "red\n")
    put(tmp_path / "1/words.txt", "blue\n")
    with raises(DataError, "not-one-file", place=tmp_path / "words.txt"):
        find_file(tmp_path, "words.txt")


def test_other_case_is_read_where_the_right_one_is_absent(tmp_path: Path) -> None:
    other = put(tmp_path / "0/XLSA17/Data/CUB/Res101.MAT", "other")
    assert find_folder(tmp_path, "xlsa17/data/CUB") == other.parent
    assert find_file(tmp_path, "CUB/res101.mat") == other
    right = put(tmp_path / "1/xlsa17/data/CUB/res101.mat", "right")
    assert find_folder(tmp_path, "xlsa17/data/CUB") == right.parent
    assert find_file(tmp_path, "CUB/res101.mat") == right


def test_files_get_the_names_of_a_list_that_spells_them_in_another_way(tmp_path: Path) -> None:
    for name in ("Wet_Dog/1.JPG", "old_cat/2.jpg", "old_cat/2.JPG", "Cafe\u0301/3.jpg", "other.jpg"):
        put(tmp_path / name, name)
    name_as_listed(tmp_path, ["wet_dog/1.jpg", "old_cat/2.jpg", "Caf\u00e9/3.jpg", "absent.jpg", "../outside.jpg"])
    contents = {path.relative_to(tmp_path).as_posix(): path.read_text() for path in files_below(tmp_path)}
    assert contents == {
        "wet_dog/1.jpg": "Wet_Dog/1.JPG",
        "old_cat/2.jpg": "old_cat/2.jpg",
        "old_cat/2.JPG": "old_cat/2.JPG",
        "Caf\u00e9/3.jpg": "Cafe\u0301/3.jpg",
        "other.jpg": "other.jpg",
    }


def test_a_folder_in_a_folder_of_its_name_is_found(tmp_path: Path) -> None:
    """Windows unpacks an archive into a folder of the archive's name."""
    put(tmp_path / "train2014/train2014/train2014/1.jpg")
    assert find_folder(tmp_path, "train2014") == tmp_path / "train2014/train2014/train2014"
    put(tmp_path / "train2014/2.jpg")
    with raises(DataError, "not-one-folder"):
        find_folder(tmp_path, "train2014")
