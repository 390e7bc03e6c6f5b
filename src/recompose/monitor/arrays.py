"""The arrays that caches hold, before they are there: their files, types, and the shape of an image's part."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from recompose.backbones.arrays import Layout, embeddings_layout, grids_layout, pixels_layout
from recompose.plan import ARCHITECTURES, Recipe

# of residual networks: channels for each of the stem's width, and pixels of a region's side
STAGES = {"layer1": (4, 4), "layer2": (8, 8), "layer3": (16, 16), "layer4": (32, 32)}
TORCHVISION = 64  # the width of the stem of torchvision's residual networks


def layout(cached: Recipe) -> Layout | None:
    """The array of features, grids or pixels; None where it is not known beforehand."""
    return {"features": _features, "grids": _grids, "pixels": _pixels}[cached.kind](cached)


def _pixels(cached: Recipe) -> Layout:
    return pixels_layout(cached.document["size"], cached.document["size"])


def _features(cached: Recipe) -> Layout | None:
    network = network_of(cached.needs["backbone"])
    return None if network is None else embeddings_layout(int(network["embed_dim"]))


def _grids(cached: Recipe) -> Layout | None:
    if "backbone" not in cached.needs or cached.document["layer"] not in STAGES:
        return None
    channels, side = STAGES[cached.document["layer"]]
    network = network_of(cached.needs["backbone"])
    width = int(network["vision_cfg"]["width"]) if network else TORCHVISION
    return grids_layout((int(cached.document["size"]) // side) ** 2, channels * width)


def network_of(backbone: Recipe) -> Mapping[str, Any] | None:
    """What a CLIP is, as open_clip declares it; None of what is no CLIP."""
    declared = backbone.document["architecture"]
    return _declared(declared) if isinstance(declared, str) else dict(declared)


@cache
def _declared(name: str) -> Mapping[str, Any] | None:
    spec = find_spec("open_clip")  # found without importing it, which takes seconds
    folders = [Path(place) / "model_configs" for place in (spec.submodule_search_locations or ())] if spec else []
    for path in (folder / f"{name}.json" for folder in (*folders, ARCHITECTURES)):
        if path.is_file():
            network: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return network
    return None
