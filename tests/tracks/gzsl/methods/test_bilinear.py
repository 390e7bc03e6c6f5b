"""Bilinear maps: three rankings against loops, and ESZSL against its own objective."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from recompose.tracks.gzsl.methods.ale.model import ALE
from recompose.tracks.gzsl.methods.devise.model import DEVISE
from recompose.tracks.gzsl.methods.eszsl.model import ESZSL
from recompose.tracks.gzsl.methods.parts.bilinear import Bilinear
from recompose.tracks.gzsl.methods.parts.grid_method import ClassSpace
from recompose.tracks.gzsl.methods.parts.optimizers import optimizer_of
from recompose.tracks.gzsl.methods.parts.settings import ClassTrainingSettings
from recompose.tracks.gzsl.methods.sje.model import SJE
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


def test_scores_that_lead_by_the_margin_cost_nothing() -> None:
    for kind in (ALE, DEVISE, SJE):
        method = build(kind, space(), CHANNELS, settings_of(1.0))
        cost = method.cost(torch.tensor([[0.0, 0.0, 0.0], [0.0, 2.0, 1.0]]))
        assert cost.tolist() == [0.0, {ALE: 2.25, DEVISE: 3.0, SJE: 2.0}[kind]]


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


def fitted(
    gamma: float, lambda_: float, *, labels: str = "one-hot", normalisation: str = "none"
) -> tuple[ESZSL, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(4)
    features = torch.randn(40, CHANNELS, generator=generator)
    shown = torch.tensor([k for k in range(CLASSES) if SEEN[k]])
    targets = shown[torch.randint(len(shown), (40,), generator=generator)]
    settings = {"feature_weight": gamma, "class_weight": lambda_, "labels": labels, "normalisation": normalisation}
    method = build(ESZSL, space(), CHANNELS, settings).double()
    features = method.pool(features[:, None].double())
    method.fit(features, targets)
    return method, features, targets


@pytest.mark.parametrize(("labels", "other"), [("one-hot", 0.0), ("signed", -1.0)])
def test_eszsl_is_least_where_its_objective_has_no_slope(labels: str, other: float) -> None:
    """|X^T V S - Y|^2 + gamma |V S|^2 + lambda |X^T V|^2 + gamma lambda |V|^2."""
    gamma, lambda_ = 0.7, 0.2
    method, features, targets = fitted(gamma, lambda_, labels=labels)
    s = SIGNATURES[torch.tensor(SEEN)].T
    y = torch.stack([torch.tensor([1.0 if k == t else other for k in range(CLASSES) if SEEN[k]]) for t in targets])
    v = method.W.clone().requires_grad_()
    wrong = (features @ v @ s - y.double()).square().sum()
    ridges = gamma * (v @ s).square().sum() + lambda_ * (features @ v).square().sum()
    (wrong + ridges + gamma * lambda_ * v.square().sum()).backward()
    assert v.grad is not None
    assert float(v.grad.abs().max()) < 1e-10


def test_eszsl_tells_seen_classes_that_features_tell_and_goes_into_a_checkpoint() -> None:
    eye = ClassSpace(torch.eye(3), torch.eye(3), torch.tensor([True, True, False]))
    settings = {"feature_weight": 0.1, "class_weight": 0.1, "labels": "one-hot", "normalisation": "length"}
    method = build(ESZSL, eye, 3, settings)
    method.fit(torch.eye(3)[[0, 1, 0, 1]], torch.tensor([0, 1, 0, 1]))
    scores = method.predict(torch.eye(3)[:, None]).scores
    assert scores[:2].argmax(dim=1).tolist() == [0, 1]
    assert list(method.state_dict()) == ["W"]
    other = build(ESZSL, eye, 3, settings)
    other.load_state_dict(method.state_dict())
    assert torch.equal(other.predict(torch.eye(3)[:, None]).scores, scores)
    assert method.embeddings(torch.eye(3)[:, None])["fused"].shape == (3, 3)


def test_eszsl_shrinks_as_its_ridges_grow() -> None:
    norms = [float(fitted(weight, weight, normalisation="length")[0].W.norm()) for weight in (0.01, 1.0, 100.0)]
    assert norms == sorted(norms, reverse=True)
    assert fitted(1.0, 1.0)[0].W.shape == (CHANNELS, ATTRIBUTES)
