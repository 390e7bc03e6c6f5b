"""The reports of a profile: tables, figures and the page as contents, and the copies of these below ``reports/``.

The recipe of a table or figure needs data and the metrics of the evaluations that it shows, each in the role that says
whose they are: ``csp/shapes-pairs/0``. What a content publishes lies in its folder below ``reports/``.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from pathlib import Path
from shutil import copyfile

from recompose.digest import digest, sha256_file
from recompose.files import Document, write_atomically
from recompose.papers.declaration import AGAINST, CLAIMS, FOREST, Paper
from recompose.params.reference import json_schema
from recompose.parts.cells import Cell
from recompose.parts.results import shared_replicates
from recompose.phases import FOLLOWING, discard_outdated
from recompose.recipes.fingerprint import ROOT
from recompose.recipes.plan import Plan, Recipe, closure
from recompose.recipes.records import OF_COSTS, Build
from recompose.recipes.state import CURRENT, state
from recompose.tables.kinds import KINDS, find_kind
from recompose.tables.measured import OVER_ROWS, matches_by_seed
from recompose.tables.provenance import COST, Made
from recompose.tracks import TRACKS
from recompose.tracks.track import Track
from recompose.workspace import Workspace

MAKE = {"make": "recompose.tables.artifacts:write_artifact", "read": "recompose.tables.stored_results:StoredResults"}
MAKE_PAGE = {"make": "recompose.commands.report:write_page", "audit": "recompose.audit.audit:audit"}
SITE = ROOT / "site"  # the page's template, style and script
PUBLISHED = "reports"  # in the folder of a content: what is copied
READ = ("evaluations", "data")  # kinds whose files metrics, tables and figures are made from
SCORES = "/scores"  # the end of the role of an evaluation itself


@dataclass(frozen=True)
class Reports:
    """The contents from metrics to the page that a workspace asks for, and what is published of them."""

    work: Workspace
    _current: dict[str, bool] = field(default_factory=dict)
    _artifacts: dict[str, Recipe] = field(default_factory=dict)

    @cached_property
    def artifacts(self) -> dict[str, Recipe]:
        """The recipe of each table and figure, by ``<paper>/<artifact>``."""
        names = [f"{paper.name}/{name}" for paper in self.work.papers for name in paper.artifacts]
        return {name: self.artifact(name) for name in names}

    def artifact(self, name: str) -> Recipe:
        """Return the recipe of a table or figure, by ``<paper>/<artifact>``."""
        if name not in self._artifacts:
            folder, _, artifact = name.partition("/")
            paper = next(paper for paper in self.work.papers if paper.name == folder)
            self._artifacts[name] = artifact_recipe(self.work, paper, artifact)
        return self._artifacts[name]

    @cached_property
    def page(self) -> Recipe:
        """The recipe of the page: all artifacts, notes of papers, the page's assets, and its code."""
        work = self.work
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
        return Recipe.of("page", "page", MAKE_PAGE | tracks, document, needs=self.artifacts)

    @cached_property
    def by_key(self) -> dict[str, Recipe]:
        """Everything that is asked for, from data to the page, by key, needs first."""
        return {recipe.key: recipe for recipe in closure([*self.work.plan.recipes, self.page])}

    def planned(self, name: str) -> Recipe | None:
        """Return the recipe of a table or figure, by ``<paper>/<artifact>``; None if the profile has none."""
        folder, _, artifact = name.partition("/")
        is_planned = any(paper.name == folder and artifact in paper.artifacts for paper in self.work.papers)
        return self.artifact(name) if is_planned else None

    def is_planned(self, recipe: Recipe) -> bool:
        """Return whether a content from data to metrics is asked for."""
        if recipe.kind != "metrics":
            return recipe.key in self.work.plan.by_key
        evaluation, track = recipe.needs["evaluation"], self.work.catalogue.get(recipe.track)
        if track is None or evaluation.key not in self.work.plan.by_key:
            return False
        return recipe.key in {each.key for each in track.metrics_of(self.work.plan.by_key[evaluation.key])}

    def published(self, recipe: Recipe) -> dict[str, Path]:
        """Return the files that a complete content publishes, by their places below the folder of reports."""
        folder, names = self.work.store.folder(recipe), self.work.store.record(recipe).files
        below = (name for name in names if name.startswith(f"{PUBLISHED}/"))
        return {name.removeprefix(f"{PUBLISHED}/"): folder / name for name in below}

    def publish(self, recipe: Recipe) -> None:
        """Copy what a complete content publishes, where the copy is absent or another one.

        Raises:
            DamagedError: the content was changed.
        """
        record = self.work.store.verify(recipe, keeps=True)
        for name, source in self.published(recipe).items():
            target = self.work.reports / name
            if not target.is_file() or sha256_file(target) != record.files[f"{PUBLISHED}/{name}"].sha256:
                write_atomically(target, partial(copyfile, source))

    def is_due(self, recipe: Recipe) -> bool:
        """Return whether a table, a figure or the page has to be made, or copied, or needs what has to be."""
        return not (self._is_current(recipe) and self._is_copied(recipe) and self._tells_builds(recipe))

    def _tells_builds(self, recipe: Recipe) -> bool:
        """Return whether the page tells when and where everything behind it was made as the store has it now."""
        if recipe.kind != "page":
            return True
        return Made.read(self.work.store.folder(recipe) / PUBLISHED).builds == builds_of(self.work, closure([recipe]))

    def discard_outdated(self, recipe: Recipe) -> None:
        """Discard what was made from other content than there is now, with metrics, or tells of other builds.

        Raises:
            DamagedError: something that it needs is missing or was changed.
        """
        for need in {each.key: each for of in recipe.needs.values() for each in (of, *of.needs.values())}.values():
            if need.kind in READ:
                self.work.store.verify(need, keeps=True)
        discard_outdated(self.work, [*(need for need in recipe.needs.values() if need.kind == "metrics"), recipe])
        if self.work.store.is_complete(recipe) and not self._tells_builds(recipe):
            self.work.store.discard(recipe.key)

    def _is_current(self, recipe: Recipe) -> bool:
        if recipe.key not in self._current:
            is_made = state(self.work.store, recipe).word == CURRENT
            needs = recipe.needs.values() if recipe.kind in FOLLOWING else ()
            self._current[recipe.key] = is_made and all(map(self._is_current, needs))
        return self._current[recipe.key]

    def _is_copied(self, recipe: Recipe) -> bool:
        record = self.work.store.record(recipe)
        with suppress(OSError):
            copies = {name: sha256_file(self.work.reports / name) for name in self.published(recipe)}
            return all(record.files[f"{PUBLISHED}/{name}"].sha256 == sha256 for name, sha256 in copies.items())
        return False

    def due_counts(self) -> dict[str, int]:
        """Return the number of artifacts of each paper that are to be made."""
        return {
            paper.name: sum(self.is_due(self.artifacts[f"{paper.name}/{name}"]) for name in paper.artifacts)
            for paper in self.work.papers
        }


def builds_of(work: Workspace, recipes: Iterable[Recipe]) -> dict[str, Build]:
    """Return when, where and from which sources those of these recipes were made that are on this disk, up to
    evaluations: what follows from these tells nothing more.
    """
    made = (recipe for recipe in recipes if recipe.kind not in FOLLOWING and work.store.is_complete(recipe))
    return {recipe.key: work.store.record(recipe).build for recipe in made}


def artifact_recipe(work: Workspace, paper: Paper, name: str) -> Recipe:
    """Return the recipe of a table or figure: its declaration, its inputs, and the code that makes it."""
    plan, track = work.plan, work.catalogue[paper.track]
    made_by = MAKE | {"kind": find_kind(paper, name).place, "track": track.place}
    benchmarks = paper.benchmarks_among(plan.benchmarks(paper.track))
    shown = paper.metrics_of(name)
    data = {benchmark: plan.tracks[paper.track].benchmarks[benchmark] for benchmark in benchmarks}
    document = {
        "artifact": f"{paper.name}/{name}",
        "declared": _declaration(paper, name),
        "metrics": {metric: asdict(of.about) for metric, of in track.plugin_metrics.items() if metric in shown},
    }
    about: Document = {"track": paper.track, "labels": {"paper": paper.name, "artifact": name}}
    needs = data | dict(_inputs(track, paper, name, plan))
    return Recipe.of("artifacts", f"{paper.name}/{name}", made_by, document, needs=needs, **about)


def _inputs(track: Track, paper: Paper, name: str, plan: Plan) -> Iterator[tuple[str, Recipe]]:
    """Yield what an artifact shows of each evaluation, with its role: metrics; scores where a figure of the track draws
    them; of a table of settings the evaluation alone; costs where they are shown.
    """
    kind = paper.artifacts[name].kind
    for (method, benchmark), evaluations in evaluations_of(plan, paper, name).items():
        for evaluation in evaluations:
            role = f"{method}/{benchmark}/{evaluation.labels['seed']}"
            if kind == "settings" or kind not in KINDS:
                yield f"{role}{SCORES}", evaluation
            if kind != "settings":
                first, *added = track.metrics_of(evaluation, paper.metrics_of(name))
                yield role, first
                yield from ((f"{role}/{recipe.document['metric']}", recipe) for recipe in added)
            if any(metric.startswith(COST) for metric in paper.metrics_of(name)):
                measured = {"": evaluation, "/run": evaluation.needs.get("run")}
                yield from ((f"{role}{part}{OF_COSTS}", recipe) for part, recipe in measured.items() if recipe)


def _declaration(paper: Paper, name: str) -> Document:
    """Return the declaration of an artifact in its paper's folder, with the digest of what the paper printed."""
    declared: Document = {"artifact": paper.artifacts[name].model_dump(), "datasets": paper.datasets}
    if paper.artifacts[name].kind in (CLAIMS, FOREST, AGAINST):
        declared["claims"] = {row: claim.model_dump() for row, claim in paper.claims.items()}
    printed = paper.folder / "reported" / f"{name}.csv"
    return declared | {"printed": sha256_file(printed) if printed.exists() else None}


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
