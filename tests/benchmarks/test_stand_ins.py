"""Stand-ins of published data: what they hold, and that what reads the published ones reads them."""

import sys
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.stand_ins import project
from benchmarks.stand_ins.measuring import taken
from benchmarks.stand_ins.packing import pack
from benchmarks.stand_ins.project import Scope
from benchmarks.stand_ins.sharing import kept
from recompose.data.archives import extract
from recompose.params import Params, load_params
from recompose.tracks import FORMS

SCOPE = Scope(
    {"czsl": ["mit-states"], "gzsl": ["cub"], "vlc": ["coco-100k"]},
    suites=["coco"],
    methods=["csp", "troika", "crest", "fsc-clip"],
    threads=2,
    gpu=False,
    clip="ViT-S-32",
    classifier=None,
)
MEGA = 2**20


# what they are made of


def test_a_share_keeps_every_label_of_every_group() -> None:
    groups = ["train"] * 10 + ["test"] * 3
    labels = ["a"] * 8 + ["b", "c"] + ["a", "b", "c"]
    places = kept(groups, labels, 0.5)
    assert places == sorted(set(places))
    assert Counter(groups[place] for place in places) == {"train": 5, "test": 3}
    assert {(groups[place], labels[place]) for place in places} == set(zip(groups, labels, strict=True))


def test_a_group_keeps_more_of_each_label_where_it_has_to() -> None:
    groups, labels = "a" * 9 + "b" * 3, "vvvvvvxxy" + "xyy"
    places = kept(groups, labels, 0.1, {"a": 2})
    assert Counter(labels[place] for place in places if groups[place] == "a") == {"v": 2, "x": 2, "y": 1}
    assert Counter(labels[place] for place in places if groups[place] == "b") == {"x": 1, "y": 1}


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_archives_are_the_same_bytes_each_time_and_unpack(tmp_path: Path, name: str) -> None:
    members = [("x/1.jpg", b"one"), ("x/y/2.txt", b"two" * 1000)]
    for folder in ("first", "second"):
        pack(tmp_path / folder / name, members)
    first, second = (tmp_path / folder / name for folder in ("first", "second"))
    assert first.read_bytes() == second.read_bytes()
    extract(first, tmp_path / "unpacked")
    assert {place: (tmp_path / "unpacked" / place).read_bytes() for place, _ in members} == dict(members)


@pytest.mark.slow
def test_memory_is_that_of_a_command_and_of_what_it_starts(tmp_path: Path) -> None:
    takes = f"b = bytearray({200 * MEGA}); b[::4096] = b'x' * len(b[::4096]); import time; time.sleep(1)"
    starts = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {takes!r}])"
    spent = taken([sys.executable, "-c", starts], tmp_path, {}, tmp_path / "log")
    assert spent.code == 0 and spent.seconds > 1
    assert 200 * MEGA < spent.peak < 300 * MEGA
    assert taken([sys.executable, "-c", "raise SystemExit(3)"], tmp_path, {}, tmp_path / "log").code == 3


# the profile


@pytest.fixture(scope="module")
def params(tmp_path_factory: pytest.TempPathFactory) -> Params:
    folder, document = tmp_path_factory.mktemp("project"), project.read_params()
    sections = project.backbones_of(document, SCOPE)
    for name, section in sections.items():
        clip = "activation" in section
        file = project.weights_file(section["architecture"]) if clip else f"{name}-01234567.pth"
        section["weights"] = {**section["weights"], "file": file}
    project.write_params(folder, project.profile(document, SCOPE, sections, "http://127.0.0.1:1"))
    return load_params(folder / "params.yaml", FORMS)


@pytest.mark.slow
def test_every_method_trains_for_one_epoch_with_the_papers_settings(params: Params) -> None:
    published = load_params(project.ROOT / "params.yaml", FORMS, "paper")
    for track, method, dataset in (
        ("czsl", "troika", "mit-states"),
        ("czsl", "csp", "mit-states"),
        ("gzsl", "crest", "cub"),
        ("vlc", "fsc-clip", "coco-100k"),
    ):
        settings, papers = (each.tracks[track].settings(method, dataset).document() for each in (params, published))
        assert settings["training"]["epochs"] == 1
        changed = {"epochs": 1} | ({"precision": "32-true"} if track == "vlc" else {})
        assert settings == {**papers, "training": papers["training"] | changed}
