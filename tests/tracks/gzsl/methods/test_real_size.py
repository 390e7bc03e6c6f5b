"""CUB's shapes: 196 regions of 2048 channels, 312 attributes, 200 classes."""

from typing import Any

import pytest
import torch

from recompose.tracks.gzsl.methods.base import ClassSpace, GridMethod
from recompose.tracks.gzsl.methods.crest import CREST
from recompose.tracks.gzsl.methods.dazle import DAZLE
from recompose.tracks.gzsl.methods.transzero import TransZero
from tests.tracks.gzsl.methods.tiny import CREST_SETTINGS, DAZLE_SETTINGS, TRANSZERO, build, changed

pytestmark = pytest.mark.slow

BATCH = 4
GROUNDING = {"hidden": 300, "feed_forward": 512, "dropout": 0.4}


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (DAZLE, DAZLE_SETTINGS),
        (TransZero, changed(TRANSZERO, grounding=GROUNDING)),
        (CREST, changed(CREST_SETTINGS, grounding=GROUNDING, memory={"patterns": 20, "width": 64})),
    ],
)
def test_a_training_step_at_real_size(kind: type[GridMethod], settings: dict[str, Any]) -> None:
    torch.manual_seed(0)
    seen = torch.arange(200) < 150
    space = ClassSpace(torch.nn.functional.normalize(torch.rand(200, 312)), torch.randn(312, 300), seen)
    method = build(kind, space, 2048, settings).train()
    grids, targets = torch.rand(BATCH, 196, 2048), torch.randint(150, (BATCH,))
    optimizer = torch.optim.Adam(method.parameters(), lr=1e-4)
    before = {name: parameter.detach().clone() for name, parameter in method.named_parameters()}
    loss = method.loss(grids, targets, 0)["loss"]
    loss.backward()
    optimizer.step()
    assert torch.isfinite(loss)
    for name, parameter in method.named_parameters():
        assert torch.isfinite(parameter).all(), name
        assert not torch.equal(parameter, before[name]) or not parameter.grad.any(), name  # type: ignore[union-attr]
    scores = method.eval().predict(grids).scores
    assert scores.shape == (BATCH, 200)
    assert torch.isfinite(scores).all()
