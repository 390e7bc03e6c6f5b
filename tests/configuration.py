"""Configurations of tests: the shipped parameters with a profile of the test's choice, edited by key."""

import json
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from recompose.files import Document, write_json
from recompose.params.documents import Written, read_document, read_written
from recompose.params.loading import load
from recompose.params.schema import Params
from recompose.recipes.plan import Recipe
from recompose.recipes.records import content_of
from recompose.tracks import TRACKS
from recompose.workspace import Workspace

SHIPPED = Path(__file__).parent.parent / "params.yaml"
# those that tests build on; others are the user's
PROFILES = ("large", "demo", "study", "smoke", "paper")
# when and where a stored folder was built, but for the time that it took
MADE: dict[str, Any] = {
    "started": "2026-01-01T12:00:00+00:00",
    "attempts": 1,
    "host": "h",
    "device": "d",
    "commit": None,
    "dirty": None,
    "packages": {},
}
# what a process that trains keeps of how far it is, but for when
PROGRESS: dict[str, Any] = {"unit": "epoch", "done": 2, "total": 5, "rate": 0.1, "seconds_left": 30.0, "metrics": "m 1"}
GONE = object()  # as the value of a key that is taken away


def keys_of(path: str) -> list[str]:
    """Return the keys of a dotted path; keys below ``override`` are dotted paths themselves."""
    before, override, key = path.partition(".override.")
    return [*before.split("."), "override", key] if override else path.split(".")


def edit(document: Any, values: Mapping[str, object]) -> None:
    """Set keys of a document, given by their dotted paths; missing sections are made, and numbers index lists."""
    for path, value in values.items():
        *sections, last = keys_of(path)
        section = document
        for name in sections:
            if isinstance(section, list):
                section = section[int(name)]
            else:
                section[name] = {} if section.get(name) is None else section[name]
                section = section[name]
        if value is GONE:
            del section[last]
        else:
            section[last] = value


@cache
def _shipped() -> Document:
    document: Document = read_document(SHIPPED.read_text(encoding="utf-8"), SHIPPED.name)
    return {**document, "profiles": {name: document["profiles"][name] for name in PROFILES}}


def parameters(profile: str = "demo", edits: Mapping[str, object] | None = None) -> Document:
    """Return a document of parameters that chooses a profile, whatever the shipped file chooses."""
    document: Document = deepcopy(_shipped())
    document["profile"] = profile
    edit(document, {path: value if value is GONE else deepcopy(value) for path, value in (edits or {}).items()})
    return document


def text_of(document: Any) -> str:
    """Return a document as text; JSON is YAML, and quotes all that YAML could take for something else."""
    return json.dumps(document, indent=1)


def params_text(profile: str = "demo", edits: Mapping[str, object] | None = None) -> str:
    """Return the text of such a document."""
    return text_of(parameters(profile, edits))


def parse_params(
    text: str, profile: str | None = None, edits: Sequence[str] = (), additions: Sequence[Written] = ()
) -> Params:
    """Return the parameters of a text, by default of the profile that it chooses."""
    return load(read_written(text, "params.yaml"), TRACKS.forms, profile, edits, additions)


def write_params(folder: Path, profile: str = "demo", edits: Mapping[str, object] | None = None) -> Path:
    """Write such a document into a folder, and return its path."""
    path = folder / "params.yaml"
    path.write_text(params_text(profile, edits))
    return path


def new_workspace(folder: Path, profile: str = "demo", *edits: str) -> Workspace:
    """Return a workspace with such a document, in which nothing is made."""
    write_params(folder, profile)
    return Workspace(folder, edits)


def complete(work: Workspace, recipes: Iterable[Recipe], seconds: float = 10.0) -> None:
    """Write records, as if these had been made in so many seconds each."""
    for recipe in recipes:
        inputs = dict.fromkeys(recipe.needs, content_of({}))
        record = {**recipe.plain(), "inputs": inputs, "files": {}, "made": {**MADE, "seconds": seconds}}
        write_json(work.store.record_path(recipe), record)
