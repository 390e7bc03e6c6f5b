"""What the report site shows, as plain values: a pure function of the declarations, of lineages, and of an audit."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from recompose.digest import digest, short
from recompose.papers.declaration import FOLDER, Artifact, Paper
from recompose.params import Params
from recompose.provenance.checks.findings import STATES, UNCHECKED, Audit
from recompose.report.cells import Cell
from recompose.report.claims import VERDICTS
from recompose.report.formats import ranks
from recompose.report.published import Shown
from recompose.report.tables import ABOUT, reported_cells

SPREAD = " ± "
PRINTED = re.compile(r"(table|figure)-[0-9]+")  # artifacts of a paper; others are ours
# what is found of a claim -> how the columns end that tell it
CLAIMED = {"verdict": " verdict", "difference": " difference", "interval": " 95 % interval", "seeds": " seeds"}
# the papers that the project is about, and that it does not cover yet
TO_COME = {
    "FSC-CLIP": "Preserving Multi-Modal Capabilities of Pre-trained VLMs for Improving Vision-Linguistic Compositionality",
    "CLIP-CAE": "Interpretable Composition Attribution Enhancement for Visio-linguistic Compositional Understanding",
    "CREST": "Cross-modal Resonance through Evidential Deep Learning for Enhanced Zero-Shot Learning",
}


@dataclass(frozen=True)
class Site:
    """Everything that the page is made from."""

    papers: list[Paper]
    shown: Shown
    audit: Audit
    params: Params

    def document(self) -> dict[str, Any]:
        """The page's content."""
        cells = _Cells(self.shown, self.audit)
        papers = [self._paper(paper, cells) for paper in self.papers]
        return {
            "profile": self.params.profile,
            "made": _made(self.shown),
            "audit": _audit(self.audit) | {"states": _states(self.audit, papers)},
            "papers": papers,
            "to_come": TO_COME,
            "cells": cells.all,
            "runs": {key: _run(key, record, self.params) for key, record in self.shown.records.items()},
        }

    def _paper(self, paper: Paper, cells: "_Cells") -> dict[str, Any]:
        artifacts = [_artifact(paper, name, cells) for name in paper.artifacts]
        claims = [claim for artifact in artifacts for claim in artifact["claims"]]
        printed = [artifact for artifact in artifacts if artifact["printed"]]
        return {
            "name": paper.name,
            "title": paper.title,
            "authors": paper.authors,
            "venue": paper.venue,
            "artifacts": artifacts,
            "printed": len(printed),
            "measured": sum(artifact["measured"] > 0 for artifact in printed),
            "numbers": sum(artifact["measured"] for artifact in artifacts),
            "headline": cells.headline(paper),
            "verdicts": {verdict: _count(claims, verdict) for verdict in reversed(VERDICTS)},
            "notes": (FOLDER / paper.name / "notes.md").read_text(encoding="utf-8"),
        }


def _count(claims: list[dict[str, Any]], verdict: str) -> int:
    return sum(found["verdict"]["text"] == verdict for claim in claims for found in claim["found"])


def _made(shown: Shown) -> dict[str, Any]:
    """When, on what and from which commits the runs were made."""
    made = [record["made"] for key, record in shown.records.items() if key.startswith("runs/")]
    return {
        "first": min((each["started"] for each in made), default=""),
        "last": max((each["started"] for each in made), default=""),
        "runs": len(made),
        "hours": sum(each["seconds"] for each in made) / 3600,
        "devices": sorted({each["device"] for each in made}),
        "commits": sorted({short(each["commit"] or "none") for each in made}),
        "packages": sorted({f"{name} {version}" for each in made for name, version in each["packages"].items()}),
    }


def _audit(audit: Audit) -> dict[str, Any]:
    """The audit in short: its findings by state and reason, with the places of each."""
    places: dict[tuple[str, str], list[str]] = {}
    for found in audit.findings:
        places.setdefault((found.state, found.why), []).append(found.place)
    return {
        "clean": audit.report.clean and not audit.report.unchecked,
        "verdict": audit.verdict,
        "runs": audit.runs,
        "recomputed": audit.recomputed,
        "files": audit.files,
        "findings": [{"state": state, "why": why, "places": found} for (state, why), found in places.items()],
        "unchecked": audit.report.unchecked,
        "count": len(audit.findings),
    }


def _states(audit: Audit, papers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """How many measured numbers are in each state, the worst first, and the first artifact where one is marked with it."""
    marked = [
        (mark, artifact["id"]) for paper in papers for artifact in paper["artifacts"] for mark in artifact["marks"]
    ]
    first = dict(reversed(marked))
    counts = audit.report.cells
    order = [state for state in (*STATES, UNCHECKED) if counts[state]]
    return [{"state": state, "count": counts[state], "id": first.get(state, "")} for state in order]


class _Cells:
    """The measured cells of all artifacts, numbered: what a click on one tells."""

    def __init__(self, shown: Shown, audit: Audit) -> None:
        self._shown, self._audit = shown, audit
        self.all: list[dict[str, Any]] = []

    def of(self, paper: Paper, name: str) -> list[dict[str, Any]]:
        """The measured cells of an artifact, each with its number."""
        artifact = f"{paper.name}/{name}"
        if artifact not in self._shown.lineages:
            return []
        states, why = self._audit.states.get(artifact, {}), self._audit.why.get(artifact, {})
        found = []
        for cell in self._shown.cells(artifact):
            key = ("measured", cell["view"], cell["row"], cell["column"])
            number = len(self.all)
            self.all.append(
                {
                    **{part: cell[part] for part in ("row", "column", "view", "text", "value", "spread", "n")},
                    **{part: cell.get(part, []) for part in ("made_from", "values", "missing", "measures")},
                    "aggregate": cell["aggregate"],
                    "state": states.get(key, UNCHECKED),
                    "why": why.get(key, []),
                    "paper": paper.name,
                    "artifact": artifact,
                    "file": f"reports/{artifact}.csv",
                }
            )
            found.append({**cell, "number": number, "state": self.all[-1]["state"]})
        return found

    def headline(self, paper: Paper) -> dict[str, Any] | None:
        """The first AUC of the paper's own method in its own artifacts."""
        for number, cell in enumerate(self.all):
            own = cell["paper"] == paper.name and cell["measures"] == [paper.name]
            if own and cell["column"].endswith(" AUC") and cell["n"]:
                name = cell["artifact"].partition("/")[2]
                return cell | {"number": number, "id": f"{paper.name}-{name}", "title": title_of(name)}
        return None


def title_of(name: str) -> str:
    """An artifact's name as a heading."""
    return name.replace("-", " ").capitalize()


def _artifact(paper: Paper, name: str, cells: _Cells) -> dict[str, Any]:
    artifact, measured = paper.artifacts[name], cells.of(paper, name)
    endings = ("svg", "csv") if artifact.is_figure else ("csv", "tex", "md")
    is_claims = artifact.kind == "claims"
    return {
        "name": name,
        "id": f"{paper.name}-{name}",
        "title": title_of(name),
        "caption": artifact.caption,
        "note": artifact.note,
        "printed": bool(PRINTED.fullmatch(name)),
        "ours": not PRINTED.fullmatch(name) and not is_claims,
        "measured": sum(bool(cell["n"]) for cell in measured),
        "marks": sorted({cell["state"] for cell in measured} - {"current"}),
        "claims": list(_claims(paper, measured)) if is_claims else [],
        "cells": measured if artifact.is_figure else [],
        "grids": [] if is_claims or artifact.is_figure else list(_grids(paper, name, artifact, measured)),
        "flags": [flag.model_dump() for flag in artifact.flags],
        "files": [f"{paper.name}/{name}.{ending}" for ending in endings],
    }


def _claims(paper: Paper, measured: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Every claim with what was found of it on each data set."""
    for name, claim in paper.claims.items():
        by_dataset: dict[str, dict[str, Any]] = {}
        for cell in measured:
            dataset, part = _part_of(cell["column"])
            if cell["row"] == name and part:
                by_dataset.setdefault(dataset, {"dataset": dataset})[part] = cell
        yield {
            "name": name,
            "sentence": claim.sentence,
            "title": title_of(claim.artifact),
            "id": f"{paper.name}-{claim.artifact}",
            "found": [found for found in by_dataset.values() if found.keys() > CLAIMED.keys()],
        }


def _part_of(column: str) -> tuple[str, str]:
    """The data set of a claim's column, and what the column tells; empty where that is nothing known."""
    for part, ending in CLAIMED.items():
        if column.endswith(ending):
            return column.removesuffix(ending), part
    return column, ""


def _grids(paper: Paper, name: str, artifact: Artifact, measured: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """A grid for each way of measuring, with what the paper printed beside it; one of that alone where nothing was measured."""
    printed = list(reported_cells(paper, name))
    about = {row["row"]: {key: row[key] for key in ABOUT if row.get(key)} for row in paper.reported(name)}
    views = {view: section.heading for view, section in artifact.views.items()} or {"": "Measured here"}
    for view, heading in views.items():
        cells = [cell for cell in measured if cell["view"] == view]
        if cells or (printed and view == next(iter(views))):
            yield _grid(heading, printed, cells, about, artifact)


def _grid(
    heading: str,
    printed: list[Cell],
    measured: list[dict[str, Any]],
    about: dict[str, dict[str, str]],
    artifact: Artifact,
) -> dict[str, Any]:
    flagged = {(flag.row, flag.column): number for number, flag in enumerate(artifact.flags, start=1)}
    groups: list[dict[str, Any]] = [
        {"name": "measured", "heading": heading, "columns": _distinct(cell["column"] for cell in measured)},
        {"name": "reported", "heading": "Printed by the paper", "columns": _distinct(cell.column for cell in printed)},
    ]
    by_place = _measured_places(measured) | _printed_places(printed, flagged)
    names = _distinct([*(cell["row"] for cell in measured), *(cell.row for cell in printed)])
    columns = [(group["name"], column) for group in groups for column in group["columns"]]
    _leave_room(list(by_place.items()))
    return {
        "heading": heading,
        "groups": [group for group in groups if group["columns"]],
        "rows": [
            {
                "name": row,
                "about": about.get(row, {}),
                "cells": [by_place.get((source, row, column), {}) for source, column in columns],
            }
            for row in names
        ],
        "spread": _spread(measured),
        "ranked": any(cell["rank"] for cell in by_place.values()),
    }


def _leave_room(cells: list[tuple[tuple[str, str, str], dict[str, Any]]]) -> None:
    """Have numbers without a spread leave the room of those with one, so that means stand below each other."""
    rooms: dict[tuple[str, str], str] = {}
    for (source, _, column), cell in cells:
        _, sign, spread = cell["text"].partition(SPREAD)
        rooms[source, column] = max(rooms.get((source, column), ""), sign + spread, key=len)
    for (source, _, column), cell in cells:
        cell["room"] = "" if SPREAD in cell["text"] or cell["value"] is None else rooms[source, column]


def _measured_places(cells: list[dict[str, Any]]) -> dict[tuple[str, str, str], dict[str, Any]]:
    """What the page shows of each measured cell, by source, row and column."""
    best = _measured_ranks(cells)
    return {
        ("measured", cell["row"], cell["column"]): {
            **{key: cell[key] for key in ("text", "value", "number", "state", "n")},
            "rank": best.get(cell["number"], 0),
        }
        for cell in cells
    }


def _printed_places(
    cells: list[Cell], flagged: dict[tuple[str, str], int]
) -> dict[tuple[str, str, str], dict[str, Any]]:
    """The same of each printed cell, with the number of what is said of its error."""
    best = ranks(cells)
    return {
        ("reported", cell.row, cell.column): {
            "text": cell.text,
            "value": cell.value,
            "rank": best.get(cell, 0),
            "flag": flagged.get((cell.row, cell.column), 0),
        }
        for cell in cells
    }


def _distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _measured_ranks(measured: list[dict[str, Any]]) -> dict[int, int]:
    """Best and second best of each measured column, by the cells' numbers."""
    cells = {
        Cell(cell["row"], cell["column"], "measured", str(cell["number"]), cell["value"]): cell["number"]
        for cell in measured
    }
    return {cells[cell]: rank for cell, rank in ranks(list(cells)).items()}


def _spread(measured: list[dict[str, Any]]) -> str:
    """Of how many seeds means are."""
    counts = Counter(cell["n"] for cell in measured if cell["spread"] is not None)
    if not counts:
        return ""
    return (
        f"mean ± sample standard deviation over n = {' or '.join(map(str, sorted(counts)))} seeds; without ±: one run"
    )


def _run(key: str, record: dict[str, Any], params: Params) -> dict[str, Any]:
    """What the page tells of a run, or of a data set's index; ``changed`` are the settings that are not its method's in params.yaml."""
    recipe, made = record["recipe"], record["made"]
    settings = recipe.get("settings", {})
    trained = "method" in recipe
    return {
        "key": key,
        "digest": record["digest"],
        "method": recipe.get("method", ""),
        "dataset": recipe["dataset"]["name"] if trained else recipe["dataset"],
        "seed": recipe.get("seed"),
        "settings": settings,
        "changed": _changed(recipe, params) if "method" in recipe else {},
        "backbone": recipe["backbone"]["name"] if recipe.get("backbone") else "",
        "inputs": {name: short(value) for name, value in record["inputs"].items()},
        "files": {name: short(entry["sha256"]) for name, entry in record["files"].items()},
        "checkpoint_of": recipe["checkpoint_of"]["name"] if recipe.get("checkpoint_of") else "",
        "code": f"{short(digest(recipe['code']))} ({len(recipe['code'])} modules)",
        "commit": short(made["commit"] or "none"),
        "dirty": made["dirty"] is not False,
        "started": made["started"],
        "seconds": made["seconds"],
        "host": made["host"],
        "device": made["device"],
    }


def _changed(recipe: dict[str, Any], params: Params) -> dict[str, Any]:
    """Of each setting that differs from its method's on this data set, what params.yaml has."""
    now = params.settings(recipe["method"], recipe["dataset"]["name"])
    return {name: now.get(name) for name, value in recipe["settings"].items() if now.get(name) != value}
