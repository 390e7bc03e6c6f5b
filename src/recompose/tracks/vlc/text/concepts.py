"""Concepts of captions: their objects, attributes and relations, the places of these among a caption's tokens, and
perturbed captions, in which another concept of its kind replaces one.

CLIP-CAE (Li et al., 2024, Section 3) takes concepts from a parse of the caption into a scene graph, and gives no
details. The mapping of words to tokens follows its first author's other code (hiker-lw/MACCO at 97fbae1,
``training/data_macco.py``): a word is encoded alone, its pieces are searched in the caption's ids, and all pieces of
the first match are labelled. So a repeated word is labelled once, and a word beyond the context is not labelled.
Departures: a word without a match is left out (an error in that code), and so are pieces beyond the end of the caption.

Choices that neither source specifies: the word of an object is the head of its noun chunk, as in the parser that the
paper names (vacancy/SceneGraphParser, 1b3d5fc); pronouns are no objects, as that parser intends. A relation is all of
its words, such as ``next to`` or ``sitting on``. Determiners and numerals, which that parser takes for modifiers, are
attributes on request. MACCO leaves out the word ``the`` alone (``training/data_macco.py:85-94``), so its lists of
attributes, which that parser made, have the others.

For perturbations (Eq. 9 and Appendix I), the paper takes candidates from Visual Genome: 150 objects, 200 attributes,
and 36 of 50 relations, without insignificant prepositions ("of", "for", "with") and without synonyms of others ("above"
beside "on"). These lists were not released. Here the candidates are the most frequent concepts of the captions that a
model is trained on, with as many of each kind as the settings say; the three prepositions are excluded, synonyms are
not.

Each concept of a caption is replaced separately, in the caption's ids, so that the labelled and the replaced tokens are
the same. Replacements are drawn uniformly from the other candidates of the kind, without repetition where there are
enough. This module does not import torch.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from recompose.tracks.vlc.text.lexicon import WordNet
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


def concepts(doc: "Doc", lexicon: WordNet, *, determiners: Determiners = "none") -> list[Concept]:
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


INSIGNIFICANT = frozenset({"of", "for", "with"})  # prepositions that are not candidates


@dataclass(frozen=True)
class Candidates:
    """The replacements of concepts of each kind."""

    names: Mapping[Kind, tuple[str, ...]]  # the most frequent first

    @classmethod
    def most_frequent(cls, concepts: Iterable[Concept], sizes: Mapping[Kind, int]) -> "Candidates":
        """Return the most frequent names of each kind; ties are broken alphabetically.

        Example:
            >>> seen = [Concept("object", text, text) for text in ("cat", "dog", "ant", "dog")]
            >>> Candidates.most_frequent(seen, {"object": 2}).names
            {'object': ('dog', 'ant')}
        """
        counts: dict[Kind, Counter[str]] = {kind: Counter() for kind in sizes}
        for concept in concepts:
            if not (concept.kind == "relation" and concept.name in INSIGNIFICANT):
                counts[concept.kind][concept.name] += 1
        ranked = {kind: sorted(names, key=lambda name: (-names[name], name)) for kind, names in counts.items()}
        return cls({kind: tuple(ranked[kind][:size]) for kind, size in sizes.items()})

    def draw(self, concept: Concept, count: int, rng: Random) -> list[str]:
        """Draw ``count`` replacements of a concept; none if its kind has no other candidate.

        Example:
            >>> candidates = Candidates({"object": ("dog", "cat", "ant")})
            >>> sorted(candidates.draw(Concept("object", "cats", "cat"), 2, Random(0)))
            ['ant', 'dog']
        """
        excluded = (concept.name, concept.text.lower())
        names = [name for name in self.names[concept.kind] if name not in excluded]
        if not names:
            return []
        repeats, remaining = divmod(count, len(names))
        return names * repeats + rng.sample(names, remaining)


def replace_concept(ids: Sequence[int], place: Place, pieces: Sequence[int]) -> list[int]:
    """Return a caption's ids [context] with a place replaced, cut to the context and closed by the end of text.

    Args:
        ids: from the start of text to the end of text, which has the largest id, and zeros after it.
        place: the place to replace.
        pieces: the new ids.

    Example:
        >>> place = Place(Concept("attribute", "red", "red"), 1, 2)
        >>> replace_concept([8, 3, 4, 9, 0, 0], place, [5, 6]), replace_concept([8, 3, 4, 9], place, [5, 6])
        ([8, 5, 6, 4, 9, 0], [8, 5, 6, 9])
    """
    end = max(ids)
    text = [*ids[: place.start], *pieces, *ids[place.end : ids.index(end)]][: len(ids) - 1]
    return [*text, end, *[0] * (len(ids) - len(text) - 1)]


def perturb_caption(
    ids: Sequence[int], concepts: Sequence[Place], candidates: Candidates, count: int, pieces: Pieces, rng: Random
) -> list[list[list[int]]]:
    """Return copies of a caption with each of its concepts replaced.

    Args:
        ids: [context], of the caption.
        concepts: the places of its concepts.
        candidates: the replacements.
        count: replacements of each concept.
        pieces: encodes a text.
        rng: the random source.

    Returns:
        [places][count or 0][context] ids.
    """
    return [
        [replace_concept(ids, place, pieces(name)) for name in candidates.draw(place.concept, count, rng)]
        for place in concepts
    ]
