"""ESZSL against its own objective."""

import pytest
import torch
from torch import Tensor

from recompose.tracks.gzsl.methods.eszsl import ESZSL
from tests.tracks.gzsl.methods.tiny import (
    CHANNELS,
    CLASSES,
    SEEN,
    build,
    space,
)

SIGNATURES = space().signatures.double()


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
