"""Raw files: drawn whole or not at all, and known by their bytes."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from recompose.data.content import changed_files, raw_files, write_content
from recompose.data.raw import draw_once
from recompose.digest import sha256_file
from recompose.plan import Recipe


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
