"""Raw files: drawn whole or not at all, known by their bytes, found in unpacked archives, and named by ``data.dvc``."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import yaml

from recompose.data.content import changed_files, raw_files, write_content
from recompose.data.paths import files_below, find_file, find_folder, name_as_listed
from recompose.data.raw import draw_once
from recompose.data.tracking import TRACKED, track, tracked
from recompose.digest import sha256_file
from recompose.errors import DataError
from recompose.recipes.plan import Recipe
from recompose.workspace import Workspace
from tests.conftest import ROOT
from tests.errors import raises


def test_a_data_set_is_drawn_whole_once_from_the_values_of_its_recipe(tmp_path: Path) -> None:
    recipe = cast(Recipe, SimpleNamespace(document={"adapter": "shapes", "seed": 3}))
    calls: list[int] = []

    def draw(root: Path, **values: Any) -> None:
        calls.append(values["seed"])
        assert values == {"seed": 3} and not [*root.iterdir()]
        (root / "image.png").write_bytes(b"x")
        if len(calls) == 1:
            raise OSError("the disk is full")

    root = tmp_path / "data" / "shapes-3"
    with pytest.raises(OSError, match="full"):
        draw_once(draw, recipe, root)
    assert not root.exists()
    for _ in range(2):
        draw_once(draw, recipe, root)
    assert calls == [3, 3]
    assert [path.name for path in root.iterdir()] == ["image.png"]


def test_raw_files_that_were_edited_or_removed_since_they_were_indexed_are_named(tmp_path: Path) -> None:
    root, index = tmp_path / "raw", tmp_path / "index"
    root.mkdir()
    for name in "abc":
        (root / name).write_text(name)
    write_content(root, ["a", "b", "c", "a", "absent"], index)
    assert raw_files(index) == {"absent": "", **{name: sha256_file(root / name) for name in "abc"}}
    assert changed_files(root, index) == []
    (root / "b").write_text("other")
    (root / "c").unlink()
    (root / "absent").write_text("here now")
    assert sorted(changed_files(root, index)) == ["absent", "b", "c"]


# finding one's way in unpacked archives


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


# ``data.dvc``


def folders(work: Workspace) -> list[str]:
    return [f"data/{recipe.name}-{recipe.folder}" for recipe in work.plan.of("data")]


def test_the_committed_file_names_a_folder_for_each_raw_data_set_of_the_default_profile() -> None:
    """Their digests are those of the last `make reproduce`."""
    names = [[path.rpartition("-")[0] for path in paths] for paths in (tracked(ROOT), folders(Workspace(ROOT)))]
    assert sorted(names[0]) == sorted(names[1])


def test_what_other_profiles_have_generated_is_not_named(work: Workspace) -> None:
    for folder in (*folders(work), "data/shapes-pairs-0123456789ab", "data/archives"):
        (work.root / folder).mkdir(parents=True)
    track(work.root, work.plan.of("data"))
    outs = yaml.safe_load((work.root / TRACKED).read_text())["outs"]
    assert sorted(out["path"] for out in outs) == sorted(folders(work))


def test_digests_stay_where_the_folders_are_the_same(work: Workspace) -> None:
    """DVC writes them, and leaves them out where it is told nothing of the folder."""
    for folder in folders(work):
        (work.root / folder).mkdir(parents=True)
    track(work.root, work.plan.of("data"))
    text = (work.root / TRACKED).read_text() + "# with digests\n"
    (work.root / TRACKED).write_text(text)
    track(work.root, work.plan.of("data"))
    assert (work.root / TRACKED).read_text() == text


@pytest.mark.parametrize("text", ["", "{}", "outs: 3", "outs: [data/a]"])
def test_a_file_of_another_form_is_written_anew(work: Workspace, text: str) -> None:
    (work.root / TRACKED).write_text(text)
    (work.root / folders(work)[0]).mkdir(parents=True)
    track(work.root, work.plan.of("data"))
    assert tracked(work.root) == folders(work)[:1]
