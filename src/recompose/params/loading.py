"""Loading of params.yaml: a profile's parameters from the file, what plugins add, and edits of one call.

A profile is merged onto those that it builds on, and its overrides replace values of other sections. The result is
validated once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from recompose.errors import ParamsError, PluginError
from recompose.files import Document
from recompose.params.documents import Place, Written, merged, plain, read_document, read_written
from recompose.params.mistakes import Problem, nearest, params_error, problems_of, unknown_name
from recompose.params.schema import Forms, Params, file_schema

SHARED = ("backbones", "profiles")  # sections of no track
OF_TRACKS = ("methods", "datasets", "suites")  # what a plugin may bring in the section of a track

Keys = tuple[str, ...]


class Addition(NamedTuple):
    """The part of params.yaml that a plugin brings."""

    source: str  # the file, for messages
    document: Document

    def entries(self) -> Iterator[tuple[Keys, object]]:
        """Yield the entries, each after its place in params.yaml.

        Raises:
            PluginError: a section is one that a plugin cannot add to.
        """
        for key, section in self.document.items():
            is_whole = key in SHARED or not isinstance(section, dict)
            parts = {(key,): section} if is_whole else {(key, part): section[part] for part in section}
            for place, entries in parts.items():
                if not isinstance(entries, dict):
                    raise self.error(place, "this is a section with entries of its own", "no-section")
                if place[0] not in SHARED and place[-1] not in OF_TRACKS:
                    raise self.error(place, f"a plugin brings entries of {', '.join(OF_TRACKS)} alone", "unknown-key")
                yield from (((*place, str(name)), entry) for name, entry in entries.items())

    def error(self, place: Place, message: str, code: str) -> PluginError:
        """Return an error at a place of the file."""
        path = Problem(("params", *place), message).path
        return PluginError(f"{self.source}: {path}: {message}", code=code, place=f"{self.source}: {path}")


def read_params(path: Path) -> Written:
    """Return params.yaml as it is written.

    Raises:
        ParamsError: it is missing, or not YAML.
    """
    try:
        return read_written(path.read_text(encoding="utf-8"), path.name)
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path} cannot be read: {error}. Run in the root of the project."
        raise ParamsError(message, code="unreadable-file", place=path) from None


@dataclass(frozen=True)
class Sources:
    """What the parameters of a profile come from.

    Attributes:
        file: params.yaml.
        profile: the name of a profile, in place of the one that the file chooses.
        edits: of the file, each written ``path=value``, such as ``czsl.methods.csp.training.lr=0.01``.
        additions: the entries that plugins bring.
    """

    file: Written
    profile: str | None = None
    edits: Sequence[str] = ()
    additions: Sequence[Addition] = ()

    def load(self, tracks: Forms) -> Params:
        """Return the parameters, given the sections that tracks add.

        Raises:
            PluginError: an addition has an entry that params.yaml or another plugin has, too.
            ParamsError: there are mistakes. The message has a line for each; unknown names are found only once all
                values are of the right kind.
        """
        document, problems = self._merged if isinstance(self.file.document, dict) else (self.file.document, [])
        try:
            params = file_schema(tracks).model_validate(document)
        except ValidationError as error:
            raise self._error([*problems, *problems_of(error, document)]) from None
        if problems := problems or [*_problems_of_tracks(params)]:
            raise self._error(problems)
        return params

    def is_written(self, keys: Keys) -> bool:
        """Return whether a value is in the file, an addition or an edit; others are defaults."""
        return keys[-1] in _inner(self._merged[0], *keys[:-1])

    def origin(self, place: Place) -> str:
        """Return the file and line of a value, or the edit that gives it."""
        for name in self._bases(self._chosen):
            for dotted in reversed(_inner(self._document, "profiles", name, "override")):
                keys = tuple(dotted.split("."))
                if place[: len(keys)] == keys:
                    place = ("profiles", name, "override", dotted, *place[len(keys) :])
        if place[:1] == ("profiles",) and len(place) > 1:  # it is inherited where the profile does not have it itself
            places = [("profiles", name, *place[2:]) for name in self._bases(str(place[1]))]
            place = next((inherited for inherited in places if inherited in self.file.lines), place)
        for edit, keys, _ in reversed(self._edits):
            if place[: len(keys)] == keys:
                return f"--edit {edit}"
        if place == ("profile",) and self.profile is not None:
            return f"profile={self.profile}"
        for addition in self.additions:
            if any(place[: len(entry)] == entry for entry, _ in addition.entries()):
                return addition.source
        return self._written(place)

    def _written(self, place: Place) -> str:
        return f"{self.file.source}:{self.file.line_of(place)}"

    @cached_property
    def _edits(self) -> list[tuple[str, Keys, Any]]:
        """Each edit with its keys and its value; keys below ``override`` are dotted paths themselves."""
        edits = []
        for edit in self.edits:
            dotted, equals, text = edit.partition("=")
            if not (dotted and equals):
                message = f"an edit is written path=value, such as czsl.methods.csp.training.lr=0.01, not '{edit}'"
                raise ParamsError(message, code="no-edit", place=edit)
            before, override, key = dotted.partition(".override.")
            keys = (*before.split("."), *(("override", key) if override else ()))
            edits.append((edit, keys, read_document(text, f"the value in '{edit}'")))
        return edits

    @cached_property
    def _document(self) -> Document:
        """The file with additions and edits."""
        document: Document = plain(self.file.document) if isinstance(self.file.document, dict) else {}
        owners: dict[Keys, str] = {}
        for addition in self.additions:
            for place, entry in addition.entries():
                section = _section(document, place)
                if place[-1] in section:
                    message = f"{owners.get(place, 'params.yaml')} has this entry, too: rename or remove one of them"
                    raise addition.error(place, message, "name-taken")
                owners[place] = addition.source
                section[place[-1]] = plain(entry)
        if self.profile is not None:
            document["profile"] = self.profile
        for _, place, value in self._edits:
            _section(document, place)[place[-1]] = value
        return document

    @property
    def _chosen(self) -> str:
        return str(self._document.get("profile"))

    @cached_property
    def _merged(self) -> tuple[Document, list[Problem]]:
        """The document with whole profiles and the chosen one's overrides, and the problems of the choice and of these.

        Raises:
            ParamsError: a profile cannot be merged onto its base.
        """
        document, problems = plain(self._document), list[Problem]()
        if profiles := _inner(document, "profiles"):
            document["profiles"] = {name: self._whole(name) for name in profiles}
            if isinstance(document.get("profile"), str):
                problems = unknown_name(("profile",), self._chosen, profiles)
        for dotted, value in _inner(document, "profiles", self._chosen, "override").items():
            *path, last = dotted.split(".")
            section = _inner(document, *path)
            if last in section:
                section[last] = value
            else:
                message = f"there is no such key to override{nearest(dotted, _dotted_paths(document))}"
                problems.append(Problem(("profiles", self._chosen, "override", dotted), message, "unknown-key"))
        return document, problems

    def _bases(self, name: str) -> list[str]:
        """Return a profile, and those that it builds on.

        Raises:
            ParamsError: one of them does not exist, or builds on itself.
        """
        profiles, chain = _inner(self._document, "profiles"), [name]
        while isinstance(base := _inner(profiles, chain[-1]).get("based_on"), str):
            place = ("profiles", chain[-1], "based_on")
            problems = unknown_name(place, base, [*profiles])
            if base in chain:
                message = f"a profile cannot build on itself: {' on '.join([*chain, base])}"
                problems = [Problem(place, message, "circular-base")]
            if problems:
                raise params_error(f"{self.file.source} is wrong:", problems, self._written)
            chain.append(base)
        return chain

    def _whole(self, name: str) -> object:
        """Return a profile merged onto its bases; overrides replace whole values, and the profile's own come last."""
        parts = [_inner(self._document, "profiles", part) for part in reversed(self._bases(name))]
        if not parts[-1]:
            return self._document["profiles"][name]
        overrides: Document = {}
        for part in parts:
            own = _inner(part, "override")
            overrides = {key: value for key, value in overrides.items() if key not in own} | own
        return merged(*parts) | ({"override": overrides} if overrides else {})

    def _error(self, problems: list[Problem]) -> ParamsError:
        """Return an error with a line for each problem; one that profiles inherit is said once."""
        by_line = {(problem.message, self.origin(problem.place)): problem for problem in reversed(problems)}
        return params_error(f"{self.file.source} is wrong:", [*reversed(by_line.values())], self.origin)


def load_params(path: Path, tracks: Forms, profile: str | None = None) -> Params:
    """Return the parameters of a profile, by default the chosen one, from params.yaml.

    Raises:
        ParamsError: the file is missing or has errors.
    """
    return Sources(read_params(path), profile).load(tracks)


def _problems_of_tracks(params: Params) -> Iterator[Problem]:
    section: Any
    choice: Any
    for track, section in params.tracks.items():
        yield from (problem.inside(track) for problem in section.problems())
        for name, profile in params.profiles.items():
            if choice := profile.tracks.get(track):
                found: Iterable[Problem] = choice.problems(section, params.backbones)
                yield from (problem.inside("profiles", name, track) for problem in found)


def _inner(document: object, *keys: str) -> Document:
    """Return the section at a path of keys; an empty one if it is none, which the schema reports."""
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document if isinstance(document, dict) else {}


def _section(document: Document, place: Keys) -> Document:
    """Return the section of a value, which is made where it is absent."""
    for key in place[:-1]:
        if not isinstance(document.get(key), dict):
            document[key] = {}
        document = document[key]
    return document


def _dotted_paths(section: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in section.items():
        yield f"{prefix}{key}"
        if isinstance(value, dict):
            yield from _dotted_paths(value, f"{prefix}{key}.")
