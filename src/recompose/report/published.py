"""What the reports hold: every artifact's measured cells, the records of what is behind them, and how these were
made.
"""

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
from recompose.report import lineage as lineages
from recompose.report.lineage import SUFFIX, with_codes
from recompose.report.schema import read_checked
from recompose.store import BuildInfo
from recompose.tracks import TRACKS

MADE = "made.json"  # among the reports: what differs from one making to another of the same
Record = dict[str, Any]


@dataclass(frozen=True)
class PublishedLineage:
    """The lineage of each artifact that was made, by ``<paper>/<artifact>``."""

    lineages: dict[str, dict[str, Any]]
    made: dict[str, Record] = field(default_factory=dict)  # key -> by what, where and when it was made

    @classmethod
    def of(cls, reports: Path, papers: Iterable[Paper]) -> "PublishedLineage":
        """What there is in the folder of reports that tells of cells and records, also where it cannot be relied on."""
        return cls._read(reports, papers, _telling)

    @classmethod
    def checked(cls, reports: Path, papers: Iterable[Paper]) -> "PublishedLineage":
        """What there is that can be relied on to look like a lineage; of the rest the audit says what it is."""
        return cls._read(reports, papers, read_checked)

    @classmethod
    def _read(
        cls, reports: Path, papers: Iterable[Paper], read: Callable[[Path], dict[str, Any]]
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

    def cells(self, artifact: str) -> list[dict[str, Any]]:
        """The measured cells of an artifact; of a figure, a cell for each of its rows and benchmarks."""
        cells: list[dict[str, Any]] = self.lineages[artifact]["cells"]
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

    def behind(self, artifact: str, keys: Iterable[str]) -> Iterator[str]:
        """These keys and those of everything that they were made from, as an artifact's lineage tells."""
        return lineages.behind(self.lineages[artifact]["records"], keys)

    @cached_property
    def _reached(self) -> dict[str, dict[str, list[dict[str, Any]]]]:
        """key -> artifact -> the cells that rest on it."""
        reached: dict[str, dict[str, list[dict[str, Any]]]] = {}
        for name in self.lineages:
            for cell in self.cells(name):
                for key in self.behind(name, cell["made_from"]):
                    reached.setdefault(key, {}).setdefault(name, []).append(cell)
        return reached

    def reach(self, key: str) -> dict[str, list[dict[str, Any]]]:
        """The cells that rest on a stored thing, by artifact."""
        return self._reached.get(key, {})

    def names(self, key: str) -> list[str]:
        """The methods or variants that an evaluation stands for."""
        asked = (entry for lineage in self.lineages.values() for entry in lineage["asked"])
        return sorted({entry["name"] for entry in asked if key in entry["evaluations"]})

    def dependents(self, key: str) -> list[str]:
        """What was made from it directly."""
        digest = self.records[key]["digest"]
        records = self.records.items()
        return [other for other, record in records if digest in (need["digest"] for need in record["needs"].values())]


def read_made(reports: Path) -> dict[str, Record]:
    """By what, where and when each thing behind the reports was made, as far as the file of that can be read."""
    try:
        document = read_json(reports / MADE)["results"]
        return {key: made for key, made in document.items() if _is_made(made)}
    except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return {}


def _is_made(document: Any) -> bool:
    with suppress(ValueError):
        BuildInfo.model_validate(document)
        return True
    return False


def _telling(path: Path) -> dict[str, Any]:
    """A lineage that tells of cells and records.

    Raises:
        LineageError: there is none.
    """
    try:
        return with_codes(read_json(path))
    except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise LineageError(f"{path}: {error}") from None
