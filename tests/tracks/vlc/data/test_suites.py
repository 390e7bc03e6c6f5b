"""Suites put where they are read, counted and indexed, also in the form of a published one under a name of your own."""

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from spacy.language import Language
from spacy.tokens import Doc

from recompose.data.archives import extract
from recompose.data.content import acquire, changed_files, function_of, raw_files, write_content
from recompose.data.pictures import Picture
from recompose.errors import DataError, ParamsError, PlanError
from recompose.recipes.plan import Plan, Planner, Recipe
from recompose.tracks import TRACKS
from recompose.tracks.catalogue import DataAdapter
from recompose.tracks.planning import data_recipe
from recompose.tracks.vlc.catalogue import ADAPTERS, Corpus, ParsedCorpus, PublishedSuite
from recompose.tracks.vlc.data import acquire as acquisition
from recompose.tracks.vlc.data import caption_list, negclip_list, wordnet
from recompose.tracks.vlc.data.acquire import check_counts
from recompose.tracks.vlc.data.analysis import annotate, unpack_model
from recompose.tracks.vlc.data.captions import Captions, read_docs, read_negatives, write_docs
from recompose.tracks.vlc.data.formats.suite_files import UNLIMITED, Limit
from recompose.tracks.vlc.data.index import pictures, read_suites, write_suites
from recompose.tracks.vlc.data.negclip_list import LIST
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.catalogue import RETRIEVAL, SUBTASKS, read_suite
from recompose.tracks.vlc.suites.tasks import Choices, Groups, Task, Triplets
from recompose.tracks.vlc.suites.values import check, metrics
from recompose.tracks.vlc.text.lexicon import WordNet
from tests.configuration import parse_params
from tests.conftest import ROOT
from tests.errors import raises
from tests.tracks.loops import assert_same
from tests.tracks.vlc.data.formats.published import write_json
from tests.tracks.vlc.data.published import archive, contents, lexicon_files, pack, save_model, wheel_files
from tests.tracks.vlc.tiny_suites import random_features, tiny_suites

SUGARCREPE = {name.rpartition("/")[2]: task.items for name, task in SUBTASKS.items() if task.suite == "sugarcrepe"}
TRACK = TRACKS["vlc"]

# the index


def test_pictures_of_suites_are_theirs_each_once(tmp_path: Path) -> None:
    suites = sorted(tiny_suites(), key=lambda suite: suite.name)  # as they lie in a folder
    write_suites(suites[::-1], tmp_path)
    for stored, suite in zip(read_suites(tmp_path), suites, strict=True):
        assert_same(stored, suite)
    expected: list[Picture] = []
    for suite in suites:
        expected += [picture for picture in suite.images if picture not in expected]
    assert pictures(tmp_path) == expected
    assert len(expected) == 8 + 3 + 8  # whole, cropped or of an array, and squeezed


# counts


def counted_suite(name: str, **others: int) -> Suite:
    """A suite of the published sizes, but for the sub-tasks that are named."""

    def task(query: str, items: int) -> Task:
        pairs = np.zeros((items, 2), dtype=np.int64)
        if query in ("group", "triplet"):
            return Groups(pairs, pairs) if query == "group" else Triplets(pairs[:, 0], np.zeros((items, 3), dtype=int))
        return Choices("t2i" if query == "t2i" else "i2t", pairs[:, 0], pairs, pairs[:, 0])

    tasks = [subtask for subtask in SUBTASKS.values() if subtask.suite == name]
    sizes = {one.name: others.get(one.name.split("/")[-1], one.items or 7) for one in tasks}
    return Suite(name, (), (), {one.name: task(one.query, sizes[one.name]) for one in tasks})


def test_sizes_are_the_published_ones_where_these_are_settled() -> None:
    wrong = counted_suite("sugarcrepe", swap_obj=244)
    check_counts(replace(wrong, form="sugarcrepe", name="mine"))  # a suite of your own may have any size
    check_counts(counted_suite("svo_probes", verb_neg=1))  # nobody knows how many images are left
    check_counts(counted_suite("vl_checklist", hake=600))
    limited = counted_suite("eqben", youcook2=20_000, ag=20_000)
    check_counts(limited, Limit(20_000))
    for suite, limit, place in (
        (wrong, UNLIMITED, "sugarcrepe/swap_obj"),
        (counted_suite("vl_checklist", vg=600), UNLIMITED, "vl_checklist/attribute_action/vg"),
        (limited, UNLIMITED, "eqben/youcook2"),
        (counted_suite("eqben"), Limit(20_000), "eqben/youcook2"),
    ):
        with raises(DataError, "wrong-count", place):
            check_counts(suite, limit)


# acquisition


def write_index(recipe: Recipe, root: Path, folder: Path) -> list[str]:
    """Write the index of what was acquired, and return the raw files."""
    files: list[str] = function_of(recipe, "index")(recipe, root, folder)
    return files


def test_a_published_suite_is_put_beside_others_and_indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "data"
    root, image = data / "vlc", "images/coco/val2017/000000085329.jpg"
    first, *others = (f"{name}.json" for name in SUGARCREPE)
    item = {"filename": "000000085329.jpg", "caption": "A dog.", "negative_caption": "A cat."}
    pack(data / "archives/images.zip", {"1.jpg": b"#1"})
    (root / "sugarcrepe").mkdir(parents=True)
    for file in (root / "sugarcrepe" / first, *(data / "archives" / name for name in others)):  # the first by hand
        file.write_text(json.dumps({"0": item}))
    section = PublishedSuite(adapter="sugarcrepe", archives=[archive(name) for name in ("images.zip", first, *others)])
    of_files = data_recipe(TRACK, "sugarcrepe", section, ADAPTERS["sugarcrepe"], seed=0)
    recipe = of_files.changed(
        document={**of_files.document, "suite": "sugarcrepe", "folder": "sugarcrepe"},
        sources={**of_files.sources, "folder": "vlc"},
    )
    assert acquire(recipe, data) == root
    assert contents(root / "images") == {"sugarcrepe/1.jpg": b"#1"}
    (tmp_path / "index").mkdir()
    with raises(DataError, "wrong-count", "sugarcrepe/"):
        write_index(recipe, root, tmp_path / "index")
    monkeypatch.setattr(acquisition, "check_counts", lambda suite, limit: None)
    with raises(DataError, "missing-image", root / image):
        write_index(recipe, root, tmp_path / "index")
    (root / image).parent.mkdir(parents=True)
    (root / image).write_bytes(b"#")
    (root / "sugarcrepe/.DS_Store").touch()  # macOS changes it at each look, and the suite is the same
    named = write_index(recipe, root, tmp_path / "index")
    assert set(named) == {*(f"sugarcrepe/{file}" for file in (first, *others)), image}


# under names of one's own

PROFILE = """
  mine:
    based_on: large
    czsl: null
    gzsl: null
    vlc: {datasets: [shapes-coco], suites: [sugarcrepe, my-crepe], methods: [clip]}"""
ENTRY = "my-crepe: {adapter: sugarcrepe, folder: my-sugarcrepe}"


def text_of(entry: str, profile: str = "") -> str:
    """params.yaml with another suite, and with a profile that chooses it beside the published one."""
    text = (ROOT / "params.yaml").read_text()
    text = text.replace("\n  demo:\n", f"{profile}\n  demo:\n", 1)
    return text.replace("    aro: {adapter: aro}\n", f"    {entry}\n    aro: {{adapter: aro}}\n", 1)


def write_sugarcrepe(root: Path, folder: str, word: str, **counts: int) -> None:
    """Files of SugarCrepe's form with so many items of each set, all of one image."""
    (root / "images/coco/val2017").mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (4, 4)).save(root / "images/coco/val2017/1.png")
    for name, count in counts.items():
        texts = [{"caption": f"{word} {item}", "negative_caption": f"no {word}"} for item in range(count)]
        items = {str(item): {"filename": "1.png", **text} for item, text in enumerate(texts)}
        write_json(root / folder / f"{name}.json", items)


def scores_of(*suites: Suite) -> dict[str, np.ndarray]:
    scores: dict[str, np.ndarray] = {}
    for suite in suites:
        scores |= suite.scores(random_features(suite))
    return scores


def renamed(suite: Suite, name: str, form: str | None = None) -> Suite:
    """The same suite under another name."""
    tasks = {name + task.removeprefix(suite.name): content for task, content in suite.tasks.items()}
    return Suite(name, suite.images, suite.texts, tasks, suite.name if form is None else form)


@pytest.mark.slow
def test_two_entries_of_one_adapter_are_planned_indexed_and_measured_under_their_names(tmp_path: Path) -> None:
    params = parse_params(text_of(ENTRY, PROFILE), profile="mine")
    plan = Plan({"vlc": TRACK.plan(params, Planner(params), {})})
    recipes = {recipe.name: recipe for recipe in plan.of("data") if recipe.name in ("sugarcrepe", "my-crepe")}
    assert len({recipe.digest for recipe in recipes.values()}) == 2
    (evaluation,) = plan.of("evaluations")
    assert {"suites-sugarcrepe", "suites-my-crepe"} <= {*evaluation.needs}
    root = tmp_path / "vlc"
    write_sugarcrepe(root, "sugarcrepe", "dog", **SUGARCREPE)
    write_sugarcrepe(root, "my-sugarcrepe", "cat", **dict.fromkeys(SUGARCREPE, 5))
    suites = []
    for name, folder in (("sugarcrepe", "sugarcrepe"), ("my-crepe", "my-sugarcrepe")):
        recipe, index = recipes[name], tmp_path / "index" / name
        assert TRACK.mark(recipe, tmp_path) == root / folder
        index.mkdir(parents=True)
        write_content(root, write_index(recipe, root, index), index)
        assert {path.split("/")[0] for path in raw_files(index)} == {folder, "images"}
        (suite,) = read_suites(index)
        assert_same(suite, read_suite("sugarcrepe", root, name, folder))
        assert suite.name == name
        suites.append(suite)
    assert all("cat" in text for text in suites[1].texts)
    check(suites)
    numbers = metrics(suites, scores_of(*suites))
    for name in ("my-crepe", "my-crepe/micro", "my-crepe/swap", "my-crepe/swap_obj"):
        metric = f"test/{name}"
        published = metric.replace("my-crepe", "sugarcrepe")
        assert {metric, published} <= {*numbers}
        TRACK.check_metric(metric, params)
        assert TRACK.metric(metric) == TRACK.metric(published)
    for metric in ("test/comq", "test/sugarcreep/swap_obj", "test/my-crepe/swapobj"):
        with raises(PlanError, "unknown-metric", metric):
            TRACK.check_metric(metric, params)


@pytest.mark.parametrize("suite", tiny_suites(), ids=lambda suite: suite.name)
def test_another_name_changes_the_names_of_scores_and_metrics_alone(suite: Suite) -> None:
    other = renamed(suite, "mine")
    check([suite, other])
    numbers, other_numbers = metrics([suite], scores_of(suite)), metrics([other], scores_of(other))
    expected = {name: number for name, number in numbers.items() if name.startswith(f"test/{suite.name}")}
    measured = {name.replace("mine", suite.name, 1): number for name, number in other_numbers.items()}
    assert {name: measured[name] for name in expected} == expected
    assert metrics([suite, other], scores_of(suite, other)) == numbers | other_numbers


def test_another_name_keeps_the_rule_for_ties() -> None:
    task = Choices("i2t", np.zeros(1, int), np.array([[0, 1]]), np.array([0]))
    for form, part, number in (("aro", "coco_order", 1), ("sugarcrepe", "swap_obj", 0)):
        suite = Suite("a", (), (), {f"a/{part}": task}, form=form)
        assert metrics([suite], {f"a/{part}": np.array([[0.5, 0.5]])})[f"test/a/{part}"] == number


def test_a_mean_over_suites_leaves_out_other_names() -> None:
    pool = next(suite for suite in tiny_suites() if suite.name == "coco")
    suites = [renamed(pool, name, "") for name in RETRIEVAL] + [renamed(pool, "mine")]
    scores = scores_of(*suites)
    for way in ("i2t", "t2i"):
        scores[f"mine/{way}"] = np.full_like(scores[f"mine/{way}"], 9)
        with_mine, without = metrics(suites, scores), metrics(suites[:-1], scores)
        assert with_mine[f"test/{way}_ret"] == without[f"test/{way}_ret"]
        assert with_mine[f"test/mine/{way}"] == 0


@pytest.mark.parametrize(
    ("entry", "place"),
    [
        ("mine: {adapter: sugarcreep}", "vlc.suites.mine.adapter"),
        ("mine: {adapter: sugarcrepe, folder: images}", "vlc.suites.mine.folder"),
        ("comp: {adapter: sugarcrepe}", "vlc.suites.comp"),
        ("mine: {adapter: sugarcrepe, items: 9}", "vlc.suites.mine.items"),
    ],
)
def test_a_wrong_entry_is_one_error_at_its_place(entry: str, place: str) -> None:
    with raises(ParamsError) as error:
        parse_params(text_of(entry))
    assert error.value.place == f"params.yaml: {place}"


def test_names_that_collide_are_refused() -> None:
    crepe = "    crepe: {adapter: crepe}"
    with raises(ParamsError, place="vlc.suites.crepe"):
        parse_params(text_of("mine: {adapter: sugarcrepe}").replace(crepe, "    crepe: {adapter: sugarcrepe}"))
    for suites in ("[shapes-suites, my-crepe]", "[shapes-suites, bivlc]"):  # bivlc is not among the synthetic ones
        assert parse_params(text_of(ENTRY, PROFILE), edits=[f"profiles.mine.vlc.suites={suites}"])
    with raises(ParamsError, place="profiles.mine.vlc.suites"):
        parse_params(text_of(ENTRY, PROFILE), edits=["profiles.mine.vlc.suites=[shapes-suites, sugarcrepe]"])


# corpora of captions: their lists, the parses of captions, the lexicon, and the index of all of them


WHEEL, LEXICON = "en_core_web_sm-3.8.0-py3-none-any.whl", "wordnet.zip"
SPOKEN = ["Two dogs run on a field.", "a dog runs ", "  ", 'A sign says\t"Go" \n']


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Language]:
    folder = tmp_path_factory.mktemp("saved") / "model"
    return folder, save_model(folder)


# COCO's list in the form of NegCLIP's authors

HEADER = "\ttitle\tfilepath\tneg_caption\tneg_image\n"
NEGATIVES = "['A yak holding a child .', \"A yak's child .\"]"
YAK = "coco/val2014/COCO_val2014_000000184613.jpg"


def write_list(root: Path, table: str, *images: str) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    (root / LIST).write_text(table, encoding="utf-8", newline="")
    for image in images:
        (root / "images" / image).parent.mkdir(parents=True, exist_ok=True)
        (root / "images" / image).write_bytes(b"")
    return root


def row(number: int, caption: str, path: str = YAK) -> str:
    return f"{number}\t{caption}\t{path}\t{NEGATIVES}\t[2973, 1515]\n"


def test_rows_are_read_as_they_stand_also_twice(tmp_path: Path) -> None:
    table = HEADER + row(0, '"A sign that says ""Go"" \n"', "coco/train2014/b.jpg") + row(1, "A yak.") * 2
    corpus = negclip_list.read(write_list(tmp_path, table, YAK.removeprefix("coco/"), "train2014/b.jpg"))
    yak = YAK.replace("coco", "images")
    assert corpus.paths == ("images/train2014/b.jpg", yak, yak)
    assert corpus.captions == ('A sign that says "Go" \n', "A yak.", "A yak.")
    assert corpus.negatives == (("A yak holding a child .", "A yak's child ."),) * 3
    write_list(tmp_path, f"title\tfilepath\nA yak.\t{YAK}\n")
    assert negclip_list.read(tmp_path).negatives == ()


@pytest.mark.parametrize(
    ("table", "code", "place"),
    [
        ("\tcaption\tfilepath\n0\ta\tb\n", "missing-field", f"{LIST}, line 1"),
        (HEADER + row(0, "A yak.", "coco/../../a.jpg"), "outside-folder", f"{LIST}, row 1"),
        (HEADER + row(0, "A yak.").replace(NEGATIVES, "[exit()]"), "wrong-kind", f"{LIST}, row 1, field 'neg_caption'"),
        (HEADER + row(0, "A yak."), "missing-image", "COCO_val2014_000000184613.jpg"),
    ],
)
def test_a_broken_list_is_named(tmp_path: Path, table: str, code: str, place: str) -> None:
    with raises(DataError, code, place) as caught:
        negclip_list.read(write_list(tmp_path, table))
    assert "\n" not in str(caught.value)


# shards of images with their captions, as img2dataset writes them


def shard(*keys: str) -> dict[str, bytes]:
    """Files of a shard: an image, what the web said of it, and facts that nobody needs."""
    suffixes = {".jpg": b"JPEG", ".txt": b"web %s", ".json": b"{}"}
    return {f"{key}{end}": content.replace(b"%s", key.encode()) for key in keys for end, content in suffixes.items()}


def arrange_shards(folder: Path, **archives: dict[str, bytes]) -> Path:
    for number, (name, files) in enumerate(archives.items()):
        extract(pack(folder / "archives" / f"{name}.tar", files), folder / "unpacked" / str(number))
    (folder / "root").mkdir()
    caption_list.arrange(folder / "unpacked", folder / "root")
    return folder / "root"


def test_shards_as_laion_coco_is_published(tmp_path: Path) -> None:
    root = arrange_shards(tmp_path, **{"00000": shard("000001", "000000"), "00001": shard("000100")})
    for file in ("images/00000/._000000.jpg", "captions/._000000.txt"):  # macOS adds them
        (root / file).touch()
    corpus = caption_list.read(root)
    assert corpus.paths == ("images/00000/000000.jpg", "images/00000/000001.jpg", "images/00001/000100.jpg")
    assert corpus.captions == ("web 000000", "web 000001", "web 000100")
    assert caption_list.annotation_files(root) == [f"captions/{key}.txt" for key in ("000000", "000001", "000100")]
    (root / "captions/000000.txt").write_bytes(b" \n")
    with raises(DataError, "empty-text", root / "captions/000000.txt"):
        caption_list.read(root)


def test_captions_of_coca_stand_for_those_of_the_web(tmp_path: Path) -> None:
    coca = {"coca_captions/000000.txt": b"a dog .\nmore", "coca_captions/000001.txt": b"a cat"}
    root = arrange_shards(tmp_path, **{"00000": shard("000000", "000001"), "coca_captions": coca})
    assert caption_list.read(root).captions == ("a dog .\n", "a cat")  # the first line, with its end
    (root / "captions/000001.txt").unlink()
    with raises(DataError, "missing-file", root / "captions/000001.txt"):  # that of the web does not stand in for it
        caption_list.read(root)


def test_two_corpora_are_not_mixed(tmp_path: Path) -> None:
    with raises(DataError, "duplicate-name", "captions/0.txt"):
        arrange_shards(tmp_path, **{"00000": shard("0"), "00001": shard("0")})


# parses


@pytest.fixture
def model(saved: tuple[Path, Language], tmp_path: Path) -> Path:
    """The model, unpacked from a wheel."""
    unpack_model(pack(tmp_path / WHEEL, wheel_files(saved[0])), tmp_path / "model")
    assert contents(tmp_path / "model") == contents(saved[0])  # its data and nothing else
    return tmp_path / "model"


def facts(doc: Doc) -> list[tuple[object, ...]]:
    return [(word.text_with_ws, word.tag_, word.pos_, word.lemma_, word.head.i, word.dep_) for word in doc]


@pytest.mark.slow
def test_captions_are_seen_as_the_pipeline_sees_them_one_by_one_and_kept(
    saved: tuple[Path, Language], model: Path, tmp_path: Path
) -> None:
    docs = list(annotate(SPOKEN, model))
    assert [doc.text for doc in docs] == SPOKEN
    assert [facts(doc) for doc in docs] == [facts(saved[1](caption)) for caption in SPOKEN]
    assert facts(docs[0])[1][:4] == ("dogs ", "NNS", "NOUN", "dog")  # as ruled
    write_docs(docs, tmp_path)
    assert [facts(doc) for doc in read_docs(tmp_path)] == [facts(doc) for doc in docs]


def test_an_absent_model_is_named(tmp_path: Path) -> None:
    with raises(DataError, "missing-file", tmp_path / "absent"):
        annotate(["a dog"], tmp_path / "absent")


# the lexicon


@pytest.mark.parametrize(("file", "folder"), [("wordnet.zip", "wordnet"), ("WNdb-3.0.tar.gz", "dict")])
def test_archives_of_nltk_and_of_princeton_are_unpacked(tmp_path: Path, file: str, folder: str) -> None:
    files = lexicon_files()
    more = {"wordnet/README": b"", f"{folder}/lexnames": b"", f"{folder}/frames.vrb": b""}
    packed = pack(tmp_path / file, {**{f"{folder}/{name}": content for name, content in files.items()}, **more})
    wordnet.unpack(packed, tmp_path / "corpus/lexicon")
    assert contents(tmp_path / "corpus") == {f"lexicon/{name}": content for name, content in files.items()}
    wordnet.check(tmp_path / "corpus/lexicon")
    assert WordNet(tmp_path / "corpus/lexicon").synsets("dogs", "n")[0].lemmas == ("dog",)


def test_an_incomplete_lexicon_and_another_release_leave_nothing(tmp_path: Path) -> None:
    files = lexicon_files()
    other = files | {"data.adj": files["data.adj"].replace(b"3.0", b"3.1")}
    fewer = {name: content for name, content in files.items() if name != "index.verb"}
    for content, code, place in ((other, "other-release", "data.adj"), (fewer, "missing-file", "index.verb")):
        path = pack(tmp_path / "wordnet.zip", content)
        with raises(DataError, code, f"{path}: {place}"):
            wordnet.unpack(path, tmp_path / "lexicon")
        assert [file.name for file in tmp_path.iterdir()] == ["wordnet.zip"]


# acquisition

TABLE = (
    f"{HEADER}0\tTwo dogs run.\tcoco/val2014/b.jpg\t[]\t[]\n1\ta dog runs \tcoco/train2014/a.jpg\t['runs a dog']\t[]\n"
)
LOCAL = {"model": archive(WHEEL), "lexicon": archive(LEXICON)}


def corpus_of(*files: str) -> Recipe:
    section = Corpus(adapter="negclip-list", archives=[*map(archive, files)], **LOCAL)
    return data_recipe(TRACK, "coco", section, ADAPTERS["negclip-list"], seed=0)


@pytest.fixture
def archives(tmp_path: Path, saved: tuple[Path, Language]) -> Path:
    """The folder of downloaded files: a corpus, a model and a lexicon."""
    folder = tmp_path / "data" / "archives"
    pack(folder / WHEEL, wheel_files(saved[0]))
    pack(folder / LEXICON, {f"wordnet/{name}": content for name, content in lexicon_files().items()})
    pack(folder / "train2014.zip", {"train2014/a.jpg": b"#a"})
    pack(folder / "val2014.zip", {"val2014/b.jpg": b"#b"})
    (folder / LIST).write_text(TABLE)
    return folder


def write_whole_index(recipe: Recipe, root: Path, folder: Path) -> Path:
    """Do what the phase data does with what was downloaded."""
    folder.mkdir(parents=True, exist_ok=True)
    write_content(root, write_index(recipe, root, folder), folder)
    return folder


@pytest.mark.slow
def test_a_corpus_is_unpacked_annotated_and_indexed_once(tmp_path: Path, archives: Path) -> None:
    data = archives.parent
    recipe = corpus_of("train2014.zip", LIST, "val2014.zip")
    root = acquire(recipe, data)
    assert root == data / "coco" and not list(data.glob("*.partial"))
    index = write_whole_index(recipe, root, tmp_path / "index")
    paths = ("images/val2014/b.jpg", "images/train2014/a.jpg")
    assert Captions.read(index) == Captions(paths, ("Two dogs run.", "a dog runs "))
    assert read_negatives(index) == [[], ["runs a dog"]]
    docs = read_docs(index)
    assert (docs[0][1].tag_, docs[0][1].lemma_) == ("NNS", "dog")
    assert contents(index / "lexicon") == lexicon_files()
    named = raw_files(index)
    assert named["images/val2014/b.jpg"] == sha256(b"#b").hexdigest()
    assert {LIST, "lexicon/data.noun", "model/config.cfg", "model/parser/model", *paths} <= set(named)
    (root / "lexicon/noun.exc").write_bytes(b"mice mouse\n")
    assert changed_files(root, index) == ["lexicon/noun.exc"]


def test_a_corpus_that_is_nowhere_says_what_to_put_where(tmp_path: Path) -> None:
    with raises(DataError, "missing-file", tmp_path / "coco" / negclip_list.MARK) as caught:
        acquire(corpus_of(), tmp_path)
    assert negclip_list.LAYOUT in str(caught.value)
    for module in (negclip_list, caption_list):
        with raises(DataError, "missing-file", tmp_path) as caught:
            module.read(tmp_path)
        assert module.LAYOUT in str(caught.value)


class Pictures(ParsedCorpus):
    """A plugin's section."""

    adapter: str = "my-pictures"
    seed: int
    images: int


@pytest.mark.slow
@pytest.mark.parametrize("synthetic", [False, True], ids=["the same for all seeds", "with replicates"])
def test_captions_that_are_drawn_without_parses_are_parsed_here(
    tmp_path: Path, archives: Path, monkeypatch: pytest.MonkeyPatch, synthetic: bool
) -> None:
    def draw(root: Path, *, seed: int, images: int) -> None:
        for number in range(images):
            (root / f"{number}.png").write_bytes(b"#")

    def read(root: Path) -> Captions:
        paths = tuple(sorted(path.name for path in root.glob("*.png")))
        return Captions(paths, ("Two dogs run.",) * len(paths))

    monkeypatch.setattr(acquisition, "reader_of", lambda _: SimpleNamespace(draw=draw, read=read))
    adapter = DataAdapter("recompose.tracks.vlc.data.shapes_captions", Pictures, synthetic=synthetic)
    recipe = data_recipe(TRACK, "mine", Pictures(seed=0, images=3, **LOCAL), adapter, seed=0)
    root = acquire(recipe, archives.parent)
    assert root == archives.parent / f"mine-{recipe.folder}"
    words = [(doc.text, doc[1].tag_) for doc in read_docs(write_whole_index(recipe, root, tmp_path / "index"))]
    assert words == [("Two dogs run.", "NNS")] * 3
    assert contents(tmp_path / "index/lexicon") == lexicon_files()


# the index


def test_pictures_of_a_corpus_are_those_of_its_rows_each_once(tmp_path: Path) -> None:
    Captions(("b.png", "a.png", "b.png"), ("a dog", "a cat", "two dogs")).write(tmp_path)
    assert pictures(tmp_path) == [Picture("b.png"), Picture("a.png")]
