"""Hard negatives of a caption: texts of nearly the same words that say something else.

Three kinds, each drawn anew whenever it is asked for: two phrases change places (``negclip``), a word is replaced
(``replace``), and pairs of words change places (``bigram_shuffle``). They are what FSC-CLIP trains on (Appendix A.1),
and follow its code (ytaek-oh/fsc-clip, 604015d) in which texts there are and how likely each is. Departures:

- A text that is the caption itself is none (there a swap or an inflected word may give it back).
- Words are inflected by LemmInflect, not by pyinflect: single nouns and verbs of which it does not know by its rules,
  and, as there, nothing of several words. Prepositions are not inflected.
- Whether a shuffled caption is the caption is decided by its own words, not by parsing the text anew.
- Those of ``lexicon`` and ``scene_graph``.

All three together take a tenth of a millisecond for a caption of twelve tokens, on one slow core, once the lexicon was
asked for its words: nothing is kept of a caption, whose parse takes more memory than time.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING

from recompose.tracks.vlc.text.lexicon import Alternatives, Lexicon, PartOfSpeech
from recompose.tracks.vlc.text.scene_graph import scene_graph

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

SHUFFLES = 10  # how often a caption is shuffled at most, until it is another one
PER_ELEMENT = 2  # how many replacements of an entity, a modifier or a relation are candidates


def negclip(doc: "Doc", rng: Random) -> str | None:
    """The caption with two phrases of the same kind in each other's place.

    Of noun chunks of more than two tokens, verb phrases, singular nouns, plural nouns, adverbs and adjectives two each
    are drawn; where their texts differ, they may be swapped; one of these up to six swaps is drawn. Upper and lower
    case move with the words.

    Args:
        doc: a caption with tags, parts of speech, heads and dependencies.
        rng: what is drawn from.

    Returns:
        The negative, or None where no two such phrases were drawn that differ.

    Raises:
        ValueError: the caption is not parsed.
    """
    pairs = (_two_of(phrases, rng) for phrases in _phrases(doc))
    swaps = [(one, other) for one, other in pairs if one.text != other.text]
    return _unless_same(doc.text, _swapped(doc.text, *rng.choice(swaps))) if swaps else None


def bigram_shuffle(doc: "Doc", rng: Random) -> str | None:
    """The caption with its pairs of consecutive tokens in another order.

    A last token without a partner is a pair of its own; if it is punctuation, it is put behind any of the others or
    before all. Pairs are joined by blanks; punctuation follows its partner without one. Up to ``SHUFFLES`` orders are
    drawn until one is not that of the caption; punctuation at either end does not make a difference.

    Args:
        doc: a caption with parts of speech.
        rng: what is drawn from.

    Returns:
        The negative, or None where there is only one pair, or no other order was drawn.
    """
    shuffle = _Shuffle.of(doc)
    if len(shuffle.pairs) < 2:
        return None
    for _ in range(SHUFFLES):
        pairs = rng.sample(shuffle.pairs, len(shuffle.pairs))
        if shuffle.last is not None:
            _insert(shuffle.last, pairs, rng)
        if _order(pairs) != shuffle.order:
            return _unless_same(doc.text, " ".join(map(_joined, pairs)))
    return None


def replace(doc: "Doc", rng: Random, lexicon: Lexicon) -> str | None:
    """The caption with a word in place of another: a noun, an adjective, a verb or an adverb by an antonym or a
    co-hyponym, a preposition by a preposition.

    Of each element of the caption's scene graph (entity, modifier, relation) up to ``PER_ELEMENT`` replacements are
    drawn by weight, without repetition; one of all of these is drawn. Of an entity the root is replaced, of a relation
    that begins with a preposition all words. The word is brought into the number, tense or degree of the other, and
    into its case, if that has capitals only or at the beginning of each word.

    Args:
        doc: a caption with tags, parts of speech, lemmas, heads and dependencies.
        rng: what is drawn from.
        lexicon: what words may be replaced by.

    Returns:
        The negative, or None where the caption has fewer than two entities, has neither modifiers (determiners are
        some) nor relations, or has no word that can be replaced.

    Raises:
        ValueError: the caption is not parsed.
    """
    slots = _slots(doc, lexicon)
    if not slots:
        return None
    slot, nth = rng.choice(slots)
    drawn = slot.alternatives.draw(rng)
    if nth:
        drawn = slot.alternatives.draw_another(rng, drawn)
    word = _in_form(slot.alternatives.words[drawn], slot.tag, slot.text)
    return _unless_same(doc.text, doc.text[: slot.start] + word + doc.text[slot.end :])


def _unless_same(caption: str, negative: str) -> str | None:
    return None if negative == caption else negative


# negclip


@dataclass(frozen=True, slots=True)
class _Phrase:
    start: int  # in characters
    end: int
    text: str

    @classmethod
    def of(cls, span: "Span | Token") -> "_Phrase":
        start = span.idx if hasattr(span, "idx") else span.start_char
        return cls(start, start + len(span.text), span.text)


def _phrases(doc: "Doc") -> list[list[_Phrase]]:
    """Phrases that may be swapped, by kind, in the caption's order; kinds with fewer than two are left out."""
    kinds: list[list[_Phrase]] = [
        [_Phrase.of(chunk) for chunk in doc.noun_chunks if len(chunk) > 2],
        [_Phrase.of(doc[start:end]) for start, end in _verb_phrases([token.pos_ for token in doc])],
        [_Phrase.of(token) for token in doc if token.tag_ == "NN"],
        [_Phrase.of(token) for token in doc if token.tag_ == "NNS"],
        [_Phrase.of(token) for token in doc if token.pos_ == "ADV"],
        [_Phrase.of(token) for token in doc if token.pos_ == "ADJ"],
    ]
    return [phrases for phrases in kinds if len(phrases) > 1]


def _verb_phrases(parts_of_speech: Sequence[str]) -> list[tuple[int, int]]:
    """Where verb phrases start and end: of all stretches of perhaps a verb, any adverbs, any auxiliaries and one verb
    at least, the longest, then the longest that does not overlap, and so on; the first of equally long ones.

    Example:
        >>> _verb_phrases(["AUX", "VERB", "NOUN", "VERB", "ADV", "VERB"])
        [(0, 2), (3, 6)]
    """
    letters = "".join(_LETTERS.get(each, " ") for each in parts_of_speech)
    ends = [place + 1 for place, letter in enumerate(letters) if letter == "v"]
    starts = [place for place, letter in enumerate(letters) if letter != " "]
    stretches = [(start, end) for start in starts for end in ends if _VERB_PHRASE.fullmatch(letters, start, end)]
    kept: list[tuple[int, int]] = []
    for start, end in sorted(stretches, key=lambda stretch: (stretch[0] - stretch[1], stretch[0])):
        if all(end <= first or last <= start for first, last in kept):
            kept.append((start, end))
    return sorted(kept)


_LETTERS = {"VERB": "v", "ADV": "r", "AUX": "x"}
_VERB_PHRASE = re.compile("v?r*x*v+")


def _two_of(phrases: Sequence[_Phrase], rng: Random) -> tuple[_Phrase, _Phrase]:
    """Two phrases, the one that stands first in the caption first."""
    one, other = (0, 1) if len(phrases) == 2 else sorted(rng.sample(range(len(phrases)), 2))
    return phrases[one], phrases[other]


def _swapped(text: str, first: _Phrase, second: _Phrase) -> str:
    return text[: first.start] + second.text + text[first.end : second.start] + first.text + text[second.end :]


# bigram_shuffle

_Word = tuple[str, bool]  # a token, and whether it is punctuation


@dataclass(frozen=True, slots=True)
class _Shuffle:
    pairs: tuple[tuple[_Word, ...], ...]
    last: _Word | None  # punctuation at the end that has no partner
    order: list[str]

    @classmethod
    def of(cls, doc: "Doc") -> "_Shuffle":
        words = [(token.text, token.pos_ == "PUNCT") for token in doc]
        pairs = [tuple(words[place : place + 2]) for place in range(0, len(words), 2)]
        alone = bool(pairs) and len(pairs[-1]) == 1 and pairs[-1][0][1]
        return cls(tuple(pairs[:-1] if alone else pairs), pairs[-1][0] if alone else None, _order(pairs))


def _insert(punctuation: _Word, pairs: list[tuple[_Word, ...]], rng: Random) -> None:
    place = rng.randrange(len(pairs) + 1)
    if place:
        pairs[place - 1] = (*pairs[place - 1], punctuation)
    else:
        pairs.insert(0, (punctuation,))


def _order(pairs: Sequence[tuple[_Word, ...]]) -> list[str]:
    """The words of pairs, without punctuation at the beginning and at the end."""
    words = [word for pair in pairs for word in pair]
    first = 1 if words and words[0][1] else 0
    last = len(words) - 1 if words and words[-1][1] else len(words)
    return [text for text, _ in words[first:last]]


def _joined(words: tuple[_Word, ...]) -> str:
    (first, _), *rest = words
    return first + "".join(text if is_punctuation else f" {text}" for text, is_punctuation in rest)


# replace


@dataclass(frozen=True, slots=True)
class _Slot:
    """A word, or a preposition of several, with what may stand in its place."""

    start: int  # in characters
    end: int
    text: str
    tag: str  # whose number, tense or degree a replacement takes; "" for none
    alternatives: Alternatives


_PARTS_OF_SPEECH: dict[str, PartOfSpeech] = {
    "NOUN": "n",
    "PROPN": "n",
    "PRON": "n",
    "VERB": "v",
    "ADJ": "a",
    "ADV": "r",
}


def _slots(doc: "Doc", lexicon: Lexicon) -> list[tuple[_Slot, int]]:
    """What may be replaced, each once for its first replacement and, where there are two, once for its second."""
    graph = scene_graph(doc, lexicon)
    if len(graph.entities) < 2 or not (graph.relations or graph.modifiers):
        return []
    spans = [*graph.entities, *(doc[token.i : token.i + 1] for token in graph.modifiers), *graph.relations]
    slots = [_slot(span, lexicon) for span in spans]
    return [(slot, nth) for slot in slots if slot for nth in range(min(PER_ELEMENT, len(slot.alternatives.words)))]


def _slot(span: "Span", lexicon: Lexicon) -> _Slot | None:
    root = span.root
    if root.pos_ == "ADP":
        return _Slot(span.start_char, span.end_char, span.text, "", lexicon.prepositions(span.text.lower()))
    if root.pos_ in _PARTS_OF_SPEECH:
        related = lexicon.related(root.text, _PARTS_OF_SPEECH[root.pos_])
        return _Slot(root.idx, root.idx + len(root.text), root.text, root.tag_, related)
    return None


_INFLECTED = frozenset({"NNS", "NNPS", "VBD", "VBG", "VBN", "VBZ", "JJR", "JJS", "RBR", "RBS"})


def _in_form(lemma: str, tag: str, text: str) -> str:
    """A lemma in the form and in the case of the word that it replaces."""
    word = (_inflected(lemma, tag) if tag in _INFLECTED else lemma).replace("_", " ")
    if text.isupper():
        return word.upper()
    return word.title() if text.istitle() else word


@lru_cache(maxsize=2**16)
def _inflected(lemma: str, tag: str) -> str:
    from lemminflect import getInflection

    by_rule = lemma.isalpha() and tag[0] in "NV"
    return next(iter(getInflection(lemma, tag=tag, inflect_oov=by_rule)), lemma)
