"""Loading of params.yaml: a profile's parameters from the file, what plugins add, and edits of one call.

A profile is merged onto those that it builds on, and its overrides replace values of other sections. The result is
validated once.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from recompose.errors import ParamsError, PluginError
from recompose.files import Document
from recompose.params.documents import Place, Written, read_document, read_written
from recompose.params.mistakes import Problem, nearest, params_error, problems_of, unknown_name
from recompose.params.schema import Forms, Params, file_schema

PARAMS = "params.yaml"
HEADING = f"{PARAMS} is wrong:"
SHARED = ("backbones", "profiles")  # sections of no track
OF_TRACKS = ("methods", "datasets", "suites")  # what a plugin may bring in the section of a track

Keys = tuple[str, ...]


class Addition(NamedTuple):
    """The part of params.yaml that a plugin brings."""

    source: str  # the file, for messages
    document: dict[str, Document]

    def entries(self) -> Iterator[tuple[Keys, object]]:
        """Yield the entries, each after its place in params.yaml.

        Raises:
            PluginError: a section is one that a plugin cannot add to.
        """
        for key, section in self.document.items():
            parts = {(key,): section} if key in SHARED else {(key, part): section[part] for part in section}
            for place, entries in parts.items():
                if place[0] not in SHARED and place[-1] not in OF_TRACKS:
                    raise self.error(place, f"a plugin brings entries of {', '.join(OF_TRACKS)} alone", "unknown-key")
                if not isinstance(entries, dict):
                    raise self.error(place, "this is a section with entries of its own", "no-section")
                yield from (((*place, str(name)), entry) for name, entry in entries.items())

    def error(self, place: Place, message: str, code: str) -> PluginError:
        """Return an error at a place of the file."""
        path = f"{self.source}: {'.'.join(map(str, ('params', *place)))}"
        return PluginError(f"{path}: {message}", code=code, place=path)


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
        tree, problems = self._merged
        document = tree.document
        try:
            params = file_schema(tracks).model_validate(document)
        except ValidationError as error:
            raise self._error([*problems, *problems_of(error, document)]) from None
        if problems := problems or [*_problems_of_tracks(params)]:
            raise self._error(problems)
        return params

    def is_written(self, keys: Keys) -> bool:
        """Return whether a value is in the file, an addition or an edit; others are defaults."""
        return self._merged[0].at(keys) is not None

    def origin(self, place: Place) -> str:
        """Return the file and line of a value, or the edit that gives it."""
        return self._merged[0].origin_of(place)

    @cached_property
    def _edited(self) -> Written:
        """The file with additions, the profile and edits; keys below ``override`` are dotted paths themselves."""
        tree, owners = self.file, dict[Keys, str]()
        for addition in self.additions:
            for place, entry in addition.entries():
                if tree.at(place):
                    message = f"{owners.get(place, PARAMS)} has this entry, too: rename or remove one of them"
                    raise addition.error(place, message, "name-taken")
                owners[place] = addition.source
                tree = tree.put(place, Written.of(entry, addition.source))
        if self.profile is not None:
            tree = tree.put(("profile",), Written(self.profile, f"profile={self.profile}"))
        for edit in self.edits:
            dotted, equals, text = edit.partition("=")
            if not (dotted and equals):
                message = f"an edit is written path=value, such as czsl.methods.csp.training.lr=0.01, not '{edit}'"
                raise ParamsError(message, code="no-edit", place=edit)
            before, override, key = dotted.partition(".override.")
            keys = (*before.split("."), *(("override", key) if override else ()))
            tree = tree.put(keys, Written.of(read_document(text, f"the value in '{edit}'"), f"--edit {edit}"))
        return tree

    @cached_property
    def _merged(self) -> tuple[Written, list[Problem]]:
        """The document with whole profiles and the chosen one's overrides, and the problems of the choice and of these.

        Raises:
            ParamsError: a profile cannot be merged onto its base.
        """
        tree, problems = self._edited, list[Problem]()
        profiles, choice = tree.entries("profiles"), tree.at(("profile",))
        for name in profiles:
            tree = tree.put(("profiles", name), self._whole(name))
        if not (choice and isinstance(choice.value, str)):
            return tree, problems
        if profiles:
            problems = unknown_name(("profile",), choice.value, profiles)
        for dotted, part in tree.entries("profiles", choice.value, "override").items():
            place = tuple(dotted.split("."))
            if tree.at(place):
                tree = tree.put(place, part)
            else:
                message = f"there is no such key to override{nearest(dotted, _dotted_paths(tree))}"
                problems.append(Problem(("profiles", choice.value, "override", dotted), message, "unknown-key"))
        return tree, problems

    def _whole(self, name: str, *above: str) -> Written:
        """Return a profile merged onto its bases; overrides replace whole values, and the profile's own come last.

        Args:
            name: of the profile.
            above: those that build on it.

        Raises:
            ParamsError: a base does not exist, or builds on itself.
        """
        profiles, chain = self._edited.entries("profiles"), [*above, name]
        own = profiles[name]
        base = own.entries().get("based_on")
        if base is None or not isinstance(base.value, str):
            return own
        place = ("profiles", name, "based_on")
        problems = unknown_name(place, base.value, profiles)
        if base.value in chain:
            message = f"a profile cannot build on itself: {' on '.join([*chain, base.value])}"
            problems = [Problem(place, message, "circular-base")]
        if problems:
            raise params_error(HEADING, problems, self._edited.origin_of)
        whole, own_overrides = self._whole(base.value, *chain), own.entries("override")
        inherited = {key: value for key, value in whole.entries("override").items() if key not in own_overrides}
        overrides = inherited | own_overrides
        merged = own.over(whole)
        return merged.put(("override",), Written(overrides, own.origin)) if overrides else merged

    def _error(self, problems: list[Problem]) -> ParamsError:
        """Return an error with a line for each problem; one that profiles inherit is said once."""
        by_line = {(problem.message, self.origin(problem.place)): problem for problem in reversed(problems)}
        return params_error(HEADING, [*reversed(by_line.values())], self.origin)


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


def _dotted_paths(section: Written, prefix: str = "") -> Iterator[str]:
    for key, part in section.entries().items():
        yield f"{prefix}{key}"
        yield from _dotted_paths(part, f"{prefix}{key}.")
