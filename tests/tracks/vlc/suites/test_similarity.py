"""Semantic textual similarity: correlations beside loops and scipy's, and the drawn sentences beside what they say."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr

from recompose.errors import ArgumentError, DataError
from recompose.synthetic.sentences import Entity, Scene
from recompose.tracks.vlc.data.counts import check_counts
from recompose.tracks.vlc.data.suite import Similarity, Suite
from recompose.tracks.vlc.data.suites_on_disk import read_suite
from recompose.tracks.vlc.data.synthetic_suites.photos import SuiteReplicate
from recompose.tracks.vlc.data.synthetic_suites.similarity import draw_similarity, facts, similarity
from recompose.tracks.vlc.suites.aggregation import SIMILARITY
from recompose.tracks.vlc.suites.catalogue import SIMILARITIES
from recompose.tracks.vlc.suites.metric_values import check, counts, metrics
from recompose.tracks.vlc.suites.metrics import pearson, spearman
from recompose.tracks.vlc.suites.scores import Features, suite_scores
from tests.errors import raises

NUMBERS = st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 5)), min_size=2, max_size=30)


@given(NUMBERS)
def test_correlations_are_those_of_scipy(pairs: list[tuple[int, int]]) -> None:
    scores, grades = (np.array(each, dtype=np.float32) for each in zip(*pairs, strict=True))
    assume(len({*scores.tolist()}) > 1 and len({*grades.tolist()}) > 1)
    assert pearson(scores, grades) == pytest.approx(pearsonr(scores, grades).statistic, abs=1e-6)
    assert spearman(scores, grades) == pytest.approx(spearmanr(scores, grades).statistic, abs=1e-9)


def test_without_ties_it_is_spearman_s_formula() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.permutation(20), rng.permutation(20)
    expected = 1 - 6 * sum((int(a) - int(b)) ** 2 for a, b in zip(one, other, strict=True)) / (20 * (20**2 - 1))
    assert spearman(np.exp(one / 5), other**3.0) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("scores", "grades", "place"),
    [
        ([0.5], [1.0], "scores"),
        ([0.5, 0.1], [1.0, 2.0, 3.0], "scores"),
        ([0.5, np.nan], [1.0, 2.0], "scores"),
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
    scores = suite_scores(suite, Features(np.empty((0, 5), dtype=np.float32), texts, np.empty(0, dtype=int), rows))
    cosines = [float(texts[6] @ texts[2]), float(texts[0] @ texts[2]), float(texts[3] @ texts[0])]
    assert scores["sick"].tolist() == pytest.approx(cosines, abs=1e-6)
    assert counts([suite], scores)["sick"] == (3, 0)
    assert metrics([suite], scores) == {
        "test/sick": pytest.approx(spearmanr(cosines, task.graded).statistic),
        "test/sick/pearson": pytest.approx(pearsonr(cosines, task.graded).statistic, abs=1e-6),
    }


def test_published_sets_have_all_their_pairs() -> None:
    assert set(SIMILARITIES) == set(SIMILARITY)
    none = np.zeros(1379, dtype=int)
    check_counts(Suite("sts_b", (), ("a",), {"sts_b": Similarity(none, none, none.astype(float))}))
    with raises(DataError, "wrong-count", "sick"):
        check_counts(Suite("sick", (), ("a",), {"sick": Similarity(none, none, none.astype(float))}))


# drawn ones


@pytest.fixture(scope="module")
def suites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Suite]]:
    root: Path = tmp_path_factory.mktemp("world")
    draw_similarity(SuiteReplicate(root, 3))
    yield [read_suite("sick", root), read_suite("sts_b", root)]


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


def words_of(text: str) -> set[str]:
    return {word.removesuffix("s") for word in text.split()} - {"a", "an", "the", "to", "of", "is", "photo", "picture"}


def test_drawn_grades_are_spread_and_go_with_what_sentences_share(suites: list[Suite]) -> None:
    for suite, (lowest, highest) in zip(suites, [(1, 5), (0, 5)], strict=True):
        task = suite.tasks[suite.name]
        assert isinstance(task, Similarity)
        assert len(task.graded) == 160
        assert task.graded.max() == highest and task.graded.min() < lowest + 0.5
        assert len(set(task.graded.tolist())) >= 10
        shared = []
        for one, other in zip(task.first, task.second, strict=True):
            first, second = words_of(suite.texts[one]), words_of(suite.texts[other])
            shared.append(len(first & second) / len(first | second))
        assert 0.5 < spearman(shared, task.graded) < 0.95  # words alone do not tell


def test_paraphrases_are_other_texts(suites: list[Suite]) -> None:
    task = suites[0].tasks["sick"]
    assert isinstance(task, Similarity)
    best = task.graded == 5
    assert best.sum() >= 20
    assert (task.first[best] != task.second[best]).mean() > 0.5
