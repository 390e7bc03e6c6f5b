"""What the reports show: every artifact's measured cells, and the records of what is behind them."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from recompose.files import read_json
from recompose.papers.declaration import Paper
from recompose.report.lineage import SUFFIX
from recompose.report.schema import LineageError, read_checked


@dataclass(frozen=True)
class Shown:
    """The lineage of each artifact that was made, by ``<paper>/<artifact>``."""

    lineages: dict[str, dict[str, Any]]

    @classmethod
    def of(cls, reports: Path, papers: list[Paper]) -> "Shown":
        """What there is in the folder of reports that tells of cells and records, also as older code wrote it."""
        return cls._read(reports, papers, _telling)

    @classmethod
    def checked(cls, reports: Path, papers: list[Paper]) -> "Shown":
        """What there is that can be relied on to look like a lineage; of the rest the audit says what it is."""
        return cls._read(reports, papers, read_checked)

    @classmethod
    def _read(cls, reports: Path, papers: list[Paper], read: Callable[[Path], dict[str, Any]]) -> "Shown":
        found = {}
        for paper in papers:
            for name in paper.artifacts:
                with suppress(LineageError):
                    found[f"{paper.name}/{name}"] = read(reports / paper.name / f"{name}{SUFFIX}")
        return cls(found)

    @cached_property
    def records(self) -> dict[str, dict[str, Any]]:
        """The records of everything behind them: key, such as ``runs/0123456789ab``, -> record."""
        return {key: record for lineage in self.lineages.values() for key, record in lineage["records"].items()}

    def cells(self, artifact: str) -> list[dict[str, Any]]:
        """The measured cells of an artifact; of a figure, a cell for each of its rows and data sets."""
        cells: list[dict[str, Any]] = self.lineages[artifact]["cells"]
        return cells

    def reach(self, key: str) -> dict[str, list[dict[str, Any]]]:
        """The cells that a run or a data set reaches, by artifact."""
        found = {name: [cell for cell in self.cells(name) if key in cell["made_from"]] for name in self.lineages}
        return {name: cells for name, cells in found.items() if cells}

    def names(self, key: str) -> list[str]:
        """The methods or variants whose run it is; of a data set, and where the lineage does not tell, none."""
        asked = (entry for lineage in self.lineages.values() for entry in lineage.get("measures", []))
        return sorted({entry["name"] for entry in asked if key in entry["runs"]})

    def dependents(self, key: str) -> list[str]:
        """The runs that rest on it: those that test a run's checkpoint, or were made on a data set."""
        digest = self.records[key]["digest"]
        return [other for other, record in self.records.items() if digest in _inputs(record["recipe"])]


def _inputs(recipe: dict[str, Any]) -> list[str]:
    """The digests of the run and of the data set that a run rests on."""
    sections = [recipe.get(name) for name in ("checkpoint_of", "dataset")]
    return [section["digest"] for section in sections if isinstance(section, dict)]


def _telling(path: Path) -> dict[str, Any]:
    """A lineage that tells of cells and records.

    Raises:
        LineageError: there is none.
    """
    try:
        found: dict[str, Any] = read_json(path)
        if {"cells", "records"} <= found.keys():
            return found
    except (OSError, ValueError, AttributeError) as error:
        raise LineageError(str(error)) from None
    raise LineageError(f"{path} has no cells or no records")
