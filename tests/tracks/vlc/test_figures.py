"""Figures of the track, drawn from small made-up inputs, against what they have to show."""

import csv
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from PIL import Image
from safetensors.numpy import save_file

from recompose.data.pictures import Picture
from recompose.palette import WRONG
from recompose.papers.declaration import Artifact, Paper
from recompose.parts.style import styled
from recompose.recipes.plan import Recipe
from recompose.tracks.building import EMBEDDINGS
from recompose.tracks.vlc.attribution.store import FILE, Attributed, spans, write
from recompose.tracks.vlc.data.index import write_suites
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.figures import attribution, metrics, negatives, retrieval
from recompose.tracks.vlc.figures.pages import Word, mark_differences, wrap_words
from recompose.tracks.vlc.suites.scores import FILE as SCORES
from recompose.tracks.vlc.suites.scores import write_scores
from recompose.tracks.vlc.suites.tasks import Choices, Pool
from tests.tables.drawings import texts
from tests.tables.fakes import Fake, by_seed
from tests.tracks.vlc.attributions import made_up

pytestmark = pytest.mark.slow

COMP, ZS = "test/comp", "test/zs"
RELATION, ATTRIBUTE = "aro/vg_relation", "aro/vg_attribution"
GRADCAM, ATTENTION = (f"test/cae/attribution/{method}/ratio" for method in ("gradcam", "attention"))
BOTH = {"CLIP": "clip", "CAE": "cae"}
ITEMS = 600
CAPTIONS = ("the cup is on the box", "the box is on the cup", "a red ring", "a ring")
DRAWN: dict[str, tuple[Callable[..., None], dict[str, str]]] = {  # kind -> function, columns
    "holistic": (metrics.draw_holistic, {"Comp": COMP, "ZS": ZS}),
    "trajectories": (metrics.draw_trajectories, {"ZS": ZS, "Comp": COMP}),
    "retrieval-examples": (retrieval.draw_retrieval, {}),
    "attribution-scores": (attribution.draw_scores, {"GradCAM": GRADCAM, "Attention": ATTENTION}),
    "composition-similarity": (attribution.draw_similarity, {"R": f"test/{RELATION}", "A": f"test/{ATTRIBUTE}"}),
    "cumulative-accuracy": (attribution.draw_cumulative, {"GradCAM": GRADCAM}),
    "attribution-maps": (attribution.draw_maps, {"GradCAM": GRADCAM}),
}


class StoredPictures:
    """The results of methods on one benchmark, a suite of two pictures, with a folder for each method."""

    def __init__(self, folder: Path, suite: Suite, names: Iterable[str]) -> None:
        self.place, self.data = folder, Recipe("data", "shapes-suites", {"adapter": "shapes-suites"})
        self.names = list(names)
        write_suites([suite], folder / "index")
        (folder / "raw").mkdir()
        for number, colour in enumerate(("red", "blue")):
            Image.new("RGB", (40, 30), colour).save(folder / "raw" / f"{number}.png")
        for name in self.names:
            (folder / name).mkdir()

    def benchmarks(self, track: str) -> list[str]:
        return ["d"]

    def planned(self, track: str, name: str, benchmark: str) -> list[Recipe]:
        labels = {"method": name, "dataset": benchmark, "seed": 0}
        return [Recipe("evaluations", name, {"of": name}, {"suites-shapes-suites": self.data}, labels=labels)]

    def is_complete(self, recipe: Recipe) -> bool:
        return recipe.name in self.names

    def folder(self, recipe: Recipe) -> Path:
        return self.place / "index"

    def raw(self, data: Recipe) -> Path:
        return self.place / "raw"

    def file(self, recipe: Recipe, name: str) -> Path:
        return self.place / recipe.name / name


def stored_attributions(folder: Path, stored: Mapping[str, Mapping[str, Attributed]]) -> StoredPictures:
    """Evaluations of items of ARO's relations, and of attributes: two by turns, every third told right."""
    asked, offered = np.tile([0, 1], ITEMS // 2), np.tile([[1, 0], [3, 2]], (ITEMS // 2, 1))
    task = Choices("i2t", asked, offered, np.ones(ITEMS, dtype=int), ("on", "red") * (ITEMS // 2))
    cosines = np.stack([np.full(ITEMS, 0.5), np.where(np.arange(ITEMS) % 3, 0.4, 0.6)], axis=1)
    suite = Suite("aro", (Picture("0.png"), Picture("1.png")), CAPTIONS, {RELATION: task, ATTRIBUTE: task})
    results = StoredPictures(folder, suite, stored)
    for name, each in stored.items():
        write(each, folder / name / FILE)
        write_scores({RELATION: cosines, ATTRIBUTE: cosines}, folder / name / SCORES)
    return results


def paper_of(kind: str, rows: Mapping[str, str]) -> Paper:
    artifact = Artifact(kind=kind, caption="", rows=dict(rows), columns=DRAWN[kind][1])
    return Paper(name="p", title="", authors="", venue="", track="vlc", datasets={}, artifacts={"figure-1": artifact})


def draw(kind: str, results: object, rows: Mapping[str, str], folder: Path) -> list[dict[str, str]]:
    """Draw a figure with the names of its rows, where there are several; return the rows of its numbers."""
    stem = folder / "figure"
    DRAWN[kind][0](results, paper_of(kind, rows), "figure-1").write(stem, "")
    shown = " ".join(texts(stem.with_suffix(".svg")))
    assert all(name in shown for name in rows if len(rows) > 1 and kind != "trajectories")
    with stem.with_suffix(".csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("kind", DRAWN)
def test_a_figure_of_nothing_is_drawn_all_the_same(kind: str, tmp_path: Path) -> None:
    results: object = Fake({})
    if DRAWN[kind][0] not in (metrics.draw_holistic, metrics.draw_trajectories):
        results = stored_attributions(tmp_path, {"clip": {RELATION: made_up(0)}})  # the other row is missing
    assert DRAWN[kind][0](results, paper_of(kind, BOTH), "figure-1").csv.count("\n") == 1


# pages


@given(st.lists(st.text("ab", min_size=1, max_size=9), max_size=12), st.integers(1, 20))
def test_lines_have_all_words_in_order_and_fit_but_for_words_that_do_not(words: list[str], letters: int) -> None:
    lines = wrap_words([Word(word) for word in words], letters)
    assert [word.text for line in lines for word in line] == words
    for line in lines:
        assert len(line) == 1 or len(" ".join(word.text for word in line)) <= letters
    for line, following in pairwise(lines):
        assert len(" ".join(word.text for word in [*line, following[0]])) > letters


@given(st.lists(st.sampled_from("abcd"), max_size=8), st.lists(st.sampled_from("abcd"), max_size=8))
def test_words_that_are_not_marked_stand_in_the_caption_in_this_order(caption: list[str], other: list[str]) -> None:
    words = mark_differences(" ".join(caption), " ".join(other))
    assert [word.text for word in words] == other
    rest = iter(caption)
    assert all(word.text in rest for word in words if not word.marked)


def test_captions_are_shown_with_negatives_of_every_kind(tmp_path: Path) -> None:
    Image.new("RGB", (30, 40), "red").save(tmp_path / "0.png")
    built = {
        "negclip": ["a box on a red cup in front of an old fence"],
        "bi-gram shuffle": ["on a a red box in cup front of fence an old"],
        "replace": ["a blue cup on a box in front of an old fence"],
    }
    example = negatives.Example("d", tmp_path, "0.png", "a red cup on a box in front of an old fence", built)
    with styled():
        drawn = negatives.draw_examples([example, example])
    plt.close(drawn.figure)
    marked = [text.get_text() for text in drawn.figure.axes[0].texts if text.get_color() == WRONG]
    assert marked == ["a", "box", "on", "blue"] * 2  # "a red cup" is what stays


# several metrics


def test_methods_are_shown_in_percent_with_all_seeds(tmp_path: Path) -> None:
    measured = {
        "clip": {"d": by_seed({COMP: 0.4, ZS: 0.6})},
        "negclip": {"d": by_seed({COMP: 0.5, ZS: 0.5}, {COMP: 0.54, ZS: 0.52})},
    }
    rows = draw("holistic", Fake(measured), {"CLIP": "clip", "NegCLIP": "negclip"}, tmp_path)
    values = {(row["row"], row["seed"], row["metric"]): float(row["value"]) for row in rows}
    seeds = {("CLIP", "0"): (40, 60), ("NegCLIP", "0"): (50, 50), ("NegCLIP", "1"): (54, 52)}
    expected = {(*key, name): both[place] for key, both in seeds.items() for place, name in enumerate(("Comp", "ZS"))}
    assert values == pytest.approx(expected)


def test_a_trajectory_begins_at_the_untrained_model_and_has_the_seeds_that_all_points_have() -> None:
    columns = ["dataset", "model", "alpha", "seed", "planned"]
    rows = [("d", name, alpha, seed, 2) for name, alpha in (("CLIP", 0.0), ("FSC", 1.0)) for seed in (0, 1)]
    rows += [("d", "FSC", 0.5, 1, 1), ("d", "plain", 1.0, 0, 2)]  # nothing is on the way of the last one
    lines = metrics.trajectories(pd.DataFrame(rows, columns=columns))
    assert list(lines) == [("FSC", "d")]
    assert [(row.alpha, row.seed) for row in lines["FSC", "d"].itertuples()] == [(0.0, 1), (0.5, 1), (1.0, 1)]


def test_points_are_told_by_the_alpha_that_was_scored(tmp_path: Path) -> None:
    class WithAlpha(Fake):
        def planned(self, track: str, name: str, benchmark: str) -> list[Recipe]:
            alphas = {"clip": {}, "half": {"scoring": {"alpha": 0.5}}, "whole": {"scoring": {"alpha": 1.0}}}
            labels = {"method": name, "dataset": benchmark, "seed": 0}
            return [Recipe("evaluations", name, {"settings": alphas[name], "name": name}, labels=labels)]

    numbers = {"clip": (0.6, 0.4), "half": (0.62, 0.5), "whole": (0.55, 0.54)}
    measured = {name: {"d": by_seed({ZS: zs, COMP: comp})} for name, (zs, comp) in numbers.items()}
    names = {"CLIP": "clip", "FSC at 0.5": "half", "FSC": "whole"}
    rows = draw("trajectories", WithAlpha(measured), names, tmp_path)
    values = [(row["model"], float(row["alpha"]), float(row["ZS"]), float(row["Comp"])) for row in rows]
    assert values == [("CLIP", 0, 60, 40), ("FSC", 0.5, 62, 50), ("FSC", 1, 55, 54)]


# retrieval


def test_images_are_shown_that_the_last_model_tells_right_and_the_first_one_wrong_then_what_none_does() -> None:
    first = np.array([False, True, False, False, False, False])
    last = np.array([True, True, False, True, True, True])
    assert retrieval.select_images([first, last]) == [0, 3, 4, 2]


def test_captions_that_models_find_are_told_right_or_wrong(tmp_path: Path) -> None:
    captions = ("a red cup on a box", "a blue cup on a box", "another one")
    task = Pool(np.array([0, 1]), np.array([0, 1, 2]), np.array([0, 1, 1]))
    suite = Suite(retrieval.POOL, (Picture("0.png"), Picture("1.png")), captions, {retrieval.POOL: task})
    images = {"clip": [[0.5, 0.8, 0.1], [0.9, 0.2, 0.3]], "fsc-clip": [[0.8, 0.5, 0.1], [0.1, 0.2, 0.9]]}
    results = StoredPictures(tmp_path, suite, images)
    for name, rows_of_images in images.items():
        stored = {"images": np.array(rows_of_images, dtype=np.float32), "texts": np.eye(3, dtype=np.float32)}
        save_file({f"shapes-suites/{what}": array for what, array in stored.items()}, tmp_path / name / EMBEDDINGS)
    rows = draw("retrieval-examples", results, {"CLIP": "clip", "FSC-CLIP": "fsc-clip"}, tmp_path)
    shown = [(row["image"], row["row"], row["caption"], row["right"]) for row in rows]
    ranked = {"CLIP": (1, 0, 2), "FSC-CLIP": (0, 1, 2)}
    assert shown[:6] == [("0.png", row, captions[n], str(n == 0)) for row, order in ranked.items() for n in order]
    assert ("1.png", "FSC-CLIP", "another one", "True") in shown


# distributions of attribution


@given(st.integers(0, 1000))
def test_tokens_count_of_captions_that_have_both_kinds(seed: int) -> None:
    stored = made_up(seed)
    for method, scores in stored.scores.items():
        known = {kind: getattr(stored, kind) & ~np.isnan(scores) for kind in attribution.KINDS}
        both = [text for text in range(len(scores)) if all(marks[text].any() for marks in known.values())]
        for kind, marks in known.items():
            values = [float(score) for text in both for score in scores[text][marks[text]]]
            assert attribution.token_scores({RELATION: stored}, method, kind).tolist() == values


def test_shares_of_scores_are_of_all_tokens_and_bins_are_the_same_before_and_after(tmp_path: Path) -> None:
    stored = {name: {RELATION: made_up(seed, texts=40)} for name, seed in (("clip", 0), ("cae", 1))}
    rows = draw("attribution-scores", stored_attributions(tmp_path, stored), BOTH, tmp_path)
    for panel in ("GradCAM", "Attention"):
        edges = set()
        for row, name in BOTH.items():
            for kind in attribution.KINDS:
                own = [each for each in rows if (each["row"], each["panel"], each["of"]) == (row, panel, kind)]
                values = attribution.token_scores(stored[name], panel.lower(), kind)
                assert sum(float(each["share"]) for each in own) == pytest.approx(1, abs=0.005)
                assert {(each["n"], each["mean"]) for each in own} == {(str(len(values)), f"{values.mean():.4f}")}
                edges.add(tuple(each["from"] for each in own))
        assert len(edges) == 1


def test_similarities_of_all_rows_stand_in_one_panel_of_each_sub_task(tmp_path: Path) -> None:
    stored = {
        name: {RELATION: made_up(seed, texts=30), ATTRIBUTE: made_up(seed + 9, texts=20)}
        for name, seed in (("clip", 0), ("cae", 1))
    }
    rows = draw("composition-similarity", stored_attributions(tmp_path, stored), BOTH, tmp_path)
    assert {(each["panel"], each["of"]): each["n"] for each in rows} == {
        (panel, row): str(int((~np.isnan(stored[name][task].similarity)).sum()))
        for panel, task in (("R", RELATION), ("A", ATTRIBUTE))
        for row, name in BOTH.items()
    }


def test_lines_end_at_the_accuracy_of_all_items_that_have_a_ratio(tmp_path: Path) -> None:
    stored = made_up(3, texts=60)
    results = stored_attributions(tmp_path, {"clip": {RELATION: stored}})
    rows = draw("cumulative-accuracy", results, {"CLIP": "clip"}, tmp_path)
    line = [(float(each["ratio"]), float(each["accuracy"])) for each in rows]
    assert line == sorted(line, key=lambda point: point[0])
    scored = ~np.isnan(stored.scores["gradcam"])
    has = (stored.composition & scored).any(axis=1) & (stored.objects & scored).any(axis=1)
    assert line[-1][1] == pytest.approx(100 * (stored.items[has] % 3 == 0).mean(), abs=0.001)


# maps of attribution


def one_caption(pieces: list[str], scores: list[float], patches: list[float]) -> Attributed:
    """One caption of item 1, and its picture."""
    return replace(
        made_up(0, texts=1, tokens=len(pieces), pictures=1, side=2),
        items=np.array([1]),
        spans=spans("a red ring", pieces)[None],
        scores={"gradcam": np.array([scores], dtype=np.float32)},
        shown=np.array([0]),
        patches={"gradcam": np.array([patches], dtype=np.float32)},
    )


def test_words_have_the_mean_scores_of_their_pieces_and_patches_stand_where_they_are(tmp_path: Path) -> None:
    pieces = ["<start>", "a ", "re", "d ", "ring ", "<end>"]
    first = one_caption(pieces, [9.0, 0.0, 0.2, 0.4, 0.6, 9.0], [0.0, 1.0, 2.0, 4.0])
    second = one_caption(pieces, [9.0, math.nan, 0.6, 0.6, 0.2, 9.0], [1.0] * 4)
    results = stored_attributions(tmp_path, {"clip": {RELATION: first}, "cae": {RELATION: second}})
    rows = draw("attribution-maps", results, BOTH, tmp_path)
    shown = [(each["row"], each["part"], each["place"], each["score"]) for each in rows]
    patches = {"0 0": 0, "0 1": 1, "1 0": 2, "1 1": 4}
    assert shown[:7] == [
        *(("CLIP", "patch", place, f"{score:.4f}") for place, score in patches.items()),
        *(("CLIP", "word", word, f"{score:.4f}") for word, score in {"a": 0, "red": 0.3, "ring": 0.6}.items()),
    ]
    words = [each[2:] for each in shown if each[:2] == ("CAE", "word")]
    assert words == [("a", ""), ("red", "0.6000"), ("ring", "0.2000")]
    assert rows[0]["image"] == "1.png"


def test_shades_go_from_nothing_to_one_in_the_order_of_scores() -> None:
    shades = attribution.rescale(np.array([3.0, math.nan, -1.0, 0.0]))
    np.testing.assert_allclose(shades, [1, math.nan, 0, 0.25])
    assert attribution.rescale(np.full(2, 7.0)).tolist() == [0, 0]
