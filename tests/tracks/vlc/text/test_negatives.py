"""Hard negatives against independent enumerations of all that the rules allow, and of how likely each is."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from itertools import combinations, permutations, product
from pathlib import Path
from random import Random

import pytest
from scipy.stats import chisquare
from spacy.matcher import Matcher
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from recompose.tracks.vlc.text.lexicon import PREPOSITIONS, WordNet
from recompose.tracks.vlc.text.negatives import bigram_shuffle, negclip, replace
from recompose.tracks.vlc.text.small_lexicon import Meaning, write_lexicon
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


Element = tuple[str, str, str]  # what is replaced, up to where it begins; the words' part of speech; their form

ELEMENTS: dict[str, list[Element]] = {  # what stands before, what is replaced, its part of speech and form
    parses.ELEPHANTS: [
        ("Three ", "statues", "n+s"),
        ("Three statues of ", "elephants", "n+s"),
        ("Three statues of elephants on the ", "steps", "n+s"),
        ("Three statues of elephants on the steps in front of an old ", "building", "n"),
        ("Three statues of elephants on the steps in front of an ", "old", "a"),
        ("Three statues ", "of", "p"),
        ("Three statues of elephants ", "on", "p"),
        ("Three statues of elephants on the steps ", "in front of", "p"),
    ],
    parses.MATS: [
        ("A ", "dog", "n"),
        ("A dog and a tall ", "cat", "n"),
        ("A dog and a tall cat sit on ", "mats", "n+s"),
        ("A dog and a ", "tall", "a"),
        ("A dog and a tall cat sit ", "on", "p"),
        ("A dog and a tall cat sit ", "on", "p"),
    ],
    parses.RIDER: [
        ("A ", "man", "n"),
        ("A man quickly eating RED ", "apples", "n+s"),
        ("A man quickly eating RED apples slowly rides his brown ", "Horse", "n+T"),
        ("A man quickly eating ", "RED", "a+U"),
        ("A man quickly eating RED apples slowly rides his ", "brown", "a"),
        ("A man quickly ", "eating", "v+ing"),
        ("A man quickly eating RED apples slowly ", "rides", "v+s"),
    ],
    parses.PIANO: [
        ("The ", "piano", "n"),
        ("The piano is played by a ", "woman", "n"),
        ("The piano is ", "played", "v+en"),
        ("The piano is played by a woman ", "next", "r"),
    ],
    parses.TWICE: [("A ", "dog", "n"), ("A dog sees a ", "dog", "n")],
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
    for before, text, form in elements:
        assert caption.startswith(before + text)
        if form == "p":
            weights = {word: weight for word, weight in PREPOSITIONS.items() if word != text}
        else:
            weights = lexicon.weights(text, form[0])  # type: ignore[arg-type]
        after, total = caption[len(before) + len(text) :], sum(weights.values())
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
