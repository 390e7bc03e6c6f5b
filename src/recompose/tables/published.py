"""What reports tell: every artifact's measured cells, the recipes behind them, and how these were made."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from pydantic import TypeAdapter

from recompose.digest import sha256_file
from recompose.errors import ProvenanceError
from recompose.papers.declaration import Paper
from recompose.parts.cells import Cell
from recompose.recipes.plan import Recipe, closure
from recompose.recipes.records import Build
from recompose.tables.provenance import PROVENANCE, WRONG, ArtifactCells, Made, Provenance
from recompose.tables.reports import PUBLISHED, Reports, builds_of
from recompose.tables.stored_results import StoredResults
from recompose.tracks import TRACKS

CELLS = "cells.json"  # in the folder of a table or figure: its measured cells
CELLS_FORM = TypeAdapter(list[Cell])


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


@dataclass(frozen=True)
class Published:
    """What the reports of a profile tell."""

    artifacts: dict[str, Recipe] = field(default_factory=dict)  # by <paper>/<artifact>
    cells: dict[str, list[Cell]] = field(default_factory=dict)  # the measured ones of each; a figure has one a row
    made: dict[str, Build] = field(default_factory=dict)  # key -> when, where, from which sources, with which content
    values: dict[str, dict[str, float]] = field(default_factory=dict)  # evaluation -> its metrics, with costs
    files: dict[str, str] = field(default_factory=dict)  # name -> SHA-256
    page: Recipe | None = None
    fault: str = ""  # why nothing can be told

    @classmethod
    def read(cls, reports: Reports) -> "Published":
        """Read what provenance.json and made.json tell; no number follows from metrics that were changed."""
        folder, made = reports.work.reports, Made.read(reports.work.reports)
        try:
            provenance = Provenance.read(folder)
            recipes, values = provenance.recipes, provenance.values
            artifacts = {name: recipes[entry.recipe] for name, entry in provenance.artifacts.items()}
            cells = {name: entry.cells for name, entry in provenance.artifacts.items()}
            _check_keys(artifacts, cells)
        except FileNotFoundError:
            return cls(made=made.builds)
        except (ProvenanceError, *WRONG) as error:
            fault = str(error) if isinstance(error, ProvenanceError) else f"{folder / PROVENANCE}: {error}"
            return cls(made=made.builds, fault=fault)
        if sha256_file(folder / PROVENANCE) != made.provenance:
            values = {}
        costs = {key: values[key] | made.costs.get(key, {}) for key in values}
        page = next((recipe for recipe in recipes.values() if recipe.kind == "page"), None)
        return cls(artifacts, cells, made.builds, costs, provenance.files, page)

    @classmethod
    def of_store(cls, reports: Reports) -> "Published":
        """Return what the stored contents tell that the page is made from; all of them are complete."""
        work, results = reports.work, StoredResults(reports.work)
        evaluations = {recipe.key: recipe for recipe in closure(reports.artifacts.values())}
        values = {key: dict(results.metrics(of)) for key, of in evaluations.items() if of.kind == "evaluations"}
        cells = {name: cells_of(reports, recipe) for name, recipe in reports.artifacts.items()}
        files = {name: sha for recipe in reports.artifacts.values() for name, sha in digests_of(reports, recipe)}
        return cls(reports.artifacts, cells, builds_of(work, evaluations.values()), values, files)

    def with_newer(self, reports: Reports, names: Iterable[str]) -> "Published":
        """Return the same with those of these artifacts that were made since the page was, as the store has them."""
        store, artifacts, cells, files = reports.work.store, {**self.artifacts}, {**self.cells}, {**self.files}
        for name in names:
            recipe = reports.planned(name)
            if recipe and recipe.key != getattr(artifacts.get(name), "key", "") and store.is_complete(recipe):
                artifacts[name], cells[name] = recipe, cells_of(reports, recipe)
                files |= dict(digests_of(reports, recipe))
        return Published(artifacts, cells, self.made, self.values, files, self.page, self.fault)

    def provenance(self, papers: Iterable[Paper], page: Recipe, files: dict[str, str]) -> Provenance:
        """Return what provenance.json has of this, with the metrics that some cell needs.

        Args:
            papers: of the reports.
            page: the recipe of the page.
            files: the digests of the files of the page.
        """
        artifacts = {name: ArtifactCells(recipe=of.key, cells=self.cells[name]) for name, of in self.artifacts.items()}
        names = {cell.metric for cells in self.cells.values() for cell in cells}
        names |= {metric for paper in papers for name in paper.artifacts for metric in paper.metrics_of(name)}
        shown = {key: {m: v for m, v in of.items() if m in names} for key, of in self.values.items()}
        return Provenance.of([*self.recipes.values(), page], shown, artifacts, self.files | files)

    @cached_property
    def recipes(self) -> dict[str, Recipe]:
        """The recipes of everything behind the artifacts, and their own, by key, needs first."""
        return {recipe.key: recipe for recipe in closure(self.artifacts.values())}

    def behind(self, keys: Iterable[str]) -> list[Recipe]:
        """Return the recipes with these keys and all that they were made from, needs first."""
        return list(closure(self.recipes[key] for key in keys))

    def evaluations(self, artifact: str, name: str, benchmark: str) -> dict[str, str]:
        """Return the keys of a method's or variant's evaluations behind an artifact, by seed."""
        by_seed: dict[str, str] = {}
        for role, need in self.artifacts[artifact].needs.items():
            if role.startswith(f"{name}/{benchmark}/") and need.kind != "runs":
                by_seed[role.split("/")[2]] = _shown(need).key
        return by_seed

    def is_synthetic(self, paper: Paper, benchmark: str) -> bool:
        """Whether the data of a benchmark is generated, as the artifacts of a paper tell."""
        own = (recipe for name, recipe in self.artifacts.items() if name.startswith(f"{paper.name}/"))
        data = (recipe.needs.get(benchmark) for recipe in own)
        return any(TRACKS[paper.track].is_synthetic(recipe) for recipe in data if recipe)

    @cached_property
    def _cells_by_key(self) -> dict[str, dict[str, list[Cell]]]:
        """The cells that rest on a stored content: key -> artifact -> cells."""
        cells: dict[str, dict[str, list[Cell]]] = {}
        for name, of_artifact in self.cells.items():
            for cell in of_artifact:
                for recipe in self.behind(cell.made_from):
                    cells.setdefault(recipe.key, {}).setdefault(name, []).append(cell)
        return cells

    def reach(self, key: str) -> dict[str, list[Cell]]:
        """Return the cells that rest on a stored content, by artifact."""
        return self._cells_by_key.get(key, {})


def _check_keys(artifacts: dict[str, Recipe], cells: dict[str, list[Cell]]) -> None:
    """Check that cells rest on what is behind their artifacts.

    Raises:
        ValueError: one does not.
    """
    for name, recipe in artifacts.items():
        behind = {each.key for each in closure([recipe])}
        if missing := {key for cell in cells[name] for key in cell.made_from} - behind:
            raise ValueError(f"artifacts.{name}: its cells rest on {min(missing)}, which is not behind it")


def cells_of(reports: Reports, recipe: Recipe) -> list[Cell]:
    """Return the measured cells of a complete table or figure, with the keys of what they rest on."""
    cells = CELLS_FORM.validate_json(reports.work.store.file(recipe, CELLS).read_bytes())
    return [cell.but(made_from=[_shown(recipe.needs[role]).key for role in cell.made_from]) for cell in cells]


def roles_of(recipe: Recipe, cell: Cell) -> list[str]:
    """Return the roles in which an artifact's recipe needs what a cell rests on: those of the methods that it names."""
    named = tuple(f"{name}/" for name in cell.names)
    roles = sorted(recipe.needs, key=lambda role: role.startswith(named))  # the last one of a key counts
    by_key = {_shown(recipe.needs[role]).key: role for role in roles}
    return [by_key[key] for key in cell.made_from]


def _shown(need: Recipe) -> Recipe:
    """Return the evaluation whose metrics these are; anything else is shown itself."""
    return need.needs.get("evaluation", need)


def digests_of(reports: Reports, recipe: Recipe) -> Iterator[tuple[str, str]]:
    """Yield the files that a complete content publishes, with their digests."""
    record = reports.work.store.record(recipe)
    yield from ((name, record.files[f"{PUBLISHED}/{name}"].sha256) for name in reports.published(recipe))
