"""`diff`: the settings in which two methods or variants, two stored results, or two profiles differ."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from recompose.console import escape_markup
from recompose.errors import ChangedError, DamagedError, PlanError
from recompose.files import Document
from recompose.params.mistakes import nearest
from recompose.records import RECORD, Description, Record
from recompose.tables.differing import ABSENT, differing, settings_of, value_text
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
    sides_by_place: dict[str, Sequence[Settings]] = {
        f"{track} on {benchmark}": [settings_of(evaluations[0]) for evaluations in sides]
        for track in work.plan.tracks
        for benchmark in work.plan.benchmarks(track)
        if all(sides := [work.plan.evaluations(track, name, benchmark) for name in (first, second)])
    }
    if not sides_by_place and {first, second} <= work.params.profiles.keys():
        sides_by_place[""] = [_profile(work, name) for name in (first, second)]
    elif not sides_by_place:
        known = _known(work)  # an unknown name comes first, so that it is the one that the error names
        results = {name: _result(work, name, known) for name in sorted((first, second), key=known.__contains__)}
        sides_by_place[""] = [results[name] for name in (first, second)]
    return [
        SettingsDifference(first, second, place, differing(dict(zip((first, second), sides, strict=True))))
        for place, sides in sides_by_place.items()
    ]


def _profile(work: Workspace, name: str) -> Settings:
    """Return all parameters of a profile, with its overrides."""
    params = work.load(name)
    sections = {track: section.model_dump(by_alias=True) for track, section in params.tracks.items()}
    backbones = {backbone: section.model_dump(by_alias=True) for backbone, section in params.backbones.items()}
    choices = {track: choice.model_dump(by_alias=True) for track, choice in params.chosen.tracks.items()}
    chosen = {"trainer": params.chosen.trainer.model_dump(), **choices}
    return {"profile": chosen, "backbones": backbones, **sections}


def _known(work: Workspace) -> list[str]:
    """Return the names of methods, variants and profiles."""
    return [*(row for track in work.plan.tracks.values() for row, _ in track.evaluations), *work.params.profiles]


def _result(work: Workspace, name: str, known: Sequence[str]) -> Settings:
    """Return the document of a planned or stored result, with what it needs and the digest of each module's code."""
    try:
        description = work.recipe(name).description()
    except ChangedError as error:
        if error.code != "unplanned":
            raise PlanError(str(error), code=error.code, place=name) from None
        description = _stored(work, name, known)
    needs = {role: need.key for role, need in description.needs.items()}
    labels = {label: value for label, value in description.labels.items() if label not in description.document}
    return {**labels, **description.document, "needs": needs, "code": description.code}


def _stored(work: Workspace, name: str, known: Sequence[str]) -> Description:
    """Return the record of the one stored result whose key, or the digest in it, starts with a name."""
    start = name.removeprefix(f"{work.results.name}/").rstrip("/")
    keys = (f"{path.parent.parent.name}/{path.parent.name}" for path in work.results.glob(f"*/*/{RECORD}"))
    matches = [key for key in keys if start and (key.startswith(start) or key.partition("/")[2].startswith(start))]
    if len(matches) == 1:
        try:
            return Record.read(work.results / matches[0] / RECORD)
        except DamagedError as error:
            raise PlanError(str(error), code=error.code, place=name) from None
    message = (
        f"{name!r} is no method, variant or profile{nearest(name, known)}; {len(matches) or 'no'} stored results start "
        "with it. Give two methods or variants of one track, two profiles, or two results"
    )
    raise PlanError(message, code="unknown-name", place=name)


def show_settings(console: Console, differences: Iterable[SettingsDifference]) -> None:
    """Print a table for each place: a row for each setting that differs."""
    for difference in differences:
        if not difference.settings:
            console.print(escape_markup(" · ".join(filter(None, (difference.place, "no setting differs")))))
            continue
        names = difference.first, difference.second
        table = Table("setting", *map(escape_markup, names), box=None, pad_edge=False)
        if difference.place:
            console.print(escape_markup(difference.place))
        for setting, values in difference.settings.items():
            sides = (value_text(values.get(name, ABSENT)) for name in names)
            table.add_row(escape_markup(setting), *map(escape_markup, sides))
        console.print(table)
