"""`diff`: the settings in which two methods or variants, two stored results, or two profiles differ."""

from collections.abc import Mapping

from rich.console import Console

from recompose.console import line, new_table, print_json
from recompose.files import Document
from recompose.params.mistakes import key_of
from recompose.recipes.records import RECORD, Record
from recompose.tables.differing import ABSENT, differing, settings_of, value_text
from recompose.workspace import Workspace

Settings = Mapping[str, object]


def settings_differences(work: Workspace, first: str, second: str) -> dict[str, dict[str, Document]]:
    """Return the settings in which two things of one kind differ, by the place in which they are compared: dotted name
    -> name of a side -> value, absent where a side lacks it.

    Methods are compared on each data set that both run on; the place of profiles and stored results is empty.

    Args:
        work: the workspace.
        first: a method or a variant, a profile, or the key or the start of the digest of a stored result.
        second: another one of the same kind.

    Raises:
        UnknownError: there are no two such things; the message names the nearest.
        ParamsError, DamagedError: a profile or a record is wrong.
    """
    sides: dict[str, list[Settings]] = {
        f"{track} on {benchmark}": [settings_of(evaluations[0]) for evaluations in both]
        for track in work.plan.tracks
        for benchmark in work.plan.benchmarks(track)
        if all(both := [work.plan.evaluations(track, name, benchmark) for name in (first, second)])
    }
    if not sides and {first, second} <= work.params.profiles.keys():
        sides[""] = [_profile(work, name) for name in (first, second)]
    elif not sides:
        known = [*(row for track in work.plan.tracks.values() for row, _ in track.evaluations), *work.params.profiles]
        # an unknown name comes first, so that it is the one that the error names
        results = {name: _result(work, name, known) for name in sorted((first, second), key=known.__contains__)}
        sides[""] = [results[name] for name in (first, second)]
    return {place: differing(dict(zip((first, second), both, strict=True))) for place, both in sides.items()}


def _profile(work: Workspace, name: str) -> Settings:
    """Return all parameters of a profile, with its overrides."""
    document = work.load(name).model_dump(by_alias=True, warnings=False)
    chosen = document.pop("profiles")[document.pop("profile")]
    return document | {"profile": {key: value for key, value in chosen.items() if key not in ("override", "based_on")}}


def _result(work: Workspace, name: str, known: list[str]) -> Settings:
    """Return the document of a planned or stored result, with what it needs and the digest of each module's code."""
    planned = work.plan.by_key
    stored = [f"{path.parent.parent.name}/{path.parent.name}" for path in work.results.glob(f"*/*/{RECORD}")]
    key = key_of(name, dict.fromkeys([*planned, *stored]), "the plan and results/", known)
    result = planned.get(key) or Record.read(work.results / key / RECORD)
    needs = {role: need.key for role, need in result.needs.items()}
    labels = {label: value for label, value in result.labels.items() if label not in result.document}
    return {**labels, **result.document, "needs": needs, "code": result.code}


def show_diff(work: Workspace, first: str, second: str, *, as_json: bool) -> None:
    """Print a table of the settings in which two things differ, for each place in which they are compared."""
    differences = settings_differences(work, first, second)
    if as_json:
        print_json(differences)
        return
    console = Console()
    for place, settings in differences.items():
        table = new_table([place, first, second] if settings else [place, "no setting differs"])
        for setting, values in settings.items():
            sides = (value_text(values.get(name, ABSENT)) for name in (first, second))
            table.add_row(*map(line, (setting, *sides)))
        console.print(table)
