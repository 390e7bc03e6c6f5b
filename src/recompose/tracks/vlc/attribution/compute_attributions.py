"""What a model attributes to the tokens of ARO's true captions, in all four ways, and to the patches of some images.

Every model is looked at alike, whatever it was tuned with: conventions are the defaults of ``attribution``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from recompose.backbones.arrays import ShardedArray
from recompose.backbones.clip import Backbone, end_of_text
from recompose.progress import bar, say
from recompose.tracks.vlc.attribution.attribution_store import FILE, Attributed, spans, write
from recompose.tracks.vlc.attribution.by_attention import attention
from recompose.tracks.vlc.attribution.by_gradcam import gradcam, patches
from recompose.tracks.vlc.attribution.by_gradient import gradient
from recompose.tracks.vlc.attribution.by_perturbation import perturbation
from recompose.tracks.vlc.attribution.perturbations import Candidates, perturbed
from recompose.tracks.vlc.attribution.token_labels import Concept, Kind, Pieces, Place, TokenizedAlone, marks, places
from recompose.tracks.vlc.data.suite import Choices, Suite
from recompose.tracks.vlc.suites.embeddings import text_embeddings
from recompose.tracks.vlc.suites.scores import BROKEN, Features
from recompose.tracks.vlc.text.aro_captions import ATTRIBUTES, RELATIONS, composition, concepts_of

TASKS = (RELATIONS, ATTRIBUTES)
SHOWN = 4  # images of a task whose patches are kept: those of its first items, each once
REPLACED = 4  # times that each concept of a caption is, by perturbation
CANDIDATES: Mapping[Kind, int] = {"object": 150, "attribute": 200, "relation": 36}  # as many as the paper has
BLOCK = 64  # captions at a time: the attention of all layers and its gradients are in memory


@dataclass(frozen=True)
class CaptionsOfTask:
    """The true captions of a task's items, as the text tower takes them, and what they speak of."""

    name: str  # of the task
    items: np.ndarray  # [texts], their places in the task
    texts: Sequence[str]
    ids: Tensor  # [texts, context]
    concepts: Sequence[list[Concept]]  # [texts]
    places: Sequence[list[Place]]  # [texts], where ids have those
    pieces: Pieces

    @property
    def width(self) -> int:
        """Up to where the longest caption has tokens."""
        return int(end_of_text(self.ids).max()) + 1

    def blocks(self) -> list[slice]:
        """Parts of all captions."""
        return [slice(start, start + BLOCK) for start in range(0, len(self.texts), BLOCK)]


class Encoded(Protocol):
    """Suites whose pictures and texts are encoded."""

    @property
    def suites(self) -> Sequence[Suite]: ...

    @property
    def pixels(self) -> np.ndarray | ShardedArray:
        """[rows, 3, height, width] bytes, of the same rows as embeddings of images."""

    def features(self) -> Sequence[Features]:
        """The embeddings of each suite."""


def write_attributions(
    backbone: Backbone,
    tokenizer: Any,
    collections: Sequence[Encoded],
    folder: Path,
    title: str,
) -> None:
    """Leave ``attribution.safetensors`` in a folder: what is kept of all suites that are ARO.

    Args:
        backbone: that is looked at; it stays as it is.
        tokenizer: the backbone's; its ``decode`` gives the text of ids.
        collections: suites of any form.
        folder: of the evaluation.
        title: what progress is reported under.
    """
    kept: dict[str, Attributed] = {}
    for collection in collections:
        for suite, features in zip(collection.suites, collection.features(), strict=True):
            kept |= attributions(backbone, tokenizer, suite, features, collection.pixels, title)
    write(kept, folder / FILE)


def attributions(
    backbone: Backbone,
    tokenizer: Any,
    suite: Suite,
    features: Features,
    pixels: np.ndarray | ShardedArray,
    title: str,
) -> dict[str, Attributed]:
    """What is kept of attribution, by sub-task; nothing of a suite that is not ARO.

    An item whose image cannot be read is left out. Of a caption that is not of ARO's template nothing is marked, and
    how many these are is said.

    Args: see ``write_attributions``; ``pixels`` are [rows, 3, height, width] bytes, of the same rows as
        ``features.images``.
    """
    by_task = {}
    for name in TASKS:
        task = suite.tasks.get(name)
        if isinstance(task, Choices) and len(readable := np.flatnonzero(features.image_rows[task.asked] != BROKEN)):
            captions = captions_of(backbone, suite, name, task, readable)
            by_task[name] = _attributed(backbone, tokenizer, captions, task, features, pixels, title)
    return by_task


def captions_of(backbone: Backbone, suite: Suite, name: str, task: Choices, items: np.ndarray) -> CaptionsOfTask:
    """The true captions of these items [texts] of a task."""
    texts = [suite.texts[number] for number in task.offered[items, task.true[items]]]
    groups = task.groups or [""] * len(task.asked)
    concepts = [concepts_of(name, text, groups[item]) for text, item in zip(texts, items, strict=True)]
    if strange := sum(not each for each in concepts):
        say(f"{name}: {strange} of {len(items)} captions are not of ARO's template, and nothing is marked in them")
    pieces = TokenizedAlone(lambda texts: backbone.tokens(texts).cpu())
    ids = torch.cat([backbone.tokens(texts[start : start + BLOCK]).cpu() for start in range(0, len(texts), BLOCK)])
    where = [places(each, row, pieces) for each, row in zip(concepts, ids.tolist(), strict=True)]
    return CaptionsOfTask(name, items, texts, ids, concepts, where, pieces)


def _attributed(
    backbone: Backbone,
    tokenizer: Any,
    captions: CaptionsOfTask,
    task: Choices,
    features: Features,
    pixels: np.ndarray | ShardedArray,
    title: str,
) -> Attributed:
    rows = features.image_rows[task.asked[captions.items]]
    _, first = np.unique(rows, return_index=True)
    shown = np.sort(first)[: SHOWN if backbone.depth else 0]  # a convolutional tower has no patches
    texts = features.texts[features.text_rows[task.offered[captions.items, task.true[captions.items]]]]
    marked = marks(captions.places, captions.width)
    return Attributed(
        items=captions.items,
        ids=captions.ids[:, : captions.width].numpy(),
        spans=_spans(captions, tokenizer),
        objects=marked.objects.numpy(),
        composition=marked.composition.numpy(),
        similarity=_similarity(backbone, captions, texts, title),
        scores=token_scores(backbone, captions, features.images[rows], f"{title}, {captions.name}"),
        shown=shown,
        patches={"gradcam": _patches(backbone, pixels[rows[shown]], captions.ids[shown])} if len(shown) else {},
    )


def token_scores(backbone: Backbone, captions: CaptionsOfTask, images: np.ndarray, title: str) -> dict[str, np.ndarray]:
    """By each method the scores [texts, tokens] of captions, for their images' embeddings [texts, E]; NaN behind the
    end of text, and by perturbation where nothing is replaced.
    """
    candidates = Candidates.most_frequent((each for concepts in captions.concepts for each in concepts), CANDIDATES)
    device = backbone.logit_scale.device
    parts: dict[str, list[np.ndarray]] = {}
    for block in bar(captions.blocks(), title, "block"):
        ids, shown = captions.ids[block].to(device), torch.from_numpy(images[block]).to(device)
        others, changed = (each.to(device) for each in perturbations(captions, block, candidates))
        with torch.no_grad():
            by_method = {"attention": attention(backbone, shown, ids)}
            by_method["perturbation"] = perturbation(backbone, shown, ids, others, changed)
        by_method |= {"gradcam": gradcam(backbone, shown, ids), "gradient": gradient(backbone, shown, ids)}
        behind = torch.arange(ids.shape[1], device=device) > end_of_text(ids)[:, None]
        for method, scores in by_method.items():
            none = ~changed.any(dim=1) if method == "perturbation" else behind
            kept = scores.masked_fill(none, torch.nan)[:, : captions.width]
            parts.setdefault(method, []).append(kept.detach().float().cpu().numpy())
    return {method: np.concatenate(each) for method, each in parts.items()}


def perturbations(captions: CaptionsOfTask, block: slice, candidates: Candidates) -> tuple[Tensor, Tensor]:
    """Captions of a block with a concept replaced, and which tokens that is: ids and bool [texts, P, context].

    They are drawn by the item alone, so that all models are asked the same.
    """
    ids, of_texts = captions.ids[block], captions.places[block]
    others = ids[:, None].repeat(1, REPLACED * max(map(len, of_texts), default=0), 1)
    changed = torch.zeros(others.shape, dtype=torch.bool)
    for row, (item, of) in enumerate(zip(captions.items[block], of_texts, strict=True)):
        rng = Random(f"{captions.name}/{item}")
        made = perturbed(ids[row].tolist(), of, candidates, REPLACED, captions.pieces, rng)
        each = ((place, text) for place, texts in zip(of, made, strict=True) for text in texts)
        for number, (place, text) in enumerate(each):
            others[row, number] = torch.tensor(text)
            changed[row, number, place.start : place.end] = True
    return others, changed


def _similarity(backbone: Backbone, captions: CaptionsOfTask, texts: np.ndarray, title: str) -> np.ndarray:
    """The cosine of each caption, of embeddings [texts, E], and its relation by itself; of two attributes the mean."""
    phrases = [composition(concepts) for concepts in captions.concepts]
    unique = list(dict.fromkeys(phrase for each in phrases for phrase in each))
    cosines = np.full(len(phrases), np.nan, dtype=np.float32)
    if unique:
        rows = {phrase: row for row, phrase in enumerate(unique)}
        embeddings = text_embeddings(backbone, unique, backbone.logit_scale.device, title)
        for place, each in enumerate(phrases):
            if each:
                cosines[place] = (embeddings[[rows[phrase] for phrase in each]] @ texts[place]).mean()
    return cosines


def _spans(captions: CaptionsOfTask, tokenizer: Any) -> np.ndarray:
    """The letters [texts, tokens, 2] of its caption that each token stands for."""
    decoded = cache(lambda number: tokenizer.decode([number]))
    rows = captions.ids[:, : captions.width].tolist()
    return np.stack(
        [
            spans(text, [decoded(number) if number else "" for number in row])
            for text, row in zip(captions.texts, rows, strict=True)
        ]
    )


def _patches(backbone: Backbone, pixels: np.ndarray, ids: Tensor) -> np.ndarray:
    """GradCAM's scores [images, patches] of pixels [images, 3, height, width] as bytes."""
    device = backbone.logit_scale.device
    shown = backbone.from_bytes(torch.from_numpy(np.array(pixels)).to(device))
    scores: np.ndarray = patches(backbone, shown, ids.to(device)).detach().float().cpu().numpy()
    return scores
