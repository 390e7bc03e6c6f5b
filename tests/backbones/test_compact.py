"""Weights of small CLIPs as small files: what is kept, what is filled in, and the files that are released."""

from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file
from torch import Tensor

from recompose.backbones.clip import end_of_text, load
from recompose.backbones.compact import TABLE, USED, write_compact
from recompose.digest import sha256_file
from recompose.params.loading import load_params
from recompose.params.sections import Bundled
from recompose.tracks import TRACKS
from tests.clips import random_clip
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

MEGA = 10**6
LARGEST = 4 * MEGA  # bytes of a file that a clone is to hold
BUNDLED = {
    name: section
    for name, section in load_params(ROOT / "params.yaml", TRACKS.forms).backbones.items()
    if isinstance(section, Bundled)
}
IDS = torch.tensor([3, 77, 320, 49_406, 49_407])


@pytest.fixture(scope="module")
def state() -> dict[str, Tensor]:
    """Weights of a small CLIP, with numbers and a flag that are no weights."""
    return random_clip(5, "shapes-resnet").model.state_dict()  # with counts of batches, which are whole numbers


@pytest.fixture(scope="module")
def compact_file(state: dict[str, Tensor], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("compact") / "weights.safetensors"
    write_compact(state, IDS, path, {"backbone": "small"})
    return path


def test_vectors_and_counts_are_written_whole_and_of_the_table_its_used_rows(
    state: dict[str, Tensor], compact_file: Path
) -> None:
    raw = load_file(compact_file)
    assert raw.keys() == state.keys() | {USED}
    assert torch.equal(raw[USED], IDS)
    assert raw[TABLE].shape == (len(IDS), state[TABLE].shape[1])
    for name, tensor in raw.items():
        few = name == USED or not state[name].is_floating_point() or state[name].ndim < 2
        assert few or tensor.dtype == torch.float16, name
        assert not few or name == USED or torch.equal(tensor, state[name]), name
    with safe_open(compact_file, "pt") as file:
        assert file.metadata() == {"backbone": "small"}


# the files that are released


@pytest.mark.parametrize("name", BUNDLED)
def test_a_released_file_is_small_and_is_the_one_that_params_yaml_names(name: str) -> None:
    asset = BUNDLED[name].asset
    path = ROOT / "assets" / asset.file
    assert sha256_file(path) == asset.sha256
    assert path.stat().st_size < LARGEST
    with safe_open(path, "pt") as file:
        about = file.metadata()
    assert about["backbone"].removesuffix("-from-scratch") == name  # as whoever pretrained it called it


@pytest.mark.parametrize("name", BUNDLED)
def test_a_released_backbone_fits_its_architecture_and_tells_texts_apart(name: str) -> None:
    section = BUNDLED[name]
    path = ROOT / "assets" / section.asset.file
    backbone = load(section.architecture, section.activation, path)
    assert all(torch.isfinite(tensor).all() for tensor in backbone.model.state_dict().values())
    ids = backbone.tokens(["a photo of a red circle", "a photo of a blue circle", "a photo of a red circle"])
    used = load_file(path)[USED]
    assert used[-1] == ids[0, end_of_text(ids)[0]]
    assert set(ids[ids > 0].tolist()) <= set(used.tolist())
    with torch.no_grad():
        one, other = backbone.encode_text(ids[:2])
        same, _ = backbone.encode_text(ids[[2, 1]])  # in the same row: kernels may sum another one in another order
    assert torch.equal(one, same)
    assert not torch.allclose(one, other, atol=1e-2)
