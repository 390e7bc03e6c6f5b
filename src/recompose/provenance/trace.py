"""Trace: from one cell of an artifact to the runs that made it, and whether it still holds."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any

from recompose.digest import sha256_file
from recompose.plan import Plan, Recipe
from recompose.report.lineage import key_of, read_lineage
from recompose.workspace import Workspace

NOTHING: Mapping[str, dict[str, Any]] = MappingProxyType({})


class TraceError(LookupError):
    """There is no such cell: the message says which there are."""


@dataclass(frozen=True)
class Traced:
    """A cell, the records of what made it, and what speaks against it."""

    cell: dict[str, Any]
    records: dict[str, dict[str, Any]]
    stale: list[str]  # why the current parameters and code would give another one; empty: they would not
    changed: list[str]  # files of its artifact that are not what was written

    @property
    def state(self) -> str:
        """The worst that can be said without reading the runs, as ``recompose audit`` does."""
        if self.changed:
            return "tampered"
        if self.cell["missing"]:
            return "incomplete"
        return "stale" if self.stale else "current"


def trace(work: Workspace, path: Path, row: str, column: str, view: str | None = None) -> Traced:
    """Trace the measured cell of this row and column of an artifact, given by any of its files.

    Of a table that measures in several views the first one is meant where none is given.

    Raises:
        TraceError: the artifact has no lineage, or no such measured cell.
    """
    cell, records = find_cell(path, row, column, view)
    return Traced(cell, records, reasons(work.plan, records, cell), list(_changed(path)))


def _changed(path: Path) -> Iterator[str]:
    """The files beside a lineage that are not what it says was written."""
    for name, written in read_lineage(path).get("files", {}).items():
        file = path.with_name(name)
        if not file.is_file() or sha256_file(file) != written:
            yield f"{file} was changed since it was written: `recompose audit` says where"


def find_cell(path: Path, row: str, column: str, view: str | None) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """A measured cell of an artifact, and the records of what made it.

    Raises:
        TraceError: the artifact has no lineage, or no such measured cell.
    """
    try:
        lineage = read_lineage(path)
    except FileNotFoundError as error:
        raise TraceError(str(error)) from None
    return cell_of(lineage, str(path), {"row": row, "column": column} | ({"view": view} if view else {}))


def cell_of(
    lineage: dict[str, Any], artifact: str, wanted: dict[str, str]
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The first cell of a lineage that has all that is wanted, and the records of what made it.

    Raises:
        TraceError: there is none; it says where, in the words of ``artifact``, and which there are.
    """
    found = [cell for cell in lineage["cells"] if wanted.items() <= cell.items()]
    if not found:
        raise TraceError(_no_such_cell(artifact, lineage["cells"], wanted))
    return found[0], {key: lineage["records"][key] for key in found[0]["made_from"]}


def _no_such_cell(artifact: str, cells: list[dict[str, Any]], wanted: dict[str, str]) -> str:
    lines = [
        f"{artifact} has no measured cell in {' and '.join(f'{name} {given!r}' for name, given in wanted.items())}."
    ]
    for name, given in wanted.items():
        known = list(dict.fromkeys(cell.get(name, "") for cell in cells))
        spelled = {text.lower(): text for text in reversed(known)}
        nearest = get_close_matches(given.lower(), spelled, n=1, cutoff=0.3)
        hint = f" (nearest: '{spelled[nearest[0]]}')" if nearest and given not in known else ""
        lines.append(f"  {name}s{hint}: {', '.join(known)}")
    return "\n".join(lines)


def _wanted(plan: Plan, measures: list[str], records: Iterable[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The plan's runs of methods or variants, or data sets, that stand where the records' runs or data sets stood: key -> recipe."""
    recipes = [record["recipe"] for record in records]
    indexed = {recipe["dataset"] for recipe in recipes if "method" not in recipe}
    trained = {recipe["dataset"]["name"] for recipe in recipes if "method" in recipe}
    datasets = [plan.datasets[name] for name in sorted(indexed & plan.datasets.keys())]
    runs = [run for name in sorted(trained) for measure in measures for run in plan.runs_of(measure, name)]
    found = {key_of("index", recipe): recipe.document for recipe in datasets}
    return found | {key_of("runs", run): run.document for run in runs}


def reasons(
    plan: Plan, records: dict[str, dict[str, Any]], cell: dict[str, Any], known: Mapping[str, dict[str, Any]] = NOTHING
) -> list[str]:
    """Why a cell is not what the current parameters and code would give, a line for each reason.

    ``known`` holds recipes by digest: of a data set or a backbone, say, that is among them, it is said what changed in it.
    """
    known = {recipe.digest: recipe.document for recipe in _planned(plan)} | {**known}
    if not records:
        asked = any(name in cell["measures"] for name, _ in plan.measures)
        return ["nothing made it yet"] if asked else []
    wanted = _wanted(plan, cell["measures"], records.values())
    if not wanted:
        return ["the current parameters do not ask for it"]
    found: dict[str, None] = {}
    for key, record in records.items():
        if key not in wanted:
            found |= dict.fromkeys(_differences(record["recipe"], list(wanted.values()), known))
    if not found and set(wanted) - set(records):
        found[f"seeds are missing: it has {len(records)} of {len(wanted)} runs"] = None
    return list(found)


def _planned(plan: Plan) -> Iterator[Recipe]:
    yield from plan.corpora.values()
    for recipes in plan.stored().values():
        yield from recipes


def _differences(
    recipe: dict[str, Any], wanted: list[dict[str, Any]], known: Mapping[str, dict[str, Any]]
) -> list[str]:
    """What differs from the recipe among those wanted that is nearest to it, of the same seed."""
    same_seed = [document for document in wanted if document.get("seed") == recipe.get("seed")]
    if not same_seed:
        return [f"seed {recipe.get('seed')} is not asked for any more"]
    nearest = min(same_seed, key=lambda document: len(list(changes(recipe, document))))
    return list(changes(recipe, nearest, known=known))


def changes(
    old: dict[str, Any], new: dict[str, Any], path: str = "", known: Mapping[str, dict[str, Any]] = NOTHING
) -> Iterator[str]:
    """What differs between two recipes, a line each; also in what they name by digests that are known.

    A path begins anew at such a name, so that a data set that several parts of a recipe name gives the same lines.
    """
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key), new.get(key)
        place = f"{path}.{key}" if path else key
        if before == after:
            continue
        if key == "code" and isinstance(before, dict) and isinstance(after, dict):
            modules = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
            yield f"code changed: {', '.join(modules)}"
        elif isinstance(before, dict) and isinstance(after, dict):
            yield from changes(before, after, place, known)
        elif isinstance(before, str) and isinstance(after, str) and {before, after} <= known.keys():
            yield from changes(known[before], known[after], path.rpartition(".")[2] if key == "digest" else key, known)
        elif key == "digest":
            yield f"{path} changed: {str(before)[:12]} is {str(after)[:12]} now"
        else:
            yield f"{place} was {before} and is {after} now"
