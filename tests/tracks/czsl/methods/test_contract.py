"""What every method of the track keeps, by a loop over the catalogue: blocks, gradients, modes, checkpoints."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from recompose.backbones.clip import Backbone
from recompose.tracks.building import TypedSettings, method_class
from recompose.tracks.czsl.catalogue import METHODS, Czsl
from recompose.tracks.czsl.data.pairs import Pair
from recompose.tracks.czsl.methods import dfsp, msci, prompts, three_path
from recompose.tracks.czsl.methods.base import PairMethod, TrainingPrior
from recompose.tracks.czsl.methods.chance import Chance
from recompose.tracks.czsl.methods.settings import ChanceSettings
from recompose.training.checkpoint import restore
from recompose.training.cost import count_at_paper_scale
from tests.configuration import params_text, parse_params
from tests.precision import assert_close, default_dtype
from tests.tracks.czsl.methods.derivations import OBJECTS, STATES, dense, unsettle

pytestmark = pytest.mark.usefixtures("in_64_bits")

SECTION = parse_params(params_text("paper")).tracks["czsl"]
assert isinstance(SECTION, Czsl)
CASES: dict[str, tuple[str, dict[str, Any]]] = {  # every method, and settings that change what is computed
    **{name: (name, {}) for name, entry in METHODS.items() if entry.needs_backbone},
    "dfsp-i2t": ("dfsp", {"fusion": "i2t"}),
    "dfsp-BiF": ("dfsp", {"fusion": "BiF"}),
    "c-s-o-lora": ("c-s-o", {"image_tower": "lora"}),
    "c-s-o-frozen": ("c-s-o", {"image_tower": "frozen", "prompts": "fixed"}),
    "troika-logits": ("troika", {"scoring": {"fusion": "logits"}, "training": {"selection": {"fusion": "logits"}}}),
    "msci-probabilities": (
        "msci",
        {"scoring": {"fusion": "probabilities"}, "training": {"selection": {"fusion": "probabilities"}}},
    ),
    "duplex-trained": ("duplex", {"codebook": "trained", "differentiable": True}),
}
every_case = pytest.mark.parametrize("case", CASES)
trained_case = pytest.mark.parametrize("case", [case for case in CASES if case != "clip"])
CLOSED = torch.tensor([[0, 0], [2, 1], [1, 1], [0, 1], [2, 0]])
EVERYTHING = torch.cartesian_prod(torch.arange(3), torch.arange(2))
TRAIN = CLOSED[:4]
TARGETS = torch.tensor([3, 0, 2, 1])
IMAGES = len(TARGETS)


def build(backbone: Backbone, case: str, *, seed: int = 0, **changed: Any) -> PairMethod:
    """Return a prepared method with the settings of the synthetic data set, away from where it begins."""
    name, changes = CASES[case]
    changes = changes | changed
    document = {
        "class": METHODS[name].class_path,
        "settings": SECTION.settings(name, "shapes-pairs", changes).document(),
    }
    settings = TypedSettings(document)
    torch.manual_seed(seed)
    method: PairMethod = method_class(document)(backbone, STATES, OBJECTS, settings.own)
    embeddings = torch.randn(IMAGES, backbone.width, generator=torch.Generator().manual_seed(2))
    method.prepare(TrainingPrior(CLOSED, embeddings, TRAIN[TARGETS]))
    unsettle(method, seed)
    return method.set_scoring(settings.scoring).eval()


def inputs_of(method: PairMethod, images: Tensor) -> Tensor:
    if method.sees == "pixels":
        return images
    with torch.no_grad():
        return method.backbone.encode_image(method.backbone.from_bytes(images))


def scores_of(method: PairMethod, images: Tensor, *blocks: Tensor, world: str = "open") -> Tensor:
    return dense(method, inputs_of(method, images), list(blocks), world)


def own_state(method: PairMethod) -> dict[str, Tensor]:
    """Copies of what a checkpoint holds of a method: what training can change."""
    frozen = {name for name, parameter in method.named_parameters() if not parameter.requires_grad}
    return {name: tensor.clone() for name, tensor in method.state_dict().items() if name not in frozen}


@every_case
@pytest.mark.parametrize("world", ["closed", "open"])
def test_scores_depend_on_neither_blocks_nor_other_images(
    backbone: Backbone, images: Tensor, case: str, world: str
) -> None:
    method = build(backbone, case)
    scores = scores_of(method, images, EVERYTHING, world=world)
    assert scores.shape == (IMAGES, len(EVERYTHING))
    assert scores.isfinite().all()
    for size in (1, 4):
        in_blocks = scores_of(method, images, *EVERYTHING.split(size), world=world)
        assert_close(in_blocks, scores)
    alone = torch.cat([scores_of(method, image[None], EVERYTHING, world=world) for image in images])
    assert_close(alone, scores)


@every_case
def test_evaluation_is_deterministic_and_changes_nothing(backbone: Backbone, images: Tensor, case: str) -> None:
    method = build(backbone, case)
    before = own_state(method)
    scores = scores_of(method, images, CLOSED)
    method.loss(inputs_of(method, images), TARGETS, TRAIN)
    assert torch.equal(scores_of(method, images, CLOSED), scores)
    after = own_state(method)
    assert all(torch.equal(after[name], before[name]) for name in before)


@every_case
@default_dtype(torch.float32)
def test_scores_are_in_32_bits_where_towers_compute_in_fewer(backbone: Backbone, images: Tensor, case: str) -> None:
    method = build(deepcopy(backbone).to(torch.float32), case)
    for fewer in (False, True):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=fewer):
            assert scores_of(method, images, CLOSED).dtype == torch.float32


@trained_case
def test_gradients_reach_what_is_trained_and_nothing_else(backbone: Backbone, images: Tensor, case: str) -> None:
    method = build(backbone, case).train()
    assert method.training
    assert not any(part.training for part in backbone.modules())
    loss = method.loss(inputs_of(method, images), TARGETS, TRAIN)
    assert loss.shape == () and loss.isfinite()
    loss.backward()
    for name, parameter in method.named_parameters():
        if parameter.requires_grad:
            assert parameter.grad is not None and parameter.grad.isfinite().all(), name
            # batch normalisation takes away what a bias before it adds
            assert parameter.grad.any() or (name.startswith("of_") and name.endswith(".bias")), name
        else:
            assert parameter.grad is None, name
    assert all(not parameter.requires_grad for parameter in backbone.parameters())


@trained_case
def test_dropout_is_of_training_alone_and_repeats_with_its_seed(backbone: Backbone, images: Tensor, case: str) -> None:
    losses = []
    for seed in (3, 3, 4):
        method = build(backbone, case).train()
        torch.manual_seed(seed)
        losses.append(method.loss(inputs_of(method, images), TARGETS, TRAIN).item())
    assert losses[0] == losses[1]
    drops = any(isinstance(part, torch.nn.Dropout) and part.p for part in build(backbone, case).modules())
    assert (losses[0] != losses[2]) == drops


@trained_case
def test_a_restored_method_scores_the_same_to_the_bit(
    backbone: Backbone, images: Tensor, case: str, tmp_path: Path
) -> None:
    method, other = build(backbone, case, seed=1), build(backbone, case, seed=2)
    save_file({f"method.{name}": tensor for name, tensor in own_state(method).items()}, tmp_path / "checkpoint")
    assert not torch.equal(scores_of(other, images, CLOSED), scores_of(method, images, CLOSED))
    restore(other, tmp_path / "checkpoint")
    assert torch.equal(scores_of(other, images, CLOSED), scores_of(method, images, CLOSED))


@trained_case
def test_texts_in_smaller_blocks_teach_and_score_the_same(
    backbone: Backbone, images: Tensor, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = build(backbone, case)

    def results() -> dict[str, Tensor]:
        method.zero_grad()
        loss = method.loss(inputs_of(method, images), TARGETS, TRAIN)
        loss.backward()
        gradients = {name: p.grad.clone() for name, p in method.named_parameters() if p.grad is not None}
        return gradients | {"loss": loss.detach(), "scores": scores_of(method, images, CLOSED)}

    expected = results()
    for module in (prompts, dfsp):
        monkeypatch.setattr(module, "TEXTS", 2)
    for module in (three_path, msci, dfsp):
        monkeypatch.setattr(module, "TEXT_IMAGE_PAIRS", 9)
    for name, tensor in results().items():
        assert_close(tensor, expected[name], msg=name)


@pytest.mark.parametrize(
    ("case", "rate"), [("csp", "dropout"), ("gipcol", "dropout"), ("dfsp", "dropout"), ("c-s-o", "attribute_dropout")]
)
def test_one_mask_drops_elements_of_a_name_in_all_its_pairs(backbone: Backbone, case: str, rate: str) -> None:
    method = build(backbone, case, **{rate: 0.5}).train()
    words: list[tuple[Tensor, ...]] = []
    (prompt,) = (part for part in method.modules() if isinstance(part, prompts.SlottedPrompt))
    hook = prompt.register_forward_hook(lambda _module, inputs, _output: words.append(inputs[1:]))
    method.encode_texts([EVERYTHING])
    hook.remove()
    (in_pairs,) = (contents for contents in words if len(contents) == 2)
    for place, vectors in enumerate(in_pairs):
        assert 0.3 < float((vectors == 0).float().mean()) < 0.7
        for name in range(2):
            of_name = vectors[EVERYTHING[:, place] == name]
            assert torch.equal(of_name, of_name[:1].expand_as(of_name))


@pytest.mark.slow
@pytest.mark.parametrize("dataset", ["mit-states", "ut-zappos", "cgqa"])
@pytest.mark.parametrize("name", [name for name, entry in METHODS.items() if entry.settings_class.training_class])
def test_settings_of_every_data_set_make_a_model_at_the_paper_s_scale(name: str, dataset: str) -> None:
    document = {"class": METHODS[name].class_path, "settings": SECTION.settings(name, dataset).document()}
    own = TypedSettings(document).own
    assert count_at_paper_scale(lambda clip: method_class(document)(clip, STATES, OBJECTS, own)) > 0


# chance, which has no backbone


NAMES: list[Pair] = [("red", "circle"), ("red", "moon"), ("blue", "moon")]


def chance_scores(seed: int, rows: np.ndarray, pairs: list[Pair] = NAMES) -> np.ndarray:
    return Chance(seed, ChanceSettings()).score(rows, pairs)


def test_chance_is_determined_by_seed_images_and_pairs() -> None:
    rows = np.arange(4)
    first = chance_scores(1, rows)
    assert np.array_equal(chance_scores(1, rows), first) and chance_scores(1, rows[:1]).shape == (1, len(NAMES))
    for other in (chance_scores(2, rows), chance_scores(1, rows + 4), chance_scores(1, rows, NAMES[1:])):
        assert not np.isin(other, first).any()


def test_chance_prefers_no_pair() -> None:
    wins = chance_scores(3, np.arange(30_000)).argmax(axis=1)
    assert np.allclose(np.bincount(wins) / 30_000, 1 / 3, atol=0.015)
