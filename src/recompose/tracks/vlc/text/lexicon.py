"""Replacements of words: antonyms and co-hyponyms in WordNet, and other prepositions.

``WordNet`` reads the files of WordNet's database (wndb(5WN), 3.x) from any folder: the published one, or a small one
that ``small_lexicon`` writes for a synthetic data set. NLTK's reader is not used: it opens only folders registered for
the whole process, refuses group-writable files, and needs NLTK's own download of WordNet. The tests compare this reader
with it.

The replacements and their weights follow the code of CLoVe (Netflix/clove, 77fea64), which FSC-CLIP (ytaek-oh/fsc-clip,
604015d) adopted. One departure: there the count of a lemma is that of the first sense of the same spelling that the
process looked up, such as a noun's for a verb; here it is the lemma's own.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from random import Random
from sys import intern
from typing import Any, Literal

from recompose.errors import DataError

PartOfSpeech = Literal["n", "v", "a", "r"]  # noun, verb, adjective, adverb

FILES: Mapping[PartOfSpeech, str] = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
NUMBERS: Mapping[PartOfSpeech, int] = {"n": 1, "v": 2, "a": 3, "r": 4}  # in the keys of senses
SynsetKey = tuple[PartOfSpeech, int]  # part of speech and offset
PREPOSITIONS_FILE = "prepositions.tsv"  # a preposition and its weight in each line; WordNet itself has no such file
LAYOUT = "index.*, data.* and *.exc of noun, verb, adj and adv, and cntlist.rev (the folder dict of WordNet 3.0)"

# Relative frequency of prepositions in English books of 2019 (Google Books), times the number of words behind WordNet's
# counts.
# fmt: off
PREPOSITIONS: Mapping[str, int] = {
    "aboard": 2, "above": 48, "across": 52, "after": 159, "against": 98, "along": 52, "alongside": 5, "amid": 2,
    "amidst": 1, "among": 58, "amongst": 4, "around": 104, "as": 1308, "at": 813, "atop": 1, "before": 164,
    "behind": 48, "below": 25, "beneath": 11, "beside": 13, "besides": 5, "between": 169, "beyond": 28, "by": 850,
    "down": 164, "during": 76, "following": 57, "for": 1531, "from": 786, "in": 3404, "in addition to": 4,
    "in front of": 17, "in reference to": 1, "in regard to": 2, "in spite of": 4, "including": 49, "inside": 33,
    "into": 335, "like": 261, "near": 32, "nearer": 3, "nearest": 4, "next": 63, "of": 6221, "off": 111, "on": 1153,
    "on account of": 2, "on side of": 1, "on the side of": 2, "on top of": 4, "onto": 18, "opposite": 12, "out": 364,
    "outside": 34, "over": 217, "past": 44, "since": 66, "through": 186, "throughout": 18, "thru": 1, "till": 17,
    "to": 4918, "toward": 41, "towards": 32, "under": 105, "underneath": 3, "unlike": 5, "until": 67, "unto": 20,
    "up": 355, "upon": 88, "with": 1342, "with regard to": 4, "within": 79, "without": 103,
}
# fmt: on


@dataclass(frozen=True, slots=True)
class Alternatives:
    """Replacements of a word, each with its weight in a draw."""

    words: tuple[str, ...]
    running_weights: tuple[int, ...]  # cumulative sums of weights

    @classmethod
    def from_weights(cls, weights: Mapping[str, int]) -> "Alternatives":
        """Return alternatives, given the weight of each word."""
        return cls(tuple(weights), tuple(accumulate(weights.values())))

    def draw(self, rng: Random) -> int:
        """Draw the place of a word by weight."""
        return bisect_right(self.running_weights, rng.randrange(self.running_weights[-1]))

    def draw_another(self, rng: Random, place: int) -> int:
        """Draw the place of a word by weight, from all except one."""
        before = self.running_weights[place - 1] if place else 0
        weight = self.running_weights[place] - before
        drawn = rng.randrange(self.running_weights[-1] - weight)
        return bisect_right(self.running_weights, drawn if drawn < before else drawn + weight)


@dataclass(frozen=True, slots=True)
class Pointer:
    """A relation of a synset, or of one of its lemmas, to another."""

    symbol: str  # wninput(5WN): @ hypernym, ~ hyponym, ! antonym, + derivationally related, & similar
    synset: SynsetKey
    source: int | None  # the place of the source lemma; None: the whole synset
    target: int | None  # the place of the target lemma; None: the whole synset


@dataclass(frozen=True, slots=True)
class Synset:
    """A set of lemmas of one meaning."""

    key: SynsetKey
    satellite: bool  # an adjective that is defined by a similar one
    lexicographer: int  # the number of the lexicographer's file, part of the lemmas' keys
    lemmas: tuple[str, ...]
    numbers: tuple[int, ...]  # [lemmas], unique for a spelling within a lexicographer's file
    pointers: tuple[Pointer, ...]

    def related(self, symbol: str) -> list[SynsetKey]:
        """Return the distinct synsets that this one, as a whole, points to."""
        pointers = (pointer for pointer in self.pointers if pointer.symbol == symbol and pointer.source is None)
        return list(dict.fromkeys(pointer.synset for pointer in pointers))


Lemma = tuple[Synset, int]  # a synset, and a place among its lemmas


class WordNet:
    """A lexicon that reads the files of WordNet's database.

    Args:
        folder: the files' folder. Prepositions are those of its ``prepositions.tsv``; without this file, as in
            WordNet's own folder, they are ``PREPOSITIONS``.

    Raises:
        DataError: a file is absent.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._index = {part: _index(folder / f"index.{name}") for part, name in FILES.items()}
        self._data = {part: _bytes(folder / f"data.{name}") for part, name in FILES.items()}
        self._exceptions = {part: _exceptions(folder / f"{name}.exc") for part, name in FILES.items()}
        self._counts = _counts(folder / "cntlist.rev")
        self._prepositions = _prepositions(folder / PREPOSITIONS_FILE)
        self.synset = lru_cache(maxsize=2**17)(self._read_synset)
        self.related = lru_cache(maxsize=2**15)(self._related)
        self.prepositions = lru_cache(maxsize=2**10)(self._other_prepositions)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.folder,)

    def is_preposition(self, phrase: str) -> bool:
        """Return True if a phrase in lower case is a preposition."""
        return phrase in self._prepositions

    def is_verb(self, phrase: str) -> bool:
        """Return True if the words of a phrase in lower case are one verb."""
        return phrase.replace(" ", "_") in self._index["v"]

    def base_forms(self, word: str, part_of_speech: PartOfSpeech) -> list[str]:
        """Return the database's base forms of a word (morphy(7WN)).

        These are the word itself, and the forms of its exceptions, or else of the rules of endings.
        """
        word = word.lower()
        irregular = self._exceptions[part_of_speech].get(word)
        forms = _without_endings(word, part_of_speech) if irregular is None else irregular
        return [form for form in dict.fromkeys([word, *forms]) if form in self._index[part_of_speech]]

    def synsets(self, word: str, part_of_speech: PartOfSpeech) -> list[Synset]:
        """Return the meanings of all base forms of a word; a meaning of several forms is repeated."""
        return [
            self.synset((part_of_speech, offset))
            for form in self.base_forms(word, part_of_speech)
            for offset in self._offsets(form, part_of_speech)
        ]

    def weights(self, word: str, part_of_speech: PartOfSpeech) -> dict[str, int]:
        """Return the weights of a word's antonyms and co-hyponyms.

        A weight is the sum, over all paths to the lemma, of its count in WordNet's corpora in that meaning, at least 1.
        Co-hyponyms are the lemmas two hypernyms up and two hyponyms down, siblings and cousins; those of an adjective
        are adjectives derived from co-hyponyms of the nouns that it is derived from. Lemmas that share a synset with
        the word are left out.
        """
        synsets = self.synsets(word, part_of_speech)
        synonyms = {lemma for synset in synsets for lemma in synset.lemmas}
        weights: Counter[str] = Counter()
        for synset in synsets:
            for target, place in (*self._antonyms(synset), *self._co_hyponyms(synset)):
                if target.lemmas[place] not in synonyms:
                    weights[target.lemmas[place]] += max(self.count((target, place)), 1)
        return dict(weights)

    def count(self, lemma: Lemma) -> int:
        """Return the count of a lemma in its meaning in WordNet's corpora."""
        return self._counts.get(self._sense_key(lemma), 0)

    def _related(self, word: str, part_of_speech: PartOfSpeech) -> Alternatives:
        return Alternatives.from_weights(self.weights(word, part_of_speech))

    def _other_prepositions(self, other_than: str) -> Alternatives:
        weights = {word: weight for word, weight in self._prepositions.items() if word != other_than}
        return Alternatives.from_weights(weights)

    def _antonyms(self, synset: Synset) -> Iterator[Lemma]:
        for place in range(len(synset.lemmas)):
            yield from self._lemmas((synset, place), "!")

    def _co_hyponyms(self, synset: Synset) -> Iterator[Lemma]:
        if synset.key[0] != "a":
            yield from self._cousins(synset)
            return
        for noun in self._nouns_of_adjective(synset):
            for cousin in self._cousins(noun):
                for adjective, place in self._lemmas(cousin, "+"):
                    if adjective.key[0] == "a" and adjective.key != synset.key:
                        yield adjective, place

    def _nouns_of_adjective(self, synset: Synset) -> list[Synset]:
        related = (lemma for place in range(len(synset.lemmas)) for lemma in self._lemmas((synset, place), "+"))
        return list({noun.key: noun for noun, _ in related if noun.key[0] == "n"}.values())

    def _cousins(self, synset: Synset) -> Iterator[Lemma]:
        keys = [synset.key]
        for symbol in "@@~~":
            keys = [near for key in keys for near in self.synset(key).related(symbol)]
        for key in keys:
            if key != synset.key:
                cousin = self.synset(key)
                yield from ((cousin, place) for place in range(len(cousin.lemmas)))

    def _lemmas(self, lemma: Lemma, symbol: str) -> Iterator[Lemma]:
        synset, place = lemma
        for pointer in synset.pointers:
            if pointer.symbol == symbol and pointer.source == place and pointer.target is not None:
                yield self.synset(pointer.synset), pointer.target

    def _sense_key(self, lemma: Lemma) -> str:
        synset, place = lemma
        head, number = ":", NUMBERS[synset.key[0]]
        if synset.satellite:
            similar = self.synset(synset.related("&")[0])
            head, number = f"{similar.lemmas[0]}:{similar.numbers[0]:02d}", 5
        return f"{synset.lemmas[place]}%{number}:{synset.lexicographer:02d}:{synset.numbers[place]:02d}:{head}".lower()

    def _offsets(self, lemma: str, part_of_speech: PartOfSpeech) -> list[int]:
        fields = self._index[part_of_speech][lemma].split()
        synsets, symbols = int(fields[1]), int(fields[2])
        return [int(offset) for offset in fields[3 + symbols + 2 :][:synsets]]

    def _read_synset(self, key: SynsetKey) -> Synset:
        part_of_speech, offset = key
        data = self._data[part_of_speech]
        return _parse(key, data[offset : data.find(b"\n", offset)].decode("utf-8", "replace"))


_ENDINGS: Mapping[PartOfSpeech, Sequence[tuple[str, str]]] = {  # of morphy(7WN), with their replacements
    "n": [
        *(("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z")),
        *(("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y")),
    ],
    "v": [("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")],
    "a": [("er", ""), ("est", ""), ("er", "e"), ("est", "e")],
    "r": [],
}


def _without_endings(word: str, part_of_speech: PartOfSpeech) -> list[str]:
    endings = _ENDINGS[part_of_speech]
    return [word[: -len(ending)] + base for ending, base in endings if word.endswith(ending)]


def _parse(key: SynsetKey, line: str) -> Synset:
    """Parse a line of a data file."""
    fields = line.partition("|")[0].split()
    words = int(fields[3], 16)
    pointers = int(fields[4 + 2 * words])
    starts = range(5 + 2 * words, 5 + 2 * words + 4 * pointers, 4)
    return Synset(
        key,
        satellite=fields[2] == "s",
        lexicographer=int(fields[1]),
        lemmas=tuple(intern(_MARKER.sub("", word)) for word in fields[4 : 4 + 2 * words : 2]),
        numbers=tuple(int(number, 16) for number in fields[5 : 5 + 2 * words : 2]),
        pointers=tuple(_pointer(*fields[start : start + 4]) for start in starts),
    )


_MARKER = re.compile(r"\([^()]*\)$")  # the position of an adjective: galore(ip)
_PARTS: Mapping[str, PartOfSpeech] = {"n": "n", "v": "v", "a": "a", "s": "a", "r": "r"}


def _pointer(symbol: str, offset: str, part_of_speech: str, ends: str) -> Pointer:
    source, target = int(ends[:2], 16), int(ends[2:], 16)
    key = (_PARTS[part_of_speech], int(offset))
    return Pointer(intern(symbol), key, source - 1 if source else None, target - 1 if target else None)


def _index(path: Path) -> dict[str, str]:
    """Return the fields of each lemma of an index."""
    return {lemma: fields for lemma, _, fields in (line.partition(" ") for line in _lines(path)) if lemma}


def _exceptions(path: Path) -> dict[str, list[str]]:
    return {fields[0]: fields[1:] for fields in map(str.split, _lines(path)) if fields}


def _counts(path: Path) -> dict[str, int]:
    return {key: int(numbers.split()[-1]) for key, _, numbers in (line.partition(" ") for line in _lines(path))}


def _prepositions(path: Path) -> Mapping[str, int]:
    if not path.exists():
        return PREPOSITIONS
    return {word: int(weight) for word, _, weight in (line.partition("\t") for line in _lines(path))}


def _lines(path: Path) -> Iterable[str]:
    return _bytes(path).decode("utf-8-sig", "replace").splitlines()


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        message = f"{path} cannot be read ({error.strerror}); WordNet's folder holds {LAYOUT}"
        raise DataError(message, code="missing-file", place=path) from error
