"""The published reports: every artifact's measured cells, the records behind them, and how these were made."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from pydantic_core import from_json

from recompose.digest import sha256_file
from recompose.errors import LineageError
from recompose.papers.declaration import Paper
from recompose.parts.cells import Cell
from recompose.recipes.plan import Recipe
from recompose.recipes.records import Build
from recompose.tables.lineage import WRONG, Lineage, wrong_lineage
from recompose.tables.provenance import PROVENANCE, Made, Provenance
from recompose.tracks import TRACKS
from recompose.workspace import Workspace

KEPT = "lineages"  # the folder below results/ with the lineage of each artifact that was made here


def headline_cells(paper: Paper, cells: Iterable[Cell]) -> dict[str, Cell]:
    """Return the cells of the track's headline metric on the first benchmark, in the first view: method -> cell.

    Args:
        paper: a paper.
        cells: the measured cells of the artifact that the paper's headline names.
    """
    cells = [cell for cell in cells if cell.metric == TRACKS[paper.track].headline and cell.n and not cell.part]
    return {
        cell.names[0]: cell
        for cell in reversed(cells)  # the first of a method counts
        if len(cell.names) == 1 and (cell.view, cell.benchmark) == (cells[0].view, cells[0].benchmark)
    }


def kept_lineage(work: Workspace, artifact: str) -> Path:
    """Return the file in which the job that makes an artifact keeps its lineage for the page."""
    return work.results / KEPT / work.reports.name / f"{artifact}.json"


def newer_lineage(work: Workspace, artifact: str) -> Path | None:
    """Return the file of a lineage that was kept after provenance.json was written; None if there is none."""
    path, published = kept_lineage(work, artifact), work.reports / PROVENANCE
    if not path.is_file():
        return None
    is_newer = not published.is_file() or path.stat().st_mtime_ns > published.stat().st_mtime_ns
    return path if is_newer else None


def _kept_contents(work: Workspace, artifact: str, lineage: Lineage) -> dict[str, str]:
    """Return the contents that an artifact was made from, as the job that made it says; none where it made others."""
    with suppress(*WRONG):
        kept = from_json(kept_lineage(work, artifact).read_bytes())
        if (kept["recipe"], kept["files"]) == (lineage.recipe, lineage.files):
            return dict(kept["contents"])
    return {}


def _newer_lineages(work: Workspace, names: Iterable[str]) -> dict[str, Lineage]:
    """Return the lineages of artifacts that were made after the page was, and whose files are as they say."""
    newer: dict[str, Lineage] = {}
    for name in names:
        with suppress(LineageError, *WRONG):
            if (path := newer_lineage(work, name)) is not None:
                lineage, folder = Lineage.read(path), (work.reports / name).parent
                if all(sha256_file(folder / file) == sha256 for file, sha256 in lineage.files.items()):
                    newer[name] = lineage
    return newer


@dataclass(frozen=True)
class PublishedLineage:
    """The lineage of each artifact that was made, by ``<paper>/<artifact>``."""

    lineages: dict[str, Lineage]
    made: dict[str, Build] = field(default_factory=dict)  # key -> when, where, from which sources, with which content
    values: dict[str, dict[str, float]] = field(default_factory=dict)  # evaluation -> its metrics
    contents: dict[str, dict[str, str]] = field(default_factory=dict)  # artifact -> key -> the content it was made from
    faults: dict[str, LineageError] = field(default_factory=dict)  # artifact -> why its lineage is none

    @classmethod
    def read(cls, work: Workspace, papers: Iterable[Paper], *, is_whole: bool = False) -> "PublishedLineage":
        """Read every valid lineage of papers in provenance.json, and those of artifacts that were made since.

        Args:
            work: the workspace of the reports.
            papers: the papers.
            is_whole: provenance.json alone counts, as what people get; the audit reports what is wrong with it.
        """
        names = [f"{paper.name}/{name}" for paper in papers for name in paper.artifacts]
        made, place = Made.read(work.reports), f"{work.reports_place}/{PROVENANCE}"
        try:
            provenance = Provenance.read(work.reports)
            values, (lineages, faults) = provenance.values, provenance.lineages(names, place)
            if sha256_file(work.reports / PROVENANCE) != made.provenance:
                values = {}  # nothing follows from numbers that were changed
        except FileNotFoundError:
            values, lineages, faults = {}, {}, {}
        except (LineageError, ValueError) as error:
            values, lineages, faults = {}, {}, dict.fromkeys(names, wrong_lineage(error, place))
        contents = {name: made.contents(name) or _kept_contents(work, name, each) for name, each in lineages.items()}
        if not is_whole:
            newer = _newer_lineages(work, names)
            lineages, contents = lineages | newer, contents | {name: each.contents for name, each in newer.items()}
        return cls(
            {name: lineages[name] for name in names if name in lineages},
            made.builds,
            {key: metrics | made.costs.get(key, {}) for key, metrics in values.items()},
            contents,
            faults,
        )

    @cached_property
    def records(self) -> dict[str, Recipe]:
        """The recipes of everything behind them, by key, such as ``runs/0123456789ab``."""
        return {key: record for lineage in self.lineages.values() for key, record in lineage.records.items()}

    def cells(self, artifact: str) -> list[Cell]:
        """Return the measured cells of an artifact; a figure has a cell for each of its rows and benchmarks."""
        return self.lineages[artifact].cells

    def is_synthetic(self, paper: Paper, benchmark: str) -> bool:
        """Whether the data of a benchmark is drawn here, as the lineages of a paper tell."""
        own = (lineage for name, lineage in self.lineages.items() if name.startswith(f"{paper.name}/"))
        data = (self.records.get(lineage.benchmarks.get(benchmark, "")) for lineage in own)
        return any(TRACKS[paper.track].is_synthetic(recipe) for recipe in data if recipe)

    @cached_property
    def _cells_by_key(self) -> dict[str, dict[str, list[Cell]]]:
        """The cells that rest on a stored folder: key -> artifact -> cells."""
        cells: dict[str, dict[str, list[Cell]]] = {}
        for name in self.lineages:
            for cell in self.cells(name):
                for key in self.lineages[name].closure(cell.made_from):
                    cells.setdefault(key, {}).setdefault(name, []).append(cell)
        return cells

    def reach(self, key: str) -> dict[str, list[Cell]]:
        """Return the cells that rest on a stored folder, by artifact."""
        return self._cells_by_key.get(key, {})

    def dependents(self, key: str) -> list[str]:
        """Return the keys of everything that was made directly from a stored folder."""
        digest = self.records[key].digest
        return [
            dependent
            for dependent, record in self.records.items()
            if digest in (need.digest for need in record.needs.values())
        ]
