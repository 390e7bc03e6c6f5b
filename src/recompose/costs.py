"""Costs: the time and memory of recipes, estimated from the records of like recipes.

The records of the store count first, then those behind the profile's reports, which another machine may have made. The
time of what is like nothing that was made is unknown.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from statistics import median
from typing import Any

from recompose.cores import usable_cores
from recompose.data.content import raw_files
from recompose.errors import DamagedError
from recompose.files import read_json
from recompose.phases import KINDS, needs_gpu
from recompose.progress import read_progress
from recompose.recipes.plan import Plan, Recipe
from recompose.recipes.records import COSTS, RECORD, Build, Record, flat
from recompose.tables.provenance import Made, Provenance
from recompose.workspace import Workspace

MEASURED, SIMILAR, UNKNOWN = BASES = ("measured", "similar", "unknown")  # the basis of an estimate


@dataclass(frozen=True)
class CostEstimate:
    """An estimated cost."""

    seconds: float
    where: tuple[str, ...] = ()  # the machines whose records it rests on
    memory: int | None = None  # bytes at the peak, of the GPU if it uses one; None: unknown
    basis: str = MEASURED

    @property
    def is_firm(self) -> bool:
        """True where the method itself was run on the data set, so that limits can rest on it."""
        return self.basis == MEASURED


@dataclass(frozen=True)
class MadeRecipe:
    """A recipe that was made, and its cost."""

    recipe: Recipe
    build: Build
    memory: int | None = None  # bytes at the peak


class Costs:
    """The costs of everything that was made.

    Args:
        stored: what is in the store.
        read_published: reads what is behind the reports; called where nothing stored is like a recipe, as it takes a
            second.
        count_images: returns the number of images of data; 0: unknown.
    """

    def __init__(
        self,
        stored: Iterable[MadeRecipe],
        read_published: Callable[[], Iterable[MadeRecipe]],
        count_images: Callable[[Recipe], int],
    ) -> None:
        self._stored, self._published = _by_likeness(stored), cache(lambda: _by_likeness(read_published()))
        self._count_images, self._estimates = cache(count_images), dict[str, CostEstimate | None]()

    @classmethod
    def of(cls, work: Workspace, plan: Plan) -> "Costs":
        """Read the costs in a workspace.

        Args:
            work: the workspace.
            plan: of the recipes that records name and that are not stored.
        """
        return cls(_stored(work, plan), partial(_published, work), partial(_count_images, work))

    def estimate(self, recipe: Recipe) -> CostEstimate | None:
        """Return the estimated cost of making a recipe, or None where nothing like it was made."""
        if recipe.digest not in self._estimates:
            self._estimates[recipe.digest] = self._estimate(recipe)
        return self._estimates[recipe.digest]

    def _estimate(self, recipe: Recipe) -> CostEstimate | None:
        """Return the median of the costs of like recipes, in proportion to epochs and images; where images are not
        counted, other data takes another time.
        """
        images = self._images(recipe)
        for basis, key in likenesses(recipe):
            like = self._stored.get(key) or self._published().get(key, [])
            like = [made for made in like if bool(self._images(made.recipe)) == bool(images)]
            if like and (images or basis == MEASURED):
                seconds = [made.build.seconds * self._size(recipe) / self._size(made.recipe) for made in like]
                where = tuple(sorted({f"{made.build.host}, {made.build.device}" for made in like}))
                peaks = [made.memory for made in like if made.memory is not None and basis == MEASURED]
                return CostEstimate(median(seconds), where, max(peaks, default=None), basis)
        return None

    def _size(self, recipe: Recipe) -> int:
        """Return the number of epochs, times that of images where it is known."""
        return _epochs(recipe) * (self._images(recipe) or 1)

    def _images(self, recipe: Recipe) -> int:
        """Return the number of images that a recipe goes through, as that of its data; 0 where it is unknown."""
        return sum(map(self._count_images, _data_of(recipe)))


def _by_likeness(recipes: Iterable[MadeRecipe]) -> dict[Hashable, list[MadeRecipe]]:
    """Return recipes by likeness, without those of several attempts: only the last one's time is recorded."""
    groups: dict[Hashable, list[MadeRecipe]] = {}
    for made in recipes:
        if made.build.attempts == 1:
            for _, key in likenesses(made.recipe):
                groups.setdefault(key, []).append(made)
    return groups


def likenesses(recipe: Recipe) -> Iterator[tuple[str, Hashable]]:
    """Yield what like recipes share with a recipe, the most alike first, each with the basis of such an estimate.

    All share its kind and backbone, which decides most of a cost.
    """
    common = (recipe.kind, recipe.track, _backbone_of(recipe))
    method, dataset = recipe.labels.get("method"), recipe.labels.get("dataset", recipe.name)
    yield MEASURED, (*common, method, dataset)
    if method:
        yield SIMILAR, (*common, method)
        yield SIMILAR, common
    else:
        yield SIMILAR, (*common, frozenset(recipe.document))  # generated data has other settings than downloaded data


def _epochs(recipe: Recipe) -> int:
    epochs = [int(value) for name, value in flat(recipe.document) if name.split(".")[-1] == "epochs" and value]
    return epochs[0] if epochs else 1


def _backbone_of(recipe: Recipe) -> str:
    """Return the name of the backbone behind a recipe; empty without one."""
    if recipe.kind == "backbones":
        return recipe.name
    return next(filter(None, map(_backbone_of, recipe.needs.values())), "")


def _data_of(recipe: Recipe) -> list[Recipe]:
    """Return the data that a recipe processes: itself, what it needs, or what its pixels were made from."""
    if recipe.kind == "data":
        return [recipe]
    direct = [need for need in recipe.needs.values() if need.kind == "data"]
    return direct or [data for need in recipe.needs.values() if need.kind == "pixels" for data in _data_of(need)]


def _count_images(work: Workspace, data: Recipe) -> int:
    """Return the number of generated images of data, or of raw files where it is indexed; 0 if neither is known."""
    images: Any = data.document.get("images", data.document.get("scenes"))
    counts = [*images.values()] if isinstance(images, Mapping) else [images]
    if all(isinstance(count, int) for count in counts):  # a plugin's data may call anything its images
        return sum(counts)
    with suppress(OSError, ValueError):
        return len(raw_files(work.store.folder(data)))
    return 0


def _stored(work: Workspace, plan: Plan) -> list[MadeRecipe]:
    """Return everything in the store; damaged records are skipped, and reported by the audit."""
    records: dict[str, Record] = {}
    for kind in KINDS:
        for path in (work.results / kind).glob(f"*/{RECORD}"):
            with suppress(DamagedError):
                records[f"{kind}/{path.parent.name}"] = Record.read(path)
    recipes = _recipes(records, plan)
    return [MadeRecipe(recipes[key], record.made, _peak_memory(work, key)) for key, record in records.items()]


def _published(work: Workspace) -> list[MadeRecipe]:
    """Return what is behind the reports; nothing where they are not valid, as the audit reports."""
    try:
        recipes = Provenance.read(work.reports).recipes
    except (OSError, ValueError):
        return []
    builds = Made.read(work.reports).builds
    return [MadeRecipe(recipe, builds[key]) for key, recipe in recipes.items() if key in builds]


def _recipes(records: Mapping[str, Recipe], plan: Plan) -> dict[str, Recipe]:
    """Return the described recipes, needs first, and the planned ones, by key."""
    recipes = dict(plan.by_key)
    for key, described in records.items():
        if key not in recipes:
            recipes[key] = described.linked(recipes)
    return recipes


def _peak_memory(work: Workspace, key: str) -> int | None:
    """Return the peak memory that a run or an evaluation in the store recorded, in bytes."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        return int(read_json(work.results / key / COSTS)["peak_memory_bytes"])
    return None


@dataclass(frozen=True)
class TimeLeft:
    """The time that is left, as far as it is known."""

    seconds: float  # from now to the end, without the unknown recipes
    unknown: int  # recipes without an estimate


def time_left(work: Workspace, costs: Costs, missing: Iterable[Recipe]) -> TimeLeft:
    """Return the time in which missing recipes are made side by side; of one that was begun, only the rest counts."""
    estimates = [(costs.estimate(recipe), _part_left(work, recipe)) for recipe in missing]
    known = [part * estimate.seconds for estimate, part in estimates if estimate]
    return TimeLeft(sum(known) / processes(work), len(estimates) - len(known))


def _part_left(work: Workspace, recipe: Recipe) -> float:
    progress = read_progress(work.store.folder(recipe))
    return 1 - progress.done / progress.total if progress and progress.total else 1.0


def processes(work: Workspace) -> int:
    """Return the number of processes that make recipes side by side: one for each core; a single one with GPUs."""
    trainer = work.params.chosen.trainer
    if trainer.accelerator != "cpu" and needs_gpu(work.plan.recipes):
        return 1
    return max(usable_cores() // trainer.threads, 1)
