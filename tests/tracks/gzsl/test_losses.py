"""Cross-entropy, self-calibration, the contrast of images and the losses of patterns against plain loops, and their
gradients against finite differences of these loops.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from recompose.errors import ArgumentError
from recompose.tracks.gzsl.losses import (
    calibration_mask,
    compactness,
    cross_entropy,
    nearest_patterns,
    self_calibration,
    triplet,
    visual_contrast,
)
from recompose.tracks.gzsl.methods.parts.settings import (
    CalibrationForm,
    CalibrationMask,
    CompetingClasses,
    PatternDistance,
)
from tests.errors import raises
from tests.tracks.gzsl.gradients import Rows, assert_value_and_gradients

SEEN = [True, False, True, False, True]
seen_classes = torch.tensor(SEEN)
MASKS: dict[str, list[float]] = {"signed": [-1, 1, -1, 1, -1], "unseen": [0, 1, 0, 1, 0]}


def normal(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def softmax(row: list[float]) -> list[float]:
    total = sum(math.exp(one) for one in row)
    return [math.exp(one) / total for one in row]


# cross-entropy


def cross_entropy_by_loop(rows: Rows, targets: list[int], among: str) -> float:
    total = 0.0
    for row, target in zip(rows, targets, strict=True):
        classes = [c for c in range(len(row)) if among == "all" or SEEN[c]]
        total -= math.log(softmax([row[c] for c in classes])[classes.index(target)])
    return total / len(rows)


@pytest.mark.parametrize("among", ["all", "seen"])
def test_cross_entropy_and_its_gradient_are_the_loop_s(among: CompetingClasses) -> None:
    targets = [0, 4, 2, 2]
    assert_value_and_gradients(
        lambda scores: cross_entropy(scores, torch.tensor(targets), seen_classes, among),
        lambda rows: cross_entropy_by_loop(rows, targets, among),
        [normal(0, 4, 5)],
    )


# self-calibration


def calibration_by_loop(rows: Rows, mask: str, form: str) -> float:
    probabilities = [softmax([one + more for one, more in zip(row, MASKS[mask], strict=True)]) for row in rows]
    unseen = [[p for p, is_seen in zip(row, SEEN, strict=True) if not is_seen] for row in probabilities]
    if form == "transzero":
        return -math.log(sum(sum(row) for row in unseen) / len(rows))
    return -sum(math.log(p) for row in unseen for p in row) / len(rows)


@pytest.mark.parametrize("mask", list(MASKS))
@pytest.mark.parametrize("form", ["transzero", "crest"])
def test_self_calibration_and_its_gradient_are_the_loop_s(mask: CalibrationMask, form: CalibrationForm) -> None:
    assert calibration_mask(seen_classes, mask).tolist() == MASKS[mask]
    assert_value_and_gradients(
        lambda scores: self_calibration(scores, seen_classes, mask, form),
        lambda rows: calibration_by_loop(rows, mask, form),
        [2 * normal(3, 4, 5)],
    )


def test_self_calibration_stays_finite_where_probabilities_vanish() -> None:
    scores = torch.zeros(3, 5)
    scores[:, seen_classes] = 200.0
    scores.requires_grad_()
    loss = self_calibration(scores, seen_classes)
    loss.backward()
    masses = torch.softmax(scores.detach() + calibration_mask(seen_classes), dim=1)[:, ~seen_classes].sum(dim=1)
    assert masses.max() == 0  # its logarithm, taken as released, is infinite
    assert loss.item() == pytest.approx(200 - 2 + math.log(3 / 2), rel=1e-6)
    assert scores.grad is not None and scores.grad.isfinite().all() and (scores.grad[:, ~seen_classes] < 0).all()


# the contrast of images


def cosine(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


def positive_of(anchor: int, rows: Rows, targets: list[int], threshold: float) -> int | None:
    others = [image for image in range(len(rows)) if image != anchor]
    kin = [image for image in others if targets[image] == targets[anchor]]
    similarity = {image: cosine(rows[anchor], rows[image]) for image in others}
    nearest_kin = max(kin, key=lambda image: similarity[image], default=None)
    if nearest_kin is not None and similarity[nearest_kin] >= threshold:
        return nearest_kin
    return max(others, key=lambda image: similarity[image], default=None)


def contrast_by_loop(rows: Rows, targets: list[int], temperature: float, threshold: float) -> float:
    total = 0.0
    for anchor in range(len(rows)):
        positive = positive_of(anchor, rows, targets, threshold)
        if positive is None:
            continue
        near = math.exp(cosine(rows[anchor], rows[positive]) / temperature)
        far = 0.0
        for image in range(len(rows)):
            if targets[image] != targets[anchor] and image != positive:
                far += math.exp(cosine(rows[anchor], rows[image]) / temperature)
        total -= math.log(near / (near + far))
    return total / len(rows)


@pytest.mark.parametrize("threshold", [-math.inf, -1.0, 0.0, 0.5, 2.0])
@pytest.mark.parametrize("targets", [[0, 0, 1, 1, 2, 0], [0, 1, 2, 3, 4, 5], [1, 1, 1, 1, 1, 1]])
def test_the_contrast_and_its_gradient_are_the_loop_s(targets: list[int], threshold: float) -> None:
    assert_value_and_gradients(
        lambda features: visual_contrast(features, torch.tensor(targets), 0.3, threshold),
        lambda rows: contrast_by_loop(rows, targets, 0.3, threshold),
        [normal(4, 6, 3)],
    )


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 3), min_size=1, max_size=7), st.floats(-1, 1))
def test_the_contrast_is_the_loop_s_whatever_the_batch(seed: int, targets: list[int], threshold: float) -> None:
    features = normal(seed, len(targets), 3)
    loss = visual_contrast(torch.tensor(features), torch.tensor(targets), 0.2, threshold).item()
    assert loss == pytest.approx(contrast_by_loop(features.tolist(), targets, 0.2, threshold), rel=1e-9, abs=1e-9)
    assert loss >= -1e-9
    lengths = np.random.default_rng(seed).uniform(0.5, 2, size=(len(targets), 1))
    scaled = visual_contrast(torch.tensor(lengths * features), torch.tensor(targets), 0.2, threshold).item()
    assert scaled == pytest.approx(loss, rel=1e-6, abs=1e-9)


# patterns of the memory


def nearest_by_loop(query: list[float], patterns: Rows) -> list[list[float]]:
    """The patterns of the highest and of the second highest dot product."""
    return sorted(patterns, key=lambda pattern: -sum(q * p for q, p in zip(query, pattern, strict=True)))[:2]


def square(a: list[float], b: list[float], each: float = 0.0) -> float:
    return sum((x - y + each) ** 2 for x, y in zip(a, b, strict=True))


def triplet_by_loop(queries: Rows, patterns: Rows, margin: float, distance: str) -> float:
    total = 0.0
    for query in queries:
        near, far = nearest_by_loop(query, patterns)
        if distance == "released":  # adds 1e-6 to each component
            total += max(math.sqrt(square(query, near, 1e-6)) - math.sqrt(square(query, far, 1e-6)) + margin, 0)
        else:
            total += max(square(query, near) - square(query, far) + margin, 0)
    return total if distance == "sum" else total / len(queries)


def compactness_by_loop(queries: Rows, patterns: Rows, distance: str) -> float:
    total = sum(square(query, nearest_by_loop(query, patterns)[0]) for query in queries)
    of = {"released": len(queries) * len(queries[0]), "mean": len(queries), "sum": 1}[distance]
    return total / of


def triplet_of(queries: Tensor, patterns: Tensor, margin: float, distance: PatternDistance) -> Tensor:
    return triplet(queries, *nearest_patterns(queries, patterns), margin, distance)


@pytest.mark.parametrize("distance", ["released", "mean", "sum"])
@pytest.mark.parametrize("margin", [0.2, 1.0])
def test_the_losses_of_patterns_and_their_gradients_are_the_loops(distance: PatternDistance, margin: float) -> None:
    matrices = [normal(6, 6, 3), normal(7, 4, 3)]
    assert_value_and_gradients(
        lambda queries, patterns: triplet_of(queries, patterns, margin, distance),
        lambda queries, patterns: triplet_by_loop(queries, patterns, margin, distance),
        matrices,
    )
    assert_value_and_gradients(
        lambda queries, patterns: compactness(queries, nearest_patterns(queries, patterns)[0], distance),
        lambda queries, patterns: compactness_by_loop(queries, patterns, distance),
        matrices,
    )


def test_queries_of_regions_of_images_are_one_list_of_queries() -> None:
    queries, patterns = torch.tensor(normal(8, 2, 5, 3)), torch.tensor(normal(9, 4, 3))
    near, far = nearest_patterns(queries, patterns)
    assert near.shape == far.shape == queries.shape
    distances: list[PatternDistance] = ["released", "mean", "sum"]
    for distance in distances:
        rows, memory = queries.flatten(0, 1).tolist(), patterns.tolist()
        assert triplet(queries, near, far, 1.0, distance).item() == pytest.approx(
            triplet_by_loop(rows, memory, 1.0, distance)
        )
        assert compactness(queries, near, distance).item() == pytest.approx(compactness_by_loop(rows, memory, distance))


# bad input

NONE: Any = "none"
SCORES, FEATURES, PATTERNS = torch.zeros(2, 5), torch.zeros(2, 3), torch.eye(3)
WRONG: list[tuple[Callable[[], Any], str, str]] = [
    (lambda: cross_entropy(SCORES, torch.tensor([0, 1]), seen_classes), "unseen-class", "targets"),
    (lambda: cross_entropy(SCORES, torch.tensor([0, 5]), seen_classes), "unknown-class", "targets"),
    (lambda: cross_entropy(SCORES, torch.tensor([0]), seen_classes), "wrong-shape", "targets"),
    (lambda: cross_entropy(SCORES, torch.tensor([True, True]), seen_classes), "wrong-type", "targets"),
    (lambda: cross_entropy(SCORES, torch.tensor([0, 0]), seen_classes[:4]), "wrong-shape", "seen"),
    (lambda: cross_entropy(SCORES, torch.tensor([0, 0]), seen_classes.int()), "wrong-shape", "seen"),
    (lambda: cross_entropy(SCORES, torch.tensor([0, 0]), seen_classes, NONE), "unknown-choice", "among"),
    (lambda: self_calibration(SCORES, torch.ones(5, dtype=torch.bool)), "no-unseen-class", "seen"),
    (lambda: self_calibration(SCORES[0], seen_classes), "wrong-shape", "seen"),
    (lambda: self_calibration(SCORES, seen_classes, NONE), "unknown-choice", "mask"),
    (lambda: self_calibration(SCORES, seen_classes, form=NONE), "unknown-choice", "form"),
    (lambda: visual_contrast(FEATURES, torch.tensor([0])), "wrong-shape", "features"),
    (lambda: visual_contrast(FEATURES[:0], torch.tensor([])), "wrong-shape", "features"),
    (lambda: visual_contrast(FEATURES, torch.tensor([0, 1]), temperature=0), "argument", "temperature"),
    (lambda: nearest_patterns(FEATURES, PATTERNS[:1]), "wrong-shape", "patterns"),
    (lambda: nearest_patterns(FEATURES, PATTERNS[:, :2]), "wrong-shape", "patterns"),
    (lambda: triplet(FEATURES, FEATURES, FEATURES[:1]), "wrong-shape", "patterns"),
    (lambda: compactness(FEATURES, FEATURES[:1]), "wrong-shape", "patterns"),
    (lambda: compactness(FEATURES, FEATURES, NONE), "unknown-choice", "distance"),
]


@pytest.mark.parametrize(("call", "code", "argument"), WRONG)
def test_bad_input_is_named(call: Callable[[], Any], code: str, argument: str) -> None:
    with raises(ArgumentError, code, place=argument):
        call()
