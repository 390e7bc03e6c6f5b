"""ALE, DeViSE and SJE: their rankings against loops."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from recompose.tracks.gzsl.methods.ale_devise_sje import ALE, DEVISE, SJE, Bilinear
from recompose.tracks.gzsl.methods.settings import ClassTrainingSettings
from recompose.tracks.gzsl.training import optimizer_of
from tests.tracks.gzsl.methods.tiny import (
    ATTRIBUTES,
    CHANNELS,
    CLASSES,
    SEEN,
    TARGETS,
    build,
    grids,
    parameters_of,
    same_gradients,
    space,
)

SGD = {
    "selection": "validation",
    "optimizer": "sgd",
    "momentum": 0.0,
    "weight_decay": 0.0,
    "batch_size": 1,
    "epochs": 1,
}
INPUTS, LABELS = grids().double(), torch.tensor(TARGETS)
SIGNATURES = space().signatures.double()


def plain_features(image: Tensor, normalisation: str) -> Tensor:
    mean = sum(image) / len(image)
    return mean / mean.square().sum().sqrt() if normalisation == "length" else mean


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


@pytest.mark.parametrize("normalisation", ["length", "none"])
@pytest.mark.parametrize("kind", [ALE, DEVISE, SJE])
def test_a_ranking_is_what_its_loops_are(kind: type[Bilinear], normalisation: str) -> None:
    torch.manual_seed(0)
    method = build(kind, space(), CHANNELS, settings_of(0.4, normalisation)).double()
    p = parameters_of(method)
    scores = [SIGNATURES @ (p["W"].T @ plain_features(image, normalisation)) for image in INPUTS]
    torch.testing.assert_close(method.predict(INPUTS).scores, torch.stack(scores))
    losses = [plain_ranking(kind, row, target, 0.4) for row, target in zip(scores, TARGETS, strict=True)]
    assert any(losses)
    same_gradients(method, method.loss(INPUTS, LABELS, 0)["loss"], p, sum(losses) / len(losses))


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
    images, labels = grids(60).double(), torch.tensor(SEEN).nonzero()[:, 0][torch.randint(4, (60,))]
    margin, lr = 0.02, 0.05
    method = build(kind, space(), CHANNELS, settings_of(margin, normalisation, "one")).double()
    torch.testing.assert_close(method.W.square().sum(dim=0), torch.ones(ATTRIBUTES).double())
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
