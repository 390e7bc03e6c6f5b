"""From the text of params.yaml to the parameters of the chosen profile."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from yaml import MarkedYAMLError, YAMLError

from recompose.errors import ParamsError
from recompose.params.merging import plain
from recompose.params.mistakes import Problem, mistakes_in, told, unknown_name
from recompose.params.profiles import overridden, with_bases, wrong_bases
from recompose.params.reading import read
from recompose.params.schema import File, Forms, Params, file_schema, params_of


def load_params(path: Path, tracks: Forms, profile: str | None = None, edits: Sequence[str] = ()) -> Params:
    """The parameters of the chosen profile, or of this one, from params.yaml, or as it would be with some edits.

    Raises:
        ParamsError: the file is missing or anything in it is wrong.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ParamsError(f"{path} cannot be read: {error}. Run in the root of the project.") from None
    return parse_params(text, tracks, str(path), profile, edits)


def parse_params(
    text: str, tracks: Forms, source: str = "params.yaml", profile: str | None = None, edits: Sequence[str] = ()
) -> Params:
    """The parameters of the chosen profile from the text of params.yaml, its overrides carried out.

    Args:
        text: the YAML.
        tracks: what each track adds to it.
        source: how messages call it.
        profile: in place of the one that the text chooses.
        edits: of the text, each written ``path=value``, such as ``czsl.methods.csp.training.lr=0.01``.

    Raises:
        ParamsError: anything is wrong. Every place that is wrong has a line in the message; names that do not exist
            are looked for once all values are of the right kind.
    """
    document = _read(text, source)
    if isinstance(document, dict):
        if profile is not None:
            document["profile"] = profile
        for edit in edits:
            _edit(document, edit)
        source = f"{source} with {' and '.join(edits)}" if edits else source
        _refuse(source, wrong_bases(document))
        document = with_bases(document)
    schema = file_schema(tracks)
    params = _validated(document, schema, tracks, source)
    if not params.chosen.override:
        return params
    source = f"{source}, profiles.{params.profile}"
    return _validated(overridden(document, params.profile, source), schema, tracks, source)


def _refuse(source: str, problems: Iterable[Problem]) -> None:
    problems = list(problems)
    if problems:
        raise ParamsError(told(f"{source} is wrong:", problems))


def _validated(document: Any, schema: type[File], tracks: Forms, source: str) -> Params:
    _refuse(source, _once(document, [*_unknown_profile(document), *mistakes_in(document, schema)]))
    params = params_of(schema.model_validate(document), tracks)
    _refuse(source, _once(document, list(_problems_of_tracks(params, tracks))))
    return params


def _unknown_profile(document: Any) -> list[Problem]:
    """The problem of a chosen profile that does not exist; where there is none to choose from, the schema says so."""
    profiles = document.get("profiles") if isinstance(document, dict) else None
    name = document.get("profile") if profiles else None
    return unknown_name(("profile",), name, profiles) if isinstance(name, str) and isinstance(profiles, dict) else []


def _problems_of_tracks(params: Params, tracks: Forms) -> Iterator[Problem]:
    for track, form in tracks.items():
        section = params.tracks[track]
        for found in form.problems(section, None, params.backbones):
            yield Problem(*found).inside(track)
        for name, profile in params.profiles.items():
            choice = profile.tracks.get(track)
            for found in form.problems(section, choice, params.backbones) if choice else ():
                yield Problem(*found).inside("profiles", name, track)


def _once(document: Any, problems: Sequence[Problem]) -> list[Problem]:
    """Without what profiles only have from the one that they are based on, where it is said already."""
    return [problem for problem in problems if _inherited(document, problem) not in problems]


def _inherited(document: Any, problem: Problem) -> Problem | None:
    if len(problem.place) < 3 or problem.place[0] != "profiles":
        return None
    profile = document["profiles"][problem.place[1]]
    base = profile.get("based_on") if isinstance(profile, dict) else None
    return Problem(("profiles", base, *problem.place[2:]), problem.message) if base else None


def _read(text: str, source: str) -> Any:
    """The document in YAML 1.2, as plain dicts, lists and scalars; a repeated key is an error, and 1e-4 a number."""
    try:
        return plain(read(text))
    except RecursionError:
        said = "it is nested too deep, or an alias stands in what it stands for"
    except MarkedYAMLError as error:
        mark, what = error.problem_mark, ", ".join(filter(None, (error.problem, error.context)))
        said = f"line {mark.line + 1}, column {mark.column + 1}: {what}" if mark else what
    except YAMLError as error:
        said = str(error)
    raise ParamsError(f"{source} is not valid YAML: {said}")


def _edit(document: dict[str, Any], edit: str) -> None:
    """Carry out an edit, written ``path=value``, in the document; what does not belong there the schema will find.

    Raises:
        ParamsError: it is not written like this.
    """
    dotted, equals, text = edit.partition("=")
    if not (dotted and equals):
        raise ParamsError(f"an edit is written path=value, such as czsl.methods.csp.training.lr=0.01, not '{edit}'")
    *path, last = _keys_of(dotted)
    value, section = _read(text, f"the value in '{edit}'"), document
    for key in path:
        if not isinstance(section.get(key), dict):
            section[key] = {}
        section = section[key]
    section[last] = value


def _keys_of(dotted: str) -> list[str]:
    """The keys of a dotted path; those of ``override`` are dotted themselves."""
    before, override, key = dotted.partition(".override.")
    return [*before.split("."), "override", key] if override else dotted.split(".")
