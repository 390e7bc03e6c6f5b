"""The graph: what Snakemake asks of the plan.

Each recipe is a job whose only output is its record; each artifact is a job that needs the records of what it shows.
Reading the graph writes and measures nothing.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from math import ceil
from pathlib import Path
from types import MappingProxyType
from typing import Self

from recompose.costs import CostEstimate, Costs
from recompose.papers.declaration import Paper
from recompose.phases import gpus_of, passes, threads_of
from recompose.recipes.plan import Recipe, closure
from recompose.recipes.state import MISSING, OUTDATED, state
from recompose.tables.kinds import is_figure
from recompose.tables.reports import Reports
from recompose.tracks import TRACKS
from recompose.workspace import Workspace

RULES = {  # kind -> the rule that makes it, and what its message says
    "data": ("index_data", "index"),
    "backbones": ("make_backbone", "make backbone"),
    "pixels": ("decode_pixels", "decode"),
    "features": ("encode_features", "encode"),
    "grids": ("encode_grids", "encode grids of"),
    "runs": ("train_{method}", "train"),
    "evaluations": ("evaluate_{track}", "evaluate"),
}
START, TIME_MARGIN, HOUR, DAY = 10, 2, 60, 24 * 60  # minutes of a scheduler's job, and the factor on its estimate
SMALL, LARGE = 4_096, 16_384  # MiB of a process: torch, and two copies of a small or of a published backbone
MEMORY_MARGIN = 1.5  # factor on the estimated memory on top of that


@dataclass(frozen=True)
class Job:
    """The job that makes the content of a recipe, as Snakemake's rules ask for it."""

    key: str  # of the recipe: <kind>/<folder>
    rule: str
    title: str
    is_due: bool
    needs: tuple[str, ...]  # keys of what has to be complete before
    priority: int
    threads: int
    gpus: int
    memory: int  # MiB of the node
    minutes: int  # time limit


@dataclass(frozen=True)
class ArtifactJob:
    """The job that makes a table or a figure."""

    caption: str
    is_figure: bool
    needs: tuple[str, ...]  # keys of what has to be complete before
    _is_due: Callable[[], bool]

    @cached_property
    def is_due(self) -> bool:
        """True unless it is there, made from what it needs now; found out where a target needs it."""
        return self._is_due()


NO_ARTIFACTS: Mapping[str, ArtifactJob] = MappingProxyType({})


class Graph:
    """The jobs of a plan: of contents by their keys, and of artifacts by ``<paper>/<artifact>``."""

    def __init__(
        self, jobs: Iterable[Job], reports: Reports | None = None, artifacts: Mapping[str, ArtifactJob] = NO_ARTIFACTS
    ) -> None:
        self.jobs, self._reports = {job.key: job for job in jobs}, reports
        self.work = reports.work if reports else None
        self.by_digest = {key.partition("/")[2]: job for key, job in self.jobs.items()}
        self.papers: list[Paper] = self.work.papers if self.work else []
        self.reports = self.work.reports_place if self.work else "reports"
        self.artifacts = artifacts

    @classmethod
    def of_folder(cls, folder: Path, *, scheduled: bool) -> Self:
        """Return the graph of a project, for its chosen profile.

        Args:
            folder: the project.
            scheduled: estimate time and memory, which a scheduler's jobs request, from the records of like recipes.

        Raises:
            RecomposeError: params.yaml or a paper is wrong.
        """
        work = Workspace(folder)
        reports, needs = Reports(work), _Needs(work)
        costs = Costs.of(work, work.plan) if scheduled else None
        return cls(_jobs(work, reports.artifacts, needs, costs), reports, _artifacts(reports, needs))

    def keys(self, *kinds: str) -> list[str]:
        """Return the keys of all contents of these kinds; of every kind where none is given."""
        return [key for key in self.jobs if not kinds or key.partition("/")[0] in kinds]

    def ends(self, *kinds: str) -> list[str]:
        """Return the keys of these kinds, or of every kind, that bring in all the others: those that nothing waits for.
        For what is due, nothing that is not due itself counts, as Snakemake would ask for it in vain.
        """
        contents = {key: self.jobs[key] for key in self.keys(*kinds)}
        waiting: list[Job | ArtifactJob] = [*contents.values(), *([] if kinds else self.artifacts.values())]
        needed = {need for each in waiting for need in each.needs}
        needed_now = {need for each in waiting if each.is_due for need in each.needs}
        return [key for key, job in contents.items() if key not in (needed_now if job.is_due else needed)]

    def rules(self) -> Iterator[tuple[str, str, list[str]]]:
        """Yield each rule that makes contents, with the kind and the digests of these."""
        digests: dict[tuple[str, str], list[str]] = {}
        for key, job in self.jobs.items():
            kind, _, digest = key.partition("/")
            digests.setdefault((job.rule, kind), []).append(digest)
        yield from ((rule, kind, made) for (rule, kind), made in digests.items())

    def named(self, names: Collection[str]) -> set[str]:
        """Return the keys of contents, given names of rules and of files."""
        return {key for key, job in self.jobs.items() if job.rule in names or f"results/{key}/record.json" in names}

    def following(self, keys: Collection[str]) -> set[str]:
        """Return the keys of contents, and of all that are made from these."""
        following = set(keys)
        for key, job in self.jobs.items():  # needs come first
            if not following.isdisjoint(job.needs):
                following.add(key)
        return following

    @property
    def uses_gpus(self) -> bool:
        """True where a job asks for a GPU."""
        return any(job.gpus for job in self.jobs.values())

    @property
    def page_is_due(self) -> bool:
        """True where an artifact is due, or the page is not there as it was made from what they are now."""
        if self._reports is None:
            return False
        artifacts = any(artifact.is_due for artifact in self.artifacts.values())
        return artifacts or self._reports.is_due(self._reports.page)


def _jobs(work: Workspace, artifacts: Mapping[str, Recipe], needs: "_Needs", costs: Costs | None) -> Iterator[Job]:
    priorities, waits = _priorities(work.papers, artifacts), _waits(work, needs)
    for recipe in work.plan.recipes:
        rule, verb = RULES[recipe.kind]
        gpus, estimate = gpus_of(work, [recipe]), costs.estimate(recipe) if costs else None
        yield Job(
            key=recipe.key,
            rule=rule.format(track=recipe.track, method=recipe.labels.get("method")).replace("-", "_"),
            title=f"{verb} {recipe.name}",
            is_due=recipe.key in needs.missing,
            needs=(*needs.of(recipe), *waits.get(recipe.key, ())),
            priority=priorities.get(recipe.key, 0),
            threads=threads_of(recipe) * max(gpus, 1),  # a process for each GPU
            gpus=gpus,
            memory=_memory(recipe, estimate, gpus),
            minutes=_minutes(recipe, estimate),
        )


class _Needs:
    """What recipes wait for: their needs without those that other needs wait for."""

    def __init__(self, work: Workspace) -> None:
        words = {recipe.key: state(work.store, recipe).word for recipe in work.plan.recipes}
        self.missing = {key for key, word in words.items() if word in (MISSING, OUTDATED)}
        self._behind: dict[str, set[str]] = {}  # by key: everything that a recipe needs, directly or not
        for recipe in work.plan.recipes:  # needs come first
            needs = {need.key for need in recipe.needs.values()}
            self._behind[recipe.key] = needs.union(*(self._behind[key] for key in needs))

    def of(self, recipe: Recipe) -> list[str]:
        """Return the keys of a recipe's nearest needs, with those that are missing behind a complete one."""
        needs = _planned_needs(recipe)
        behind = set().union(*(self._behind[key] for key in needs))
        behind_missing = set().union(*(self._behind[key] for key in needs if key in self.missing))
        return [key for key in needs if key not in (behind_missing if key in self.missing else behind)]

    def behind(self, recipe: Recipe) -> list[str]:
        """Return the keys of what is missing behind a recipe's complete needs."""
        complete = {*_planned_needs(recipe)} - self.missing
        return sorted(set().union(*(self._behind[key] for key in complete)) & self.missing)


def _planned_needs(recipe: Recipe) -> list[str]:
    """Return the keys of what a recipe needs that has a job of its own: metrics are made with what shows them."""
    needs = (need.needs.get("evaluation", need) if need.kind == "metrics" else need for need in recipe.needs.values())
    return list(dict.fromkeys(need.key for need in needs))


def _priorities(papers: Iterable[Paper], artifacts: Mapping[str, Recipe]) -> dict[str, int]:
    """Return the priority of each key: the first table of the first paper comes first, then the rest of that paper."""
    ordered, priorities = order_papers(papers), dict[str, int]()
    for place, paper in enumerate(ordered):
        for names, later in (([paper.first_artifact], 0), (list(paper.artifacts), 1)):
            for recipe in closure(artifacts[f"{paper.name}/{name}"] for name in names):
                priorities.setdefault(recipe.key, 2 * (len(ordered) - place) - later)
    return priorities


def order_papers(papers: Iterable[Paper]) -> list[Paper]:
    """Return papers in the order in which they are made: by track, those with the shortest first table first, and
    comparisons last.
    """
    tracks = list(TRACKS)
    return sorted(
        papers,
        key=lambda paper: (
            paper.is_comparison,
            tracks.index(paper.track),
            len(paper.artifacts[paper.first_artifact].rows),
            paper.name,
        ),
    )


def _waits(work: Workspace, needs: "_Needs") -> dict[str, list[str]]:
    """Return what evaluations wait for besides their needs: the first one of their pass, which makes all of it."""
    missing = [recipe for recipe in work.plan.of("evaluations") if recipe.key in needs.missing]
    return {other.key: [first.key] for first, *others in passes(work, missing) for other in others}


def _minutes(recipe: Recipe, estimate: CostEstimate | None) -> int:
    """Return the time limit of a scheduler's job: twice its estimate; without one, an hour to evaluate, otherwise a
    day, which schedulers rarely exceed.
    """
    if estimate is None or not estimate.is_firm:
        return HOUR if recipe.kind == "evaluations" else DAY
    return START + ceil(TIME_MARGIN * estimate.seconds / 60)


def _memory(recipe: Recipe, estimate: CostEstimate | None, gpus: int) -> int:
    """Return the node's memory of a job, in MiB; with GPUs, the estimate is of their memory, and counts not here."""
    process = LARGE if any(map(_is_large, closure(recipe.needs.values()))) else SMALL
    if gpus:
        return process * gpus
    peak = estimate.memory if estimate and estimate.memory else 0
    return process + ceil(MEMORY_MARGIN * peak / 2**20)


def _is_large(need: Recipe) -> bool:
    """Return true for a backbone of a published architecture, and for grids that were not made here."""
    return (need.kind == "backbones" and isinstance(need.document["architecture"], str)) or (
        need.kind == "grids" and "backbone" not in need.needs
    )


def _artifacts(reports: Reports, needs: "_Needs") -> dict[str, ArtifactJob]:
    artifacts: dict[str, ArtifactJob] = {}
    for paper in reports.work.papers:
        for name, declared in paper.artifacts.items():
            recipe = reports.artifacts[f"{paper.name}/{name}"]
            artifacts[recipe.name] = ArtifactJob(
                declared.caption,
                is_figure(paper, name),
                (*needs.of(recipe), *needs.behind(recipe)),  # provenance describes all that is behind it
                partial(reports.is_due, recipe),
            )
    return artifacts
