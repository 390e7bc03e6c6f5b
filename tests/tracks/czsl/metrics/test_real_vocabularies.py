"""Evaluation with the benchmarks' real lists of pairs at their real sizes, in the folder named by
RECOMPOSE_REAL_DATA.
"""

import json
import math
import os
from fractions import Fraction
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from recompose.tracks.czsl.data.compositional import read_pairs
from recompose.tracks.czsl.data.layout import SPLIT_NAME
from recompose.tracks.czsl.data.pairs import SPLITS, Pair, PairData, Sample
from recompose.tracks.czsl.metric_names import GROUPS
from recompose.tracks.czsl.metric_values import compute_metrics
from recompose.tracks.czsl.metrics import thresholds as calibration
from recompose.tracks.czsl.metrics.czsl import Best, report_of
from recompose.tracks.czsl.metrics.feasibility import feasibility
from recompose.tracks.czsl.metrics.groups import frequency_groups
from recompose.tracks.czsl.metrics.worlds import PairScores, World, score_worlds
from tests.tracks.czsl.metrics.derivations import close, group_names

if not os.environ.get("RECOMPOSE_REAL_DATA"):
    pytest.skip("RECOMPOSE_REAL_DATA names no folder of real annotation files", allow_module_level=True)

REAL = Path(os.environ["RECOMPOSE_REAL_DATA"]) / "czsl"
IMAGES = {"mit-states": 300, "ut-zappos": 400, "cgqa": 120}  # of validation, and as many of test
SIZES = {"mit-states": (1962, 28_175), "ut-zappos": (116, 192), "cgqa": (7_767, 278_362)}  # pairs of both worlds


class Case(NamedTuple):
    """A data set with all scores of its images, and what was found with them."""

    data: PairData
    dense: np.ndarray  # [samples, pairs of the open world]; rows of training's images are empty
    feasibility: np.ndarray
    scores: PairScores


def listed(name: str) -> dict[str, list[Pair]]:
    """The pairs of each split; C-GQA's unseen ones, which its list does not tell apart, are shared out."""
    folder = REAL / name / SPLIT_NAME
    if name != "cgqa":
        return {split: read_pairs(folder / f"{split}_pairs.txt") for split in SPLITS}
    train, unseen = (read_pairs(folder / f"{file}_pairs.txt") for file in ("train", "unseen_val_or_test"))
    return {"train": train, "val": [*train[:1040], *unseen[:1252]], "test": [*train[-888:], *unseen[1252:]]}


def samples(name: str, pairs: dict[str, list[Pair]]) -> list[Sample]:
    """Images of the real pairs; of training as many as there are where annotations say so."""
    rng = np.random.default_rng(1)
    if name == "cgqa":
        records = json.loads((REAL / name / "images_attr_obj.json").read_text())
        seen = set(pairs["train"])
        shown = [label for label in ((record["attr"], record["obj"]) for record in records) if label in seen]
    else:
        shown = [pairs["train"][index] for index in (rng.pareto(1, 5000) * 3).astype(int) % len(pairs["train"])]
    labels = [("train", pair) for pair in shown]
    for split in ("val", "test"):
        mixed = [pairs[split][index] for index in rng.permutation(len(pairs[split]))]
        labels += [(split, pair) for pair in islice(cycle(mixed), IMAGES[name])]
    return [Sample(f"{number}.jpg", *pair, split) for number, (split, pair) in enumerate(labels)]


@pytest.fixture(scope="module", params=IMAGES)
def case(request: pytest.FixtureRequest) -> Case:
    pairs = listed(request.param)
    data = PairData(pairs, samples(request.param, pairs))
    rng = np.random.default_rng(2)
    column = {pair: index for index, pair in enumerate((s, o) for s in data.states for o in data.objects)}
    tested = [row for row, sample in enumerate(data.samples) if sample.split != "train"]
    first = tested[0]
    dense = rng.standard_normal((len(tested), len(column)), dtype=np.float32)
    for row in tested[::2]:
        dense[row - first, column[data.samples[row].state, data.samples[row].object]] += 4
    np.round(dense, 1, out=dense)  # many ties
    assert tested == list(range(first, len(data.samples)))
    vectors = rng.normal(size=(len(data.states), 5)), rng.normal(size=(len(data.objects), 5))
    seen = np.zeros((len(data.states), len(data.objects)), dtype=bool)
    for state, name in pairs["train"]:
        seen[data.states.index(state), data.objects.index(name)] = True
    of_pairs = feasibility(*vectors, seen).round(3)

    def score(rows: np.ndarray, pairs: list[Pair]) -> np.ndarray:
        return dense[rows - first][:, [column[pair] for pair in pairs]]

    return Case(data, dense, of_pairs, score_worlds(data, score, of_pairs))


def assert_direct(best: Best, scores: np.ndarray, targets: list[int], seen: np.ndarray, allowed: np.ndarray) -> None:
    """The best pairs are those of a whole matrix; NumPy's argmax is the first of equal ones."""
    for kind, flags in (("seen", seen & allowed), ("unseen", ~seen & allowed)):
        pairs = np.flatnonzero(flags)
        winner = pairs[scores[:, pairs].argmax(axis=1)] if len(pairs) else np.full(len(scores), -1)
        score = scores[np.arange(len(scores)), winner] if len(pairs) else np.full(len(scores), -np.inf)
        np.testing.assert_array_equal(getattr(best, f"{kind}_pair"), winner)
        np.testing.assert_array_equal(getattr(best, f"{kind}_score"), score)
    assert best.target.tolist() == targets
    assert best.is_seen.tolist() == seen[targets].tolist()


class Direct(NamedTuple):
    """A split in a world, from the lists and the whole matrix."""

    scores: np.ndarray
    targets: list[int]
    seen: np.ndarray
    allowed: np.ndarray


def direct(case: Case, split: str, world: str) -> Direct:
    lists = case.data.pairs_of
    everything = [(state, name) for state in case.data.states for name in case.data.objects]
    column = {pair: index for index, pair in enumerate(everything)}
    pairs = everything if world == "open" else sorted({*lists["train"], *lists["val"], *lists["test"]})
    place = {pair: index for index, pair in enumerate(pairs)}
    train, allowed = set(lists["train"]), {*lists["train"], *lists[split]}
    first = len(case.data.samples) - len(case.dense)
    rows = [row for row, sample in enumerate(case.data.samples) if sample.split == split]
    return Direct(
        case.dense[np.array(rows) - first][:, [column[pair] for pair in pairs]],
        [place[case.data.samples[row].state, case.data.samples[row].object] for row in rows],
        np.array([pair in train for pair in pairs]),
        np.array([world == "open" or pair in allowed for pair in pairs]),
    )


def test_worlds_have_their_real_sizes(case: Case, request: pytest.FixtureRequest) -> None:
    name = request.node.callspec.params["case"]
    closed, everything = World.closed(case.data), World.open(case.data)
    assert (len(closed.pairs), len(everything.pairs)) == SIZES[name]
    assert closed.seen.sum() == everything.seen.sum() == len(case.data.pairs_of["train"])
    if name == "mit-states":
        assert [int(closed.candidates[split].sum()) for split in ("val", "test")] == [1262 + 300, 1262 + 400]


@pytest.mark.parametrize("world", ["closed", "open"])
@pytest.mark.parametrize("split", ["val", "test"])
def test_blocks_equal_a_whole_matrix(case: Case, split: str, world: str) -> None:
    assert_direct(case.scores.bests[split, world], *direct(case, split, world))


def test_ladders_equal_a_whole_matrix_at_thresholds_of_all_heights(case: Case) -> None:
    ladder, whole = case.scores.ladders["test"], direct(case, "test", "open")
    flat = case.feasibility.ravel()
    distinct = np.unique(flat[~whole.seen])
    np.testing.assert_array_equal(ladder.thresholds, distinct)
    for threshold in [*np.quantile(distinct, [0, 0.3, 0.7, 0.95, 1], method="nearest").tolist(), 2.0]:
        assert_direct(ladder.at(threshold), *whole._replace(allowed=whole.seen | (flat >= threshold)))


def test_multiplied_scores_equal_a_whole_matrix(case: Case) -> None:
    whole = direct(case, "val", "open")
    stored = np.where(whole.seen, 0, case.feasibility.ravel())
    for threshold in (-0.1, 0.3):
        multiplied = whole.scores * ((stored >= threshold).astype(np.float32) + whole.seen)
        best = calibration.released_calibration(case.scores.ladders["val"], threshold)
        assert_direct(best, *whole._replace(scores=multiplied))


def test_aucs_are_shares_of_couples_at_thresholds_of_all_heights(case: Case) -> None:
    ladder, whole = case.scores.ladders["val"], direct(case, "val", "open")
    actual = dict(zip(ladder.thresholds.tolist(), calibration.aucs(ladder).tolist(), strict=True))
    target, flat = np.array(whole.targets), case.feasibility.ravel()
    kind = whole.seen[target]
    seen = whole.scores[:, whole.seen].astype(np.float64)
    seen_right = np.flatnonzero(whole.seen)[seen.argmax(axis=1)] == target
    for threshold in np.quantile(ladder.thresholds, [0, 0.4, 0.8, 1], method="nearest").tolist():
        admitted = np.flatnonzero(~whole.seen & (flat >= threshold))
        unseen = whole.scores[:, admitted].astype(np.float64)
        unseen_right = admitted[unseen.argmax(axis=1)] == target
        turn = seen.max(axis=1) - unseen.max(axis=1)
        lost, won = turn[kind & seen_right], turn[~kind & unseen_right]
        couples = sum(Fraction(1) if w < at else Fraction(1, 2) if w == at else Fraction(0) for at in lost for w in won)
        assert actual[threshold] == close(float(couples / int(kind.sum()) / int((~kind).sum())))
        assert actual[threshold] == close(report_of(ladder.at(threshold)).auc)
    best = max(actual.values())
    assert calibration.best_threshold(ladder) == min(threshold for threshold, auc in actual.items() if auc == best)


def test_feasibility_of_a_sample_of_pairs_is_that_of_plain_loops(case: Case) -> None:
    rng, train = np.random.default_rng(3), set(case.data.pairs_of["train"])
    states = {name: rng.normal(size=20).tolist() for name in case.data.states}
    objects = {name: rng.normal(size=20).tolist() for name in case.data.objects}

    def cosine(one: list[float], other: list[float]) -> float:
        dot = math.fsum(a * b for a, b in zip(one, other, strict=True))
        return dot / math.hypot(*one) / math.hypot(*other)

    seen = np.array([[(state, name) in train for name in objects] for state in states])
    actual = feasibility(np.array([*states.values()]), np.array([*objects.values()]), seen)
    for _ in range(60):
        row, column = int(rng.integers(len(states))), int(rng.integers(len(objects)))
        state, name = case.data.states[row], case.data.objects[column]
        of_object = max((cosine(objects[name], objects[other]) for s, other in train if s == state), default=-1)
        of_state = max((cosine(states[state], states[other]) for other, o in train if o == name), default=-1)
        assert actual[row, column] == close((of_object + of_state) / 2)
    assert np.allclose(actual[seen], 1, rtol=0, atol=1e-12)


@pytest.mark.parametrize("world", ["closed", "open"])
def test_frequency_groups_are_those_of_plain_loops(case: Case, world: str) -> None:
    own = World.closed(case.data) if world == "closed" else World.open(case.data)
    counts: dict[Pair, int] = {}
    for sample in case.data.samples:
        if sample.split == "train":
            counts[sample.state, sample.object] = counts.get((sample.state, sample.object), 0) + 1
    shown, train = [counts.get(pair, 0) for pair in own.pairs], set(case.data.pairs_of["train"])
    expected = group_names(shown, [pair in train for pair in own.pairs])
    assert own.training_images.tolist() == shown
    assert [GROUPS[group] for group in frequency_groups(own.training_images, own.seen)] == expected
    sizes = [expected.count(name) for name in ("head", "medium", "tail")]
    assert sizes[0] == round(len(train) / 5)
    assert sum(sizes) == len(train)


def test_all_worlds_have_numbers_and_a_file_holds_them(case: Case, tmp_path: Path) -> None:
    actual = compute_metrics(case.data, case.scores)
    worlds = {name.removesuffix("/dense/auc") for name in actual if name.endswith("/dense/auc")}
    assert len(worlds) == 8
    for world in worlds:
        assert 0 < actual[f"{world}/field/auc"] <= actual[f"{world}/dense/auc"] < 1
    case.scores.write(tmp_path / "scores")
    assert compute_metrics(case.data, PairScores.read(tmp_path / "scores")) == actual
    assert (tmp_path / "scores").stat().st_size < 30_000_000
