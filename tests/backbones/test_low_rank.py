"""Low-rank changes of a whole CLIP against weights that were changed by hand, and against the released rules."""

from copy import deepcopy
from typing import Any

import pytest
import torch
from torch import Tensor

from recompose.backbones.clip import Backbone
from recompose.backbones.low_rank import attach, merge
from tests.clips import random_clip
from tests.precision import assert_close
from tests.tracks.czsl.methods.derivations import UNEVEN, unsettle

pytestmark = pytest.mark.usefixtures("in_64_bits")

RANK, ALPHA = 4, 1.0
PIXELS = torch.randn(3, 3, 32, 32, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
IDS = torch.tensor([[49406, 320, 736, 5211, 49407, 0], [49406, 2368, 49407, 0, 0, 0]])


@pytest.fixture
def plain() -> Backbone:
    """With CLIP's own patch embedding, one convolution."""
    return random_clip(architecture="plain-clip", config=UNEVEN)


@pytest.fixture
def stem() -> Backbone:
    """With a stem of several convolutions."""
    return random_clip()


def embeddings(backbone: Backbone) -> Tensor:
    return torch.cat([backbone.encode_image(PIXELS), backbone.encode_text(IDS)])


Shapes = dict[str, tuple[tuple[int, ...], tuple[int, ...]]]


def expected_shapes(model: Any) -> Shapes:
    """Of each weight that the released code changes the shapes of its A and B, written out."""
    shapes: Shapes = {}
    for tower, blocks in (("visual.transformer", model.visual.transformer), ("transformer", model.transformer)):
        width = blocks.resblocks[0].ln_1.normalized_shape[0]
        for number in range(len(blocks.resblocks)):
            block = f"{tower}.resblocks.{number}"
            shapes[f"{block}.attn.in_proj_weight"] = (RANK, width), (3 * width, RANK)
            shapes[f"{block}.attn.out_proj.weight"] = (RANK, width), (width, RANK)
            shapes[f"{block}.mlp.c_fc.weight"] = (RANK, width), (4 * width, RANK)
            shapes[f"{block}.mlp.c_proj.weight"] = (RANK, 4 * width), (width, RANK)
    return shapes


def attached_shapes(backbone: Backbone) -> Shapes:
    trained = {
        name.removeprefix("model.").replace(".parametrizations", ""): tuple(parameter.shape)
        for name, parameter in backbone.named_parameters()
        if parameter.requires_grad
    }
    changed = {name.removesuffix(".0.A"): shape for name, shape in trained.items() if name.endswith(".0.A")}
    assert len(trained) == 2 * len(changed)
    return {name: (shape, trained[f"{name}.0.B"]) for name, shape in changed.items()}


@pytest.mark.slow
def test_what_is_changed_and_at_which_rank_with_a_patch_embedding(plain: Backbone) -> None:
    attach(plain, RANK, ALPHA)
    patch = {"visual.conv1.weight": ((RANK * 8, 3 * 8), (48 * 8, RANK * 8))}
    assert attached_shapes(plain) == expected_shapes(plain.model) | patch


@pytest.mark.parametrize("kind", ["plain", "stem"])
def test_a_changed_model_is_one_whose_weights_were_changed_by_hand(kind: str, request: pytest.FixtureRequest) -> None:
    backbone: Backbone = request.getfixturevalue(kind)
    by_hand = deepcopy(backbone)
    attach(backbone, RANK, 2.0)
    unsettle(backbone, size=0.2)
    weights = dict(by_hand.named_parameters())
    changed = dict(backbone.named_parameters())
    for name in list(changed):
        if name.endswith(".0.A"):
            original = name.removesuffix(".0.A").replace(".parametrizations", "")
            product = changed[name.removesuffix("A") + "B"].detach() @ changed[name].detach()
            weights[original].data += 2.0 / RANK * product.reshape(weights[original].shape)
    assert_close(embeddings(backbone), embeddings(by_hand))
    merge(backbone)
    assert set(backbone.state_dict()) == set(by_hand.state_dict())
    assert_close(embeddings(backbone), embeddings(by_hand))


def test_only_changes_train_and_all_of_them_do(plain: Backbone) -> None:
    attach(plain, RANK, ALPHA)
    unsettle(plain, size=0.2)  # where B is 0, A has no gradient yet
    (embeddings(plain).square().sum() * plain.logit_scale).backward()
    for name, parameter in plain.named_parameters():
        trains = name.endswith((".0.A", ".0.B"))
        assert parameter.requires_grad == trains
        assert (parameter.grad is not None and bool(parameter.grad.any())) == trains, name
