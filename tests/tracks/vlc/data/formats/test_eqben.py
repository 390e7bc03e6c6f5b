"""EqBen as published, in small."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recompose.errors import DataError
from recompose.tracks.vlc.data.formats import eqben
from recompose.tracks.vlc.data.formats.suite_files import Limit
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.catalogue import SUBTASKS, read_suite
from recompose.tracks.vlc.suites.tasks import Groups
from tests.errors import raises
from tests.tracks.vlc.data.formats.published import equal, touch, write_json


def group(name: str, number: int, images: tuple[str, str] = ("0.png", "1.png")) -> list[dict[str, Any]]:
    return [
        {
            "image": f"eqben{name}/v{number}/{images[image]}",
            "caption": f"caption {caption} of {name} {number}",
            "private_info": {"dataset": f"eqben{name}", "name": f"c{caption}i{image}", "sample_cnt": number},
        }
        for image in (0, 1)
        for caption in (0, 1)
    ]


def published() -> list[dict[str, Any]]:
    names = [name for name in eqben.SETS if name != "youcook2"]
    rows = [row for number, name in enumerate(names) for row in group(name, number)]
    return rows + group("ag", 12) + group("ag", 9) + group("youcook2", 5, ("0.npy", "1.npy"))


def write(root: Path, rows: list[dict[str, Any]]) -> Path:
    return write_json(root / "eqben/ann_json_finegrained_random.json", rows)


def pairs(suite: Suite, name: str) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    task = suite.tasks[name]
    assert isinstance(task, Groups)
    pictures = [tuple(suite.images[number].path for number in row) for row in task.images]
    return [
        (images, tuple(suite.texts[each] for each in row)) for images, row in zip(pictures, task.texts, strict=True)
    ]


def test_groups_are_put_together_and_stand_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    write(tmp_path, published())
    suite = read_suite("eqben", tmp_path)
    assert {*suite.tasks} == {name for name, task in SUBTASKS.items() if task.suite == "eqben"}
    assert pairs(suite, "eqben/ag") == [
        (
            (f"images/eqben/eqbenag/v{number}/0.png", f"images/eqben/eqbenag/v{number}/1.png"),
            (f"caption 0 of ag {number}", f"caption 1 of ag {number}"),
        )
        for number in (1, 9, 12)
    ]
    assert pairs(suite, "eqben/youcook2")[0][0] == tuple(f"images/eqben/eqbenyoucook2/v5/{one}.npy" for one in (0, 1))


def test_a_limit_takes_the_first_groups_of_each_set_or_draws_them(tmp_path: Path) -> None:
    rows = [row for number in range(40) for row in group("ag", 10 + number)]
    write(tmp_path, published() + [row for row in rows if row["private_info"]["sample_cnt"] != 12])
    whole = read_suite("eqben", tmp_path)
    first, drawn, again, other = (read_suite("eqben", tmp_path, limit=Limit(5, seed)) for seed in (None, 0, 0, 1))
    numbers = pairs(whole, "eqben/ag")
    assert pairs(first, "eqben/ag") == numbers[:5]
    assert equal(drawn, again) and not equal(drawn, other)
    assert len(pairs(drawn, "eqben/ag")) == 5 and pairs(drawn, "eqben/ag") != numbers[:5]
    places = [numbers.index(pair) for pair in pairs(drawn, "eqben/ag")]
    assert places == sorted(places)
    assert {image for images, _ in pairs(first, "eqben/ag") for image in images} == {
        picture.path for picture in first.images if "eqbenag" in picture.path
    }  # no other image is asked for


def test_the_order_of_lines_says_nothing(tmp_path: Path) -> None:
    write(tmp_path / "one", published())
    expected = read_suite("eqben", tmp_path / "one")
    for seed in range(5):
        rows = published()
        np.random.default_rng(seed).shuffle(rows)
        write(tmp_path / "other", rows)
        assert equal(read_suite("eqben", tmp_path / "other"), expected)


def changed(place: int, **fields: Any) -> list[dict[str, Any]]:
    rows = published()
    info = {**rows[place]["private_info"], **fields.pop("info", {})}
    rows[place] = {**rows[place], "private_info": info, **fields}
    return rows


@pytest.mark.parametrize(
    ("rows", "code", "place"),
    [
        (published()[1:], "incomplete-group", "item 1"),
        (published() + published()[:1], "duplicate-name", "item 37"),
        (changed(2, info={"name": "c0i2"}), "unknown-name", "item 3"),
        (changed(2, caption="another"), "incomplete-group", "item 1"),
    ],
)
def test_what_is_broken_is_named(tmp_path: Path, rows: list[dict[str, Any]], code: str, place: str) -> None:
    path = write(tmp_path, rows)
    with raises(DataError, code, path) as error:
        read_suite("eqben", tmp_path)
    assert str(error.value.place).endswith(place)


def test_jpegs_of_the_light_archive_replace_absent_images(tmp_path: Path) -> None:
    write(tmp_path, published())
    touch(
        *(tmp_path / f"images/eqben/{name}" for name in ("eqbengebc/v0/0.jpg", "eqbenag/v1/0.jpg", "eqbenag/v1/0.png"))
    )
    suite = read_suite("eqben", tmp_path)
    assert pairs(suite, "eqben/gebc")[0][0] == ("images/eqben/eqbengebc/v0/0.jpg", "images/eqben/eqbengebc/v0/1.png")
    assert pairs(suite, "eqben/ag")[0][0][0] == "images/eqben/eqbenag/v1/0.png"
