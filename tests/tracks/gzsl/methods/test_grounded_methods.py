"""TransZero, DAZLE and CREST against the same written out for single images, gradients included."""

from typing import Any

import pytest
import torch
from torch import Tensor

from recompose.tracks.gzsl.methods.parts.geometry import relations
from tests.tracks.gzsl.methods.derivations import (
    Parameters,
    plain_agt,
    plain_contrast,
    plain_cross_entropy,
    plain_dazle,
    plain_evidential,
    plain_mass_calibration,
    plain_memory,
    plain_sum,
    plain_vgt,
    relation,
    unit,
)
from tests.tracks.gzsl.methods.tiny import (
    CLASSES,
    GROUNDING,
    SEEN,
    TARGETS,
    crest,
    dazle,
    grids,
    parameters_of,
    same_gradients,
    space,
    transzero,
)

IMAGES = list(grids().double())
SIGNATURES = space().signatures.double()
EVERY = list(range(CLASSES))
SHOWN = [k for k in EVERY if SEEN[k]]
LABELS = torch.tensor(TARGETS)


def words_of(p: Parameters, normalised: bool = False) -> list[Tensor]:
    return [unit(word) if normalised else word for word in p["words.vectors"]]


def class_scores(attributes: Tensor) -> Tensor:
    return torch.stack([attributes @ signature for signature in SIGNATURES])


def test_relations_are_those_of_all_pairs_of_regions() -> None:
    expected = torch.tensor([[relation(i, j, 3) for j in range(9)] for i in range(9)], dtype=torch.float64)
    torch.testing.assert_close(relations(3), expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("grounding", "among"),
    [({}, "all"), ({"self_attention": False, "normalise_words": True}, "seen"), ({"geometry": False}, "all")],
)
def test_transzero_is_what_its_loops_are(grounding: dict[str, Any], among: str) -> None:
    method = transzero(grounding=grounding, cross_entropy=among)
    settings, p = GROUNDING | grounding, parameters_of(method)
    words = words_of(p, settings["normalise_words"])
    attributes = [plain_vgt(p, image, words, settings["geometry"])[0] for image in IMAGES]
    scores = [class_scores(each) for each in attributes]
    torch.testing.assert_close(method.predict(torch.stack(IMAGES)).scores, torch.stack(scores))
    wrong = [(a - SIGNATURES[target]).square().sum() / len(a) for a, target in zip(attributes, TARGETS, strict=True)]
    plain_loss = (
        plain_cross_entropy(scores, TARGETS, EVERY if among == "all" else SHOWN)
        + 0.3 * plain_mass_calibration(scores, SEEN, 2.0)
        + 0.05 * sum(wrong) / len(wrong)
    )
    same_gradients(method, method.loss(torch.stack(IMAGES), LABELS, 0)["loss"], p, plain_loss)


@pytest.mark.parametrize("changes", [{}, {"attribute_attention": False}, {"normalise_words": True}])
def test_dazle_is_what_its_loops_are(changes: dict[str, Any]) -> None:
    method = dazle(**changes)
    p = parameters_of(method)
    words = words_of(p, changes.get("normalise_words", False))
    scores = [class_scores(plain_dazle(p, image, words)) for image in IMAGES]
    torch.testing.assert_close(method.predict(torch.stack(IMAGES)).scores, torch.stack(scores))
    plain_loss = plain_cross_entropy(scores, TARGETS, EVERY) + 0.1 * plain_mass_calibration(scores, SEEN, 2.0)
    same_gradients(method, method.loss(torch.stack(IMAGES), LABELS, 0)["loss"], p, plain_loss)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("grounding", "queries", "among"), [({}, "regions", "all"), ({"region_attributes": "full"}, "images", "seen")]
)
def test_crest_is_what_its_loops_are(grounding: dict[str, Any], queries: str, among: str) -> None:
    method = crest(grounding=grounding, memory={"queries": queries}, evidence={"classes": among})
    p = parameters_of(method)
    words = words_of(p)
    visual = [plain_vgt(p, image, words) for image in IMAGES]
    semantic = [plain_agt(p, image, words, queries) for image in IMAGES]
    joined = [0.3 * a + 0.7 * v for (v, _), (a, _) in zip(visual, semantic, strict=True)]
    scores = [class_scores(each) for each in joined]

    prediction = method.predict(torch.stack(IMAGES))
    torch.testing.assert_close(prediction.scores, torch.stack(scores))
    torch.testing.assert_close(prediction.paths["vgt"], torch.stack([class_scores(v) for v, _ in visual]))
    torch.testing.assert_close(prediction.paths["agt"], torch.stack([class_scores(a) for a, _ in semantic]))

    kept = EVERY if among == "all" else SHOWN
    evidential = [
        plain_evidential(class_scores(v)[kept], class_scores(a)[kept], kept.index(target), epoch=3, annealing=10)
        for (v, _), (a, _), target in zip(visual, semantic, TARGETS, strict=True)
    ]
    pooled = [plain_sum(features) / len(features) for _, features in visual]
    asked = [query for _, queries_of_image in semantic for query in queries_of_image]
    separation, compactness = plain_memory(asked, p["agt.memory.patterns"], 1.0)
    expected = {
        "cross_entropy": plain_cross_entropy(scores, TARGETS, EVERY),
        "calibration": plain_mass_calibration(scores, SEEN, 1.0),
        "evidence": sum(evidential) / len(evidential),
        "contrast": plain_contrast(pooled, TARGETS, 0.5, 0.0),
        "separation": separation,
        "compactness": compactness,
    }
    parts = method.loss(torch.stack(IMAGES), LABELS, 2)
    for name, value in expected.items():
        torch.testing.assert_close(parts[name], value, msg=name)
    weights = {"cross_entropy": 1, "calibration": 0.2, "evidence": 0.1, "contrast": 0.05, "separation": 0.4}
    plain_loss = sum((weights | {"compactness": 0.3})[name] * value for name, value in expected.items())
    same_gradients(method, parts["loss"], p, plain_loss)
