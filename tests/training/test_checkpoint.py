"""Checkpoints of runs: what is taken from them, and what is refused, alike in all tracks."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from recompose.errors import CheckpointError
from recompose.training.checkpoint import METHOD, restore
from tests.errors import raises


class Method(nn.Module):
    """A method with a frozen part, a trained one, and a buffer."""

    def __init__(self, seed: int = 0) -> None:
        torch.manual_seed(seed)
        super().__init__()
        self.backbone = nn.Linear(2, 2).requires_grad_(False)
        self.head = nn.Linear(2, 3)
        self.register_buffer("prototypes", torch.rand(3))


@pytest.fixture
def trained() -> dict[str, Tensor]:
    """The tensors of a run's checkpoint, with those of another module."""
    state = {f"{METHOD}{name}": tensor for name, tensor in Method(1).state_dict().items() if "backbone" not in name}
    return state | {"augmentation.head.bias": torch.zeros(7)}


def test_the_trained_part_is_restored_and_the_frozen_one_stays(trained: dict[str, Tensor], tmp_path: Path) -> None:
    save_file(trained, tmp_path / "c")
    method = Method()
    restore(method, tmp_path / "c")
    expected = Method().state_dict() | {name.removeprefix(METHOD): tensor for name, tensor in trained.items()}
    assert all(torch.equal(tensor, expected[name]) for name, tensor in method.state_dict().items())


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"method.head.bias": None}, "lacks head.bias"),
        ({"method.prototypes": None}, "lacks prototypes"),
        ({"method.tail": torch.zeros(1)}, "has tail"),
        ({"method.backbone.bias": torch.zeros(2)}, "has backbone.bias"),
        ({"method.head.bias": None, "method.tail": torch.zeros(1)}, "lacks head.bias, and it has tail"),
        ({"method.head.bias": torch.zeros(4)}, "head.bias differ in size"),
    ],
)
def test_a_checkpoint_of_another_method_is_refused(
    change: dict[str, Tensor | None], fault: str, trained: dict[str, Tensor], tmp_path: Path
) -> None:
    save_file({name: tensor for name, tensor in (trained | change).items() if tensor is not None}, tmp_path / "c")
    method = Method()
    with raises(CheckpointError, "other-parameters") as caught:
        restore(method, tmp_path / "c")
    assert fault in str(caught.value) and str(tmp_path / "c") in str(caught.value)
    assert all(torch.equal(tensor, Method().state_dict()[name]) for name, tensor in method.state_dict().items())
