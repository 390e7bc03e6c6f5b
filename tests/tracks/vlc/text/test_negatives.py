"""Hard negatives against independent enumerations of all that the rules allow, and of how likely each is."""

import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from itertools import combinations, permutations, product
from pathlib import Path
from random import Random
from typing import Any

import nltk.data
import nltk.pathsec
import pytest
from nltk.corpus.reader.wordnet import WordNetCorpusReader
from scipy.stats import chisquare
from spacy.matcher import Matcher
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from recompose.errors import DataError
from recompose.tracks.vlc.text.lexicon import FILES, PREPOSITIONS, Alternatives, WordNet
from recompose.tracks.vlc.text.negatives import bigram_shuffle, negclip, replace
from recompose.tracks.vlc.text.small_lexicon import Meaning, write_lexicon
from tests.errors import raises
from tests.tracks.vlc import parses
from tests.tracks.vlc.parses import parsed


def count_draws(draw: Callable[[Random], str | None], times: int, seed: int = 0) -> Counter[str | None]:
    rng = Random(seed)
    return Counter(draw(rng) for _ in range(times))


def assert_drawn_as(counts: Counter[str | None], probabilities: Mapping[str | None, float]) -> None:
    """Draws are all legal, and as frequent as they should be."""
    assert counts.keys() <= probabilities.keys()
    assert sum(probabilities.values()) == pytest.approx(1)
    likely = [text for text, probability in probabilities.items() if probability * counts.total() >= 5]
    observed = [counts[text] for text in likely]
    expected = [probabilities[text] * counts.total() for text in likely]
    observed.append(counts.total() - sum(observed))
    expected.append(counts.total() - sum(expected))
    if expected[-1] < 1e-6:
        assert observed.pop() == 0
        expected.pop()
    if len(expected) > 1:
        assert chisquare(observed, expected).pvalue > 0.001


# negclip


def spans_by_kind(doc: Doc) -> list[list[Span]]:
    """With spaCy's own matcher of verb phrases and its own filter of spans that overlap."""
    matcher = Matcher(doc.vocab)
    operators = [("VERB", "?"), ("ADV", "*"), ("AUX", "*"), ("VERB", "+")]
    matcher.add("phrase", [[{"POS": part, "OP": operator} for part, operator in operators]])
    words = [doc[place : place + 1] for place in range(len(doc))]
    return [
        [chunk for chunk in doc.noun_chunks if len(chunk) > 2],
        filter_spans(matcher(doc, as_spans=True)),
        [word for word in words if word[0].tag_ == "NN"],
        [word for word in words if word[0].tag_ == "NNS"],
        [word for word in words if word[0].pos_ == "ADV"],
        [word for word in words if word[0].pos_ == "ADJ"],
    ]


def with_swapped(doc: Doc, one: Span, other: Span) -> str:
    """Token by token."""
    parts, place = [], 0
    while place < len(doc):
        span = next((each for each in (one, other) if each.start == place), None)
        if span is None:
            parts.append(doc[place].text_with_ws)
            place += 1
        else:
            replacement = other if span is one else one
            parts.append(replacement.text + doc[span.end - 1].whitespace_)
            place = span.end
    return "".join(parts)


def negclip_probabilities(doc: Doc) -> dict[str | None, float]:
    pairs = [list(combinations(spans, 2)) for spans in spans_by_kind(doc) if len(spans) > 1]
    outcomes = list(product(*pairs))
    probabilities: dict[str | None, float] = defaultdict(float)
    for outcome in outcomes:
        texts = [with_swapped(doc, *pair) for pair in outcome if pair[0].text != pair[1].text]
        for text in texts or [None]:
            probabilities[text] += 1 / len(outcomes) / len(texts or [None])
    return probabilities


@pytest.mark.parametrize("sentence", parses.SCENES, ids=lambda sentence: str(parsed(sentence)))
def test_negclip_draws_swaps_as_often_as_the_rules_say(sentence: str) -> None:
    doc = parsed(sentence)
    assert_drawn_as(count_draws(lambda rng: negclip(doc, rng), 2000), negclip_probabilities(doc))


def test_a_swap_that_gives_the_caption_back_is_none() -> None:
    doc = parsed("go/VBP/0/ROOT go/IN/0/prep go/VBP/0/conj go/VBP/2/conj")  # "go" and "go go", with a "go" between
    assert negclip_probabilities(doc) == {doc.text: 1}
    assert set(count_draws(lambda rng: negclip(doc, rng), 20)) == {None}


# bigram_shuffle


def shuffle_probabilities(doc: Doc) -> dict[str | None, float]:
    """Every order is as likely as every other, without those that leave the words as they are."""
    tokens = [(token.text, token.pos_ == "PUNCT") for token in doc]
    units = [tokens[place : place + 2] for place in range(0, len(tokens), 2)]
    lone = units.pop()[0] if len(units[-1]) == 1 and units[-1][0][1] else None
    orders = []
    for order in map(list, permutations(units)):
        if lone is None:
            orders.append(order)
            continue
        orders.append([[lone], *order])
        orders += [[*order[:n], [*order[n], lone], *order[n + 1 :]] for n in range(len(order))]

    def words(order: list[list[tuple[str, bool]]]) -> list[str]:
        flat = [token for unit in order for token in unit]
        return [text for place, (text, mark) in enumerate(flat) if not (mark and place in (0, len(flat) - 1))]

    def text(order: list[list[tuple[str, bool]]]) -> str:
        units = (((" " if n and not mark else "") + word for n, (word, mark) in enumerate(unit)) for unit in order)
        return " ".join(map("".join, units))

    legal = Counter(text(order) for order in orders if words(order) != words([tokens]))
    never = (1 - legal.total() / len(orders)) ** 10
    return {None: never, **{each: (1 - never) * n / legal.total() for each, n in legal.items()}}


SHORT = "A/DT/1/det dog/NN/2/nsubj runs/VBZ/2/ROOT very/RB/4/advmod fast/RB/2/advmod"
POINT = " ././2/punct"


@pytest.mark.parametrize(
    "sentence", [SHORT, SHORT + " now/RB/2/advmod", SHORT + POINT, parses.SANDALS, parses.MATS, parses.STANDING]
)
def test_bigram_shuffle_draws_every_other_order_alike(sentence: str) -> None:
    doc = parsed(sentence)
    assert_drawn_as(count_draws(lambda rng: bigram_shuffle(doc, rng), 3000), shuffle_probabilities(doc))


@pytest.mark.parametrize("sentence", ["Dogs/NNS/1/nsubj run/VBP/1/ROOT ././1/punct", " ".join(["go/VBP/0/ROOT"] * 4)])
def test_no_other_order(sentence: str) -> None:
    doc = parsed(sentence)
    assert set(count_draws(lambda rng: bigram_shuffle(doc, rng), 50)) == {None}


# replace


def lexicon_of_figure_6(folder: Path) -> WordNet:
    """Words of Figure 6 where WordNet has them, as far as the rules go by it."""
    groups = {
        "mammal": [["elephant", "pika"], ["megatherian mammal", "statue"], ["dog", "cat"]],
        "artifact": [["sandal", "slingback"], ["lace", "arm"], ["step"], ["building", "fence"]],
        "collection": [["van", "regiment"], ["apple", "horse", "man"], ["piano", "woman"]],
    }
    counts = {"pika": 3, "arm": 40, "fence": 5, "regiment": 2, "dog": 42, "horse": 12, "large": 30, "inactive": 3}
    counts |= {"drink": 6, "walk": 9}
    meanings = []
    for group, families in groups.items():
        meanings.append(Meaning(group, "n", (group,)))
        for number, family in enumerate(families):
            meanings.append(Meaning(f"{group}-{number}", "n", (f"kind {number} of {group}",), group))
            meanings += [Meaning(word, "n", (word,), f"{group}-{number}", counts) for word in family]
    derived, qualities = [], ["blue", "red", "brown", "large", "average", "small", "different", "inactive"]
    meanings += [Meaning("quality", "n", ("quality",)), Meaning("quality-0", "n", ("some quality",), "quality")]
    for word in qualities:
        meanings.append(Meaning(f"{word}ness", "n", (f"{word}ness",), "quality-0"))
        meanings.append(Meaning(f"{word} a", "a", (word,), counts=counts))
        derived.append((f"{word} a", f"{word}ness"))
    meanings += [Meaning("act", "v", ("act",)), Meaning("use", "v", ("use",), "act")]
    meanings += [Meaning(verb, "v", (verb,), "use", counts) for verb in ("eat", "drink", "ride", "play", "sit", "walk")]
    meanings += [Meaning("next", "r", ("next",)), Meaning("last", "r", ("last",))]
    antonyms = [("small a", "large a"), ("next", "last")]
    write_lexicon(folder, meanings, antonyms=antonyms, derived=derived)
    return WordNet(folder)


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory: pytest.TempPathFactory) -> WordNet:
    return lexicon_of_figure_6(tmp_path_factory.mktemp("dict"))


Element = tuple[Any, ...]  # what is replaced; the words' part of speech, and their form; its place, unless the first

ELEMENTS: dict[str, list[Element]] = {
    parses.ELEPHANTS: [
        *(("statues", "n+s"), ("elephants", "n+s"), ("steps", "n+s"), ("building", "n")),
        *(("old", "a"), ("of", "p"), ("on", "p"), ("in front of", "p")),
    ],
    parses.MATS: [("dog", "n"), ("cat", "n"), ("mats", "n+s"), ("tall", "a"), ("on", "p"), ("on", "p")],
    parses.RIDER: [
        *(("man", "n"), ("apples", "n+s"), ("Horse", "n+T"), ("RED", "a+U")),
        *(("brown", "a"), ("eating", "v+ing"), ("rides", "v+s")),
    ],
    parses.PIANO: [("piano", "n"), ("woman", "n"), ("played", "v+en"), ("next", "r")],
    parses.TWICE: [("dog", "n"), ("dog", "n", len("A dog sees a "))],
}
INFLECTED = {  # by hand
    "n+s": {"woman": "women", "man": "men", "statue": "statues"},
    "v+ing": {"ride": "riding", "sit": "sitting"},
    "v+en": {"eat": "eaten", "drink": "drunk", "ride": "ridden", "sit": "sat", "play": "played", "walk": "walked"},
}
ENDINGS = {"n+s": "s", "v+ing": "ing", "v+s": "s"}


def in_form(word: str, form: str) -> str:
    if form == "n+T":
        return " ".join(part.capitalize() for part in word.split("_"))
    if form == "a+U":
        return word.upper()
    if "_" in word:
        return word.replace("_", " ")
    return INFLECTED.get(form, {}).get(word, word + ENDINGS.get(form, ""))


def replace_probabilities(caption: str, elements: list[Element], lexicon: WordNet) -> dict[str | None, float]:
    """Of each element one or two words, drawn one after the other; each of all these is as likely as the others."""
    candidates: list[dict[str, float]] = []
    for text, form, *place in elements:
        start = place[0] if place else caption.index(text)
        before, after = caption[:start], caption[start + len(text) :]
        if form == "p":
            weights = {word: weight for word, weight in PREPOSITIONS.items() if word != text}
        else:
            weights = lexicon.weights(text, form[0])
        total = sum(weights.values())
        words = {word: before + in_form(word, form) + after for word in weights}
        if weights:
            candidates.append({words[word]: weight / total for word, weight in weights.items()})
        if len(weights) > 1:
            second = {
                words[word]: sum(w / total * weight / (total - w) for other, w in weights.items() if other != word)
                for word, weight in weights.items()
            }
            candidates.append(second)
    probabilities: dict[str | None, float] = defaultdict(float)
    for candidate in candidates:
        for negative, probability in candidate.items():
            probabilities[negative] += probability / len(candidates)
    return probabilities


@pytest.mark.slow
@pytest.mark.parametrize("sentence", ELEMENTS, ids=lambda sentence: str(parsed(sentence)))
def test_replace_draws_words_as_often_as_the_rules_say(sentence: str, lexicon: WordNet) -> None:
    doc = parsed(sentence)
    probabilities = replace_probabilities(doc.text, ELEMENTS[sentence], lexicon)
    assert len(probabilities) > 1
    assert_drawn_as(count_draws(lambda rng: replace(doc, rng, lexicon), 3000), probabilities)


def test_of_a_phrasal_verb_the_verb_is_replaced(tmp_path: Path) -> None:
    verbs = [Meaning(verb, "v", (verb,), "use") for verb in ("sit", "walk", "sit on")]
    write_lexicon(tmp_path, [Meaning("act", "v", ("act",)), Meaning("use", "v", ("use",), "act"), *verbs])
    doc = parsed(parses.MATS)
    assert set(count_draws(lambda rng: replace(doc, rng, WordNet(tmp_path)), 50)) == {
        "A dog and a tall cat walk on mats",
        "A dog and a tall cat sit on on mats",
    }


def test_an_inflected_word_that_gives_the_caption_back_is_none(tmp_path: Path) -> None:
    words = [Meaning(word, "n", (word,), "kind") for word in ("cats", "cat")]  # no form of each other in this lexicon
    write_lexicon(tmp_path, [Meaning("all", "n", ("all",)), Meaning("kind", "n", ("kind",), "all"), *words])
    (tmp_path / "noun.exc").write_text("cats cats\n")
    doc = parsed("the/DT/1/det cats/NNS/1/ROOT ,/,/1/punct dogs/NNS/1/conj")
    assert set(count_draws(lambda rng: replace(doc, rng, WordNet(tmp_path)), 20)) == {None}


# all


@pytest.mark.parametrize("sentence", parses.SCENES, ids=lambda sentence: str(parsed(sentence)))
def test_the_state_of_the_generator_decides_and_the_caption_is_left_alone(sentence: str, lexicon: WordNet) -> None:
    doc, again = parsed(sentence), parsed(sentence)
    before = doc.to_bytes()

    def texts(doc: Doc, rng: Random) -> list[str | None]:
        return [
            text for _ in range(5) for text in (negclip(doc, rng), bigram_shuffle(doc, rng), replace(doc, rng, lexicon))
        ]

    assert texts(doc, Random(3)) == texts(again, Random(3)) == texts(doc, Random(3))
    assert doc.text not in texts(doc, Random(4))
    assert doc.to_bytes() == before


# the lexicon, against NLTK's reader


MEANINGS = [
    Meaning("entity", "n", ("entity",)),
    Meaning("colour", "n", ("color", "colour"), "entity"),
    Meaning("chromatic", "n", ("chromatic color",), "colour"),
    Meaning("achromatic", "n", ("achromatic color",), "colour"),
    Meaning("red-noun", "n", ("red", "redness"), "chromatic", {"red": 9}),
    Meaning("blue-noun", "n", ("blue",), "chromatic"),
    Meaning("grey-noun", "n", ("grey", "gray"), "achromatic"),
    Meaning("red", "a", ("red", "ruddy"), counts={"red": 43}),
    Meaning("blue", "a", ("blue",), counts={"blue": 37}),
    Meaning("gloomy", "a", ("gloomy", "blue"), counts={"blue": 2}),
    Meaning("grey", "a", ("grey",)),
    Meaning("cheerful", "a", ("cheerful",), counts={"cheerful": 4}),
    Meaning("eyewear", "n", ("eyewear", "glasses"), "thing"),
    Meaning("thing", "n", ("thing",), "entity"),
    Meaning("vessel", "n", ("vessel",), "thing"),
    Meaning("glass", "n", ("glass",), "vessel", {"glass": 20}),
    Meaning("cup", "n", ("cup",), "vessel", {"cup": 30}),
    Meaning("monocle", "n", ("monocle",), "eyewear"),
    Meaning("move", "v", ("move",)),
    Meaning("travel", "v", ("travel", "go"), "move"),
    Meaning("walk", "v", ("walk",), "travel", {"walk": 200}),
    Meaning("run", "v", ("run",), "travel", {"run": 100}),
    Meaning("look at", "v", ("look at",), "move"),
    Meaning("fast", "r", ("fast",)),
    Meaning("slowly", "r", ("slowly",), counts={"slowly": 3}),
]
ANTONYMS = [("gloomy", "cheerful"), ("fast", "slowly")]
DERIVED = [("red", "red-noun"), ("blue", "blue-noun"), ("grey", "grey-noun"), ("gloomy", "red-noun")]


@pytest.fixture(scope="module")
def small_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    small_folder = tmp_path_factory.mktemp("dict")
    write_lexicon(small_folder, MEANINGS, antonyms=ANTONYMS, derived=DERIVED)
    return small_folder


@pytest.fixture(scope="module")
def small(small_folder: Path) -> WordNet:
    return WordNet(small_folder)


class Reader(WordNetCorpusReader):
    def map_wn(self, version: str = "wordnet") -> dict[str, str]:
        return {}  # only needed for other languages, and by NLTK's own download of WordNet


@pytest.fixture
def nltk_reader(small_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    monkeypatch.setattr(nltk.data, "path", [str(small_folder)])
    monkeypatch.setattr(nltk.pathsec, "ENFORCE", False)  # our small_folder is none of NLTK's
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Reader(nltk.data.FileSystemPathPointer(str(small_folder)), None)


def weights_by_nltk(reader: Reader, word: str, part_of_speech: str) -> dict[str, int]:
    """The rules, said with NLTK's synsets."""
    synsets = reader.synsets(word, part_of_speech)
    synonyms = {name for synset in synsets for name in synset.lemma_names()}
    result: Counter[str] = Counter()

    def cousins(synset):  # type: ignore[no-untyped-def]
        for hypernym in synset.hypernyms():
            for above in hypernym.hypernyms():
                for below in above.hyponyms():
                    yield from (lemma for each in below.hyponyms() if each != synset for lemma in each.lemmas())

    for synset in synsets:
        lemmas = [antonym for lemma in synset.lemmas() for antonym in lemma.antonyms()]
        if part_of_speech == "a":
            forms = [form.synset() for lemma in synset.lemmas() for form in lemma.derivationally_related_forms()]
            for noun in {each for each in forms if each.pos() == "n"}:
                for lemma in cousins(noun):
                    derived = lemma.derivationally_related_forms()
                    lemmas += [each for each in derived if each.synset().pos() in "as" and each.synset() != synset]
        else:
            lemmas += cousins(synset)
        for lemma in lemmas:
            if lemma.name() not in synonyms:
                result[lemma.name()] += max(lemma.count(), 1)
    return dict(result)


def test_nltk_reads_what_was_written_and_finds_the_same(small: WordNet, nltk_reader: Reader) -> None:
    for part_of_speech in FILES:
        words = {lemma.lower().replace(" ", "_") for each in MEANINGS for lemma in each.lemmas}
        assert words >= set(nltk_reader.all_lemma_names(part_of_speech))
        for word in (*words, "glasses", "walking", "goes", "greyer"):
            assert small.weights(word, part_of_speech) == weights_by_nltk(nltk_reader, word, part_of_speech), word


def wordnets_own_lines(small_folder: Path) -> None:
    """Satellites, markers of syntax, exceptions and counts, as real WordNet 3.0 has them, around few synsets."""
    write_lexicon(small_folder, [])
    licence = "  1 This software and database is being provided to you, the LICENSEE, by  \n"
    lines = [
        "{} 00 a 01 awake(p) 0 002 & {} s 0000 ! {} a 0101 | not asleep  \n",
        "{} 00 s 02 insomniac 0 sleepless 1 001 & {} a 0000 | unable to sleep  \n",
        "{} 00 a 01 asleep(p) 0 001 ! {} a 0101 | in a state of sleep  \n",
    ]
    starts = [len(licence)]
    for line in lines:
        starts.append(starts[-1] + len(line.replace("{}", "00000000")))
    one, two, three = (f"{start:08d}" for start in starts[:3])
    (small_folder / "data.adj").write_text(
        licence + lines[0].format(one, two, three) + lines[1].format(two, one) + lines[2].format(three, one)
    )
    (small_folder / "index.adj").write_text(
        f"{licence}asleep a 1 1 ! 1 1 {three}  \nawake a 1 2 & ! 1 1 {one}  \nsleepless a 1 1 & 1 0 {two}  \n"
    )
    (small_folder / "adj.exc").write_text("awakest awake\n")
    (small_folder / "cntlist.rev").write_text("asleep%3:00:00:: 1 21\nsleepless%5:00:01:awake:00 1 6\n")


def test_lines_of_wordnet_itself(tmp_path: Path) -> None:
    wordnets_own_lines(tmp_path)
    small = WordNet(tmp_path)
    assert small.weights("awakest", "a") == {"asleep": 21}
    assert small.weights("asleep", "a") == {"awake": 1}
    [sleepless] = small.synsets("sleepless", "a")
    assert sleepless.satellite
    assert [small.count((sleepless, place)) for place in (0, 1)] == [0, 6]
    assert small.base_forms("sleeplesser", "a") == ["sleepless"]
    assert small.prepositions("in").words == tuple(word for word in PREPOSITIONS if word != "in")


def test_prepositions_are_the_folders_own_where_it_has_some(tmp_path: Path) -> None:
    write_lexicon(tmp_path, [], prepositions={"left of": 3, "above": 1, "below": 2})
    small = WordNet(tmp_path)
    assert small.prepositions("above") == Alternatives(("left of", "below"), (3, 5))
    assert small.prepositions("on") == Alternatives.from_weights({"left of": 3, "above": 1, "below": 2})
    assert small.is_preposition("left of")
    assert not small.is_preposition("in front of")


def test_an_absent_file_is_named(tmp_path: Path) -> None:
    write_lexicon(tmp_path, [])
    (tmp_path / "index.noun").unlink()
    with raises(DataError, "missing-file", place="index.noun"):
        WordNet(tmp_path)
