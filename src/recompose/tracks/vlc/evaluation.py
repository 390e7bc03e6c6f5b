"""An evaluation: what a run left, or a CLIP as it was pretrained, on all suites of a profile."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save_file

from recompose.backbones.arrays import ShardedArray
from recompose.backbones.clip import Backbone
from recompose.backbones.pixels import read_pixels
from recompose.files import write_atomically
from recompose.tracks.vlc.building import COSTS, restored, tokenizer_of
from recompose.tracks.vlc.data.index import pictures_of, read_suites, texts_of
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.embeddings import image_embeddings, text_embeddings
from recompose.tracks.vlc.suites.scores import FILE, Features, suite_scores, write_scores
from recompose.training.hardware import Hardware
from recompose.training.resources import EvaluationCosts

ATTRIBUTING = (
    "recompose.tracks.vlc.attribution.compute_attributions"  # by name: outside other fingerprints
)
EMBEDDINGS = "embeddings.safetensors"  # of pictures and texts, where they are kept
SUITES, PIXELS = "suites-", "pixels-"  # before the names of collections of suites, in what an evaluation needs


@dataclass(frozen=True)
class Collection:
    """Suites that share raw files, with the embeddings of all of them."""

    suites: list[Suite]
    pixels: np.ndarray | ShardedArray  # [pictures, 3, height, width] bytes
    images: np.ndarray  # [pictures, E]
    texts: np.ndarray  # [texts, E]

    def features(self) -> list[Features]:
        """The embeddings of each suite, of those of all."""
        rows = {picture: row for row, picture in enumerate(pictures_of(self.suites))}
        places = {text: row for row, text in enumerate(texts_of(self.suites))}
        return [
            Features(
                self.images,
                self.texts,
                np.array([rows[picture] for picture in suite.images], dtype=np.int64),
                np.array([places[text] for text in suite.texts], dtype=np.int64),
            )
            for suite in self.suites
        ]


def evaluate(
    document: Mapping[str, Any], needs: Mapping[str, Path], folder: Path, hardware: Hardware, title: str
) -> None:
    """Score a model on suites, and leave ``scores.safetensors`` and ``costs.json``, and ``embeddings.safetensors`` and
    ``attribution.safetensors`` where they are kept, in a folder.

    Args:
        document: ``settings`` with ``scoring``, ``threads`` and ``keeps``.
        needs: the verified folders ``backbone``, of a trained method ``run``, and of each collection of suites its
            index and its pixels.
        folder: where results are left.
        hardware: where torch computes.
        title: what progress is reported under.

    Raises:
        DataError: pictures are of another size than the model takes.
    """
    torch.set_num_threads(document["threads"])
    scoring = document["settings"]["scoring"]
    restoring = restored(document, needs, scoring.get("alpha", 1.0), scoring["activation"])
    backbone = restoring.to(hardware.device).eval()
    costs = EvaluationCosts(0, hardware.device)
    scores: dict[str, np.ndarray] = {}
    with costs.scoring():
        known = {name: encoded(backbone, needs, name, hardware.device, title) for name in collections(needs)}
        for collection in known.values():
            for suite, features in zip(collection.suites, collection.features(), strict=True):
                scores |= suite_scores(suite, features)
    write_scores(scores, folder / FILE)
    if "embeddings" in document["save"]:
        kept = {f"{name}/images": each.images for name, each in known.items()}
        kept |= {f"{name}/texts": each.texts for name, each in known.items()}
        write_atomically(folder / EMBEDDINGS, lambda path: save_file(kept, path))
    if "attribution" in document["save"]:
        keep, tokenizer = import_module(ATTRIBUTING).write_attributions, tokenizer_of(needs["backbone"])
        keep(backbone, tokenizer, [each for _, each in sorted(known.items())], folder, title)
    costs.write(folder / COSTS)


def collections(needs: Mapping[str, Path]) -> list[str]:
    """The names of the collections of suites among what an evaluation needs."""
    return [role.removeprefix(SUITES) for role in needs if role.startswith(SUITES)]


def encoded(backbone: Backbone, needs: Mapping[str, Path], name: str, device: torch.device, title: str) -> Collection:
    """A collection of suites, all pictures and texts encoded, each once."""
    suites, pixels = read_suites(needs[SUITES + name]), read_pixels(needs[PIXELS + name])
    images = image_embeddings(backbone, pixels, device, title)
    return Collection(suites, pixels, images, text_embeddings(backbone, texts_of(suites), device, title))
