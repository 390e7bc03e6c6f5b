"""Loading of params.yaml: a profile's parameters from the file, what plugins add, and edits of one call.

A profile is merged onto those that it builds on, and their overrides replace values of other sections. The result is
validated once.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

from recompose.errors import ParamsError, PluginError, RecomposeError
from recompose.params.documents import Written, read_document, read_file
from recompose.params.mistakes import Problem, as_error, unknown_name
from recompose.params.schema import Forms, Params, file_schema

PARAMS = "params.yaml"
SHARED = ("backbones", "profiles")  # sections of no track
OF_TRACKS = ("methods", "datasets", "suites")  # what a plugin may bring in the section of a track

Keys = tuple[str, ...]


def load_params(path: Path, tracks: Forms, profile: str | None = None) -> Params:
    """Return the parameters of a profile, by default the chosen one, from params.yaml.

    Raises:
        ParamsError: the file is missing or has errors.
    """
    return load(read_file(path, path.name), tracks, profile)


def load(
    file: Written,
    tracks: Forms,
    profile: str | None = None,
    edits: Sequence[str] = (),
    additions: Iterable[Written] = (),
) -> Params:
    """Return the parameters of a profile.

    Args:
        file: params.yaml.
        tracks: the sections that tracks add.
        profile: its name, in place of the one that the file chooses.
        edits: of the file, each written ``path=value``, such as ``czsl.methods.csp.training.lr=0.01``.
        additions: the parts of params.yaml that plugins bring.

    Raises:
        PluginError: an addition has an entry that params.yaml or another plugin has, too.
        ParamsError: there are mistakes. The message has a line for each; unknown names are found only once all values
            are of the right kind.
    """
    tree = reduce(_with_addition, additions, file)
    if profile is not None:
        tree = tree.put(("profile",), Written(profile, f"profile={profile}"))
    params: Params = file_schema(tracks).of(_with_profiles(reduce(_with_edit, edits, tree)))
    if problems := [*_problems_of_tracks(params)]:
        raise params.error(problems)
    return params


def _with_addition(tree: Written, addition: Written) -> Written:
    """Return the file with the entries that a plugin brings."""

    def error(place: Keys, message: str, code: str) -> RecomposeError:
        problem = Problem(("params", *place), message, code)
        return as_error([problem], Written({"params": addition}, addition.origin), PluginError)

    for key in addition.entries():
        for place in [(key,)] if key in SHARED else [(key, part) for part in addition.entries(key)]:
            if key not in SHARED and place[-1] not in OF_TRACKS:
                raise error(place, f"a plugin brings entries of {', '.join(OF_TRACKS)} alone", "unknown-key")
            section = addition.at(place) or addition
            if not isinstance(section.value, dict):
                raise error(place, "this is a section with entries of its own", "no-section")
            for name, entry in section.value.items():
                if taken := tree.at((*place, name)):
                    message = f"{taken.origin} has this entry, too: rename or remove one of them"
                    raise error((*place, name), message, "name-taken")
                tree = tree.put((*place, name), entry)
    return tree


def _with_edit(tree: Written, edit: str) -> Written:
    """Return the file with an edit; keys below ``override`` are dotted paths themselves."""
    dotted, equals, text = edit.partition("=")
    if not (dotted and equals):
        message = f"an edit is written path=value, such as czsl.methods.csp.training.lr=0.01, not '{edit}'"
        raise ParamsError(message, code="no-edit", place=edit)
    before, override, key = dotted.partition(".override.")
    keys = (*before.split("."), *(("override", key) if override else ()))
    return tree.put(keys, Written.of(read_document(text, f"the value in '{edit}'"), f"--edit {edit}"))


def _with_profiles(tree: Written) -> Written:
    """Return the file with whole profiles, each merged onto those that it builds on, and with the overrides of the
    chosen one and of those, its own last. The schema reports what it does not know of them.

    Raises:
        ParamsError: there is no such profile, or no such base.
    """
    written, choice = tree.entries("profiles"), tree.at(("profile",))
    chains = {name: _chain(tree, name) for name in written}
    for name, chain in chains.items():
        whole = reduce(lambda whole, base: whole.over(written[base]), chain[1:], written[name])
        tree = tree.put(("profiles", name), whole)
    if not written or choice is None or not isinstance(choice.value, str):
        return tree
    if problems := unknown_name(("profile",), choice.value, written):
        raise as_error(problems, tree)
    for name in reversed(chains[choice.value]):
        for dotted, part in written[name].entries("override").items():
            tree = tree.put(tuple(str(dotted).split(".")), part)
    return tree


def _chain(tree: Written, name: str) -> list[str]:
    """Return a profile, the one that it builds on, and so on.

    Raises:
        ParamsError: one does not exist, or builds on itself.
    """
    profiles, chain = tree.entries("profiles"), [name]
    while (base := profiles[chain[-1]].entries().get("based_on")) and isinstance(base.value, str):
        place = ("profiles", chain[-1], "based_on")
        problems = unknown_name(place, base.value, profiles)
        if base.value in chain:
            message = f"a profile cannot build on itself: {' on '.join([*chain, base.value])}"
            problems = [Problem(place, message, "circular-base")]
        if problems:
            raise as_error(problems, tree)
        chain.append(base.value)
    return chain


def _problems_of_tracks(params: Params) -> Iterator[Problem]:
    section: Any
    choice: Any
    for track, section in params.tracks.items():
        yield from (problem.inside(track) for problem in section.problems())
        for name, profile in params.profiles.items():
            if choice := profile.tracks.get(track):
                found: Iterable[Problem] = choice.problems(section, params.backbones)
                yield from (problem.inside("profiles", name, track) for problem in found)
