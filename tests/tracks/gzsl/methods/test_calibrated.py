"""Cross-entropy and self-calibration against plain loops, and their gradients against finite differences of them."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from recompose.errors import ArgumentError
from recompose.tracks.gzsl.methods.calibrated import calibration_mask, cross_entropy, self_calibration
from recompose.tracks.gzsl.methods.settings import CalibrationForm, CalibrationMask, CompetingClasses
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


# bad input

SCORES = torch.zeros(2, 5)
WRONG: list[tuple[Callable[[], Any], str, str]] = [
    (lambda: cross_entropy(SCORES, torch.tensor([0, 1]), seen_classes), "unseen-class", "targets"),
    (lambda: cross_entropy(SCORES, torch.tensor([0, 5]), seen_classes), "unknown-class", "targets"),
    (lambda: cross_entropy(SCORES, torch.tensor([0]), seen_classes), "wrong-shape", "targets"),
    (lambda: cross_entropy(SCORES, torch.tensor([True, True]), seen_classes), "wrong-type", "targets"),
    (lambda: cross_entropy(SCORES, torch.tensor([0, 0]), seen_classes[:4]), "wrong-shape", "seen"),
    (lambda: cross_entropy(SCORES, torch.tensor([0, 0]), seen_classes.int()), "wrong-shape", "seen"),
    (lambda: self_calibration(SCORES, torch.ones(5, dtype=torch.bool)), "no-unseen-class", "seen"),
    (lambda: self_calibration(SCORES[0], seen_classes), "wrong-shape", "seen"),
]


@pytest.mark.parametrize(("call", "code", "argument"), WRONG)
def test_bad_input_is_named(call: Callable[[], Any], code: str, argument: str) -> None:
    with raises(ArgumentError, code, place=argument):
        call()
