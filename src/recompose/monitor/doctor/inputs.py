"""Whether raw data and weights are there, or can be had, and are what they should be: nothing is fetched."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from recompose.data.download import Expected
from recompose.data.lock import LOCK, recorded
from recompose.data.upstream import MIRROR, expectation, mirrors
from recompose.digest import sha256_file
from recompose.monitor.doctor.check import FINE, STOPS, WARNING, Check, size
from recompose.params import Archive, Bundled, Section
from recompose.phases import track_of
from recompose.plan import Recipe
from recompose.workspace import Workspace

TIMEOUT_S = 10.0  # to connect, and for the answer
AT_ONCE = 8  # servers that are asked side by side
THERE, OFFERED, ABSENT, WRONG = "there", "reachable", "unreachable", "wrong"  # of a file
NO_FOLDER = "absent"  # of a data set whose folder is not there


@dataclass(frozen=True)
class File:
    """A file that upstream publishes, and how it stands."""

    place: str  # below data
    state: str
    bytes: int | None  # of a file that is there or offered, where the server says so
    why: str = ""  # it is unreachable or wrong


@dataclass(frozen=True)
class Source:
    """A data set, or weights, and the files that it is made from; of what is there already none."""

    name: str
    state: str  # of its folder: there, or absent
    where: Path
    key: str  # of the first of its recipes
    files: tuple[File, ...]

    @property
    def to_fetch(self) -> int:
        """The bytes that are still to be downloaded, as far as servers say."""
        return sum(file.bytes or 0 for file in self.files if file.state == OFFERED)


def sources(work: Workspace) -> list[Source]:
    """The published data sets and weights that a profile asks for, and how they stand."""
    wanted = [*_data(work), *_weights(work)]
    archives = {place: archive for _, _, _, places in wanted for place, archive in places.items()}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        files = dict(zip(archives, pool.map(_Look(work.data), archives.items()), strict=True))
    return [
        Source(recipe.name, state, where, recipe.key, tuple(files[place] for place in places))
        for recipe, state, where, places in wanted
    ]


Wanted = tuple[Recipe, str, Path, dict[str, Archive]]  # a recipe, whether its folder is there, where, files by place


def _data(work: Workspace) -> Iterator[Wanted]:
    """The published data sets."""
    first: dict[str, Recipe] = {}  # of the worlds of a drawn data set
    for recipe in work.plan.of("data"):
        first.setdefault(recipe.name, recipe)
    for recipe in (recipe for recipe in first.values() if recipe.track):
        track = track_of(recipe)
        archives = _named_in(recipe.document, _archives(work.params.tracks[recipe.track]))
        if archives or not track.is_synthetic(recipe):
            where = track.mark(recipe, work.data)
            there = where.exists()
            yield recipe, THERE if there else NO_FOLDER, where, {} if there else archives


def _weights(work: Workspace) -> Iterator[Wanted]:
    """The weights of released backbones; they are looked at also where they are there."""
    for recipe in work.plan.of("backbones"):
        archive = getattr(work.params.backbones[recipe.name], "weights", None)
        if archive is not None:
            place = f"weights/{archive.file}"
            yield recipe, NO_FOLDER, work.data / place, {place: archive}


def assets(work: Workspace) -> Iterator[Check]:
    """Yield a check of each file that is released with the project and that the profile asks for."""
    for recipe in work.plan.of("backbones"):
        section = work.params.backbones[recipe.name]
        if not isinstance(section, Bundled):
            continue
        path, remedy = work.assets / section.asset.file, "`git checkout -- assets` restores it"
        if not path.is_file():
            yield Check(recipe.name, STOPS, f"{path} is missing", remedy)
        elif sha256_file(path) != section.asset.sha256:
            yield Check(recipe.name, STOPS, f"{path} is not the file that params.yaml names by its sha256", remedy)
        else:
            yield Check(recipe.name, FINE, f"released with the project, {size(path.stat().st_size)}")


def _archives(section: Any) -> Iterator[Archive]:
    """All files that a section of params.yaml names."""
    if isinstance(section, Archive):
        yield section
    elif isinstance(section, Section):
        for name in type(section).model_fields:
            yield from _archives(getattr(section, name))
    elif isinstance(section, dict | list):
        for value in section.values() if isinstance(section, dict) else section:
            yield from _archives(value)


def _named_in(document: Any, archives: Iterable[Archive]) -> dict[str, Archive]:
    """Those of some files that a recipe's document names, by their places below data."""
    names = set(_words(document))
    return {f"archives/{archive.file}": archive for archive in archives if archive.file in names}


def _words(document: Any) -> Iterator[str]:
    if isinstance(document, str):
        yield document
    elif isinstance(document, dict | list | tuple):
        for value in document:
            yield from _words(value)
        for value in document.values() if isinstance(document, dict) else ():
            yield from _words(value)


class _Look:
    """Looks at a file on disk, or asks servers for it."""

    def __init__(self, data: Path) -> None:
        self._data, self._recorded = data, recorded(data)

    def __call__(self, item: tuple[str, Archive]) -> File:
        place, archive = item
        path, expected = self._data / place, expectation(self._recorded.get(place), archive.sha256)
        if path.exists():
            why = _difference(path, expected)
            return File(place, WRONG if why else THERE, path.stat().st_size, why)
        return offer(place, mirrors(place, archive.urls), expected)


def _difference(path: Path, expected: Expected | None) -> str:
    """What a file has that is not expected of it."""
    count = path.stat().st_size
    if expected is None:
        return ""
    if expected.size is not None and expected.size != count:
        return f"{count:,} bytes, where {expected.source} expects {expected.size:,}"
    if sha256_file(path) != expected.sha256.lower():
        return f"another sha256 than {expected.source} expects"
    return ""


def offer(place: str, urls: Iterable[str], expected: Expected | None) -> File:
    """Whether one of the mirrors has a file, and what the last one said if none does."""
    why = "no address is known"
    for url in urls:
        try:
            with requests.get(url, stream=True, timeout=TIMEOUT_S) as answer:  # not every server answers HEAD
                length = answer.headers.get("Content-Length", "")
                count = int(length) if length.isdecimal() else None
                why = _turned_down(answer, count, expected)
        except requests.RequestException as error:
            why = type(error).__name__
        if not why:
            return File(place, OFFERED, count)
    return File(place, ABSENT, None, why)


def _turned_down(answer: requests.Response, count: int | None, expected: Expected | None) -> str:
    if answer.status_code != 200:
        return f"the server answers {answer.status_code}"
    if answer.headers.get("Content-Type", "").startswith("text/html"):
        return "the server answers with a web page"
    if expected and None not in (expected.size, count) and expected.size != count:
        return f"the server offers {count:,} bytes, where {expected.source} expects {expected.size:,}"
    return ""


def checks(found: Iterable[Source], work: Workspace) -> Iterator[Check]:
    """A line for each data set and each file of weights; one for all that is put there by hand, and is absent."""
    by_hand = []
    for source in found:
        if source.state == THERE:
            complete = (work.results / source.key / "record.json").exists()
            yield Check(source.name, FINE, "there, checked and indexed" if complete else "there; to be checked")
        elif source.files:
            yield _of_files(source)
        else:
            by_hand.append(source)
    if by_hand:
        names, first = ", ".join(source.name for source in by_hand), by_hand[0]
        remedy = (
            f"nobody may pass these on: put them there by hand, the first at {_relative(first.where, work)}; "
            f"`recompose make {first.key}` says what that has to hold; or leave them out of the profile"
        )
        yield Check(f"{len(by_hand)} data sets" if len(by_hand) > 1 else first.name, STOPS, f"absent: {names}", remedy)


def _of_files(source: Source) -> Check:
    states = (THERE, OFFERED, ABSENT, WRONG)
    counts = {state: [file for file in source.files if file.state == state] for state in states}
    parts = [f"{len(files)} of {len(source.files)} {state}" for state, files in counts.items() if files]
    to_fetch = f" ({size(source.to_fetch)} to download)" if source.to_fetch else ""
    found = f"{', '.join(parts)}{to_fetch}"
    if wrong := counts[WRONG]:
        remedy = f"data/{wrong[0].place} has {wrong[0].why}: delete it, and it is downloaded again, or correct {LOCK}"
        return Check(source.name, STOPS, found, remedy)
    if absent := counts[ABSENT]:
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        remedy = (
            f"{absent[0].why}: put data/{absent[0].place}{more} there by hand, or set {MIRROR} to a server of your own"
        )
        return Check(source.name, STOPS, found, remedy)
    return Check(source.name, FINE, found)


def _relative(path: Path, work: Workspace) -> str:
    return path.relative_to(work.root).as_posix()


def unlocked(found: Iterable[Source], work: Workspace) -> Check | None:
    """Whether what is there is held to what it was at first."""
    known = recorded(work.data)
    there = [file.place for source in found for file in source.files if file.state == THERE]
    lacking = [place for place in there if place not in known]
    if not there:
        return None
    if lacking:
        remedy = f"they are recorded when they are first used; commit {LOCK} then"
        return Check("checksums", WARNING, f"{len(lacking)} of {len(there)} are not in {LOCK} yet", remedy)
    return Check("checksums", FINE, f"all {len(there)} are as {LOCK} says")
