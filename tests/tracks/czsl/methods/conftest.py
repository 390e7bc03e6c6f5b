"""A small backbone and images that several methods are tested on."""

import pytest
from torch import Tensor

from recompose.backbones.clip import Backbone
from tests.clips import random_clip
from tests.tracks.czsl.methods.derivations import UNEVEN, random_images


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    return random_clip(architecture="uneven-clip", config=UNEVEN)


@pytest.fixture(scope="module")
def images() -> Tensor:
    return random_images(4)
