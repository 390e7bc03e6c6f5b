"""The arrays of caches that do not exist yet: their files, types, and the shape of one image's part."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from pydantic import BaseModel

from recompose.backbones.arrays import Layout, embeddings_layout, grids_layout, pixels_layout
from recompose.plan import ARCHITECTURES, Recipe

# of residual networks: output channels as a multiple of the stem's width, and the side of a region in pixels
STAGES = {"layer1": (4, 4), "layer2": (8, 8), "layer3": (16, 16), "layer4": (32, 32)}
TORCHVISION = 64  # width of the stem of torchvision's residual networks


def layout(cached: Recipe) -> Layout | None:
    """Return the array of features, grids or pixels; None where it cannot be derived from the recipe."""
    return {"features": _features, "grids": _grids, "pixels": _pixels}[cached.kind](cached)


def _pixels(cached: Recipe) -> Layout:
    return pixels_layout(cached.document["size"], cached.document["size"])


def _features(cached: Recipe) -> Layout | None:
    config = clip_config(cached.needs["backbone"])
    return None if config is None else embeddings_layout(config.embed_dim)


def _grids(cached: Recipe) -> Layout | None:
    if "backbone" not in cached.needs or cached.document["layer"] not in STAGES:
        return None
    channels, side = STAGES[cached.document["layer"]]
    config = clip_config(cached.needs["backbone"])
    width = config.vision_cfg.width if config else TORCHVISION
    return grids_layout((int(cached.document["size"]) // side) ** 2, channels * width)


class VisionConfig(BaseModel):
    """The part of a CLIP's configuration that describes its vision tower."""

    width: int = 768  # open_clip's default


class ClipConfig(BaseModel):
    """The part of a CLIP's configuration, in open_clip's form, that shapes depend on."""

    embed_dim: int
    vision_cfg: VisionConfig


def clip_config(backbone: Recipe) -> ClipConfig | None:
    """Return the configuration of a CLIP, or None where the backbone is no CLIP."""
    architecture = backbone.document["architecture"]
    return _named_config(architecture) if isinstance(architecture, str) else ClipConfig.model_validate(architecture)


@cache
def _named_config(name: str) -> ClipConfig | None:
    spec = find_spec("open_clip")  # does not import it, which takes seconds
    folders = [Path(place) / "model_configs" for place in (spec.submodule_search_locations or ())] if spec else []
    for path in (folder / f"{name}.json" for folder in (*folders, ARCHITECTURES)):
        if path.is_file():
            return ClipConfig.model_validate_json(path.read_text(encoding="utf-8"))
    return None
