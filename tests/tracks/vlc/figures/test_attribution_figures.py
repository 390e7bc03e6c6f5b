"""Figures of attribution, drawn from made-up evaluations, against what they have to show."""

import csv
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recompose.data.pictures import Picture
from recompose.papers.declaration import Artifact, Paper
from recompose.tables.style import NumbersOnly, Sheet, styled
from recompose.tracks.vlc.attribution.store import FILE, Attributed, spans, write
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.figures import attribution_distributions as distributions
from recompose.tracks.vlc.figures import attribution_maps, cumulative
from recompose.tracks.vlc.suites.scores import FILE as SCORES
from recompose.tracks.vlc.suites.scores import write_scores
from recompose.tracks.vlc.suites.tasks import Choices
from tests.tracks.vlc.attributions import made_up
from tests.tracks.vlc.figures.stored import StoredPictures

pytestmark = pytest.mark.slow

RELATION, ATTRIBUTE = "aro/vg_relation", "aro/vg_attribution"
ITEMS = 600
CAPTIONS = ("the cup is on the box", "the box is on the cup", "a red ring", "a ring")


class StoredAttributions(StoredPictures):
    """Evaluations of items of ARO's relations, and of attributes: two by turns, every third told right."""

    def __init__(self, folder: Path, kept: Mapping[str, Mapping[str, Attributed]]) -> None:
        asked, offered = np.tile([0, 1], ITEMS // 2), np.tile([[1, 0], [3, 2]], (ITEMS // 2, 1))
        task = Choices("i2t", asked, offered, np.ones(ITEMS, dtype=int), ("on", "red") * (ITEMS // 2))
        cosines = np.stack([np.full(ITEMS, 0.5), np.where(np.arange(ITEMS) % 3, 0.4, 0.6)], axis=1)
        suite = Suite("aro", (Picture("0.png"), Picture("1.png")), CAPTIONS, {RELATION: task, ATTRIBUTE: task})
        super().__init__(folder, suite, kept)
        for name, each in kept.items():
            write(each, folder / name / FILE)
            write_scores({RELATION: cosines, ATTRIBUTE: cosines}, folder / name / SCORES)


def paper_of(kind: str, measured: Mapping[str, str], columns: Mapping[str, str]) -> Paper:
    artifact = Artifact(kind=kind, caption="", rows=dict(measured), columns=dict(columns))
    return Paper(name="p", title="", authors="", venue="", track="vlc", datasets={}, artifacts={"figure-1": artifact})


def read(stem: Path) -> list[dict[str, str]]:
    with stem.with_suffix(".csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


GRADCAM, ATTENTION = (f"test/cae/attribution/{method}/ratio" for method in ("gradcam", "attention"))
BOTH = {"CLIP": "clip", "CAE": "cae"}
ALL = (
    ("attribution-scores", distributions.draw_scores, {"GradCAM": GRADCAM, "Attention": ATTENTION}),
    ("composition-similarity", distributions.draw_similarity, {"R": f"test/{RELATION}", "A": f"test/{ATTRIBUTE}"}),
    ("cumulative-accuracy", cumulative.draw_cumulative, {"GradCAM": GRADCAM}),
    ("attribution-maps", attribution_maps.draw_maps, {"GradCAM": GRADCAM}),
)


@pytest.mark.parametrize(("kind", "draw", "columns"), ALL)
def test_a_figure_of_nothing_is_drawn_all_the_same(
    kind: str, draw: object, columns: dict[str, str], tmp_path: Path
) -> None:
    results = StoredAttributions(tmp_path, {"clip": {RELATION: made_up(0)}})  # the other row is missing
    sheet = NumbersOnly(tmp_path / "f", "", [])
    draw(results, paper_of(kind, BOTH, columns), "figure-1", sheet)  # type: ignore[operator]
    assert len(sheet.numbers) == 1
    assert sheet.numbers[0].count("\n") == 1


# distributions


@given(st.integers(0, 1000))
def test_tokens_count_of_captions_that_have_both_kinds(seed: int) -> None:
    kept = made_up(seed)
    for method, scores in kept.scores.items():
        expected: dict[str, list[float]] = {"objects": [], "composition": []}
        for text in range(len(scores)):
            of = {
                kind: [
                    float(score)
                    for score, mark in zip(scores[text], getattr(kept, kind)[text], strict=True)
                    if mark and not math.isnan(score)
                ]
                for kind in expected
            }
            if all(of.values()):
                for kind, own in of.items():
                    expected[kind] += own
        for kind, own in expected.items():
            assert distributions.token_scores({RELATION: kept}, method, kind).tolist() == own


def test_shares_of_scores_are_of_all_tokens_and_bins_are_the_same_before_and_after(tmp_path: Path) -> None:
    kept = {name: {RELATION: made_up(seed, texts=40)} for name, seed in (("clip", 0), ("cae", 1))}
    paper = paper_of(ALL[0][0], BOTH, ALL[0][2])
    with styled():
        distributions.draw_scores(StoredAttributions(tmp_path, kept), paper, "figure-1", Sheet(tmp_path / "f", "", []))  # type: ignore[arg-type]
    shown = read(tmp_path / "f")
    edges: dict[str, set[tuple[str, ...]]] = {}
    for panel in ALL[0][2]:
        for row, name in BOTH.items():
            for kind in distributions.KINDS:
                own = [each for each in shown if (each["row"], each["panel"], each["of"]) == (row, panel, kind)]
                values = distributions.token_scores(kept[name], panel.lower(), kind)
                assert sum(float(each["share"]) for each in own) == pytest.approx(1, abs=0.005)
                assert {(each["n"], each["mean"]) for each in own} == {(str(len(values)), f"{values.mean():.4f}")}
                edges.setdefault(panel, set()).add(tuple(each["from"] for each in own))
    assert all(len(found) == 1 for found in edges.values())
    text = (tmp_path / "f.svg").read_text()
    assert all(word in text for word in ("GradCAM", "Attention", "CLIP", "CAE", "objects", "composition"))


def test_similarities_of_all_rows_stand_in_one_panel_of_each_sub_task(tmp_path: Path) -> None:
    kept = {
        name: {RELATION: made_up(seed, texts=30), ATTRIBUTE: made_up(seed + 9, texts=20)}
        for name, seed in (("clip", 0), ("cae", 1))
    }
    paper = paper_of(ALL[1][0], BOTH, ALL[1][2])
    with styled():
        distributions.draw_similarity(
            StoredAttributions(tmp_path, kept), paper, "figure-1", Sheet(tmp_path / "f", "", [])
        )  # type: ignore[arg-type]
    found = {(each["panel"], each["of"]): each["n"] for each in read(tmp_path / "f")}
    assert found == {
        (panel, row): str(int((~np.isnan(kept[name][task].similarity)).sum()))
        for panel, task in (("R", RELATION), ("A", ATTRIBUTE))
        for row, name in BOTH.items()
    }


def test_bins_hold_all_values_but_the_largest_ones() -> None:
    values = np.append(np.linspace(0, 1, 1000), 50.0)
    edges = distributions.bins([values])
    assert edges[0] == 0
    assert edges[-1] < 2
    assert len(distributions.bins([])) == len(distributions.bins([np.ones(3)])) == distributions.BINS + 1


# accuracy over ratios


def test_lines_end_at_the_accuracy_of_all_items_that_have_a_ratio(tmp_path: Path) -> None:
    kept = made_up(3, texts=60)
    paper = paper_of(ALL[2][0], {"CLIP": "clip"}, ALL[2][2])
    results = StoredAttributions(tmp_path, {"clip": {RELATION: kept}})
    with styled():
        cumulative.draw_cumulative(results, paper, "figure-1", Sheet(tmp_path / "f", "", []))  # type: ignore[arg-type]
    found = [(float(each["ratio"]), float(each["accuracy"])) for each in read(tmp_path / "f")]
    ratio = [found[0] for found in found]
    assert ratio == sorted(ratio)
    scored = kept.composition & ~np.isnan(kept.scores["gradcam"]), kept.objects & ~np.isnan(kept.scores["gradcam"])
    has = scored[0].any(axis=1) & scored[1].any(axis=1)
    assert found[-1][1] == pytest.approx(100 * (kept.items[has] % 3 == 0).mean(), abs=0.001)


# maps


def shown(caption: str, pieces: list[str], scores: list[float], patches: list[float]) -> Attributed:
    """One caption of item 1, and its picture."""
    whole = made_up(0, texts=1, tokens=len(pieces), pictures=1, side=2)
    return replace(
        whole,
        items=np.array([1]),
        spans=spans(caption, pieces)[None],
        scores={"gradcam": np.array([scores], dtype=np.float32)},
        shown=np.array([0]),
        patches={"gradcam": np.array([patches], dtype=np.float32)},
    )


def test_words_have_the_mean_scores_of_their_pieces_and_patches_stand_where_they_are(tmp_path: Path) -> None:
    pieces = ["<start>", "a ", "re", "d ", "ring ", "<end>"]
    first = shown("a red ring", pieces, [9.0, 0.0, 0.2, 0.4, 0.6, 9.0], [0.0, 1.0, 2.0, 4.0])
    second = shown("a red ring", pieces, [9.0, math.nan, 0.6, 0.6, 0.2, 9.0], [1.0, 1.0, 1.0, 1.0])
    results = StoredAttributions(tmp_path, {"clip": {RELATION: first}, "cae": {RELATION: second}})
    with styled():
        attribution_maps.draw_maps(results, paper_of("", BOTH, ALL[3][2]), "figure-1", Sheet(tmp_path / "f", "", []))  # type: ignore[arg-type]
    found = [(each["image"], each["row"], each["part"], each["place"], each["score"]) for each in read(tmp_path / "f")]
    assert found[:7] == [
        *(("1.png", "CLIP", "patch", place, f"{score:.4f}") for place, score in (("0 0", 0), ("0 1", 1))),
        *(("1.png", "CLIP", "patch", place, f"{score:.4f}") for place, score in (("1 0", 2), ("1 1", 4))),
        *(("1.png", "CLIP", "word", word, f"{score:.4f}") for word, score in (("a", 0), ("red", 0.3), ("ring", 0.6))),
    ]
    assert [each[3:] for each in found if each[1:3] == ("CAE", "word")] == [
        ("a", ""),
        ("red", "0.6000"),
        ("ring", "0.2000"),
    ]
    text = (tmp_path / "f.svg").read_text()
    assert all(word in text for word in ("CLIP", "CAE", "red", "ring"))
    assert (tmp_path / "f.png").stat().st_size > 5_000


def test_relations_come_first_and_attributes_have_their_share(tmp_path: Path) -> None:
    pieces, scores = ["a ", "red ", "ring "], [0.1, 0.2, 0.3]
    first, second = (shown("a red ring", pieces, scores, patches) for patches in ([0.0, 1.0, 2.0, 3.0], [9.0] * 4))
    kept = {ATTRIBUTE: second, RELATION: first}
    results = StoredAttributions(tmp_path, {"clip": kept, "cae": kept})
    with styled():
        attribution_maps.draw_maps(results, paper_of("", BOTH, ALL[3][2]), "figure-1", Sheet(tmp_path / "f", "", []))  # type: ignore[arg-type]
    of_patches = [each["score"] for each in read(tmp_path / "f") if (each["row"], each["part"]) == ("CLIP", "patch")]
    assert of_patches == ["0.0000", "1.0000", "2.0000", "3.0000", *["9.0000"] * 4]


def test_a_line_of_many_items_has_few_points_and_both_of_its_ends(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    ratio, share = np.sort(rng.random(30_000)), rng.random(30_000)
    few, its = cumulative._thin(ratio, share)
    assert len(few) == len(its) == cumulative.POINTS
    assert (few[0], few[-1], its[0], its[-1]) == (ratio[0], ratio[-1], share[0], share[-1])
    assert {*few} <= {*ratio}
    assert len(cumulative._thin(ratio[:7], share[:7])[0]) == 7


def test_pictures_that_one_row_alone_has_kept_are_not_shown(tmp_path: Path) -> None:
    pieces, scores = ["a "], [1.0]
    one = shown("a red ring", pieces, scores, [0.0] * 4)
    other = replace(one, items=np.array([0]))
    results = StoredAttributions(tmp_path, {"clip": {RELATION: one}, "cae": {RELATION: other}})
    sheet = NumbersOnly(tmp_path / "f", "", [])
    attribution_maps.draw_maps(results, paper_of("", BOTH, ALL[3][2]), "figure-1", sheet)  # type: ignore[arg-type]
    assert sheet.numbers == [",".join(attribution_maps.COLUMNS) + "\n"]


@settings(max_examples=30)
@given(st.lists(st.one_of(st.floats(-5, 5), st.just(math.nan)), max_size=6))
def test_shades_go_from_nothing_to_one_and_keep_the_order(values: list[float]) -> None:
    found = attribution_maps.rescale(np.array(values, dtype=np.float64))
    known = [(value, shade) for value, shade in zip(values, found, strict=True) if not math.isnan(value)]
    assert all(math.isnan(shade) == math.isnan(value) for value, shade in zip(values, found, strict=True))
    if known:
        assert min(shade for _, shade in known) == 0
        assert max(shade for _, shade in known) == (1 if len({value for value, _ in known}) > 1 else 0)
    for value, shade in known:
        assert all(shade <= other for larger, other in known if larger >= value)


def test_a_map_is_brightest_where_most_is_attributed() -> None:
    pixels = np.zeros((16, 16, 3), dtype=np.uint8)
    drawn = attribution_maps.overlay_map(pixels, np.array([[0.0, 0.0], [0.0, 1.0]])).sum(axis=2)
    assert drawn.shape == (16, 16)
    assert drawn[15, 15] == drawn.max() > drawn[0, 0] == drawn.min()
