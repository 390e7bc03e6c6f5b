"""Which tokens of a caption are of objects, and which of composition: of relations and of attributes.

CLIP-CAE (Li et al., 2024, Section 3) takes both from a parse of the caption into a scene graph, and tells no more; how
words become tokens follows its first author's other code (hiker-lw/MACCO at 97fbae1, ``training/data_macco.py``): a
word is encoded by itself, its pieces are looked for in the caption's ids, and all pieces of the first match are marked.
So a word that a caption has twice is marked once, and one that the context cuts off, not at all. Departures: a word
that is not there is left out (there that is an error), and so is the end of the caption that a match reaches beyond.

Choices that neither tells. The word of an object is the head of its noun chunk, as the parser that the paper names has
it (vacancy/SceneGraphParser, 1b3d5fc); pronouns are no objects, as that parser means to have it. Determiners and
numerals, which are modifiers to it, are no attributes unless they are asked for. A relation is all of its words, as
``next to`` or ``sitting on``.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

import torch
from torch import Tensor

from recompose.backbones.clip import end_of_text
from recompose.tracks.vlc.text.lexicon import Lexicon
from recompose.tracks.vlc.text.scene_graph import scene_graph

if TYPE_CHECKING:
    from spacy.tokens import Doc

Kind = Literal["object", "attribute", "relation"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Pieces: TypeAlias = Callable[[str], Sequence[int]]  # the ids of a text, without its start and its end


@dataclass(frozen=True)
class Concept:
    """An object, an attribute or a relation that a caption speaks of."""

    kind: Kind
    text: str  # as it stands there
    name: str  # what it is called by itself, in lower case: of an object the lemma


@dataclass(frozen=True)
class Place:
    """Where a caption's ids have a concept: from ``start`` to before ``end``."""

    concept: Concept
    start: int
    end: int


class Marks(NamedTuple):
    """Which tokens are of objects, and which of composition; a token may be of both."""

    objects: Tensor  # [texts, tokens] bool
    composition: Tensor  # [texts, tokens] bool

    @property
    def complete(self) -> Tensor:
        """Which texts [texts] have both."""
        return self.objects.any(dim=1) & self.composition.any(dim=1)


def concepts(doc: "Doc", lexicon: Lexicon, *, determiners: bool = False) -> list[Concept]:
    """The objects, attributes and relations of a caption.

    Args:
        doc: a caption with tags, parts of speech, lemmas, heads and dependencies.
        lexicon: what knows phrasal verbs and prepositions of several words.
        determiners: whether determiners and numerals are attributes, too.

    Raises:
        ValueError: the caption is not parsed.
    """
    graph = scene_graph(doc, lexicon)
    heads = [entity.root for entity in graph.entities if entity.root.pos_ != "PRON"]
    modifiers = [token for token in graph.modifiers if determiners or token.dep_ not in ("det", "nummod")]
    return [
        *(Concept("object", token.text, (token.lemma_ or token.text).lower()) for token in heads),
        *(Concept("attribute", token.text, token.text.lower()) for token in modifiers),
        *(Concept("relation", span.text, span.text.lower()) for span in graph.relations),
    ]


def places(of: Iterable[Concept], ids: Sequence[int], pieces: Pieces) -> list[Place]:
    """Where a caption's ids have concepts, each at the first match; what several of a kind have there stands once.

    Args:
        of: the concepts.
        ids: [tokens], of the caption.
        pieces: what encodes a text.

    Example:
        >>> red, lion = Concept("attribute", "red", "red"), Concept("object", "lion", "lion")
        >>> [(each.start, each.end) for each in places([red, lion, red], [9, 3, 4, 3, 0], lambda text: [len(text)])]
        [(1, 2), (2, 3)]
    """
    found: dict[tuple[Kind, int, int], Place] = {}
    for concept in of:
        wanted = pieces(concept.text)
        start = first_match(wanted, ids)
        if start is not None:
            end = start + len(wanted)
            found.setdefault((concept.kind, start, end), Place(concept, start, end))
    return list(found.values())


class TokenizedAlone:
    """The pieces of a text that is encoded by itself, each text once; processes that make batches can be sent it.

    Args:
        tokenizer: of texts, to ids [texts, context] from the start to the end of text.
    """

    def __init__(self, tokenizer: Callable[[list[str]], Tensor]) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, list[int]] = {}

    def __call__(self, text: str) -> Sequence[int]:
        if text not in self._known:
            (ids,) = self._tokenizer([text])
            self._known[text] = ids[1 : int(end_of_text(ids))].tolist()
        return self._known[text]


def first_match(wanted: Sequence[int], ids: Sequence[int]) -> int | None:
    """Where ids first have others in a row; None: nowhere, or there are no others.

    Example:
        >>> first_match([5, 6], [1, 5, 5, 6, 5, 6]), first_match([6, 1], [1, 5, 6]), first_match([], [1])
        (2, None, None)
    """
    wanted = list(wanted)
    starts = range(len(ids) - len(wanted) + 1) if wanted else ()
    return next((start for start in starts if list(ids[start : start + len(wanted)]) == wanted), None)


def marks(of: Sequence[Sequence[Place]], tokens: int) -> Marks:
    """The marks of captions, of the places of their concepts.

    Args:
        of: [texts], the places of each.
        tokens: how many ids a caption has.
    """
    marked = Marks(*(torch.zeros(len(of), tokens, dtype=torch.bool) for _ in Marks._fields))
    for row, found in enumerate(of):
        for place in found:
            mask = marked.objects if place.concept.kind == "object" else marked.composition
            mask[row, place.start : place.end] = True
    return marked
