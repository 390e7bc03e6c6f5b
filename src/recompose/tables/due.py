"""What artifacts, cells and the index need, and which of them are due: not there, or made from something else."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic_core import from_json

from recompose.digest import digest, sha256_file
from recompose.errors import DamagedError, PlanError
from recompose.files import Document
from recompose.papers.declaration import AGAINST, CLAIMS, FOREST, Paper
from recompose.params.reference import json_schema
from recompose.parts.cells import Cell
from recompose.parts.results import shared_replicates
from recompose.recipes.fingerprint import ROOT
from recompose.recipes.plan import Plan, Recipe
from recompose.tables.kinds import artifact_files, find_kind
from recompose.tables.lineage import WRONG
from recompose.tables.measured import OVER_ROWS, matches_by_seed
from recompose.tables.provenance import PROVENANCE, Made
from recompose.tables.published import newer_lineage
from recompose.tracks import TRACKS
from recompose.tracks.track import Track
from recompose.workspace import Workspace

MAKE = {"make": "recompose.tables.artifacts:make_artifacts", "read": "recompose.tables.stored_results:StoredResults"}
MAKE_PAGE = "recompose.commands.report:write_page"
SITE = ROOT / "site"  # the page's template, style and script


def artifact_recipe(work: Workspace, paper: Paper, name: str) -> Recipe:
    """Return the recipe of an artifact: its declaration, its inputs, and the code that makes it."""
    plan, track = work.plan, work.catalogue[paper.track]
    made_by = MAKE | {"kind": find_kind(paper, name).place, "track": track.place} | track.measured_by(paper.all_metrics)
    benchmarks = paper.benchmarks_among(plan.benchmarks(paper.track))
    data = {benchmark: plan.tracks[paper.track].benchmarks[benchmark] for benchmark in benchmarks}
    planned = evaluations_of(plan, paper, name).values()
    evaluations = {evaluation.key: evaluation for recipes in planned for evaluation in recipes}
    document = {
        "artifact": f"{paper.name}/{name}",
        "declared": declaration_digest(paper, name),
        "metrics": _descriptions(track, paper),
        "compared": dict(track.compared),
    }
    about: Document = {"track": paper.track, "labels": {"paper": paper.name, "artifact": name}}
    return Recipe.of("artifacts", f"{paper.name}/{name}", made_by, document, needs=data | evaluations, **about)


def _descriptions(track: Track, paper: Paper) -> Document:
    """Return how the metrics of a paper are shown; its columns of settings and of data sets are none."""
    described: Document = {}
    for metric in sorted(paper.all_metrics):
        with suppress(PlanError):
            described[metric] = asdict(track.description_of(metric))
    return described


def evaluations_of(plan: Plan, paper: Paper, name: str) -> dict[tuple[str, str], list[Recipe]]:
    """Return the planned evaluations behind an artifact, by method or variant and benchmark.

    A table that compares its rows has those of the replicates that all rows share.
    """
    artifact, methods = paper.artifacts[name], sorted(paper.methods_of(name))
    # two rows whose difference is shown may share more replicates than all rows do
    shows_differences = any(view.baseline for view in artifact.views.values())
    evaluations: dict[tuple[str, str], list[Recipe]] = {}
    for benchmark in paper.benchmarks_among(plan.benchmarks(paper.track)):
        by_method = {method: plan.evaluations(paper.track, method, benchmark) for method in methods}
        if find_kind(paper, name).compares_rows and not shows_differences:
            by_method = shared_replicates(by_method)
        evaluations |= {(method, benchmark): recipes for method, recipes in by_method.items() if recipes}
    return evaluations


def cell_recipes(plan: Plan, paper: Paper, cell: Cell) -> list[Recipe]:
    """Return the evaluations that a cell needs now; for a number of the data, the data of all its table's rows."""
    if cell.names:
        return planned_recipes(plan, paper.track, cell)
    return list(plan.tracks[paper.track].benchmarks.values())


def planned_recipes(plan: Plan, track: str, cell: Cell) -> list[Recipe]:
    """Return the recipes that the current plan has for a cell."""
    if cell.names:
        names = cell.beside or cell.names
        planned = {name: plan.evaluations(track, name, cell.benchmark) for name in names}
        shared = shared_replicates(planned) if cell.beside else planned
        rows = [recipes for name, recipes in shared.items() if name in cell.names]
        parts = matches_by_seed(*rows) if rows and cell.rule == OVER_ROWS else rows
        elsewhere = (plan.evaluations(track, name, place) for place in cell.other_benchmarks for name in cell.names)
        return [recipe for part in (*parts, *elsewhere) for recipe in part]
    data = plan.tracks[track].benchmarks.get(cell.benchmark) if track in plan.tracks else None
    return [data] if data else []


def declaration_digest(paper: Paper, name: str) -> str:
    """Return the digest of the declaration of an artifact in its paper's folder."""
    section: Document = {"artifact": paper.artifacts[name].model_dump(), "datasets": paper.datasets}
    if paper.artifacts[name].kind in (CLAIMS, FOREST, AGAINST):
        section["claims"] = {row: claim.model_dump() for row, claim in paper.claims.items()}
    printed = paper.folder / "reported" / f"{name}.csv"
    return digest(section | {"printed": sha256_file(printed) if printed.exists() else None})


def index_recipe(work: Workspace) -> Recipe:
    """Return the recipe of the index: all artifacts, notes of papers, the page's assets, and its code."""
    notes = {paper.name: paper.folder / "notes.md" for paper in work.papers}
    files = sorted([*SITE.iterdir(), *Path(__file__).parent.iterdir()])
    assets = {path.name: sha256_file(path) for path in files if path.suffix in (".html", ".css", ".js", ".md")}
    document = {
        "papers": {paper.name: [paper.title, paper.byline, paper.links] for paper in work.papers},
        "notes": {name: sha256_file(path) for name, path in notes.items() if path.exists()},
        "page": assets,
        "profile": work.params.profile,
        "parameters": digest(json_schema(work.catalogue.forms)),
    }
    tracks = {name: track.place for name, track in TRACKS.items()}
    return Recipe.of("page", "index", {"make": MAKE_PAGE, **tracks}, document, needs=artifact_recipes(work))


def artifact_recipes(work: Workspace) -> dict[str, Recipe]:
    """Return the recipe of each artifact, by ``<paper>/<artifact>``."""
    recipes = (artifact_recipe(work, paper, name) for paper in work.papers for name in paper.artifacts)
    return {recipe.name: recipe for recipe in recipes}


def due_counts(work: Workspace) -> dict[str, int]:
    """Return the number of artifacts of each paper that are to be made."""
    recipes, written = artifact_recipes(work), written_artifacts(work)
    return {
        paper.name: sum(is_due(work, paper, name, recipes[f"{paper.name}/{name}"], written) for name in paper.artifacts)
        for paper in work.papers
    }


@dataclass(frozen=True)
class WrittenArtifact:
    """What an artifact was made from, and what was written."""

    recipe: str
    files: dict[str, str]
    contents: dict[str, str]


def written_artifacts(work: Workspace) -> dict[str, WrittenArtifact]:
    """Return what the reports hold, as provenance.json and the jobs that made artifacts since say; what is not valid is
    absent.
    """
    made, written = Made.read(work.reports), dict[str, WrittenArtifact]()
    with suppress(*WRONG):  # it is parsed alone: validating all of it takes seconds
        entries = from_json((work.reports / PROVENANCE).read_bytes())["artifacts"]
        for name, entry in entries.items():
            written[name] = WrittenArtifact(entry["recipe"], entry["files"], made.contents(name))
    for paper in work.papers:
        for name in (f"{paper.name}/{each}" for each in paper.artifacts):
            with suppress(*WRONG):
                if (path := newer_lineage(work, name)) is not None:
                    entry = from_json(path.read_bytes())
                    written[name] = WrittenArtifact(entry["recipe"], entry["files"], entry["contents"])
    return written


def is_due(work: Workspace, paper: Paper, name: str, recipe: Recipe, artifacts: Mapping[str, WrittenArtifact]) -> bool:
    """Return true unless an artifact is there as it was written, from this recipe and from what the store has now."""
    written = artifacts.get(recipe.name)
    if written is None or written.recipe != recipe.digest:
        return True
    if not all(map(work.store.is_complete, recipe.needs.values())):
        return True
    try:
        # of data, those that it shows
        needs = [need for need in recipe.needs.values() if need.kind == "evaluations" or need.key in written.contents]
        is_same = (written.contents[need.key] == work.store.verify(need).content for need in needs)
        folder = work.reports / paper.name
        files = {file: sha256_file(folder / file) for file in artifact_files(paper, name)}
        return written.files != files or not all(is_same)
    except (DamagedError, *WRONG):
        return True


def is_page_due(work: Workspace) -> bool:
    """Return true unless the page and the files beside it are there as written, made from what they show now."""
    try:
        document = from_json((work.reports / PROVENANCE).read_bytes())
        written = {name: sha256_file(work.reports / name) for name in document["files"]}
        return not (written == document["files"] and document["recipe"] == index_recipe(work).digest)
    except WRONG:
        return True
