"""Augmentation: drawn for each image, determined by the seed, and never beyond what an image holds."""

import pytest
import torch
from torch import Tensor

from recompose.training.augmentation import Augmentation


@pytest.fixture
def images() -> Tensor:
    """200 times the same picture: bright on the left, dark on the right."""
    picture = torch.linspace(250, 50, 64).round().to(torch.uint8).expand(3, 64, 64)
    return picture.expand(200, 3, 64, 64).contiguous()


def augmented(images: Tensor, seed: int) -> Tensor:
    torch.manual_seed(seed)
    return Augmentation()(images)


@pytest.mark.slow
def test_the_seed_determines_what_is_drawn(images: Tensor) -> None:
    assert torch.equal(augmented(images, 1), augmented(images, 1))
    assert not torch.equal(augmented(images, 1), augmented(images, 2))


def test_each_image_is_drawn_for_itself_and_about_half_are_flipped(images: Tensor) -> None:
    found = augmented(images, 3)
    assert found.shape == images.shape
    distinct = {tuple(image.flatten().tolist()) for image in found}
    assert len(distinct) > 0.8 * len(images)  # angles that hardly differ move the same pixels
    centre = found[:, 0, 24:40]  # away from what came in at the edges
    flipped = (centre[:, :, 16:32].mean(dim=(1, 2)) < centre[:, :, 32:48].mean(dim=(1, 2))).sum()
    assert 70 < int(flipped) < 130
