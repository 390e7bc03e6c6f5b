"""Labels of captions' tokens, and batches with them: objects, and composition (relations and attributes)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from recompose.backbones.clip import end_of_text
from recompose.tracks.vlc.building import Tokenizer
from recompose.tracks.vlc.text.concepts import (
    Candidates,
    Concept,
    Determiners,
    Kind,
    Place,
    concepts,
    perturb_caption,
    places,
)
from recompose.tracks.vlc.text.lexicon import WordNet

if TYPE_CHECKING:
    from spacy.tokens import Doc


class TokenLabels(NamedTuple):
    """The masks of object tokens and of composition tokens; a token may be in both."""

    objects: Tensor  # [texts, tokens] bool
    composition: Tensor  # [texts, tokens] bool

    @property
    def complete(self) -> Tensor:
        """Return True for each text [texts] that has both."""
        return self.objects.any(dim=1) & self.composition.any(dim=1)


def token_labels(places: Sequence[Sequence[Place]], tokens: int) -> TokenLabels:
    """Return the labels of captions' tokens.

    Args:
        places: [texts], the places of each text's concepts.
        tokens: the number of ids of a caption.
    """
    labels = TokenLabels(*(torch.zeros(len(places), tokens, dtype=torch.bool) for _ in TokenLabels._fields))
    for row, of_text in enumerate(places):
        for place in of_text:
            mask = labels.objects if place.concept.kind == "object" else labels.composition
            mask[row, place.start : place.end] = True
    return labels


class IsolatedTokenizer:
    """A cached tokenizer of texts without context, for the pieces of words; it can be pickled.

    Args:
        tokenizer: of texts, to ids [texts, context] from the start to the end of text.
    """

    def __init__(self, tokenizer: Callable[[list[str]], Tensor]) -> None:
        self._tokenizer = tokenizer
        self._cache: dict[str, list[int]] = {}

    def __call__(self, text: str) -> Sequence[int]:
        if text not in self._cache:
            (ids,) = self._tokenizer([text])
            self._cache[text] = ids[1 : int(end_of_text(ids))].tolist()
        return self._cache[text]


@dataclass(frozen=True)
class LabelRequest:
    """A method's request for labels and perturbations of captions."""

    determiners: Determiners  # those that are attributes
    perturbations: int = 0  # replacements of each concept
    candidates: Mapping[Kind, int] = field(default_factory=dict)  # the number of candidates of each kind


class LabelledTexts(NamedTuple):
    """The texts of a batch, with labels and perturbed captions."""

    ids: Tensor  # [B + valid.sum(), context]; a caption's negatives are followed by its perturbed copies
    valid: Tensor  # [B, K + P] bool; the K kinds of negatives, then up to P perturbed captions
    labels: TokenLabels  # of [B, context]
    changed: Tensor  # [B, P, context] bool, the caption's tokens that a perturbation replaces


class TokenLabeller:
    """A labeller of captions' tokens, which also replaces their concepts.

    Args:
        request: the method's request.
        docs: all captions; the candidates are theirs.
        lexicon: lists phrasal verbs and prepositions of several words.
        tokenizer: of texts, to ids [texts, context].
    """

    def __init__(self, request: LabelRequest, docs: "Sequence[Doc]", lexicon: WordNet, tokenizer: Tokenizer) -> None:
        self._request, self._docs, self._lexicon = request, docs, lexicon
        self._pieces = IsolatedTokenizer(tokenizer)
        rows = range(len(docs) if request.perturbations else 0)
        every = (concept for row in rows for concept in self._concepts(row))
        self.candidates = Candidates.most_frequent(every, request.candidates)

    def label(self, rows: Sequence[int], ids: Tensor, valid: Tensor, rngs: Sequence[Random]) -> LabelledTexts:
        """Label the captions of a batch, and append perturbed captions where the method asks for them.

        Where concepts are replaced, a concept without a replacement gets no label, since it has no attribution.

        Args:
            rows: [B], of the captions.
            ids: [B + valid.sum(), context], captions and then negatives, all of the first caption first.
            valid: [B, K] bool.
            rngs: [B], the random sources of replacements.
        """
        batch, context = len(rows), ids.shape[1]
        captions = ids[:batch].tolist()
        by_row = [places(self._concepts(row), text, self._pieces) for row, text in zip(rows, captions, strict=True)]
        if not self._request.perturbations:
            unchanged = torch.zeros(batch, 0, context, dtype=torch.bool)
            return LabelledTexts(ids, valid, token_labels(by_row, context), unchanged)
        replaced = [self._replace(*inputs) for inputs in zip(captions, by_row, rngs, strict=True)]
        most, count = max(map(len, replaced)), self._request.perturbations
        negatives = ids[batch:].split(valid.sum(dim=1).tolist())
        texts = [ids[:batch]]
        changed = torch.zeros(batch, most, count, context, dtype=torch.bool)
        for row, by_place in enumerate(replaced):
            texts += [negatives[row], ids.new_tensor([list(by_place.values())]).view(-1, context)]
            for number, place in enumerate(by_place):
                changed[row, number, :, place.start : place.end] = True
        changed = changed.flatten(1, 2)
        valid = torch.cat([valid, changed.any(dim=2)], dim=1)
        return LabelledTexts(torch.cat(texts), valid, token_labels([*map(list, replaced)], context), changed)

    def _concepts(self, row: int) -> list[Concept]:
        return concepts(self._docs[row], self._lexicon, determiners=self._request.determiners)

    def _replace(self, ids: Sequence[int], concepts: Sequence[Place], rng: Random) -> dict[Place, list[list[int]]]:
        """Return the perturbed captions of each concept that has a replacement."""
        perturbed = perturb_caption(ids, concepts, self.candidates, self._request.perturbations, self._pieces, rng)
        return {place: texts for place, texts in zip(concepts, perturbed, strict=True) if texts}
