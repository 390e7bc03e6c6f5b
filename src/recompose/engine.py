"""The engine: the remaining work as jobs, for Snakemake and DVC.

A job is a process that makes a batch of recipes of one phase. It makes missing recipes only, so a finished tree has no
jobs. Jobs are grouped in stages, each of which completes something visible: the headline table of a paper, then the
whole paper. The number of recipes in a job depends on the machine or scheduler that runs it and is no part of any
identity. A job's name ends in the digest of its recipes' keys, and ``results/jobs/<name>.json`` lists them for
processes that run elsewhere or later.

Snakemake owns nothing but receipts (see ``receipts``) and the reports: expensive results are never rule outputs.
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
from recompose.costs import CostEstimate, Costs
from recompose.digest import digest, short
from recompose.errors import DamagedError, PlanError
from recompose.files import read_json, write_json
from recompose.papers.comparison import FOLDER as COMPARISONS
from recompose.papers.declaration import Paper
from recompose.params.mistakes import nearest
from recompose.phases import PHASES, TRAINED, gpus_of, needs_gpu
from recompose.plan import Recipe, closure
from recompose.receipts import ALL, Receipts
from recompose.report.kinds import artifact_files
from recompose.tracks import TRACKS
from recompose.workspace import Workspace

PREPARED = tuple(phase for phase in PHASES if phase not in TRAINED)  # the phases before them
REST = "rest"  # the stage of the recipes that no artifact needs
DATA = "data"  # the queue of jobs that may download: they are retried
MAX_LABEL = 60  # characters of a recipe's name in the name of a job


@dataclass(frozen=True)
class Job:
    """A process: the recipes that it makes, in this order, and the resources that it needs."""

    phase: str
    stage: str  # a headline table, a paper, or the rest
    keys: list[str]
    called: str  # a short label, part of a file's name
    says: str  # a description in one line
    threads: int
    gpus: int
    seconds: float  # estimated
    minutes: int  # time limit for a scheduler
    memory: int  # MiB of the node that a scheduler reserves

    @property
    def name(self) -> str:
        """The label and the digest of the phase and the keys."""
        return f"{self.called}-{short(digest([self.phase, self.keys]))}"

    @property
    def queue(self) -> str:
        """The rule of Snakemake that runs the job."""
        return DATA if self.phase == DATA else self.stage


@dataclass(frozen=True)
class LocalMachine:
    """A machine that runs jobs side by side."""

    unknown: ClassVar[float] = 60.0  # seconds assumed for a recipe without an estimate
    similar: ClassVar[float] = 0.0  # seconds assumed at least for one of which only similar ones were measured
    piece: ClassVar[float] = 30.0  # seconds of a job: cores finish together, and a kill loses little

    cores: int

    @classmethod
    def here(cls) -> "LocalMachine":
        """Return this machine, with all its cores."""
        return cls(os.cpu_count() or 1)


@dataclass(frozen=True)
class Scheduler:
    """A cluster's scheduler, which runs any number of jobs, each on some node."""

    unknown: ClassVar[float] = 600.0  # seconds assumed for a recipe without an estimate: a whole job, so it runs alone
    similar: ClassVar[float] = 600.0  # seconds assumed at least for one of which only similar ones were measured
    piece: ClassVar[float] = 600.0  # seconds of a job: long in comparison with queueing and starting


class Engine:
    """The jobs of a workspace, and the receipts that they leave."""

    def __init__(
        self,
        work: Workspace,
        machine: LocalMachine | Scheduler | None = None,
        targets: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        """Create the engine of a workspace.

        Args:
            work: the workspace.
            machine: runs the jobs; None: this machine.
            targets: returns the targets of the call of Snakemake; they are known only after all rules are read.
        """
        self.work, self.machine, self._targets = work, machine or LocalMachine.here(), targets
        self.papers, self.receipts = work.papers, Receipts(work)
        self._jobs: dict[str, list[Job]] = {}

    # scopes

    def scopes(self) -> dict[str, list[Recipe]]:
        """Return the artifacts of every scope: all, each paper, and each artifact."""
        by_paper = {paper.name: [self.artifacts[paper.name, name] for name in paper.artifacts] for paper in self.papers}
        single = {f"{paper}.{name}": [recipe] for (paper, name), recipe in self.artifacts.items()}
        return {ALL: [recipe for recipes in by_paper.values() for recipe in recipes], **by_paper, **single}

    @property
    def artifacts(self) -> dict[tuple[str, str], Recipe]:
        """The recipe of each artifact, by paper and name."""
        return self.receipts.artifacts

    def _scope_recipes(self, scope: str) -> list[Recipe]:
        if scope == ALL:
            return list(self.work.plan.recipes)
        scopes = self.scopes()
        names = [scope] if scope in scopes else self._target_scopes
        artifacts = [recipe for name in names for recipe in scopes[name]]
        return [recipe for recipe in closure(artifacts) if recipe.kind in PHASES]

    @cached_property
    def _target_scopes(self) -> list[str]:
        """The papers and artifacts among the targets of a call that has several of them; otherwise empty."""
        scopes = self.scopes()
        targets = {scope for target in self._targets() if (scope := _target_scope(target)) in scopes} - {ALL}
        return sorted(targets) if len(targets) > 1 else []

    def _job_scope(self, scope: str) -> str:
        """Return the scope whose jobs serve a scope: the targets of one call share theirs, so that no recipe is in two
        jobs.
        """
        if scope == ALL or scope not in self._target_scopes:  # targets are known only after all rules are read
            return scope
        first, *later = self._target_scopes
        return f"{first}-and-{len(later)}-more-{short(digest(self._target_scopes))}"

    # jobs

    def stages(self, scope: str) -> dict[str, list[Recipe]]:
        """Return the recipes that the artifacts of a scope need, by stage, in the order in which they are made.

        A recipe belongs to the first stage that needs it.
        """
        remaining = {recipe.digest: recipe for recipe in self._scope_recipes(scope)}
        stages: dict[str, list[Recipe]] = {}
        for stage, artifacts in self._stage_artifacts.items():
            stages[stage] = [
                remaining.pop(recipe.digest) for recipe in closure(artifacts) if recipe.digest in remaining
            ]
        stages[REST] = list(remaining.values())
        return {stage: recipes for stage, recipes in stages.items() if recipes}

    @cached_property
    def _stage_artifacts(self) -> dict[str, list[Recipe]]:
        """The artifacts that each stage completes: the headline table of a paper, then all of its artifacts."""
        stages: dict[str, list[Recipe]] = {}
        for paper in self.order:
            stages[first_stage(paper)] = [self.artifacts[paper.name, paper.first_artifact]]
            stages[paper.name] = [self.artifacts[paper.name, name] for name in paper.artifacts]
        return stages

    def jobs(self, scope: str) -> list[Job]:
        """Return the jobs that remain before the artifacts of a scope can be made, in order; writes a file for each."""
        if scope not in self._jobs:
            jobs = []
            for stage, recipes in self.stages(scope).items():
                missing = self.work.missing(recipes)
                jobs += [job for phase in PHASES for job in self._phase_jobs(phase, stage, missing)]
            for job in jobs:
                write_json(self._job_path(job.name), asdict(job))
                (self.work.root / self.receipt(scope, job)).unlink(missing_ok=True)  # its content is gone
            self._jobs[scope] = jobs
        return self._jobs[scope]

    def _phase_jobs(self, phase: str, stage: str, missing: list[Recipe]) -> list[Job]:
        """Return the jobs of a phase; the evaluations of a run follow it in the same job."""
        if phase == TRAINED[1]:
            return []
        kinds = TRAINED if phase == TRAINED[0] else (phase,)
        groups: dict[str, list[Recipe]] = {}
        for recipe in missing:
            if recipe.kind in kinds:
                groups.setdefault(recipe.needs.get("run", recipe).digest, []).append(recipe)
        return [self._job(phase, stage, piece) for piece in self._pieces(list(groups.values()))]

    def _pieces(self, groups: list[list[Recipe]]) -> Iterator[list[Recipe]]:
        """Yield batches of groups, the longest groups first, each batch up to the length of a job. A group that uses
        GPUs gets a job of its own: starting a process takes little time in comparison.
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
            job_label(phase, recipes),
            job_description(phase, recipes),
            max(self._threads(phase, recipe) for recipe in recipes) * max(gpus, 1),  # one process for each GPU
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
        """Return the number of threads of a process that makes a recipe."""
        return self._threads(recipe.kind, recipe)

    def _seconds(self, recipes: Iterable[Recipe]) -> float:
        return sum(self._seconds_of(self.estimate(recipe)) for recipe in recipes)

    def _seconds_of(self, estimate: CostEstimate | None) -> float:
        if estimate is None:
            return self.machine.unknown
        return estimate.seconds if estimate.is_firm else max(estimate.seconds, self.machine.similar)

    def estimate(self, recipe: Recipe) -> CostEstimate | None:
        """Return the estimated cost of making a recipe, or None if nothing similar was measured."""
        return self.costs.estimate(recipe)

    @cached_property
    def costs(self) -> Costs:
        """The measurements and timings so far."""
        return Costs.of(self.work, self.work.plan)

    @property
    def computes(self) -> bool:
        """Return true if a job computes with a backbone, so that it has to import torch."""
        batches = ([self.work.plan.by_key[key] for key in job.keys] for jobs in self._jobs.values() for job in jobs)
        return any(needs_gpu(recipes) for recipes in batches)

    def _job_path(self, name: str) -> Path:
        return self.work.results / "jobs" / f"{name}.json"

    def job(self, name: str) -> Job:
        """Return the job of this name, from its file.

        Raises:
            PlanError: the file is missing or describes no job.
        """
        try:
            return Job(**read_json(self._job_path(name)))
        except (OSError, ValueError, TypeError) as error:
            message = f"{self._job_path(name)} describes no job: {error}. Start the workflow again."
            raise PlanError(message, code="no-job", place=self._job_path(name)) from None

    def prerequisites(self, scope: str, name: str) -> list[str]:
        """Return the receipts of the jobs that have to finish before a job."""
        makers = {key: job for job in self.jobs(scope) for key in job.keys}
        keys = set(self.job(name).keys)
        recipes = (self.work.plan.by_key[key] for key in keys if key in self.work.plan.by_key)
        needed = {need.key for need in closure(recipes)} - keys
        jobs = {makers[key].name: makers[key] for key in sorted(needed) if key in makers}
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
        job_scope = self._job_scope(scope)
        jobs = [job for job in self.jobs(job_scope) if job.phase in (phases or PHASES)]
        if artifacts is not None or job_scope != scope:
            recipes = closure(artifacts) if artifacts is not None else self._scope_recipes(scope)
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
        return order_papers(self.papers)

    @property
    def queues(self) -> list[str]:
        """The names of all stages, in their order."""
        return [*self._stage_artifacts, REST]

    def reconcile(self) -> list[Path]:
        """Bring receipts and stamps up to date with the store; returns the receipts that were removed.

        Raises:
            DamagedError: content that the plan needs has a missing or changed file, or a file lies in the place of a
                folder.
        """
        try:
            for kind in PHASES:  # DVC expects the folder of a phase even if the phase had nothing to do
                (self.work.results / kind).mkdir(parents=True, exist_ok=True)
            for recipe in self.work.plan.recipes:
                if self.work.store.is_complete(recipe):
                    self.work.store.verify(recipe)
            return self.receipts.reconcile()
        except (FileExistsError, IsADirectoryError, NotADirectoryError) as error:
            path, fault = Path(error.filename), "lies where a folder belongs, or is a folder where a file belongs"
            raise DamagedError(path, fault, "move it away", "misplaced") from None


class SubprocessEngine(Engine):
    """The engine of a single job, in a Snakemake that the workflow's Snakemake started.

    The workflow's Snakemake has divided the work, and the job's prerequisites exist. Other jobs may be writing their
    receipts at this moment. So nothing is divided again, and no receipt is removed.
    """

    def jobs(self, scope: str) -> list[Job]:
        """Return no jobs: the job that runs is read from its file."""
        return []

    def reconcile(self) -> list[Path]:
        """Leave receipts and stamps as they are."""
        return []


def _target_scope(target: str) -> str:
    """Return the scope of a target of Snakemake, if it is a paper or a file of an artifact.

    >>> _target_scope("msci"), _target_scope("reports/demo/msci/table-2.lineage.json"), _target_scope("comparisons/a")
    ('msci', 'msci.table-2', 'a')
    """
    if not target.startswith("reports/"):
        return target.removeprefix(f"{COMPARISONS}/")
    _, _, inside = target.removeprefix("reports/").partition("/")
    paper, _, file = inside.partition("/")
    return f"{paper}.{file.partition('.')[0]}" if file else paper


def check_targets(targets: Iterable[str], rules: Iterable[str], work: Workspace) -> None:
    """Check the names that a user gave to Snakemake: rules, files of artifacts, or other existing files.

    Raises:
        PlanError: nothing has such a name; the message names the nearest target.
    """
    files = [
        f"{work.reports_place}/{paper.name}/{file}"
        for paper in work.papers
        for name in paper.artifacts
        for file in artifact_files(paper, name)
    ]
    known = [*rules, *files]
    for target in targets:
        if target not in known and not target.startswith("results/") and not (work.root / target).exists():
            remedy = "`snakemake --list` names all rules"
            message = f"there is no target '{target}'{nearest(target, known)}; {remedy}"
            raise PlanError(message, code="unknown-target", place=target)


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


def first_stage(paper: Paper) -> str:
    """Return the name of the stage that completes the first artifact of a paper."""
    return f"{paper.name}.{paper.first_artifact}"


def count_of(count: int, kind: str) -> str:
    """Return a number with its noun, which is given in the plural.

    >>> count_of(1, "runs"), count_of(2, "runs")
    ('1 run', '2 runs')
    """
    return f"{count} {kind if count > 1 else kind.removesuffix('s')}"


def job_label(phase: str, recipes: list[Recipe]) -> str:
    """Return the name of a job's first recipe and the number of others, as part of the names of files and of Slurm's
    jobs.
    """
    names = list(dict.fromkeys(recipe.name for recipe in recipes if recipe.kind == phase))
    names = names or list(dict.fromkeys(recipe.name for recipe in recipes))
    more = f"-and-{len(names) - 1}-more" if len(names) > 1 else ""
    return re.sub(r"[^A-Za-z0-9.]+", "-", names[0])[:MAX_LABEL] + more


def job_description(phase: str, recipes: list[Recipe]) -> str:
    """Return a job in one line: methods, data sets and seeds."""
    if phase not in TRAINED:
        counts = Counter(recipe.name for recipe in recipes)
        return f"{phase}: {', '.join(name + (f' ({count})' if count > 1 else '') for name, count in counts.items())}"
    counts = Counter(recipe.kind for recipe in recipes)
    labels = [recipe.labels for recipe in recipes if recipe.kind == next(kind for kind in TRAINED if counts[kind])]
    methods = ", ".join(dict.fromkeys(str(label["method"]) for label in labels))
    datasets = ", ".join(dict.fromkeys(str(label["dataset"]) for label in labels))
    seeds = ", ".join(map(str, sorted({label["seed"] for label in labels})))
    work = " and ".join(count_of(counts[kind], kind) for kind in TRAINED if counts[kind])
    return f"{work} of {methods} on {datasets}, seeds {seeds}"
