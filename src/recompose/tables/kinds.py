"""Kinds of artifacts: the tables and figures that exist, their files, and the recipes that determine them."""

from dataclasses import dataclass
from pathlib import Path

from recompose.claims.cells import verdicts
from recompose.digest import digest, sha256_file
from recompose.errors import PlanError
from recompose.files import Document
from recompose.fingerprint import ROOT, fingerprint
from recompose.metric_cache import metric_code
from recompose.papers.declaration import AGAINST, CLAIMS, FOREST, SWEEP, Paper
from recompose.params.mistakes import nearest
from recompose.params.reference import json_schema
from recompose.parts.results import Cells
from recompose.parts.rows import shared_replicates
from recompose.plan import Plan, Recipe
from recompose.tables import measured
from recompose.tables.against import against
from recompose.tracks import TRACKS
from recompose.workspace import Workspace

SITE = ROOT / "site"  # the page's template, style and script


@dataclass(frozen=True)
class Kind:
    """A kind of tables or figures."""

    cells: Cells | None = None  # of a table; None: it is a figure
    drawing: str = ""  # "module:function" of a figure: planning needs the name, drawing imports matplotlib and more
    row_heading: str = "row"  # of the column with the names of rows
    compares_rows: bool = False  # in the replicates that all of them have
    is_summed_up: bool = True  # its measured part stands in the README of the paper's reports

    @property
    def module(self) -> str:
        """The module that makes it."""
        return self.cells.__module__ if self.cells else self.drawing.partition(":")[0]


KINDS = {
    "statistics": Kind(measured.statistics, row_heading="data set", is_summed_up=False),
    "settings": Kind(measured.settings, row_heading="setting", is_summed_up=False),
    "metrics": Kind(measured.metrics, row_heading="method", compares_rows=True),
    "intervals": Kind(measured.intervals, row_heading="method", compares_rows=True),
    "comparisons": Kind(measured.comparisons, row_heading="method"),
    CLAIMS: Kind(verdicts, row_heading="claim"),
    AGAINST: Kind(against, compares_rows=True),
    SWEEP: Kind(drawing="recompose.tables.figures.sweep:draw_sweep"),
    FOREST: Kind(drawing="recompose.tables.figures.forest:draw_forest"),
}


def find_kind(paper: Paper, name: str) -> Kind:
    """Return the kind of an artifact: the core's, or its track's own.

    Raises:
        PlanError: neither has its kind.
    """
    kind, track = paper.artifacts[name].kind, TRACKS[paper.track]
    tables = {own: Kind(cells) for own, cells in track.tables.items()}
    figures = {own: Kind(drawing=place) for own, place in track.figures.items()}
    kinds = KINDS | tables | figures
    if kind not in kinds:
        place, near = f"{paper.file}: artifacts.{name}", nearest(kind, kinds)
        message = f"{place} has the unknown kind {kind!r}{near}; allowed: {', '.join(kinds)}"
        raise PlanError(message, code="unknown-kind", place=place)
    return kinds[kind]


def is_figure(paper: Paper, name: str) -> bool:
    """Return True if an artifact is a figure, False if it is a table."""
    return find_kind(paper, name).cells is None


def artifact_files(paper: Paper, name: str) -> list[str]:
    """Return the files of an artifact, without its paper's folder; the last one is its lineage."""
    endings = ("svg", "png", "csv") if is_figure(paper, name) else ("csv", "md", "tex")
    return [*(f"{name}.{ending}" for ending in endings), f"{name}.lineage.json"]


def artifact_recipe(work: Workspace, paper: Paper, name: str) -> Recipe:
    """Return the recipe of an artifact: its declaration, its inputs, and the code that makes it."""
    plan, module = work.plan, find_kind(paper, name).module
    code = metric_code(work.catalogue[paper.track], paper.metrics) | fingerprint(["recompose.tables.artifacts", module])
    shown = paper.benchmarks_among(plan.benchmarks(paper.track))
    data = {benchmark: plan.tracks[paper.track].benchmarks[benchmark] for benchmark in shown}
    planned = evaluations_of(plan, paper, name).values()
    evaluations = {evaluation.key: evaluation for recipes in planned for evaluation in recipes}
    document = {"artifact": f"{paper.name}/{name}", "declared": declaration_digest(paper, name)}
    labels = {"paper": paper.name, "artifact": name}
    return Recipe("artifacts", f"{paper.name}/{name}", document, data | evaluations, code, paper.track, labels)


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


def declaration_digest(paper: Paper, name: str) -> str:
    """Return the digest of the declaration of an artifact in its paper's folder."""
    section: Document = {"artifact": paper.artifacts[name].model_dump(), "datasets": paper.datasets}
    if paper.artifacts[name].kind in (CLAIMS, FOREST, AGAINST):
        section["claims"] = {row: claim.model_dump() for row, claim in paper.claims.items()}
    printed = paper.folder / "reported" / f"{name}.csv"
    return digest(section | {"printed": sha256_file(printed) if printed.exists() else None})


def index_recipe(work: Workspace, papers: list[Paper]) -> Recipe:
    """Return the recipe of the index: all artifacts, notes of papers, the page's assets, and its code."""
    artifacts = {
        f"{paper.name}/{name}": artifact_recipe(work, paper, name) for paper in papers for name in paper.artifacts
    }
    notes = {
        paper.name: sha256_file(paper.folder / "notes.md") for paper in papers if (paper.folder / "notes.md").exists()
    }
    files = sorted([*SITE.iterdir(), *Path(__file__).parent.iterdir()])
    assets = {path.name: sha256_file(path) for path in files if path.suffix in (".html", ".css", ".js", ".md")}
    modules = ["recompose.tables.index", "recompose.site.build", "recompose.audit.audit"]
    modules += [type(track).__module__ for track in TRACKS.values()]  # their samples and plots
    parameters = digest(json_schema(work.catalogue.forms))
    heads = {paper.name: [paper.title, paper.byline, paper.links] for paper in papers}
    document = {
        "papers": heads,
        "notes": notes,
        "page": assets,
        "profile": work.params.profile,
        "parameters": parameters,
    }
    return Recipe("report", "index", document, artifacts, fingerprint(modules), labels={})
