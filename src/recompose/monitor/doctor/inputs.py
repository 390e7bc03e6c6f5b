"""Checks of raw data and weights: present or available for download, and equal to their recorded digests.

Nothing is downloaded.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recompose.backbones.published import weights_urls
from recompose.data.download import Expected
from recompose.data.lock import LOCK, lock_entries
from recompose.data.upstream import MIRROR, expectation, mirrors
from recompose.digest import sha256_file
from recompose.monitor.doctor.check import FINE, STOPS, WARNING, Check, size
from recompose.params import Archive, Bundled, Classifier, Released, Section
from recompose.phases import track_of
from recompose.plan import Recipe
from recompose.workspace import Workspace

AT_ONCE = 8  # parallel requests
THERE, OFFERED, ABSENT, WRONG = "there", "reachable", "unreachable", "wrong"  # states of a file
NO_FOLDER = "absent"  # state of a data set without its folder


@dataclass(frozen=True)
class UpstreamFile:
    """A file that upstream publishes, and its state here."""

    place: str  # below data
    state: str
    bytes: int | None  # of a file that is there or reachable, where the server sends its length
    why: str = ""  # the reason why it is unreachable or wrong


@dataclass(frozen=True)
class InputSource:
    """A data set, or weights, with the upstream files that it still needs."""

    name: str
    state: str  # of its folder: there, or absent
    path: Path
    key: str  # of the first of its recipes
    files: tuple[UpstreamFile, ...]

    @property
    def to_fetch(self) -> int:
        """The bytes still to be downloaded, as far as servers send lengths."""
        return sum(file.bytes or 0 for file in self.files if file.state == OFFERED)


@dataclass(frozen=True)
class _Requirement:
    """A recipe that needs published files."""

    recipe: Recipe
    state: str  # of its folder
    path: Path
    archives: dict[str, Archive]  # by place below data


def input_sources(work: Workspace) -> list[InputSource]:
    """Return the published data sets and weights that a profile asks for, with the state of their files."""
    requirements = [*_required_data(work), *_required_weights(work)]
    archives = {place: archive for need in requirements for place, archive in need.archives.items()}
    locked = lock_entries(work.data)

    def look_up(place: str) -> UpstreamFile:
        archive = archives[place]
        return _file_state(work.data, place, archive.urls, expectation(locked.get(place), archive.sha256))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        files = dict(zip(archives, pool.map(look_up, archives), strict=True))
    return [
        InputSource(need.recipe.name, need.state, need.path, need.recipe.key, tuple(files[p] for p in need.archives))
        for need in requirements
    ]


def _required_data(work: Workspace) -> Iterator[_Requirement]:
    """Yield the published data sets."""
    first: dict[str, Recipe] = {}  # of the replicates of a synthetic data set
    for recipe in work.plan.of("data"):
        first.setdefault(recipe.name, recipe)
    for recipe in (recipe for recipe in first.values() if recipe.track):
        track = track_of(recipe)
        archives = _referenced_archives(recipe.document, _archives(work.params.tracks[recipe.track]))
        if archives or not track.is_synthetic(recipe):
            path = track.mark(recipe, work.data)
            there = path.exists()
            yield _Requirement(recipe, THERE if there else NO_FOLDER, path, {} if there else archives)


def _required_weights(work: Workspace) -> Iterator[_Requirement]:
    """Yield the weights of released backbones; they are checked even where their file exists."""
    for recipe in work.plan.of("backbones"):
        section = work.params.backbones[recipe.name]
        if isinstance(section, Released | Classifier):
            archive = section.weights.model_copy(update={"urls": weights_urls(section)})
            place = f"weights/{archive.file}"
            yield _Requirement(recipe, NO_FOLDER, work.data / place, {place: archive})


def check_assets(work: Workspace) -> Iterator[Check]:
    """Yield a check of each file that is released with the project and that the profile asks for."""
    for recipe in work.plan.of("backbones"):
        section = work.params.backbones[recipe.name]
        if not isinstance(section, Bundled):
            continue
        path, remedy = work.assets / section.asset.file, "`git checkout -- assets` restores it"
        if not path.is_file():
            yield Check(recipe.name, STOPS, f"{path} is missing", remedy)
        elif sha256_file(path) != section.asset.sha256:
            yield Check(recipe.name, STOPS, f"{path} does not match its sha256 in params.yaml", remedy)
        else:
            yield Check(recipe.name, FINE, f"released with the project, {size(path.stat().st_size)}")


def _archives(section: Any) -> Iterator[Archive]:
    """Yield all files that a section of params.yaml names."""
    if isinstance(section, Archive):
        yield section
    elif isinstance(section, Section):
        for name in type(section).model_fields:
            yield from _archives(getattr(section, name))
    elif isinstance(section, dict | list):
        for value in section.values() if isinstance(section, dict) else section:
            yield from _archives(value)


def _referenced_archives(document: Any, archives: Iterable[Archive]) -> dict[str, Archive]:
    """Return the archives that a recipe's document names, by their places below data."""
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


def _file_state(data: Path, place: str, urls: Sequence[str], expected: Expected | None) -> UpstreamFile:
    """Compare a file on disk with its expected content, or ask the servers for it where it is missing."""
    path = data / place
    if path.exists():
        why = expected.difference(path) if expected else ""
        return UpstreamFile(place, WRONG if why else THERE, path.stat().st_size, why)
    return query_mirrors(place, mirrors(place, urls), expected)


def query_mirrors(place: str, urls: Iterable[str], expected: Expected | None) -> UpstreamFile:
    """Ask sources for a file until one offers it; the reason is that of the last one where none does."""
    from recompose.data import transports  # its libraries take a while to load

    why = "params.yaml has no address for it"
    for url in urls:
        try:
            return UpstreamFile(place, OFFERED, transports.offered_size(url, expected))
        except transports.SourceError as error:
            why = str(error)
    return UpstreamFile(place, ABSENT, None, why)


def check_sources(sources: Iterable[InputSource], work: Workspace) -> Iterator[Check]:
    """Yield a check of each data set and each file of weights, and one of all that need a manual download."""
    manual = []
    for source in sources:
        if source.state == THERE:
            complete = (work.results / source.key / "record.json").exists()
            yield Check(source.name, FINE, "there, checked and indexed" if complete else "there; not checked yet")
        elif source.files:
            yield _check_files(source)
        else:
            manual.append(source)
    if manual:
        names, first = ", ".join(source.name for source in manual), manual[0]
        remedy = (
            f"not redistributable; download manually, the first one to {first.path.relative_to(work.root).as_posix()} "
            f"(`recompose make {first.key}` lists its files), or remove them from the profile"
        )
        yield Check(f"{len(manual)} data sets" if len(manual) > 1 else first.name, STOPS, f"absent: {names}", remedy)


def _check_files(source: InputSource) -> Check:
    states = (THERE, OFFERED, ABSENT, WRONG)
    by_state = {state: [file for file in source.files if file.state == state] for state in states}
    parts = [f"{len(files)} of {len(source.files)} {state}" for state, files in by_state.items() if files]
    to_fetch = f" ({size(source.to_fetch)} to download)" if source.to_fetch else ""
    finding = f"{', '.join(parts)}{to_fetch}"
    if wrong := by_state[WRONG]:
        remedy = f"data/{wrong[0].place} has {wrong[0].why}: delete it to download it again, or correct {LOCK}"
        return Check(source.name, STOPS, finding, remedy)
    if absent := by_state[ABSENT]:
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        remedy = f"{absent[0].why}: download data/{absent[0].place}{more} manually, or set {MIRROR} to your own server"
        return Check(source.name, STOPS, finding, remedy)
    return Check(source.name, FINE, finding)


def check_checksums(sources: Iterable[InputSource], work: Workspace) -> Check | None:
    """Check that every downloaded file has a recorded checksum; None where no file is there."""
    locked = lock_entries(work.data)
    there = [file.place for source in sources for file in source.files if file.state == THERE]
    unlocked = [place for place in there if place not in locked]
    if not there:
        return None
    if unlocked:
        remedy = f"they are recorded at their first use; commit {LOCK} then"
        return Check("checksums", WARNING, f"{len(unlocked)} of {len(there)} are not in {LOCK} yet", remedy)
    return Check("checksums", FINE, f"all {len(there)} match {LOCK}")
