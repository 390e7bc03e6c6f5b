"""Random crops against Pillow's own, and against how torchvision draws them."""

from math import log

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor
from torchvision.transforms import RandomResizedCrop

from recompose.tracks.vlc import crops
from recompose.tracks.vlc.crops import random_boxes, random_crops

SIZE = 32
CPU = torch.device("cpu")


def draw_boxes(count: int, seed: int = 0) -> Tensor:
    torch.manual_seed(seed)
    return random_boxes(count, SIZE, CPU)


def test_crops_are_those_of_pillow() -> None:
    generator = torch.Generator().manual_seed(1)
    # far enough from 0 and 255, since Pillow cuts off what is beyond them between rows and columns, too
    images = torch.randint(64, 192, (16, 3, SIZE, SIZE), generator=generator, dtype=torch.uint8)
    boxes = draw_boxes(16)
    torch.manual_seed(0)
    result = random_crops(images)
    for image, (top, left, height, width), crop in zip(images, boxes.T.tolist(), result, strict=True):
        picture = Image.fromarray(image.permute(1, 2, 0).numpy())
        cut = picture.crop((left, top, left + width, top + height)).resize((SIZE, SIZE), Image.Resampling.BICUBIC)
        expected = np.asarray(cut).transpose(2, 0, 1).astype(np.float32)
        # Pillow rounds to bytes between rows and columns, and again
        assert np.abs(crop.numpy() - expected).max() <= 1.6
        assert np.abs(crop.numpy() - expected).mean() < 0.5


def test_the_whole_image_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = torch.tensor([0, 0, SIZE, SIZE])[:, None].expand(-1, 2)
    monkeypatch.setattr(crops, "random_boxes", lambda *_: whole)
    images = torch.randint(0, 256, (2, 3, SIZE, SIZE), dtype=torch.uint8)
    torch.testing.assert_close(random_crops(images), images.float())


def test_boxes_lie_in_the_image_and_have_the_area_and_the_shape_that_is_asked_for() -> None:
    top, left, height, width = draw_boxes(5000)
    assert (top >= 0).all() and (left >= 0).all()
    assert (top + height <= SIZE).all() and (left + width <= SIZE).all()
    # sides are rounded by up to half a pixel
    assert (height * width >= 0.9 * SIZE**2 - SIZE).all()
    ratios = (width / height).log()
    assert ratios.abs().max() <= log(4 / 3) + 0.04


@pytest.mark.slow
def test_boxes_are_drawn_as_torchvision_draws_them() -> None:
    torch.manual_seed(5)
    image = torch.zeros(3, SIZE, SIZE)
    theirs = torch.tensor(
        [RandomResizedCrop.get_params(image, [0.9, 1.0], [3 / 4, 4 / 3]) for _ in range(4000)], dtype=torch.float64
    )
    ours = draw_boxes(20000).T.double()
    for part in range(4):
        assert ours[:, part].mean() == pytest.approx(theirs[:, part].mean().item(), abs=0.06)
        assert ours[:, part].std() == pytest.approx(theirs[:, part].std().item(), abs=0.06)
    whole = [(each[:, 2:] == SIZE).all(dim=1).double().mean().item() for each in (ours, theirs)]
    assert whole[0] == pytest.approx(whole[1], abs=0.03)
