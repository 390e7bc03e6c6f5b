"""A tiny data set on disk, as trainings and evaluations read it: an index, features and a backbone."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.torch import save_file

from recompose.backbones.clip import Backbone
from recompose.files import write_json
from recompose.tracks.czsl.data.pairs import Pair, PairData, Sample
from recompose.tracks.czsl.methods.clip_coop_csp import CSP
from recompose.training.hardware import Hardware

CPU = Hardware(precision="32-true", accelerator="cpu", devices=1)


def pairs_in_turns(pairs: Mapping[str, list[Pair]], **images: int) -> PairData:
    """Return data with so many images of each split, of its pairs in turns."""
    samples = [
        Sample(f"{split}{index}.png", *pairs[split][index % len(pairs[split])], split)
        for split, count in images.items()
        for index in range(count)
    ]
    return PairData(dict(pairs), samples)


def write_inputs(
    folder: Path, backbone: Backbone, data: PairData, embeddings: np.ndarray, pixels: np.ndarray | None = None
) -> dict[str, Path]:
    """Write the folders of a data set, and return them by the names that documents need them under."""
    needs = {name: folder / name for name in ("data", "features", "pixels", "backbone")}
    for path in needs.values():
        path.mkdir(parents=True)
    data.write(needs["data"])
    np.save(needs["features"] / "embeddings.npy", embeddings)
    if pixels is not None:
        np.save(needs["pixels"] / "pixels.npy", pixels)
    save_file(backbone.model.state_dict(), needs["backbone"] / "weights.safetensors")
    description = {"architecture": "shapes-clip", "activation": "gelu", "weights": "weights.safetensors"}
    write_json(needs["backbone"] / "backbone.json", description)
    return needs


def run_document(
    method: type, settings: dict[str, Any], *, seed: int = 0, precision: str = "32-true"
) -> dict[str, Any]:
    """The document of a run: settings hold ``training``."""
    return {
        "class": f"{method.__module__}:{method.__name__}",
        "settings": settings,
        "seed": seed,
        "trainer": {"precision": precision, "threads": 1},
    }


def evaluation_document(
    method: type,
    settings: dict[str, Any],
    *,
    seed: int = 0,
    feasibility: dict[str, str] | None = None,
    save: tuple[str, ...] = (),
) -> dict[str, Any]:
    """The document of an evaluation: settings may hold ``scoring``."""
    return {
        "class": f"{method.__module__}:{method.__name__}",
        "settings": settings,
        "seed": seed,
        "threads": 1,
        "feasibility": feasibility,
        "save": list(save),
    }


class TowerTuningCSP(CSP):
    """CSP that tunes the projection of the text tower, too."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.backbone.model.text_projection.requires_grad_(True)
