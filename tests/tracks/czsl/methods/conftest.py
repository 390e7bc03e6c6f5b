"""A small backbone and images that several methods are tested on."""

import pytest
from torch import Tensor

from recompose.backbones.clip import Backbone
from tests.tracks.czsl.methods.derivations import random_images, small_backbone


@pytest.fixture(scope="module")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Backbone:
    return small_backbone("uneven-clip", tmp_path_factory.mktemp("architectures"))


@pytest.fixture(scope="module")
def images() -> Tensor:
    return random_images(3)
