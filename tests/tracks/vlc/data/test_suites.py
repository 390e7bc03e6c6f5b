"""Suites put where they are read, counted and indexed, also in the form of a published one under a name of your own."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from recompose.data.content import raw_files, write_content
from recompose.data.pictures import Picture
from recompose.errors import DataError, ParamsError, PlanError
from recompose.plan import Plan, Planner, Recipe
from recompose.tracks import TRACKS
from recompose.tracks.vlc.catalogue import PublishedSuite
from recompose.tracks.vlc.data import acquire as acquisition
from recompose.tracks.vlc.data.acquire import acquire, check_counts, write_index
from recompose.tracks.vlc.data.formats.suite_files import UNLIMITED, Limit
from recompose.tracks.vlc.data.index import pictures, read_suites, write_suites
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.catalogue import RETRIEVAL, SUBTASKS, read_suite
from recompose.tracks.vlc.suites.tasks import Choices, Groups, Task, Triplets
from recompose.tracks.vlc.suites.values import check, metrics
from tests.configuration import parse_params
from tests.conftest import ROOT
from tests.errors import raises
from tests.tracks.vlc.data.formats.published import equal
from tests.tracks.vlc.data.published import archive, contents, pack
from tests.tracks.vlc.tiny_suites import random_features, tiny_suites

SUGARCREPE = {name.rpartition("/")[2]: task.items for name, task in SUBTASKS.items() if task.suite == "sugarcrepe"}
TRACK = TRACKS["vlc"]

# the index


def test_pictures_of_suites_are_theirs_each_once(tmp_path: Path) -> None:
    suites = sorted(tiny_suites(), key=lambda suite: suite.name)  # as they lie in a folder
    write_suites(suites[::-1], tmp_path)
    assert all(equal(stored, suite) for stored, suite in zip(read_suites(tmp_path), suites, strict=True))
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


def test_a_published_suite_is_put_beside_others_and_indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = {"adapter": "sugarcrepe", "suite": "sugarcrepe", "folder": "sugarcrepe"}
    recipe, data = Recipe("data", "sugarcrepe", document, track="vlc"), tmp_path / "data"
    root, image = data / "vlc", "images/coco/val2017/000000085329.jpg"
    first, *others = (f"{name}.json" for name in SUGARCREPE)
    item = {"filename": "000000085329.jpg", "caption": "A dog.", "negative_caption": "A cat."}
    pack(data / "archives/images.zip", {"1.jpg": b"#1"})
    (root / "sugarcrepe").mkdir(parents=True)
    for file in (root / "sugarcrepe" / first, *(data / "archives" / name for name in others)):  # the first by hand
        file.write_text(json.dumps({"0": item}))
    section = PublishedSuite(adapter="sugarcrepe", archives=[archive(name) for name in ("images.zip", first, *others)])
    assert acquire(recipe, section, data, root) == root
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
    image = root / "images/coco/val2017/1.png"
    image.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (4, 4)).save(image)
    (root / folder).mkdir()
    for name, count in counts.items():
        captions = {str(item): {"caption": f"{word} {item}", "negative_caption": f"no {word}"} for item in range(count)}
        document = {item: texts | {"filename": image.name} for item, texts in captions.items()}
        (root / folder / f"{name}.json").write_text(json.dumps(document))


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
        write_content(root, TRACK.index(recipe, root, index), index)
        assert {path.split("/")[0] for path in raw_files(index)} == {folder, "images"}
        (suite,) = read_suites(index)
        assert equal(suite, read_suite("sugarcrepe", root, name, folder)) and suite.name == name
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
    assert error.value.place == place


def test_names_that_collide_are_refused() -> None:
    crepe = "    crepe: {adapter: crepe}"
    with raises(ParamsError, place="vlc.suites.crepe"):
        parse_params(text_of("mine: {adapter: sugarcrepe}").replace(crepe, "    crepe: {adapter: sugarcrepe}"))
    for suites in ("[shapes-suites, my-crepe]", "[shapes-suites, bivlc]"):  # bivlc is not among the synthetic ones
        assert parse_params(text_of(ENTRY, PROFILE), edits=[f"profiles.mine.vlc.suites={suites}"])
    with raises(ParamsError, place="profiles.mine.vlc.suites"):
        parse_params(text_of(ENTRY, PROFILE), edits=["profiles.mine.vlc.suites=[shapes-suites, sugarcrepe]"])
