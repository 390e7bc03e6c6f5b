"""Suites put where they are read: from a server of this machine, from archives, and from unpacked folders."""

import json
import random
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from recompose.data.upstream import MIRROR, lock_entries
from recompose.errors import DataError, UnsafeArchive
from recompose.harness import aro_order
from recompose.harness.aro_order import OrderShuffler, cut
from recompose.harness.arrange import arrange, fetch
from recompose.harness.survey import suites_present, survey
from recompose.main import app
from recompose.tracks.vlc.data.formats import aro, elevater, sugarcrepe, winoground
from recompose.tracks.vlc.data.formats.reading import AnnotationItem
from recompose.tracks.vlc.suites.catalogue import FORMS, format_of, read_suite
from tests.errors import raises
from tests.tracks.vlc.data.formats.published import write_files, write_json
from tests.tracks.vlc.data.formats.test_formats import FILES
from tests.tracks.vlc.data.published import contents, pack, save_model, wheel_files
from tests.tracks.vlc.parses import ELEPHANTS, RIDER, parsed
from tests.tracks.vlc.tiny_suites import write_sugarcrepe

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


# downloads


def test_a_suite_is_fetched_once_and_recorded(root: Path, data: Path, server: tuple[Path, list[str]]) -> None:
    published, asked = server
    write_files(published, {f"sugarcrepe/{name}.json": {"0": ITEM} for name in sugarcrepe.SETS})
    pack(published / "val2017.zip", {"val2017/000000000007.jpg": b"dog", "val2017/000000000008.jpg": b"cat"})
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
    write_files(root, {"comvg/ComVG.csv": "id,sentence,pos_image_id,neg_image_id,neg_value\n0,a dog runs,7,8,verb\n"})


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
    write_files(root / "aro", {"visual_genome_relation.json": [{**item, **box, "relation_name": "on"}]})
    write_files(root / "aro", {"visual_genome_attribution.json": [{**item, **box, "attributes": ["a", "b"]}] * 25})
    state = arrange("aro", root, data)
    assert not state.is_complete
    assert any("is evaluated without" in line and "aro/coco_order" in line for line in state.lines)


# Winoground's parquet


def put_parquet(data: Path, monkeypatch: pytest.MonkeyPatch, *rows: dict[str, Any]) -> None:
    """Put a file there whose rows are read without pyarrow, which is an extra."""
    path = data / "archives/winoground/test-00000-of-00001.parquet"
    path.parent.mkdir(parents=True)
    path.touch()
    items = [AnnotationItem(path, f"row {number}", row) for number, row in enumerate(rows, start=1)]
    monkeypatch.setattr(winoground, "parquet_rows", lambda *_: items)


def example(number: int, **fields: Any) -> dict[str, Any]:
    sides = {f"image_{side}": {"bytes": b"%d-%d" % (number, side), "path": "../../x.png"} for side in (0, 1)}
    return {"id": number, "tag": "Object", "caption_0": "a dog", "caption_1": "dog a", **sides, **fields}


def test_parquet_of_winoground_is_read_as_it_is(root: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_parquet(data, monkeypatch, *map(example, range(20)))
    assert arrange("winoground", root, data).is_complete
    assert read_suite("winoground", root).images[3].path == "images/winoground/ex_1_img_1.png"
    assert (root / "images/winoground/ex_1_img_1.png").read_bytes() == b"1-1"


@pytest.mark.parametrize(
    ("rows", "code", "place"),
    [
        ([example(1, image_1=None)], "wrong-kind", "row 1, field 'image_1'"),
        ([{"id": 1}], "missing-field", "row 1, field 'image_0'"),
        ([example(1), example(1)], "duplicate-name", "row 2, field 'id'"),
    ],
)
def test_a_damaged_parquet_is_named(
    root: Path, data: Path, monkeypatch: pytest.MonkeyPatch, rows: list[dict[str, Any]], code: str, place: str
) -> None:
    put_parquet(data, monkeypatch, *rows)
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


# the state of suites on disk


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_files(tmp_path, FILES["sick"] | FILES["winoground"])
    (tmp_path / "sts_b").mkdir()
    (tmp_path / "sts_b/sts-test.csv").write_text("no table")
    return tmp_path


def names_of(requested: Sequence[str], folder: Path) -> list[str]:
    """The names of the suites that are there of those that were requested."""
    return [suite.name for suite in suites_present(requested, folder)[0]]


def test_named_suites_must_be_there_and_all_means_those_that_are(folder: Path, tmp_path: Path) -> None:
    assert names_of(("winoground", "sick", "sick"), folder) == ["winoground", "sick"]
    (_, absent), names = suites_present(("all",), folder), names_of(("all",), folder)
    assert names == ["sick", "sts_b", "winoground"] and {*names, *absent} == {*FORMS}
    with raises(DataError, "unknown-suite", "sugarcrep"):
        suites_present(("sick", "sugarcrep"), folder)
    with raises(DataError, "missing-suite", f"{folder}: crepe, aro") as error:
        suites_present(("sick", "crepe", "aro"), folder)
    assert "aro/coco_order.json" in str(error.value)
    (tmp_path / "empty").mkdir()
    with raises(DataError, "missing-suite", tmp_path / "empty"):
        suites_present(("all",), tmp_path / "empty")
    with raises(DataError, "missing-folder", tmp_path / "nowhere"):
        suites_present(("all",), tmp_path / "nowhere")


def test_a_suite_of_one_s_own_has_a_name_and_the_form_of_a_published_one(folder: Path) -> None:
    (folder / "winoground").rename(folder / "mine")
    surveyed = survey("mine:winoground", folder, with_images=False)
    assert surveyed.suite and (surveyed.suite.name, surveyed.suite.form) == ("mine", "winoground")
    assert names_of(("mine:winoground",), folder) == ["mine"]
    assert names_of(("all", "mine:winoground"), folder) == ["sick", "sts_b", "mine"]
    for name in ("comp:winoground", "sick:winoground", "../mine:winoground", ":winoground"):
        with raises(DataError, "wrong-name", name):
            suites_present((name,), folder)
    with raises(DataError, "unknown-suite", "winogroud"):
        survey("mine:winogroud", folder)
    with raises(DataError, "missing-suite", f"{folder}: other:winoground") as error:
        suites_present(("other:winoground",), folder)
    assert "other/examples.jsonl" in str(error.value)


def test_sub_tasks_whose_images_are_there_are_evaluated(tmp_path: Path) -> None:
    write_sugarcrepe(tmp_path)
    items = json.loads((tmp_path / "sugarcrepe/swap_obj.json").read_text())
    items["0"]["filename"] = "absent.jpg"
    write_json(tmp_path / "sugarcrepe/swap_obj.json", items)
    surveyed = survey("sugarcrepe", tmp_path)
    assert surveyed.state == "partial" and surveyed.suite and len(surveyed.suite.tasks) == 6
    assert surveyed.line.startswith("sugarcrepe is evaluated without sugarcrepe/swap_obj and means over them: images")
    assert surveyed.error and surveyed.error.code == "missing-image" and "absent.jpg" in str(surveyed.error.place)


def test_a_check_lists_all_suites(folder: Path) -> None:
    done = CliRunner().invoke(app, ["data", "check", "--json", "--data", str(folder)])
    states = {suite["name"]: suite for suite in json.loads(done.stdout)}
    assert done.exit_code == 1 and [*states] == [*FORMS]
    expected = {"sick": "complete", "winoground": "incomplete", "sts_b": "broken", "aro": "absent"}
    assert {name: states[name]["state"] for name in expected} == expected
    assert states["sick"]["remedy"] == "" and "visual_genome_relation.json" in states["aro"]["remedy"]
    shown = CliRunner().invoke(app, ["data", "check", "--data", str(folder)])
    assert shown.stdout.splitlines()[-1] == f"1 complete, 1 incomplete, 1 broken, {len(FORMS) - 3} absent"


# ARO's shuffled captions: the draws of the released code, and the command that writes them


PUNKT = ("collocations.tab", "sent_starters.txt", "abbrev_types.txt", "ortho_context.tab")
CAPTIONS = ["Two dogs run (fast).", "A dog runs. It's a big dog!"]


def test_the_draws_come_in_the_order_of_the_released_code() -> None:
    """Its generators are those of the modules, seeded once; each of its functions starts from the caption."""
    random.seed(1)
    np.random.seed(1)
    shuffler = OrderShuffler()
    for sentence in (ELEPHANTS, RIDER):
        doc = parsed(sentence)
        words, tags = [word.text for word in doc], [word.tag_ for word in doc]
        first, second = words.copy(), words.copy()
        for copy, starts in ((first, ("NN",)), (first, ("JJ",)), (second, ("NN", "JJ"))):
            chosen = [row for row, tag in enumerate(tags) if tag.startswith(starts) == (copy is first)]
            for row, word in zip(chosen, np.random.permutation([words[row] for row in chosen]), strict=True):
                copy[row] = str(word)
        threes = [words[start : start + 3] for start in range(0, len(words), 3)]
        within = [three.copy() for three in threes]
        for three in within:
            random.shuffle(three)
        random.shuffle(threes)
        rows = (first, second, *(chain(*three) for three in (within, threes)))
        assert shuffler.shuffled(doc, words) == [" ".join(row) for row in rows]


def test_captions_are_cut_to_thirty_words() -> None:
    assert cut('A "Dog"  (small): #1 ~ sits;\n on 2.5 mats, red-hot!') == "a dog small 1 sits on 2 5 mats, red-hot"
    assert cut(" ".join(map(str, range(40)))) == " ".join(map(str, range(30)))


@pytest.fixture
def aro_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A aro_root with captions of COCO, and the archives of models, as the command finds them."""
    save_model(tmp_path / "model")
    monkeypatch.setattr(aro_order, "WORDS", aro_order.WORDS.model_copy(update={"sha256": None}))
    pack(tmp_path / "data/archives" / aro_order.WORDS.file, wheel_files(tmp_path / "model"))
    pack(tmp_path / "data/archives/punkt_tab.zip", {f"punkt_tab/english/{name}": b"" for name in PUNKT})
    images = [{"image": "val2014/7.jpg", "caption": CAPTIONS}]
    write_json(tmp_path / "data/vlc/coco/coco_karpathy_test.json", images)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data/vlc"


@pytest.mark.slow
def test_the_command_writes_those_parts_whose_captions_are_there(aro_root: Path) -> None:
    done = CliRunner().invoke(app, ["data", "aro-order"])
    assert done.exit_code == 0, done.output
    items = json.loads((aro_root / "aro/coco_order.json").read_text())
    assert [item["image"] for item in items] == ["val2014/7.jpg"] * 2
    assert [item["caption_options"][0] for item in items] == [cut(caption) for caption in CAPTIONS]
    for item in items:
        _, named, others, within, threes = (sorted(option.split()) for option in item["caption_options"])
        assert within == threes and named == others
    assert "flickr30k_order is not drawn" in done.output
    surveyed = survey("aro", aro_root, with_images=False)
    assert surveyed.suite and [*surveyed.suite.tasks] == ["aro/coco_order"]
    (aro_root / "aro/coco_order.json").write_text("mine")
    assert CliRunner().invoke(app, ["data", "aro-order"]).exit_code == 0
    assert (aro_root / "aro/coco_order.json").read_text() == "mine"
