"""Small methods and inputs, in 64 bits."""

from copy import deepcopy
from typing import Any

import torch
from torch import Tensor

from recompose.tracks.gzsl.methods.base import ClassSpace, GridMethod
from recompose.tracks.gzsl.methods.crest import CREST
from tests.precision import assert_close

CLASSES, ATTRIBUTES, WIDTH, CHANNELS, REGIONS, IMAGES = 6, 4, 5, 7, 4, 4
SEEN = [True, True, False, True, False, True]
TARGETS = [0, 3, 0, 5]
GROUNDING: dict[str, Any] = {
    "hidden": 6,
    "feed_forward": 8,
    "dropout": 0.0,
    "geometry": True,
    "self_attention": True,
    "normalise_words": False,
}
TRANSZERO: dict[str, Any] = {
    "grounding": GROUNDING,
    "cross_entropy": "all",
    "regression_weight": 0.05,
    "calibration": {"weight": 0.3, "mask": "signed"},
}
DAZLE_SETTINGS: dict[str, Any] = {
    "normalise_words": False,
    "attribute_attention": True,
    "cross_entropy": "all",
    "calibration": {"weight": 0.1, "mask": "signed"},
}
CREST_SETTINGS: dict[str, Any] = {
    "components": {"vgt": True, "agt": True, "evidence": True, "contrast": True, "memory": True},
    "grounding": {**GROUNDING, "region_scores": "normal", "region_attributes": "diagonal"},
    "agt_weight": 0.3,
    "cross_entropy": "all",
    "calibration": {"weight": 0.2, "mask": "unseen", "form": "transzero"},
    "evidence": {"weight": 0.1, "conflict_weight": 1.0, "annealing": 10, "classes": "all", "reduction": "mean"},
    "contrast": {"weight": 0.05, "temperature": 0.5, "threshold": 0.0},
    "memory": {
        "patterns": 3,
        "width": 4,
        "queries": "regions",
        "margin": 1.0,
        "separation_weight": 0.4,
        "compactness_weight": 0.3,
        "distance": "released",
        "trained": False,
    },
}


def space(classes: int = CLASSES, attributes: int = ATTRIBUTES, width: int = WIDTH) -> ClassSpace:
    generator = torch.Generator().manual_seed(1)
    signatures = torch.rand(classes, attributes, dtype=torch.float64, generator=generator)
    seen = torch.tensor((SEEN * (classes // len(SEEN) + 1))[:classes])
    words = torch.randn(attributes, width, dtype=torch.float64, generator=generator)
    return ClassSpace(torch.nn.functional.normalize(signatures, dim=1), words, seen)


def grids(images: int = IMAGES, regions: int = REGIONS, channels: int = CHANNELS) -> Tensor:
    """Regions that differ in length, and are not negative, as after a ReLU."""
    generator = torch.Generator().manual_seed(2)
    return 3 * torch.rand(images, regions, channels, dtype=torch.float64, generator=generator)


def changed(settings: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Settings with some of them changed; of a section, the keys that are given."""
    settings = deepcopy(settings)
    for name, value in changes.items():
        settings[name] = {**settings[name], **value} if isinstance(value, dict) else value
    return settings


def build(kind: type[GridMethod], space: ClassSpace, channels: int, settings: dict[str, Any]) -> Any:
    return kind(space, channels, kind.settings_class.model_validate(settings))  # type: ignore[call-arg]


def build_moved(kind: type[GridMethod], settings: dict[str, Any], **changes: Any) -> Any:
    """A method in 64 bits, nothing dropped, and nothing in it where it begins."""
    torch.manual_seed(3)
    method = build(kind, space(), CHANNELS, changed(settings, **changes))
    with torch.no_grad():
        for parameter in method.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return method.eval()


def crest(**changes: Any) -> CREST:
    method: CREST = build_moved(CREST, CREST_SETTINGS, **changes)
    return method


def parameters_of(method: GridMethod) -> dict[str, Tensor]:
    """Copies of its parameters, which gradients reach."""
    return {name: value.detach().clone().requires_grad_() for name, value in method.named_parameters()}


def same_gradients(method: GridMethod, loss: Tensor, copies: dict[str, Tensor], plain_loss: Tensor) -> None:
    """Assert that two losses are one, and reach parameters and their copies alike."""
    assert_close(loss, plain_loss)
    loss.backward()
    plain_loss.backward()
    for name, parameter in method.named_parameters():
        copy = copies[name].grad
        assert parameter.grad is not None, name
        assert_close(parameter.grad, torch.zeros_like(parameter) if copy is None else copy, msg=name)


SIGNATURES = space().signatures


def class_scores(attributes: list[Tensor]) -> Tensor:
    """Return the scores [images, classes] of each image's attributes."""
    return torch.stack([torch.stack([scores @ signature for signature in SIGNATURES]) for scores in attributes])
