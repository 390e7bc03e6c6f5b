"""A tiny data set on disk, as trainings and evaluations read it: an index, features and a backbone."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.data.pairs import Pair, PairData, Sample
from recompose.tracks.czsl.methods.clip_coop_csp import CSP
from tests.clips import write_backbone


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
    write_backbone(backbone, needs["backbone"])
    return needs


class TowerTuningCSP(CSP):
    """CSP that tunes the projection of the text tower, too."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.backbone.model.text_projection.requires_grad_(True)
