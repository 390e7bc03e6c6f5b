"""Perturbed captions: one concept (an object, an attribute or a relation) replaced by another of its kind.

CLIP-CAE (Li et al., 2024, Eq. 9 and Appendix I) takes candidates from Visual Genome: 150 objects, 200 attributes, and
36 of 50 relations, without insignificant prepositions ("of", "for", "with") and without synonyms of others ("above"
beside "on"). These lists were not released. Here the candidates are the most frequent concepts of the captions that a
model is trained on, with as many of each kind as the settings say; the three prepositions are excluded, synonyms are
not.

Each concept of a caption is replaced separately, in the caption's ids, so that the labelled and the replaced tokens are
the same. Replacements are drawn uniformly from the other candidates of the kind, without repetition where there are
enough.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from recompose.tracks.vlc.text.concepts import Concept, Kind, Pieces, Place

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
