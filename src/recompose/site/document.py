"""The content of the report site as plain values: a pure function of declarations, provenance, and an audit."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from recompose.audit.findings import Audit
from recompose.claims.cells import PARTS, note, verdict_counts, verdicts_by_benchmark
from recompose.claims.differences import number_text
from recompose.claims.outcome import generalisation, outcome, reading, scope_text
from recompose.digest import short
from recompose.errors import ParamsError
from recompose.files import Document, read_text
from recompose.papers.declaration import CLAIMS, FOREST, PRINTED, Claim, Paper
from recompose.params.schema import Params
from recompose.parts.cells import Cell
from recompose.phases import FOLLOWING
from recompose.recipes.plan import Recipe
from recompose.recipes.records import Build, code_text, flat
from recompose.recipes.state import CURRENT, STATES, UNCHECKED, State
from recompose.site.claims import claim_dialog
from recompose.site.scope import scope_of
from recompose.tables.artifacts import ABOUT, reported_cells
from recompose.tables.differing import ABSENT, differing, settings_of, value_text
from recompose.tables.formats import ranks
from recompose.tables.kinds import is_figure
from recompose.tables.measured import OVER_ROWS
from recompose.tables.provenance import MADE
from recompose.tables.published import Published, headline_cells
from recompose.tracks.track import Track

SPREAD = " ± "
SOURCES = ("measured", "reported")  # of the values in a grid
# what a press shows of a cell
SHOWN = ("row", "column", "view", "text", "n", "made_from", "aggregate")


@dataclass
class Shown:
    """A cell in its place on the page."""

    cell: Cell
    state: str = ""
    pressed: Document = field(default_factory=dict)  # what a press shows of a measured one
    number: int | None = None  # of what a press shows; None: it was printed
    rank: int = 0  # in its column, see ``ranks``
    flag: int = 0  # the number of the flag of a printed value
    room: str = ""  # the spread whose room it leaves


@dataclass
class Site:
    """The page while it is put together: measured cells are numbered, with what a press shows."""

    papers: list[Paper]
    published: Published
    audit: Audit
    params: Params
    tracks: Mapping[str, Track]
    _pressed: list[Document] = field(default_factory=list)  # what a press shows of each measured cell
    _dialogs: list[Document] = field(default_factory=list)  # of claims on data sets

    def document(self) -> Document:
        """Return the page's content."""
        papers = [self._paper(paper) for paper in self.papers]
        stored = {key: recipe for key, recipe in self.published.recipes.items() if recipe.kind not in FOLLOWING}
        kinds = Counter(recipe.kind for recipe in stored.values())
        return {
            "profile": self.params.profile,
            "scope": scope_of(self.published),
            "made": {"runs": kinds["runs"], "evaluations": kinds["evaluations"], "file": MADE},
            "audit": self.audit,
            "findings": _findings(self.audit),
            "states": _states(self.audit, papers),
            "verdicts": _sums_of_verdicts(papers),
            "papers": papers,
            "cells": self._pressed,
            "claims": self._dialogs,
            "stored": {
                key: _stored_folder(record, self.published.made.get(key), self._changed_settings(record))
                for key, record in stored.items()
            },
        }

    def _paper(self, paper: Paper) -> Document:
        artifacts = [self._artifact(paper, name) for name in paper.artifacts]
        about = ("name", "title", "is_comparison", "byline", "links")
        notes = paper.folder / "notes.md"
        return {
            **{part: getattr(paper, part) for part in about},
            "artifacts": artifacts,
            "headline": self._headline(paper, artifacts),
            "verdicts": list(self._verdicts(paper, artifacts)),
            "claims_not_run": sum(not claim["tested"] for artifact in artifacts for claim in artifact["claims"]),
            "notes": read_text(notes) if notes.exists() else "",
        }

    def _artifact(self, paper: Paper, name: str) -> Document:
        artifact, is_drawn = paper.artifacts[name], is_figure(paper, name)
        is_claims, is_printed = artifact.kind == CLAIMS, PRINTED.fullmatch(name)
        is_grid = not is_claims and not is_drawn
        measured = self._measured(paper, name, "figure" if is_drawn else CLAIMS if is_claims else "table")
        track = self.tracks[paper.track]
        printed = list(reported_cells(paper, name, track))
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
            "cells": measured,
            "measured": sum(bool(shown.cell.n) for shown in measured),
            "marks": sorted({shown.state for shown in measured} - {CURRENT}),
            "claims": list(self._claims(paper, name, measured)) if is_claims else [],
            "digits": digits if artifact.kind == FOREST else {},
            "quotations": [view for view in artifact.views.values() if view.says],
            "grids": list(_grids(paper, name, printed, measured)) if is_grid else [],
            "settings": differing_rows(self.published, [shown.cell for shown in measured]) if is_grid else [],
            "flags": artifact.flags,
            "files": [f"{paper.name}/{name}.{end}" for end in (("svg", "csv") if is_drawn else ("csv", "tex", "md"))],
        }

    def _measured(self, paper: Paper, name: str, kind: str) -> list[Shown]:
        """Number the measured cells of an artifact, and return them."""
        artifact, measured = f"{paper.name}/{name}", list[Shown]()
        if artifact not in self.published.cells:
            return []
        about = {"kind": kind, "title": title_of(name), "paper": paper.name, "artifact": artifact}
        for cell in self.published.cells[artifact]:
            state = self.audit.cells.get(artifact, {}).get(cell.key, State(UNCHECKED))
            digits = self.tracks[paper.track].description_of(cell.metric).digits if cell.values else 0
            values = [number_text(value, digits) for value in cell.values]
            pressed = {part: getattr(cell, part) for part in SHOWN} | {"values": values} | about
            pressed |= {"state": state.word, "why": list(state.why)}
            measured.append(Shown(cell, state.word, pressed, len(self._pressed)))
            self._pressed.append(pressed)
        return measured

    def _changed_settings(self, record: Recipe) -> Document:
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

    def _headline(self, paper: Paper, artifacts: list[Document]) -> Document | None:
        """Return the track's headline metric of the paper's own method, in the artifact that its headline names."""
        if paper.headline is None:
            return None
        artifact = next(artifact for artifact in artifacts if artifact["name"] == paper.first_artifact)
        cells = headline_cells(paper, [shown.cell for shown in artifact["cells"]])
        own = cells.get(paper.headline.method)
        return next((artifact | {"shown": shown} for shown in artifact["cells"] if shown.cell is own), None)

    def _claims(self, paper: Paper, artifact: str, measured: list[Shown]) -> Iterator[Document]:
        """Yield every claim with the reading of its verdict on each data set; add its dialogs."""
        for name, claim in paper.claims.items():
            by_benchmark: dict[str, dict[str, Shown]] = {}
            for shown in measured:
                if shown.cell.row == name and shown.cell.part in PARTS:
                    by_benchmark.setdefault(shown.cell.benchmark, {})[shown.cell.part] = shown
            whole = [parts for parts in by_benchmark.values() if len(parts) == len(PARTS)]
            yield {
                "name": name,
                "sentence": claim.sentence,
                "title": title_of(claim.artifact),
                "id": f"{paper.name}-{claim.artifact}",
                "tested": [self._tested(paper, artifact, claim, parts) for parts in whole],
            }

    def _tested(self, paper: Paper, artifact: str, claim: Claim, parts: dict[str, Shown]) -> Document:
        """Return a claim on a data set, and add its dialog, for every part of it."""
        verdict = parts["verdict"].cell
        is_synthetic = self.published.is_synthetic(paper, verdict.benchmark)
        table, interval = f"{paper.name}/{artifact}", parts["95 % interval"].cell.text
        track = self.tracks[paper.track]
        if dialog := claim_dialog(self.published, table, track, claim, verdict, interval, is_synthetic):
            for shown in parts.values():
                shown.pressed["claim"] = len(self._dialogs)
            self._dialogs.append(dialog)
        reason = verdict.text.partition(" (")[2].removesuffix(")")
        return {"parts": parts, "reason": reason, "reading": reading(verdict.verdict, is_synthetic)}

    def _verdicts(self, paper: Paper, artifacts: list[Document]) -> Iterator[Document]:
        """Yield the number of verdicts of each kind, for each data set."""
        claims = [claim for artifact in artifacts for claim in artifact["claims"]]
        verdicts = (tested["parts"]["verdict"].cell for claim in claims for tested in claim["tested"])
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
    counts = audit.words
    order = [state for state in STATES if counts[state]]
    return [{"state": state, "count": counts[state], "id": first.get(state, "")} for state in order]


def _sums_of_verdicts(papers: list[Document]) -> Document:
    """Return the number of papers' verdicts by reading, and of claims that were not run."""
    printed = [paper for paper in papers if not paper["is_comparison"]]
    counts = Counter[str]()
    for count in (count for paper in printed for verdicts in paper["verdicts"] for count in verdicts["counts"]):
        counts[count["reading"]] += count["count"]
    return {"counts": dict(+counts), "not_run": sum(paper["claims_not_run"] for paper in printed)}


def title_of(name: str) -> str:
    """Return an artifact's name as a heading."""
    return name.replace("-", " ").capitalize()


def _grids(paper: Paper, name: str, printed: list[Cell], measured: list[Shown]) -> Iterator[Document]:
    """Yield a grid for each view, with the printed values beside the measured ones.

    Without measured values there is one grid of the printed ones.
    """
    artifact = paper.artifacts[name]
    about = {row["row"]: {key: row[key] for key in ABOUT if row.get(key)} for row in paper.reported(name)}
    headings = {view: section.heading for view, section in artifact.views.items() if not section.says}
    views = headings or {"": "Measured here"}
    flags = {(flag.row, flag.column): number for number, flag in enumerate(artifact.flags, start=1)}
    for view, heading in views.items():
        of_view = [shown for shown in measured if shown.cell.view == view]
        if of_view or (printed and view == next(iter(views))):
            beside = [Shown(cell, flag=flags.get((cell.row, cell.column), 0)) for cell in printed]
            yield _grid(heading, [*of_view, *beside], about)


def _grid(heading: str, contents: list[Shown], about: Document) -> Document:
    cells = [shown.cell for shown in contents]
    rank_of, rooms = ranks(cells), dict[tuple[str, str], str]()
    for cell in cells:
        _, sign, spread = cell.text.partition(SPREAD)
        room = rooms.get((cell.source, cell.column), "")
        rooms[cell.source, cell.column] = max(room, sign + spread, key=len)
    for shown, cell in zip(contents, cells, strict=True):
        shown.rank = rank_of.get(cell, 0)
        # a number without a spread leaves the room of one, so that the means of a column are aligned
        shown.room = "" if SPREAD in cell.text or cell.value is None else rooms[cell.source, cell.column]
    columns = {source: dict.fromkeys(cell.column for cell in cells if cell.source == source) for source in SOURCES}
    return {
        "headings": {"measured": heading, "reported": "Printed by the paper"},
        "columns": {source: [*names] for source, names in columns.items() if names},
        "rows": {cell.row: about.get(cell.row, {}) for cell in cells},
        "cells": {(shown.cell.source, shown.cell.row, shown.cell.column): shown for shown in contents},
        "spread": _spread_note(cell for cell in cells if cell.source == "measured"),
        "ranked": any(shown.rank for shown in contents),
    }


def _spread_note(measured: Iterable[Cell]) -> str:
    """Return a note on the number of seeds; empty if all values are single runs."""
    counts = sorted({cell.n for cell in measured if cell.spread is not None and cell.n})
    seeds = " or ".join(map(str, counts))
    return f"mean ± sample standard deviation over n = {seeds} seeds; without ±: one run" if counts else ""


def differing_rows(published: Published, cells: Iterable[Cell]) -> list[Document]:
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
    return [
        {
            "rows": list(documents),
            "settings": [
                {"name": name, "values": [value_text(values.get(row, ABSENT)) for row in documents]}
                for name, values in settings.items()
            ],
        }
        for documents in rows.values()
        if (settings := differing(documents))
    ]


def _stored_folder(record: Recipe, build: Build | None, changed: Document) -> Document:
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
