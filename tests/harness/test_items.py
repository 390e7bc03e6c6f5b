"""The items of stored scores: margins, ties, categories and differences against plain loops, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from recompose.errors import DamagedError, DataError, PlanError, RecomposeError
from recompose.harness.items import ItemSheet, differing_items, item_sheet, outcomes, worst_items
from recompose.main import app
from recompose.recipes.plan import Plan, Recipe, TrackPlan
from recompose.tracks.vlc.data.formats.sugarcrepe import SETS
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.catalogue import read_suite
from recompose.tracks.vlc.suites.judges import judge_of
from recompose.tracks.vlc.suites.scores import FILE, write_scores
from recompose.tracks.vlc.suites.tasks import ABSENT, Choices, Classes, Groups, Pool, Similarity, Task, Triplets
from recompose.workspace import Workspace
from tests.errors import raises
from tests.harness.test_comparison import store_evaluation
from tests.tracks.vlc.tiny_suites import tiny_suites, write_sugarcrepe

RULES = {"sugarcrepe": "strict", "crepe": "lenient", "comvg": "strict", "winoground": "strict"}
HOSTILE = "<script>alert(1)</script>\x1b[31m\" onload='x'"


def graded() -> Suite:
    rng = np.random.default_rng(5)
    task = Similarity(np.arange(6), np.arange(6, 12), rng.integers(1, 5, 6).astype(float))
    return Suite("sick", (), tuple(map(str, range(12))), {"sick": task})


def several_classes() -> Suite:
    labels = np.array([[1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 1, 1], [0, 1, 1]], dtype=bool)
    suite = tiny_suites()[4]
    task = Classes(np.arange(5), labels, ((0,), (1,), (2,)), ("a", "b", "c"))
    return replace(suite, tasks={"elevater/voc2007classification": task})


def with_groups() -> Suite:
    suite = tiny_suites()[1]
    task = suite.tasks["crepe/atom"]
    assert isinstance(task, Choices)
    return replace(suite, tasks={"crepe/atom": replace(task, groups=("4", "5", "4"))})


def random_scores(suite: Suite, seed: int = 0) -> dict[str, np.ndarray]:
    """Scores in coarse steps, so that ties are frequent; the first item of a task has none."""
    rng, scores = np.random.default_rng(seed), {}
    for name, task in suite.tasks.items():
        for leaf in task.leaves(name):
            items = task.shape(leaf)
            if isinstance(task, Pool):
                scores[leaf] = rng.integers(0, 4, items)
                scores[leaf][0] = -1
                continue
            scores[leaf] = (rng.integers(0, 4, items) / 4).astype(np.float32)
            if isinstance(task, Choices):
                scores[leaf][task.offered == ABSENT] = np.nan
            scores[leaf][0] = np.nan
    return scores


def plain(task: Task, row: Any, number: int, rule: str) -> tuple[float, bool | None]:
    """The margin of an item and whether it is right, by the words of its suite."""
    match task:
        case Choices():
            true = int(task.true[number])
            wrong = [place for place, one in enumerate(task.offered[number]) if one != ABSENT and place != true]
            leads = [float(row[true]) - float(row[place]) for place in wrong]
            return min(leads), all(lead > 0 if rule == "strict" else lead >= 0 for lead in leads)
        case Groups():
            gaps = []
            for side in (0, 1):
                gaps.append(float(row[side][side]) - float(row[side][1 - side]))
                gaps.append(float(row[side][side]) - float(row[1 - side][side]))
            return min(gaps), all(gap > 0 for gap in gaps)
        case Triplets():
            gaps = [float(row[0] - row[2]), float(row[1] - row[2])]
            return min(gaps), gaps[0] > 0 and gaps[1] > 0
        case Classes():
            if task.labels.ndim == 1:
                true_classes = {int(task.labels[number])}
            else:
                true_classes = {place for place, shows in enumerate(task.labels[number]) if shows}
            predicted = max(range(len(row)), key=lambda place: (row[place], -place))
            own = max([float(row[place]) for place in true_classes])
            other = max([float(row[place]) for place in range(len(row)) if place not in true_classes])
            return own - other, predicted in true_classes
        case Pool():
            return -float(row), row == 0
    raise TypeError(task)


@pytest.mark.parametrize("suite", [*tiny_suites(), several_classes(), with_groups()], ids=lambda suite: suite.name)
def test_outcomes_are_those_of_plain_loops(suite: Suite) -> None:
    scores = random_scores(suite)
    for name, task in suite.tasks.items():
        for leaf in task.leaves(name):
            expected = []
            for number in range(len(scores[leaf])):
                if number == 0 or (isinstance(task, Classes) and task.labels.ndim == 2 and number in (2, 3)):
                    continue  # without scores; without a class, or with all of them
                margin, right = plain(task, scores[leaf][number], number, RULES.get(suite.name, "strict"))
                expected.append((number, pytest.approx(margin), right, None if isinstance(task, Pool) else margin == 0))
            judged = outcomes(judge_of(suite, name), leaf, scores[leaf])
            assert [(one.number, one.margin, one.is_right, one.is_tie) for one in judged] == expected
            assert {one.task for one in judged} == {leaf}


def test_graded_items_are_worst_where_ranks_differ() -> None:
    suite = graded()
    scores = np.array([0.1, 0.9, 0.3, 0.4, 0.5, 0.6], dtype=np.float32)
    task = suite.tasks["sick"]
    assert isinstance(task, Similarity)

    def rank(values: Any, place: int) -> float:
        below = sum(value < values[place] for value in values)
        equal = sum(value == values[place] for value in values)
        return below + (equal + 1) / 2

    judged = outcomes(judge_of(suite, "sick"), "sick", scores)
    expected = [-abs(rank(scores, place) - rank(task.graded, place)) / 6 for place in range(6)]
    assert [one.margin for one in judged] == pytest.approx(expected)
    assert {(one.is_right, one.is_tie) for one in judged} == {(None, None)}


def test_categories_are_groups_classes_and_subtasks() -> None:
    def categories(suite: Suite) -> list[str]:
        scores = random_scores(suite)
        return [
            one.category
            for name, task in suite.tasks.items()
            for leaf in task.leaves(name)
            for one in outcomes(judge_of(suite, name), leaf, scores[leaf])
        ]

    suites = {suite.name: suite for suite in tiny_suites()}
    assert categories(with_groups()) == ["atom/5", "atom/4"]
    assert categories(suites["winoground"]) == ["winoground"] * 3
    assert categories(suites["sugarcrepe"]) == ["replace_obj"] * 5 + ["swap_obj"] * 3
    assert categories(suites["elevater"])[:3] == ["mnist/b", "mnist/c", "mnist/a"]
    assert {*categories(suites["coco"])} == {"i2t", "t2i"}


def evaluated_sheet(folder: Path, name: str, data: Path) -> ItemSheet:
    """The sheet of a folder of the command evaluate, outside of any project."""
    return item_sheet(Workspace(folder), str(folder), name, data)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """SugarCrepe's files, with a hostile caption, without one of their images."""
    root = tmp_path / "data"
    write_sugarcrepe(root)
    file = root / "sugarcrepe" / "swap_obj.json"
    document = json.loads(file.read_text())
    document["0"]["caption"] = HOSTILE
    file.write_text(json.dumps(document))
    (root / "images" / "coco" / "val2017" / f"{2:012d}.jpg").unlink()
    return root


def results(tmp_path: Path, data: Path, seed: int = 0) -> Path:
    suite = read_suite("sugarcrepe", data)
    return store_evaluation(tmp_path / f"result-{seed}", [suite], random_scores(suite, seed))


def test_a_sheet_has_captions_scores_and_categories(tmp_path: Path, data: Path) -> None:
    sheet = evaluated_sheet(results(tmp_path, data), "sugarcrepe", data)
    scores = random_scores(read_suite("sugarcrepe", data))
    document = json.loads((data / "sugarcrepe" / "swap_obj.json").read_text())
    part = sheet.within("swap_obj")
    assert [one.number for one in part.outcomes] == [1, 2, 3, 4] and sheet.left_out == len(SETS)
    for one in part.outcomes:
        content = sheet.describe(one)
        item = document[str(one.number)]
        assert [picture.path for picture in content.images] == [f"images/coco/val2017/{item['filename']}"]
        shown = {(pair.text, pair.score, pair.is_true) for pair in content.pairs}
        row = scores["sugarcrepe/swap_obj"][one.number].tolist()
        task = read_suite("sugarcrepe", data).tasks["sugarcrepe/swap_obj"]
        assert isinstance(task, Choices)
        true = int(task.true[one.number])
        assert shown == {(item["caption"], row[true], True), (item["negative_caption"], row[1 - true], False)}
    assert [*worst_items(sheet, 3).counts] == [*SETS]


def test_two_models_differ_where_one_is_right(tmp_path: Path, data: Path) -> None:
    sheets = [evaluated_sheet(results(tmp_path, data, seed), "sugarcrepe", data) for seed in (0, 1)]
    view = differing_items(*sheets, 1_000)
    first, second = ({(one.task, one.number): one for one in sheet.outcomes} for sheet in sheets)
    differing = {
        key: abs(one.margin - second[key].margin) for key, one in first.items() if one.is_right != second[key].is_right
    }
    gaps = {(one.task, one.number): abs(one.margin - other.margin) for one, other in view.shown}
    assert gaps == differing and [*gaps.values()] == sorted(differing.values(), reverse=True)
    for category, count in view.counts.items():
        pairs = [(one.is_right, second[key].is_right) for key, one in first.items() if one.category == category]
        cells = tuple(count[name] for name in ("both", "only_first", "only_second", "neither"))
        assert count["items"] == len(pairs)
        assert cells == tuple(map(pairs.count, ((True, True), (True, False), (False, True), (False, False))))


def test_other_items_and_graded_ones_are_not_compared(tmp_path: Path, data: Path) -> None:
    first = evaluated_sheet(results(tmp_path, data), "sugarcrepe", data)
    other = replace(first, contents=first.contents | {"sugarcrepe/swap_att": "0"})
    with raises(DataError, "other-items", "sugarcrepe/swap_att"):
        differing_items(first, other, 3)
    with raises(DataError, "no-items", "sugarcrepe"):
        differing_items(first.within("swap_obj"), first.within("swap_att"), 3)
    undecided = replace(first, outcomes=tuple(replace(one, is_right=None) for one in first.outcomes))
    with raises(DataError, "graded-items", "sugarcrepe"):
        differing_items(undecided, undecided, 3)


def test_a_suite_or_a_category_that_results_do_not_have_is_refused(tmp_path: Path, data: Path) -> None:
    folder = results(tmp_path, data)
    assert evaluated_sheet(folder, "sugarcrepe", tmp_path / "nowhere").outcomes  # images alone are elsewhere
    with raises(DataError, "unknown-suite", "sugarcrep") as error:
        evaluated_sheet(folder, "sugarcrep", data)
    assert "'sugarcrepe'" in str(error.value)
    with raises(DataError, "unknown-category", "swap_objj"):
        evaluated_sheet(folder, "sugarcrepe", data).within("swap_objj")


def test_the_command_prints_what_is_worst(tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    suite = read_suite("sugarcrepe", data)
    scores = random_scores(suite)
    scores["sugarcrepe/swap_obj"][0] = (0.25, 1.0) if suite.tasks["sugarcrepe/swap_obj"].true[0] == 0 else (1.0, 0.25)
    arguments = ["items", str(store_evaluation(tmp_path / "result", [suite], scores)), "--suite", "sugarcrepe"]
    arguments += ["--data", str(data), "--category", "swap_obj", "--worst", "1"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "\x1b" not in done.output and "sugarcrepe/swap_obj, item 0: wrong, margin -0.75" in done.output
    document = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert document["worst"][0]["item"] == 0 and document["worst"][0]["right"] is False
    assert {pair["text"]: pair["is_true"] for pair in document["worst"][0]["scores"]}[HOSTILE] is True
    (category,) = document["categories"]
    assert (category["category"], category["items"]) == ("swap_obj", 5)


# evaluations of the workflow


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    """A project with a stored evaluation of a method with seed 0, and a planned one with seed 1."""
    (tmp_path / "params.yaml").write_text("")
    suite = tiny_suites()[0]
    index = Recipe("data", "tiny", {"adapter": "shapes-suites", "seed": 1}, track="vlc")
    needs, labels = {"suites-tiny": index}, {"name": "negclip"}
    evaluations = tuple(
        Recipe(
            "evaluations",
            f"negclip, seed {seed}",
            {"seed": seed},
            needs,
            track="vlc",
            labels=labels | {"seed": seed},
        )
        for seed in (0, 1)
    )
    plan = Plan({"vlc": TrackPlan({}, {("negclip", "tiny"): evaluations}, ("negclip",))})
    work = Workspace(tmp_path)
    vars(work).update(plan=plan, params=SimpleNamespace(profile="demo", profiles={"demo": None}))
    with work.store.build(index) as folder:
        assert folder
        suite.write(folder / "suites" / "sugarcrepe.json")
    with work.store.build(evaluations[0]) as folder:
        assert folder
        write_scores(random_scores(suite), folder / FILE)
    return work


def test_evaluations_of_the_workflow_are_found(work: Workspace) -> None:
    recipe = work.plan.of("evaluations")[0]
    suite = tiny_suites()[0]
    expected = evaluated_sheet(store_evaluation(work.root / "out", [suite], random_scores(suite)), "sugarcrepe", Path())
    for name in (recipe.key, recipe.digest[:9], "demo/negclip", str(work.results / recipe.key)):
        sheet = item_sheet(work, name, "sugarcrepe", Path("nothing"))
        assert sheet.outcomes == expected.outcomes and sheet.title == "negclip, seed 0"
    with (work.store.folder(recipe) / FILE).open("ab") as file:
        file.write(b"x")
    with raises(DamagedError, place=FILE):
        item_sheet(work, recipe.key, "sugarcrepe", Path("nothing"))


def test_evaluations_that_are_not_there_are_refused(work: Workspace) -> None:
    missing: list[tuple[str, int | None, type[RecomposeError], str]] = [
        ("demo/negclp", None, PlanError, "unknown-method"),
        ("demo/negclip", 5, PlanError, "unknown-seed"),
        ("demo/negclip", 1, DataError, "missing-result"),
        ("demos/negclip", None, PlanError, "unknown-profile"),
        (work.plan.of("data")[0].key, None, PlanError, "no-suites"),
    ]
    for name, seed, error, code in missing:
        with raises(error, code):
            item_sheet(work, name, "sugarcrepe", Path("nothing"), seed)


# results in CLIP_benchmark's form: each number is under its name, in documents that its own command collects


METRICS = {
    "test/sugarcrepe": 0.5,
    "test/sugarcrepe/swap_obj": 0.25,
    "test/comvg": 0.75,
    "test/comvg/verb": 0.5,
    "test/winoground": 0.1,
    "test/winoground/text": 0.3,
    "test/winoground/image": 0.2,
    "test/coco/i2t": 0.4,
    **{f"test/coco/{way}/r{k}": k / 10 + (way == "t2i") / 100 for way in ("i2t", "t2i") for k in (1, 5, 10)},
    "test/elevater/cifar10": 0.9,
    "test/elevater/caltech101": 0.8,
    "test/elevater/hateful-memes": 0.6,
    "test/sick": 0.45,
    "test/sick/pearson": 0.46,
}
SCORED = ("sugarcrepe/swap_obj", "sugarcrepe/add_obj", "comvg", "comvg/verb", "winoground", "coco/i2t", "coco/t2i")
COUNTED = (*SCORED, "elevater/cifar10", "elevater/caltech101", "elevater/hateful-memes", "sick")


@pytest.fixture
def result(tmp_path: Path) -> Path:
    document = {
        "model": "ViT-B-32",
        "weights": {"name": "../weights of/me.pt"},
        "suites": ["sugarcrepe"],
        "metrics": METRICS,
        "items": {name: {"items": 4, "left_out": 0} for name in COUNTED},
    }
    (tmp_path / "results.json").write_text(json.dumps(document))
    return tmp_path


def test_its_command_can_make_a_table_of_them(result: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["clip-benchmark", str(result), str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    documents = {row["dataset"]: row for row in map(json.loads, map(Path.read_text, (tmp_path / "out").glob("*.json")))}
    # what `clip_benchmark build` makes a row of (LAION-AI/CLIP_benchmark at 48de38c, main_build)
    about = {"dataset", "model", "pretrained", "task", "metrics", "language"}
    assert all(row.keys() == about and not about & row["metrics"].keys() for row in documents.values())
    assert {(row["model"], row["language"]) for row in documents.values()} == {("ViT-B-32", "en")}
    assert {name: row["metrics"] for name, row in documents.items()} == {
        "sugar_crepe/swap_obj": {"acc": 0.25, "text_acc": 0.25},
        "comvg": {"acc": 0.75, "image_acc": 0.75},
        "comvg/verb": {"acc": 0.5, "image_acc": 0.5},
        "winoground": {"acc": 0.1, "text_acc": 0.3, "image_acc": 0.2},
        "mscoco_captions": {
            **{f"text_retrieval_recall@{k}": k / 10 for k in (1, 5, 10)},
            **{f"image_retrieval_recall@{k}": k / 10 + 0.01 for k in (1, 5, 10)},
        },
        "elevater/cifar10": {"acc1": 0.9},
        "elevater/caltech101": {"mean_per_class_recall": 0.8},
        "elevater/hateful-memes": {"roc_auc": 0.6},
        "sick": {"spearman": 0.45, "pearson": 0.46},
    }
    tasks = {name: row["task"] for name, row in documents.items()}
    assert tasks["winoground"] == "image_caption_selection" and tasks["mscoco_captions"] == "zeroshot_retrieval"
    assert tasks["elevater/cifar10"] == "zeroshot_classification"
