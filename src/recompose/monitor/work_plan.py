"""Everything that a profile needs: which part is missing, for which papers, and its expected time and memory."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import asdict, dataclass

from recompose.commands.status import needed_by
from recompose.costs import BASES, UNKNOWN, CostEstimate, Costs, TimeLeft
from recompose.phases import TRAINED, gpus_of, threads_of
from recompose.plan import Recipe
from recompose.workspace import Workspace


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
    threads: int = 1
    gpus: int = 0

    @property
    def key(self) -> str:
        """Its place below results/."""
        return f"{self.kind}/{self.folder}"


@dataclass(frozen=True)
class Workload:
    """The expected time and memory of several items."""

    seconds: float
    memory: int | None  # bytes, the largest of all
    bases: dict[str, int]  # the number of estimates by basis: measured, similar, unknown

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
    left: TimeLeft

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
    def core_seconds(self) -> float:
        """The time of all cores together."""
        return sum(item.estimate.seconds * item.threads for item in self.to_make if item.estimate)

    @property
    def gpu_seconds(self) -> float:
        """The time of all GPUs together."""
        return sum(item.estimate.seconds * item.gpus for item in self.to_make if item.estimate)

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
            "core_seconds": self.core_seconds,
            "gpu_seconds": self.gpu_seconds,
            "wall_seconds": self.left.seconds,
            "memory": self.workload.memory,
            "unmeasured": self.left.unknown,
        }


def planned_items(work: Workspace, costs: Costs, planned: set[str]) -> list[PlannedItem]:
    """Return everything that a workspace asks for.

    Args:
        work: the workspace.
        costs: of everything that was made.
        planned: the digests of the recipes before an edit; all others are new.
    """
    by_paper = {paper.name: needed_by(work.plan, paper) for paper in work.papers}

    def item(recipe: Recipe) -> PlannedItem:
        there = work.store.is_complete(recipe)
        method = str(recipe.labels.get("method", recipe.name))
        return PlannedItem(
            recipe.kind,
            recipe.folder,
            recipe.digest,
            recipe.name,
            method,
            str(recipe.labels.get("dataset", "")) if "method" in recipe.labels else "",
            str(recipe.labels.get("name", method)),
            tuple(name for name, digests in by_paper.items() if recipe.digest in digests),
            recipe.digest not in planned,
            there,
            None if there else costs.estimate(recipe),
            threads_of(work, recipe),
            gpus_of(work, [recipe]),
        )

    return [item(recipe) for recipe in work.plan.recipes]
