"""Suites in the form of a published one, under a name and in a folder of their own."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from recompose.data.content import raw_files, write_content
from recompose.errors import ParamsError, PlanError
from recompose.plan import Plan, Planner
from recompose.tracks import TRACKS
from recompose.tracks.vlc.data.index import read_suites
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.catalogue import RETRIEVAL, SUBTASKS, read_suite
from recompose.tracks.vlc.suites.scores import Features
from recompose.tracks.vlc.suites.tasks import Choices
from recompose.tracks.vlc.suites.values import check, metrics
from tests.configuration import parse_params
from tests.conftest import ROOT
from tests.errors import raises
from tests.tracks.vlc.data.formats.published import equal
from tests.tracks.vlc.tiny_suites import tiny_suites

SUGARCREPE = {name.rpartition("/")[2]: task.items for name, task in SUBTASKS.items() if task.suite == "sugarcrepe"}
PROFILE = """
  mine:
    based_on: large
    czsl: null
    gzsl: null
    vlc: {datasets: [shapes-coco], suites: [sugarcrepe, my-crepe], methods: [clip]}"""
ENTRY = "my-crepe: {adapter: sugarcrepe, folder: my-sugarcrepe}"
TRACK = TRACKS["vlc"]


def text_of(entry: str, profile: str = "") -> str:
    """params.yaml with another suite, and with a profile that chooses it beside the published one."""
    text = (ROOT / "params.yaml").read_text()
    text = text.replace("\n  demo:\n", f"{profile}\n  demo:\n", 1)
    return text.replace("    aro: {adapter: aro}\n", f"    {entry}\n    aro: {{adapter: aro}}\n", 1)


def write_sugarcrepe(root: Path, folder: str, word: str, **counts: int) -> None:
    """Files of SugarCrepe's form with so many items of each set, all of one image."""
    image = root / "images/coco/val2017/1.png"
    image.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (4, 4)).save(image)
    (root / folder).mkdir()
    for name, count in counts.items():
        items = {
            str(item): {"filename": image.name, "caption": f"{word} {item}", "negative_caption": f"no {word} {item}"}
            for item in range(count)
        }
        (root / folder / f"{name}.json").write_text(json.dumps(items))


def features(suite: Suite) -> Features:
    """Random embeddings of a suite's images and texts; the same for suites of the same sizes."""
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=(len(part), 8)).astype(np.float32) for part in (suite.images, suite.texts)]
    images, texts = (row / np.linalg.norm(row, axis=1, keepdims=True) for row in rows)
    return Features(images, texts, np.arange(len(images)), np.arange(len(texts)))


def renamed(suite: Suite, name: str) -> Suite:
    """The same suite under another name."""
    tasks = {name + task.removeprefix(suite.name): content for task, content in suite.tasks.items()}
    return Suite(name, suite.images, suite.texts, tasks, form=suite.name)


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
        assert TRACK.acquire(recipe, params, tmp_path) == root
        index.mkdir(parents=True)
        write_content(root, TRACK.index(recipe, root, index), index)
        assert {path.split("/")[0] for path in raw_files(index)} == {folder, "images"}
        (suite,) = read_suites(index)
        assert equal(suite, read_suite("sugarcrepe", root, name, folder)) and suite.name == name
        assert set(suite.tasks) == {f"{name}/{part}" for part in SUGARCREPE}
        suites.append(suite)
    assert all("cat" in text for text in suites[1].texts)
    check(suites)
    scores = {name: array for suite in suites for name, array in suite.scores(features(suite)).items()}
    numbers = metrics(suites, scores)
    for name in ("my-crepe", "my-crepe/micro", "my-crepe/swap", "my-crepe/swap_obj"):
        metric = f"test/{name}"
        published = metric.replace("my-crepe", "sugarcrepe")
        assert {metric, published} <= {*numbers}
        TRACK.check_metric(metric, params)
        assert TRACK.metric(metric) == TRACK.metric(published)
    alone = metrics(suites[1:], scores)
    assert alone == {name: number for name, number in numbers.items() if name.startswith("test/my-crepe")}


@pytest.mark.parametrize("suite", tiny_suites(), ids=lambda suite: suite.name)
def test_another_name_changes_the_names_of_scores_and_metrics_alone(suite: Suite) -> None:
    other = renamed(suite, "mine")
    check([suite, other])
    scores, other_scores = suite.scores(features(suite)), other.scores(features(other))
    assert {name.replace("mine", suite.name, 1) for name in other_scores} == {*scores}
    numbers, other_numbers = metrics([suite], scores), metrics([other], other_scores)
    expected = {name: number for name, number in numbers.items() if name.startswith(f"test/{suite.name}")}
    measured = {name.replace("mine", suite.name, 1): number for name, number in other_numbers.items()}
    assert {name: measured[name] for name in expected} == expected
    both = metrics([suite, other], scores | other_scores)
    assert both == numbers | other_numbers


def test_another_name_keeps_the_rule_for_ties(tmp_path: Path) -> None:
    task = Choices("i2t", np.zeros(1, int), np.array([[0, 1]]), np.array([0]))
    tie = {f"{name}/{part}": np.array([[0.5, 0.5]]) for name in ("a", "b") for part in ("coco_order", "swap_obj")}
    suites = [
        Suite("a", (), (), {"a/coco_order": task}, form="aro"),
        Suite("b", (), (), {"b/swap_obj": task}, form="sugarcrepe"),
    ]
    numbers = metrics(suites, tie)
    assert (numbers["test/a/coco_order"], numbers["test/b/swap_obj"]) == (1, 0)


def test_a_mean_over_suites_leaves_out_other_names() -> None:
    pool = next(suite for suite in tiny_suites() if suite.name == "coco")
    suites = [renamed(renamed(pool, name), name) if name != "coco" else pool for name in (*RETRIEVAL, "mine")]
    suites = [
        Suite(suite.name, suite.images, suite.texts, suite.tasks, "coco" * (suite.name == "mine")) for suite in suites
    ]
    scores = {name: array for suite in suites for name, array in suite.scores(features(suite)).items()}
    for way in ("i2t", "t2i"):
        scores[f"mine/{way}"] = np.full_like(scores[f"mine/{way}"], 9)
        with_mine, without = metrics(suites, scores), metrics(suites[:-1], scores)
        assert with_mine[f"test/{way}_ret"] == without[f"test/{way}_ret"]
        assert with_mine[f"test/mine/{way}"] == 0


@pytest.mark.parametrize(
    ("entry", "place"),
    [
        ("mine: {adapter: sugarcreep}", "vlc.suites.mine.adapter"),
        ("mine: {adapter: sugarcrepe, folder: ../elsewhere}", "vlc.suites.mine.folder"),
        ("mine: {adapter: sugarcrepe, folder: images}", "vlc.suites.mine.folder"),
        ("comp: {adapter: sugarcrepe}", "vlc.suites.comp"),
        ("mine: {adapter: sugarcrepe, items: 9}", "vlc.suites.mine.items"),
    ],
)
def test_a_wrong_entry_is_one_error_at_its_place(entry: str, place: str) -> None:
    with raises(ParamsError) as error:
        parse_params(text_of(entry))
    assert error.value.place == place


def test_a_suite_under_the_name_of_another_is_refused() -> None:
    text = text_of("mine: {adapter: sugarcrepe}").replace(
        "    crepe: {adapter: crepe}", "    crepe: {adapter: sugarcrepe}"
    )
    with raises(ParamsError, place="vlc.suites.crepe"):
        parse_params(text)


def test_synthetic_suites_go_with_other_names_and_not_with_published_ones() -> None:
    undrawn = ("[shapes-suites, bivlc]", True)  # a published one, but not among the synthetic ones
    for suites, fits in (("[shapes-suites, my-crepe]", True), undrawn, ("[shapes-suites, sugarcrepe]", False)):
        edit = f"profiles.mine.vlc.suites={suites}"
        if fits:
            assert parse_params(text_of(ENTRY, PROFILE), edits=[edit])
        else:
            with raises(ParamsError, place="profiles.mine.vlc.suites"):
                parse_params(text_of(ENTRY, PROFILE), edits=[edit])


def test_a_metric_of_a_suite_that_is_in_no_entry_is_refused() -> None:
    params = parse_params(text_of(ENTRY, PROFILE), profile="mine")
    for metric in ("test/comq", "test/sugarcreep/swap_obj", "test/my-crepe/swapobj"):
        with raises(PlanError, "unknown-metric", metric):
            TRACK.check_metric(metric, params)
