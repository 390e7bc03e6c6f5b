"""Methods but CREST: losses and rankings against loops, a closed form against its objective, attention written out."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from recompose.errors import ArgumentError
from recompose.tracks.gzsl.methods.ale_devise_sje import ALE, DEVISE, SJE, Bilinear
from recompose.tracks.gzsl.methods.base import ClassSpace
from recompose.tracks.gzsl.methods.calibrated import calibration_mask, cross_entropy, self_calibration, unit_regions
from recompose.tracks.gzsl.methods.crest import CREST
from recompose.tracks.gzsl.methods.dazle import DAZLE
from recompose.tracks.gzsl.methods.eszsl import ESZSL
from recompose.tracks.gzsl.methods.settings import (
    CalibrationForm,
    CalibrationMask,
    ClassTrainingSettings,
    CompetingClasses,
)
from recompose.tracks.gzsl.methods.transzero import TransZero, TransZeroPlus
from recompose.tracks.gzsl.training import optimizer_of
from tests.errors import raises
from tests.precision import assert_close
from tests.tracks.gzsl.methods import tiny
from tests.tracks.gzsl.methods.derivations import plain_dazle, plain_vgt, unit
from tests.tracks.gzsl.methods.tiny import ATTRIBUTES, CHANNELS, CLASSES, SEEN, SIGNATURES, TARGETS, space
from tests.tracks.gzsl.tiny import RATES
from tests.tracks.loops import Rows, assert_value_and_gradients, dot, normal, softmax

pytestmark = pytest.mark.usefixtures("in_64_bits")

MIXED = [True, False, True, False, True]
seen_classes = torch.tensor(MIXED)
MASKS: dict[str, list[float]] = {"signed": [-1, 1, -1, 1, -1], "unseen": [0, 1, 0, 1, 0]}


# cross-entropy


def cross_entropy_by_loop(rows: Rows, targets: list[int], among: str) -> float:
    total = 0.0
    for row, target in zip(rows, targets, strict=True):
        classes = [c for c in range(len(row)) if among == "all" or MIXED[c]]
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
    unseen = [[p for p, is_seen in zip(row, MIXED, strict=True) if not is_seen] for row in probabilities]
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
    scores[:, seen_classes] = 1000.0
    scores.requires_grad_()
    loss = self_calibration(scores, seen_classes)
    loss.backward()
    masses = torch.softmax(scores.detach() + calibration_mask(seen_classes), dim=1)[:, ~seen_classes].sum(dim=1)
    assert masses.max() == 0  # its logarithm, taken as released, is infinite
    assert loss.item() == pytest.approx(1000 - 2 + math.log(3 / 2))
    assert scores.grad is not None and scores.grad.isfinite().all() and (scores.grad[:, ~seen_classes] < 0).all()


# bad input

SCORES = torch.zeros(2, 5)
WRONG: list[tuple[Callable[[], Any], str, str]] = [
    (lambda: cross_entropy(SCORES, torch.tensor([0, 1]), seen_classes), "unseen-class", "targets"),
    (lambda: self_calibration(SCORES, torch.ones(5, dtype=torch.bool)), "no-unseen-class", "seen"),
]


@pytest.mark.parametrize(("call", "code", "argument"), WRONG)
def test_bad_input_is_named(call: Callable[[], Any], code: str, argument: str) -> None:
    with raises(ArgumentError, code, place=argument):
        call()


SGD = RATES | {"selection": "validation", "optimizer": "sgd", "batch_size": 1, "epochs": 1}
INPUTS, LABELS = tiny.grids(), torch.tensor(TARGETS)


def plain_ranking(kind: type[Bilinear], scores: Tensor, target: int, margin: float) -> Tensor:
    rivals = [k for k in range(CLASSES) if SEEN[k] and k != target]
    violations = [scores[k] - scores[target] + margin for k in rivals if scores[k] - scores[target] + margin > 0]
    if not violations:
        return scores.sum() * 0
    if kind is SJE:
        return max(violations)
    weight = 1.0 if kind is DEVISE else sum(1 / k for k in range(1, len(violations) + 1)) / len(violations)
    return weight * sum(violations)


def settings_of(margin: float, normalisation: str = "length", violations: str = "all") -> dict[str, Any]:
    return {"margin": margin, "normalisation": normalisation, "violations": violations}


@pytest.mark.parametrize("kind", [ALE, DEVISE, SJE])
def test_a_ranking_is_what_its_loops_are(kind: type[Bilinear]) -> None:
    torch.manual_seed(0)
    method = tiny.build(kind, space(), CHANNELS, settings_of(0.4))
    p = tiny.parameters_of(method)
    scores = [SIGNATURES @ (p["W"].T @ unit(sum(image) / len(image))) for image in INPUTS]
    assert_close(method.predict(INPUTS).scores, torch.stack(scores))
    losses = [plain_ranking(kind, row, target, 0.4) for row, target in zip(scores, TARGETS, strict=True)]
    assert any(losses)
    tiny.same_gradients(method, method.loss(INPUTS, LABELS, 0)["loss"], p, sum(losses) / len(losses))


def plain_epoch(
    kind: type[Bilinear], features: np.ndarray, labels: list[int], w: np.ndarray, lr: float, margin: float, seed: int
) -> np.ndarray:
    """The update of weights by mvp18's code, an image after the other, with our draws for ALE's."""
    seen = [k for k in range(CLASSES) if SEEN[k]]
    z = SIGNATURES.numpy()
    for step, (x, y) in enumerate(zip(features, labels, strict=True)):
        rivals = [k for k in seen if k != y]
        embedded = x @ w
        if kind is SJE:
            embedded = (embedded - embedded.mean()) / embedded.std()
        violation = {k: margin + embedded @ z[k] - embedded @ z[y] for k in rivals}
        torch.manual_seed(seed + step)
        tried = rivals
        if kind is ALE:
            tried = [rivals[place] for place in torch.randint(len(rivals), (1, len(rivals)))[0].tolist()]
        elif kind is SJE:
            tried = [max(rivals, key=lambda k: violation[k])]
        for draw, k in enumerate(tried, start=1):
            if violation[k] > 0:
                rank = len(rivals) // draw
                weight = sum(1 / place for place in range(1, rank + 1)) if kind is ALE else 1.0
                w = w + lr * weight * np.outer(x, z[y] - z[k])
                break
    return w


@pytest.mark.parametrize("normalisation", ["length", "standard", "none"])
@pytest.mark.parametrize("kind", [ALE, DEVISE, SJE])
def test_an_epoch_with_one_violation_of_an_image_is_that_of_the_published_loop(
    kind: type[Bilinear], normalisation: str
) -> None:
    torch.manual_seed(5)
    images, labels = tiny.grids(60), torch.tensor(SEEN).nonzero()[:, 0][torch.randint(4, (60,))]
    margin, lr = 0.02, 0.05
    method = tiny.build(kind, space(), CHANNELS, settings_of(margin, normalisation, "one"))
    assert_close(method.W.square().sum(dim=0), torch.ones(ATTRIBUTES))
    assert (method.W > 0).all()
    method.observe(iter(images.split(7)))
    features = images.mean(dim=1).numpy()
    if normalisation == "standard":
        features = (features - features.mean(axis=0)) / features.std(axis=0)
    elif normalisation == "length":
        features = features / np.linalg.norm(features, axis=1, keepdims=True)
    expected = plain_epoch(kind, features, labels.tolist(), method.W.detach().numpy().copy(), lr, margin, seed=11)
    optimizer = optimizer_of([method.W], ClassTrainingSettings.model_validate(SGD | {"lr": lr}))
    updates = 0
    for step in range(60):
        before = method.W.detach().clone()
        torch.manual_seed(11 + step)
        optimizer.zero_grad()
        method.loss(images[step : step + 1], labels[step : step + 1], 0)["loss"].backward()
        optimizer.step()
        updates += not torch.equal(before, method.W)
    np.testing.assert_allclose(method.W.detach().numpy(), expected, atol=1e-10)
    assert 0 < updates < 60  # some images keep the margin


def fitted(gamma: float, lambda_: float, labels: str) -> tuple[ESZSL, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(4)
    features = torch.randn(40, CHANNELS, generator=generator)
    shown = torch.tensor([k for k in range(CLASSES) if SEEN[k]])
    targets = shown[torch.randint(len(shown), (40,), generator=generator)]
    settings = {"feature_weight": gamma, "class_weight": lambda_, "labels": labels, "normalisation": "none"}
    method = tiny.build(ESZSL, space(), CHANNELS, settings)
    features = method.pool(features[:, None])
    method.fit(features, targets)
    return method, features, targets


@pytest.mark.parametrize(("labels", "other"), [("one-hot", 0.0), ("signed", -1.0)])
def test_eszsl_is_least_where_its_objective_has_no_slope(labels: str, other: float) -> None:
    """|X^T V S - Y|^2 + gamma |V S|^2 + lambda |X^T V|^2 + gamma lambda |V|^2."""
    gamma, lambda_ = 0.7, 0.2
    method, features, targets = fitted(gamma, lambda_, labels)
    s = SIGNATURES[torch.tensor(SEEN)].T
    y = torch.stack([torch.tensor([1.0 if k == t else other for k in range(CLASSES) if SEEN[k]]) for t in targets])
    v = method.W.clone().requires_grad_()
    wrong = (features @ v @ s - y).square().sum()
    ridges = gamma * (v @ s).square().sum() + lambda_ * (features @ v).square().sum()
    (wrong + ridges + gamma * lambda_ * v.square().sum()).backward()
    assert v.grad is not None
    assert float(v.grad.abs().max()) < 1e-10


def test_maps_begin_at_random_or_at_zero_and_words_at_unit_length_as_released() -> None:
    method = tiny.build(DAZLE, space(), CHANNELS, tiny.DAZLE_SETTINGS)
    assert method.W1.any() and not method.W2.any() and not method.W3.any()
    assert_close(method.words(), torch.stack([unit(word) for word in space().words]))
    for start in ("zeros", "normal"):
        grounding = tiny.CREST_SETTINGS["grounding"] | {"region_scores": start}
        method = tiny.build(CREST, space(), CHANNELS, tiny.changed(tiny.CREST_SETTINGS, grounding=grounding))
        assert method.agt.W.any() == (start == "normal")


@pytest.mark.parametrize("changes", [{}, {"attribute_attention": False}, {"normalise_words": True}])
def test_dazle_is_what_its_loops_are(changes: dict[str, Any]) -> None:
    method = tiny.build_moved(DAZLE, tiny.DAZLE_SETTINGS, **changes)
    p = tiny.parameters_of(method)
    words = [unit(word) if changes.get("normalise_words") else word for word in p["words.vectors"]]
    scores = tiny.class_scores([plain_dazle(p, image, words) for image in INPUTS])
    assert_close(method.predict(INPUTS).scores, scores)
    plain_loss = cross_entropy(scores, LABELS, method.seen) + 0.1 * self_calibration(scores, method.seen)
    tiny.same_gradients(method, method.loss(INPUTS, LABELS, 0)["loss"], p, plain_loss)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("grounding", "among"),
    [({}, "all"), ({"self_attention": False, "normalise_words": True}, "seen"), ({"geometry": False}, "all")],
)
def test_transzero_is_what_its_loops_are(grounding: dict[str, Any], among: Any) -> None:
    method = tiny.build_moved(TransZero, tiny.TRANSZERO, grounding=grounding, cross_entropy=among)
    settings, p = tiny.GROUNDING | grounding, tiny.parameters_of(method)
    words = [unit(word) if settings["normalise_words"] else word for word in p["words.vectors"]]
    attributes = [plain_vgt(p, image, words, settings["geometry"])[0] for image in INPUTS]
    scores = tiny.class_scores(attributes)
    assert_close(method.predict(INPUTS).scores, scores)
    squares = [(a - SIGNATURES[target]).square().sum() / len(a) for a, target in zip(attributes, TARGETS, strict=True)]
    plain_loss = (
        cross_entropy(scores, LABELS, method.seen, among)
        + 0.3 * self_calibration(scores, method.seen)
        + 0.05 * sum(squares) / len(squares)
    )
    tiny.same_gradients(method, method.loss(INPUTS, LABELS, 0)["loss"], p, plain_loss)


def test_negative_attributes_become_zero_before_classes_have_unit_length() -> None:
    signatures = torch.tensor([[0.6, -0.8], [-0.6, 0.8], [1.0, 0.0]])
    space = ClassSpace(signatures, torch.eye(2), torch.tensor([True, True, False]))
    zeroed = tiny.build(TransZero, space, 8, tiny.changed(tiny.TRANSZERO, negative_attributes="zero"))
    assert zeroed.signatures.tolist() == [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    assert torch.equal(tiny.build(TransZero, space, 8, tiny.TRANSZERO).signatures, signatures)


SETTINGS = tiny.TRANSZERO | {
    "grounding": tiny.CREST_SETTINGS["grounding"],
    "vgt_weight": 0.7,
    "agt_loss_weight": 0.4,
    "attribute_agreement": 0.02,
    "class_agreement": 0.03,
}


def test_the_loss_of_two_transformers_is_that_of_the_released_code_written_out() -> None:
    method: TransZeroPlus = tiny.build_moved(TransZeroPlus, SETTINGS)
    seen = [index for index, is_seen in enumerate(method.seen.tolist()) if is_seen]
    targets = [seen[image % len(seen)] for image in range(len(INPUTS))]
    signatures = method.signatures.tolist()
    regions, words = unit_regions(INPUTS), method.words()
    views = [method.vgt(regions, words)[0].tolist(), method.agt(regions, words).tolist()]
    scores = [[[dot(image, row) for row in signatures] for image in view] for view in views]
    total = 0.0
    for view, of_view, weight in zip(views, scores, (1.0, 0.4), strict=True):
        entropy = regression = unseen = 0.0
        for image, row, target in zip(view, of_view, targets, strict=True):
            entropy -= row[target] - math.log(sum(map(math.exp, row)))
            regression += sum((a - z) ** 2 for a, z in zip(image, signatures[target], strict=True)) / len(image)
            masked = [math.exp(score + (-1 if index in seen else 1)) for index, score in enumerate(row)]
            unseen += sum(mass for index, mass in enumerate(masked) if index not in seen) / sum(masked)
        count = len(targets)
        total += weight * (entropy / count + 0.3 * -math.log(unseen / count) + 0.05 * regression / count)
    for weight, (first, second) in ((0.02, views), (0.03, scores)):
        squares = [(a - b) ** 2 for one, two in zip(first, second, strict=True) for a, b in zip(one, two, strict=True)]
        total += weight * sum(squares) / len(squares)
    loss = method.loss(INPUTS, torch.tensor(targets), 0)["loss"].detach()
    assert float(loss) == pytest.approx(total, rel=1e-10)
    prediction = method.predict(INPUTS)
    assert_close(prediction.scores, 0.7 * prediction.paths["vgt"] + 0.3 * prediction.paths["agt"])
