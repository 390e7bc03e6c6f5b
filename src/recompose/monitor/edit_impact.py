"""What an edit of params.yaml would have made anew, and what it would cost. Nothing is made, and nothing edited."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from recompose.engine import Engine
from recompose.monitor.remaining import remaining_now
from recompose.monitor.work_plan import WorkPlan, needed_of, processes
from recompose.papers.declaration import CLAIMS, Paper, all_papers
from recompose.plan import Plan, Recipe
from recompose.report.kinds import kind_of
from recompose.report.published import PublishedLineage
from recompose.workspace import Workspace


@dataclass(frozen=True)
class ReachedArtifact:
    """An artifact of which something would change."""

    artifact: str  # <paper>/<name>
    kind: str  # table, figure or claims
    cells: int | None  # that would; None: it is not made yet
    claims: int


@dataclass(frozen=True)
class EditImpact(WorkPlan):
    """All that follows from edits, or from the parameters as they are."""

    edits: tuple[str, ...]
    notes: list[str]
    dropped: int  # runs that are asked for no more
    artifacts: list[ReachedArtifact]

    @property
    def changes_runs(self) -> bool:
        """Whether the edits add or drop any run."""
        return bool(self.dropped) or any(run.new for run in self.runs)

    def document(self) -> dict[str, Any]:
        """As plain values."""
        return super().document() | {
            "edits": list(self.edits),
            "notes": self.notes,
            "changes_runs": self.changes_runs,
            "dropped_runs": self.dropped,
            "artifacts": [asdict(artifact) for artifact in self.artifacts],
        }


def consequences(root: Path, edits: tuple[str, ...] = ()) -> EditImpact:
    """What follows from edits of params.yaml, each written ``path=value``; without any, what is left to make.

    Raises:
        ParamsError: an edit does not fit into params.yaml.
    """
    after = Workspace(root, edits)
    before = Workspace(root) if edits else after
    engine = Engine(after)
    planned, asked = ({recipe.digest for recipe in of} for of in (before.plan.recipes, after.plan.of("runs")))
    needed = needed_of(engine, planned)
    return EditImpact(
        after.params.profile,
        needed,
        processes(engine, needed),
        remaining_now(engine),
        edits,
        list(_overridden(after)),
        sum(run.digest not in asked for run in before.plan.of("runs")),
        list(_reached(after, differing(before.plan, after.plan) if edits else _missing(after))),
    )


def _overridden(after: Workspace) -> Iterator[str]:
    """Edits that the profile has another value for."""
    for edit in after.edits:
        path = edit.partition("=")[0]
        for key in after.params.chosen.override:
            if path == key or path.startswith(f"{key}.") or key.startswith(f"{path}."):
                yield f"profiles.{after.params.profile}.override sets {key} in place of what {path} says"


@dataclass(frozen=True)
class Differing:
    """What artifacts would read anew."""

    evaluations: set[tuple[str, str, str]]  # of a track's method or variant on a benchmark
    data: set[tuple[str, str]]  # a track's benchmarks


def differing(before: Plan, after: Plan) -> Differing:
    """Of what two plans do not mean the same."""
    keys, names = ({*of(before), *of(after)} for of in (_asked, _benchmarks))
    return Differing(
        {key for key in keys if _digests(before.evaluations(*key)) != _digests(after.evaluations(*key))},
        {name for name in names if _benchmarks(before).get(name) != _benchmarks(after).get(name)},
    )


def _asked(plan: Plan) -> set[tuple[str, str, str]]:
    return {(track, *key) for track, of in plan.tracks.items() for key in of.evaluations}


def _benchmarks(plan: Plan) -> dict[tuple[str, str], str]:
    return {(track, name): data.digest for track, of in plan.tracks.items() for name, data in of.benchmarks.items()}


def _digests(recipes: list[Recipe]) -> list[str]:
    return [recipe.digest for recipe in recipes]


def _missing(work: Workspace) -> Differing:
    """What is not there."""
    plan, there = work.plan, work.store.is_complete
    return Differing(
        {key for key in _asked(plan) if not all(map(there, plan.evaluations(*key)))},
        {(track, name) for track, of in plan.tracks.items() for name, data in of.benchmarks.items() if not there(data)},
    )


def _reached(work: Workspace, differing: Differing) -> Iterator[ReachedArtifact]:
    """The artifacts that read any of it, of those that were made with how many cells do."""
    papers = all_papers()
    published = PublishedLineage.read(work.reports, papers)
    for paper in papers:
        for name, artifact in paper.artifacts.items():
            key = f"{paper.name}/{name}"
            kind = kind_of(paper, name)
            if key in published.lineages:
                cells = changed_cells(paper.track, published.cells(key), differing)
                rows = {cell["row"] for cell in cells} if artifact.kind == CLAIMS else set()
                if cells or _declared(paper, name, differing):
                    yield ReachedArtifact(key, kind, len(cells), len(rows))
            elif _declared(paper, name, differing):
                yield ReachedArtifact(key, kind, None, 0)


def _declared(paper: Paper, artifact: str, differing: Differing) -> bool:
    """Whether an artifact is about any of it, as far as its declaration says."""
    methods = paper.methods_of(artifact)
    of_track = {name for track, name, _ in differing.evaluations if track == paper.track}
    data = any(track == paper.track for track, _ in differing.data)
    return bool(methods & of_track) or (not methods and data)


def changed_cells(track: str, cells: Iterable[dict[str, Any]], differing: Differing) -> list[dict[str, Any]]:
    """The cells of an artifact that read any of it."""
    return [
        cell
        for cell in cells
        if any((track, name, cell["benchmark"]) in differing.evaluations for name in cell["names"])
        or (not cell["names"] and (track, cell["benchmark"]) in differing.data)
    ]
