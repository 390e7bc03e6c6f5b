"""Everything that a profile needs: which part is missing, for which papers, and its expected time and memory."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import asdict, dataclass

from recompose.costs import BASES, UNKNOWN, CostEstimate
from recompose.engine import ALL, TRAINED, Engine, Job
from recompose.monitor.remaining import Remaining, remaining_now
from recompose.monitor.status import needed_by
from recompose.plan import Recipe


@dataclass(frozen=True)
class PlannedItem:
    """A recipe that the parameters ask for, with its state and estimate."""

    kind: str
    folder: str
    digest: str
    title: str
    method: str  # the recipe's name where it is no run
    dataset: str
    name: str  # of the method or the variant; the method where it is no run
    papers: tuple[str, ...]  # that need a run or an evaluation
    new: bool  # true where only the edited parameters ask for it
    there: bool  # complete in its store
    estimate: CostEstimate | None

    @property
    def key(self) -> str:
        """Its place below results/."""
        return f"{self.kind}/{self.folder}"


@dataclass(frozen=True)
class Process:
    """A process that a workflow would start."""

    phase: str
    name: str
    jobs: int  # that it carries out
    threads: int
    gpus: int
    seconds: float  # of the jobs with an estimate
    unmeasured: int  # jobs without an estimate


@dataclass(frozen=True)
class Workload:
    """The expected time and memory of several items."""

    seconds: float
    memory: int | None  # bytes, the largest of all
    bases: dict[str, int]  # the number of estimates by basis: measured, calibrated, unknown

    @classmethod
    def of(cls, items: Iterable[PlannedItem]) -> "Workload":
        """Return the sum over items, as if they ran one after another."""
        items = list(items)
        estimates = [item.estimate for item in items if item.estimate]
        counts = Counter(item.estimate.basis if item.estimate else UNKNOWN for item in items)
        return cls(
            sum(estimate.seconds for estimate in estimates),
            max((estimate.memory for estimate in estimates if estimate.memory is not None), default=None),
            {basis: counts[basis] for basis in BASES if counts[basis]},
        )


@dataclass(frozen=True)
class Group:
    """Runs and evaluations that one row of a table sums up."""

    papers: tuple[str, ...]  # none: only the profile asks for them
    members: tuple[PlannedItem, ...]

    @property
    def methods(self) -> list[str]:
        """Their methods."""
        return list(dict.fromkeys(member.method for member in self.members))

    @property
    def variants(self) -> list[str]:
        """The variants among them."""
        return list(dict.fromkeys(member.name for member in self.members if member.name != member.method))

    @property
    def datasets(self) -> list[str]:
        """Their data sets."""
        return list(dict.fromkeys(member.dataset for member in self.members))

    def members_of(self, kind: str) -> list[PlannedItem]:
        """Return the members of a kind."""
        return [member for member in self.members if member.kind == kind]

    @property
    def workload(self) -> Workload:
        """The expected time and memory of the missing members."""
        return Workload.of(member for member in self.members if not member.there)

    def document(self) -> dict[str, object]:
        """Return the group as plain values."""
        return {
            "papers": list(self.papers),
            "methods": self.methods,
            "variants": self.variants,
            "datasets": self.datasets,
            **{kind: _tally(self.members_of(kind)) for kind in TRAINED},
            **asdict(self.workload),
        }


def _tally(items: list[PlannedItem]) -> dict[str, int]:
    return {
        "asked": len(items),
        "there": sum(item.there for item in items),
        "new": sum(item.new for item in items),
    }


@dataclass(frozen=True)
class WorkPlan:
    """Everything that a profile asks for, and the work that is left."""

    profile: str
    items: list[PlannedItem]
    processes: list[Process]
    remaining: Remaining

    @property
    def runs(self) -> list[PlannedItem]:
        """The runs."""
        return [item for item in self.items if item.kind == "runs"]

    @property
    def steps(self) -> list[PlannedItem]:
        """The items that have to be complete before runs."""
        return [item for item in self.items if item.kind not in TRAINED]

    @property
    def to_make(self) -> list[PlannedItem]:
        """The items that a workflow would make."""
        return [item for item in self.items if not item.there]

    @property
    def workload(self) -> Workload:
        """The expected time and memory of the missing items."""
        return Workload.of(self.to_make)

    @property
    def unmeasured(self) -> int:
        """The number of jobs without an estimate."""
        return self.workload.bases.get(UNKNOWN, 0)

    @property
    def core_seconds(self) -> float:
        """The time of all cores together."""
        return sum(process.seconds * process.threads for process in self.processes)

    @property
    def gpu_seconds(self) -> float:
        """The time of all GPUs together."""
        return sum(process.seconds * process.gpus for process in self.processes)

    @property
    def cores(self) -> int:
        """The cores of this machine."""
        return self.remaining.cores

    @property
    def wall_seconds(self) -> float:
        """The time from now to the end."""
        return self.remaining.seconds

    @property
    def wall_share(self) -> float | None:
        """The time from start to end for each second of remaining work; None without estimates."""
        seconds = sum(process.seconds for process in self.processes)
        return self.wall_seconds / seconds if seconds else None

    @property
    def by_papers(self) -> list[Group]:
        """Runs and evaluations by the set of papers that need them; shared ones are counted once."""
        return self._grouped(lambda item: item.papers)

    @property
    def by_method(self) -> list[Group]:
        """Runs and evaluations by papers, method and data set."""
        return self._grouped(lambda item: (item.papers, item.method, item.dataset))

    def _grouped(self, key: Callable[[PlannedItem], Hashable]) -> list[Group]:
        groups: dict[Hashable, list[PlannedItem]] = {}
        for item in self.items:
            if item.kind in TRAINED:
                groups.setdefault(key(item), []).append(item)
        return [Group(members[0].papers, tuple(members)) for members in groups.values()]

    def document(self) -> dict[str, object]:
        """Return the plan as plain values."""
        return {
            "profile": self.profile,
            "groups": [group.document() for group in self.by_method],
            "runs": [asdict(run) for run in self.runs if run.new or not run.there],
            "steps": [asdict(item) for item in self.to_make if item.kind != "runs"],
            "processes": [asdict(process) for process in self.processes],
            "core_seconds": self.core_seconds,
            "gpu_seconds": self.gpu_seconds,
            "wall_seconds": self.wall_seconds,
            "memory": self.workload.memory,
            "unmeasured": self.unmeasured,
        }


def plan_work(engine: Engine) -> WorkPlan:
    """Return everything that a workspace asks for, and the work that is left."""
    planned = {recipe.digest for recipe in engine.work.plan.recipes}
    items = planned_items(engine, planned)
    return WorkPlan(engine.work.params.profile, items, planned_processes(engine, items), remaining_now(engine))


def planned_items(engine: Engine, planned: set[str]) -> list[PlannedItem]:
    """Return everything that a workspace asks for.

    Args:
        engine: of the workspace.
        planned: the digests of the recipes before an edit; all others are new.
    """
    work = engine.work
    by_paper = {paper.name: needed_by(work.plan, paper) for paper in work.papers}

    def item(recipe: Recipe) -> PlannedItem:
        papers = tuple(name for name, digests in by_paper.items() if recipe.digest in digests)
        return _planned_item(engine, recipe, papers, new=recipe.digest not in planned)

    return [item(recipe) for recipe in work.plan.recipes]


def _planned_item(engine: Engine, recipe: Recipe, papers: tuple[str, ...], *, new: bool) -> PlannedItem:
    there = engine.work.store.is_complete(recipe)
    method = str(recipe.labels.get("method", recipe.name))
    return PlannedItem(
        recipe.kind,
        recipe.folder,
        recipe.digest,
        recipe.name,
        method,
        str(recipe.labels.get("dataset", "")) if "method" in recipe.labels else "",
        str(recipe.labels.get("name", method)),
        papers,
        new,
        there,
        None if there else engine.estimate(recipe),
    )


def planned_processes(engine: Engine, items: Iterable[PlannedItem]) -> list[Process]:
    """Return the processes that would make the missing items."""
    by_key = {item.key: item for item in items}
    return [_process(job, by_key) for job in engine.jobs(ALL)]


def _process(job: Job, items: dict[str, PlannedItem]) -> Process:
    seconds = [item.estimate.seconds for item in (items[key] for key in job.keys) if item.estimate]
    return Process(
        job.phase, job.name, len(job.keys), job.threads, job.gpus, sum(seconds), len(job.keys) - len(seconds)
    )
