"""What every method of the track keeps, by a loop over the catalogue: shapes, gradients, modes, settings."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from recompose.errors import ParamsError
from recompose.tracks.building import TypedSettings, method_class
from recompose.tracks.gzsl.catalogue import ADAPTERS, METHODS, Gzsl
from recompose.tracks.gzsl.methods.base import GridMethod, Prediction
from recompose.tracks.gzsl.methods.eszsl import ESZSL
from recompose.training.checkpoint import restore
from tests.configuration import params_text, parse_params
from tests.errors import raises
from tests.precision import assert_close
from tests.tracks.gzsl.methods.tiny import ATTRIBUTES, CHANNELS, CLASSES, IMAGES, REGIONS, TARGETS, grids, space

pytestmark = pytest.mark.usefixtures("in_64_bits")

SECTION = parse_params(params_text("paper")).tracks["gzsl"]
assert isinstance(SECTION, Gzsl)
CASES: dict[str, tuple[str, dict[str, Any]]] = {  # every method, and settings that change what is computed
    **{name: (name, {}) for name in METHODS},
    "ale-all": ("ale", {"violations": "all"}),
    "crest-vgt": ("crest", {"components": {"agt": False}}),
    "crest-agt": ("crest", {"components": {"vgt": False}}),
}
every_case = pytest.mark.parametrize("case", CASES)
trained_case = pytest.mark.parametrize("case", [case for case in CASES if case != "eszsl"])
INPUTS, LABELS = grids(), torch.tensor(TARGETS)


def build(case: str, *, seed: int = 0, dataset: str = "shapes-classes") -> GridMethod:
    """A prepared method with the settings of a data set, away from where it begins."""
    name, changes = CASES[case]
    document = {"class": METHODS[name].class_path, "settings": SECTION.settings(name, dataset, changes).document()}
    torch.manual_seed(seed)
    method: GridMethod = method_class(document)(space(), CHANNELS, TypedSettings(document).own)
    method.observe(iter(INPUTS.split(3)))
    if isinstance(method, ESZSL):
        method.fit(method.pool(INPUTS) + 0.1 * torch.randn(IMAGES, CHANNELS), LABELS)
    with torch.no_grad():
        for parameter in method.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return method.eval()


@torch.no_grad()
def predict(method: GridMethod, inputs: Tensor = INPUTS) -> Prediction:
    return method.predict(inputs)


@every_case
def test_predictions_have_their_shapes_and_depend_on_no_other_image(case: str) -> None:
    method = build(case)
    prediction = predict(method)
    for scores in (prediction.scores, *prediction.paths.values()):
        assert scores.shape == (IMAGES, CLASSES)
        assert scores.isfinite().all()
    for uncertainty in prediction.uncertainties.values():
        assert uncertainty.shape == (IMAGES,)
    alone = torch.cat([predict(method, image[None]).scores for image in INPUTS])
    assert_close(alone, prediction.scores)
    assert all(len(vectors) == IMAGES for vectors in method.embeddings(INPUTS).values())


@trained_case
def test_the_loss_reaches_all_that_is_trained(case: str) -> None:
    method = build(case).train()
    parts = method.loss(INPUTS, LABELS, 3)
    assert all(part.shape == () and part.isfinite() for part in parts.values())
    parts["loss"].backward()
    for name, parameter in method.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), name
        # a ReLU may cut off the geometry, and a softmax takes away what keys' biases add
        assert parameter.grad.any() or ".lowered." in name or ".key.bias" in name, name


@every_case
def test_a_restored_method_scores_the_same_to_the_bit(case: str, tmp_path: Path) -> None:
    method, other = build(case, seed=1), build(case, seed=2)
    save_file({f"method.{name}": tensor for name, tensor in method.state_dict().items()}, tmp_path / "checkpoint")
    assert not torch.equal(predict(other).scores, predict(method).scores)
    restore(other, tmp_path / "checkpoint")
    assert torch.equal(predict(other).scores, predict(method).scores)


@pytest.mark.parametrize("dataset", ["cub", "sun", "awa2"])
@every_case
def test_settings_of_every_data_set_make_a_method(case: str, dataset: str) -> None:
    assert predict(build(case, dataset=dataset)).scores.shape == (IMAGES, CLASSES)


@pytest.mark.parametrize("case", ["dazle", "transzero", "transzero-pp", "crest"])
def test_attention_is_a_share_of_regions(case: str) -> None:
    attention = build(case).attention(INPUTS)
    assert attention.shape == (IMAGES, ATTRIBUTES, REGIONS)
    assert_close(attention.sum(dim=-1), torch.ones(IMAGES, ATTRIBUTES))


@pytest.mark.parametrize("method", METHODS)
def test_the_bias_of_the_test_is_that_of_self_calibration_and_validation_chooses(method: str) -> None:
    for dataset in ADAPTERS:
        settings = SECTION.settings(method, dataset).document()
        assert settings["training"]["selection"] == "validation"
        if "calibration" in settings:
            bias = {"signed": 2.0, "unseen": 1.0}[settings["calibration"]["mask"]]
            assert settings["scoring"]["bias"] == bias


def test_crest_without_both_transformers_is_a_mistake() -> None:
    with raises(ParamsError):
        SECTION.settings("crest", "cub", {"components": {"vgt": False, "agt": False}}).document()
    assert SECTION.settings("crest", "cub", {"components": {"agt": False}}).document()["components"]["vgt"]
