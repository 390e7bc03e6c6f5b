"""What batches have besides where a method asks for it: marks of captions' tokens, and perturbed captions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from recompose.tracks.vlc.attribution.perturbations import Candidates, perturbed
from recompose.tracks.vlc.attribution.token_labels import (
    Concept,
    Kind,
    Marks,
    Place,
    TokenizedAlone,
    concepts,
    marks,
    places,
)
from recompose.tracks.vlc.building import Tokenizer
from recompose.tracks.vlc.text.lexicon import Lexicon

if TYPE_CHECKING:
    from spacy.tokens import Doc


@dataclass(frozen=True)
class Marking:
    """What a method asks to know of captions."""

    determiners: bool  # whether determiners and numerals are attributes
    perturbations: int = 0  # how often each concept is replaced
    candidates: Mapping[Kind, int] = field(default_factory=dict)  # how many of a kind concepts are replaced by


class Marked(NamedTuple):
    """What is known of captions, and of what was made of them."""

    ids: Tensor  # [B + valid.sum(), context]; behind a caption's negatives stand the captions with a concept replaced
    valid: Tensor  # [B, K + P] bool; behind the K kinds of negatives, up to P captions with a concept replaced
    marks: Marks  # of [B, context]
    changed: Tensor  # [B, P, context] bool, which tokens of the caption are the concept that is replaced


class Marker:
    """Marks captions, and replaces their concepts.

    Args:
        marking: what is asked for.
        docs: all captions, which candidates are taken from.
        lexicon: what knows phrasal verbs and prepositions of several words.
        tokenizer: of texts, to ids [texts, context].
    """

    def __init__(self, marking: Marking, docs: "Sequence[Doc]", lexicon: Lexicon, tokenizer: Tokenizer) -> None:
        self._marking, self._docs, self._lexicon = marking, docs, lexicon
        self._pieces = TokenizedAlone(tokenizer)
        of_all = (concept for row in range(len(docs)) for concept in self._concepts(row))
        self.candidates = Candidates.most_frequent(of_all if marking.perturbations else (), marking.candidates)

    def marked(self, rows: Sequence[int], ids: Tensor, valid: Tensor, rngs: Sequence[Random]) -> Marked:
        """The texts of a batch with what is asked to know of the captions.

        A concept that there is no other for is not marked where concepts are replaced, since its attribution cannot be
        told then.

        Args:
            rows: [B], of the captions.
            ids: [B + valid.sum(), context], captions and then negatives, all of the first caption first.
            valid: [B, K] bool.
            rngs: [B], what replacements are drawn from.
        """
        batch, context = len(rows), ids.shape[1]
        captions = ids[:batch].tolist()
        found = [places(self._concepts(row), of, self._pieces) for row, of in zip(rows, captions, strict=True)]
        if not self._marking.perturbations:
            return Marked(ids, valid, marks(found, context), torch.zeros(batch, 0, context, dtype=torch.bool))
        made = [self._replaced(of, there, rng) for of, there, rng in zip(captions, found, rngs, strict=True)]
        most, count = max(map(len, made)), self._marking.perturbations
        negatives = ids[batch:].split(valid.sum(dim=1).tolist())
        texts = [ids[:batch]]
        changed = torch.zeros(batch, most, count, context, dtype=torch.bool)
        for row, each in enumerate(made):
            texts += [negatives[row], ids.new_tensor([list(each.values())]).view(-1, context)]
            for number, place in enumerate(each):
                changed[row, number, :, place.start : place.end] = True
        changed = changed.flatten(1, 2)
        valid = torch.cat([valid, changed.any(dim=2)], dim=1)
        return Marked(torch.cat(texts), valid, marks([*map(list, made)], context), changed)

    def _concepts(self, row: int) -> list[Concept]:
        return concepts(self._docs[row], self._lexicon, determiners=self._marking.determiners)

    def _replaced(self, ids: Sequence[int], of: Sequence[Place], rng: Random) -> dict[Place, list[list[int]]]:
        """The places of concepts that there are others for, each with the captions that have others there."""
        made = perturbed(ids, of, self.candidates, self._marking.perturbations, self._pieces, rng)
        return {place: texts for place, texts in zip(of, made, strict=True) if texts}
