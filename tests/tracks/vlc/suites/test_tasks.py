"""Tasks of every kind: their scores from embeddings, and the numbers of scores, against plain loops."""

import math
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr

from recompose.data.pictures import Picture
from recompose.errors import DataError
from recompose.synthetic.sentences import Entity, Scene
from recompose.tracks.vlc import METRICS
from recompose.tracks.vlc.data.formats import sugarcrepe_pp
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.data.synthetic_suites.similarity import facts, similarity
from recompose.tracks.vlc.suites import scores as module
from recompose.tracks.vlc.suites.accuracy import mean_average_precision
from recompose.tracks.vlc.suites.catalogue import PUBLISHED, RETRIEVAL, SUBTASKS, TREES
from recompose.tracks.vlc.suites.judges import JUDGES, judge_of, metric_names
from recompose.tracks.vlc.suites.scores import BROKEN, LEFT_OUT, Features, has_scores
from recompose.tracks.vlc.suites.tasks import (
    KINDS,
    Choices,
    Classes,
    Groups,
    Pool,
    Similarity,
    Task,
    Triplets,
    read_task,
)
from recompose.tracks.vlc.suites.values import check, counts, metrics, trees
from tests.errors import raises
from tests.precision import ROUNDING
from tests.tracks.loops import assert_same
from tests.tracks.vlc.suites.test_accuracy import beats
from tests.tracks.vlc.tiny_suites import random_features, tiny_suites

GRADES = np.array([1.0, 4.0, 2.0, 3.0])
SUITES = [
    *tiny_suites(),
    Suite("sick", (), tuple("abcdefgh"), {"sick": Similarity(np.arange(4), np.arange(4, 8), GRADES)}),
]
TASKS = [(suite, name) for suite in SUITES for name in suite.tasks]
IDS = [name for _, name in TASKS]


def test_every_kind_has_a_judge_and_an_example() -> None:
    assert {judge.TASK for judge in JUDGES} == {*KINDS.values()} == {type(suite.tasks[name]) for suite, name in TASKS}


@pytest.mark.parametrize(("suite", "name"), TASKS, ids=IDS)
def test_a_task_is_read_as_it_was_written_and_has_scores_of_its_shape(suite: Suite, name: str) -> None:
    task = suite.tasks[name]
    assert_same(read_task(task.document()), task)
    scores = task.scores(name, random_features(suite))
    assert {leaf: array.shape for leaf, array in scores.items()} == {
        leaf: task.shape(leaf) for leaf in task.leaves(name)
    }
    assert min(len(array) for array in scores.values()) == task.count
    assert all(has_scores(array).all() for array in scores.values())


@pytest.mark.parametrize(("suite", "name"), [entry for entry in TASKS if entry[0].images], ids=IDS[: len(IDS) - 1])
def test_items_without_one_of_their_images_have_no_scores(suite: Suite, name: str) -> None:
    task = suite.tasks[name]
    broken = int(task.image_numbers.ravel()[0])
    (leaf, *_), scores = task.leaves(name), task.scores(name, random_features(suite, broken))
    shows = np.array([broken in np.atleast_1d(numbers) for numbers in task.image_numbers])
    assert shows.any() and not shows.all()
    np.testing.assert_array_equal(has_scores(scores[leaf]), ~shows)
    assert counts([replace(suite, tasks={name: task})], scores)[leaf] == (np.sum(~shows), shows.sum())


@pytest.mark.parametrize(("suite", "name"), TASKS, ids=IDS)
def test_a_judge_yields_the_metrics_that_its_sub_task_declares(suite: Suite, name: str) -> None:
    part = replace(suite, tasks={name: suite.tasks[name]})
    values = metrics([part], suite.tasks[name].scores(name, random_features(suite)))
    own = {metric for metric in values if metric.startswith(f"test/{name}")}
    assert own == {f"test/{metric}" for metric in metric_names(SUBTASKS[name])} - {
        f"test/{name}/{group}" for group in SUBTASKS[name].groups
    }
    assert {*values} <= {*METRICS}


@pytest.mark.parametrize(("suite", "name"), TASKS, ids=IDS)
def test_a_judge_says_of_each_item_what_its_number_counts(suite: Suite, name: str) -> None:
    judge, task = judge_of(suite, name), suite.tasks[name]
    judge.check()
    assert judge.MEANING and judge.unit
    for leaf, scores in task.scores(name, random_features(suite)).items():
        everything = np.arange(len(scores))
        assert judge.counting(leaf).shape == judge.judgeable(leaf).shape == judge.units(leaf).shape == (len(scores),)
        judged, (number, *_) = judge.judge(scores, everything), judge.numbers(leaf, scores, everything)
        assert number.name == leaf and judged.margins.shape == (len(scores),)
        if judged.right is not None and number.right is not None:
            np.testing.assert_array_equal(judged.right, number.right)
            assert (judged.margins[~judged.right] <= 0).all()
        content = judge.content(leaf, scores[0], 0)
        assert content.pairs and any(pair.is_true for pair in content.pairs)
        assert all(pair.text in suite.texts or pair.text in getattr(task, "names", ()) for pair in content.pairs)
        shown = np.atleast_1d(task.image_numbers[0]) if "/t2i" not in leaf else np.empty(0, dtype=int)
        assert {suite.images[number] for number in shown} <= {*content.images}


def unit(rng: np.random.Generator, *shape: int) -> np.ndarray:
    rows = rng.normal(size=shape).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def features(seed: int, images: int, texts: int, broken: tuple[int, ...] = ()) -> Features:
    """Random rows, in 64 bits, which images and texts take in another order; their scores are kept in 32."""
    rng = np.random.default_rng(seed)
    image_rows = rng.permutation(images)
    image_rows[list(broken)] = BROKEN
    given_images, given_texts = (unit(rng, count, 8).astype(np.float64) for count in (images, texts))
    return Features(given_images, given_texts, image_rows, rng.permutation(texts))


def pool_ranks(task: Pool, given_features: Features) -> tuple[np.ndarray, np.ndarray]:
    ranks = task.scores("task", given_features)
    return ranks["task/i2t"], ranks["task/t2i"]


def test_groups_of_any_size_have_the_cosine_of_each_image_with_each_caption() -> None:
    rows = features(5, 8, 12)
    task = Groups(np.arange(8).reshape(4, 2), np.arange(12).reshape(4, 3))
    scores = task.scores("task", rows)["task"]
    assert scores.shape == task.shape("task") == (4, 2, 3)
    for item, image, text in np.ndindex(4, 2, 3):
        vectors = rows.images[rows.image_rows[2 * item + image]], rows.texts[rows.text_rows[3 * item + text]]
        assert scores[item, image, text] == pytest.approx(
            sum(a * b for a, b in zip(*vectors, strict=True)), rel=ROUNDING
        )


@pytest.mark.parametrize("size", [2, 3])
def test_the_margin_of_a_group_is_its_least_lead_over_captions_and_images(size: int) -> None:
    suite, name = next((suite, name) for suite, name in TASKS if isinstance(suite.tasks[name], Groups))
    scores = np.random.default_rng(size).normal(size=(20, size, size)) + 2 * np.eye(size)
    judged = judge_of(suite, name).judge(scores, np.arange(20))
    others = [(i, j) for i, j in np.ndindex(size, size) if i != j]
    leads = [[min(item[i, i] - item[i, j], item[j, j] - item[i, j]) for i, j in others] for item in scores]
    assert judged.right is not None and 0 < judged.right.sum() < 20
    np.testing.assert_array_equal(judged.margins, np.min(leads, axis=1))
    np.testing.assert_array_equal(judged.right, judged.margins > 0)


def test_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    given_features = features(3, 9, 11)
    rng = np.random.default_rng(3)
    choices = Choices("i2t", rng.integers(0, 9, 30), rng.integers(0, 11, (30, 3)), np.zeros(30, int))
    classes = Classes(np.arange(9), np.arange(9) % 2, ((0, 1), (2, 3, 4)), ("a", "b"))
    pool = Pool(np.arange(9), np.arange(11), np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1]))
    whole = [task.scores("task", given_features) for task in (choices, classes, pool)]
    monkeypatch.setattr(module, "BLOCK", 20)
    for task, scores in zip((choices, classes, pool), whole, strict=True):
        for name, part in task.scores("task", given_features).items():
            np.testing.assert_allclose(part, scores[name], rtol=2 * ROUNDING)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1))
def test_equal_captions_score_equal_wherever_they_stand(seed: int) -> None:
    """A product of matrices may round a column by its place."""
    rng = np.random.default_rng(seed)
    given_features = Features(unit(rng, 5, 513), unit(rng, 4, 513), np.arange(5), np.arange(4))
    offered = rng.integers(0, 4, (40, 3))
    result = Choices("i2t", rng.integers(0, 5, 40), offered, np.zeros(40, int)).scores("task", given_features)["task"]
    same = offered[:, :1] == offered
    assert (result[:, :1] == result)[same].all()
    copies = rng.integers(0, 4, 37)
    image_of = np.arange(37) % 5
    to_text, _ = pool_ranks(Pool(np.arange(5), copies, image_of), given_features)
    for row in range(5):
        own = [given_features.images[row].astype(float) @ given_features.texts[copy].astype(float) for copy in range(4)]
        order = sorted(range(37), key=lambda caption: (-own[copies[caption]], caption))
        assert to_text[row] == next(place for place, caption in enumerate(order) if image_of[caption] == row)


def test_retrieval_leaves_out_what_cannot_be_read() -> None:
    given_features = features(5, 6, 9, broken=(1, 4))
    task = Pool(np.arange(6), np.arange(9), np.array([0, 1, 2, 3, 4, 5, 0, 1, 2]))
    to_text, to_image = pool_ranks(task, given_features)
    images, texts = given_features.images.astype(np.float64), given_features.texts.astype(np.float64)
    table = images[given_features.image_rows] @ texts[given_features.text_rows].T
    readable = [0, 2, 3, 5]
    for row in range(6):
        right = task.image_of == row
        expected = np.sum(table[row, ~right] > table[row, right].max()) if row in readable else LEFT_OUT
        assert to_text[row] == expected
    for caption, own in enumerate(task.image_of):
        ahead = sum(table[row, caption] > table[own, caption] for row in readable)
        assert to_image[caption] == (ahead if own in readable else LEFT_OUT)


SEEDS = st.integers(0, 2**32 - 1)
TEXTS = tuple(f"text {number}" for number in range(40))
IMAGES = tuple(Picture(f"{number}.png") for number in range(40))


def suite(name: str, **tasks: Task) -> Suite:
    return Suite(name, IMAGES, TEXTS, {task.replace("__", "/"): each for task, each in tasks.items()})


def choices(rng: np.random.Generator, items: int, width: int, groups: tuple[str, ...] | None = None) -> Choices:
    offered = rng.integers(0, 40, (items, width))
    true = rng.integers(0, width, items)
    return Choices("i2t", rng.integers(0, 40, items), offered, true, groups)


def coarse(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Scores of which many are equal."""
    return rng.integers(0, 4, shape).astype(np.float32)


def is_right(row: np.ndarray, true: int, ties: str) -> bool:
    others = [(score, place) for place, score in enumerate(row) if place != true and not math.isnan(score)]
    return not any(beats(score, place, row[true], true, ties) for score, place in others)


@given(SEEDS, st.sampled_from(["sugarcrepe/swap_obj", "aro/coco_order", "spec/i2t/count", "whatsup/a", "crepe/swap"]))
def test_choices_are_told_by_the_rule_of_their_suite_and_crepe_s_for_each_number_of_atoms(seed: int, name: str) -> None:
    rng = np.random.default_rng(seed)
    groups = ("4",) * 3 + ("12",) * 9 if name == "crepe/swap" else None
    task, scores = choices(rng, 12, 4, groups), coarse(rng, 12, 4)
    left_out = rng.random(12) < 0.2
    left_out[[0, 5]] = False
    scores[left_out] = np.nan
    right = {
        item: is_right(scores[item], task.true[item], SUBTASKS[name].ties)
        for item in np.flatnonzero(~left_out).tolist()
    }
    suites = [Suite(name.split("/")[0], IMAGES, TEXTS, {name: task})]
    expected = {f"test/{name}": [*right.values()]}
    for item, group in enumerate(groups or ()):
        expected.setdefault(f"test/{name}/{group}", []).extend([right[item]] if item in right else [])
    values = metrics(suites, {name: scores})
    assert {number: values[number] for number in expected} == pytest.approx(
        {number: sum(answers) / len(answers) for number, answers in expected.items()}
    )
    assert counts(suites, {name: scores})[name] == (len(right), left_out.sum())


@given(SEEDS, st.sampled_from(["aro/vg_relation", "aro/vg_attribution"]))
def test_aro_is_a_mean_over_groups_that_are_large_enough(seed: int, name: str) -> None:
    rng = np.random.default_rng(seed)
    sizes = {"on": 27, "under": 25, "behind": 24, "near": 3}
    groups = tuple(group for group, size in sizes.items() for _ in range(size))
    task, scores = choices(rng, len(groups), 2, groups), coarse(rng, len(groups), 2)
    scores[[0, 30]] = np.nan  # each of a group that is large with them
    shares = defaultdict(list)
    for row, true, group in zip(scores, task.true, groups, strict=True):
        if not np.isnan(row).any():
            shares[group].append(is_right(row, true, "strict"))
    least = SUBTASKS[name].group_minimum
    assert least in (1, 25)
    counted = [shares[group] for group, size in sizes.items() if size >= least]
    expected = sum(sum(share) / len(share) for share in counted) / len(counted)
    suites = [Suite("aro", IMAGES, TEXTS, {name: task})]
    assert metrics(suites, {name: scores})[f"test/{name}"] == pytest.approx(expected)


@given(SEEDS)
def test_bivlc_counts_the_items_of_its_types_in_each_sense(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = {"replace": 5, "swap": 2, "add": 1}
    scores = {f"bivlc/{kind}": coarse(rng, size, 2, 2) for kind, size in sizes.items()}
    scores["bivlc/replace"][0] = np.nan
    empty = {size: Groups(np.zeros((size, 2), dtype=int), np.zeros((size, 2), dtype=int)) for size in sizes.values()}
    values = metrics([suite("bivlc", **{f"bivlc__{kind}": empty[size] for kind, size in sizes.items()})], scores)
    squares = [square for array in scores.values() for square in array if not np.isnan(square).any()]
    text = [square[0, 0] > square[0, 1] and square[1, 1] > square[1, 0] for square in squares]
    image = [square[0, 0] > square[1, 0] and square[1, 1] > square[0, 1] for square in squares]
    assert values["test/bivlc/text"] == pytest.approx(sum(text) / 7)
    assert values["test/bivlc/image"] == pytest.approx(sum(image) / 7)
    assert values["test/bivlc"] == pytest.approx(sum(map(min, text, image)) / 7)


def test_sugarcrepe_pp_asks_for_both_captions_and_means_are_over_its_sub_tasks() -> None:
    rows = [[2, 2, 1, 3, 0, 0], [2, 1, 1, 3, 3, 0], [0, 2, 1, 3, 0, 0], [np.nan] * 6]
    scores = {leaf: np.array(rows, dtype=np.float32) for leaf in sugarcrepe_pp.MEAN.leaves}
    scores["sugarcrepe_pp/swap_obj"] = scores["sugarcrepe_pp/swap_obj"][[1]]
    tasks = {
        leaf.replace("/", "__"): Triplets(np.zeros(len(array), dtype=int), np.zeros((len(array), 3), dtype=int))
        for leaf, array in scores.items()
    }
    suites = [suite("sugarcrepe_pp", **tasks)]
    values = metrics(suites, scores)
    senses = [values[f"test/sugarcrepe_pp/swap_att{end}"] for end in ("", "/first", "/second", "/text_only")]
    assert senses == pytest.approx([1 / 3, 2 / 3, 2 / 3, 2 / 3])
    assert values["test/sugarcrepe_pp"] == pytest.approx(4 / 15)
    assert values["test/sugarcrepe_pp/text_only"] == pytest.approx(8 / 15)
    assert counts(suites, scores)["sugarcrepe_pp/swap_att"] == (3, 1)


@given(SEEDS)
def test_retrieval_is_told_both_ways_at_three_depths(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ranks = {"coco/i2t": rng.integers(0, 15, 8), "coco/t2i": rng.integers(0, 15, 20)}
    ranks["coco/t2i"][3] = LEFT_OUT
    task = Pool(np.arange(8), np.arange(20), np.arange(20) % 8)
    result = metrics([suite("coco", coco=task)], ranks)
    for name, hits in ranks.items():
        stored = [hit for hit in hits if hit != LEFT_OUT]
        for k in (1, 5, 10):
            assert result[f"test/{name}/r{k}"] == pytest.approx(sum(hit < k for hit in stored) / len(stored))
        assert result[f"test/{name}"] == result[f"test/{name}/r1"]
    assert counts([suite("coco", coco=task)], ranks) == {"coco/i2t": (8, 0), "coco/t2i": (19, 1)}
    assert "test/i2t_ret" not in result


def labelled(labels: np.ndarray, classes: int) -> Classes:
    return Classes(np.arange(len(labels)), labels, tuple((each,) for each in range(classes)), tuple("abc"[:classes]))


def test_classification_is_measured_as_elevater_does() -> None:
    scores = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.4, 0.6], [np.nan, np.nan]], dtype=np.float32)
    labels = np.array([0, 0, 0, 1, 1])
    labels[1] = 1
    names = ("mnist", "caltech101", "hateful-memes", "drawn-colours")
    suites = [Suite("elevater", IMAGES, TEXTS, {f"elevater/{name}": labelled(labels, 2) for name in names})]
    result = metrics(suites, {f"elevater/{name}": scores for name in names})
    assert result["test/elevater/mnist"] == result["test/elevater/drawn-colours"] == 0.75
    assert result["test/elevater/caltech101"] == pytest.approx((2 / 2 + 1 / 2) / 2)
    assert result["test/elevater/hateful-memes"] == 0.75  # of four couples one stands in the wrong order
    many = np.array([[True, False], [False, True], [True, True], [False, True], [True, False]])
    suites = [Suite("elevater", IMAGES, TEXTS, {"elevater/voc2007classification": labelled(many, 2)})]
    mean = metrics(suites, {"elevater/voc2007classification": scores})["test/elevater/voc2007classification"]
    assert mean == mean_average_precision(scores[:4], many[:4])


def test_zs_is_over_the_published_sets_or_over_those_that_were_drawn() -> None:
    labels, scores = np.array([0, 1]), np.array([[0.9, 0.1], [0.8, 0.2]], dtype=np.float32)

    def values(*names: str) -> dict[str, float]:
        tasks: dict[str, Task] = {f"elevater/{name}": labelled(labels, 2) for name in names}
        return metrics([Suite("elevater", IMAGES, TEXTS, tasks)], dict.fromkeys(tasks, scores))

    assert "test/zs" not in values("caltech101", "cifar10", "cifar100")
    binary = [
        task.name.removeprefix("elevater/") for task in PUBLISHED["elevater"].SUBTASKS if task.metric == "accuracy"
    ]
    assert values(*binary, "drawn")["test/zs"] == 0.5
    assert values("drawn-colours", "drawn-shapes")["test/zs"] == 0.5
    assert trees(tiny_suites()) == TREES


def test_means_of_retrieval_are_over_the_published_sets_or_over_those_that_were_drawn() -> None:
    task = Pool(np.arange(2), np.arange(2), np.arange(2))

    def values(*names: str) -> dict[str, float]:
        tasks: dict[str, Task] = dict.fromkeys(names, task)
        ranks = {f"{name}/{way}": np.array([0, place]) for place, name in enumerate(names) for way in ("i2t", "t2i")}
        return metrics([Suite("retrieval", IMAGES, TEXTS, tasks)], ranks)

    assert values(*RETRIEVAL)["test/i2t_ret"] == pytest.approx((1 + 0.5 + 0.5) / 3)
    assert "test/i2t_ret" not in values("coco")
    assert values("drawn", "other")["test/t2i_ret"] == 0.75


def test_what_cannot_be_measured_is_told_before() -> None:
    rng = np.random.default_rng(0)
    good = choices(rng, 3, 2)
    check(tiny_suites())
    small = choices(rng, 3, 2, ("a", "a", "b"))
    for suites, code, place in (
        ([suite("sugarcrepe", sugarcrepe__swapobj=good)], "no-rule", "sugarcrepe/swapobj"),
        ([suite("crepe", crepe__atom=good), suite("other", crepe__atom=good)], "duplicate-name", "crepe/atom"),
        ([suite("crepe", crepe__atom=choices(rng, 0, 2))], "no-items", "crepe/atom"),
        ([suite("aro", aro__vg_relation=good)], "no-groups", "aro/vg_relation"),
        ([suite("aro", aro__vg_attribution=small)], "small-groups", "aro/vg_attribution"),
    ):
        with raises(DataError, code, place):
            check(suites)
    for scores in (np.full((3, 2), np.inf), np.zeros((2, 2))):
        with raises(DataError, "wrong-scores", "sugarcrepe/swap_obj"):
            metrics([suite("sugarcrepe", sugarcrepe__swap_obj=good)], {"sugarcrepe/swap_obj": scores})


def test_a_suite_is_measured_by_cosines_of_its_texts() -> None:
    rng = np.random.default_rng(1)
    texts = rng.standard_normal((7, 5))
    texts /= np.linalg.norm(texts, axis=1, keepdims=True)
    rows = np.array([6, 0, 3, 2])
    task = Similarity(np.array([0, 1, 2]), np.array([3, 3, 1]), np.array([2.0, 5.0, 1.0]))
    suite = Suite("sick", (), ("a", "b", "c", "d"), {"sick": task})
    scores = suite.scores(Features(np.empty((0, 5), dtype=np.float32), texts, np.empty(0, dtype=int), rows))
    cosines = [float(texts[6] @ texts[2]), float(texts[0] @ texts[2]), float(texts[3] @ texts[0])]
    assert scores["sick"].tolist() == pytest.approx(cosines, rel=ROUNDING)
    assert metrics([suite], scores) == {
        "test/sick": pytest.approx(spearmanr(scores["sick"], task.graded).statistic),
        "test/sick/pearson": pytest.approx(pearsonr(scores["sick"], task.graded).statistic),
    }


def test_facts_by_hand() -> None:
    star, ring = Entity("star", ("dotted", "red"), "big"), Entity("ring", ("blue",))
    above = Scene(star, ring, "above")
    assert facts(above) == {
        *("star", "ring", ("star", "dotted"), ("star", "red"), ("star", "big"), ("ring", "blue")),
        ("ring", "below", "star"),
    }
    assert similarity(above, Scene(ring, star, "below")) == 1
    assert similarity(above, Scene(ring, star, "above")) == 6 / 8
    assert facts(Scene(Entity("moon", count=3), relation="on the left")) == {
        *("moon", ("moon", "3"), ("moon", "on the left")),
    }
    assert facts(Scene(star, ring, "covering")) - facts(above) == {("star", "covering", "ring")}
    assert similarity(Scene(star), Scene(ring)) == 0
