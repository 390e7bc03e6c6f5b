"""EqBen as published, in small: four lines a group in any order, numbered over all sets."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recompose.errors import DataError
from recompose.tracks.vlc.data.suites_on_disk import read_suite
from recompose.tracks.vlc.suites.catalogue import SUBTASKS
from tests.errors import raises
from tests.tracks.vlc.data.formats.published import groups, write_json

SIZES = {"ag": 3, "youcook2": 2, "gebc": 2, "kubric_loc": 1, "kubric_attr": 1, "kubric_cnt": 1, "sd": 2}


def group(name: str, number: int) -> list[dict[str, Any]]:
    suffix = "npy" if name == "youcook2" else "png"  # of YouCook2's frames, which are arrays
    captions = [f"The person {verb} the cup of {number}." for verb in ("holds", "drops")]
    return [
        {
            "image": f"eqben{name}/v{number}.mp4/{image}.{suffix}",
            "caption": captions[caption],
            "private_info": {"dataset": f"eqben{name}", "name": f"c{caption}i{image}", "sample_cnt": number},
        }
        for caption, image in ((0, 0), (1, 0), (0, 1), (1, 1))
    ]


def published() -> list[dict[str, Any]]:
    names = [name for name, size in SIZES.items() for _ in range(size)]
    return [row for number, name in enumerate(names) for row in group(name, number)]


def write(root: Path, rows: list[dict[str, Any]]) -> Path:
    return write_json(root / "eqben/ann_json_finegrained_random.json", rows)


@pytest.mark.parametrize("seed", range(3))
def test_groups_are_put_together_from_lines_in_any_order(tmp_path: Path, seed: int) -> None:
    rows = published()
    np.random.default_rng(seed).shuffle(rows)
    write(tmp_path, rows)
    suite = read_suite("eqben", tmp_path)
    assert {*suite.tasks} == {name for name, task in SUBTASKS.items() if task.suite == "eqben"}
    numbers = iter(range(sum(SIZES.values())))
    for name, size in SIZES.items():
        expected = []
        for number in [next(numbers) for _ in range(size)]:
            parts = {row["private_info"]["name"]: row for row in rows if row["private_info"]["sample_cnt"] == number}
            own = parts["c0i0"], parts["c1i1"]
            expected.append(([f"images/eqben/{row['image']}" for row in own], [row["caption"] for row in own]))
        assert groups(suite, f"eqben/{name}") == expected


def changed(place: int, **fields: Any) -> list[dict[str, Any]]:
    rows = published()
    info = {**rows[place]["private_info"], **fields.pop("info", {})}
    rows[place] = {**rows[place], "private_info": info, **fields}
    return rows


@pytest.mark.parametrize(
    ("rows", "code", "place"),
    [
        (published()[1:], "incomplete-group", "item 1"),
        (published() + published()[:1], "duplicate-name", "item 49"),
        (changed(2, info={"dataset": "eqbenfoo"}), "unknown-name", "item 3"),
        (changed(2, info={"name": "c0i2"}), "unknown-name", "item 3"),
        (changed(2, info={"sample_cnt": "first"}), "no-number", "item 3, field 'private_info', field 'sample_cnt'"),
        (changed(2, caption=""), "empty-text", "item 3, field 'caption'"),
        (changed(2, caption="another"), "incomplete-group", "item 1"),
        (changed(2, image="another"), "incomplete-group", "item 1"),
        (changed(1, private_info=None), "wrong-kind", "item 2, field 'private_info'"),
        (published()[:-8], "no-items", "ann_json_finegrained_random.json"),
    ],
)
def test_what_is_broken_is_named(tmp_path: Path, rows: list[dict[str, Any]], code: str, place: str) -> None:
    path = write(tmp_path, rows)
    with raises(DataError, code, path) as error:
        read_suite("eqben", tmp_path)
    assert str(error.value.place).endswith(place)


def test_images_lie_in_their_folder(tmp_path: Path) -> None:
    rows = published()
    for row in rows[:4]:
        row["image"] = "../" + row["image"]
    write(tmp_path, rows)
    with raises(DataError, "outside-folder", "item 1"):
        read_suite("eqben", tmp_path)
