"""An evaluation: what a run left, or a CLIP as it was pretrained, on all suites of a profile."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save_file
from torch import Tensor
from torch.nn.functional import normalize

from recompose.backbones.clip import Backbone
from recompose.backbones.pixels import read_pixels
from recompose.files import write_atomically
from recompose.progress import Pace
from recompose.tracks.vlc.building import COSTS, check_size, restored
from recompose.tracks.vlc.data.index import pictures, read_suites
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.scores import FILE, Features, suite_scores, write_scores
from recompose.training.hardware import Hardware
from recompose.training.resources import EvaluationCosts

EMBEDDINGS = "embeddings.safetensors"  # of pictures and texts, where they are kept
SUITES, PIXELS = "suites-", "pixels-"  # before the names of collections of suites, in what an evaluation needs
BLOCK = 256  # images or texts in one pass through a tower


def evaluate(
    document: Mapping[str, Any], needs: Mapping[str, Path], folder: Path, hardware: Hardware, title: str
) -> None:
    """Score a model on suites, and leave ``scores.safetensors`` and ``costs.json``, and ``embeddings.safetensors``
    where they are kept, in a folder.

    Args:
        document: ``settings``, with ``scoring.alpha`` where there is a run, ``threads`` and ``keeps``.
        needs: the verified folders ``backbone``, of a trained method ``run``, and of each collection of suites its
            index and its pixels.
        folder: where results are left.
        hardware: where torch computes.
        title: what progress is reported under.

    Raises:
        DataError: pictures are of another size than the model takes.
    """
    torch.set_num_threads(document["threads"])
    alpha = document["settings"]["scoring"]["alpha"] if "run" in needs else 1.0
    backbone = restored(document, needs, alpha).to(hardware.device).eval()
    costs = EvaluationCosts(0, hardware.device)
    scores: dict[str, np.ndarray] = {}
    kept: dict[str, np.ndarray] = {}
    with costs.scoring():
        for name in collections(needs):
            suites, index = read_suites(needs[SUITES + name]), needs[SUITES + name]
            texts = list(dict.fromkeys(text for suite in suites for text in suite.texts))
            images = image_embeddings(backbone, read_pixels(needs[PIXELS + name]), hardware.device, title)
            told = text_embeddings(backbone, texts, hardware.device)
            rows = {picture: row for row, picture in enumerate(pictures(index))}
            places = {text: row for row, text in enumerate(texts)}
            for suite in suites:
                scores |= suite_scores(suite, features_of(suite, images, told, rows, places))
            kept |= {f"{name}/images": images, f"{name}/texts": told}
    write_scores(scores, folder / FILE)
    if "embeddings" in document["keeps"]:
        write_atomically(folder / EMBEDDINGS, lambda path: save_file(kept, path))
    costs.write(folder / COSTS)


def collections(needs: Mapping[str, Path]) -> list[str]:
    """The names of the collections of suites among what an evaluation needs."""
    return [role.removeprefix(SUITES) for role in needs if role.startswith(SUITES)]


def features_of(
    suite: Suite, images: np.ndarray, texts: np.ndarray, rows: Mapping[Any, int], places: Mapping[str, int]
) -> Features:
    """The embeddings of one suite, of those of all."""
    image_rows = np.array([rows[picture] for picture in suite.images], dtype=np.int64)
    return Features(images, texts, image_rows, np.array([places[text] for text in suite.texts], dtype=np.int64))


def image_embeddings(backbone: Backbone, pixels: np.ndarray, device: torch.device, title: str) -> np.ndarray:
    """Embeddings [images, E] of length 1, in 32 bits, of pixels [images, 3, height, width] as bytes.

    Raises:
        DataError: they are of another size than the image tower takes.
    """
    check_size(pixels.shape[2:], backbone.image_size)
    pace = Pace(title, "image", len(pixels))

    def encode(block: slice) -> Tensor:
        pace.at(block.start)
        return backbone.encode_image(backbone.from_bytes(torch.from_numpy(np.array(pixels[block])).to(device)))

    return _embeddings(encode, len(pixels), backbone.width)


def text_embeddings(backbone: Backbone, texts: Sequence[str], device: torch.device) -> np.ndarray:
    """Embeddings [texts, E] of length 1, in 32 bits: those of like length in one pass, whose padding is not
    computed.
    """
    ids = torch.cat([backbone.tokens(texts[start : start + BLOCK]).cpu() for start in range(0, len(texts), BLOCK)])
    order = (ids != 0).sum(dim=1).argsort(stable=True)
    made = _embeddings(lambda block: backbone.encode_text(ids[order[block]].to(device)), len(texts), backbone.width)
    embeddings = np.empty_like(made)
    embeddings[order.numpy()] = made
    return embeddings


@torch.no_grad()
def _embeddings(encode: Callable[[slice], Tensor], count: int, width: int) -> np.ndarray:
    embeddings = np.empty((count, width), dtype=np.float32)
    for start in range(0, count, BLOCK):
        block = slice(start, min(start + BLOCK, count))
        embeddings[block] = normalize(encode(block).float(), dim=-1).cpu().numpy()
    return embeddings
