"""Evaluation of a run's CLIP, or of a pretrained one, on all suites of a profile."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import torch

from recompose.backbones.arrays import StoredArray
from recompose.backbones.pixels import read_pixels
from recompose.tracks.building import SCORES, TypedSettings
from recompose.tracks.evaluating import Scoring, Watch
from recompose.tracks.vlc.building import restore_clip
from recompose.tracks.vlc.data.index import pictures_of, read_suites, texts_of
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.methods.settings import CaptionScoring, ClipScoring
from recompose.tracks.vlc.suites.embeddings import image_embeddings, text_embeddings
from recompose.tracks.vlc.suites.scores import Features, write_scores

ATTRIBUTION_CODE = "recompose.tracks.vlc.attribution.attribute"  # by name: outside other fingerprints
SUITES, PIXELS = "suites-", "pixels-"  # prefixes of the names of collections, in an evaluation's needs


@dataclass(frozen=True)
class EncodedCollection:
    """Suites that share raw files, with their pixels and embeddings."""

    suites: list[Suite]
    pixels: np.ndarray | StoredArray  # [pictures, 3, height, width] bytes
    images: np.ndarray  # [pictures, E]
    texts: np.ndarray  # [texts, E]

    def features(self) -> list[Features]:
        """Return each suite's features, as rows of the shared embeddings."""
        rows = {picture: row for row, picture in enumerate(pictures_of(self.suites))}
        places = {text: row for row, text in enumerate(texts_of(self.suites))}
        return [suite.features(self.images, self.texts, rows, places) for suite in self.suites]


class SuitesScoring(Scoring[dict[str, np.ndarray]]):
    """A pass of a CLIP over suites. Needs are ``backbone``, ``run`` of a trained method, and the index and the pixels
    of each collection of suites.
    """

    def build(self) -> None:
        """Restore the CLIP."""
        (document,) = self.documents
        scoring = TypedSettings(document).scoring
        assert isinstance(scoring, ClipScoring)
        alpha = scoring.alpha if isinstance(scoring, CaptionScoring) else 1.0
        self._backbone = restore_clip(document, self.needs, alpha, scoring.activation).to(self.device).eval()

    def score(self, watch: Watch) -> Sequence[dict[str, np.ndarray]]:
        """Encode all pictures and texts, and return the scores of each sub-task."""
        self._collections: dict[str, EncodedCollection] = {}
        scores: dict[str, np.ndarray] = {}
        for name in (role.removeprefix(SUITES) for role in self.needs if role.startswith(SUITES)):
            suites, pixels = read_suites(self.needs[SUITES + name]), read_pixels(self.needs[PIXELS + name])
            images = image_embeddings(self._backbone, pixels, self.device, self.title)
            texts = text_embeddings(self._backbone, texts_of(suites), self.device, self.title)
            self._collections[name] = collection = EncodedCollection(suites, pixels, images, texts)
            for suite, features in zip(collection.suites, collection.features(), strict=True):
                scores |= suite.scores(features)
        return [scores]

    def embeddings(self) -> dict[str, torch.Tensor]:
        """Return the embeddings of each collection's pictures and texts."""
        images = {f"{name}/images": torch.from_numpy(each.images) for name, each in self._collections.items()}
        return images | {f"{name}/texts": torch.from_numpy(each.texts) for name, each in self._collections.items()}

    def save(self, names: Collection[str], folder: Path) -> None:
        """Write embeddings, and ``attribution.safetensors``."""
        super().save(names, folder)
        if "attribution" in names:
            collections = [self._collections[name] for name in sorted(self._collections)]
            import_module(ATTRIBUTION_CODE).write_attributions(self._backbone, collections, folder, self.title)

    def write(self, scores: dict[str, np.ndarray], folder: Path) -> None:
        """Write ``scores.safetensors``."""
        write_scores(scores, folder / SCORES)


evaluate = SuitesScoring.evaluate
