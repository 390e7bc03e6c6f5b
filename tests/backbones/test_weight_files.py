"""Weights in files as people have them: all wrappings of one checkpoint, and what stands in the place of one."""

import argparse
import os
import re
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from recompose.backbones.published import weights_urls
from recompose.backbones.weight_files import TOP, load_weights
from recompose.errors import DataError
from recompose.params.loading import load_params
from recompose.params.sections import Released
from recompose.tracks import TRACKS
from tests.conftest import ROOT
from tests.errors import raises

State = dict[str, Tensor]


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 4, 2)
        self.bn1 = nn.BatchNorm2d(4)
        self.register_buffer("attn_mask", torch.ones(2), persistent=False)


class Network(nn.Module):
    """A network with the kinds of names that a CLIP has."""

    def __init__(self, seed: int = 0, width: int = 4) -> None:
        torch.manual_seed(seed)
        super().__init__()
        self.visual = Block()
        self.transformer = nn.Sequential(nn.Linear(2, width), nn.Linear(width, 2))
        self.logit_scale = nn.Parameter(torch.tensor(float(seed)))

    def forward(self, pixels: Tensor) -> Tensor:
        return self.visual.bn1(self.visual.conv1(pixels))


@pytest.fixture
def state() -> State:
    return Network(seed=3).state_dict()


def behind(prefix: str, state: State) -> State:
    return {f"{prefix}{name}": tensor for name, tensor in state.items()}


def within(words: str, state: State, part: str = "visual.") -> State:
    """Words after a part of names, where that part alone was wrapped."""
    return {name.replace(part, f"{part}{words}"): tensor for name, tensor in state.items()}


CONSTANTS = {name: torch.tensor(7) for name in ("input_resolution", "context_length", "vocab_size")}
OPTIMIZER = {"state": {0: {"exp_avg": torch.zeros(2)}}, "param_groups": [{"lr": 0.1}]}
WRAPPED: dict[str, Callable[[State], Any]] = {
    "Lightning": lambda state: {"state_dict": behind("model.", state), "epoch": 3, "optimizer_states": [OPTIMIZER]},
    "a method of a CLIP": lambda state: behind("method.backbone.model.", state),
    "FSDP": lambda state: behind("_fsdp_wrapped_module.", within("_fsdp_wrapped_module.", state)),
    "a compiled tower": lambda state: within("_orig_mod.", state),
    "open_clip": lambda state: {"epoch": 1, "state_dict": behind("module.", state), "optimizer": OPTIMIZER},
    "ema": lambda state: {"ema": {"decay": 0.9, "shadow": state}},
    "DeepSpeed": lambda state: {"module": state, "dp_world_size": 8},
    "a mapping for each tower": lambda state: {
        "visual": {name.removeprefix("visual."): state[name] for name in state if name.startswith("visual.")},
        **{name: state[name] for name in state if not name.startswith("visual.")},
    },
    "constants": lambda state: state | CONSTANTS,
    "one number as a list": lambda state: state | {"logit_scale": state["logit_scale"].reshape(1)},
    "parameters": lambda state: OrderedDict(
        (name, nn.Parameter(t, t.is_floating_point())) for name, t in state.items()
    ),
    "without counters": lambda state: {name: tensor for name, tensor in state.items() if "num_batches" not in name},
    "arguments": lambda state: {"state_dict": state, "args": argparse.Namespace(lr=0.1, path=Path("x"))},
}


def expected_of(name: str, state: State) -> State:
    """A counter that a file lacks begins at zero."""
    return state | ({key: torch.tensor(0) for key in state if "num_batches" in key} if "counters" in name else {})


@pytest.mark.parametrize("name", WRAPPED)
def test_every_wrapping_of_a_checkpoint_is_read(name: str, state: State, tmp_path: Path) -> None:
    path, network = tmp_path / "weights.pt", Network()
    torch.save(WRAPPED[name](state), path)
    assert load_weights(network, path, "a network") == ()
    for key, tensor in expected_of(name, state).items():
        assert torch.equal(network.state_dict()[key], tensor), key


@pytest.mark.parametrize(
    ("wrap", "parts"),
    [
        (lambda one, other: {"model": one, "ema": other}, ("model", "ema")),
        (lambda one, other: {"state_dict": behind("student.", one) | behind("teacher.", other)}, None),
        (lambda one, other: one | {"ema": other}, (TOP, "ema")),
    ],
)
def test_of_several_weights_the_user_chooses(wrap: Any, parts: Any, state: State, tmp_path: Path) -> None:
    path, other = tmp_path / "weights.pt", Network(seed=8).state_dict()
    torch.save(wrap(state, other), path)
    with raises(DataError, "several-weights", path) as caught:
        load_weights(Network(), path, "a network")
    parts = parts or ("state_dict/student", "state_dict/teacher")
    assert all(part in str(caught.value) for part in parts)
    for part, expected in zip(parts, (state, other), strict=True):
        network = Network()
        load_weights(network, path, "a network", part=part)
        assert torch.equal(network.logit_scale, expected["logit_scale"])
    with raises(DataError, "unknown-part", path):
        load_weights(Network(), path, "a network", part="averaged")


def test_an_error_names_what_is_missing_beside_what_is_there(state: State, tmp_path: Path) -> None:
    path = tmp_path / "weights.pt"
    del state["logit_scale"]
    sized = "transformer.0.bias, transformer.0.weight, transformer.1.weight differ in size ([5], not [4])"
    for content, words in (
        (behind("module.", state) | {"module.proj\x1b[31m": torch.zeros(1)}, "lacks logit_scale, and it has proj"),
        (Network(width=5).state_dict(), sized),
        ({"text_model.embeddings": torch.zeros(2)}, "text_model.embeddings instead"),
    ):
        torch.save({"state_dict": content}, path)
        with raises(DataError, "other-architecture", path) as caught:
            load_weights(Network(), path, "a network")
        assert words in str(caught.value)


class Hostile:
    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> Any:
        return os.system, (self.command,)


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"state_dict": Hostile("touch ran")}, "posix.system"),
        ({"args": argparse.Namespace(lr=1)}, "argparse.Namespace"),
        ([1, 2], "no weights by name"),
    ],
)
def test_no_checkpoint_is_named(
    content: Any, reason: str, zipped: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "weights.pt"
    torch.save(content, path, _use_new_zipfile_serialization=zipped)
    with raises(DataError, place=path) as caught:
        load_weights(Network(), path, "a network")
    message = str(caught.value)
    assert caught.value.code in ("unreadable-weights", "no-weights")
    assert reason in message and message.isprintable()
    assert "weights_only" not in message and "add_safe_globals" not in message
    assert not (tmp_path / "ran").exists()


def test_an_archive_of_code_runs_only_if_it_is_trusted_and_the_advice_for_others_works(
    state: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path, network = tmp_path / "scripted one.pt", Network()
    torch.jit.trace(Network(seed=3).eval(), torch.zeros(1, 3, 4, 4)).save(str(path))
    assert zipfile.is_zipfile(path)
    with raises(DataError, "weights-with-code", path) as caught:
        load_weights(network, path, "a network")
    load_weights(network, path, "a network", trusted=True)
    assert torch.equal(network.logit_scale, state["logit_scale"])
    advice = re.search("`(.+)`", str(caught.value))
    assert advice
    exec(advice[1], {"torch": torch})
    network = Network()
    load_weights(network, Path("weights.pt"), "a network")
    assert torch.equal(network.visual.conv1.weight, state["visual.conv1.weight"])


# where published weights come from


HUB = "https://huggingface.co"


def urls_of(section: Released) -> list[str]:
    source = section.weights
    return weights_urls(section.architecture, source.file, source.urls, source.tag)


def released(file: str, **source: object) -> Released:
    weights = {"file": file, "sha256": "0" * 64, **source}
    return Released.model_validate({"architecture": "ViT-B-32", "activation": "quick_gelu", "weights": weights})


def test_openai_s_files_have_the_digests_of_their_addresses() -> None:
    sections = load_params(ROOT / "params.yaml", TRACKS.forms).backbones.values()
    by_openai = [each for each in sections if isinstance(each, Released) and each.weights.tag == "openai"]
    assert len(by_openai) == 4
    for section in by_openai:
        (url,) = urls_of(section)
        assert url.split("/")[-2:] == [section.weights.sha256, section.weights.file]


def test_a_file_of_tensors_alone_comes_from_the_hub() -> None:
    name = "open_clip_model.safetensors"
    openai, laion = (urls_of(released("a.safetensors", tag=tag)) for tag in ("openai", "datacomp-XL-s13B-b90K"))
    assert openai == [f"{HUB}/timm/vit_base_patch32_clip_224.openai/resolve/main/{name}"]
    assert laion == [f"{HUB}/laion/CLIP-ViT-B-32-DataComp.XL-s13B-b90K/resolve/main/{name}"]


def test_addresses_of_one_s_own_come_first() -> None:
    own = "https://example.org/a.pt"
    assert urls_of(released("a.pt", urls=[own])) == [own]
    first, second = urls_of(released("a.pt", urls=[own], tag="openai"))
    assert first == own and "openai" in second


def test_a_tag_or_a_file_that_does_not_exist_is_named_with_what_does() -> None:
    with raises(DataError, "unknown-tag", "opnai") as caught:
        urls_of(released("a.pt", tag="opnai"))
    assert "the nearest is 'openai'" in str(caught.value)
    with raises(DataError, "unknown-file", "a.bin") as caught:
        urls_of(released("a.bin", tag="openai"))
    assert "ViT-B-32.pt" in str(caught.value) and HUB in str(caught.value)
