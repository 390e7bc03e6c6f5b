"""What an edit of params.yaml would have made anew, and what it would cost. Nothing is made, and nothing edited."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from recompose.costs import Costs, Estimate
from recompose.engine import ALL, Engine, Job
from recompose.papers.declaration import CLAIMS, Paper, all_papers
from recompose.plan import Plan, Recipe
from recompose.report.kinds import kind_of
from recompose.report.published import Published
from recompose.workspace import Workspace


@dataclass(frozen=True)
class Needed:
    """Something that the edited parameters need, or what is left of it to make."""

    kind: str
    folder: str
    digest: str
    title: str
    method: str  # of what is no run, its name
    dataset: str
    new: bool  # the edit asks for it, and the parameters as they are do not
    there: bool  # complete in its store
    estimate: Estimate | None

    @property
    def key(self) -> str:
        """Its place below results/."""
        return f"{self.kind}/{self.folder}"


@dataclass(frozen=True)
class Process:
    """A process that would start."""

    phase: str
    name: str
    jobs: int  # that it has to do
    threads: int
    gpus: int
    seconds: float  # of those jobs for which it is known
    unmeasured: int  # jobs


@dataclass(frozen=True)
class ReachedArtifact:
    """An artifact of which something would change."""

    artifact: str  # <paper>/<name>
    kind: str  # table, figure or claims
    cells: int | None  # that would; None: it is not made yet
    claims: int


@dataclass(frozen=True)
class Consequences:
    """All that follows from edits, or from the parameters as they are."""

    profile: str
    edits: tuple[str, ...]
    notes: list[str]
    needed: list[Needed]
    dropped: int  # runs that are asked for no more
    processes: list[Process]
    artifacts: list[ReachedArtifact]
    cores: int

    @property
    def runs(self) -> list[Needed]:
        """The runs."""
        return [each for each in self.needed if each.kind == "runs"]

    @property
    def to_make(self) -> list[Needed]:
        """What a workflow would make, whether the edit asks for it or it was missing before."""
        return [each for each in self.needed if not each.there]

    @property
    def changes_runs(self) -> bool:
        """Whether the edits add or drop any run."""
        return bool(self.dropped) or any(run.new for run in self.runs)

    @property
    def unmeasured(self) -> int:
        """How many jobs are in no time, because nothing like them was measured."""
        return sum(each.estimate is None for each in self.to_make)

    @property
    def core_seconds(self) -> float:
        """The time of all cores together."""
        return sum(process.seconds * process.threads for process in self.processes)

    @property
    def wall_seconds(self) -> float:
        """From start to end: one phase after the other, in each as many processes side by side as cores and GPU
        allow.
        """
        phases = dict.fromkeys(process.phase for process in self.processes)
        return sum(wall([each for each in self.processes if each.phase == phase], self.cores) for phase in phases)

    def document(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "profile": self.profile,
            "edits": list(self.edits),
            "notes": self.notes,
            "changes_runs": self.changes_runs,
            "dropped_runs": self.dropped,
            "runs": [asdict(each) for each in self.runs if each.new or not each.there],
            "steps": [asdict(each) for each in self.to_make if each.kind != "runs"],
            "processes": [asdict(process) for process in self.processes],
            "artifacts": [asdict(artifact) for artifact in self.artifacts],
            "core_seconds": self.core_seconds,
            "wall_seconds": self.wall_seconds,
            "unmeasured": self.unmeasured,
        }


def wall(processes: list[Process], cores: int) -> float:
    """The time of processes that wait for no other of them: no less than the longest takes, or cores and the one GPU
    have to do.
    """
    threads = sum(each.seconds * min(each.threads, cores) for each in processes) / cores
    on_gpu = sum(each.seconds for each in processes if each.gpus)
    return max([threads, on_gpu, *(each.seconds for each in processes)])


def consequences(root: Path, edits: tuple[str, ...] = ()) -> Consequences:
    """What follows from edits of params.yaml, each written ``path=value``; without any, what is left to make.

    Raises:
        ParamsError: an edit does not fit into params.yaml.
    """
    before, after = Workspace(root), Workspace(root, edits)
    costs = Costs.of(after, before.plan, after.plan)
    planned = {recipe.digest for recipe in before.plan.recipes}
    needed = [_needed(after, recipe, costs, planned) for recipe in after.plan.recipes]
    asked = {recipe.digest for recipe in after.plan.of("runs")}
    return Consequences(
        after.params.profile,
        edits,
        list(_overridden(after)),
        needed,
        sum(run.digest not in asked for run in before.plan.of("runs")),
        [_process(job, {each.key: each for each in needed}) for job in Engine(after).jobs(ALL)],
        list(_reached(after, differing(before.plan, after.plan) if edits else _missing(after))),
        os.cpu_count() or 1,
    )


def _overridden(after: Workspace) -> Iterator[str]:
    """Edits that the profile has another value for."""
    for edit in after.edits:
        path = edit.partition("=")[0]
        for key in after.params.chosen.override:
            if path == key or path.startswith(f"{key}.") or key.startswith(f"{path}."):
                yield f"profiles.{after.params.profile}.override sets {key} in place of what {path} says"


def _needed(work: Workspace, recipe: Recipe, costs: Costs, planned: set[str]) -> Needed:
    there = work.store.is_complete(recipe)
    method = str(recipe.labels.get("method", recipe.name))
    dataset = str(recipe.labels.get("dataset", "")) if "method" in recipe.labels else ""
    estimate = None if there else costs.estimate(recipe)
    return Needed(
        recipe.kind,
        recipe.folder,
        recipe.digest,
        recipe.name,
        method,
        dataset,
        recipe.digest not in planned,
        there,
        estimate,
    )


def _process(job: Job, needed: dict[str, Needed]) -> Process:
    seconds = [each.estimate.seconds for each in (needed[key] for key in job.keys) if each.estimate]
    return Process(
        job.phase, job.name, len(job.keys), job.threads, job.gpus, sum(seconds), len(job.keys) - len(seconds)
    )


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
    published = Published.of(work.reports, papers)
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
