"""DAZLE against the same written out for single images, gradients included."""

from typing import Any

import pytest
import torch
from torch import Tensor

from tests.tracks.gzsl.methods.derivations import (
    Parameters,
    plain_cross_entropy,
    plain_dazle,
    plain_mass_calibration,
    unit,
)
from tests.tracks.gzsl.methods.tiny import (
    CLASSES,
    SEEN,
    TARGETS,
    dazle,
    grids,
    parameters_of,
    same_gradients,
    space,
)

IMAGES = list(grids().double())
SIGNATURES = space().signatures.double()
EVERY = list(range(CLASSES))
LABELS = torch.tensor(TARGETS)


def words_of(p: Parameters, normalised: bool = False) -> list[Tensor]:
    return [unit(word) if normalised else word for word in p["words.vectors"]]


def class_scores(attributes: Tensor) -> Tensor:
    return torch.stack([attributes @ signature for signature in SIGNATURES])


@pytest.mark.parametrize("changes", [{}, {"attribute_attention": False}, {"normalise_words": True}])
def test_dazle_is_what_its_loops_are(changes: dict[str, Any]) -> None:
    method = dazle(**changes)
    p = parameters_of(method)
    words = words_of(p, changes.get("normalise_words", False))
    scores = [class_scores(plain_dazle(p, image, words)) for image in IMAGES]
    torch.testing.assert_close(method.predict(torch.stack(IMAGES)).scores, torch.stack(scores))
    plain_loss = plain_cross_entropy(scores, TARGETS, EVERY) + 0.1 * plain_mass_calibration(scores, SEEN, 2.0)
    same_gradients(method, method.loss(torch.stack(IMAGES), LABELS, 0)["loss"], p, plain_loss)
