"""The content of the report site as plain values: a pure function of declarations, lineages, and an audit."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from recompose.audit.findings import STATES, UNCHECKED, Audit, Trust
from recompose.claims.cells import PARTS, note, verdict_counts
from recompose.claims.differences import number_text
from recompose.claims.outcome import generalisation, outcome, reading, scope_text
from recompose.digest import short
from recompose.errors import ParamsError
from recompose.files import Document, read_text
from recompose.papers.declaration import CLAIMS, FOREST, PRINTED, Artifact, Paper, View
from recompose.params import Params
from recompose.records import Build, Description, code_text, flat
from recompose.site.claims import claim_dialog
from recompose.site.scope import Scope
from recompose.site.settings import differing_rows
from recompose.tables.cells import Cell
from recompose.tables.formats import ranks
from recompose.tables.kinds import is_figure, kind_of
from recompose.tables.lineage import MADE
from recompose.tables.published import PublishedLineage, headline_cell
from recompose.tables.table import ABOUT, reported_cells
from recompose.tracks import TRACKS

SPREAD = " ± "
# parts of a cell that a click shows
SHOWN_PARTS = (
    *("row", "column", "view", "text", "n"),
    *("made_from", "missing", "names", "metric", "aggregate"),
)
Place = tuple[str, str, str]  # source, row and column of a value in a grid


@dataclass(frozen=True)
class Site:
    """The inputs of the page."""

    papers: list[Paper]
    published: PublishedLineage
    audit: Audit
    params: Params

    def document(self) -> Document:
        """Return the page's content."""
        cells = _Cells(self.published, self.audit)
        papers = [self._paper(paper, cells) for paper in self.papers]
        return {
            "profile": self.params.profile,
            "scope": Scope.of(self.published),
            "made": _counts(self.published),
            "audit": _audit_summary(self.audit) | {"states": _states(self.audit, papers)},
            "papers": papers,
            "cells": cells.all,
            "claims": cells.claims,
            "stored": self._stored(self.published.records),
        }

    def stored_folders(self, paper: Paper) -> Document:
        """Return the details of the stored folders behind a paper's artifacts."""
        records: dict[str, Description] = {}
        for artifact in paper.artifacts:
            if lineage := self.published.lineages.get(f"{paper.name}/{artifact}"):
                records |= lineage.records
        return self._stored(records)

    def _stored(self, records: Mapping[str, Description]) -> Document:
        return {
            key: _stored_folder(key, record, self.published.made.get(key), self.params)
            for key, record in records.items()
        }

    def _paper(self, paper: Paper, cells: "_Cells") -> Document:
        artifacts = [_artifact(paper, name, cells) for name in paper.artifacts]
        self._add_claims(paper, artifacts, cells)
        claims = [claim for artifact in artifacts for claim in artifact["claims"]]
        printed = [artifact for artifact in artifacts if artifact["printed"]]
        return {
            "name": paper.name,
            "title": paper.title,
            "is_comparison": paper.is_comparison,
            "byline": paper.byline,
            "links": paper.links,
            "artifacts": artifacts,
            "printed": len(printed),
            "unmeasured": [
                {"id": artifact["id"], "title": artifact["title"], "in_words": _is_in_words(paper, artifact["name"])}
                for artifact in printed
                if not artifact["measured"]
            ],
            "measured": sum(artifact["measured"] > 0 for artifact in printed),
            "numbers": sum(artifact["measured"] for artifact in artifacts),
            "headline": cells.headline(paper),
            "verdicts": list(self._verdicts(paper, claims)),
            "notes": _notes(paper),
        }

    def _add_claims(self, paper: Paper, artifacts: list[Document], cells: "_Cells") -> None:
        """Add what the page says of each claim on each data set: the reading of its verdict, and its dialog."""
        for artifact in artifacts:
            for claim in artifact["claims"]:
                for parts in claim["tested"]:
                    is_synthetic = self.published.is_synthetic(paper, parts["dataset"])
                    parts["reading"] = reading(parts["kind"], is_synthetic)
                    cells.add_claim(paper, f"{paper.name}/{artifact['name']}", claim["name"], parts, is_synthetic)

    def _verdicts(self, paper: Paper, claims: list[Document]) -> Iterator[Document]:
        """Yield the number of verdicts of each kind, for each data set."""
        tests = [test for claim in claims for test in claim["tested"]]
        for dataset in _distinct(test["dataset"] for test in tests):
            here = [test for test in tests if test["dataset"] == dataset]
            cells = [test["verdict"]["cell"] for test in here]
            is_synthetic = self.published.is_synthetic(paper, dataset)
            yield {
                "scope": scope_text(dataset, is_synthetic, (cell.n or 0 for cell in cells)),
                "synthetic": is_synthetic,
                "counts": [
                    {"kind": verdict, "reading": reading(verdict, is_synthetic), "count": count}
                    for verdict, count in verdict_counts(cells).items()
                ],
                "outcome": outcome(dataset, is_synthetic, cells),
                "generalisation": generalisation(is_synthetic),
            }


def _notes(paper: Paper) -> str:
    path = paper.folder / "notes.md"
    return read_text(path) if path.exists() else ""


def _counts(published: PublishedLineage) -> Document:
    """Return the number of runs and evaluations, and the file of their build info."""
    kinds = Counter(record.kind for record in published.records.values())
    return {"runs": kinds["runs"], "evaluations": kinds["evaluations"], "file": MADE}


def _audit_summary(audit: Audit) -> Document:
    """Return the audit in short: its findings by state and reason, with the places of each."""
    places: dict[tuple[str, str], list[str]] = {}
    for finding in audit.findings:
        places.setdefault((finding.state, finding.why), []).append(finding.place)
    return {
        "clean": audit.clean and not audit.unchecked,
        "outcome": audit.outcome,
        "evaluations": audit.evaluations,
        "recomputed": audit.recomputed,
        "files": audit.files,
        "findings": [{"state": state, "why": why, "places": names} for (state, why), names in places.items()],
        "unchecked": audit.unchecked,
        "count": len(audit.findings),
    }


def _states(audit: Audit, papers: list[Document]) -> list[Document]:
    """Return the number of measured cells in each state, the worst first, and the first artifact with one."""
    marked = [
        (mark, artifact["id"]) for paper in papers for artifact in paper["artifacts"] for mark in artifact["marks"]
    ]
    first = dict(reversed(marked))
    counts = audit.cells
    order = [state for state in STATES if counts[state]]
    return [{"state": state, "count": counts[state], "id": first.get(state, "")} for state in order]


class _Cells:
    """The measured cells of all artifacts, numbered, with the details that a click shows."""

    def __init__(self, published: PublishedLineage, audit: Audit) -> None:
        self._published, self._audit = published, audit
        self.all: list[Document] = []
        self.claims: list[Document] = []  # the dialogs of claims on data sets
        self._numbers: dict[tuple[str, tuple[str, ...]], int] = {}  # of cells, by artifact and key

    def settings(self, measured: Iterable[Document]) -> list[Document]:
        """Return the settings in which rows of an artifact differ."""
        return differing_rows(self._published, (cell["cell"] for cell in measured))

    def number(self, paper: Paper, name: str) -> list[Document]:
        """Number the measured cells of an artifact, and return them."""
        artifact = f"{paper.name}/{name}"
        if artifact not in self._published.lineages:
            return []
        trusts = self._audit.trusts.get(artifact, {})
        numbered, kind = [], kind_of(paper, name)
        for cell in self._published.cells(artifact):
            number, content = len(self.all), {**dict(cell), "aggregate": cell.aggregate}
            trust = trusts.get(cell.key, Trust(UNCHECKED))
            self._numbers[artifact, cell.key] = number
            self.all.append(
                {
                    **{part: content[part] for part in SHOWN_PARTS},
                    "values": _value_texts(paper, cell),
                    "kind": kind,
                    "title": title_of(name),
                    "state": trust.state,
                    "why": list(trust.why),
                    "paper": paper.name,
                    "artifact": artifact,
                    "file": artifact,
                }
            )
            numbered.append({**content, "cell": cell, "number": number, "state": self.all[-1]["state"]})
        return numbered

    def add_claim(self, paper: Paper, artifact: str, name: str, parts: Document, is_synthetic: bool) -> None:
        """Add the dialog of a claim on a data set, for its verdict and its estimate."""
        lineage, verdict = self._published.lineages[artifact], parts["verdict"]["cell"]
        dialog = claim_dialog(lineage, paper.claims[name], verdict, parts["95 % interval"]["text"], is_synthetic)
        if dialog:
            for part in PARTS:
                self.all[parts[part]["number"]]["claim"] = len(self.claims)
            self.claims.append(dialog)

    def headline(self, paper: Paper) -> Document | None:
        """Return the track's headline metric of the paper's own method, in the artifact that its headline names."""
        name = paper.first_artifact
        artifact = f"{paper.name}/{name}"
        lineage = self._published.lineages.get(artifact)
        cell = headline_cell(paper, lineage.cells) if lineage else None
        if cell is None:
            return None
        number = self._numbers[artifact, cell.key]
        return self.all[number] | {"number": number, "id": f"{paper.name}-{name}", "title": title_of(name)}


def _is_in_words(paper: Paper, name: str) -> bool:
    """Return True if a paper printed words and no numbers in a table."""
    printed = list(reported_cells(paper, name))
    return bool(printed) and all(cell.value is None for cell in printed)


def _value_texts(paper: Paper, cell: Cell) -> list[str]:
    """Return the values of a cell's evaluations, with the digits of its metric."""
    if not cell.values:
        return []
    digits = TRACKS[paper.track].description_of(cell.metric).digits
    return [number_text(value, digits) for value in cell.values]


def title_of(name: str) -> str:
    """Return an artifact's name as a heading."""
    return name.replace("-", " ").capitalize()


def _artifact(paper: Paper, name: str, cells: _Cells) -> Document:
    artifact, measured = paper.artifacts[name], cells.number(paper, name)
    endings = ("svg", "csv") if is_figure(paper, name) else ("csv", "tex", "md")
    is_claims = artifact.kind == CLAIMS
    return {
        "name": name,
        "id": f"{paper.name}-{name}",
        "title": title_of(name),
        "caption": artifact.caption,
        "note": note(paper, artifact) if is_claims else artifact.note,
        "printed": bool(PRINTED.fullmatch(name)),
        "ours": not paper.is_comparison and not PRINTED.fullmatch(name) and not is_claims,
        "measured": sum(bool(cell["n"]) for cell in measured),
        "marks": sorted({cell["state"] for cell in measured} - {"current"}),
        "claims": list(_claims(paper, measured)) if is_claims else [],
        "digits": _digits_by_claim(paper) if artifact.kind == FOREST else {},
        "cells": measured if is_figure(paper, name) else [],
        "quotations": [_quotations(view) for view in artifact.views.values() if view.says],
        "grids": [] if is_claims or is_figure(paper, name) else list(_grids(paper, name, artifact, measured)),
        "settings": [] if is_claims or is_figure(paper, name) else cells.settings(measured),
        "flags": [{"row": flag.row, "column": flag.column, "text": flag.text} for flag in artifact.flags],
        "files": [f"{paper.name}/{name}.{ending}" for ending in endings],
    }


def _digits_by_claim(paper: Paper) -> dict[str, int]:
    track = TRACKS[paper.track]
    return {name: track.description_of(claim.metric).digits for name, claim in paper.claims.items()}


def _quotations(view: View) -> Document:
    """Return the quotations of sources on the rows of a view."""
    sources = _distinct(source for texts in view.says.values() for source in texts)
    rows = [{"name": row, "texts": [texts.get(source, "") for source in sources]} for row, texts in view.says.items()]
    return {"heading": view.heading, "sources": sources, "rows": rows}


def _claims(paper: Paper, measured: list[Document]) -> Iterator[Document]:
    """Yield every claim with its verdict on each data set."""
    for name, claim in paper.claims.items():
        by_benchmark: dict[str, Document] = {}
        for cell in measured:
            if cell["row"] == name and cell["part"] in PARTS:
                parts = by_benchmark.setdefault(cell["benchmark"], {"dataset": cell["benchmark"]})
                parts[cell["part"]] = cell
                if cell["part"] == "verdict":
                    kind, _, reason = cell["text"].partition(" (")
                    parts |= {"kind": kind, "reason": reason.removesuffix(")")}
        yield {
            "name": name,
            "sentence": claim.sentence,
            "title": title_of(claim.artifact),
            "id": f"{paper.name}-{claim.artifact}",
            "tested": [parts for parts in by_benchmark.values() if parts.keys() >= {*PARTS}],
        }


def _grids(paper: Paper, name: str, artifact: Artifact, measured: list[Document]) -> Iterator[Document]:
    """Yield a grid for each view, with the printed values beside the measured ones.

    Without measured values there is one grid of the printed ones.
    """
    printed = list(reported_cells(paper, name))
    about = {row["row"]: {key: row[key] for key in ABOUT if row.get(key)} for row in paper.reported(name)}
    headings = {view: section.heading for view, section in artifact.views.items() if not section.says}
    views = headings or {"": "Measured here"}
    for view, heading in views.items():
        cells = [cell for cell in measured if cell["view"] == view]
        if cells or (printed and view == next(iter(views))):
            yield _grid(heading, printed, cells, about, artifact)


def _grid(
    heading: str,
    printed: list[Cell],
    measured: list[Document],
    about: dict[str, dict[str, str]],
    artifact: Artifact,
) -> Document:
    flagged = {(flag.row, flag.column): number for number, flag in enumerate(artifact.flags, start=1)}
    groups: list[Document] = [
        {"name": "measured", "heading": heading, "columns": _distinct(cell["column"] for cell in measured)},
        {"name": "reported", "heading": "Printed by the paper", "columns": _distinct(cell.column for cell in printed)},
    ]
    by_place = _measured_values(measured) | _printed_values(printed, flagged)
    names = _distinct([*(cell["row"] for cell in measured), *(cell.row for cell in printed)])
    columns = [(group["name"], column) for group in groups for column in group["columns"]]
    _align(list(by_place.items()))
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
        "spread": _spread_note(measured),
        "ranked": any(cell["rank"] for cell in by_place.values()),
    }


def _align(cells: list[tuple[Place, Document]]) -> None:
    """Let numbers without a spread leave the room of a spread, so that the means of a column are aligned."""
    rooms: dict[tuple[str, str], str] = {}
    for (source, _, column), cell in cells:
        _, sign, spread = cell["text"].partition(SPREAD)
        rooms[source, column] = max(rooms.get((source, column), ""), sign + spread, key=len)
    for (source, _, column), cell in cells:
        cell["room"] = "" if SPREAD in cell["text"] or cell["value"] is None else rooms[source, column]


def _measured_values(cells: list[Document]) -> dict[Place, Document]:
    """Return the content of each measured cell of a grid, by place."""
    rank_of = ranks([cell["cell"] for cell in cells])
    return {
        ("measured", cell["row"], cell["column"]): {
            **{key: cell[key] for key in ("text", "value", "number", "state", "n")},
            "rank": rank_of.get(cell["cell"], 0),
        }
        for cell in cells
    }


def _printed_values(cells: list[Cell], flagged: dict[tuple[str, str], int]) -> dict[Place, Document]:
    """Return the content of each printed cell of a grid, by place, with the number of the note on its error."""
    rank_of = ranks(cells)
    return {
        ("reported", cell.row, cell.column): {
            "text": cell.text,
            "value": cell.value,
            "rank": rank_of.get(cell, 0),
            "flag": flagged.get((cell.row, cell.column), 0),
        }
        for cell in cells
    }


def _distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _spread_note(measured: list[Document]) -> str:
    """Return a note on the number of seeds; empty if all values are single runs."""
    counts = Counter(cell["n"] for cell in measured if cell["spread"] is not None)
    if not counts:
        return ""
    return (
        f"mean ± sample standard deviation over n = {' or '.join(map(str, sorted(counts)))} seeds; without ±: one run"
    )


def _stored_folder(key: str, record: Description, build: Build | None, params: Params) -> Document:
    """Return the details of a stored folder; ``changed`` are the settings that differ from params.yaml."""
    settings = dict(flat(record.document))
    return {
        "key": key,
        "kind": record.kind,
        "name": record.name,
        "digest": record.digest,
        "seed": record.labels.get("seed"),
        "settings": settings,
        "changed": _changed_settings(record, params),
        "needs": [need.key for need in record.needs.values()],
        "inputs": {name: short(value) for name, value in build.inputs.items()} if build else {},
        "files": {name: short(entry.sha256) for name, entry in build.files.items()} if build else {},
        "code": code_text(record.code),
    }


def _changed_settings(record: Description, params: Params) -> Document:
    """Return the value in params.yaml of each setting of a record that differs from it.

    Empty if params.yaml no longer has the method.
    """
    labels, settings = record.labels, record.document.get("settings")
    if settings is None or record.track not in params.tracks:
        return {}
    try:
        now = dict(flat(TRACKS[record.track].settings(params, labels["method"], labels["dataset"])))
    except (KeyError, ParamsError):
        return {}
    return {f"settings.{name}": now.get(name) for name, value in flat(settings) if now.get(name) != value}
