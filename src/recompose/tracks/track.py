"""What the core asks of a track: torch-free to import; what needs torch is imported when it is asked for."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from recompose.errors import PlanError
from recompose.params import Params, TrackForm
from recompose.params.mistakes import nearest
from recompose.params.track import TrackSection
from recompose.plan import Planner, Recipe, TrackPlan
from recompose.tracks.catalogue import Method

if TYPE_CHECKING:
    from recompose.data.pictures import Picture
    from recompose.papers.declaration import Variant
    from recompose.training.hardware import Hardware


@dataclass(frozen=True)
class Metric:
    """What a number is: in which unit people read it, with how many digits, and which end of it is the better one."""

    unit: str  # empty: a plain number
    factor: float  # from the number as it is kept to that unit
    digits: int
    better: int  # 1: higher is better, -1: lower is, 0: neither


COSTS: Mapping[str, Metric] = {
    "cost/trainable_parameters": Metric("M", 1e-6, 3, 0),
    "cost/trainable_parameters_at_vit_l_14": Metric("M", 1e-6, 3, 0),
    "cost/peak_memory_bytes": Metric("GiB", 2**-30, 3, 0),
    "cost/epoch_seconds": Metric("min", 1 / 60, 3, 0),
    "cost/test_seconds": Metric("s", 1, 3, 0),
}  # what runs and evaluations of all tracks cost, as their files of costs have it


class Track(ABC):
    """A task protocol: its data, its methods, how they are trained, scored and measured, and its own kinds of tables
    and figures.
    """

    name: ClassVar[str]
    form: ClassVar[TrackForm]  # its section of params.yaml, and what a profile chooses of it
    headline: ClassVar[str]  # the metric that is said first of an evaluation
    compared: ClassVar[Mapping[str, str]]  # metrics that DVC compares: label -> name
    tables: ClassVar[Mapping[str, str]] = {}  # kind of table that it adds -> "module:function"
    figures: ClassVar[Mapping[str, str]] = {}  # kind of figure -> "module:function"
    plots: ClassVar[Mapping[str, str]] = {}  # file of numbers for `dvc plots` -> "module:function"
    expectations: ClassVar[str] = ""  # "module:function" that gives what has to hold of its numbers
    methods: ClassVar[Mapping[str, Method]] = {}
    training: ClassVar[str]  # the module whose ``train`` carries out a run
    evaluation: ClassVar[str]  # the module whose ``evaluate`` carries out an evaluation
    savable: ClassVar[tuple[str, ...]] = ("embeddings",)  # what an evaluation can keep besides scores
    metric_code: ClassVar[tuple[str, ...]]  # the modules that decide what metrics come to

    @abstractmethod
    def plan(self, params: Params, planner: Planner, variants: "Mapping[str, Variant]") -> TrackPlan:
        """What the chosen profile needs, with these variants of its methods.

        Raises:
            PlanError: the variants do not go with what the profile asks for.
        """

    def settings(self, params: Params, method: str, dataset: str) -> dict[str, Any]:
        """The settings that params.yaml has for a method on a data set, as plain values."""
        section = params.tracks[self.name]
        assert isinstance(section, TrackSection)
        return section.settings(method, dataset)

    def root(self, recipe: Recipe, data: Path) -> Path:
        """The folder, below ``data``, of a data set's raw files."""
        return data / (f"{recipe.name}-{recipe.folder}" if self.is_synthetic(recipe) else recipe.name)

    def mark(self, recipe: Recipe, data: Path) -> Path:
        """What exists, below ``data``, where a data set's raw files are there."""
        return self.root(recipe, data)

    @abstractmethod
    def acquire(self, recipe: Recipe, params: Params, data: Path) -> Path:
        """Bring a data set's raw files below ``data`` where they are not there yet; gives their folder.

        Raises:
            DataError, DownloadError: what is there or what came is not the data set.
        """

    @abstractmethod
    def index(self, recipe: Recipe, root: Path, folder: Path) -> list[str]:
        """Read and check a data set's raw files, and write into a folder all that others need of them.

        Gives the raw files that it was read from, as paths below ``root``.

        Raises:
            DataError: they are not the data set.
        """

    def train(
        self, document: Mapping[str, Any], needs: Mapping[str, Path], folder: Path, hardware: "Hardware", title: str
    ) -> bool:
        """Carry out a run in its folder; whether this is the process that goes on, of those of several devices."""
        goes_on: bool = function(f"{self.training}:train")(document, needs, folder, hardware, title)
        return goes_on

    def synthetic_index(self, data: Recipe, folder: Path, images: int) -> None:
        """Write into a folder an index that is like a data set's to whoever trains on it, and has as many images to
        train on as are asked for.

        Raises:
            PlanError: the track has none.
        """
        raise PlanError(f"{self.name} has no synthetic index to time trainings on")

    def evaluate(
        self, document: Mapping[str, Any], needs: Mapping[str, Path], folder: Path, hardware: "Hardware", title: str
    ) -> None:
        """Score a run, or a method that is not trained, in the folder of the evaluation."""
        function(f"{self.evaluation}:evaluate")(document, needs, folder, hardware, title)

    def together(self, evaluation: Recipe) -> str:
        """Return what an evaluation has in common with those that one pass over the images carries out with it: of an
        evaluation that goes alone its own digest.
        """
        return evaluation.digest

    def evaluate_together(
        self,
        documents: Mapping[Path, Mapping[str, Any]],
        needs: Mapping[str, Path],
        hardware: "Hardware",
        title: str,
    ) -> None:
        """Carry out evaluations that go together, each given by its folder, in one pass over the images."""
        function(f"{self.evaluation}:evaluate_together")(documents, needs, hardware, title)

    @abstractmethod
    def metrics(self, evaluation: Path, needs: Mapping[str, Path]) -> dict[str, float]:
        """All numbers that follow from an evaluation's scores, by their flat names."""

    @abstractmethod
    def metric(self, name: str) -> Metric:
        """What a number is, by its name.

        Raises:
            KeyError: there is no such metric.
        """

    def images(self, index: Path) -> list[str]:
        """The paths of the images of an index, below the folder of raw files, in the order of grids; of a track without
        grids none.
        """
        return []

    def pictures(self, index: Path) -> "list[Picture]":
        """The pictures of an index, in the order of pixels and features; of a track without pixels none."""
        return []

    def depends_on_seed(self, evaluation: Recipe) -> bool:
        """Whether another seed gives an evaluation's method other numbers on the same data."""
        path = evaluation.document.get("class")
        return not any(method.class_path == path and not method.needs_seed for method in self.methods.values())

    def is_synthetic(self, data: Recipe) -> bool:
        """Whether a data set is drawn here, in place of published."""
        return "archives" not in data.document

    def size(self, recipe: Recipe, index: Path) -> dict[str, int]:
        """How much there is in a data set, by what costs grow with, as published where it is not there yet; empty where
        nobody counted it.
        """
        return {}

    def metric_names(self) -> Iterable[str]:
        """The names of metrics, of which a message says the nearest to one that is misspelt."""
        return self.compared.values()

    def description_of(self, metric: str) -> Metric:
        """What a metric of this track, or a cost, is.

        Raises:
            PlanError: there is no such metric.
        """
        try:
            return COSTS[metric] if metric in COSTS else self.metric(metric)
        except KeyError:
            known = nearest(metric, [*self.metric_names(), *COSTS])
            raise PlanError(f"tracks/{self.name}/__init__.py declares no metric '{metric}'{known}") from None


def function(place: str) -> Callable[..., Any]:
    """The function at ``module:name``."""
    module, _, name = place.partition(":")
    made: Callable[..., Any] = getattr(import_module(module), name)
    return made
