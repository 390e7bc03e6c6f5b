"""Captions in which one concept is another of its kind: an object, an attribute or a relation.

CLIP-CAE (Li et al., 2024, Eq. 9 and Appendix I) replaces concepts by others of candidate sets of Visual Genome's: 150
objects, 200 attributes, and 36 relations that are left of 50 without insignificant prepositions ("of", "for", "with")
and without those that mean what another does ("above" beside "on"). These lists were not released. Here the candidates
are the most frequent concepts of the captions that a model is trained on, as many of each kind as settings ask for; the
three prepositions are none, and what means the same is not looked for.

Each concept of a caption is replaced by itself, in the caption's ids, so that what is marked and what is replaced are
the same tokens. What it is replaced by is drawn with equal chances from the others of its kind, without repetition
where there are enough.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from recompose.tracks.vlc.attribution.token_labels import Concept, Kind, Pieces, Place

INSIGNIFICANT = frozenset({"of", "for", "with"})  # prepositions that are no candidates


@dataclass(frozen=True)
class Candidates:
    """What concepts of a kind may be replaced by."""

    names: Mapping[Kind, tuple[str, ...]]  # the most frequent first

    @classmethod
    def most_frequent(cls, concepts: Iterable[Concept], sizes: Mapping[Kind, int]) -> "Candidates":
        """The most frequent names of each kind; of equally frequent ones the first in the alphabet.

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

    def drawn(self, concept: Concept, count: int, rng: Random) -> list[str]:
        """What stands in place of a concept ``count`` times; nothing where there is no other.

        Example:
            >>> candidates = Candidates({"object": ("dog", "cat", "ant")})
            >>> sorted(candidates.drawn(Concept("object", "cats", "cat"), 2, Random(0)))
            ['ant', 'dog']
        """
        own = (concept.name, concept.text.lower())
        others = [name for name in self.names[concept.kind] if name not in own]
        if not others:
            return []
        whole, rest = divmod(count, len(others))
        return others * whole + rng.sample(others, rest)


def replaced(ids: Sequence[int], place: Place, pieces: Sequence[int]) -> list[int]:
    """A caption's ids [context] with others in a place; what is too long is cut, and ends as the caption does.

    Args:
        ids: from the start of text to the end of text, which has the largest id, and zeros behind it.
        place: what is replaced.
        pieces: by what.

    Example:
        >>> place = Place(Concept("attribute", "red", "red"), 1, 2)
        >>> replaced([8, 3, 4, 9, 0, 0], place, [5, 6]), replaced([8, 3, 4, 9], place, [5, 6])
        ([8, 5, 6, 4, 9, 0], [8, 5, 6, 9])
    """
    end = max(ids)
    text = [*ids[: place.start], *pieces, *ids[place.end : ids.index(end)]][: len(ids) - 1]
    return [*text, end, *[0] * (len(ids) - len(text) - 1)]


def perturbed(
    ids: Sequence[int], of: Sequence[Place], candidates: Candidates, count: int, pieces: Pieces, rng: Random
) -> list[list[list[int]]]:
    """A caption with each of its concepts replaced.

    Args:
        ids: [context], of the caption.
        of: the places of its concepts.
        candidates: what they are replaced by.
        count: how often each is.
        pieces: what encodes a text.
        rng: what is drawn from.

    Returns:
        [places][count, or none][context] ids.
    """
    return [
        [replaced(ids, place, pieces(name)) for name in candidates.drawn(place.concept, count, rng)] for place in of
    ]
