"""What is kept of attribution: its file, and what follows from it, against plain loops."""

import math
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from recompose.errors import ArgumentError, DataError
from recompose.tracks.vlc.attribution import store
from recompose.tracks.vlc.attribution.store import (
    Attributed,
    cumulative_accuracy,
    ratios,
    read,
    spans,
    write,
)
from tests.errors import raises
from tests.tracks.vlc.attributions import made_up

SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=20)
@given(SEEDS)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    path = tmp_path_factory.mktemp("kept") / store.FILE
    kept = {"aro/vg_relation": made_up(seed), "aro/vg_attribution": made_up(seed + 1, texts=3)}
    write(kept, path)
    result = read(path)
    assert set(result) == set(kept)
    for task, each in kept.items():
        for field in fields(Attributed):
            own, other = getattr(each, field.name), getattr(result[task], field.name)
            pairs = ((own[name], other[name]) for name in own) if isinstance(own, dict) else ((own, other),)
            for first, second in pairs:
                assert first.dtype == second.dtype
                np.testing.assert_array_equal(first, second)
        assert result[task].scores.keys() == each.scores.keys()


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"similarity": np.zeros(5)}, "similarity"),
        ({"scores": {"gradcam": np.zeros((6, 8))}}, "scores"),
        ({"shown": np.array([0, 6])}, "shown"),
    ],
)
def test_arrays_that_do_not_belong_together_are_told(changed: dict[str, object], place: str) -> None:
    with raises(ArgumentError, place=place):
        replace(made_up(0), **changed)  # type: ignore[arg-type]


def test_a_file_of_something_else_is_told_by_its_name(tmp_path: Path) -> None:
    save_file({"scores": np.zeros(3)}, tmp_path / "a.safetensors")
    with raises(DataError, "wrong-arrays", place="a.safetensors"):
        read(tmp_path / "a.safetensors")


@given(SEEDS)
def test_ratios_are_those_of_plain_loops(seed: int) -> None:
    kept = made_up(seed)
    for method, scores in kept.scores.items():
        result = ratios(kept, method)
        for text, ratio in enumerate(result):
            means = [
                [score for score, mark in zip(scores[text], marked[text], strict=True) if mark and score == score]
                for marked in (kept.composition, kept.objects)
            ]
            if all(means):
                above, below = (math.fsum(map(float, own)) / len(own) for own in means)
                assert ratio == pytest.approx(above / below)
            else:
                assert math.isnan(ratio)


def test_objects_that_nothing_is_attributed_to_have_no_ratio() -> None:
    kept = replace(made_up(0), scores={"gradcam": np.zeros((6, 7))})
    assert np.isnan(ratios(kept, "gradcam")).all()


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
