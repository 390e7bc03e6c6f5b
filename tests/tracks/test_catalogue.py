"""Entries of catalogues lead to classes."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import ModuleType
from typing import get_args

import pytest

from recompose.recipes.fingerprint import path_of
from recompose.tracks import TRACKS
from recompose.tracks.czsl import catalogue as czsl
from recompose.tracks.gzsl import catalogue as gzsl


@pytest.mark.parametrize("track", [czsl, gzsl])
def test_an_adapter_is_named_as_its_settings_say(track: ModuleType) -> None:
    sections = {adapter.settings for adapter in track.ADAPTERS.values()}
    named = {name: each for each in sections for name in get_args(each.model_fields["adapter"].annotation)}
    assert named == {name: adapter.settings for name, adapter in track.ADAPTERS.items()}


@pytest.mark.parametrize("name", ["czsl", "gzsl"])
def test_fractions_are_shown_in_percent(name: str) -> None:
    for metric in map(TRACKS[name].metric, TRACKS[name].metric_names()):
        assert (metric.unit, metric.factor) in (("%", 100), ("", 1))


PLACE = re.compile(r"(recompose(?:\.\w+)+):(\w+)")


def texts(value: object) -> Iterator[str]:
    """Yield all texts in mappings, sequences and entries of catalogues."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from texts([*value.values()])
    elif isinstance(value, list | tuple | set | frozenset):
        for part in value:
            yield from texts(part)
    elif is_dataclass(value) and not isinstance(value, type):
        yield from texts([getattr(value, part.name) for part in fields(value)])


def defined(module: str) -> set[str]:
    """Return the functions and classes of a module, and the names that it gives to methods of these."""
    body = ast.parse(path_of(module).read_text(encoding="utf-8")).body
    bound = (name for node in body if isinstance(node, ast.Assign) for name in ast.walk(node))
    names = {name.id for name in bound if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}
    return names | {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


@pytest.mark.parametrize("name", TRACKS)
def test_every_text_of_a_track_that_names_a_function_names_one_that_is_there(name: str) -> None:
    track = TRACKS[name]
    declared = [getattr(type(track), attribute) for attribute in dir(type(track))]
    places = {match.groups() for text in texts([*declared, *vars(track).values()]) if (match := PLACE.fullmatch(text))}
    assert len(places) > 5
    for module, function in {*places, (track.training, "train"), (track.evaluation, "evaluate")}:
        assert function in defined(module), f"{module}:{function}"
