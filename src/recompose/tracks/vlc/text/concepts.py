"""Concepts of captions: their objects, attributes and relations, and the places of these among a caption's tokens.

CLIP-CAE (Li et al., 2024, Section 3) takes concepts from a parse of the caption into a scene graph, and gives no
details. The mapping of words to tokens follows its first author's other code (hiker-lw/MACCO at 97fbae1,
``training/data_macco.py``): a word is encoded alone, its pieces are searched in the caption's ids, and all pieces of
the first match are labelled. So a repeated word is labelled once, and a word beyond the context is not labelled.
Departures: a word without a match is left out (an error in that code), and so are pieces beyond the end of the caption.

Choices that neither source specifies: the word of an object is the head of its noun chunk, as in the parser that the
paper names (vacancy/SceneGraphParser, 1b3d5fc); pronouns are no objects, as that parser intends. A relation is all of
its words, such as ``next to`` or ``sitting on``. Determiners and numerals, which that parser takes for modifiers, are
attributes on request. MACCO leaves out the word ``the`` alone (``training/data_macco.py:85-94``), so its lists of
attributes, which that parser made, have the others. This module does not import torch.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from recompose.tracks.vlc.text.lexicon import Lexicon
from recompose.tracks.vlc.text.scene_graph import scene_graph

if TYPE_CHECKING:
    from spacy.tokens import Doc

Kind = Literal["object", "attribute", "relation"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Determiners = Literal["none", "all-but-the", "all"]  # those that are attributes
Pieces: TypeAlias = Callable[[str], Sequence[int]]  # the ids of a text, without start and end of text


@dataclass(frozen=True)
class Concept:
    """An object, an attribute or a relation in a caption."""

    kind: Kind
    text: str  # as written in the caption
    name: str  # in lower case; the lemma of an object


@dataclass(frozen=True)
class Place:
    """The position of a concept in a caption's ids: from ``start`` to before ``end``."""

    concept: Concept
    start: int
    end: int


def concepts(doc: "Doc", lexicon: Lexicon, *, determiners: Determiners = "none") -> list[Concept]:
    """Return the objects, attributes and relations of a caption.

    Args:
        doc: a caption with tags, parts of speech, lemmas, heads and dependencies.
        lexicon: lists phrasal verbs and prepositions of several words.
        determiners: the determiners that are attributes; numerals are if any are.

    Raises:
        ValueError: the caption is not parsed.
    """
    graph = scene_graph(doc, lexicon)
    heads = [entity.root for entity in graph.entities if entity.root.pos_ != "PRON"]
    modifiers = graph.modifiers
    if determiners == "none":
        modifiers = tuple(token for token in modifiers if token.dep_ not in ("det", "nummod"))
    elif determiners == "all-but-the":
        modifiers = tuple(token for token in modifiers if token.lower_ != "the")
    return [
        *(Concept("object", token.text, (token.lemma_ or token.text).lower()) for token in heads),
        *(Concept("attribute", token.text, token.text.lower()) for token in modifiers),
        *(Concept("relation", span.text, span.text.lower()) for span in graph.relations),
    ]


def places(concepts: Iterable[Concept], ids: Sequence[int], pieces: Pieces) -> list[Place]:
    """Return the places of concepts in a caption's ids, each at the first match.

    Concepts of one kind with the same place give one place.

    Args:
        concepts: the concepts.
        ids: [tokens], of the caption.
        pieces: encodes a text.

    Example:
        >>> red, lion = Concept("attribute", "red", "red"), Concept("object", "lion", "lion")
        >>> [(place.start, place.end) for place in places([red, lion, red], [9, 3, 4, 3, 0], lambda text: [len(text)])]
        [(1, 2), (2, 3)]
    """
    distinct: dict[tuple[Kind, int, int], Place] = {}
    for concept in concepts:
        sought = pieces(concept.text)
        start = first_match(sought, ids)
        if start is not None:
            end = start + len(sought)
            distinct.setdefault((concept.kind, start, end), Place(concept, start, end))
    return list(distinct.values())


def first_match(pieces: Sequence[int], ids: Sequence[int]) -> int | None:
    """Return the first position of the pieces in ids, or None if there is no match or no piece.

    Example:
        >>> first_match([5, 6], [1, 5, 5, 6, 5, 6]), first_match([6, 1], [1, 5, 6]), first_match([], [1])
        (2, None, None)
    """
    starts = range(len(ids) - len(pieces) + 1) if pieces else ()
    return next((start for start in starts if list(ids[start : start + len(pieces)]) == list(pieces)), None)
