"""Entries of params.yaml that plugins bring: methods, data sets, suites, backbones and profiles."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from recompose.params.merging import Document, plain
from recompose.params.mistakes import Problem

SHARED = ("backbones", "profiles")  # sections of no track
OF_TRACKS = ("methods", "datasets", "suites")


class Addition(NamedTuple):
    """The part of params.yaml that a plugin brings."""

    source: str  # the file, for messages
    document: Document


def wrong_additions(document: Document, additions: Sequence[Addition]) -> Iterator[tuple[str, Problem]]:
    """Yield the problems of additions, each after its file: sections that take none, and names that are taken."""
    owners = {place: "params.yaml" for place, _ in _entries(document)}
    for source, addition in additions:
        yield from ((source, problem) for problem in _wrong_sections(addition))
        for place, _ in _entries(addition):
            if place in owners:
                message = f"{owners[place]} has this entry, too: rename or remove one of them"
                yield source, Problem(("params", *place), message, "name-taken")
            owners.setdefault(place, source)


def _wrong_sections(addition: Document) -> Iterator[Problem]:
    for key, section in addition.items():
        if not isinstance(section, Mapping):
            yield Problem(("params", key), "this is a section with entries of its own", "no-section")
        elif key not in SHARED:
            for part in section:
                if part not in OF_TRACKS or not isinstance(section[part], Mapping):
                    message = f"a plugin brings entries of {', '.join(OF_TRACKS)} alone"
                    yield Problem(("params", key, part), message, "unknown-key")


def with_additions(document: Document, additions: Sequence[Addition]) -> Document:
    """Return a copy of the document with the entries of all additions, which have passed ``wrong_additions``."""
    document = plain(document)
    for _, addition in additions:
        for place, entry in _entries(addition):
            section = document
            for key in place[:-1]:
                section = section.setdefault(key, {})
            section[place[-1]] = plain(entry)
    return document


def in_their_file(source: str, problems: Sequence[Problem], additions: Sequence[Addition]) -> tuple[str, list[Problem]]:
    """Return the file of the first problem, and the problems in it with their places there.

    Args:
        source: the file of what no addition brings.
        problems: of the document with all additions.
        additions: what plugins bring.
    """
    owners = {place: file for file, addition in additions for place, _ in _entries(addition)}
    files = [next((owners[place] for place in owners if _is_below(problem, place)), source) for problem in problems]
    own = [problem for problem, file in zip(problems, files, strict=True) if file == files[0]]
    return files[0], own if files[0] == source else [problem.inside("params") for problem in own]


def _is_below(problem: Problem, place: tuple[str, ...]) -> bool:
    return tuple(map(str, problem.place[: len(place)])) == place


def _entries(document: Document) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield the entries of a document that a plugin may bring, each after its path of keys."""
    for key, section in document.items():
        if not isinstance(section, Mapping):
            continue
        if key in SHARED:
            yield from (((key, str(name)), entry) for name, entry in section.items())
            continue
        for part in OF_TRACKS:
            entries = section.get(part)
            if isinstance(entries, Mapping):
                yield from (((key, part, str(name)), entry) for name, entry in entries.items())
