"""All that Snakemake and DVC see of the store: which jobs are left, what each of them makes, and receipts of what is
made.

A job is a process: a batch of recipes of one phase, or the artifacts of a paper, or the report. It makes what is
missing, so a finished tree has no jobs. Jobs are dealt out in stages, each of which completes something to look at: the
headline table of a paper, then all of that paper. How many recipes make a job follows what carries them out, this
machine or a scheduler; it is no part of any identity. A job's name ends in the digest of what it makes, and
``results/jobs/<name>.json`` says what that is, so that a job that runs elsewhere, or later, finds it.

Snakemake owns nothing but receipts (and the reports), so it can delete nothing dear. Every receipt belongs to a scope:
everything, a paper, or an artifact. It holds only while the files it names are as they were: no clock and no engine's
memory comes into it.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from recompose import job_resources
from recompose.costs import Costs, Estimate
from recompose.digest import digest, short
from recompose.errors import PlanError
from recompose.files import read_json, write_json
from recompose.papers.declaration import Paper
from recompose.phases import PHASES, gpus_of, needs_gpu
from recompose.plan import Recipe, closure
from recompose.receipts import ALL, Receipts
from recompose.tracks import TRACKS
from recompose.workspace import Workspace

TRAINED = ("runs", "evaluations")  # phases that share processes: what scores a run stands behind it
PREPARED = tuple(phase for phase in PHASES if phase not in TRAINED)  # those before them
REST = "rest"  # the stage of what no artifact needs
DATA = "data"  # the queue of what may have to be downloaded: it is tried again
LONGEST = 60  # characters of a name that a job is called by


@dataclass(frozen=True)
class Job:
    """A process: what it makes, in this order, and what it takes."""

    phase: str
    stage: str  # what it is needed for: a headline table, a paper, or the rest
    keys: list[str]
    called: str  # in short, what it makes first: part of a file's name
    says: str  # in one line, what it does
    threads: int
    gpus: int
    seconds: float  # as far as they are known
    minutes: int  # after which a scheduler may end it
    memory: int  # MiB of the node that a scheduler keeps for it

    @property
    def name(self) -> str:
        """What it is called by, and the digest of what it makes."""
        return f"{self.called}-{short(digest([self.phase, self.keys]))}"

    @property
    def queue(self) -> str:
        """The rule of Snakemake's that carries it out."""
        return DATA if self.phase == DATA else self.stage


@dataclass(frozen=True)
class Machine:
    """A machine that carries out jobs side by side."""

    unknown: ClassVar[float] = 60.0  # seconds, of what nothing like it was measured
    piece: ClassVar[float] = 30.0  # seconds of a job: cores end together, and a kill loses little that is not known

    cores: int

    @classmethod
    def here(cls) -> "Machine":
        """This machine's cores."""
        return cls(os.cpu_count() or 1)


@dataclass(frozen=True)
class Scheduler:
    """A cluster's scheduler: it has a place for any number of jobs, and carries each of them out on some node."""

    unknown: ClassVar[float] = 600.0  # seconds; as long as a job should be, so that such a run is alone
    piece: ClassVar[float] = 600.0  # seconds; finding a place and starting is then little beside them


class Engine:
    """The jobs and receipts of a workspace."""

    def __init__(
        self,
        work: Workspace,
        machine: Machine | Scheduler | None = None,
        targets: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        """Of a workspace.

        Args:
            work: the workspace.
            machine: what carries jobs out.
            targets: gives what Snakemake was called with, once it knows.
        """
        self.work, self.machine, self._targets = work, machine or Machine.here(), targets
        self.papers, self.receipts = work.papers, Receipts(work)
        self._jobs: dict[str, list[Job]] = {}
        self._estimates: dict[str, Estimate | None] = {}  # by digest

    # scopes

    def scopes(self) -> dict[str, list[Recipe]]:
        """Every scope with the artifacts that are in it; all, each paper, and each artifact."""
        by_paper = {paper.name: [self.artifacts[paper.name, name] for name in paper.artifacts] for paper in self.papers}
        alone = {f"{paper}.{name}": [recipe] for (paper, name), recipe in self.artifacts.items()}
        return {ALL: [recipe for recipes in by_paper.values() for recipe in recipes], **by_paper, **alone}

    @property
    def artifacts(self) -> dict[tuple[str, str], Recipe]:
        """The recipe of each artifact, by paper and name."""
        return self.receipts.artifacts

    def _wanted(self, scope: str) -> list[Recipe]:
        if scope == ALL:
            return list(self.work.plan.recipes)
        scopes = self.scopes()
        artifacts = scopes[scope] if scope in scopes else [recipe for name in self._asked for recipe in scopes[name]]
        return [recipe for recipe in closure(artifacts) if recipe.kind in PHASES]

    @cached_property
    def _asked(self) -> list[str]:
        """The papers and artifacts that a call is for at once; none where it is for one."""
        scopes = self.scopes()
        asked = {scope for target in self._targets() if (scope := _scope_of(target)) in scopes} - {ALL}
        return sorted(asked) if len(asked) > 1 else []

    def _dealt(self, scope: str) -> str:
        """The scope in which the jobs for a scope are dealt out. What a call is for at once is in one, so that no job
        waits for another that makes the same.
        """
        if scope == ALL or scope not in self._asked:  # what is asked for is known after everything is laid out
            return scope
        return f"{self._asked[0]}-and-{len(self._asked) - 1}-more-{short(digest(self._asked))}"

    # jobs

    def stages(self, scope: str) -> dict[str, list[Recipe]]:
        """Return what the artifacts of a scope need, in the order in which it is to be made: stage -> recipes.

        A recipe belongs to the first stage that needs it.
        """
        left = {recipe.digest: recipe for recipe in self._wanted(scope)}
        stages: dict[str, list[Recipe]] = {}
        for stage, artifacts in self._ends.items():
            stages[stage] = [left.pop(recipe.digest) for recipe in closure(artifacts) if recipe.digest in left]
        return {stage: recipes for stage, recipes in (stages | {REST: list(left.values())}).items() if recipes}

    @cached_property
    def _ends(self) -> dict[str, list[Recipe]]:
        """The artifacts that each stage completes: of each paper the headline's table, then all."""
        ends: dict[str, list[Recipe]] = {}
        for paper in self.order:
            ends[first_stage(paper)] = [self.artifacts[paper.name, paper.first_artifact]]
            ends[paper.name] = [self.artifacts[paper.name, name] for name in paper.artifacts]
        return ends

    def jobs(self, scope: str) -> list[Job]:
        """Return what is left to do before the artifacts of a scope can be made, in order; each job is written down for
        whoever carries it out.
        """
        if scope not in self._jobs:
            jobs = []
            for stage, recipes in self.stages(scope).items():
                missing = self.work.missing(recipes)
                jobs += [job for phase in PHASES for job in self._of_phase(phase, stage, missing)]
            for job in jobs:
                write_json(self._job_path(job.name), asdict(job))
                (self.work.root / self.receipt(scope, job)).unlink(missing_ok=True)  # what it stood for is gone
            self._jobs[scope] = jobs
        return self._jobs[scope]

    def _of_phase(self, phase: str, stage: str, missing: list[Recipe]) -> list[Job]:
        """Return the jobs of a phase; what scores a run goes behind it, into the same one."""
        if phase == TRAINED[1]:
            return []
        kinds = TRAINED if phase == TRAINED[0] else (phase,)
        groups: dict[str, list[Recipe]] = {}
        for recipe in missing:
            if recipe.kind in kinds:
                groups.setdefault(recipe.needs.get("run", recipe).digest, []).append(recipe)
        return [self._job(phase, stage, piece) for piece in self._pieces(list(groups.values()))]

    def _pieces(self, groups: list[list[Recipe]]) -> Iterator[list[Recipe]]:
        """Yield groups together as long as they are short for a job; the longest come first, and what takes a GPU goes
        alone: starting a process is nothing beside it.
        """
        piece: list[Recipe] = []
        for group in sorted(groups, key=lambda group: -self._seconds(group)):
            on_gpu = any(gpus_of(self.work, recipes) for recipes in (piece, group))
            if piece and (on_gpu or self._seconds([*piece, *group]) > self.machine.piece):
                yield piece
                piece = []
            piece = [*piece, *group]
        if piece:
            yield piece

    def _job(self, phase: str, stage: str, recipes: list[Recipe]) -> Job:
        gpus = gpus_of(self.work, recipes)
        estimates = [self.estimate(recipe) for recipe in recipes]
        return Job(
            phase,
            stage,
            [recipe.key for recipe in recipes],
            called(phase, recipes),
            said(phase, recipes),
            max(self._threads(phase, recipe) for recipe in recipes) * max(gpus, 1),  # each has a process of its own
            gpus,
            round(self._seconds(recipes), 1),
            job_resources.minutes(recipes, estimates),
            job_resources.memory(recipes, estimates, gpus),
        )

    def _threads(self, phase: str, recipe: Recipe | None = None) -> int:
        if phase == "data":
            return 1
        trainer = recipe.document.get("trainer", {}) if recipe and phase == "backbones" else {}
        return int(trainer.get("threads", 1 if phase == "backbones" else self.work.params.chosen.trainer.threads))

    def threads(self, recipe: Recipe) -> int:
        """The threads of a process that makes a recipe."""
        return self._threads(recipe.kind, recipe)

    def _seconds(self, recipes: Iterable[Recipe]) -> float:
        estimates = (self.estimate(recipe) for recipe in recipes)
        return sum(estimate.seconds if estimate else self.machine.unknown for estimate in estimates)

    def estimate(self, recipe: Recipe) -> Estimate | None:
        """What making a recipe will take; None where nothing like it is known."""
        if recipe.digest not in self._estimates:
            self._estimates[recipe.digest] = self.costs.estimate(recipe)
        return self._estimates[recipe.digest]

    @cached_property
    def costs(self) -> Costs:
        """What was measured and calibrated so far."""
        return Costs.of(self.work, self.work.plan)

    @property
    def computes(self) -> bool:
        """Return true where a job that was dealt out computes with a backbone, and has to import what that takes."""
        of_jobs = ([self.work.plan.by_key[key] for key in job.keys] for jobs in self._jobs.values() for job in jobs)
        return any(needs_gpu(recipes) for recipes in of_jobs)

    def _job_path(self, name: str) -> Path:
        return self.work.results / "jobs" / f"{name}.json"

    def job(self, name: str) -> Job:
        """The job of this name.

        Raises:
            PlanError: nobody wrote it down.
        """
        try:
            return Job(**read_json(self._job_path(name)))
        except (OSError, ValueError, TypeError) as error:
            raise PlanError(f"{self._job_path(name)} tells of no job: {error}. Start the workflow again.") from None

    def before(self, scope: str, name: str) -> list[str]:
        """The receipts of what has to be there before a job: of jobs that make what it needs."""
        makes = {key: job for job in self.jobs(scope) for key in job.keys}
        own = set(self.job(name).keys)
        recipes = (self.work.plan.by_key[key] for key in own if key in self.work.plan.by_key)
        needed = {need.key for need in closure(recipes)} - own
        jobs = {makes[key].name: makes[key] for key in sorted(needed) if key in makes}
        return [self.receipt(scope, job) for job in jobs.values() if job.name != name]

    # receipts

    def receipt(self, scope: str, job: Job) -> str:
        """Return the path of the receipt of a job."""
        return self.receipts.job(scope, job.queue, job.name)

    def job_receipts(self, scope: str, *phases: str, artifacts: Iterable[Recipe] | None = None) -> list[str]:
        """Return the receipts of the jobs that remain in a scope.

        Args:
            scope: all, a paper or an artifact.
            phases: of the jobs; none: all phases.
            artifacts: of the scope, whose jobs are returned; None: all artifacts of the scope.
        """
        job_scope = self._dealt(scope)
        jobs = [job for job in self.jobs(job_scope) if job.phase in (phases or PHASES)]
        if artifacts is not None or job_scope != scope:
            recipes = closure(artifacts) if artifacts is not None else self._wanted(scope)
            keys = {recipe.key for recipe in recipes}
            jobs = [job for job in jobs if not keys.isdisjoint(job.keys)]
        return [self.receipt(job_scope, job) for job in jobs]

    def paper_prerequisites(self, paper: Paper, *artifacts: str) -> list[str]:
        """Return the receipts of the jobs, of everything, that artifacts of a paper wait for; none: all of them."""
        recipes = [self.artifacts[paper.name, name] for name in artifacts or paper.artifacts]
        return self.job_receipts(ALL, artifacts=recipes)

    def artifact_prerequisites(self, name: str) -> list[str]:
        """Return the receipts of the jobs that a single artifact, ``paper/artifact``, waits for, and its stamp."""
        paper, artifact = name.split("/")
        return [*self.job_receipts(f"{paper}.{artifact}"), self.receipts.stamp(paper, artifact)]

    def paper_receipts(self) -> list[str]:
        """Return the receipts of all papers."""
        return [self.receipts.paper(ALL, paper.name) for paper in self.papers]

    def first_table_receipts(self) -> list[str]:
        """Return the receipts of the first tables of the papers that have jobs left."""
        return [self.receipts.first_table(paper) for paper in self._unfinished]

    def first_page_receipts(self) -> list[str]:
        """Return the receipt of the first report site where other papers follow the first one."""
        return [self.receipts.first_page] if self.later_papers else []

    def first_page_prerequisites(self) -> list[str]:
        """Return the receipt of the first paper that is made."""
        return [self.receipts.paper(ALL, paper.name) for paper in self._unfinished[:1]]

    @property
    def later_papers(self) -> list[str]:
        """The papers that come after the first one."""
        return [paper.name for paper in self._unfinished[1:]]

    @cached_property
    def _unfinished(self) -> list[Paper]:
        return [paper for paper in self.order if self.paper_prerequisites(paper)]

    @cached_property
    def order(self) -> list[Paper]:
        """The papers in the order in which they are made."""
        return in_order(self.papers)

    @property
    def queues(self) -> list[str]:
        """The names of the stages that there may be in a call, first things first."""
        return [*self._ends, REST]

    def reconcile(self) -> list[Path]:
        """Bring receipts and stamps up to date with the store; returns the receipts that were removed.

        Raises:
            DamagedError: content that the plan needs has a missing or changed file.
        """
        for kind in PHASES:  # DVC expects the folder of a phase even if the phase had nothing to do
            (self.work.results / kind).mkdir(parents=True, exist_ok=True)
        for recipe in self.work.plan.recipes:
            if self.work.store.is_complete(recipe):
                self.work.store.verify(recipe)
        return self.receipts.reconcile()


class SubprocessEngine(Engine):
    """The engine where a single job of a workflow is carried out, by a Snakemake that another one started.

    What is left was dealt out there, what comes before the job is there, and receipts belong to jobs that may be
    writing them at this moment: nothing is dealt out again, and nothing is tidied up.
    """

    def jobs(self, scope: str) -> list[Job]:
        """None but the one that is carried out, and that one goes by its name."""
        return []

    def reconcile(self) -> list[Path]:
        """Leave receipts and stamps as they are."""
        return []


def _scope_of(target: str) -> str:
    """The scope that a target of Snakemake's would be in, if it is a paper or a file of an artifact.

    >>> _scope_of("msci"), _scope_of("reports/demo/msci/table-2.lineage.json")
    ('msci', 'msci.table-2')
    """
    if not target.startswith("reports/"):
        return target
    _, _, inside = target.removeprefix("reports/").partition("/")
    paper, _, file = inside.partition("/")
    return f"{paper}.{file.partition('.')[0]}" if file else paper


def in_order(papers: Iterable[Paper]) -> list[Paper]:
    """Return papers in the order in which they are made: by track, those with the shortest first table first."""
    tracks = list(TRACKS)
    return sorted(
        papers,
        key=lambda paper: (
            tracks.index(paper.track),
            len(paper.artifacts[paper.first_artifact].rows),
            paper.name,
        ),
    )


def first_stage(paper: Paper) -> str:
    """Return the name of the stage that completes it."""
    return f"{paper.name}.{paper.first_artifact}"


def counted(count: int, kind: str) -> str:
    """So many of a kind, which is called by its plural.

    >>> counted(1, "runs"), counted(2, "runs")
    ('1 run', '2 runs')
    """
    return f"{count} {kind if count > 1 else kind.removesuffix('s')}"


def called(phase: str, recipes: list[Recipe]) -> str:
    """What a job makes first, and how many more, as part of a file's name and of what a scheduler lists."""
    of = [recipe for recipe in recipes if recipe.kind == phase] or recipes
    names = list(dict.fromkeys(recipe.name for recipe in of))
    more = f"-and-{len(names) - 1}-more" if len(names) > 1 else ""
    return re.sub(r"[^A-Za-z0-9.]+", "-", names[0])[:LONGEST] + more


def said(phase: str, recipes: list[Recipe]) -> str:
    """What a job does, in one line: methods, data sets and seeds."""
    if phase not in TRAINED:
        counts = Counter(recipe.name for recipe in recipes)
        return f"{phase}: {', '.join(name + (f' ({count})' if count > 1 else '') for name, count in counts.items())}"
    runs, scored = ([recipe for recipe in recipes if recipe.kind == kind] for kind in TRAINED)
    of = runs or scored
    methods = ", ".join(dict.fromkeys(str(recipe.labels["method"]) for recipe in of))
    datasets = ", ".join(dict.fromkeys(str(recipe.labels["dataset"]) for recipe in of))
    seeds = ", ".join(map(str, sorted({recipe.labels["seed"] for recipe in of})))
    what = " and ".join(counted(len(each), each[0].kind) for each in (runs, scored) if each)
    return f"{what} of {methods} on {datasets}, seeds {seeds}"
