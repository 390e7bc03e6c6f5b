"""What is still to be written, against what is free."""

import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from recompose.monitor.doctor.check import FINE, STOPS, WARNING
from recompose.monitor.doctor.disk_space import SpaceNeed, cache_needs, check_disks
from recompose.monitor.doctor.inputs import ABSENT, NO_FOLDER, OFFERED, InputSource, UpstreamFile
from recompose.plan import Recipe
from recompose.workspace import Workspace
from tests.configuration import new_workspace

pytestmark = pytest.mark.slow

Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    return new_workspace(tmp_path, "paper")


def cached(work: Workspace, kind: str, name: str) -> Recipe:
    return next(recipe for recipe in work.plan.of(kind) if recipe.name == name)


@pytest.mark.parametrize(
    ("kind", "name", "an_image"),
    [
        ("grids", "cub by resnet-101", 2 * 14 * 14 * 2048),
        ("pixels", "coco-100k at 224 pixels", 3 * 224 * 224),
        ("pixels", "mit-states at 224 pixels", 3 * 224 * 224),
    ],
)
def test_caches_take_so_much_an_image(work: Workspace, kind: str, name: str, an_image: int) -> None:
    data = cached(work, kind, name).needs["data"]
    alike = [each for recipes in ("grids", "pixels") for each in work.plan.of(recipes)]
    others = [each for each in alike if each.needs["data"].digest == data.digest and each.name != name]
    for other in others:
        work.store.record_path(other).parent.mkdir(parents=True)
        work.store.record_path(other).write_text("{}")
    room = cache_needs(work, {data.digest: 10})
    assert room == SpaceNeed(10 * an_image, len(alike) - len(others) - 1)


@pytest.mark.parametrize(
    ("free", "room", "state"),
    [
        (10_000, SpaceNeed(100, 0), FINE),
        (10_000, SpaceNeed(100, 1), FINE),
        (2_500, SpaceNeed(100, 0), WARNING),
        (500, SpaceNeed(0, 0), STOPS),
    ],
)
def test_downloads_count_twice_and_have_to_fit(
    work: Workspace, monkeypatch: pytest.MonkeyPatch, free: int, room: SpaceNeed, state: str
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Usage(0, 0, free))
    source = InputSource("x", NO_FOLDER, work.data / "x", "data/x", (UpstreamFile("archives/x.zip", OFFERED, 900),))
    (check,) = check_disks(work, [source], room)
    assert check.state == state
    assert bool(check.remedy) == (state != FINE)


@pytest.mark.parametrize(
    ("size", "room", "said"),
    [
        (900_000_000, SpaceNeed(300_000_000, 0), "data 1.8 GB, caches 0.3 GB"),
        (None, SpaceNeed(300_000_000, 1), "1 download of unknown size, caches 0.3 GB, 1 cache of unknown size"),
        (0, SpaceNeed(0, 0), "nothing of known size"),
    ],
)
def test_what_nobody_knows_the_size_of_is_not_said_to_take_nothing(
    work: Workspace, monkeypatch: pytest.MonkeyPatch, size: int | None, room: SpaceNeed, said: str
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Usage(0, 0, 10**12))
    state = ABSENT if size is None else OFFERED
    source = InputSource("x", NO_FOLDER, work.data / "x", "data/x", (UpstreamFile("archives/x.zip", state, size),))
    (check,) = check_disks(work, [source], room)
    assert check.finding == f"1000.0 GB free; still to write: {said}"
