"""Random crops against Pillow's own, and against how torchvision draws them."""

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor
from torchvision.transforms import RandomResizedCrop

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
