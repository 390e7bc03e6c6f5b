"""Acquiring corpora and suites: from archives as upstream packs them, put there by hand, drawn, or not at all."""

import json
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab

from recompose.data.content import changed_files, raw_files, write_content
from recompose.errors import DataError, DownloadError
from recompose.params import Archive
from recompose.plan import Recipe
from recompose.tracks.vlc.catalogue import (
    ADAPTERS,
    CaptionAdapter,
    Corpus,
    ParsedCorpus,
    PublishedSuite,
)
from recompose.tracks.vlc.data import acquire as acquisition
from recompose.tracks.vlc.data import negclip_list
from recompose.tracks.vlc.data.acquire import acquire, write_index
from recompose.tracks.vlc.data.captions import Captions, read_docs, read_negatives, write_docs
from recompose.tracks.vlc.data.formats import sugarcrepe
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.catalogue import SUBTASKS, layout_of
from tests.errors import raises
from tests.tracks.vlc.data.published import contents, lexicon_files, pack, save_model, wheel_files

COCO = Recipe("data", "coco", {"adapter": "negclip-list"}, track="vlc")
WHEEL, LEXICON = "en_core_web_sm-3.8.0-py3-none-any.whl", "wordnet.zip"
TABLE = (
    "\ttitle\tfilepath\tneg_caption\tneg_image\n"
    "0\tTwo dogs run.\tcoco/val2014/b.jpg\t[]\t[]\n"
    "1\ta dog runs \tcoco/train2014/a.jpg\t['runs a dog']\t[]\n"
)
SETS = tuple(task.rpartition("/")[2] for task in SUBTASKS if task.startswith("sugarcrepe/"))


def archive(file: str, sha256: str | None = None) -> Archive:
    return Archive(file=file, urls=[f"http://127.0.0.1:9/{file}"], sha256=sha256)


def corpus(recipe: Recipe, *files: str) -> Corpus:
    archives = [archive(file) for file in files]
    adapter = recipe.document["adapter"]
    return Corpus(adapter=adapter, archives=archives, model=archive(WHEEL), lexicon=archive(LEXICON))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("model")
    save_model(folder)
    return wheel_files(folder)


@pytest.fixture
def archives(tmp_path: Path, wheel: dict[str, bytes]) -> Path:
    """The folder of downloaded files: a model and a lexicon are there."""
    folder = tmp_path / "data" / "archives"
    pack(folder / WHEEL, wheel)
    pack(folder / LEXICON, {f"wordnet/{name}": content for name, content in lexicon_files().items()})
    return folder


def publish_coco(archives: Path) -> Corpus:
    pack(archives / "train2014.zip", {"train2014/a.jpg": b"#a"})
    pack(archives / "val2014.zip", {"val2014/b.jpg": b"#b"})
    (archives / negclip_list.LIST).write_text(TABLE)
    return corpus(COCO, "train2014.zip", negclip_list.LIST, "val2014.zip")


def index_of(recipe: Recipe, root: Path, folder: Path) -> Path:
    """What the phase data does with what was downloaded."""
    folder.mkdir(parents=True, exist_ok=True)
    write_content(root, write_index(recipe, root, folder), folder)
    return folder


@pytest.mark.slow
def test_a_corpus_is_unpacked_annotated_and_indexed(tmp_path: Path, archives: Path) -> None:
    data = archives.parent
    root = acquire(COCO, publish_coco(archives), data, data / "coco")
    assert root == data / "coco" and not list(data.glob("*.partial"))
    index = index_of(COCO, root, tmp_path / "index")
    paths = ("images/val2014/b.jpg", "images/train2014/a.jpg")
    assert Captions.read(index) == Captions(paths, ("Two dogs run.", "a dog runs "))
    assert read_negatives(index) == [[], ["runs a dog"]]
    docs = read_docs(index)
    assert [doc.text for doc in docs] == ["Two dogs run.", "a dog runs "]
    assert (docs[0][1].tag_, docs[0][1].lemma_) == ("NNS", "dog")
    assert contents(index / "lexicon") == lexicon_files()
    named = raw_files(index)
    assert named["images/val2014/b.jpg"] == sha256(b"#b").hexdigest()
    assert {negclip_list.LIST, "lexicon/data.noun", "model/config.cfg", "model/parser/model", *paths} <= set(named)
    (root / "lexicon/noun.exc").write_bytes(b"mice mouse\n")
    assert changed_files(root, index) == ["lexicon/noun.exc"]


@pytest.mark.slow
def test_a_folder_put_there_by_hand_is_taken(tmp_path: Path, archives: Path) -> None:
    root = archives.parent / "coco"
    for place in ("images/train2014/a.jpg", "images/val2014/b.jpg"):
        (root / place).parent.mkdir(parents=True)
        (root / place).write_bytes(b"")
    (root / negclip_list.LIST).write_text(TABLE)
    acquire(COCO, corpus(COCO), archives.parent, root)  # the model and the lexicon are downloaded all the same
    assert len(Captions.read(index_of(COCO, root, tmp_path / "index")).paths) == 2
    for file in (WHEEL, LEXICON):
        (archives / file).unlink()
    acquire(COCO, corpus(COCO), archives.parent, root)  # and are asked for once


def test_a_corpus_that_is_nowhere(tmp_path: Path) -> None:
    with raises(DataError, "missing-file", tmp_path / "corpus" / negclip_list.MARK) as caught:
        acquire(COCO, corpus(COCO), tmp_path, tmp_path / "corpus")
    assert negclip_list.LAYOUT in str(caught.value)


def test_downloads_that_fail_and_archives_that_are_others(archives: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recompose.data.transports.RETRIES", 0)
    section = publish_coco(archives)
    (archives / "val2014.zip").unlink()
    with pytest.raises(DownloadError) as caught:
        acquire(COCO, section, archives.parent, archives.parent / "coco")
    assert "val2014.zip" in str(caught.value) and str(archives.parent / "coco") in str(caught.value)
    pack(archives / "val2014.zip", {"val2014/b.jpg": b"#b"})
    other = section.model_copy(update={"model": archive(WHEEL, "0" * 64)})
    with pytest.raises(DownloadError) as caught:
        acquire(COCO, other, archives.parent, archives.parent / "coco")
    assert "0" * 64 in str(caught.value) and "params.yaml" in str(caught.value)
    assert not (archives.parent / "coco" / "model").exists()
    acquire(COCO, section, archives.parent, archives.parent / "coco")  # goes on where it stopped


def draw_pictures(root: Path, *, images: int) -> None:
    """Draw a corpus without parses."""
    for number in range(images):
        (root / f"{number}.png").write_bytes(b"#")


def read_pictures(root: Path) -> Captions:
    paths = tuple(sorted(path.name for path in root.glob("*.png")))
    return Captions(paths, ("Two dogs run.",) * len(paths))


class Pictures(ParsedCorpus):
    """A plugin's section."""

    adapter: str = "shapes-captions"
    images: int


@pytest.mark.slow
def test_captions_that_are_drawn_without_parses_are_parsed_here(
    tmp_path: Path, archives: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = SimpleNamespace(draw=draw_pictures, read=read_pictures)
    monkeypatch.setattr(acquisition, "load_adapter", lambda *_: adapter)
    section = Pictures(images=3, model=archive(WHEEL), lexicon=archive(LEXICON))
    document = {"adapter": "shapes-captions", "images": 3, "model": {WHEEL: None}, "lexicon": {LEXICON: None}}
    recipe = Recipe("data", "mine", document, track="vlc")
    for _ in range(2):
        root = acquire(recipe, section, archives.parent, archives.parent / "mine-1")
    index = index_of(recipe, root, tmp_path / "index")
    assert [(doc.text, doc[1].tag_, doc[1].lemma_) for doc in read_docs(index)] == [("Two dogs run.", "NNS", "dog")] * 3
    assert contents(index / "lexicon") == lexicon_files()
    assert set(raw_files(index)) == set(contents(root))


def test_captions_that_nobody_parses_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = SimpleNamespace(draw=draw_pictures, read=read_pictures)
    monkeypatch.setattr(acquisition, "load_adapter", lambda *_: adapter)
    recipe = Recipe("data", "mine", {"adapter": "shapes-captions"}, track="vlc")
    draw_pictures(tmp_path, images=2)
    for absent in ("docs.spacy", "lexicon"):
        with raises(DataError, "missing-file", absent) as caught:
            index_of(recipe, tmp_path, tmp_path / "index")
        assert "ParsedCorpus" in str(caught.value)
        write_docs([Doc(Vocab(), ["dogs"])] * 2, tmp_path)


@pytest.fixture
def sugarcrepe_adapter(monkeypatch: pytest.MonkeyPatch) -> Recipe:
    monkeypatch.setitem(ADAPTERS, "sugarcrepe", CaptionAdapter(sugarcrepe.__name__, PublishedSuite, kind="suites"))
    document = {"adapter": "sugarcrepe", "suite": "sugarcrepe", "folder": "sugarcrepe"}
    return Recipe("data", "sugarcrepe", document, track="vlc")


ITEM = {"filename": "000000085329.jpg", "caption": "A dog.", "negative_caption": "A cat."}


def test_a_published_suite_is_put_beside_others_and_indexed(
    tmp_path: Path, sugarcrepe_adapter: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, data = sugarcrepe_adapter, tmp_path / "data"
    root = data / "vlc"
    (root / "winoground").mkdir(parents=True)
    files = [f"{name}.json" for name in SETS]
    for file in files[1:]:
        (data / "archives").mkdir(exist_ok=True)
        (data / "archives" / file).write_text(json.dumps({"0": ITEM}))
    (root / "sugarcrepe").mkdir()
    (root / "sugarcrepe" / files[0]).write_text(json.dumps({"0": ITEM}))  # put there by hand: taken as it is
    section = PublishedSuite(adapter="sugarcrepe", archives=[archive(file) for file in files])
    assert acquire(recipe, section, data, root) == root
    with raises(DataError, "wrong-count", f"sugarcrepe/{SETS[0]}"):
        index_of(recipe, root, tmp_path / "cut short")
    monkeypatch.setattr(acquisition, "check_counts", lambda suite, limit: None)
    image = "images/coco/val2017/000000085329.jpg"
    with raises(DataError, "missing-image", root / image):
        index_of(recipe, root, tmp_path / "no images")
    (root / image).parent.mkdir(parents=True)
    (root / image).write_bytes(b"#")
    (root / "sugarcrepe/.DS_Store").touch()  # macOS changes it at each look, and the suite is the same
    index = index_of(recipe, root, tmp_path / "index")
    suite = Suite.read(index / "suites/sugarcrepe.json")
    assert suite.name == "sugarcrepe" and set(suite.texts) == {"A dog.", "A cat."}
    assert set(raw_files(index)) == {*(f"sugarcrepe/{file}" for file in files), image}


def test_images_of_a_suite_are_unpacked_once(tmp_path: Path, sugarcrepe_adapter: Recipe) -> None:
    data = tmp_path / "data"
    (data / "vlc/sugarcrepe").mkdir(parents=True)
    pack(data / "archives/images.zip", {"1.jpg": b"#1"})
    section = PublishedSuite(adapter="sugarcrepe", archives=[archive("images.zip")])
    for _ in range(2):
        acquire(sugarcrepe_adapter, section, data, data / "vlc")
    assert contents(data / "vlc/images") == {"sugarcrepe/1.jpg": b"#1"}


def test_of_several_archives_of_images_none_is_passed_over(tmp_path: Path, sugarcrepe_adapter: Recipe) -> None:
    section = PublishedSuite(adapter="sugarcrepe", archives=[archive("a.zip"), archive("b.zip")])
    with raises(DataError, "several-archives", "sugarcrepe"):
        acquire(sugarcrepe_adapter, section, tmp_path, tmp_path / "vlc")


def test_an_absent_suite_says_what_to_put_where(tmp_path: Path, sugarcrepe_adapter: Recipe) -> None:
    with raises(DataError, "missing-file", tmp_path / "vlc/sugarcrepe") as caught:
        acquire(sugarcrepe_adapter, PublishedSuite(adapter="sugarcrepe"), tmp_path, tmp_path / "vlc")
    assert layout_of("sugarcrepe") in str(caught.value)
