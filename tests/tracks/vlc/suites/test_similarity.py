"""Semantic textual similarity: correlations beside loops and scipy's, and the drawn sentences beside what they say."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr

from recompose.errors import ArgumentError
from recompose.synthetic.sentences import Entity, Scene
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.data.synthetic_suites.similarity import facts, similarity
from recompose.tracks.vlc.suites.accuracy import pearson, spearman
from recompose.tracks.vlc.suites.scores import Features
from recompose.tracks.vlc.suites.tasks import Similarity
from recompose.tracks.vlc.suites.values import check, counts, metrics
from tests.errors import raises

NUMBERS = st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 5)), min_size=2, max_size=30)


@given(NUMBERS)
def test_correlations_are_those_of_scipy(pairs: list[tuple[int, int]]) -> None:
    scores, grades = (np.array(each, dtype=np.float32) for each in zip(*pairs, strict=True))
    assume(len({*scores.tolist()}) > 1 and len({*grades.tolist()}) > 1)
    assert pearson(scores, grades) == pytest.approx(pearsonr(scores, grades).statistic, abs=1e-6)
    assert spearman(scores, grades) == pytest.approx(spearmanr(scores, grades).statistic, abs=1e-9)


@pytest.mark.parametrize(
    ("scores", "grades", "place"),
    [
        ([0.5], [1.0], "scores"),
        ([0.5, 0.5], [1.0, 2.0], "scores"),
        ([0.5, 0.1], [3.0, 3.0], "grades"),
    ],
)
def test_what_has_no_correlation_is_said(scores: list[float], grades: list[float], place: str) -> None:
    for correlation in (spearman, pearson):
        with raises(ArgumentError, place=place):
            correlation(scores, grades)


def test_a_suite_is_measured_by_cosines_of_its_texts() -> None:
    rng = np.random.default_rng(1)
    texts = rng.standard_normal((7, 5)).astype(np.float32)
    texts /= np.linalg.norm(texts, axis=1, keepdims=True)
    rows = np.array([6, 0, 3, 2])
    task = Similarity(np.array([0, 1, 2]), np.array([3, 3, 1]), np.array([2.0, 5.0, 1.0]))
    suite = Suite("sick", (), ("a", "b", "c", "d"), {"sick": task})
    check([suite])
    scores = suite.scores(Features(np.empty((0, 5), dtype=np.float32), texts, np.empty(0, dtype=int), rows))
    cosines = [float(texts[6] @ texts[2]), float(texts[0] @ texts[2]), float(texts[3] @ texts[0])]
    assert scores["sick"].tolist() == pytest.approx(cosines, abs=1e-6)
    assert counts([suite], scores)["sick"] == (3, 0)
    assert metrics([suite], scores) == {
        "test/sick": pytest.approx(spearmanr(cosines, task.graded).statistic),
        "test/sick/pearson": pytest.approx(pearsonr(cosines, task.graded).statistic, abs=1e-6),
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
