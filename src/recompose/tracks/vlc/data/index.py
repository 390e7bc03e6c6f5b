"""The contents of an index: the captions of a corpus, or suites."""

from collections.abc import Iterable
from pathlib import Path

from recompose.data.pictures import Picture
from recompose.tracks.vlc.data.captions import ROWS, Captions
from recompose.tracks.vlc.data.suite import Suite

SUITES = "suites"  # the folder of suites in an index


def write_suites(suites: list[Suite], folder: Path) -> None:
    """Write the index of suites."""
    for suite in suites:
        suite.write(folder / SUITES / f"{suite.name}.json")


def read_suites(folder: Path) -> list[Suite]:
    """Return the suites of an index; none for a corpus."""
    return [Suite.read(path) for path in sorted((folder / SUITES).glob("*.json"))]


def pictures(folder: Path) -> list[Picture]:
    """Return all pictures of an index, each once, in the order of the rows of a corpus, or of the suites."""
    if (folder / ROWS).exists():
        return [Picture(path) for path in dict.fromkeys(Captions.read(folder).paths)]
    return pictures_of(read_suites(folder))


def pictures_of(suites: Iterable[Suite]) -> list[Picture]:
    """Return the pictures of suites, each once."""
    return list(dict.fromkeys(picture for suite in suites for picture in suite.images))


def texts_of(suites: Iterable[Suite]) -> list[str]:
    """Return the texts of suites, each once."""
    return list(dict.fromkeys(text for suite in suites for text in suite.texts))
