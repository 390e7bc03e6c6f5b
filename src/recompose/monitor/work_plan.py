"""What is needed, what of it is left to make, who needs it, and what it takes."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from recompose.costs import BASES, UNKNOWN, CostEstimate
from recompose.engine import ALL, TRAINED, Engine, Job
from recompose.monitor.remaining import Remaining, remaining_now
from recompose.monitor.status import needed_by
from recompose.plan import Recipe


@dataclass(frozen=True)
class Needed:
    """Something that parameters ask for, or what is left of it to make."""

    kind: str
    folder: str
    digest: str
    title: str
    method: str  # of what is no run, its name
    dataset: str
    name: str  # of the method or the variant; of what is neither, as the method
    papers: tuple[str, ...]  # that need a run or an evaluation
    new: bool  # an edit asks for it, and the parameters as they are do not
    there: bool  # complete in its store
    estimate: CostEstimate | None

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
class Takes:
    """What it takes to make several things, as far as that is known."""

    seconds: float
    memory: int | None  # bytes, of what takes most
    bases: dict[str, int]  # how many of them are measured, calibrated, unknown

    @classmethod
    def of(cls, missing: Iterable[Needed]) -> "Takes":
        """What these take, one after another."""
        missing = list(missing)
        known = [each.estimate for each in missing if each.estimate]
        counts = Counter(each.estimate.basis if each.estimate else UNKNOWN for each in missing)
        return cls(
            sum(estimate.seconds for estimate in known),
            max((estimate.memory for estimate in known if estimate.memory is not None), default=None),
            {basis: counts[basis] for basis in BASES if counts[basis]},
        )


@dataclass(frozen=True)
class Group:
    """Runs and evaluations that belong together."""

    papers: tuple[str, ...]  # none: the profile asks for them, and no paper does
    members: tuple[Needed, ...]

    @property
    def methods(self) -> list[str]:
        """Their methods."""
        return list(dict.fromkeys(each.method for each in self.members))

    @property
    def variants(self) -> list[str]:
        """The names among them that are no method's."""
        return list(dict.fromkeys(each.name for each in self.members if each.name != each.method))

    @property
    def datasets(self) -> list[str]:
        """The data sets that they are on."""
        return list(dict.fromkeys(each.dataset for each in self.members))

    def of(self, kind: str) -> list[Needed]:
        """Those of a kind."""
        return [each for each in self.members if each.kind == kind]

    @property
    def takes(self) -> Takes:
        """What is left of them takes."""
        return Takes.of(each for each in self.members if not each.there)

    def document(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "papers": list(self.papers),
            "methods": self.methods,
            "variants": self.variants,
            "datasets": self.datasets,
            **{kind: _tally(self.of(kind)) for kind in TRAINED},
            **asdict(self.takes),
        }


def _tally(needed: list[Needed]) -> dict[str, int]:
    return {
        "asked": len(needed),
        "there": sum(each.there for each in needed),
        "new": sum(each.new for each in needed),
    }


@dataclass(frozen=True)
class WorkPlan:
    """All that a profile asks for, and what is left to make of it."""

    profile: str
    needed: list[Needed]
    processes: list[Process]
    remaining: Remaining

    @property
    def runs(self) -> list[Needed]:
        """The runs."""
        return [each for each in self.needed if each.kind == "runs"]

    @property
    def steps(self) -> list[Needed]:
        """What has to be there before runs."""
        return [each for each in self.needed if each.kind not in TRAINED]

    @property
    def to_make(self) -> list[Needed]:
        """What a workflow would make."""
        return [each for each in self.needed if not each.there]

    @property
    def takes(self) -> Takes:
        """What is left to make takes."""
        return Takes.of(self.to_make)

    @property
    def unmeasured(self) -> int:
        """How many jobs are in no time, because it is unknown what they take."""
        return self.takes.bases.get(UNKNOWN, 0)

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
        """Those of this machine."""
        return self.remaining.cores

    @property
    def wall_seconds(self) -> float:
        """From now to the end."""
        return self.remaining.seconds

    @property
    def wall_share(self) -> float | None:
        """The time from start to end for each second of work that is left; None where no time is known."""
        seconds = sum(process.seconds for process in self.processes)
        return self.wall_seconds / seconds if seconds else None

    @property
    def by_papers(self) -> list[Group]:
        """Runs and evaluations by the papers that need them; what several share stands once."""
        return self._grouped(lambda each: each.papers)

    @property
    def by_method(self) -> list[Group]:
        """The same, divided by method and data set."""
        return self._grouped(lambda each: (each.papers, each.method, each.dataset))

    def _grouped(self, key: Callable[[Needed], Hashable]) -> list[Group]:
        groups: dict[Hashable, list[Needed]] = {}
        for each in self.needed:
            if each.kind in TRAINED:
                groups.setdefault(key(each), []).append(each)
        return [Group(members[0].papers, tuple(members)) for members in groups.values()]

    def document(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "profile": self.profile,
            "groups": [group.document() for group in self.by_method],
            "runs": [asdict(each) for each in self.runs if each.new or not each.there],
            "steps": [asdict(each) for each in self.to_make if each.kind != "runs"],
            "processes": [asdict(process) for process in self.processes],
            "core_seconds": self.core_seconds,
            "gpu_seconds": self.gpu_seconds,
            "wall_seconds": self.wall_seconds,
            "memory": self.takes.memory,
            "unmeasured": self.unmeasured,
        }


def outlook(engine: Engine) -> WorkPlan:
    """What a workspace asks for, and what is left to make."""
    planned = {recipe.digest for recipe in engine.work.plan.recipes}
    needed = needed_of(engine, planned)
    return WorkPlan(engine.work.params.profile, needed, processes(engine, needed), remaining_now(engine))


def needed_of(engine: Engine, planned: set[str]) -> list[Needed]:
    """Everything that a workspace asks for.

    Args:
        engine: of the workspace.
        planned: the digests of what was asked for before; all else is new.
    """
    work = engine.work
    of_papers = {paper.name: needed_by(work.plan, paper) for paper in work.papers}

    def needed(recipe: Recipe) -> Needed:
        papers = tuple(name for name, digests in of_papers.items() if recipe.digest in digests)
        return _needed(engine, recipe, papers, new=recipe.digest not in planned)

    return [needed(recipe) for recipe in work.plan.recipes]


def _needed(engine: Engine, recipe: Recipe, papers: tuple[str, ...], *, new: bool) -> Needed:
    there = engine.work.store.is_complete(recipe)
    method = str(recipe.labels.get("method", recipe.name))
    return Needed(
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


def processes(engine: Engine, needed: Iterable[Needed]) -> list[Process]:
    """The processes that would make what is left."""
    by_key = {each.key: each for each in needed}
    return [_process(job, by_key) for job in engine.jobs(ALL)]


def _process(job: Job, needed: dict[str, Needed]) -> Process:
    seconds = [each.estimate.seconds for each in (needed[key] for key in job.keys) if each.estimate]
    return Process(
        job.phase, job.name, len(job.keys), job.threads, job.gpus, sum(seconds), len(job.keys) - len(seconds)
    )
