"""Trace: from one cell of an artifact to the runs that made it, and whether it still holds."""

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from recompose.plan import Plan
from recompose.provenance.lineage import key_of, read_lineage
from recompose.workspace import Workspace


class TraceError(LookupError):
    """There is no such cell: the message says which there are."""


@dataclass(frozen=True)
class Traced:
    """A cell, the records of what made it, and why it does not hold any more (empty: it does)."""

    cell: dict[str, Any]
    records: dict[str, dict[str, Any]]
    stale: list[str]


def trace(work: Workspace, path: Path, row: str, column: str, view: str | None = None) -> Traced:
    """Trace the measured cell of this row and column of an artifact, given by any of its files.

    Of a table that measures in several views the first one is meant where none is given.

    Raises:
        TraceError: the artifact has no lineage, or no such measured cell.
    """
    try:
        lineage = read_lineage(path)
    except FileNotFoundError as error:
        raise TraceError(str(error)) from None
    wanted = {"row": row, "column": column} | ({"view": view} if view else {})
    found = [cell for cell in lineage["cells"] if wanted.items() <= cell.items()]
    if not found:
        raise TraceError(_no_such_cell(path, lineage["cells"], wanted))
    cell = found[0]
    records = {key: lineage["records"][key] for key in cell["made_from"]}
    return Traced(cell, records, list(_stale(work.plan, records, cell)))


def _no_such_cell(path: Path, cells: list[dict[str, Any]], wanted: dict[str, str]) -> str:
    lines = [f"{path} has no measured cell in {' and '.join(f'{name} {given!r}' for name, given in wanted.items())}."]
    for name, given in wanted.items():
        known = list(dict.fromkeys(cell[name] for cell in cells))
        nearest = get_close_matches(given, known, n=1, cutoff=0.3)
        hint = f" (nearest: '{nearest[0]}')" if nearest and given not in known else ""
        lines.append(f"  {name}s{hint}: {', '.join(known)}")
    return "\n".join(lines)


def _wanted(plan: Plan, measures: str, record: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The plan's runs of a method or variant, or data sets, that stand where the record's run or data set stood: key -> recipe."""
    recipe = record["recipe"]
    if "method" not in recipe:
        dataset = plan.datasets.get(recipe["dataset"])
        return {key_of("index", dataset): dataset.document} if dataset else {}
    runs = plan.runs_of(measures, recipe["dataset"]["name"])
    return {key_of("runs", run): run.document for run in runs}


def _stale(plan: Plan, records: dict[str, dict[str, Any]], cell: dict[str, Any]) -> Any:
    """Why the cell is not what the current parameters and code would give, a line for each reason."""
    if not records:
        yield "nothing made it yet"
        return
    wanted = _wanted(plan, cell["measures"], next(iter(records.values())))
    if not wanted:
        yield "the current parameters do not ask for it"
        return
    reasons: dict[str, None] = {}
    for key, record in records.items():
        if key not in wanted:
            reasons |= dict.fromkeys(_reasons(record["recipe"], list(wanted.values())))
    if not reasons and set(wanted) - set(records):
        reasons[f"seeds are missing: it has {len(records)} of {len(wanted)} runs"] = None
    yield from reasons


def _reasons(recipe: dict[str, Any], wanted: list[dict[str, Any]]) -> list[str]:
    same_seed = [document for document in wanted if document.get("seed") == recipe.get("seed")]
    if not same_seed:
        return [f"seed {recipe.get('seed')} is not asked for any more"]
    return list(changes(recipe, same_seed[0]))


def changes(old: dict[str, Any], new: dict[str, Any], path: str = "") -> Any:
    """What differs between two recipes, a line each."""
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key), new.get(key)
        place = f"{path}.{key}" if path else key
        if before == after:
            continue
        if key == "code" and isinstance(before, dict) and isinstance(after, dict):
            modules = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
            yield f"code changed: {', '.join(modules)}"
        elif isinstance(before, dict) and isinstance(after, dict):
            yield from changes(before, after, place)
        elif key == "digest":
            yield f"{path} changed: {str(before)[:12]} is {str(after)[:12]} now"
        else:
            yield f"{place} was {before} and is {after} now"
