"""A small backbone and a small data set that several modules are tested on."""

from pathlib import Path

import numpy as np
import pytest

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.data.pairs import PairData, Sample
from tests.clips import random_clip
from tests.tracks.czsl.methods.derivations import random_images
from tests.tracks.czsl.tiny import write_inputs

PAIRS = {
    "train": [("wet", "dog"), ("dry", "cat"), ("wet", "cat")],
    "val": [("wet", "dog"), ("dry", "dog")],
    "test": [("dry", "cat"), ("old", "cat")],
}


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    return random_clip()


@pytest.fixture(scope="module")
def data() -> PairData:
    """Images of the three splits in turns."""
    order = ["test", "train", "val", "train"] * 5
    samples = [Sample(f"{n}.png", *PAIRS[split][n // 4 % len(PAIRS[split])], split) for n, split in enumerate(order)]
    return PairData(PAIRS, samples)


@pytest.fixture(scope="module")
def embeddings(backbone: Backbone, data: PairData) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(len(data.samples), backbone.width)).astype(np.float32)


@pytest.fixture(scope="module")
def needs(
    backbone: Backbone, data: PairData, embeddings: np.ndarray, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """The folders that runs and evaluations need."""
    pixels = random_images(len(data.samples)).numpy()
    return write_inputs(tmp_path_factory.mktemp("inputs"), backbone, data, embeddings, pixels)
