"""What a model attributes to the tokens of ARO's true captions, in all four ways, and to the patches of some images.

Every model is looked at alike, whatever it was tuned with: conventions are the defaults of ``attribution``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

import numpy as np
import torch
from torch import Tensor

from recompose.backbones.clip import Backbone, end_of_text
from recompose.progress import bar, say
from recompose.tracks.vlc.aro_captions import ATTRIBUTES, RELATIONS, composition, concepts_of
from recompose.tracks.vlc.attributed import Attributed, spans
from recompose.tracks.vlc.attribution import attention, gradcam, gradient, patches, perturbation
from recompose.tracks.vlc.data.suite import ABSENT, Choices, Suite
from recompose.tracks.vlc.embeddings import text_embeddings
from recompose.tracks.vlc.marks import Concept, Kind, Pieces, Place, marks, pieces_of, places
from recompose.tracks.vlc.metrics import right_choices
from recompose.tracks.vlc.perturbations import Candidates, perturbed
from recompose.tracks.vlc.scores import Features
from recompose.tracks.vlc.suites import SUBTASKS

TASKS = (RELATIONS, ATTRIBUTES)
SHOWN = 4  # images of a task whose patches are kept: those of its first items, each once
REPLACED = 4  # times that each concept of a caption is, by perturbation
CANDIDATES: Mapping[Kind, int] = {"object": 150, "attribute": 200, "relation": 36}  # as many as the paper has
BLOCK = 64  # captions at a time: the attention of all layers and its gradients are in memory


@dataclass(frozen=True)
class Looked:
    """The true captions of a task's items, as the text tower takes them, and what they speak of."""

    name: str  # of the task
    items: np.ndarray  # [texts], their places in the task
    texts: Sequence[str]
    ids: Tensor  # [texts, context]
    said: Sequence[list[Concept]]  # [texts]
    places: Sequence[list[Place]]  # [texts], where ids have that
    pieces: Pieces

    @property
    def width(self) -> int:
        """Up to where the longest caption has tokens."""
        return int(end_of_text(self.ids).max()) + 1

    def blocks(self) -> list[slice]:
        """Parts of all captions."""
        return [slice(start, start + BLOCK) for start in range(0, len(self.texts), BLOCK)]


def attributions(
    backbone: Backbone,
    tokenizer: Any,
    suite: Suite,
    features: Features,
    pixels: np.ndarray,
    scores: Mapping[str, np.ndarray],
    title: str,
) -> dict[str, Attributed]:
    """What is kept of attribution, by sub-task; nothing of a suite that is not ARO.

    An item whose image cannot be read is left out. Of a caption that is not of ARO's template nothing is marked, and
    how many these are is said.

    Args:
        backbone: that is looked at; it stays as it is.
        tokenizer: the backbone's; its ``decode`` gives the text of ids.
        suite: of any form.
        features: the suite's embeddings.
        pixels: [rows, 3, height, width] bytes, of the same rows as ``features.images``.
        scores: cosines of the suite's tasks, by their names.
        title: what progress is reported under.
    """
    found = {}
    for name in TASKS:
        if isinstance(task := suite.tasks.get(name), Choices):
            readable = np.flatnonzero(~np.isnan(scores[name]).all(axis=1))
            looked = looked_at(backbone, suite, name, task, readable)
            found[name] = _attributed(backbone, tokenizer, looked, task, features, pixels, scores[name], title)
    return found


def looked_at(backbone: Backbone, suite: Suite, name: str, task: Choices, items: np.ndarray) -> Looked:
    """The true captions of these items [texts] of a task."""
    texts = [suite.texts[number] for number in task.offered[items, task.true[items]]]
    groups = task.groups or [""] * len(task.asked)
    said = [concepts_of(name, text, groups[item]) for text, item in zip(texts, items, strict=True)]
    if strange := sum(not concepts for concepts in said):
        say(f"{name}: {strange} of {len(items)} captions are not of ARO's template, and nothing is marked in them")
    pieces = pieces_of(lambda texts: backbone.tokens(texts).cpu())
    ids = torch.cat([backbone.tokens(texts[start : start + BLOCK]).cpu() for start in range(0, len(texts), BLOCK)])
    where = [places(concepts, row, pieces) for concepts, row in zip(said, ids.tolist(), strict=True)]
    return Looked(name, items, texts, ids, said, where, pieces)


def _attributed(
    backbone: Backbone,
    tokenizer: Any,
    looked: Looked,
    task: Choices,
    features: Features,
    pixels: np.ndarray,
    scores: np.ndarray,
    title: str,
) -> Attributed:
    rows = features.image_rows[task.asked[looked.items]]
    _, first = np.unique(rows, return_index=True)
    shown = np.sort(first)[: SHOWN if backbone.depth else 0]  # a convolutional tower has no patches
    texts = features.texts[features.text_rows[task.offered[looked.items, task.true[looked.items]]]]
    marked = marks(looked.places, looked.width)
    offered = task.offered[looked.items]
    ties = SUBTASKS[looked.name].ties
    return Attributed(
        items=looked.items,
        ids=looked.ids[:, : looked.width].numpy(),
        spans=_spans(looked, tokenizer),
        objects=marked.objects.numpy(),
        composition=marked.composition.numpy(),
        right=right_choices(scores[looked.items], task.true[looked.items], ties, offered != ABSENT),
        similarity=_similarity(backbone, looked, texts, title),
        scores=token_scores(backbone, looked, features.images[rows], f"{title}, {looked.name}"),
        shown=shown,
        patches={"gradcam": _patches(backbone, pixels[rows[shown]], looked.ids[shown])} if len(shown) else {},
    )


def token_scores(backbone: Backbone, looked: Looked, images: np.ndarray, title: str) -> dict[str, np.ndarray]:
    """By each method the scores [texts, tokens] of captions, for their images' embeddings [texts, E]; NaN behind the
    end of text, and by perturbation where nothing is replaced.
    """
    candidates = Candidates.most_frequent((each for said in looked.said for each in said), CANDIDATES)
    device = backbone.logit_scale.device
    parts: dict[str, list[np.ndarray]] = {}
    for block in bar(looked.blocks(), title, "block"):
        ids, shown = looked.ids[block].to(device), torch.from_numpy(images[block]).to(device)
        others, changed = (each.to(device) for each in perturbations(looked, block, candidates))
        with torch.no_grad():
            found = {"attention": attention(backbone, shown, ids)}
            found["perturbation"] = perturbation(backbone, shown, ids, others, changed)
        found |= {"gradcam": gradcam(backbone, shown, ids), "gradient": gradient(backbone, shown, ids)}
        behind = torch.arange(ids.shape[1], device=device) > end_of_text(ids)[:, None]
        for method, scores in found.items():
            none = ~changed.any(dim=1) if method == "perturbation" else behind
            kept = scores.masked_fill(none, torch.nan)[:, : looked.width]
            parts.setdefault(method, []).append(kept.detach().float().cpu().numpy())
    return {method: np.concatenate(each) for method, each in parts.items()}


def perturbations(looked: Looked, block: slice, candidates: Candidates) -> tuple[Tensor, Tensor]:
    """Captions of a block with a concept replaced, and which tokens that is: ids and bool [texts, P, context].

    They are drawn by the item alone, so that all models are asked the same.
    """
    ids, of_texts = looked.ids[block], looked.places[block]
    others = ids[:, None].repeat(1, REPLACED * max(map(len, of_texts), default=0), 1)
    changed = torch.zeros(others.shape, dtype=torch.bool)
    for row, (item, of) in enumerate(zip(looked.items[block], of_texts, strict=True)):
        rng = Random(f"{looked.name}/{item}")
        made = perturbed(ids[row].tolist(), of, candidates, REPLACED, looked.pieces, rng)
        each = ((place, text) for place, texts in zip(of, made, strict=True) for text in texts)
        for number, (place, text) in enumerate(each):
            others[row, number] = torch.tensor(text)
            changed[row, number, place.start : place.end] = True
    return others, changed


def _similarity(backbone: Backbone, looked: Looked, texts: np.ndarray, title: str) -> np.ndarray:
    """The cosine of each caption, of embeddings [texts, E], and its relation by itself; of two attributes the mean."""
    said = [composition(concepts) for concepts in looked.said]
    phrases = list(dict.fromkeys(phrase for each in said for phrase in each))
    found = np.full(len(said), np.nan, dtype=np.float32)
    if phrases:
        rows = {phrase: row for row, phrase in enumerate(phrases)}
        embeddings = text_embeddings(backbone, phrases, backbone.logit_scale.device, title)
        for place, each in enumerate(said):
            if each:
                found[place] = (embeddings[[rows[phrase] for phrase in each]] @ texts[place]).mean()
    return found


def _spans(looked: Looked, tokenizer: Any) -> np.ndarray:
    """The letters [texts, tokens, 2] of its caption that each token stands for."""
    decoded = cache(lambda number: tokenizer.decode([number]))
    rows = looked.ids[:, : looked.width].tolist()
    return np.stack(
        [
            spans(text, [decoded(number) if number else "" for number in row])
            for text, row in zip(looked.texts, rows, strict=True)
        ]
    )


def _patches(backbone: Backbone, pixels: np.ndarray, ids: Tensor) -> np.ndarray:
    """GradCAM's scores [images, patches] of pixels [images, 3, height, width] as bytes."""
    device = backbone.logit_scale.device
    shown = backbone.from_bytes(torch.from_numpy(np.array(pixels)).to(device))
    found: np.ndarray = patches(backbone, shown, ids.to(device)).detach().float().cpu().numpy()
    return found
