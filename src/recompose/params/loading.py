"""Loading of params.yaml: the parameters of the chosen profile from the file's text."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from recompose.errors import ParamsError, PluginError
from recompose.files import Document
from recompose.params.additions import Addition, in_their_file, with_additions, wrong_additions
from recompose.params.mistakes import Problem, mistakes_in, params_error, unknown_name
from recompose.params.profiles import apply_overrides, with_bases, wrong_bases
from recompose.params.reading import read_document
from recompose.params.schema import Forms, Params, ParamsFile, file_schema, params_of


def load_params(
    path: Path,
    tracks: Forms,
    profile: str | None = None,
    edits: Sequence[str] = (),
    additions: Sequence[Addition] = (),
) -> Params:
    """Return the parameters of a profile, by default the chosen one, from params.yaml with optional edits, and with the
    additions of plugins.

    Raises:
        ParamsError: the file is missing or has errors.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path} cannot be read: {error}. Run in the root of the project."
        raise ParamsError(message, code="unreadable-file", place=path) from None
    return parse_params(text, tracks, str(path), profile, edits, additions)


def parse_params(
    text: str,
    tracks: Forms,
    source: str = "params.yaml",
    profile: str | None = None,
    edits: Sequence[str] = (),
    additions: Sequence[Addition] = (),
) -> Params:
    """Return the parameters of the chosen profile from the text of params.yaml, with the profile's overrides.

    Args:
        text: the YAML.
        tracks: the sections that tracks add.
        source: the name of the text in messages.
        profile: the name of a profile, in place of the one that the text chooses.
        edits: of the text, each written ``path=value``, such as ``czsl.methods.csp.training.lr=0.01``.
        additions: the entries that plugins bring.

    Raises:
        PluginError: an addition has an entry that params.yaml or another plugin has, too.
        ParamsError: the text has errors. The message has a line for each; unknown names are found only once all values
            are of the right kind.
    """
    document = read_document(text, source)
    if isinstance(document, dict):
        for file, problem in wrong_additions(document, additions):
            raise PluginError(f"{file}: {problem.line}", code=problem.code, place=f"{file}: {problem.path}")
        document = with_additions(document, additions)
        if profile is not None:
            document["profile"] = profile
        for edit in edits:
            _edit(document, edit)
        source = f"{source} with {' and '.join(edits)}" if edits else source
        _refuse(source, wrong_bases(document), additions)
        document = with_bases(document)
    schema = file_schema(tracks)
    params = _validated(document, schema, tracks, source, additions)
    source = f"{source}, profiles.{params.profile}"
    if params.chosen.override:
        document = apply_overrides(document, params.profile, source)
        params = _validated(document, schema, tracks, source, additions)
    return params


def _refuse(source: str, problems: Iterable[Problem], additions: Sequence[Addition]) -> None:
    if problems := list(problems):
        file, problems = in_their_file(source, problems, additions)
        raise params_error(f"{file} is wrong:", problems)


def _validated(
    document: Any, schema: type[ParamsFile], tracks: Forms, source: str, additions: Sequence[Addition]
) -> Params:
    mistakes = [*_unknown_profile(document), *mistakes_in(document, schema)]
    _refuse(source, _without_inherited(document, mistakes), additions)
    params = params_of(schema.model_validate(document), tracks)
    _refuse(source, _without_inherited(document, list(_problems_of_tracks(params, tracks))), additions)
    return params


def _unknown_profile(document: Any) -> list[Problem]:
    """Return the problem of a chosen profile that does not exist; the schema reports a missing ``profiles``."""
    profiles = document.get("profiles") if isinstance(document, dict) else None
    name = document.get("profile") if profiles else None
    return unknown_name(("profile",), name, profiles) if isinstance(name, str) and isinstance(profiles, dict) else []


def _problems_of_tracks(params: Params, tracks: Forms) -> Iterator[Problem]:
    for track, form in tracks.items():
        section = params.tracks[track]
        for problem in form.problems(section, None, params.backbones):
            yield problem.inside(track)
        for name, profile in params.profiles.items():
            choice = profile.tracks.get(track)
            for problem in form.problems(section, choice, params.backbones) if choice else ():
                yield problem.inside("profiles", name, track)


def _without_inherited(document: Any, problems: Sequence[Problem]) -> list[Problem]:
    """Return the problems without those that a profile inherits from its base, which are reported there."""
    return [problem for problem in problems if _problem_of_base(document, problem) not in problems]


def _problem_of_base(document: Any, problem: Problem) -> Problem | None:
    if len(problem.place) < 3 or problem.place[0] != "profiles":
        return None
    profile = document["profiles"][problem.place[1]]
    base = profile.get("based_on") if isinstance(profile, dict) else None
    return problem._replace(place=("profiles", base, *problem.place[2:])) if base else None


def _edit(document: Document, edit: str) -> None:
    """Apply an edit, written ``path=value``, to the document; the schema finds keys that do not exist.

    Raises:
        ParamsError: the edit has no path or no value.
    """
    dotted, equals, text = edit.partition("=")
    if not (dotted and equals):
        message = f"an edit is written path=value, such as czsl.methods.csp.training.lr=0.01, not '{edit}'"
        raise ParamsError(message, code="no-edit", place=edit)
    *path, last = _keys_of(dotted)
    value, section = read_document(text, f"the value in '{edit}'"), document
    for key in path:
        if not isinstance(section.get(key), dict):
            section[key] = {}
        section = section[key]
    section[last] = value


def _keys_of(dotted: str) -> list[str]:
    """Return the keys of a dotted path; keys below ``override`` are dotted paths themselves."""
    before, override, key = dotted.partition(".override.")
    return [*before.split("."), "override", key] if override else dotted.split(".")
