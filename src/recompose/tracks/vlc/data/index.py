"""What an index holds: the captions of a corpus, or suites."""

from collections.abc import Iterable
from pathlib import Path

from recompose.data.pictures import Picture
from recompose.tracks.vlc.data.captions import ROWS, Captions
from recompose.tracks.vlc.data.suite import Suite

SUITES = "suites"  # the folder, in an index, of the suites that it is of


def write_suites(suites: list[Suite], folder: Path) -> None:
    """Write the index of suites."""
    for suite in suites:
        suite.write(folder / SUITES / f"{suite.name}.json")


def read_suites(folder: Path) -> list[Suite]:
    """The suites of an index; of a corpus none."""
    return [Suite.read(path) for path in sorted((folder / SUITES).glob("*.json"))]


def pictures(folder: Path) -> list[Picture]:
    """All pictures of an index, each once: of a corpus in the order of its rows, of suites in theirs."""
    if (folder / ROWS).exists():
        return [Picture(path) for path in dict.fromkeys(Captions.read(folder).paths)]
    return pictures_of(read_suites(folder))


def pictures_of(suites: Iterable[Suite]) -> list[Picture]:
    """The pictures of suites, each once."""
    return list(dict.fromkeys(picture for suite in suites for picture in suite.images))


def texts_of(suites: Iterable[Suite]) -> list[str]:
    """The texts of suites, each once."""
    return list(dict.fromkeys(text for suite in suites for text in suite.texts))


def size(folder: Path) -> dict[str, int]:
    """How many images there are to train on, or to evaluate on; empty where there is no index yet."""
    try:
        count = len(pictures(folder))
    except (OSError, ValueError, KeyError):
        return {}
    return {"train" if (folder / ROWS).exists() else "test": count} if count else {}
