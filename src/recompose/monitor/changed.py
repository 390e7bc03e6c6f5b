"""What an edit of params.yaml would have made anew, and what it would cost. Nothing is made, and nothing edited."""

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from recompose.monitor.costs import Costs, Estimate
from recompose.papers.declaration import PAPERS, Paper, load_paper
from recompose.plan import Plan, Recipe, Run
from recompose.receipts import Receipts
from recompose.report.published import Shown
from recompose.workspace import Workspace


@dataclass(frozen=True)
class Needed:
    """A run that the edited parameters need, or a step before runs, or what is left of them to make."""

    kind: str
    folder: str
    digest: str
    title: str
    method: str  # of a step, its name
    dataset: str
    new: bool  # the edit asks for it, and the parameters as they are do not
    there: bool  # complete in its store
    estimate: Estimate | None


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
class Reached:
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
    artifacts: list[Reached]
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
        """From start to end: one phase after the other, in each as many processes side by side as cores and GPU allow."""
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
    """The time of processes that wait for no other of them: no less than the longest takes, or cores and the one GPU have to do."""
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
    known = {recipe.digest for recipes in before.plan.stored().values() for recipe in recipes}
    needed = [_needed(after, kind, each, costs, known) for kind, all_ in after.plan.stored().items() for each in all_]
    asked = {run.digest for run in after.plan.runs}
    return Consequences(
        after.params.profile,
        edits,
        list(_overridden(after)),
        needed,
        sum(run.digest not in asked for run in before.plan.runs),
        list(_processes(after, {(each.kind, each.folder): each for each in needed})),
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


def _needed(work: Workspace, kind: str, recipe: Recipe, costs: Costs, known: set[str]) -> Needed:
    title, method, dataset = (
        (recipe.title, recipe.method, recipe.dataset) if isinstance(recipe, Run) else (recipe.name, recipe.name, "")
    )
    there = work.store(kind).is_complete(recipe)
    known_cost = None if there else costs.estimate(kind, recipe)
    new = recipe.digest not in known
    return Needed(kind, recipe.folder, recipe.digest, title, method, dataset, new, there, known_cost)


def _processes(work: Workspace, needed: dict[tuple[str, str], Needed]) -> Iterator[Process]:
    """Those that make what is not there: one for each step and one for each batch."""
    receipts, plan = Receipts(work), work.plan
    threads = work.params.chosen.trainer.threads
    for recipe in plan.datasets.values():
        yield from _process("data", recipe.folder, [needed["index", recipe.folder]], 1, 0)
    for recipe in plan.backbones.values():
        step = [needed["backbones", recipe.folder]]
        yield from _process("backbone", recipe.folder, step, work.threads_of(recipe.name), receipts.gpus_of_towers)
    for recipe in plan.features.values():
        step = [needed["features", recipe.folder]]
        yield from _process("features", recipe.folder, step, threads, receipts.gpus_of_towers)
    for batch in plan.batches:
        runs = [needed["runs", run.folder] for run in batch.runs]
        yield from _process("runs", batch.name, runs, receipts.threads(batch.name), receipts.gpus(batch.name))


def _process(phase: str, name: str, jobs: list[Needed], threads: int, gpus: int) -> Iterator[Process]:
    missing = [job for job in jobs if not job.there]
    known = [job.estimate.seconds for job in missing if job.estimate]
    if missing:
        yield Process(phase, name, len(missing), threads, gpus, sum(known), len(missing) - len(known))


@dataclass(frozen=True)
class Differing:
    """What artifacts would read anew."""

    runs: set[tuple[str, str]]  # of a method or variant on a data set
    datasets: set[str]


def differing(before: Plan, after: Plan) -> Differing:
    """Of what two plans do not mean the same."""
    measures = before.measures.keys() | after.measures.keys()
    names = before.datasets.keys() | after.datasets.keys()
    return Differing(
        {key for key in measures if _digests(before.runs_of(*key)) != _digests(after.runs_of(*key))},
        {name for name in names if _digest(before, name) != _digest(after, name)},
    )


def _digests(runs: list[Run]) -> list[str]:
    return [run.digest for run in runs]


def _digest(plan: Plan, dataset: str) -> str | None:
    return plan.datasets[dataset].digest if dataset in plan.datasets else None


def _missing(work: Workspace) -> Differing:
    """What is not there."""
    plan, index = work.plan, work.store("index")
    return Differing(
        {key for key, runs in plan.measures.items() if not all(map(work.runs.is_complete, runs))},
        {name for name, recipe in plan.datasets.items() if not index.is_complete(recipe)},
    )


def _reached(work: Workspace, differing: Differing) -> Iterator[Reached]:
    """The artifacts that read any of it, of those that were made with how many cells do."""
    papers = [load_paper(name) for name in PAPERS]
    shown = Shown.of(work.reports, papers)
    for paper in papers:
        for name, artifact in paper.artifacts.items():
            key = f"{paper.name}/{name}"
            kind = "claims" if artifact.kind == "claims" else "figure" if artifact.is_figure else "table"
            if lineage := shown.lineages.get(key):
                cells = changed_cells(lineage, differing)
                rows = {cell["row"] for cell in cells} if kind == "claims" else set()
                if cells or _declared(paper, name, differing):
                    yield Reached(key, kind, len(cells), len(rows))
            elif _declared(paper, name, differing):
                yield Reached(key, kind, None, 0)


def _declared(paper: Paper, artifact: str, differing: Differing) -> bool:
    """Whether an artifact is about any of it, as far as its declaration says."""
    methods = paper.methods_of(artifact)
    return any(method in methods for method, _ in differing.runs) or (not methods and bool(differing.datasets))


def changed_cells(lineage: dict[str, Any], differing: Differing) -> list[dict[str, Any]]:
    """The cells of an artifact that read any of it."""
    recipes = lineage["wanted"] | {key: record["recipe"] for key, record in lineage["records"].items()}
    return [cell for cell in lineage["cells"] if _reads(cell, recipes, differing)]


def _reads(cell: dict[str, Any], recipes: dict[str, dict[str, Any]], differing: Differing) -> bool:
    sources = {key: recipes[key]["dataset"] for key in [*cell["made_from"], *cell["missing"]] if key in recipes}
    if any(key.startswith("index/") and dataset in differing.datasets for key, dataset in sources.items()):
        return True
    datasets = {dataset["name"] for key, dataset in sources.items() if key.startswith("runs/")}
    return any((method, dataset) in differing.runs for method in cell["measures"] for dataset in datasets)
