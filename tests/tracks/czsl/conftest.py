"""A small backbone and a small data set that several modules are tested on."""

import numpy as np
import pytest

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.data.pairs import PairData, Sample
from tests.clips import random_clip

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
