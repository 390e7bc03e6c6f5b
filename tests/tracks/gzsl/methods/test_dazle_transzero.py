"""DAZLE, TransZero and TransZero++: their losses written out for single images, gradients included."""

import math
from typing import Any

import pytest
import torch

from recompose.tracks.gzsl.methods.base import ClassSpace
from recompose.tracks.gzsl.methods.calibrated import cross_entropy, self_calibration, unit_regions
from recompose.tracks.gzsl.methods.transzero import TransZero, TransZeroPlus
from tests.tracks.gzsl.methods.derivations import (
    plain_dazle,
    plain_vgt,
    unit,
)
from tests.tracks.gzsl.methods.tiny import (
    CREST_SETTINGS,
    GROUNDING,
    SIGNATURES,
    TARGETS,
    TRANSZERO,
    build,
    build_moved,
    changed,
    class_scores,
    dazle,
    grids,
    parameters_of,
    same_gradients,
    transzero,
)

IMAGES = list(grids().double())
LABELS = torch.tensor(TARGETS)


@pytest.mark.parametrize("changes", [{}, {"attribute_attention": False}, {"normalise_words": True}])
def test_dazle_is_what_its_loops_are(changes: dict[str, Any]) -> None:
    method = dazle(**changes)
    p = parameters_of(method)
    words = [unit(word) if changes.get("normalise_words") else word for word in p["words.vectors"]]
    scores = class_scores([plain_dazle(p, image, words) for image in IMAGES])
    torch.testing.assert_close(method.predict(torch.stack(IMAGES)).scores, scores)
    plain_loss = cross_entropy(scores, LABELS, method.seen) + 0.1 * self_calibration(scores, method.seen)
    same_gradients(method, method.loss(torch.stack(IMAGES), LABELS, 0)["loss"], p, plain_loss)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("grounding", "among"),
    [({}, "all"), ({"self_attention": False, "normalise_words": True}, "seen"), ({"geometry": False}, "all")],
)
def test_transzero_is_what_its_loops_are(grounding: dict[str, Any], among: Any) -> None:
    method = transzero(grounding=grounding, cross_entropy=among)
    settings, p = GROUNDING | grounding, parameters_of(method)
    words = [unit(word) if settings["normalise_words"] else word for word in p["words.vectors"]]
    attributes = [plain_vgt(p, image, words, settings["geometry"])[0] for image in IMAGES]
    scores = class_scores(attributes)
    torch.testing.assert_close(method.predict(torch.stack(IMAGES)).scores, scores)
    squares = [(a - SIGNATURES[target]).square().sum() / len(a) for a, target in zip(attributes, TARGETS, strict=True)]
    plain_loss = (
        cross_entropy(scores, LABELS, method.seen, among)
        + 0.3 * self_calibration(scores, method.seen)
        + 0.05 * sum(squares) / len(squares)
    )
    same_gradients(method, method.loss(torch.stack(IMAGES), LABELS, 0)["loss"], p, plain_loss)


def test_negative_attributes_become_zero_before_classes_have_unit_length() -> None:
    signatures = torch.tensor([[0.6, -0.8], [-0.6, 0.8], [1.0, 0.0]])
    space = ClassSpace(signatures, torch.eye(2), torch.tensor([True, True, False]))
    zeroed = build(TransZero, space, 8, changed(TRANSZERO, negative_attributes="zero"))
    assert zeroed.signatures.tolist() == [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    assert torch.equal(build(TransZero, space, 8, TRANSZERO).signatures, signatures)


SETTINGS = {
    "grounding": CREST_SETTINGS["grounding"],
    "cross_entropy": "all",
    "calibration": {"weight": 0.3, "mask": "signed"},
    "vgt_weight": 0.7,
    "agt_loss_weight": 0.4,
    "regression_weight": 0.05,
    "attribute_agreement": 0.02,
    "class_agreement": 0.03,
}


@pytest.fixture
def method() -> TransZeroPlus:
    plus: TransZeroPlus = build_moved(TransZeroPlus, SETTINGS)
    return plus


def test_its_loss_is_that_of_the_released_code_written_out(method: TransZeroPlus) -> None:
    images = grids().double()
    seen = [index for index, is_seen in enumerate(method.seen.tolist()) if is_seen]
    targets = [seen[image % len(seen)] for image in range(len(images))]
    signatures = method.signatures.tolist()
    regions, words = unit_regions(images), method.words()
    views = [method.vgt(regions, words)[0].tolist(), method.agt(regions, words).tolist()]
    scores = [
        [[sum(a * z for a, z in zip(image, row, strict=True)) for row in signatures] for image in view]
        for view in views
    ]
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
    loss = method.loss(images, torch.tensor(targets), 0)["loss"].detach()
    assert float(loss) == pytest.approx(total, rel=1e-10)


def test_its_scores_are_the_weighted_scores_of_its_transformers(method: TransZeroPlus) -> None:
    prediction = method.predict(grids().double())
    expected = 0.7 * prediction.paths["vgt"] + 0.3 * prediction.paths["agt"]
    torch.testing.assert_close(prediction.scores, expected)
