"""The published reports: every artifact's measured cells, the records behind them, and how these were made."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from pydantic import TypeAdapter

from recompose.digest import sha256_file
from recompose.errors import LineageError
from recompose.files import read_json, write_json
from recompose.papers.declaration import Paper
from recompose.parts.cells import Cell
from recompose.recipes.plan import Recipe
from recompose.recipes.records import Build
from recompose.tables.lineage import SUFFIX, WRONG, Contents, Lineage, Made, lineage_path, read_values
from recompose.tracks import TRACKS
from recompose.workspace import Workspace

CONTENTS = "contents"  # the folder below results/ with what each artifact was made from


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


def read_lineages(reports: Path, papers: Iterable[Paper]) -> dict[str, Lineage]:
    """Read every valid lineage of papers in a folder of reports, by ``<paper>/<artifact>``."""
    lineages = {}
    for paper in papers:
        for name in paper.artifacts:
            with suppress(LineageError):
                lineages[f"{paper.name}/{name}"] = Lineage.read(reports / paper.name / f"{name}{SUFFIX}")
    return lineages


@dataclass(frozen=True)
class PublishedLineage:
    """The lineage of each artifact that was made, by ``<paper>/<artifact>``."""

    lineages: dict[str, Lineage]
    made: dict[str, Build] = field(default_factory=dict)  # key -> when, where, from which sources, with which content
    values: dict[str, dict[str, float]] = field(default_factory=dict)  # evaluation -> its metrics
    contents: dict[str, dict[str, str]] = field(default_factory=dict)  # artifact -> key -> the content it was made from

    @classmethod
    def read(cls, work: Workspace, papers: Iterable[Paper]) -> "PublishedLineage":
        """Read every valid lineage of papers in the folder of reports; the audit reports the invalid ones."""
        return cls.of(work, read_lineages(work.reports, papers))

    @classmethod
    def of(cls, work: Workspace, lineages: dict[str, Lineage]) -> "PublishedLineage":
        """Return these lineages with what the reports hold of how everything behind them was made."""
        made = Made.read(work.reports)
        contents = {name: read_contents(work, name, made) for name in lineages}
        return cls(lineages, made.builds, read_values(work.reports, made), contents)

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


def write_contents(work: Workspace, artifact: str, contents: dict[str, str]) -> None:
    """Keep the contents that an artifact was made from, after its lineage was written."""
    lineage = sha256_file(lineage_path(work.reports / artifact))
    write_json(_contents_path(work, artifact), {"lineage": {"sha256": lineage}, "contents": contents})


def read_contents(work: Workspace, artifact: str, made: Made | None = None) -> dict[str, str]:
    """Return the digest of each content that an artifact was made from: as kept with its present lineage, otherwise as
    the reports hold it; none where it is not known.
    """
    try:
        kept = TypeAdapter(Contents).validate_python(read_json(_contents_path(work, artifact)))
        if kept["lineage"]["sha256"] == sha256_file(lineage_path(work.reports / artifact)):
            return kept["contents"]
    except WRONG:
        pass
    return (made or Made.read(work.reports)).contents(artifact)


def _contents_path(work: Workspace, artifact: str) -> Path:
    return work.results / CONTENTS / work.reports.name / f"{artifact}.json"
