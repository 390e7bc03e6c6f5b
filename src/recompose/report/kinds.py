"""Kinds of artifacts: which there are, which are drawn, which files they have, and what determines one."""

from typing import Any

from recompose.digest import digest, sha256_file
from recompose.errors import PlanError
from recompose.fingerprint import ROOT, fingerprint
from recompose.papers.declaration import CLAIMS, FOLDER, FOREST, Paper
from recompose.params import json_schema
from recompose.plan import Plan, Recipe
from recompose.report.seeds import in_shared_worlds
from recompose.tracks import FORMS, TRACKS
from recompose.workspace import Workspace

TABLES = ("statistics", "settings", "metrics", "intervals", "comparisons", CLAIMS)
COMPARED = ("metrics", "intervals")  # tables that compare their rows in the worlds that all of them have
SITE = ROOT / "site"  # the page's template, style and script
FIGURES = {
    "sweep": "recompose.report.figures.sweep:draw_sweep",
    FOREST: "recompose.report.figures.forest:draw_forest",
}


def figures_of(paper: Paper) -> dict[str, str]:
    """The kinds of figures that a paper may have: kind -> "module:function"."""
    return FIGURES | dict(TRACKS[paper.track].figures)


def is_figure(paper: Paper, name: str) -> bool:
    """Whether an artifact is drawn.

    Raises:
        PlanError: neither the core nor the paper's track knows its kind.
    """
    kind, figures, tables = paper.artifacts[name].kind, figures_of(paper), (*TABLES, *TRACKS[paper.track].tables)
    if kind not in figures and kind not in tables:
        allowed = ", ".join((*tables, *figures))
        raise PlanError(f"papers/{paper.name}/paper.yaml: {name} is of the kind {kind!r}; there are: {allowed}")
    return kind in figures


def artifact_files(paper: Paper, name: str) -> list[str]:
    """The files of an artifact, without its paper's folder; the last one is its lineage."""
    endings = ("svg", "png", "csv") if is_figure(paper, name) else ("csv", "md", "tex")
    return [*(f"{name}.{ending}" for ending in endings), f"{name}.lineage.json"]


def kind_of(paper: Paper, name: str) -> str:
    """Whether an artifact is a table, a figure or the table of claims."""
    if is_figure(paper, name):
        return "figure"
    return CLAIMS if paper.artifacts[name].kind == CLAIMS else "table"


def artifact_recipe(plan: Plan, paper: Paper, name: str) -> Recipe:
    """What determines an artifact: its declaration, what it reads, and the code that makes it."""
    track = TRACKS[paper.track]
    kind = paper.artifacts[name].kind
    places = [(figures_of(paper) | dict(track.tables)).get(kind, "")]
    modules = [
        "recompose.report.artifacts",
        *track.metric_code,
        *(place.partition(":")[0] for place in places if place),
    ]
    data = {benchmark: plan.tracks[paper.track].benchmarks[benchmark] for benchmark in plan.benchmarks(paper.track)}
    evaluations = {each.key: each for asked in evaluations_of(plan, paper, name).values() for each in asked}
    document = {"artifact": f"{paper.name}/{name}", "declared": declared(paper, name)}
    labels = {"paper": paper.name, "artifact": name}
    return Recipe(
        "artifacts", f"{paper.name}/{name}", document, data | evaluations, fingerprint(modules), paper.track, labels
    )


def evaluations_of(plan: Plan, paper: Paper, name: str) -> dict[tuple[str, str], list[Recipe]]:
    """The evaluations that an artifact is made from, by method or variant and benchmark, where the plan has some: of a
    table whose rows are compared in the worlds that all of them have, in these.
    """
    artifact, methods = paper.artifacts[name], sorted(paper.methods_of(name))
    # two rows whose difference is shown may share more worlds than all rows do
    by_difference = any(view.baseline for view in artifact.views.values())
    found: dict[tuple[str, str], list[Recipe]] = {}
    for benchmark in plan.benchmarks(paper.track):
        planned = {method: plan.evaluations(paper.track, method, benchmark) for method in methods}
        planned = {method: asked for method, asked in planned.items() if asked}
        if artifact.kind in COMPARED and not by_difference:
            planned = dict(zip(planned, in_shared_worlds(list(planned.values())), strict=True))
        found |= {(method, benchmark): asked for method, asked in planned.items()}
    return found


def declared(paper: Paper, name: str) -> str:
    """The digest of what a paper's folder says of an artifact."""
    section: dict[str, Any] = {"artifact": paper.artifacts[name].model_dump(), "datasets": paper.datasets}
    if paper.artifacts[name].kind in (CLAIMS, FOREST):
        section["claims"] = {row: claim.model_dump() for row, claim in paper.claims.items()}
    printed = FOLDER / paper.name / "reported" / f"{name}.csv"
    return digest(section | {"printed": sha256_file(printed) if printed.exists() else None})


def index_recipe(work: Workspace, papers: list[Paper]) -> Recipe:
    """What determines the index: all artifacts, notes of papers, the page's own files, and the code that writes it."""
    artifacts = {
        f"{paper.name}/{name}": artifact_recipe(work.plan, paper, name) for paper in papers for name in paper.artifacts
    }
    notes = {
        paper.name: sha256_file(FOLDER / paper.name / "notes.md")
        for paper in papers
        if (FOLDER / paper.name / "notes.md").exists()
    }
    own = {path.name: sha256_file(path) for path in sorted(SITE.iterdir()) if path.suffix in (".html", ".css", ".js")}
    modules = ["recompose.report.index", "recompose.site.build", "recompose.provenance.audit"]
    modules += [place.partition(":")[0] for track in TRACKS.values() for place in track.plots.values()]
    document = {"notes": notes, "page": own, "profile": work.params.profile, "parameters": digest(json_schema(FORMS))}
    return Recipe("report", "index", document, artifacts, fingerprint(modules), labels={})
