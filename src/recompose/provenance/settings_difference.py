"""The settings in which two methods or variants, two stored results, or two profiles differ."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from recompose.errors import ChangedError, DamagedError, PlanError
from recompose.files import Document
from recompose.params.mistakes import nearest
from recompose.plan import Recipe
from recompose.records import RECORD, Description, Record
from recompose.report.differing import differing, settings_of
from recompose.workspace import Workspace

Settings = Mapping[str, object]


@dataclass(frozen=True)
class SettingsDifference:
    """Two names, the place in which they are compared, and the settings in which they differ."""

    first: str
    second: str
    place: str  # "czsl on shapes-pairs"; empty: profiles or stored results
    settings: dict[str, Document]  # dotted name -> name of a side -> value, absent where a side lacks it


def settings_difference(work: Workspace, first: str, second: str) -> list[SettingsDifference]:
    """Return the settings in which two things of one kind differ; for methods, on each data set that both run on.

    Args:
        work: the workspace.
        first: a method or a variant, a profile, or the key or the start of the digest of a stored result.
        second: another one of the same kind.

    Raises:
        PlanError: there are no two such things; the message names the nearest.
        ParamsError: a profile is wrong.
    """
    methods = list(_of_methods(work, first, second))
    if methods:
        return methods
    if first in work.params.profiles and second in work.params.profiles:
        return [_difference(first, second, "", *(_profile(work, name) for name in (first, second)))]
    known = _known(work)
    results = {name: _result(work, name, known) for name in sorted((first, second), key=known.__contains__)}
    return [_difference(first, second, "", results[first], results[second])]


def _known(work: Workspace) -> list[str]:
    """Return the names of methods, variants and profiles."""
    return [*(row for track in work.plan.tracks.values() for row, _ in track.evaluations), *work.params.profiles]


def _difference(first: str, second: str, place: str, one: Settings, other: Settings) -> SettingsDifference:
    return SettingsDifference(first, second, place, differing({first: one, second: other}))


def _of_methods(work: Workspace, first: str, second: str) -> Iterator[SettingsDifference]:
    """Yield the differences of two methods or variants on each data set of a track."""
    for track in work.plan.tracks:
        for benchmark in work.plan.benchmarks(track):
            sides = [work.plan.evaluations(track, name, benchmark) for name in (first, second)]
            if all(sides):
                settings = (settings_of(evaluations[0]) for evaluations in sides)
                yield _difference(first, second, f"{track} on {benchmark}", *settings)


def _profile(work: Workspace, name: str) -> Settings:
    """Return all parameters of a profile, with its overrides."""
    params = work.load(name)
    sections = {track: section.model_dump(by_alias=True) for track, section in params.tracks.items()}
    backbones = {backbone: section.model_dump(by_alias=True) for backbone, section in params.backbones.items()}
    choices = {track: choice.model_dump(by_alias=True) for track, choice in params.chosen.tracks.items()}
    chosen = {"trainer": params.chosen.trainer.model_dump(), **choices}
    return {"profile": chosen, "backbones": backbones, **sections}


def _result(work: Workspace, name: str, known: list[str]) -> Settings:
    """Return the document of a stored or planned result, with what it needs and the digest of each module's code."""
    description = _description(work, name, known)
    needs = {role: need.key for role, need in description.needs.items()}
    labels = {label: value for label, value in description.labels.items() if label not in description.document}
    return {**labels, **description.document, "needs": needs, "code": description.code}


def _description(work: Workspace, name: str, known: list[str]) -> Description:
    start = name.removeprefix(f"{work.results.name}/").rstrip("/")
    try:
        recipe: Recipe = work.recipe(name)
        return recipe.description()
    except ChangedError as error:
        if error.code != "unplanned":
            raise PlanError(str(error), code=error.code, place=name) from None
    folders = [
        folder for folder in work.results.glob("*/*/") if _is_named(f"{folder.parent.name}/{folder.name}", start)
    ]
    stored = [folder for folder in folders if (folder / RECORD).is_file()]
    if len(stored) == 1:
        try:
            return Record.read(stored[0] / RECORD)
        except DamagedError as error:
            raise PlanError(str(error), code=error.code, place=name) from None
    count = "no" if not stored else str(len(stored))
    message = (
        f"{name!r} is no method, variant or profile{nearest(name, known)}; {count} stored results start with it. "
        "Give two methods or variants of one track, two profiles, or two results"
    )
    raise PlanError(message, code="unknown-name", place=name)


def _is_named(key: str, start: str) -> bool:
    """Return true where a key, or the digest in it, starts with this text."""
    return bool(start) and (key.startswith(start) or key.partition("/")[2].startswith(start))
