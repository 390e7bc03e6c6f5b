"""Evaluation of a run's CLIP, or of a pretrained one, on all suites of a profile."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save_file

from recompose.backbones.arrays import ShardedArray
from recompose.backbones.clip import Backbone
from recompose.backbones.pixels import read_pixels
from recompose.files import write_atomically
from recompose.tracks.building import COSTS, Document, TypedSettings
from recompose.tracks.vlc.building import restore_clip
from recompose.tracks.vlc.data.index import pictures_of, read_suites, texts_of
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.methods.settings import CaptionScoring, ClipScoring
from recompose.tracks.vlc.suites.embeddings import image_embeddings, text_embeddings
from recompose.tracks.vlc.suites.scores import FILE, Features, suite_scores, write_scores
from recompose.training.hardware import Hardware
from recompose.training.resources import EvaluationCosts

ATTRIBUTION_CODE = "recompose.tracks.vlc.attribution.attribute"  # by name: outside other fingerprints
EMBEDDINGS = "embeddings.safetensors"  # of pictures and texts, where they are saved
SUITES, PIXELS = "suites-", "pixels-"  # prefixes of the names of collections, in an evaluation's needs


@dataclass(frozen=True)
class Collection:
    """Suites that share raw files, with their pixels and embeddings."""

    suites: list[Suite]
    pixels: np.ndarray | ShardedArray  # [pictures, 3, height, width] bytes
    images: np.ndarray  # [pictures, E]
    texts: np.ndarray  # [texts, E]

    def features(self) -> list[Features]:
        """Return each suite's features, as rows of the shared embeddings."""
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


def evaluate(document: Document, needs: Mapping[str, Path], folder: Path, hardware: Hardware, title: str) -> None:
    """Score a model on suites, and write ``scores.safetensors`` and ``costs.json`` into a folder.

    ``embeddings.safetensors`` and ``attribution.safetensors`` are written where the document saves them.

    Args:
        document: ``class``, ``settings`` with ``scoring``, ``threads`` and ``save``.
        needs: the verified folders ``backbone``, ``run`` of a trained method, and the index and the pixels of each
            collection of suites.
        folder: the folder for results.
        hardware: the device to compute on.
        title: the title of progress reports.

    Raises:
        DataError: the pictures' size is not the model's.
    """
    torch.set_num_threads(document["threads"])
    scoring = TypedSettings(document).scoring
    assert isinstance(scoring, ClipScoring)
    alpha = scoring.alpha if isinstance(scoring, CaptionScoring) else 1.0
    backbone = restore_clip(document, needs, alpha, scoring.activation)
    backbone = backbone.to(hardware.device).eval()
    costs = EvaluationCosts(0, hardware.device)
    scores: dict[str, np.ndarray] = {}
    with costs.scoring():
        collections = {
            name: encode_collection(backbone, needs, name, hardware.device, title) for name in collection_names(needs)
        }
        for collection in collections.values():
            for suite, features in zip(collection.suites, collection.features(), strict=True):
                scores |= suite_scores(suite, features)
    write_scores(scores, folder / FILE)
    if "embeddings" in document["save"]:
        embeddings = {f"{name}/images": collection.images for name, collection in collections.items()}
        embeddings |= {f"{name}/texts": collection.texts for name, collection in collections.items()}
        write_atomically(folder / EMBEDDINGS, lambda path: save_file(embeddings, path))
    if "attribution" in document["save"]:
        write_attributions = import_module(ATTRIBUTION_CODE).write_attributions
        write_attributions(backbone, [collections[name] for name in sorted(collections)], folder, title)
    costs.write(folder / COSTS)


def collection_names(needs: Mapping[str, Path]) -> list[str]:
    """Return the names of the collections of suites among an evaluation's needs."""
    return [role.removeprefix(SUITES) for role in needs if role.startswith(SUITES)]


def encode_collection(
    backbone: Backbone, needs: Mapping[str, Path], name: str, device: torch.device, title: str
) -> Collection:
    """Return a collection of suites with all its pictures and texts encoded, each once."""
    suites, pixels = read_suites(needs[SUITES + name]), read_pixels(needs[PIXELS + name])
    images = image_embeddings(backbone, pixels, device, title)
    return Collection(suites, pixels, images, text_embeddings(backbone, texts_of(suites), device, title))
