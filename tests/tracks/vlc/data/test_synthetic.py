"""Drawn corpora and suites: formats read them, and what they ask is so, which a reader of captions says."""

import ast
import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from recompose.synthetic.sentences import Entity, Scene
from recompose.tracks.vlc.data import shapes_captions, shapes_suites
from recompose.tracks.vlc.data.captions import read_docs
from recompose.tracks.vlc.data.formats.clip_binding import PROMPT
from recompose.tracks.vlc.data.negclip_list import LIST
from recompose.tracks.vlc.data.shapes_captions import CORPORA
from recompose.tracks.vlc.data.shapes_suites import draw_suites
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.data.synthetic_suites.photos import SuiteReplicate
from recompose.tracks.vlc.suites.tasks import ABSENT, Choices, Classes, Groups, Pool

pytestmark = pytest.mark.slow

IMAGES = 240


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpora")
    for corpus in CORPORA:
        shapes_captions.draw(folder / corpus, seed=2, corpus=corpus, images=IMAGES)
    return folder


@pytest.mark.parametrize("corpus", CORPORA)
def test_what_is_drawn_is_read(root: Path, corpus: str) -> None:
    read = shapes_captions.read(root / corpus)
    assert len(read.paths) == len(read.captions) == len(set(read.paths)) == IMAGES
    assert all((root / corpus / path).is_file() for path in read.paths)
    assert [doc.text for doc in read_docs(root / corpus)] == list(read.captions)


def test_the_list_is_as_fsc_clips_loader_takes_it(root: Path) -> None:
    with (root / "shapes-coco" / LIST).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    negatives_of = [ast.literal_eval(row["neg_caption"]) for row in rows]
    assert all(row["filepath"].startswith("coco/train2014/") for row in rows)
    assert sum(map(bool, negatives_of)) > IMAGES // 3
    for row, false in zip(rows, negatives_of, strict=True):
        assert row["title"] not in false
        words = sorted(row["title"].replace("an ", "a ").split())
        assert all(sorted(text.replace("an ", "a ").split()) == words for text in false)


ORDERS = ("aro/coco_order", "aro/flickr30k_order")
COUNTS = {"no": 0, "a": 1, "an": 1, "the": 1, "two": 2, "three": 3, "four": 4}
CONVERSES = {("holding", "filling"), ("wearing", "riding"), ("dropping", "leaving")}
AWAY = {"left": (-1, 0), "right": (1, 0), "above": (0, -1), "below": (0, 1), "top": (0, -1), "bottom": (0, 1)}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> SuiteReplicate:
    built = SuiteReplicate(tmp_path_factory.mktemp("world"), 5)
    draw_suites(built)
    return built


@pytest.fixture(scope="module")
def suites(world: SuiteReplicate) -> dict[str, Suite]:
    return {suite.name: suite for suite in shapes_suites.read(world.root)}


# ---- a reader of captions that knows nothing of how they were made


def fits(phrase: str, thing: Entity) -> bool:
    """Whether a phrase such as "two small red stars" is true of a thing, by its words."""
    first, *adjectives, noun = phrase.split()
    noun = {"crosses": "cross", "fish": "fish"}.get(noun, noun if noun in ("cross",) else noun.removesuffix("s"))
    number = thing.count > 1 if first == "some" else COUNTS[first] in (0, thing.count)
    return noun == thing.name and number and {*adjectives} <= {thing.size, *thing.states}


def direction(relation: str) -> tuple[int, int] | None:
    """Where the first of two things is, seen from the second, or where in a picture one is."""
    return next((way for word, way in AWAY.items() if word in relation.split()), None)


def is_true(text: str, scene: Scene) -> bool:
    """Whether a caption is true of what a picture shows."""
    if "?" in text:
        labelled, asked, answer = (part.strip(" .") for part in re.split(r"\. |\?", text))
        name, colour = re.fullmatch(r"is (?:it|the (\w+)) (\w+)", asked).groups()  # type: ignore[union-attr]
        thing = next(thing for thing in scene.entities if thing.name == name) if name else scene.first
        return is_true(labelled, scene) and (answer == "yes") == (colour in thing.states)
    text = re.sub(r"^an? (photo|picture|image|drawing) of ", "", text)
    text = re.sub(r" is (?!.* is )", " ", text)
    placed = re.fullmatch(r"(.*) ((?:on|at) the \w+)", text)
    if placed:
        (thing,) = scene.entities
        return fits(placed[1], thing) and direction(placed[2]) == direction(scene.relation)
    between = r" (to the left of|to the right of|left of|right of|above|below|and|\w+ing) (?=an? |the |no )"
    first, *rest = re.split(between, text)
    phrases = [first, *rest[1:]]
    denied = [phrase for phrase in phrases if phrase.startswith("no ")]
    claimed = [phrase for phrase in phrases if phrase not in denied]
    if any(fits(phrase, thing) for phrase in denied for thing in scene.entities):
        return False
    if len(claimed) < 2:
        return all(any(fits(phrase, thing) for thing in scene.entities) for phrase in claimed)
    relation, way = rest[0], direction(rest[0])
    if len(scene.entities) < 2:
        return False
    one, other = scene.entities
    straight = fits(claimed[0], one) and fits(claimed[1], other)
    turned = fits(claimed[0], other) and fits(claimed[1], one)
    if relation == "and":
        return straight or turned
    if way is None:
        couple = (relation, scene.relation)
        return (straight and relation == scene.relation) or (turned and bool({couple, couple[::-1]} & CONVERSES))
    shown = direction(scene.relation)
    if shown is None:
        return False
    return (straight and way == shown) or (turned and way == (-shown[0], -shown[1]))


# ---- what was drawn


def shown(suite: Suite, image: int, world: SuiteReplicate) -> Scene:
    return world.scenes[suite.images[image].path]


def couples(suite: Suite, task: Choices) -> Iterator[tuple[int, int, bool]]:
    """An image, a text and whether they go together, of all candidates of all items."""
    for asked, offered, right in zip(task.asked, task.offered, task.true, strict=True):
        for place, candidate in enumerate(offered):
            if candidate != ABSENT:
                image, text = (asked, candidate) if task.query == "i2t" else (candidate, asked)
                yield image, text, place == right


def test_true_captions_are_true_and_false_ones_false(world: SuiteReplicate, suites: dict[str, Suite]) -> None:
    asked = 0
    for suite in suites.values():
        for name, task in suite.tasks.items():
            if isinstance(task, Choices) and name not in ORDERS:
                for image, text, right in couples(suite, task):
                    asked += 1
                    caption = suite.texts[text].removeprefix(PROMPT if name == "clip_binding" else "")
                    assert is_true(caption, shown(suite, image, world)) == right, (name, caption)
    assert asked > 5000


def test_groups(world: SuiteReplicate, suites: dict[str, Suite]) -> None:
    groups = 0
    for suite in suites.values():
        for name, task in suite.tasks.items():
            if isinstance(task, Groups):
                for images, texts in zip(task.images, task.texts, strict=True):
                    groups += 1
                    labelled = [
                        [is_true(suite.texts[text], shown(suite, image, world)) for text in texts] for image in images
                    ]
                    assert labelled == [[True, False], [False, True]], (name, [suite.texts[text] for text in texts])
    assert groups > 100


def test_orders_are_of_the_same_words(world: SuiteReplicate, suites: dict[str, Suite]) -> None:
    suite = suites["aro"]
    for name in ORDERS:
        task = suite.tasks[name]
        assert isinstance(task, Choices)
        for asked, offered in zip(task.asked, task.offered, strict=True):
            true, *false = (suite.texts[text] for text in offered)
            assert is_true(true, shown(suite, asked, world)) and len(false) == 4
            assert all(sorted(text.split()) == sorted(true.split()) and text != true for text in false)


def test_captions_of_retrieval_are_true(world: SuiteReplicate, suites: dict[str, Suite]) -> None:
    for name in ("coco", "flickr30k", "coco_counterfactuals"):
        suite, task = suites[name], suites[name].tasks[name]
        assert isinstance(task, Pool)
        for text, place in zip(task.texts, task.image_of, strict=True):
            assert is_true(suite.texts[text], shown(suite, task.images[place], world))


def test_classes_are_what_pictures_show(world: SuiteReplicate, suites: dict[str, Suite]) -> None:
    suite = suites["elevater"]
    for name, task in suite.tasks.items():
        assert isinstance(task, Classes)
        assert len(task.images) == 48 and set(task.labels) == set(range(len(task.names)))
        for image, label in zip(task.images, task.labels, strict=True):
            thing = shown(suite, image, world).first
            number = f"{ {1: 'a', 2: 'two', 3: 'three', 4: 'four'}[thing.count] } {thing.name}" + "s" * (
                thing.count > 1
            )
            of_picture = {number, *thing.states} if name.endswith("counts") else {thing.name, *thing.states}
            assert [each for each in task.names if each in of_picture] == [task.names[label]]
        assert all(len(of_class) >= 4 for of_class in task.prompts)
