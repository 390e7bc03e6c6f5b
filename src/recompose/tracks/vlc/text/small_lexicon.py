"""Small lexicons for synthetic data sets, in the format of WordNet's database."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from recompose.errors import ArgumentError
from recompose.files import write_text
from recompose.tracks.vlc.text.lexicon import FILES, NUMBERS, PREPOSITIONS_FILE, PartOfSpeech


@dataclass(frozen=True)
class Meaning:
    """A synset to write."""

    name: str  # unique in the lexicon
    part_of_speech: PartOfSpeech
    lemmas: tuple[str, ...]
    hypernym: str | None = None  # the name of another meaning
    counts: Mapping[str, int] = field(default_factory=dict)  # of lemmas in this meaning


def write_lexicon(
    folder: Path,
    meanings: Sequence[Meaning],
    *,
    antonyms: Sequence[tuple[str, str]] = (),
    derived: Sequence[tuple[str, str]] = (),
    prepositions: Mapping[str, int] | None = None,
) -> None:
    """Write a small lexicon in the format of WordNet's database, which ``WordNet`` and NLTK read.

    Args:
        folder: the folder of the files.
        meanings: the synsets, in the order of a word's meanings.
        antonyms: pairs of names of meanings, whose first lemmas are antonyms.
        derived: pairs of names of meanings, whose first lemmas are derived from each other, such as an adjective and a
            noun.
        prepositions: the weight of each; None: those of English books.

    Raises:
        ArgumentError: two meanings have one name, a name refers to no meaning, or a weight is not positive.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from recompose.tracks.vlc.text.lexicon import WordNet
        >>> with TemporaryDirectory() as folder:
        ...     write_lexicon(
        ...         Path(folder),
        ...         [Meaning("big", "a", ("big", "large")), Meaning("small", "a", ("small",), counts={"small": 7})],
        ...         antonyms=[("big", "small")],
        ...     )
        ...     WordNet(Path(folder)).weights("big", "a")
        {'small': 7}
    """
    by_name = {meaning.name: meaning for meaning in meanings}
    pointers = _pointers(by_name, antonyms, derived)
    numbers = _numbers(meanings)
    offsets: dict[str, int] = {}
    folder.mkdir(parents=True, exist_ok=True)
    for part_of_speech, file in FILES.items():
        end = len(_HEADER)
        for meaning in (meaning for meaning in meanings if meaning.part_of_speech == part_of_speech):
            offsets[meaning.name] = end
            end += len(_data_line(meaning, pointers[meaning.name], numbers, defaultdict(int)).encode())
        write_text(folder / f"{file}.exc", "")
    for part_of_speech, file in FILES.items():
        entries = [meaning for meaning in meanings if meaning.part_of_speech == part_of_speech]
        data = [_data_line(meaning, pointers[meaning.name], numbers, offsets) for meaning in entries]
        write_text(folder / f"data.{file}", _HEADER + "".join(data))
        write_text(folder / f"index.{file}", _HEADER + "".join(_index_lines(entries, pointers, offsets)))
    senses = sorted(_senses(meanings, numbers, offsets))
    write_text(folder / "index.sense", "".join(f"{key} {fields}\n" for key, fields, _ in senses))
    write_text(folder / "cntlist.rev", "".join(f"{key} {count}\n" for key, _, count in senses if count))
    write_text(folder / "lexnames", "".join(f"{n:02d}\t{name}.all\t{n + 1}\n" for n, name in enumerate(FILES.values())))
    if prepositions is not None:
        write_text(folder / PREPOSITIONS_FILE, "".join(f"{word}\t{weight}\n" for word, weight in prepositions.items()))


_HEADER = "  1 A small lexicon in the format of WordNet's database.\n"  # readers skip lines that begin with blanks
_Links = Mapping[str, Sequence[tuple[str, "Meaning", str]]]  # of a meaning: symbol, target, the lemmas at both ends


def _pointers(
    by_name: Mapping[str, Meaning], antonyms: Sequence[tuple[str, str]], derived: Sequence[tuple[str, str]]
) -> _Links:
    hypernyms = [(meaning.name, meaning.hypernym) for meaning in by_name.values() if meaning.hypernym is not None]
    links: dict[str, list[tuple[str, Meaning, str]]] = defaultdict(list)
    for pairs, forward, back, ends in (
        (hypernyms, "@", "~", "0000"),
        (antonyms, "!", "!", "0101"),
        (derived, "+", "+", "0101"),
    ):
        for source, target in pairs:
            if source not in by_name or target not in by_name:
                missing = source if source not in by_name else target
                raise ArgumentError("meanings", f"have none called {missing!r}", code="unknown-name")
            links[source].append((forward, by_name[target], ends))
            links[target].append((back, by_name[source], ends))
    return links


def _numbers(meanings: Sequence[Meaning]) -> Mapping[tuple[str, str], int]:
    """Number the meanings of each lemma; keys are the name of a meaning and the lemma."""
    seen: Counter[tuple[str, str]] = Counter()
    numbers = {}
    for meaning in meanings:
        for lemma in meaning.lemmas:
            numbers[meaning.name, lemma] = seen[meaning.part_of_speech, lemma.lower()]
            seen[meaning.part_of_speech, lemma.lower()] += 1
    return numbers


def _data_line(
    meaning: Meaning,
    links: Sequence[tuple[str, Meaning, str]],
    numbers: Mapping[tuple[str, str], int],
    offsets: Mapping[str, int],
) -> str:
    words = " ".join(f"{lemma.replace(' ', '_')} {numbers[meaning.name, lemma]:x}" for lemma in meaning.lemmas)
    pointers = "".join(f" {symbol} {offsets[to.name]:08d} {to.part_of_speech} {ends}" for symbol, to, ends in links)
    frames = " 00" if meaning.part_of_speech == "v" else ""
    file = [*FILES].index(meaning.part_of_speech)
    return (
        f"{offsets[meaning.name]:08d} {file:02d} {meaning.part_of_speech} {len(meaning.lemmas):02x} {words}"
        f" {len(links):03d}{pointers}{frames} | {meaning.name}  \n"
    )


def _index_lines(meanings: Sequence[Meaning], links: _Links, offsets: Mapping[str, int]) -> list[str]:
    by_lemma: dict[str, list[Meaning]] = defaultdict(list)
    for meaning in meanings:
        for lemma in meaning.lemmas:
            by_lemma[lemma.lower().replace(" ", "_")].append(meaning)
    lines = []
    for lemma, entries in sorted(by_lemma.items()):
        symbols = dict.fromkeys(symbol for meaning in entries for symbol, _, _ in links[meaning.name])
        count, pointers = len(entries), " ".join([str(len(symbols)), *symbols])
        places = " ".join(f"{offsets[meaning.name]:08d}" for meaning in entries)
        lines.append(f"{lemma} {entries[0].part_of_speech} {count} {pointers} {count} 0 {places}  \n")
    return lines


def _senses(
    meanings: Sequence[Meaning], numbers: Mapping[tuple[str, str], int], offsets: Mapping[str, int]
) -> Iterator[tuple[str, str, str]]:
    """Yield for each lemma of a meaning its key, its fields in index.sense, and those in cntlist.rev ("": none)."""
    for meaning in meanings:
        file = [*FILES].index(meaning.part_of_speech)
        for lemma in meaning.lemmas:
            number, count = numbers[meaning.name, lemma], meaning.counts.get(lemma, 0)
            key = f"{lemma.lower().replace(' ', '_')}%{NUMBERS[meaning.part_of_speech]}:{file:02d}:{number:02d}::"
            offset = offsets[meaning.name]
            yield key, f"{offset:08d} {number + 1} {count}", f"{number + 1} {count}" if count else ""
