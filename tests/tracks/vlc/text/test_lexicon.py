import warnings
from collections import Counter
from pathlib import Path

import nltk.data
import nltk.pathsec
import pytest
from nltk.corpus.reader.wordnet import WordNetCorpusReader

from recompose.errors import DataError
from recompose.tracks.vlc.text.lexicon import FILES, PREPOSITIONS, Alternatives, WordNet
from recompose.tracks.vlc.text.small_lexicon import Meaning, write_lexicon
from tests.errors import raises

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
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dict")
    write_lexicon(folder, MEANINGS, antonyms=ANTONYMS, derived=DERIVED)
    return folder


@pytest.fixture(scope="module")
def lexicon(folder: Path) -> WordNet:
    return WordNet(folder)


class Reader(WordNetCorpusReader):
    def map_wn(self, version: str = "wordnet") -> dict[str, str]:
        return {}  # only needed for other languages, and by NLTK's own download of WordNet


@pytest.fixture
def nltk_reader(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    monkeypatch.setattr(nltk.data, "path", [str(folder)])
    monkeypatch.setattr(nltk.pathsec, "ENFORCE", False)  # our folder is none of NLTK's
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Reader(nltk.data.FileSystemPathPointer(str(folder)), None)


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


def test_nltk_reads_what_was_written_and_finds_the_same(lexicon: WordNet, nltk_reader: Reader) -> None:
    for part_of_speech in FILES:
        words = {lemma.lower().replace(" ", "_") for each in MEANINGS for lemma in each.lemmas}
        assert words >= set(nltk_reader.all_lemma_names(part_of_speech))
        for word in (*words, "glasses", "walking", "goes", "greyer"):
            assert lexicon.weights(word, part_of_speech) == weights_by_nltk(nltk_reader, word, part_of_speech), word


def wordnets_own_lines(folder: Path) -> None:
    """Satellites, markers of syntax, exceptions and counts, as real WordNet 3.0 has them, around few synsets."""
    write_lexicon(folder, [])
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
    (folder / "data.adj").write_text(
        licence + lines[0].format(one, two, three) + lines[1].format(two, one) + lines[2].format(three, one)
    )
    (folder / "index.adj").write_text(
        f"{licence}asleep a 1 1 ! 1 1 {three}  \nawake a 1 2 & ! 1 1 {one}  \nsleepless a 1 1 & 1 0 {two}  \n"
    )
    (folder / "adj.exc").write_text("awakest awake\n")
    (folder / "cntlist.rev").write_text("asleep%3:00:00:: 1 21\nsleepless%5:00:01:awake:00 1 6\n")


def test_lines_of_wordnet_itself(tmp_path: Path) -> None:
    wordnets_own_lines(tmp_path)
    lexicon = WordNet(tmp_path)
    assert lexicon.weights("awakest", "a") == {"asleep": 21}
    assert lexicon.weights("asleep", "a") == {"awake": 1}
    [sleepless] = lexicon.synsets("sleepless", "a")
    assert sleepless.satellite
    assert [lexicon.count((sleepless, place)) for place in (0, 1)] == [0, 6]
    assert lexicon.base_forms("sleeplesser", "a") == ["sleepless"]
    assert lexicon.prepositions("in").words == tuple(word for word in PREPOSITIONS if word != "in")


def test_prepositions_are_the_folders_own_where_it_has_some(tmp_path: Path) -> None:
    write_lexicon(tmp_path, [], prepositions={"left of": 3, "above": 1, "below": 2})
    lexicon = WordNet(tmp_path)
    assert lexicon.prepositions("above") == Alternatives(("left of", "below"), (3, 5))
    assert lexicon.prepositions("on") == Alternatives.from_weights({"left of": 3, "above": 1, "below": 2})
    assert lexicon.is_preposition("left of")
    assert not lexicon.is_preposition("in front of")


def test_an_absent_file_is_named(tmp_path: Path) -> None:
    write_lexicon(tmp_path, [])
    (tmp_path / "index.noun").unlink()
    with raises(DataError, "missing-file", place="index.noun"):
        WordNet(tmp_path)
