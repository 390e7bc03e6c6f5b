"""Figures of the track, drawn from small made-up inputs, against what they have to show."""

import csv
import subprocess
import sys
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from PIL import Image
from safetensors.numpy import save_file

from recompose.data.pictures import Picture
from recompose.palette import WRONG
from recompose.papers.declaration import Artifact, Paper
from recompose.plan import Recipe
from recompose.tables.style import NumbersOnly, Sheet, styled
from recompose.tracks.building import EMBEDDINGS
from recompose.tracks.vlc.data.captions import Captions
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.figures import negatives, page, retrieval, trajectories
from recompose.tracks.vlc.figures.holistic import draw_holistic
from recompose.tracks.vlc.figures.page import Word, mark_differences, plain_words, wrap_words
from recompose.tracks.vlc.suites.tasks import Pool
from tests.tables.fakes import Fake, by_seed
from tests.tracks.vlc.figures.stored import StoredPictures

pytestmark = pytest.mark.slow

COMP, ZS = "test/comp", "test/zs"


def paper_of(kind: str, measured: Mapping[str, str], columns: Mapping[str, str] | None = None) -> Paper:
    artifact = Artifact(kind=kind, caption="", rows=dict(measured), columns=dict(columns or {}))
    shown = {"figure-1": artifact}
    return Paper(name="p", title="", authors="", venue="", track="vlc", datasets={}, artifacts=shown)


def read(stem: Path) -> list[dict[str, str]]:
    with stem.with_suffix(".csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


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


def test_a_swap_marks_what_moved_and_a_text_is_no_different_from_itself() -> None:
    marked = [
        w.text for w in mark_differences("steps in front of a building", "building in front of a steps") if w.marked
    ]
    assert marked == ["building", "steps"]
    assert not any(word.marked for word in mark_differences("a red cup", "a red cup"))


def test_letters_are_as_wide_as_they_are_drawn() -> None:
    made = page.Page(1.0)
    made.lines([plain_words("m" * 50)], 0.0, 0.0)
    (text,) = made.figure.axes[0].texts
    width = text.get_window_extent(made.figure.canvas.get_renderer()).width / made.figure.dpi  # type: ignore[attr-defined]
    plt.close(made.figure)
    assert width == pytest.approx(50 * page.LETTER, rel=0.02)


# several metrics


def test_methods_are_shown_in_percent_with_all_seeds(tmp_path: Path) -> None:
    measured = {
        "clip": {"d": by_seed({COMP: 0.4, ZS: 0.6})},
        "negclip": {"d": by_seed({COMP: 0.5, ZS: 0.5}, {COMP: 0.54, ZS: 0.52})},
    }
    columns = {"Comp": COMP, "ZS": ZS}
    paper = paper_of("holistic", {"CLIP": "clip", "NegCLIP": "negclip"}, columns)
    with styled():
        draw_holistic(Fake(measured), paper, "figure-1", Sheet(tmp_path / "f", "", []))  # type: ignore[arg-type]
    found = {(row["row"], row["metric"], row["seed"]): float(row["value"]) for row in read(tmp_path / "f")}
    assert found == pytest.approx(
        {
            ("CLIP", "Comp", "0"): 40,
            ("CLIP", "ZS", "0"): 60,
            ("NegCLIP", "Comp", "0"): 50,
            ("NegCLIP", "ZS", "0"): 50,
            ("NegCLIP", "Comp", "1"): 54,
            ("NegCLIP", "ZS", "1"): 52,
        }
    )
    text = (tmp_path / "f.svg").read_text()
    assert all(name in text for name in ("CLIP", "NegCLIP", "Comp", "ZS"))


def test_a_figure_of_nothing_is_drawn_all_the_same(tmp_path: Path) -> None:
    for kind, draw in (("holistic", draw_holistic), ("trajectories", trajectories.draw_trajectories)):
        sheet = NumbersOnly(tmp_path / kind, "", [])
        draw(Fake({}), paper_of(kind, {"CLIP": "clip"}, {"ZS": ZS, "Comp": COMP}), "figure-1", sheet)  # type: ignore[arg-type]
        assert len(sheet.numbers) == 1


# trajectories


def points(*rows: tuple[str, str, float, int, int]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["dataset", "model", "alpha", "seed", "planned"])


def test_a_trajectory_begins_at_the_untrained_model_and_has_the_seeds_that_all_points_have() -> None:
    found = trajectories.trajectories(
        points(
            *(("d", "CLIP", 0.0, seed, 2) for seed in (0, 1)),
            *(("d", "FSC", 1.0, seed, 2) for seed in (0, 1)),
            ("d", "FSC", 0.5, 1, 1),
            ("d", "plain", 1.0, 0, 2),  # nothing on its way
        )
    )
    assert list(found) == [("FSC", "d")]
    line = found["FSC", "d"]
    assert [(row.alpha, row.seed) for row in line.itertuples()] == [(0.0, 1), (0.5, 1), (1.0, 1)]


def test_an_untrained_model_that_is_asked_for_once_is_the_start_of_all_seeds() -> None:
    rows = [("d", "FSC", alpha, seed, 3) for alpha in (0.5, 1.0) for seed in (0, 1, 2)]
    line = trajectories.trajectories(points(("d", "CLIP", 0.0, 0, 1), *rows))["FSC", "d"]
    assert sorted(line[line["alpha"] == 0]["seed"]) == [0, 1, 2]


def test_points_are_told_by_the_alpha_that_was_scored(tmp_path: Path) -> None:
    class WithAlpha(Fake):
        def planned(self, track: str, name: str, benchmark: str) -> list[Recipe]:
            alphas = {"clip": {}, "half": {"scoring": {"alpha": 0.5}}, "whole": {"scoring": {"alpha": 1.0}}}
            labels = {"method": name, "dataset": benchmark, "seed": 0}
            document = {"settings": alphas[name], "name": name}
            return [Recipe("evaluations", name, document, labels=labels)]

    numbers = {"clip": (0.6, 0.4), "half": (0.62, 0.5), "whole": (0.55, 0.54)}
    measured = {name: {"d": by_seed({ZS: zs, COMP: comp})} for name, (zs, comp) in numbers.items()}
    paper = paper_of("trajectories", {"CLIP": "clip", "FSC at 0.5": "half", "FSC": "whole"}, {"ZS": ZS, "Comp": COMP})
    sheet = Sheet(tmp_path / "f", "", [])
    with styled():
        trajectories.draw_trajectories(WithAlpha(measured), paper, "figure-1", sheet)  # type: ignore[arg-type]
    found = [(row["model"], float(row["alpha"]), float(row["ZS"]), float(row["Comp"])) for row in read(tmp_path / "f")]
    assert found == [("CLIP", 0, 60, 40), ("FSC", 0.5, 62, 50), ("FSC", 1, 55, 54)]
    assert "FSC, d (n = 1)" in (tmp_path / "f.svg").read_text()


def test_a_model_without_one_of_the_measures_is_no_point(tmp_path: Path) -> None:
    measured = {"clip": {"d": by_seed({ZS: 0.6, COMP: 0.4})}, "fsc-clip": {"d": by_seed({ZS: 0.5})}}
    paper = paper_of("trajectories", {"CLIP": "clip", "FSC": "fsc-clip"}, {"ZS": ZS, "Comp": COMP})
    sheet = NumbersOnly(tmp_path / "f", "", [])
    trajectories.draw_trajectories(Fake(measured), paper, "figure-1", sheet)  # type: ignore[arg-type]
    assert [line.split(",")[1] for line in sheet.numbers[0].splitlines()] == ["model", "CLIP"]


# retrieval


@settings(max_examples=30)
@given(st.integers(0, 1000), st.integers(1, 6), st.integers(3, 9))
def test_the_nearest_captions_are_those_of_plain_loops(seed: int, images: int, captions: int) -> None:
    rng = np.random.default_rng(seed)
    left, right = rng.normal(size=(images, 4)), rng.normal(size=(captions, 4))
    found = retrieval.nearest_captions(left, right)
    for image in range(images):
        cosines = [sum(left[image] * right[caption]) for caption in range(captions)]
        best = sorted(range(captions), key=lambda caption: (-cosines[caption], caption))[:3]
        assert found.captions[image].tolist() == best
        assert found.cosines[image] == pytest.approx([cosines[caption] for caption in best])


def test_images_are_shown_that_the_last_model_tells_right_and_the_first_one_wrong_then_what_none_does() -> None:
    first = np.array([False, True, False, False, False, False])
    last = np.array([True, True, False, True, True, True])
    assert retrieval.select_images([first, last]) == [0, 3, 4, 2]


class StoredGallery(StoredPictures):
    """Evaluations of a pool of two drawn pictures."""

    def __init__(self, folder: Path, found: Mapping[str, np.ndarray]) -> None:
        suite = Suite(
            retrieval.POOL,
            (Picture("0.png"), Picture("1.png")),
            ("a red cup on a box", "a blue cup on a box", "another one"),
            {retrieval.POOL: Pool(np.array([0, 1]), np.array([0, 1, 2]), np.array([0, 1, 1]))},
        )
        super().__init__(folder, suite, found)
        for name, images in found.items():
            kept = {"shapes-suites/images": images, "shapes-suites/texts": np.eye(3, dtype=np.float32)}
            save_file(kept, folder / name / EMBEDDINGS)


def test_captions_that_models_find_are_told_right_or_wrong(tmp_path: Path) -> None:
    wrong = np.array([[0.5, 0.8, 0.1], [0.9, 0.2, 0.3]], dtype=np.float32)
    right = np.array([[0.8, 0.5, 0.1], [0.1, 0.2, 0.9]], dtype=np.float32)
    results = StoredGallery(tmp_path, {"clip": wrong, "fsc-clip": right})
    paper = paper_of("retrieval-examples", {"CLIP": "clip", "FSC-CLIP": "fsc-clip"})
    with styled():
        retrieval.draw_retrieval(results, paper, "figure-1", Sheet(tmp_path / "f", "", []))  # type: ignore[arg-type]
    found = [(row["image"], row["row"], row["rank"], row["caption"], row["right"]) for row in read(tmp_path / "f")]
    assert found[:6] == [
        ("0.png", "CLIP", "1", "a blue cup on a box", "False"),
        ("0.png", "CLIP", "2", "a red cup on a box", "True"),
        ("0.png", "CLIP", "3", "another one", "False"),
        ("0.png", "FSC-CLIP", "1", "a red cup on a box", "True"),
        ("0.png", "FSC-CLIP", "2", "a blue cup on a box", "False"),
        ("0.png", "FSC-CLIP", "3", "another one", "False"),
    ]
    assert [line[3:] for line in found if line[:3] == ("1.png", "FSC-CLIP", "1")] == [("another one", "True")]
    text = (tmp_path / "f.svg").read_text()
    assert text.count("\u2713") == 2 * 3 and text.count("\u2717") == 2 * 3
    assert (tmp_path / "f.png").stat().st_size > 10_000


def test_nothing_is_shown_where_a_row_is_missing(tmp_path: Path) -> None:
    results = StoredGallery(tmp_path, {"clip": np.eye(3, dtype=np.float32)[:2]})
    paper = paper_of("retrieval-examples", {"CLIP": "clip", "FSC-CLIP": "fsc-clip"})
    sheet = NumbersOnly(tmp_path / "f", "", [])
    retrieval.draw_retrieval(results, paper, "figure-1", sheet)  # type: ignore[arg-type]
    assert sheet.numbers == [",".join(retrieval.COLUMNS) + "\n"]


# hard negatives


def test_different_negatives_are_taken_in_the_order_in_which_they_were_drawn() -> None:
    drawn: Any = iter(["b", None, "a", "b", "c", "d"] * 10)
    assert negatives.distinct_negatives(None, lambda doc, rng: next(drawn), Random(0)) == ["b", "a", "c"]  # type: ignore[arg-type]
    assert negatives.distinct_negatives(None, lambda doc, rng: None, Random(0)) == []  # type: ignore[arg-type]


def test_captions_are_shown_with_negatives_of_every_kind(tmp_path: Path) -> None:
    Image.new("RGB", (30, 40), "red").save(tmp_path / "0.png")
    made = {
        "negclip": ["a box on a red cup in front of an old fence"],
        "replace": ["a blue cup on a box in front of an old fence"],
        "bi-gram shuffle": ["on a a red box in cup front of fence an old"],
    }
    example = negatives.Example("d", tmp_path, "0.png", "a red cup on a box in front of an old fence", made)
    with styled():
        drawn = negatives.draw_examples([example, example])
        Sheet(tmp_path / "f", "", []).write(pd.DataFrame(), lambda: drawn.figure)
    marked = [text.get_text() for text in drawn.figure.axes[0].texts if text.get_color() == WRONG]
    swapped = [word.text for word in mark_differences(example.caption, made["negclip"][0]) if word.marked]
    assert marked == [*swapped, "blue"] * 2
    assert "shuffle" in (tmp_path / "f.svg").read_text()


def test_captions_are_read_without_torch_which_is_to_be_had_afterwards() -> None:
    code = (
        "import sys, importlib.util\n"
        "from recompose.tracks.vlc.figures.negatives import without_torch\n"
        "with without_torch():\n"
        "    import spacy\n"
        "print('torch' in sys.modules, len(spacy.blank('en')('a red cup')), bool(importlib.util.find_spec('torch')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "3", "True"]


def test_a_corpus_without_negatives_gives_an_empty_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Captions(("0.png",), ("cup",)).write(tmp_path)
    monkeypatch.setattr(negatives, "read_docs", lambda index: [])
    monkeypatch.setattr("recompose.tracks.vlc.text.lexicon.WordNet", lambda folder: None)
    data = Recipe("data", "d", {})
    results: Any = SimpleNamespace(
        benchmarks=lambda track: ["d"],
        data=lambda track, name: data,
        folder=lambda of: tmp_path,
        raw=lambda of: tmp_path,
    )
    sheet = NumbersOnly(tmp_path / "f", "", [])
    negatives.draw_negatives(results, paper_of("hard-negatives", {}), "figure-1", sheet)
    assert sheet.numbers == [",".join(negatives.COLUMNS) + "\n"]
