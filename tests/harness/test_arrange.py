"""Suites put where they are read: from a server of this machine, from archives, and from unpacked folders."""

import io
import json
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from recompose.cli import app
from recompose.data import transports
from recompose.data.lock import lock_entries
from recompose.data.upstream import MIRROR
from recompose.errors import DataError, UnsafeArchive
from recompose.harness.arrange import arrange, fetch
from recompose.tracks.vlc.data.formats import aro, bivlc, elevater, sugarcrepe
from recompose.tracks.vlc.data.formats.spec import SUBSETS
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


def packed(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


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


def test_images_that_are_there_are_not_downloaded(root: Path, data: Path, server: tuple[Path, list[str]]) -> None:
    publish_sugarcrepe(server[0])
    pack(root / "a.zip", {})
    (root / "images/coco/val2017").mkdir(parents=True)
    (root / "images/coco/val2017/000000000007.jpg").write_bytes(b"mine")
    assert fetch("sugarcrepe", root, data).is_complete
    assert not any("val2017" in path for path in server[1])


def test_a_server_that_fails_is_asked_once(
    root: Path, data: Path, server: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")  # nobody listens there
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setattr(transports, "RETRIES", 0)
    state = fetch("sugarcrepe", root, data)
    assert not state.is_complete
    assert set(server[1]) == {"/archives/sugarcrepe/replace_obj.json"}
    assert any("replace_obj.json could not be downloaded:" in line for line in state.lines)


def test_what_cannot_be_fetched_is_one_line(root: Path, data: Path) -> None:
    state = fetch("clip_binding", root, data)
    assert not state.is_complete
    assert len(state.lines) == 3  # what is missing, where it is, and where to put it
    assert "github.com/marthaflinderslewis/clip-binding" in state.lines[1]


def test_a_file_with_a_pattern_is_fetched_under_its_published_name(
    root: Path, data: Path, server: tuple[Path, list[str]]
) -> None:
    (server[0] / "winoground").mkdir(parents=True)
    (server[0] / "winoground/test-00000-of-00001.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError):
        fetch("winoground", root, data)
    assert server[1] == ["/archives/winoground/test-00000-of-00001.parquet"]


# archives


def publish_spec(path: Path, **without: bool) -> None:
    item = json.dumps([{"query": "image/7.jpg", "keys": ["one", "two"], "label": 1}]).encode()
    other = json.dumps([{"query": "two", "keys": ["image/7.jpg", "image/8.jpg"], "label": 1}]).encode()
    files = {
        f"data/{subset}/{name}": content
        for subset in SUBSETS
        for name, content in {
            "image2text.json": item,
            "text2image.json": other,
            "image/7.jpg": b"7",
            "image/8.jpg": b"8",
        }.items()
    }
    pack(path, {name: content for name, content in files.items() if name not in without})


def test_annotations_and_images_of_spec_are_separated(root: Path, data: Path) -> None:
    publish_spec(data / "archives/spec/data.zip")
    assert arrange("spec", root, data).is_complete
    assert (root / "images/spec/count/image/8.jpg").read_bytes() == b"8"
    assert {path.suffix for path in (root / "spec").rglob("*.*")} == {".json"}
    assert [path.name for path in root.iterdir() if path.name not in ("spec", "images")] == []
    assert set(lock_entries(data)) == {"archives/spec/data.zip"}


def test_an_archive_that_lacks_a_file_is_one_line(root: Path, data: Path) -> None:
    publish_spec(data / "archives/spec/data.zip", **{"data/count/text2image.json": True})
    state = arrange("spec", root, data)
    assert not state.is_complete
    assert str(root / "spec/count/text2image.json") in state.lines[0]
    publish_spec(data / "other/data.zip", **{"data/count/image/8.jpg": True})
    state = arrange("spec", data / "other/vlc", data / "empty", data / "other")
    assert "lacks 1 of 12 images" in state.lines[0] and "images/spec/count/image/8.jpg" in state.lines[0]


def test_archives_in_an_archive_are_unpacked(root: Path, data: Path) -> None:
    example = {
        "id": 0,
        "caption_1": "a",
        "caption_2": "b",
        "image_1": "images/img_0_1.png",
        "image_2": "images/img_0_2.png",
    }
    images = packed({"images/img_0_1.png": b"1", "images/img_0_2.png": b"2", "__MACOSX/images/img_0_2.png": b"junk"})
    pack(data / "archives/colorswap/colorswap.zip", {"test.json": json.dumps([example]).encode(), "images.zip": images})
    assert arrange("colorswap", root, data).is_complete
    assert (root / "images/colorswap/images/img_0_2.png").read_bytes() == b"2"


def write_comvg(root: Path) -> None:
    (root / "comvg").mkdir(parents=True)
    (root / "comvg/ComVG.csv").write_text("id,sentence,pos_image_id,neg_image_id,neg_value\n0,a dog runs,7,8,verb\n")


def test_both_parts_of_visual_genome_are_merged(root: Path, data: Path) -> None:
    write_comvg(root)
    for name, image in {"images": "VG_100K/7.jpg", "images2": "VG_100K_2/8.jpg"}.items():
        pack(data / f"archives/vg/{name}.zip", {image: image.encode()})
    assert arrange("comvg", root, data).is_complete
    assert contents(root / "images/vg") == {"7.jpg": b"VG_100K/7.jpg", "8.jpg": b"VG_100K_2/8.jpg"}


def test_files_in_other_case_get_the_names_that_the_suite_has(root: Path, data: Path, tmp_path: Path) -> None:
    lists, theirs = tmp_path / "lists", tmp_path / "visual genome"
    write_comvg(lists)
    theirs.mkdir()
    (lists / "comvg/ComVG.csv").rename(theirs / "comvg.CSV")
    (theirs / "VG_100K").mkdir()
    (theirs / "VG_100K/7.JPG").write_bytes(b"7")
    pack(data / "archives/vg/images2.zip", {"vg_100k_2/8.JPG": b"8", "vg_100k_2/8.jpg": b"right"})
    assert arrange("comvg", root, data, theirs).is_complete
    assert contents(root / "images/vg") == {"7.jpg": b"7", "8.JPG": b"8", "8.jpg": b"right"}


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


def test_only_archives_of_elevater_that_an_index_names_are_unpacked(root: Path, data: Path, tmp_path: Path) -> None:
    sets = {"class_map": {"mnist": ["0", "1"]}, "template_map": {"mnist": ["a {}"]}}
    entry = {"name": "mnist", "type": "classification_multiclass", "root_folder": "classification/mnist_2021"}
    write(root / "elevater", elevater_prompts=sets, vision_datasets=[entry | {"test": {"index_path": "test.txt"}}])
    theirs = tmp_path / "downloads/classification/mnist_2021"
    pack(theirs / "test.zip", {"0/1.jpg": b"1"})
    pack(theirs / "train.zip", {"0/2.jpg": b"2"})
    (theirs / "test.txt").write_text("test.zip@0/1.jpg 0\n")
    state = arrange("elevater", root, data, tmp_path / "downloads")
    assert state.is_complete
    assert contents(root / "images/elevater") == {"classification/mnist_2021/test/0/1.jpg": b"1"}


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


def test_both_files_of_bivlc_are_read(root: Path, data: Path) -> None:
    for number, shard in enumerate(bivlc.SHARDS):
        write_parquet(
            data / f"archives/bivlc/{shard}.parquet",
            *[
                {**{f"{side}image": {"bytes": f"{kind} {number}".encode()} for side in bivlc.SIDES}, "type": kind}
                | {"caption": "a dog", "negative_caption": "a cat", "subtype": "obj"}
                for kind in bivlc.TYPES
            ],
        )
        assert arrange("bivlc", root, data).is_complete is bool(number)
    suite = read_suite("bivlc", root)
    assert [suite.images[number].path for number in suite.tasks["bivlc/swap"].images[1]] == [  # type: ignore[union-attr]
        f"images/bivlc/{bivlc.SHARDS[1]}_1_{side}image.jpg" for side in bivlc.SIDES
    ]
    assert (root / f"images/bivlc/{bivlc.SHARDS[1]}_1_image.jpg").read_bytes() == b"swap 1"


def test_without_pyarrow_the_parquet_says_what_to_install(
    root: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = data / "archives/winoground/test.parquet"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"PAR1")
    with raises(DataError, "missing-package", path):
        arrange("winoground", root, data)


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
    publish_spec(tmp_path / "data/archives/spec/data.zip")
    answer = CliRunner().invoke(app, ["data", "arrange", "spec", "--data", "elsewhere"])
    assert answer.exit_code == 0 and "can be evaluated" in answer.output
    assert (tmp_path / "elsewhere/spec").is_dir()


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
