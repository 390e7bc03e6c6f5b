"""Small backbones that several methods are tested on."""

import pytest

from recompose.backbones.clip import Backbone
from tests.tracks.czsl.methods.derivations import small_backbone


@pytest.fixture(scope="module", params=["shapes-clip", "uneven-clip"])
def either(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Backbone:
    return small_backbone(request.param, tmp_path_factory.mktemp("architectures"))


@pytest.fixture(scope="module")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Backbone:
    return small_backbone("uneven-clip", tmp_path_factory.mktemp("architectures"))
