"""The work that is left, or that an edit of params.yaml would cause, and the artifacts that would change.

Nothing is made or edited.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from recompose.costs import Costs, time_left
from recompose.monitor.work_plan import WorkPlan, planned_items
from recompose.papers.declaration import CLAIMS, Paper
from recompose.plan import Plan, Recipe
from recompose.report.due import artifact_recipes, is_due
from recompose.report.kinds import kind_of
from recompose.report.lineage import LineageCell
from recompose.report.published import PublishedLineage
from recompose.workspace import Workspace


@dataclass(frozen=True)
class ChangedArtifact:
    """An artifact that would change."""

    artifact: str  # <paper>/<name>
    kind: str  # table, figure or claims
    cells: int | None  # that would change; None: the artifact is not made yet
    claims: int


@dataclass(frozen=True)
class EditImpact(WorkPlan):
    """The work and the changes that follow from edits, or from the parameters as they are."""

    edits: tuple[str, ...]
    notes: list[str]
    dropped: int  # runs that the edited parameters no longer ask for
    artifacts: list[ChangedArtifact]
    due: int  # artifacts to make where all work is done

    @property
    def changes_runs(self) -> bool:
        """True where the edits add or drop a run."""
        return bool(self.dropped) or any(run.new for run in self.runs)

    def document(self) -> dict[str, object]:
        """Return the impact as plain values."""
        return super().document() | {
            "edits": list(self.edits),
            "notes": self.notes,
            "changes_runs": self.changes_runs,
            "dropped_runs": self.dropped,
            "artifacts": [asdict(artifact) for artifact in self.artifacts],
        }


def estimate_impact(root: Path, edits: tuple[str, ...] = ()) -> EditImpact:
    """Return the impact of edits of params.yaml, each written ``path=value``; without edits, the work that is left.

    Raises:
        ParamsError: an edit does not fit into params.yaml.
    """
    after = Workspace(root, edits)
    before = Workspace(root) if edits else after
    costs, recipes = Costs.of(after, after.plan), artifact_recipes(after)
    items = planned_items(after, costs, {recipe.digest for recipe in before.plan.recipes})
    runs = {run.digest for run in after.plan.of("runs")}
    return EditImpact(
        after.params.profile,
        items,
        time_left(after, costs, after.missing(after.plan.recipes)),
        edits,
        list(_overridden_edits(after)),
        sum(run.digest not in runs for run in before.plan.of("runs")),
        list(_changed_artifacts(after, plan_difference(before.plan, after.plan) if edits else _missing_results(after))),
        sum(
            is_due(after, paper, name, recipes[f"{paper.name}/{name}"])
            for paper in after.papers
            for name in paper.artifacts
        ),
    )


def _overridden_edits(after: Workspace) -> Iterator[str]:
    """Yield a note for each edit of a value that the profile overrides."""
    for edit in after.edits:
        path = edit.partition("=")[0]
        for key in after.params.chosen.override:
            if path == key or path.startswith(f"{key}.") or key.startswith(f"{path}."):
                yield f"profiles.{after.params.profile}.override sets {key}, which hides {path}"


@dataclass(frozen=True)
class PlanDifference:
    """The inputs of artifacts that differ between two plans."""

    evaluations: set[tuple[str, str, str]]  # track, method or variant, benchmark
    data: set[tuple[str, str]]  # track, benchmark


def plan_difference(before: Plan, after: Plan) -> PlanDifference:
    """Return the evaluations and benchmarks that stand for other recipes in the second plan."""
    keys = _evaluation_keys(before) | _evaluation_keys(after)
    old, new = _benchmark_digests(before), _benchmark_digests(after)
    return PlanDifference(
        {key for key in keys if _digests(before.evaluations(*key)) != _digests(after.evaluations(*key))},
        {name for name in old | new if old.get(name) != new.get(name)},
    )


def _evaluation_keys(plan: Plan) -> set[tuple[str, str, str]]:
    return {(track, *key) for track, section in plan.tracks.items() for key in section.evaluations}


def _benchmark_digests(plan: Plan) -> dict[tuple[str, str], str]:
    return {
        (track, name): data.digest
        for track, section in plan.tracks.items()
        for name, data in section.benchmarks.items()
    }


def _digests(recipes: list[Recipe]) -> list[str]:
    return [recipe.digest for recipe in recipes]


def _missing_results(work: Workspace) -> PlanDifference:
    """Return the planned evaluations and benchmarks that are not complete."""
    plan, is_complete = work.plan, work.store.is_complete
    return PlanDifference(
        {key for key in _evaluation_keys(plan) if not all(map(is_complete, plan.evaluations(*key)))},
        {
            (track, name)
            for track, section in plan.tracks.items()
            for name, data in section.benchmarks.items()
            if not is_complete(data)
        },
    )


def _changed_artifacts(work: Workspace, difference: PlanDifference) -> Iterator[ChangedArtifact]:
    """Yield the artifacts that use any of it, with the number of their cells that do where they are made already: those
    of the profile's papers, and those that other papers have.
    """
    published, chosen = PublishedLineage.read(work.reports, work.declared), {paper.name for paper in work.papers}
    for paper in work.declared:
        for name, artifact in paper.artifacts.items():
            key = f"{paper.name}/{name}"
            kind = kind_of(paper, name)
            if key in published.lineages:
                cells = changed_cells(paper.track, published.cells(key), difference)
                rows = {cell.row for cell in cells} if artifact.kind == CLAIMS else set()
                if cells or _declares(paper, name, difference):
                    yield ChangedArtifact(key, kind, len(cells), len(rows))
            elif paper.name in chosen and _declares(paper, name, difference):
                yield ChangedArtifact(key, kind, None, 0)


def _declares(paper: Paper, artifact: str, difference: PlanDifference) -> bool:
    """Return true where an artifact's declaration names anything that differs."""
    methods = paper.methods_of(artifact)
    differing_methods = {name for track, name, _ in difference.evaluations if track == paper.track}
    data = any(track == paper.track for track, _ in difference.data)
    return bool(methods & differing_methods) or (not methods and data)


def changed_cells(track: str, cells: Iterable[LineageCell], difference: PlanDifference) -> list[LineageCell]:
    """Return the cells of an artifact that use anything that differs."""
    return [
        cell
        for cell in cells
        if any((track, name, cell.benchmark) in difference.evaluations for name in cell.names)
        or (not cell.names and (track, cell.benchmark) in difference.data)
    ]
