"""What is kept of attribution, and the numbers of CLIP-CAE's tables that follow from it, against plain loops."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student
from torch.nn.functional import normalize

from recompose.backbones.clip import Backbone, end_of_text
from recompose.data.pictures import Picture
from recompose.tracks.vlc.attribution import store, subsets
from recompose.tracks.vlc.attribution.attribute import REPLACEMENTS, attributions
from recompose.tracks.vlc.attribution.faithfulness import attribution_metrics, subset_metrics, winoground_metrics
from recompose.tracks.vlc.attribution.methods import attention, gradcam, gradient, patches
from recompose.tracks.vlc.attribution.store import Attributed, cumulative_accuracy, read, spans, write
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.catalogue import SUBTASKS
from recompose.tracks.vlc.suites.catalogue import TREES as PUBLISHED
from recompose.tracks.vlc.suites.scores import Features
from recompose.tracks.vlc.suites.subtasks import aggregate, names_in
from recompose.tracks.vlc.suites.tasks import Choices, Groups
from recompose.tracks.vlc.text.aro_captions import ATTRIBUTES, RELATIONS, concepts_of
from tests.clips import random_clip
from tests.precision import ROUNDING
from tests.tracks.loops import assert_same
from tests.tracks.vlc.attributions import made_up
from tests.tracks.vlc.tiny_suites import plain_text

pytestmark = pytest.mark.usefixtures("in_64_bits")

SEEDS = st.integers(0, 2**32 - 1)
TEXTS, IMAGES = tuple("abcdef"), tuple(Picture(f"{number}.png") for number in range(6))


def shares(right: list[bool]) -> float:
    return sum(right) / len(right)


# the parts


def test_a_leaf_of_a_mean_is_a_sub_task_or_computed_here_and_a_name_means_one_thing() -> None:
    leaves = {leaf for tree in subsets.TREES if not isinstance(tree, str) for leaf in tree.leaves}
    assert leaves <= {*SUBTASKS, "cae/aro/relation"}
    published = {name for tree in PUBLISHED for name in names_in(tree)}
    assert not {*subsets.DECLARED, *subsets.PLAIN} & published
    assert len({*subsets.DECLARED, *subsets.PLAIN}) == len(subsets.DECLARED) + len(subsets.PLAIN)


def test_means_are_those_that_the_paper_and_its_first_author_s_code_have() -> None:
    rng = np.random.default_rng(0)
    leaves = {leaf: float(rng.random()) for tree in subsets.TREES for leaf in tree.leaves}  # type: ignore[union-attr]
    result = aggregate(leaves, None, subsets.TREES)
    x = {name.removeprefix("vl_checklist/all/"): value for name, value in leaves.items()}
    attribute = sum(
        (x[f"attribute_{kind}/vaw"] + x[f"attribute_{kind}/vg"]) / 2
        for kind in ("action", "color", "material", "size", "state")
    )
    actions = sum(x[f"relation_action/{corpus}"] for corpus in ("hake", "swig", "vg")) / 3
    two, third = x["valse/action-replacement"] + x["valse/actant-swap"], x["valse/relations"]
    att = sum(x[f"sugarcrepe/{kind}_att"] for kind in ("add", "replace", "swap")) / 3
    expected = {
        "cae/aro": (x["cae/aro/relation"] + x["aro/vg_attribution"]) / 2,
        "cae/sugarcrepe/attribute": att,
        "cae/sugarcrepe": (x["sugarcrepe/replace_rel"] + att) / 2,
        "cae/vl_checklist": ((actions + x["relation_spatial"]) / 2 + attribute / 5) / 2,
        "cae/valse": (two + third) / 3,
        "cae/valse/kinds": (two / 2 + third) / 2,
    }
    parts = ("cae/aro", "cae/sugarcrepe", "cae/vl_checklist", "cae/valse")
    expected["cae"] = (sum(expected[part] for part in parts) + x["comvg"]) / 5
    assert {name: result[name] for name in expected} == pytest.approx(expected)


# ARO's relations


def relations(groups: list[str], right: list[bool], out: list[bool]) -> tuple[Suite, dict[str, np.ndarray]]:
    count = len(groups)
    offered = np.tile([0, 1], (count, 1))
    task = Choices("i2t", np.zeros(count, dtype=int), offered, np.ones(count, dtype=int), tuple(groups))
    scores = np.array([[0.5, 0.7 if labelled else 0.5] for labelled in right], dtype=np.float32)
    scores[out] = np.nan
    return Suite("aro", IMAGES, TEXTS, {"aro/vg_relation": task}), {"aro/vg_relation": scores}


@given(st.lists(st.tuples(st.sampled_from(["on", "near", "under", "with"]), st.booleans(), st.booleans()), min_size=1))
def test_relations_without_a_direction_do_not_count_and_others_count_alike(items: list[tuple[str, bool, bool]]) -> None:
    groups, right, out = (list(each) for each in zip(*items, strict=True))
    suite, scores = relations(groups, right, out)
    result = subset_metrics([suite], scores, {})
    by_group = {
        group: [labelled for other, labelled, gone in items if other == group and not gone] for group in ("on", "under")
    }
    means = [shares(labelled) for labelled in by_group.values() if labelled]
    if means:
        assert result == pytest.approx({"cae/aro/relation": sum(means) / len(means)})
    else:
        assert result == {}


def test_what_suites_do_not_have_has_no_number_and_what_they_have_is_joined() -> None:
    suite, scores = relations(["on", "under"], [True, False], [False, False])
    result = subset_metrics([suite], scores, {"aro/vg_attribution": 0.25, "aro/vg_relation": 0.5, "imagecode/video": 1})
    assert result == pytest.approx({"cae/aro/relation": 0.5, "cae/aro": 0.375})


# Winoground


@settings(max_examples=30)
@given(SEEDS, st.sampled_from([4, 9, 48, subsets.WINOGROUND_ITEMS]))
def test_winoground_s_numbers_are_those_of_plain_loops(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, (count, 2, 2)).astype(np.float32)  # many are equal
    out = rng.random(count) < 0.1
    out[:4] = False
    scores[out] = np.nan
    chosen = [
        item for item in range(count) if not out[item] and (count != subsets.WINOGROUND_ITEMS or item in subsets.CLEAN)
    ]
    text, image = [], []
    for item in chosen:
        s = scores[item]
        text.append([s[side, side] > s[side, 1 - side] for side in (0, 1)])
        image.append([s[side, side] > s[1 - side, side] for side in (0, 1)])
    result = winoground_metrics(scores)
    groups = {
        "/text": [all(each) for each in text],
        "/image": [all(each) for each in image],
        "": [all(a) and all(b) for a, b in zip(text, image, strict=True)],
    }
    pairs = {
        "/text": [each for of in text for each in of],
        "/image": [each for of in image for each in of],
        "": [a and b for ts, is_ in zip(text, image, strict=True) for a, b in zip(ts, is_, strict=True)],
    }
    for name in groups:
        assert result[f"cae/winoground{name}"] == pytest.approx(shares(groups[name]))
        assert result[f"cae/winoground/pairs{name}"] == pytest.approx(shares(pairs[name]))
    for sense, name in (("text", "/text"), ("image", "/image"), ("group", "")):
        sizes = [len(chosen) // 4 + (part < len(chosen) % 4) for part in range(4)]
        edges = [sum(sizes[:part]) for part in range(5)]
        means = [shares(groups[name][start:stop]) for start, stop in pairwise(edges)]
        middle = sum(means) / 4
        spread = math.sqrt(sum((each - middle) ** 2 for each in means) / 3)
        half = student.ppf(0.975, 3) * spread / 2
        ends = (max(0.0, middle - half), min(1.0, middle + half))
        assert (result[f"cae/winoground/{sense}/low"], result[f"cae/winoground/{sense}/high"]) == pytest.approx(ends)
    assert {name.removeprefix("test/") for name in result} <= {*subsets.DECLARED}


def test_a_winoground_without_readable_items_has_no_numbers_and_one_of_three_no_intervals() -> None:
    assert winoground_metrics(np.full((5, 2, 2), np.nan)) == {}
    few = winoground_metrics(np.ones((3, 2, 2)))
    assert not any(name.endswith(("low", "high")) for name in few)
    task = Groups(np.zeros((3, 2), dtype=int), np.zeros((3, 2), dtype=int))
    suite = Suite("winoground", IMAGES, TEXTS, {"winoground": task})
    assert subset_metrics([suite], {"winoground": np.ones((3, 2, 2))}, {"winoground": 0.0}) == few


# what was attributed


@given(SEEDS)
def test_attributions_are_means_over_captions_of_means_over_tokens(seed: int) -> None:
    stored = {"aro/vg_relation": made_up(seed, texts=9), "aro/vg_attribution": made_up(seed + 1, texts=4)}
    groups = ["near" if item % 3 == 0 else "on" for item in range(90)]  # of which the first has no direction
    right = (np.random.default_rng(seed).random(90) < 0.5).tolist()
    aro, scores = relations(groups, right, [False] * 90)
    result = attribution_metrics([aro], scores, stored)
    for method in ("gradcam", "attention"):
        objects, composition, ratios, of_relations = [], [], [], []
        for task, each in stored.items():
            for text in range(len(each.ids)):
                row = each.scores[method][text].tolist()
                means = []
                for marked in (each.objects[text], each.composition[text]):
                    own = [score for score, mark in zip(row, marked, strict=True) if mark and not math.isnan(score)]
                    means.append(sum(own) / len(own) if own else None)
                if None in means:
                    continue
                objects.append(means[0])
                composition.append(means[1])
                ratios.append(means[1] / means[0])
                if task == "aro/vg_relation" and groups[each.items[text]] == "on":
                    of_relations.append((ratios[-1], right[each.items[text]]))
        if not ratios:
            continue
        base = f"cae/attribution/{method}"
        count = len(ratios)
        assert result[f"{base}/objects"] == pytest.approx(sum(objects) / count)
        assert result[f"{base}/composition"] == pytest.approx(sum(composition) / count)
        assert result[f"{base}/ratio"] == pytest.approx(sum(composition) / sum(objects))
        if not of_relations:
            continue
        ordered, half = sorted(ratio for ratio, _ in of_relations), len(of_relations) // 2
        middle = (ordered[(len(ordered) - 1) // 2] + ordered[half]) / 2
        below = [labelled for ratio, labelled in of_relations if ratio <= middle]
        above = [labelled for ratio, labelled in of_relations if ratio > middle]
        assert result[f"{base}/right_below"] == pytest.approx(shares(below))
        assert result.get(f"{base}/right_above") == (pytest.approx(shares(above)) if above else None)
    assert set(result) <= {*subsets.DECLARED, *subsets.PLAIN}
    known = [value for each in stored.values() for value in each.similarity.tolist() if not math.isnan(value)]
    if known:  # which are added in the 32 bits that they are stored in
        mean = pytest.approx(sum(known) / len(known), rel=(len(known) + 1) * ROUNDING)
        assert result["cae/attribution/similarity"] == mean
    else:
        assert "cae/attribution/similarity" not in result


def test_names_of_methods_are_those_of_measures() -> None:
    stored = made_up(0, texts=9)
    stored = replace(stored, scores=dict.fromkeys(subsets.METHODS, stored.scores["attention"]), items=np.arange(9))
    aro, scores = relations(["on"] * 9, [True] * 9, [False] * 9)
    assert set(attribution_metrics([aro], scores, {"aro/vg_relation": stored})) == {*subsets.PLAIN, *subsets.RIGHT}
    assert attribution_metrics([aro], scores, {}) == {}


@settings(max_examples=20)
@given(SEEDS)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    path = tmp_path_factory.mktemp("attributed") / store.FILE
    attributed = {"aro/vg_relation": made_up(seed), "aro/vg_attribution": made_up(seed + 1, texts=3)}
    write(attributed, path)
    assert_same(read(path), attributed)


@given(st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.3, math.nan]), st.booleans())))
def test_cumulative_accuracy_is_that_of_the_items_up_to_each_ratio(items: list[tuple[float, bool]]) -> None:
    ratio, right = (np.array([item[place] for item in items]) for place in (0, 1))
    where, share = cumulative_accuracy(ratio.astype(float), right.astype(bool))
    known = [(each, labelled) for each, labelled in items if not math.isnan(each)]
    assert where.tolist() == sorted({each for each, _ in known})
    for at, result in zip(where, share, strict=True):
        labelled = [labelled for each, labelled in known if each <= at]
        assert result == pytest.approx(sum(labelled) / len(labelled))


@given(st.lists(st.text("abc", min_size=1, max_size=6), min_size=1, max_size=6), SEEDS)
def test_pieces_of_words_are_found_in_their_order(words: list[str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    caption, pieces, expected = "", ["<start_of_text>"], [(-1, -1)]
    for word in words:
        caption += " " * int(rng.integers(1, 3)) if caption else ""
        begin = 0
        while begin < len(word):
            end = int(rng.integers(begin + 1, len(word) + 1))
            pieces.append(word[begin:end] + (" " if end == len(word) else ""))
            expected.append((len(caption) + begin, len(caption) + end))
            begin = end
        caption += word
    assert [tuple(each) for each in spans(caption.title(), [*pieces, "<end_of_text>"]).tolist()] == [
        *expected,
        (-1, -1),
    ]
    assert spans("", []).shape == (0, 2)


# what is kept of attribution, against looking at each caption by itself, and what ARO's captions speak of


CPU = torch.device("cpu")
SAID = ("the dog is left of the red cup", "the cup is under the old dog", "a dog under a cup", "the dog is on the ball")
FALSE = (
    "the red cup is left of the dog",
    "the old dog is under the cup",
    "a cup under a dog",
    "the ball is on the dog",
)
GROUPS = ("left of", "under", "under", "on")
BOUND = ("the red dog and the blue cup", "the blue ball and the red box")
OTHERS = ("the blue dog and the red cup", "the red ball and the blue box")
SALT = ("red", "salt and pepper pot")


@pytest.fixture(scope="module")
def clip() -> Backbone:
    return random_clip()


@pytest.fixture(scope="module")
def pixels() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (5, 3, 32, 32), dtype=np.uint8)


def aro() -> Suite:
    """Items of two groups of captions; two of the first show the same image."""
    texts = (*SAID, *FALSE, *BOUND, *OTHERS)
    files = tuple(Picture(f"{number}.png") for number in range(4))
    shown = np.array([0, 0, 2, 3])
    relations = Choices("i2t", shown, np.stack([np.arange(4, 8), np.arange(4)], axis=1), np.ones(4, int), GROUPS)
    bound = np.array([[10, 8], [11, 9]])
    attributes = Choices("i2t", np.array([1, 2]), bound, np.ones(2, int), ("blue_red", "blue_red"))
    return Suite("aro", files, texts, {RELATIONS: relations, ATTRIBUTES: attributes})


def image_rows(clip: Backbone, pixels: np.ndarray) -> np.ndarray:
    """Embeddings of length 1, in 64 bits."""
    with torch.no_grad():
        return normalize(clip.encode_image(clip.from_bytes(torch.from_numpy(pixels))), dim=-1).numpy()


def features_of(clip: Backbone, pixels: np.ndarray, rows: list[int]) -> Features:
    suite = aro()
    texts = np.stack([plain_text(clip, text) for text in suite.texts])
    return Features(image_rows(clip, pixels), texts, np.array(rows), np.arange(len(suite.texts)))


@pytest.fixture(scope="module")
def stored(clip: Backbone, pixels: np.ndarray) -> dict[str, Attributed]:
    features = features_of(clip, pixels, [4, 1, 2, 3])  # of the first image the last pixels
    return attributions(clip, aro(), features, pixels, "test")


@pytest.mark.parametrize(
    ("task", "caption", "group", "expected"),
    [
        (RELATIONS, "the dog is in the box in the street", "in", ["dog", "in", "box in the street"]),
        (RELATIONS, "on the dog", "on", []),
        (ATTRIBUTES, "the red salt and pepper pot and the old cup", "red_old", [*SALT, "old", "cup"]),
        (ATTRIBUTES, "the red dog and the red cup", "red_red", ["red", "dog", "red", "cup"]),
        (ATTRIBUTES, "the (old dog and the red cup", "(old_red", ["(old", "dog", "red", "cup"]),
    ],
)
def test_what_captions_speak_of(task: str, caption: str, group: str, expected: Sequence[str]) -> None:
    assert [concept.text for concept in concepts_of(task, caption, group)] == expected


def test_items_captions_and_marks_are_those_of_the_suite(clip: Backbone, stored: dict[str, Attributed]) -> None:
    relations = stored[RELATIONS]
    assert relations.items.tolist() == [0, 1, 2, 3]
    for row, caption in enumerate(SAID):
        assert relations.ids[row].tolist() == clip.tokens([caption])[0, : relations.ids.shape[1]].tolist()
        concepts = concepts_of(RELATIONS, caption, GROUPS[row])
        for marked, are_objects in ((relations.objects, True), (relations.composition, False)):
            words = {caption[start:end] for start, end in relations.spans[row][marked[row]] if start >= 0}
            expected = [each.text.split() for each in concepts if (each.kind == "object") == are_objects]
            assert words == {word for parts in expected for word in parts}
    assert not relations.objects[2].any()  # is not of the template


def test_scores_are_those_of_each_caption_by_itself(
    clip: Backbone, pixels: np.ndarray, stored: dict[str, Attributed]
) -> None:
    shown = clip.from_bytes(torch.from_numpy(pixels[[4, 4, 2, 3]]))
    for row, caption in enumerate(SAID):
        ids = clip.tokens([caption])
        length = int(end_of_text(ids)) + 1
        for method, way in (("attention", attention), ("gradcam", gradcam), ("gradient", gradient)):
            expected = way(clip, shown[row : row + 1], ids)[0, :length].detach().numpy()
            result = stored[RELATIONS].scores[method][row]
            np.testing.assert_allclose(result[:length], expected, rtol=1e-9)
            assert np.isnan(result[length:]).all()


def test_a_drop_is_the_mean_over_what_a_concept_is_replaced_by(
    clip: Backbone, pixels: np.ndarray, stored: dict[str, Attributed]
) -> None:
    """Of two attributes each has one other, of four objects three: in four draws each of them at least once."""
    attributes = stored[ATTRIBUTES]
    image = image_rows(clip, pixels[[1]])[0]
    caption, scale = BOUND[0], float(clip.logit_scale)
    place = next(number for number, (start, end) in enumerate(attributes.spans[0]) if caption[start:end] == "red")
    whole = image @ plain_text(clip, caption)
    drop = scale * (whole - image @ plain_text(clip, caption.replace("red", "blue")))
    assert attributes.scores["perturbation"][0, place] == pytest.approx(drop)
    others = [
        scale * (whole - image @ plain_text(clip, caption.replace("dog", word))) for word in ("cup", "ball", "box")
    ]
    place = next(number for number, (start, end) in enumerate(attributes.spans[0]) if caption[start:end] == "dog")
    means = {(sum(others) + twice) / REPLACEMENTS for twice in others}
    assert min(abs(attributes.scores["perturbation"][0, place] - mean) for mean in means) < 1e-9 * max(map(abs, means))
    assert np.isnan(attributes.scores["perturbation"][0, 0])  # the start of text


def test_similarity_is_with_the_relation_or_both_attributes(clip: Backbone, stored: dict[str, Attributed]) -> None:
    for row, (caption, group) in enumerate(zip(SAID, GROUPS, strict=True)):
        expected = plain_text(clip, caption) @ plain_text(clip, group)
        np.testing.assert_allclose(stored[RELATIONS].similarity[row], expected if row != 2 else np.nan, rtol=ROUNDING)
    both = [plain_text(clip, BOUND[0]) @ plain_text(clip, attribute) for attribute in ("red", "blue")]
    assert stored[ATTRIBUTES].similarity[0] == pytest.approx(np.mean(both), rel=ROUNDING)


def test_patches_are_of_the_first_images_each_once(
    clip: Backbone, pixels: np.ndarray, stored: dict[str, Attributed]
) -> None:
    relations = stored[RELATIONS]
    assert relations.shown.tolist() == [0, 2, 3]
    for place, (row, number) in enumerate(((0, 4), (2, 2), (3, 3))):
        shown = clip.from_bytes(torch.from_numpy(pixels[[number]]))
        expected = patches(clip, shown, clip.tokens([SAID[row]]))[0].detach().numpy()
        np.testing.assert_allclose(relations.patches["gradcam"][place], expected, rtol=1e-9)


def test_an_item_without_a_readable_image_is_left_out_and_another_suite_has_nothing(
    clip: Backbone, pixels: np.ndarray
) -> None:
    suite = aro()
    features = features_of(clip, pixels, [-1, 1, 2, 3])
    result = attributions(clip, suite, features, pixels, "test")
    assert result[RELATIONS].items.tolist() == [2, 3]
    other = Suite("comvg", suite.images, suite.texts, {"comvg": suite.tasks[RELATIONS]})
    assert attributions(clip, other, features, pixels, "test") == {}
