"""Pretraining: with the tokens in use alone it comes to the same as with the whole table, and what it writes is a
backbone.
"""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from recompose.backbones.clip import end_of_text, load_backbone
from recompose.files import write_json
from recompose.synthetic.scenes import write_corpus
from recompose.training.pretraining import WEIGHTS, Pretraining, _tensors, compact_vocabulary, pretrain
from tests.clips import random_clip
from tests.training.small import CPU

pytestmark = pytest.mark.slow

SETTINGS = {"seed": 1, "epochs": 2, "batch_size": 16, "lr": 1e-3, "weight_decay": 0.1}
TEXTS = ["a photo of a red circle", "a glossy moon left of a frosted fish", "a house"]


def steps(module: Pretraining, pixels: Tensor, ids: Tensor, count: int = 5) -> list[float]:
    """A few steps of the module's optimiser; the losses."""
    module.loss = lambda images, texts, scale: torch.nn.functional.cross_entropy(  # type: ignore[assignment]
        scale * images @ texts.T, torch.arange(len(images))
    )
    matrices, vectors = ([p for p in module.parameters() if (p.ndim > 1) == many] for many in (True, False))
    groups = [{"params": matrices, "weight_decay": module.weight_decay}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=module.lr, betas=(0.9, 0.98), eps=1e-6)
    module.log = lambda *_, **__: None  # type: ignore[method-assign]
    losses = []
    for _ in range(count):
        optimizer.zero_grad()
        loss = module.training_step((pixels, ids), 0)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_rows_in_use_are_trained_as_the_whole_table_is_and_others_stay() -> None:
    pixels = torch.randint(0, 256, (3, 3, 32, 32), generator=torch.Generator().manual_seed(2), dtype=torch.uint8)
    ids = random_clip().tokens(TEXTS)  # as the whole table numbers them
    used, places = ids.unique(return_inverse=True)
    whole, compact = random_clip(), random_clip()
    before = whole.model.token_embedding.weight.detach().clone()
    losses = steps(Pretraining(whole, lr=1e-2, weight_decay=0.1), pixels, ids)
    with compact_vocabulary(compact, used):
        assert compact.model.token_embedding.weight.shape == (len(used), 128)
        assert steps(Pretraining(compact, lr=1e-2, weight_decay=0.1), pixels, places) == losses
    assert losses[-1] < losses[0]
    for name, tensor in whole.model.state_dict().items():
        found = compact.model.state_dict()[name]
        if name != "token_embedding.weight":
            assert torch.equal(found, tensor), name
    table = compact.model.token_embedding.weight
    assert torch.equal(table[used], whole.model.token_embedding.weight[used])
    assert not torch.equal(table[used], before[used])
    unused = torch.ones(len(table), dtype=torch.bool).index_fill(0, used, value=False)
    assert torch.equal(table[unused], before[unused])


def test_places_among_the_tokens_in_use_mean_the_same_texts(tmp_path: Path) -> None:
    write_corpus(tmp_path / "corpus", scenes=40, seed=3)
    backbone = random_clip()
    tensors, used = _tensors(tmp_path / "corpus", backbone)
    _, places = tensors.tensors
    ids = used[places]
    assert torch.equal(end_of_text(places), end_of_text(ids))
    assert len(used) < 100
    with torch.no_grad():
        expected = backbone.encode_text(ids)
        with compact_vocabulary(backbone, used):
            assert torch.equal(backbone.encode_text(places), expected)


def test_what_is_written_loads_whole_and_learns_the_same_again(tmp_path: Path) -> None:
    write_corpus(tmp_path / "corpus", scenes=40, seed=3)
    states = []
    for name in ("one", "other"):
        (tmp_path / name / "scratch").mkdir(parents=True)
        pretrain("shapes-clip", "gelu", tmp_path / "corpus", tmp_path / name, CPU, **SETTINGS)
        states.append(load_file(tmp_path / name / WEIGHTS))
    assert states[0].keys() == random_clip().model.state_dict().keys()
    assert states[0]["token_embedding.weight"].shape == (49408, 128)
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
    description = {"architecture": "shapes-clip", "activation": "gelu", "weights": WEIGHTS}
    write_json(tmp_path / "one/backbone.json", description)
    backbone = load_backbone(tmp_path / "one")
    with torch.no_grad():
        assert torch.isfinite(backbone.encode_text(backbone.tokens(["a striped heart", "xylophone"]))).all()
