"""Optimizers by their names, and a rate of each that lowers a loss."""

import pytest
import torch

from recompose.tracks.gzsl.methods.optimizers import optimizer_of
from recompose.tracks.gzsl.methods.settings import ClassTrainingSettings
from tests.tracks.gzsl.tiny import RATES


@pytest.mark.parametrize(
    ("name", "kind"), [("adam", torch.optim.Adam), ("rmsprop", torch.optim.RMSprop), ("sgd", torch.optim.SGD)]
)
def test_a_name_leads_to_its_optimizer(name: str, kind: type[torch.optim.Optimizer]) -> None:
    parameter = torch.nn.Parameter(torch.ones(2))
    rates = {"optimizer": name, "momentum": 0.9, "lr": 0.1, "weight_decay": 0.01}
    settings = ClassTrainingSettings.model_validate({**RATES, **rates, "epochs": 1, "selection": "validation"})
    optimizer = optimizer_of([parameter], settings)
    assert type(optimizer) is kind
    (group,) = optimizer.param_groups
    assert (group["lr"], group["weight_decay"]) == (0.1, 0.01)
    assert group.get("momentum", 0.9) == 0.9
    parameter.square().sum().backward()
    optimizer.step()
    assert (parameter < 1).all()
