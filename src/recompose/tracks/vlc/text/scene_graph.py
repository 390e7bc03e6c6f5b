"""Scene graphs of captions: entities, their modifiers and the relations between them, from a parse.

The rules are those of FSC-CLIP's code (ytaek-oh/fsc-clip, 604015d), which took them from CLoVe and SceneGraphParser
(vacancy/SceneGraphParser, 1b3d5fc). Departures: the parse is not changed (there a conjunct of a modifier is given the
modifier's dependency; here only the look-up does so); a relation whose words would be in the wrong order is left out
(there it is an empty span); and phrasal verbs are those of a lexicon (there, a list from a website). As released,
pronouns are entities: the rule meant to exclude them tests for a lemma that spaCy 3 does not use.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recompose.tracks.vlc.text.lexicon import WordNet

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token


@dataclass(frozen=True)
class SceneGraph:
    """The entities, modifiers and relations of a caption."""

    entities: "tuple[Span, ...]"  # noun chunks
    modifiers: "tuple[Token, ...]"  # determiners, numbers and adjectives of the entities
    relations: "tuple[Span, ...]"  # a verb or a preposition, once for each pair of entities that it relates


def scene_graph(doc: "Doc", lexicon: WordNet) -> SceneGraph:
    """Return the entities of a caption, their modifiers and their relations.

    Args:
        doc: a caption with tags, parts of speech, lemmas, heads and dependencies (CLEAR's, as in spaCy's models).
        lexicon: lists phrasal verbs and prepositions of several words.

    Raises:
        ValueError: the caption is not parsed.
    """
    chunks = list(doc.noun_chunks)
    modifiers = [list(_modifiers(chunk.root)) for chunk in chunks]
    conjuncts = {token.i for of_chunk in modifiers for token in of_chunk if token.dep_ == "conj"}
    parse = _Parse(doc, lexicon, dict.fromkeys(conjuncts, "amod"))
    relations = [relation for chunk in chunks if (relation := parse.relation(chunk.root))]
    # "front" of "in front of a piano" is no entity
    chosen = [place for place, chunk in enumerate(chunks) if chunk.root.i not in parse.parts_of_prepositions]
    entities = tuple(chunks[place] for place in chosen)
    return SceneGraph(
        entities,
        tuple(token for place in chosen for token in modifiers[place]),
        tuple(
            span
            for subject, object_, span in relations
            for source in parse.with_conjuncts(doc[subject])
            for target in parse.with_conjuncts(doc[object_])
            if _is_in_any(entities, source) and _is_in_any(entities, target)
        ),
    )


def _modifiers(noun: "Token") -> "Iterator[Token]":
    for child in noun.children:
        if child.dep_ in ("det", "nummod"):
            yield child
        elif child.dep_ == "amod":
            yield child
            yield from (conjunct for conjunct in child.children if conjunct.dep_ == "conj")
        elif child.dep_ == "compound":
            yield from _modifiers(child)


def _is_in_any(entities: "tuple[Span, ...]", token: "Token") -> bool:
    return any(entity.start <= token.i < entity.end for entity in entities)


class _Parse:
    """A parse with changed dependencies of some tokens."""

    def __init__(self, doc: "Doc", lexicon: WordNet, dependencies: Mapping[int, str]) -> None:
        self.doc, self.lexicon, self._dependencies = doc, lexicon, dependencies
        self._subjects = dict(self._verbs_and_subjects())
        self.parts_of_prepositions: set[int] = set()

    def dependency(self, token: "Token") -> str:
        return self._dependencies.get(token.i, token.dep_)

    def with_conjuncts(self, token: "Token") -> "list[Token]":
        """Return a token and its conjuncts."""
        return [token, *(child for child in token.children if self.dependency(child) == "conj")]

    def _verbs_and_subjects(self) -> Iterator[tuple[int, int]]:
        """Yield the places of verbs and of their subjects; the last subject of a verb counts."""
        for token in self.doc:
            dependency = self.dependency(token)
            if dependency == "nsubj":
                yield token.head.i, token.i
            elif dependency == "acl":
                yield token.i, token.head.i
            elif dependency == "pobj" and self.dependency(token.head) == "agent" and token.head.head.pos_ == "VERB":
                yield token.head.head.i, token.i

    def relation(self, noun: "Token") -> "tuple[int, int, Span] | None":
        """Return the relation whose object is a noun: the places of subject and object, and the relation's words."""
        dependency, head = self.dependency(noun), noun.head.i
        places = None
        if dependency in ("dobj", "attr", "nsubjpass"):  # in "a piano is played by a woman" the piano is the object
            places = (self._subjects[head], head, head) if head in self._subjects else None
        elif dependency == "pobj":
            places = self._relation_by_preposition(noun.head)
        if places is None or places[1] > places[2]:
            return None
        subject, first, last = places
        return subject, noun.i, self.doc[first : last + 1]

    def _relation_by_preposition(self, preposition: "Token") -> tuple[int, int, int] | None:
        """Return the places of the subject and of the first and the last word of the relation."""
        above, place = preposition.head, preposition.i
        dependency = self.dependency(above)
        if self.dependency(preposition) == "agent":
            return None
        if above.i in self._subjects and self._is_phrasal_verb(above, preposition):
            return self._subjects[above.i], above.i, place
        if above.i in self._subjects and (above.pos_ == "VERB" or dependency == "acl"):
            return self._subjects[above.i], place, place
        if dependency == "pobj" and self.lexicon.is_preposition(self.doc[above.head.i : place + 1].text.lower()):
            self.parts_of_prepositions.add(above.i)
            return above.head.head.i, above.head.i, place
        if above.pos_ == "NOUN":
            return above.i, place, place
        if dependency in ("amod", "advmod") and above.head.pos_ == "NOUN":
            return above.head.i, above.i, place
        if dependency in ("amod", "advmod") and above.head.pos_ == "VERB" and above.head.i in self._subjects:
            return self._subjects[above.head.i], above.i, place
        if above.pos_ == "AUX" and above.i in self._subjects:
            return self._subjects[above.i], place, place
        return None

    def _is_phrasal_verb(self, verb: "Token", particle: "Token") -> bool:
        together = verb.pos_ == "VERB" and verb.i + 1 == particle.i
        return together and self.lexicon.is_verb(f"{verb.lemma_} {particle.lemma_}".lower())
