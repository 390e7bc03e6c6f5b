"""Computation of attributions to the tokens of ARO's true captions, by all four methods, and to patches of some images.

All models use the same conventions, whatever they were tuned with: the defaults of ``methods``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import torch
from torch import Tensor

from recompose.backbones.arrays import StoredArray
from recompose.backbones.clip import Backbone, SharedTokenizer, end_of_text
from recompose.progress import bar, say
from recompose.tracks.vlc.attribution.labels import IsolatedTokenizer, token_labels
from recompose.tracks.vlc.attribution.methods import attention, gradcam, gradient, patches, perturbation
from recompose.tracks.vlc.attribution.store import FILE, Attributed, spans, write
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.evaluation import EncodedCollection
from recompose.tracks.vlc.suites.embeddings import text_embeddings
from recompose.tracks.vlc.suites.scores import BROKEN, Features
from recompose.tracks.vlc.suites.tasks import Choices
from recompose.tracks.vlc.text.aro_captions import ATTRIBUTES, RELATIONS, composition, concepts_of
from recompose.tracks.vlc.text.concepts import Candidates, Concept, Kind, Pieces, Place, perturb_caption, places

TASKS = (RELATIONS, ATTRIBUTES)
SHOWN = 4  # images of a task with attributions to patches: the first distinct ones
REPLACEMENTS = 4  # of each concept of a caption, for perturbation
CANDIDATES: Mapping[Kind, int] = {"object": 150, "attribute": 200, "relation": 36}  # as in the paper
BLOCK = 64  # captions at a time, whose attention of all layers and its gradients fit in memory


@dataclass(frozen=True)
class CaptionsOfTask:
    """The true captions of a task's items, tokenised, with their concepts."""

    name: str  # of the task
    items: np.ndarray  # [texts], their places in the task
    texts: Sequence[str]
    ids: Tensor  # [texts, context]
    concepts: Sequence[list[Concept]]  # [texts]
    places: Sequence[list[Place]]  # [texts], of the concepts in the ids
    pieces: Pieces

    @property
    def width(self) -> int:
        """The number of tokens of the longest caption."""
        return int(end_of_text(self.ids).max()) + 1

    def blocks(self) -> list[slice]:
        """Return the slices of all captions into blocks."""
        return [slice(start, start + BLOCK) for start in range(0, len(self.texts), BLOCK)]


def write_attributions(backbone: Backbone, collections: Sequence[EncodedCollection], folder: Path, title: str) -> None:
    """Write ``attribution.safetensors`` into a folder, with the attributions of all suites that are ARO.

    Args:
        backbone: the model; it is not changed.
        collections: suites of any format.
        folder: of the evaluation.
        title: the title of progress reports.
    """
    by_task: dict[str, Attributed] = {}
    for collection in collections:
        for suite, features in zip(collection.suites, collection.features(), strict=True):
            by_task |= attributions(backbone, suite, features, collection.pixels, title)
    write(by_task, folder / FILE)


def attributions(
    backbone: Backbone, suite: Suite, features: Features, pixels: np.ndarray | StoredArray, title: str
) -> dict[str, Attributed]:
    """Return the attributions of a suite by sub-task; empty for a suite that is not ARO.

    An item whose image cannot be read is left out. A caption that does not follow ARO's template has no labels; a log
    line counts these.

    Args: see ``write_attributions``; ``pixels`` are [rows, 3, height, width] bytes, of the same rows as
        ``features.images``.
    """
    by_task = {}
    for name in TASKS:
        task = suite.tasks.get(name)
        if isinstance(task, Choices) and len(readable := np.flatnonzero(features.image_rows[task.asked] != BROKEN)):
            captions = captions_of(backbone, suite, name, task, readable)
            by_task[name] = _attributed(backbone, captions, task, features, pixels, title)
    return by_task


def captions_of(backbone: Backbone, suite: Suite, name: str, task: Choices, items: np.ndarray) -> CaptionsOfTask:
    """Return the true captions of these items [texts] of a task."""
    texts = [suite.texts[number] for number in task.offered[items, task.true[items]]]
    groups = task.groups or [""] * len(task.asked)
    concepts = [concepts_of(name, text, groups[item]) for text, item in zip(texts, items, strict=True)]
    if without := concepts.count([]):
        say(f"{name}: {without} of {len(items)} captions do not follow ARO's template and have no labels")
    pieces = IsolatedTokenizer(lambda texts: backbone.tokens(texts).cpu())
    ids = torch.cat([backbone.tokens(texts[start : start + BLOCK]).cpu() for start in range(0, len(texts), BLOCK)])
    by_text = [places(of_text, row, pieces) for of_text, row in zip(concepts, ids.tolist(), strict=True)]
    return CaptionsOfTask(name, items, texts, ids, concepts, by_text, pieces)


def _attributed(
    backbone: Backbone,
    captions: CaptionsOfTask,
    task: Choices,
    features: Features,
    pixels: np.ndarray | StoredArray,
    title: str,
) -> Attributed:
    rows = features.image_rows[task.asked[captions.items]]
    _, first = np.unique(rows, return_index=True)
    chosen = np.sort(first)[: SHOWN if backbone.depth else 0]  # a convolutional tower has no patches
    texts = features.texts[features.text_rows[task.offered[captions.items, task.true[captions.items]]]]
    labels = token_labels(captions.places, captions.width)
    return Attributed(
        items=captions.items,
        ids=captions.ids[:, : captions.width].numpy(),
        spans=_spans(captions, backbone.tokenizer),
        objects=labels.objects.numpy(),
        composition=labels.composition.numpy(),
        similarity=_similarity(backbone, captions, texts, title),
        scores=token_scores(backbone, captions, features.images[rows], f"{title}, {captions.name}"),
        shown=chosen,
        patches={"gradcam": _patches(backbone, pixels[rows[chosen]], captions.ids[chosen])} if len(chosen) else {},
    )


def token_scores(backbone: Backbone, captions: CaptionsOfTask, images: np.ndarray, title: str) -> dict[str, np.ndarray]:
    """Return the scores [texts, tokens] of captions by method, given their images' embeddings [texts, E].

    Scores are NaN after the end of text, and by perturbation where nothing is replaced.
    """
    every = (concept for concepts in captions.concepts for concept in concepts)
    candidates = Candidates.most_frequent(every, CANDIDATES)
    device = backbone.logit_scale.device
    blocks: dict[str, list[np.ndarray]] = {}
    for block in bar(captions.blocks(), title, "block"):
        ids, features = captions.ids[block].to(device), torch.from_numpy(images[block]).to(device)
        perturbed, changed = (tensor.to(device) for tensor in perturbations(captions, block, candidates))
        with torch.no_grad():
            by_method = {"attention": attention(backbone, features, ids)}
            by_method["perturbation"] = perturbation(backbone, features, ids, perturbed, changed)
        by_method |= {"gradcam": gradcam(backbone, features, ids), "gradient": gradient(backbone, features, ids)}
        padding = torch.arange(ids.shape[1], device=device) > end_of_text(ids)[:, None]
        for method, scores in by_method.items():
            undefined = ~changed.any(dim=1) if method == "perturbation" else padding
            masked = scores.masked_fill(undefined, torch.nan)[:, : captions.width]
            blocks.setdefault(method, []).append(masked.detach().float().cpu().numpy())
    return {method: np.concatenate(arrays) for method, arrays in blocks.items()}


def perturbations(captions: CaptionsOfTask, block: slice, candidates: Candidates) -> tuple[Tensor, Tensor]:
    """Return the perturbed captions of a block, and masks of the replaced tokens: ids and bool [texts, P, context].

    The random source depends on the item alone, so that all models get the same captions.
    """
    ids, by_text = captions.ids[block], captions.places[block]
    perturbed = ids[:, None].repeat(1, REPLACEMENTS * max(map(len, by_text), default=0), 1)
    changed = torch.zeros(perturbed.shape, dtype=torch.bool)
    for row, (item, concepts) in enumerate(zip(captions.items[block], by_text, strict=True)):
        rng = Random(f"{captions.name}/{item}")
        copies = perturb_caption(ids[row].tolist(), concepts, candidates, REPLACEMENTS, captions.pieces, rng)
        pairs = ((place, text) for place, texts in zip(concepts, copies, strict=True) for text in texts)
        for number, (place, text) in enumerate(pairs):
            perturbed[row, number] = torch.tensor(text)
            changed[row, number, place.start : place.end] = True
    return perturbed, changed


def _similarity(backbone: Backbone, captions: CaptionsOfTask, texts: np.ndarray, title: str) -> np.ndarray:
    """Return the cosine of each caption [texts, E] and its relation alone, or the mean over its two attributes."""
    by_text = [composition(concepts) for concepts in captions.concepts]
    unique = list(dict.fromkeys(phrase for phrases in by_text for phrase in phrases))
    cosines = np.full(len(by_text), np.nan, dtype=np.float32)
    if unique:
        rows = {phrase: row for row, phrase in enumerate(unique)}
        embeddings = text_embeddings(backbone, unique, backbone.logit_scale.device, title)
        for place, phrases in enumerate(by_text):
            if phrases:
                cosines[place] = (embeddings[[rows[phrase] for phrase in phrases]] @ texts[place]).mean()
    return cosines


def _spans(captions: CaptionsOfTask, tokenizer: SharedTokenizer) -> np.ndarray:
    """Return the letters [texts, tokens, 2] of each token in its caption."""
    decoded = cache(lambda number: tokenizer.decode([number]))
    rows = captions.ids[:, : captions.width].tolist()
    return np.stack(
        [
            spans(text, [decoded(number) if number else "" for number in row])
            for text, row in zip(captions.texts, rows, strict=True)
        ]
    )


def _patches(backbone: Backbone, pixels: np.ndarray, ids: Tensor) -> np.ndarray:
    """Return GradCAM's scores [images, patches] of pixels [images, 3, height, width] as bytes."""
    device = backbone.logit_scale.device
    images = backbone.from_bytes(torch.from_numpy(np.array(pixels)).to(device))
    return patches(backbone, images, ids.to(device)).detach().float().cpu().numpy()
