"""Suites put where they are read: from a server of this machine, from archives, and from unpacked folders."""

import json
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from recompose.cli import app
from recompose.data.upstream import MIRROR, lock_entries
from recompose.errors import DataError, UnsafeArchive
from recompose.harness.arrange import arrange, fetch
from recompose.tracks.vlc.data.formats import aro, elevater, sugarcrepe
from recompose.tracks.vlc.suites.catalogue import FORMS, format_of, read_suite
from tests.errors import raises
from tests.tracks.vlc.data.published import contents, pack

ITEM = {"filename": "000000000007.jpg", "caption": "a dog", "negative_caption": "a cat"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "project/data"


@pytest.fixture
def root(data: Path) -> Path:
    return data / "vlc"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, list[str]]]:
    """A user's own server: its folder, which is laid out as ``data``, and the paths that it was asked for."""
    asked: list[str] = []

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as in the base class
            asked.append(self.path)

    served = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(tmp_path / "served")))
    threading.Thread(target=served.serve_forever, args=(0.01,), daemon=True).start()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv(MIRROR, f"http://127.0.0.1:{served.server_port}")
    yield tmp_path / "served/archives", asked
    served.shutdown()
    served.server_close()


def write(folder: Path, **files: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))


# downloads


def publish_sugarcrepe(folder: Path) -> None:
    write(folder / "sugarcrepe", **{name: {"0": ITEM} for name in sugarcrepe.SETS})
    pack(folder / "val2017.zip", {"val2017/000000000007.jpg": b"dog", "val2017/000000000008.jpg": b"cat"})


def test_a_suite_is_fetched_once_and_recorded(root: Path, data: Path, server: tuple[Path, list[str]]) -> None:
    published, asked = server
    publish_sugarcrepe(published)
    assert fetch("sugarcrepe", root, data).is_complete
    assert set(lock_entries(data)) == {
        "archives/val2017.zip",
        *(f"archives/sugarcrepe/{name}.json" for name in sugarcrepe.SETS),
    }
    before, count = contents(root), len(asked)
    assert before["images/coco/val2017/000000000008.jpg"] == b"cat"
    assert fetch("sugarcrepe", root, data).is_complete
    assert (contents(root), len(asked)) == (before, count)


# archives


def write_comvg(root: Path) -> None:
    (root / "comvg").mkdir(parents=True)
    (root / "comvg/ComVG.csv").write_text("id,sentence,pos_image_id,neg_image_id,neg_value\n0,a dog runs,7,8,verb\n")


def test_both_parts_of_visual_genome_are_merged(root: Path, data: Path) -> None:
    write_comvg(root)
    for name, image in {"images": "VG_100K/7.jpg", "images2": "VG_100K_2/8.jpg"}.items():
        pack(data / f"archives/vg/{name}.zip", {image: image.encode()})
    assert arrange("comvg", root, data).is_complete
    assert contents(root / "images/vg") == {"7.jpg": b"VG_100K/7.jpg", "8.jpg": b"VG_100K_2/8.jpg"}


def test_unpacked_parts_are_linked_and_stay(root: Path, data: Path, tmp_path: Path) -> None:
    write_comvg(root)
    theirs = tmp_path / "visual genome"
    for image in ("VG_100K/7.jpg", "VG_100K_2/8.jpg", "VG_100K_2/9.jpg"):
        (theirs / image).parent.mkdir(parents=True, exist_ok=True)
        (theirs / image).write_bytes(image.encode())
    (root / "images/vg").mkdir(parents=True)
    (root / "images/vg/8.jpg").write_bytes(b"mine")
    before = contents(theirs)
    for _ in range(2):
        assert arrange("comvg", root, data, theirs).is_complete
        assert contents(theirs) == before
        assert contents(root / "images/vg") == {
            "7.jpg": b"VG_100K/7.jpg",
            "8.jpg": b"mine",
            "9.jpg": b"VG_100K_2/9.jpg",
        }
    assert (root / "images/vg/7.jpg").samefile(theirs / "VG_100K/7.jpg")


def test_a_suite_without_some_sub_tasks_can_be_evaluated_but_is_not_complete(root: Path, data: Path) -> None:
    pack(data / "archives/vg/images.zip", {"VG_100K/7.jpg": b"7"})
    box = {"bbox_x": 0, "bbox_y": 0, "bbox_w": 9, "bbox_h": 9}
    item = {"image_id": "7", "image_path": "7.jpg", "true_caption": "a dog", "false_caption": "a cat"}
    write(root / "aro", visual_genome_relation=[{**item, **box, "relation_name": "on"}])
    write(root / "aro", visual_genome_attribution=[{**item, **box, "attributes": ["a", "b"]}] * 25)
    state = arrange("aro", root, data)
    assert not state.is_complete
    assert any("is evaluated without" in line and "aro/coco_order" in line for line in state.lines)


# Winoground's parquet


def write_parquet(path: Path, *rows: dict[str, Any]) -> Path:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")  # an extra
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)
    return path


def example(number: int, **fields: Any) -> dict[str, Any]:
    sides = {f"image_{side}": {"bytes": b"%d-%d" % (number, side), "path": "../../x.png"} for side in (0, 1)}
    return {"id": number, "tag": "Object", "caption_0": "a dog", "caption_1": "dog a", **sides, **fields}


def test_parquet_of_winoground_is_read_as_it_is(root: Path, data: Path) -> None:
    write_parquet(data / "archives/winoground/test-00000-of-00001.parquet", *map(example, range(20)))
    assert arrange("winoground", root, data).is_complete
    assert read_suite("winoground", root).images[3].path == "images/winoground/ex_1_img_1.png"
    assert (root / "images/winoground/ex_1_img_1.png").read_bytes() == b"1-1"


@pytest.mark.parametrize(
    ("spoil", "code", "place"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-9]), "no-parquet", ".parquet"),
        (lambda path: write_parquet(path, example(1, image_1=None)), "wrong-kind", "row 1, field 'image_1'"),
        (lambda path: write_parquet(path, {"id": 1}), "missing-field", "row 1, field 'image_0'"),
        (lambda path: write_parquet(path, example(1), example(1)), "duplicate-name", "row 2, field 'id'"),
    ],
)
def test_a_damaged_parquet_is_named(
    root: Path, data: Path, spoil: Callable[[Path], object], code: str, place: str
) -> None:
    spoil(write_parquet(data / "archives/winoground/test.parquet", example(1)))
    with raises(DataError, code, place):
        arrange("winoground", root, data)
    assert contents(root) == {} and lock_entries(data) == {}


# bad input


def test_hostile_and_foreign_archives_change_nothing(root: Path, data: Path) -> None:
    write_comvg(root)
    before = contents(root)
    path = pack(data / "archives/vg/images.zip", {"VG_100K/7.jpg": b"7", "VG_100K/../../../8.jpg": b"8"})
    with raises(UnsafeArchive, place=path):
        arrange("comvg", root, data)
    pack(path, {"VG_100K/7\x1b[31m.jpg": b"7", "images/8.jpg": b"8"})
    with raises(DataError, "missing-member", path):
        arrange("comvg", root, data)
    pack(path, {"VG_100K/7.jpg": b"7", "VG_100K_2/7.jpg": b"other"})
    with raises(DataError, "duplicate-name", path):
        arrange("comvg", root, data)
    assert contents(root) == before
    with raises(DataError, "missing-folder", "nowhere"):
        arrange("comvg", root, data, data / "nowhere")


def test_the_command_fails_where_something_is_lacking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    answer = CliRunner().invoke(app, ["data", "arrange", "winoground"])
    assert answer.exit_code == 1 and "gated" in answer.output
    with raises(DataError, "unknown-suite", "winogrond") as error:
        CliRunner().invoke(app, ["data", "fetch", "winogrond"], catch_exceptions=False)
    assert "'winoground'" in str(error.value)
    write_comvg(tmp_path / "elsewhere")
    pack(tmp_path / "data/archives/vg/images.zip", {"VG_100K/7.jpg": b"7", "VG_100K/8.jpg": b"8"})
    answer = CliRunner().invoke(app, ["data", "arrange", "comvg", "--data", "elsewhere"])
    assert answer.exit_code == 0 and "can be evaluated" in answer.output
    assert (tmp_path / "elsewhere/images/vg/8.jpg").is_file()


# what is declared


@pytest.mark.parametrize("form", FORMS)
def test_each_published_file_has_a_place_and_an_address_or_a_reason(form: str) -> None:
    for source in format_of(form).SOURCES:
        assert source.urls or source.terms
        assert all(url.startswith(("http://", "https://")) for url in source.urls)
        assert all(folder.split("/")[0] in (form, "images") for folder in source.places.values())
        if not source.is_archive and source.urls:
            assert (source.target(source.file) or "").startswith(f"{form}/")


def test_names_that_leave_their_folder_have_no_place() -> None:
    vg = aro.VISUAL_GENOME_PARTS[0]
    assert vg.target("a/VG_100K_2/7.jpg") == "images/vg/7.jpg"
    names = ("VG_100K/7.png", "VG_100K/x/7.jpg", "../VG_100K/7.jpg", "/VG_100K/7.jpg", "__MACOSX/VG_100K/7.jpg")
    assert [vg.target(name) for name in names] == [None] * 5
    archive = elevater.SOURCES[-1]
    assert archive.target("classification/x/test/../../../../y") is None
