"""The content of the report site as plain values: a pure function of declarations, lineages, and an audit."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from recompose.audit.findings import STATES, UNCHECKED, Audit, Trust
from recompose.claims.cells import PARTS, note, verdict_counts, verdicts_by_benchmark
from recompose.claims.differences import number_text
from recompose.claims.outcome import generalisation, outcome, reading, scope_text
from recompose.digest import short
from recompose.errors import ParamsError
from recompose.files import Document, read_text
from recompose.papers.declaration import CLAIMS, FOREST, PRINTED, Flag, Paper
from recompose.params.schema import Params
from recompose.parts.cells import Cell
from recompose.records import Build, Description, code_text, flat
from recompose.site.claims import claim_dialog
from recompose.site.scope import scope_of
from recompose.tables.artifacts import ABOUT, reported_cells
from recompose.tables.differing import ABSENT, differing, settings_of, value_text
from recompose.tables.formats import ranks
from recompose.tables.kinds import is_figure
from recompose.tables.lineage import MADE
from recompose.tables.measured import OVER_ROWS
from recompose.tables.published import PublishedLineage, headline_cells
from recompose.tracks.track import Track

SPREAD = " ± "
SOURCES = ("measured", "reported")  # of the values in a grid
# what a click shows of a cell
SHOWN = ("row", "column", "view", "text", "n", "made_from", "missing", "aggregate")
Place = tuple[str, str, str]  # source, row and column of a value in a grid


@dataclass
class Site:
    """The page while it is put together: measured cells are numbered, with what a click shows."""

    papers: list[Paper]
    published: PublishedLineage
    audit: Audit
    params: Params
    tracks: Mapping[str, Track]
    _cells: list[Document] = field(init=False)
    _dialogs: list[Document] = field(init=False)  # of claims on data sets
    _numbers: dict[tuple[str, tuple[str, ...]], int] = field(init=False)  # of cells, by artifact and key

    def document(self) -> Document:
        """Return the page's content."""
        self._cells, self._dialogs, self._numbers = [], [], {}
        papers = [self._paper(paper) for paper in self.papers]
        kinds = Counter(record.kind for record in self.published.records.values())
        return {
            "profile": self.params.profile,
            "scope": scope_of(self.published),
            "made": {"runs": kinds["runs"], "evaluations": kinds["evaluations"], "file": MADE},
            "audit": self.audit,
            "findings": _findings(self.audit),
            "states": _states(self.audit, papers),
            "verdicts": _sums_of_verdicts(papers),
            "papers": papers,
            "cells": self._cells,
            "claims": self._dialogs,
            "stored": {
                key: _stored_folder(record, self.published.made.get(key), self._changed_settings(record))
                for key, record in self.published.records.items()
            },
        }

    def _paper(self, paper: Paper) -> Document:
        artifacts = [self._artifact(paper, name) for name in paper.artifacts]
        about = ("name", "title", "is_comparison", "byline", "links")
        notes = paper.folder / "notes.md"
        return {
            **{part: getattr(paper, part) for part in about},
            "artifacts": artifacts,
            "headline": self._headline(paper),
            "verdicts": list(self._verdicts(paper, artifacts)),
            "claims_not_run": sum(not claim["tested"] for artifact in artifacts for claim in artifact["claims"]),
            "notes": read_text(notes) if notes.exists() else "",
        }

    def _artifact(self, paper: Paper, name: str) -> Document:
        artifact, measured = paper.artifacts[name], self._number(paper, name)
        printed = list(reported_cells(paper, name, self.tracks[paper.track]))
        is_drawn, is_claims, is_printed = is_figure(paper, name), artifact.kind == CLAIMS, PRINTED.fullmatch(name)
        is_grid = not is_claims and not is_drawn
        track = self.tracks[paper.track]
        digits = {claim: track.description_of(declared.metric).digits for claim, declared in paper.claims.items()}
        return {
            "name": name,
            "id": f"{paper.name}-{name}",
            "title": title_of(name),
            "caption": artifact.caption,
            "note": note(paper, artifact) if is_claims else artifact.note,
            "printed": bool(is_printed),
            "in_words": bool(printed) and all(cell.value is None for cell in printed),
            "ours": not paper.is_comparison and not is_printed and not is_claims,
            "measured": sum(bool(entry["cell"].n) for entry in measured),
            "marks": sorted({entry["state"] for entry in measured} - {"current"}),
            "claims": list(self._claims(paper, name, measured)) if is_claims else [],
            "digits": digits if artifact.kind == FOREST else {},
            "cells": measured if is_drawn else [],
            "quotations": [view for view in artifact.views.values() if view.says],
            "grids": list(_grids(paper, name, printed, measured)) if is_grid else [],
            "settings": differing_rows(self.published, [entry["cell"] for entry in measured]) if is_grid else [],
            "flags": artifact.flags,
            "files": [f"{paper.name}/{name}.{end}" for end in (("svg", "csv") if is_drawn else ("csv", "tex", "md"))],
        }

    def _number(self, paper: Paper, name: str) -> list[Document]:
        """Number the measured cells of an artifact, and return them with their states."""
        artifact = f"{paper.name}/{name}"
        if artifact not in self.published.lineages:
            return []
        trusts, measured = self.audit.trusts.get(artifact, {}), list[Document]()
        kind = "figure" if is_figure(paper, name) else CLAIMS if paper.artifacts[name].kind == CLAIMS else "table"
        for cell in self.published.cells(artifact):
            number, trust = len(self._cells), trusts.get(cell.key, Trust(UNCHECKED))
            self._numbers[artifact, cell.key] = number
            about = {"kind": kind, "title": title_of(name), "paper": paper.name, "artifact": artifact}
            shown, values = {part: getattr(cell, part) for part in SHOWN}, _value_texts(self.tracks[paper.track], cell)
            self._cells.append({**shown, "values": values, **about, "state": trust.state, "why": list(trust.why)})
            measured.append({"cell": cell, "number": number, "text": cell.text, "state": trust.state})
        return measured

    def _changed_settings(self, record: Description) -> Document:
        """Return the value in params.yaml of each setting of a record that differs from it.

        Empty if params.yaml no longer has the method.
        """
        labels, settings = record.labels, record.document.get("settings")
        if settings is None or record.track not in self.params.tracks:
            return {}
        try:
            track = self.tracks[record.track]
            now = dict(flat(track.settings(self.params, labels["method"], labels["dataset"])))
        except (KeyError, ParamsError):
            return {}
        return {f"settings.{name}": now.get(name) for name, value in flat(settings) if now.get(name) != value}

    def _headline(self, paper: Paper) -> Document | None:
        """Return the track's headline metric of the paper's own method, in the artifact that its headline names."""
        name = paper.first_artifact
        lineage = self.published.lineages.get(artifact := f"{paper.name}/{name}")
        if not (paper.headline and lineage):
            return None
        cell = headline_cells(paper, lineage.cells).get(paper.headline.method)
        if cell is None:
            return None
        number = self._numbers[artifact, cell.key]
        return self._cells[number] | {"number": number, "id": f"{paper.name}-{name}", "title": title_of(name)}

    def _claims(self, paper: Paper, artifact: str, measured: list[Document]) -> Iterator[Document]:
        """Yield every claim with the reading of its verdict on each data set; add its dialogs."""
        for name, claim in paper.claims.items():
            by_benchmark: dict[str, Document] = {}
            for entry in measured:
                if entry["cell"].row == name and entry["cell"].part in PARTS:
                    by_benchmark.setdefault(entry["cell"].benchmark, {})[entry["cell"].part] = entry
            tested = {benchmark: parts for benchmark, parts in by_benchmark.items() if len(parts) == len(PARTS)}
            yield {
                "name": name,
                "sentence": claim.sentence,
                "title": title_of(claim.artifact),
                "id": f"{paper.name}-{claim.artifact}",
                "tested": [self._tested(paper, artifact, name, benchmark, tested[benchmark]) for benchmark in tested],
            }

    def _tested(self, paper: Paper, artifact: str, claim: str, benchmark: str, parts: Document) -> Document:
        """Return a claim on a data set, and add its dialog, for every part of it."""
        verdict, is_synthetic = parts["verdict"]["cell"], self.published.is_synthetic(paper, benchmark)
        lineage = self.published.lineages[f"{paper.name}/{artifact}"]
        interval = parts["95 % interval"]["text"]
        track, declared = self.tracks[paper.track], paper.claims[claim]
        if dialog := claim_dialog(lineage, track, declared, verdict, interval, is_synthetic):
            for part in PARTS:
                self._cells[parts[part]["number"]]["claim"] = len(self._dialogs)
            self._dialogs.append(dialog)
        reason = verdict.text.partition(" (")[2].removesuffix(")")
        about = {"dataset": benchmark, "kind": verdict.verdict, "reason": reason}
        return {**parts, **about, "reading": reading(verdict.verdict, is_synthetic)}

    def _verdicts(self, paper: Paper, artifacts: list[Document]) -> Iterator[Document]:
        """Yield the number of verdicts of each kind, for each data set."""
        claims = [claim for artifact in artifacts for claim in artifact["claims"]]
        verdicts = (tested["verdict"]["cell"] for claim in claims for tested in claim["tested"])
        for dataset, cells in verdicts_by_benchmark(verdicts).items():
            is_synthetic = self.published.is_synthetic(paper, dataset)
            yield {
                "scope": scope_text(dataset, is_synthetic, (cell.n or 0 for cell in cells)),
                "counts": [
                    {"kind": verdict, "reading": reading(verdict, is_synthetic), "count": count}
                    for verdict, count in verdict_counts(cells).items()
                ],
                "outcome": outcome(dataset, is_synthetic, cells),
                "generalisation": generalisation(is_synthetic),
            }


def _findings(audit: Audit) -> list[Document]:
    """Return the findings of an audit by state and reason, with the places of each."""
    places: dict[tuple[str, str], list[str]] = {}
    for finding in audit.findings:
        places.setdefault((finding.state, finding.why), []).append(finding.place)
    return [{"state": state, "why": why, "places": names} for (state, why), names in places.items()]


def _states(audit: Audit, papers: list[Document]) -> list[Document]:
    """Return the number of measured cells in each state, the worst first, and the first artifact with one."""
    artifacts = [artifact for paper in papers for artifact in paper["artifacts"]]
    first = {mark: artifact["id"] for artifact in reversed(artifacts) for mark in artifact["marks"]}
    counts = audit.cells
    order = [state for state in STATES if counts[state]]
    return [{"state": state, "count": counts[state], "id": first.get(state, "")} for state in order]


def _sums_of_verdicts(papers: list[Document]) -> Document:
    """Return the number of papers' verdicts by reading, and of claims that were not run."""
    printed = [paper for paper in papers if not paper["is_comparison"]]
    counts = Counter[str]()
    for count in (count for paper in printed for verdicts in paper["verdicts"] for count in verdicts["counts"]):
        counts[count["reading"]] += count["count"]
    return {"counts": dict(+counts), "not_run": sum(paper["claims_not_run"] for paper in printed)}


def _value_texts(track: Track, cell: Cell) -> list[str]:
    """Return the values of a cell's evaluations, with the digits of its metric."""
    digits = track.description_of(cell.metric).digits if cell.values else 0
    return [number_text(value, digits) for value in cell.values]


def title_of(name: str) -> str:
    """Return an artifact's name as a heading."""
    return name.replace("-", " ").capitalize()


def _grids(paper: Paper, name: str, printed: list[Cell], measured: list[Document]) -> Iterator[Document]:
    """Yield a grid for each view, with the printed values beside the measured ones.

    Without measured values there is one grid of the printed ones.
    """
    artifact = paper.artifacts[name]
    about = {row["row"]: {key: row[key] for key in ABOUT if row.get(key)} for row in paper.reported(name)}
    headings = {view: section.heading for view, section in artifact.views.items() if not section.says}
    views = headings or {"": "Measured here"}
    for view, heading in views.items():
        cells = [entry for entry in measured if entry["cell"].view == view]
        if cells or (printed and view == next(iter(views))):
            yield _grid(heading, printed, cells, about, artifact.flags)


def _grid(heading: str, printed: list[Cell], measured: list[Document], about: Document, flags: list[Flag]) -> Document:
    numbers = {(flag.row, flag.column): number for number, flag in enumerate(flags, start=1)}
    contents = {entry["cell"]: entry for entry in measured} | {cell: {"text": cell.text} for cell in printed}
    rank_of, by_place = ranks([*contents]), dict[Place, Document]()
    for cell, content in contents.items():
        more = {"value": cell.value, "rank": rank_of.get(cell, 0)}
        if cell.source == "reported":
            more["flag"] = numbers.get((cell.row, cell.column), 0)
        by_place[cell.source, cell.row, cell.column] = content | more
    _align(list(by_place.items()))
    columns = {source: _distinct(cell.column for cell in contents if cell.source == source) for source in SOURCES}
    return {
        "headings": {"measured": heading, "reported": "Printed by the paper"},
        "columns": {source: names for source, names in columns.items() if names},
        "rows": {row: about.get(row, {}) for row in _distinct(cell.row for cell in contents)},
        "cells": by_place,
        "spread": _spread_note(entry["cell"] for entry in measured),
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


def _distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _spread_note(measured: Iterable[Cell]) -> str:
    """Return a note on the number of seeds; empty if all values are single runs."""
    counts = sorted({cell.n for cell in measured if cell.spread is not None and cell.n})
    seeds = " or ".join(map(str, counts))
    return f"mean ± sample standard deviation over n = {seeds} seeds; without ±: one run" if counts else ""


def differing_rows(published: PublishedLineage, cells: Iterable[Cell]) -> list[Document]:
    """Return a table for each method that several rows show: its rows, and the settings in which they differ.

    Rows are compared by the first run of their first data set. Rows that differ only in what is evaluated have none.

    Args:
        published: the reports.
        cells: the measured cells of an artifact.
    """
    rows: dict[str, dict[str, Document]] = {}  # method -> row -> settings
    for cell in cells:
        first = published.recipes.get(cell.made_from[0]) if cell.made_from and cell.aggregate != OVER_ROWS else None
        if first and first.kind == "evaluations":
            settings = settings_of(first)
            rows.setdefault(settings["method"], {}).setdefault(cell.row, settings)
    return [table for documents in rows.values() for table in _table(documents)]


def _table(documents: dict[str, Document]) -> Iterator[Document]:
    """Yield the table of a method, if its rows differ."""
    settings = [
        {"name": name, "values": [value_text(values.get(row, ABSENT)) for row in documents]}
        for name, values in differing(documents).items()
    ]
    if settings:
        yield {"rows": list(documents), "settings": settings}


def _stored_folder(record: Description, build: Build | None, changed: Document) -> Document:
    """Return the details of a stored folder, with the settings that differ from params.yaml."""
    settings = dict(flat(record.document))
    return {
        **{part: getattr(record, part) for part in ("kind", "name", "digest")},
        "seed": record.labels.get("seed"),
        "settings": settings,
        "changed": changed,
        "needs": [need.key for need in record.needs.values()],
        "inputs": {name: short(value) for name, value in build.inputs.items()} if build else {},
        "files": {name: short(entry.sha256) for name, entry in build.files.items()} if build else {},
        "code": code_text(record.code),
    }
