"""Hard negatives of a caption: texts with nearly the same words and another meaning.

There are three kinds, drawn at random in each call: two phrases swapped (``negclip``), a word replaced (``replace``),
and pairs of words shuffled (``bigram_shuffle``). FSC-CLIP trains on them (Appendix A.1); the possible texts and their
probabilities follow its code (ytaek-oh/fsc-clip, 604015d). Departures:

- The caption itself is never a negative (there, a swap or an inflected word may restore it).
- Words are inflected by LemmInflect, not by pyinflect: single nouns and verbs unknown to it by its rules, and, as
  there, nothing of several words. Prepositions are not inflected.
- A shuffled caption is compared with the caption by its words, not by a new parse of the text.
- Those of ``lexicon`` and ``scene_graph``.

All three together take a tenth of a millisecond for a caption of twelve tokens, on one slow core, once the lexicon has
cached its words. Nothing is cached of a caption: its parse takes more memory than time.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING

from recompose.tracks.vlc.text.lexicon import Alternatives, PartOfSpeech, WordNet
from recompose.tracks.vlc.text.scene_graph import scene_graph

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

SHUFFLES = 10  # attempts at an order that differs from the caption's
PER_ELEMENT = 2  # candidate replacements of an entity, a modifier or a relation


def negclip(doc: "Doc", rng: Random) -> str | None:
    """Return the caption with two phrases of the same kind swapped.

    Two phrases each are drawn from noun chunks of more than two tokens, verb phrases, singular nouns, plural nouns,
    adverbs and adjectives; pairs with different texts can be swapped, and one of these up to six swaps is drawn. Upper
    and lower case move with the words.

    Args:
        doc: a caption with tags, parts of speech, heads and dependencies.
        rng: the random source.

    Returns:
        The negative, or None if no drawn pair has different texts.

    Raises:
        ValueError: the caption is not parsed.
    """
    pairs = (_two_of(phrases, rng) for phrases in _phrases(doc))
    swaps = [(first, second) for first, second in pairs if first.text != second.text]
    return _unless_same(doc.text, _swap(doc.text, *rng.choice(swaps))) if swaps else None


def bigram_shuffle(doc: "Doc", rng: Random) -> str | None:
    """Return the caption with its pairs of consecutive tokens in another order.

    A last token without a partner is a pair of its own; if it is punctuation, it is inserted after a pair or before
    all. Pairs are joined by blanks; punctuation follows its partner without one. Up to ``SHUFFLES`` orders are drawn
    until one differs from the caption's; punctuation at either end makes no difference.

    Args:
        doc: a caption with parts of speech.
        rng: the random source.

    Returns:
        The negative, or None if there is only one pair, or no other order was drawn.
    """
    words = [(token.text, token.pos_ == "PUNCT") for token in doc]
    pairs = [tuple(words[place : place + 2]) for place in range(0, len(words), 2)]
    order = _order(pairs)
    last = pairs.pop()[0] if pairs and len(pairs[-1]) == 1 and pairs[-1][0][1] else None  # punctuation
    if len(pairs) < 2:
        return None
    for _ in range(SHUFFLES):
        shuffled = rng.sample(pairs, len(pairs))
        if last is not None:
            _insert(last, shuffled, rng)
        if _order(shuffled) != order:
            return _unless_same(doc.text, " ".join(map(_join, shuffled)))
    return None


def replace(doc: "Doc", rng: Random, lexicon: WordNet) -> str | None:
    """Return the caption with one word replaced.

    An antonym or a co-hyponym replaces a noun, an adjective, a verb or an adverb; a preposition replaces a preposition.
    For each element of the caption's scene graph (entity, modifier, relation) up to ``PER_ELEMENT`` replacements are
    drawn by weight, without repetition; one of all of these is drawn. The root of an entity is replaced, and all words
    of a relation that begins with a preposition. The new word is inflected for the number, tense or degree of the old
    one, and takes its case if that is all capitals or title case.

    Args:
        doc: a caption with tags, parts of speech, lemmas, heads and dependencies.
        rng: the random source.
        lexicon: the source of replacements.

    Returns:
        The negative, or None if the caption has fewer than two entities, has neither modifiers (determiners count) nor
        relations, or has no word with a replacement.

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
    word = _fit_form(slot.alternatives.words[drawn], slot.tag, slot.text)
    return _unless_same(doc.text, doc.text[: slot.start] + word + doc.text[slot.end :])


def _unless_same(caption: str, negative: str) -> str | None:
    return None if negative == caption else negative


# negclip


def _phrases(doc: "Doc") -> "list[list[Span]]":
    """Return the phrases of each kind in the caption's order, without kinds that have fewer than two."""
    kinds = [
        [chunk for chunk in doc.noun_chunks if len(chunk) > 2],
        [doc[start:end] for start, end in _verb_phrases([token.pos_ for token in doc])],
        *([doc[token.i : token.i + 1] for token in doc if token.tag_ == tag] for tag in ("NN", "NNS")),
        *([doc[token.i : token.i + 1] for token in doc if token.pos_ == part] for part in ("ADV", "ADJ")),
    ]
    return [phrases for phrases in kinds if len(phrases) > 1]


def _verb_phrases(parts_of_speech: Sequence[str]) -> list[tuple[int, int]]:
    """Return the starts and ends of verb phrases.

    Candidates are all stretches of an optional verb, any adverbs, any auxiliaries and at least one verb. The longest is
    chosen, then the longest that does not overlap, and so on; the first among equally long ones.

    Example:
        >>> _verb_phrases(["AUX", "VERB", "NOUN", "VERB", "ADV", "VERB"])
        [(0, 2), (3, 6)]
    """
    letters = "".join(_LETTERS.get(part_of_speech, " ") for part_of_speech in parts_of_speech)
    ends = [place + 1 for place, letter in enumerate(letters) if letter == "v"]
    starts = [place for place, letter in enumerate(letters) if letter != " "]
    stretches = [(start, end) for start in starts for end in ends if _VERB_PHRASE.fullmatch(letters, start, end)]
    chosen: list[tuple[int, int]] = []
    for start, end in sorted(stretches, key=lambda stretch: (stretch[0] - stretch[1], stretch[0])):
        if all(end <= first or last <= start for first, last in chosen):
            chosen.append((start, end))
    return sorted(chosen)


_LETTERS = {"VERB": "v", "ADV": "r", "AUX": "x"}
_VERB_PHRASE = re.compile("v?r*x*v+")


def _two_of(phrases: "Sequence[Span]", rng: Random) -> "tuple[Span, Span]":
    """Draw two phrases, in the caption's order."""
    first, second = (0, 1) if len(phrases) == 2 else sorted(rng.sample(range(len(phrases)), 2))
    return phrases[first], phrases[second]


def _swap(text: str, first: "Span", second: "Span") -> str:
    between = text[first.end_char : second.start_char]
    return text[: first.start_char] + second.text + between + first.text + text[second.end_char :]


# bigram_shuffle

_Word = tuple[str, bool]  # a token, and True for punctuation


def _insert(punctuation: _Word, pairs: list[tuple[_Word, ...]], rng: Random) -> None:
    place = rng.randrange(len(pairs) + 1)
    if place:
        pairs[place - 1] = (*pairs[place - 1], punctuation)
    else:
        pairs.insert(0, (punctuation,))


def _order(pairs: Sequence[tuple[_Word, ...]]) -> list[str]:
    """Return the words of pairs, without punctuation at the beginning and at the end."""
    words = [word for pair in pairs for word in pair]
    first = 1 if words and words[0][1] else 0
    last = len(words) - 1 if words and words[-1][1] else len(words)
    return [text for text, _ in words[first:last]]


def _join(words: tuple[_Word, ...]) -> str:
    (first, _), *following = words
    return first + "".join(text if is_punctuation else f" {text}" for text, is_punctuation in following)


# replace


@dataclass(frozen=True, slots=True)
class _Slot:
    """A word, or a preposition of several words, with its replacements."""

    start: int  # in characters
    end: int
    text: str
    tag: str  # its number, tense or degree apply to the replacement; "": none
    alternatives: Alternatives


_PARTS_OF_SPEECH: dict[str, PartOfSpeech] = {
    **{"NOUN": "n", "PROPN": "n", "PRON": "n"},
    **{"VERB": "v", "ADJ": "a", "ADV": "r"},
}


def _slots(doc: "Doc", lexicon: WordNet) -> list[tuple[_Slot, int]]:
    """Return the words that can be replaced, each with 0 for its first replacement and with 1 for a second, if any."""
    graph = scene_graph(doc, lexicon)
    if len(graph.entities) < 2 or not (graph.relations or graph.modifiers):
        return []
    spans = [*graph.entities, *(doc[token.i : token.i + 1] for token in graph.modifiers), *graph.relations]
    slots = [_slot(span, lexicon) for span in spans]
    return [(slot, nth) for slot in slots if slot for nth in range(min(PER_ELEMENT, len(slot.alternatives.words)))]


def _slot(span: "Span", lexicon: WordNet) -> _Slot | None:
    root = span.root
    if root.pos_ == "ADP":
        return _Slot(span.start_char, span.end_char, span.text, "", lexicon.prepositions(span.text.lower()))
    if root.pos_ in _PARTS_OF_SPEECH:
        related = lexicon.related(root.text, _PARTS_OF_SPEECH[root.pos_])
        return _Slot(root.idx, root.idx + len(root.text), root.text, root.tag_, related)
    return None


_INFLECTED = frozenset({"NNS", "NNPS", "VBD", "VBG", "VBN", "VBZ", "JJR", "JJS", "RBR", "RBS"})


def _fit_form(lemma: str, tag: str, text: str) -> str:
    """Return a lemma in the form and in the case of the word that it replaces."""
    word = (_inflect(lemma, tag) if tag in _INFLECTED else lemma).replace("_", " ")
    if text.isupper():
        return word.upper()
    return word.title() if text.istitle() else word


@lru_cache(maxsize=2**16)
def _inflect(lemma: str, tag: str) -> str:
    from lemminflect import getInflection

    by_rule = lemma.isalpha() and tag[0] in "NV"
    return next(iter(getInflection(lemma, tag=tag, inflect_oov=by_rule)), lemma)
