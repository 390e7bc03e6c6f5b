"""The published reports: every artifact's measured cells, the records behind them, and how these were made."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from recompose.errors import LineageError
from recompose.files import read_json
from recompose.papers.declaration import Paper
from recompose.plan import recipe_of
from recompose.report.lineage import SUFFIX, CellDocument, Record, expand_codes, record_closure
from recompose.report.schema import read_checked
from recompose.store import BuildInfo
from recompose.tracks import TRACKS

MADE = "made.json"  # among the reports: the build info of everything behind them, which differs between builds
UNREADABLE = (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError)  # of a file that anybody wrote


@dataclass(frozen=True)
class PublishedLineage:
    """The lineage of each artifact that was made, by ``<paper>/<artifact>``."""

    lineages: dict[str, dict[str, Any]]
    made: dict[str, Record] = field(default_factory=dict)  # key -> build info: when, where and from which sources

    @classmethod
    def read(cls, reports: Path, papers: Iterable[Paper]) -> "PublishedLineage":
        """Read every lineage in the folder of reports that has cells and records, even if it is invalid."""
        return cls._read_with(_read_unchecked, reports, papers)

    @classmethod
    def read_valid(cls, reports: Path, papers: Iterable[Paper]) -> "PublishedLineage":
        """Read every valid lineage in the folder of reports; the audit reports the invalid ones."""
        return cls._read_with(read_checked, reports, papers)

    @classmethod
    def _read_with(
        cls, read: Callable[[Path], dict[str, Any]], reports: Path, papers: Iterable[Paper]
    ) -> "PublishedLineage":
        readable = {}
        for paper in papers:
            for name in paper.artifacts:
                with suppress(LineageError):
                    readable[f"{paper.name}/{name}"] = read(reports / paper.name / f"{name}{SUFFIX}")
        return cls(readable, read_made(reports))

    @cached_property
    def records(self) -> dict[str, Record]:
        """The records of everything behind them: key, such as ``runs/0123456789ab``, -> record."""
        return {key: record for lineage in self.lineages.values() for key, record in lineage["records"].items()}

    def cells(self, artifact: str) -> list[CellDocument]:
        """Return the measured cells of an artifact; a figure has a cell for each of its rows and benchmarks."""
        cells: list[CellDocument] = self.lineages[artifact]["cells"]
        return cells

    def is_synthetic(self, paper: Paper, benchmark: str) -> bool:
        """Whether the data of a benchmark is drawn here, as the lineages of a paper tell."""
        keys = {
            lineage.get("benchmarks", {}).get(benchmark)
            for name, lineage in self.lineages.items()
            if name.startswith(f"{paper.name}/")
        }
        records = [self.records[key] for key in keys if key in self.records]
        return any(TRACKS[paper.track].is_synthetic(recipe_of(record)) for record in records)

    def closure(self, artifact: str, keys: Iterable[str]) -> Iterator[str]:
        """Yield these keys and those of everything behind them, according to an artifact's lineage."""
        return record_closure(self.lineages[artifact]["records"], keys)

    @cached_property
    def _cells_by_key(self) -> dict[str, dict[str, list[CellDocument]]]:
        """The cells that rest on a stored folder: key -> artifact -> cells."""
        cells: dict[str, dict[str, list[CellDocument]]] = {}
        for name in self.lineages:
            for cell in self.cells(name):
                for key in self.closure(name, cell["made_from"]):
                    cells.setdefault(key, {}).setdefault(name, []).append(cell)
        return cells

    def reach(self, key: str) -> dict[str, list[CellDocument]]:
        """Return the cells that rest on a stored folder, by artifact."""
        return self._cells_by_key.get(key, {})

    def names(self, key: str) -> list[str]:
        """Return the methods or variants that an evaluation belongs to."""
        entries = (entry for lineage in self.lineages.values() for entry in lineage["asked"])
        return sorted({entry["name"] for entry in entries if key in entry["evaluations"]})

    def dependents(self, key: str) -> list[str]:
        """Return the keys of everything that was made directly from a stored folder."""
        digest = self.records[key]["digest"]
        return [
            dependent
            for dependent, record in self.records.items()
            if digest in (need["digest"] for need in record["needs"].values())
        ]


def read_made(reports: Path) -> dict[str, Record]:
    """Read the build info of everything behind the reports, as far as its file can be read."""
    try:
        document = read_json(reports / MADE)["results"]
        return {key: build_info for key, build_info in document.items() if _is_build_info(build_info)}
    except UNREADABLE:
        return {}


def _is_build_info(document: Any) -> bool:
    with suppress(ValueError):
        BuildInfo.model_validate(document)
        return True
    return False


def _read_unchecked(path: Path) -> dict[str, Any]:
    """Read a lineage that has cells and records.

    Raises:
        LineageError: there is none.
    """
    try:
        return expand_codes(read_json(path))
    except UNREADABLE as error:
        raise LineageError(f"{path}: {error}") from None
