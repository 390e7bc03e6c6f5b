"""The interface of a track. Importing it needs no torch; modules that need torch are imported on use."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Union

from pydantic import Field, create_model

from recompose.errors import PlanError
from recompose.papers.declaration import Paper, Variant, all_papers, papers_of
from recompose.params.mistakes import nearest
from recompose.params.schema import Params, TrackForm
from recompose.params.sections import Distinct, Name, Section
from recompose.params.track import TrackChoice, TrackSection, methods_section
from recompose.parts.expectations import Above
from recompose.parts.results import Cells, Results
from recompose.recipes.fingerprint import fingerprint
from recompose.recipes.plan import ARITHMETIC, Planner, Recipe, TrackPlan
from recompose.tables.metric import Metric
from recompose.tracks.building import Document
from recompose.tracks.catalogue import Adapters, DataAdapter, Method, PluginMetric
from recompose.tracks.measuring import EVALUATION, MEASURE, OWN
from recompose.tracks.planning import Runs

if TYPE_CHECKING:
    from PIL import Image


COSTS: Mapping[str, Metric] = {
    "cost/trainable_parameters": Metric("M", 1e-6, 3, 0),
    "cost/trainable_parameters_at_vit_l_14": Metric("M", 1e-6, 3, 0),
    "cost/peak_memory_bytes": Metric("GiB", 2**-30, 3, 0),
    "cost/epoch_seconds": Metric("min", 1 / 60, 3, 0),
    "cost/test_seconds": Metric("s", 1, 3, 0),
}  # the costs of runs and evaluations in all tracks, as in their files


@dataclass(frozen=True)
class Added:
    """What plugins add to a track: methods, formats of data sets and suites, and metrics by name, and papers."""

    methods: Mapping[str, Method] = field(default_factory=dict)
    adapters: Adapters = field(default_factory=dict)
    metrics: Mapping[str, PluginMetric] = field(default_factory=dict)
    papers: tuple[Paper, ...] = ()


class Track:
    """A task protocol: its data, its methods, how they are trained, scored and measured, and its own kinds of tables
    and figures. Once it is made, it does not change: with plugins there is another one.
    """

    name: ClassVar[str]
    section: ClassVar[type[TrackSection]]  # of params.yaml, of any methods and data
    choice: ClassVar[type[TrackChoice]]  # a profile's, from it
    runs: ClassVar[type[Runs]]  # their planner
    headline: ClassVar[str]  # the first metric that is shown of an evaluation
    compared: ClassVar[Mapping[str, str]]  # the metrics that people compare: label -> name
    tables: ClassVar[Mapping[str, Cells]] = {}  # its own kinds of tables -> what yields their cells
    # its own kinds of figures -> "module:function": planning needs the name, drawing imports matplotlib and more
    figures: ClassVar[Mapping[str, str]] = {}
    expectations: ClassVar[tuple[Above, ...]] = ()  # what has to hold of its numbers, whatever papers claim
    methods: Mapping[str, Method] = {}
    adapters: Mapping[str, Any] = {}  # formats of data sets -> adapters
    pictures: ClassVar[str]  # "module:function": the pictures of an index, in the order of pixels and grids
    layout: ClassVar[str] = ""  # the module of the form of its published data sets, see ``acquiring``
    published: ClassVar[Mapping[str, type[Section]]] = {}  # kind of data -> section of published ones, for plugins
    reserved: ClassVar[Collection[str]] = ()  # names that formats of plugins cannot have, besides its adapters'
    # the modules whose ``train`` carries out a run, and whose ``evaluate`` evaluations: both take recipes
    training: ClassVar[str]
    evaluation: ClassVar[str]
    savable: ClassVar[tuple[str, ...]] = ("embeddings",)  # what an evaluation can save besides scores
    metric_code: ClassVar[
        tuple[str, ...]
    ]  # the modules that compute metrics; the first one has ``read_metrics``, see ``measuring``
    named_metrics: ClassVar[Mapping[str, Metric]] = {}  # by name, in the order of messages about a misspelt one

    def __init__(self, added: Added = Added()) -> None:
        self.methods = {**self.methods, **added.methods}
        self.adapters = {**self.adapters, **added.adapters}
        self.plugin_metrics = added.metrics
        self.plugin_papers = added.papers
        self._metrics: dict[str, tuple[Recipe, dict[str, Recipe]]] = {}  # of evaluations, by their digests

    @property
    def place(self) -> str:
        """Its class, as ``module:class``."""
        return f"{type(self).__module__}:{type(self).__name__}"

    @cached_property
    def form(self) -> TrackForm:
        """Its part of params.yaml, with the methods and the formats of data of its catalogue."""
        settings = {name: method.settings_class for name, method in self.methods.items()}
        parts: dict[str, Any] = {"methods": methods_section(settings)}
        for name, adapters in self.data_fields().items():
            kinds = tuple(dict.fromkeys(adapter.settings for adapter in adapters))
            entry: Any = Annotated[Union[kinds], Field(discriminator="adapter")]  # noqa: UP007 - a tuple of classes
            parts[name] = dict[Name, entry]
        names = Annotated[str, Field(json_schema_extra={"enum": [*self.methods]})]
        chosen = Annotated[list[names], Field(min_length=1), Distinct]
        return TrackForm(_with_fields(self.section, parts), _with_fields(self.choice, {"methods": chosen}))

    @cached_property
    def papers(self) -> list[Paper]:
        """The papers of the track, those of plugins last."""
        return [*papers_of(self.name), *self.plugin_papers]

    @property
    def variants(self) -> dict[str, Variant]:
        """The variants of its papers, by name."""
        return {name: variant for paper in self.papers for name, variant in paper.variants.items()}

    def plan(self, params: Params, planner: Planner, variants: Mapping[str, Variant]) -> TrackPlan:
        """Return the chosen profile's plan, with these variants of its methods.

        Raises:
            PlanError: the variants do not fit the profile.
        """
        return self.runs.of(self, params, planner, variants).plan()

    def settings(self, params: Params, method: str, dataset: str) -> dict[str, Any]:
        """Return the settings that params.yaml has for a method on a data set, as plain values."""
        return self.section_of(params).settings(method, dataset).document()

    def section_of(self, params: Params) -> Any:
        """Return the track's section of params.yaml."""
        return params.tracks[self.name]

    def mark(self, recipe: Recipe, data: Path) -> Path:
        """Return a path, below ``data``, that exists once a data set's raw files are there."""
        return recipe.raw_folder(data)

    def data_steps(self, adapter: DataAdapter) -> dict[str, str]:
        """Return the functions that bring and index data sets of a form, by their role in recipes: ``acquire`` takes
        the recipe and the folder of raw files, and returns the data set's; ``index`` writes an index of it into a
        folder, and returns the raw files that were read.
        """
        acquiring = "recompose.tracks.acquiring"
        return {"acquire": f"{acquiring}:acquire", "index": f"{acquiring}:index", "layout": self.layout}

    def pass_key(self, evaluation: Recipe) -> str:
        """Return a key that evaluations share if one pass over the images can carry them out together; by default the
        digest.
        """
        return evaluation.digest

    def metrics_of(self, evaluation: Recipe, names: Iterable[str] | None = None) -> list[Recipe]:
        """Return the recipes of an evaluation's metrics: the track's, and those of plugins' metrics.

        Args:
            evaluation: whose metrics they are.
            names: the metrics that are wanted, of which those of plugins have recipes of their own; None: all.
        """
        if evaluation.digest not in self._metrics:
            self._metrics[evaluation.digest] = self._recipes_of_metrics(evaluation)
        basic, added = self._metrics[evaluation.digest]
        return [basic, *(recipe for name, recipe in added.items() if names is None or name in names)]

    def _recipes_of_metrics(self, evaluation: Recipe) -> tuple[Recipe, dict[str, Recipe]]:
        read = {role: need for role, need in evaluation.needs.items() if need.kind == "data"} | {EVALUATION: evaluation}
        about: dict[str, Any] = {"track": self.name, "labels": evaluation.labels}
        made_by, code = self._measured_by[""]
        basic = Recipe("metrics", evaluation.name, {}, read, code, made_by=made_by, **about)
        added: dict[str, Recipe] = {}
        for name in self.plugin_metrics:
            made_by, code = self._measured_by[name]
            title, needs = f"{name} of {evaluation.name}", read | {OWN: basic}
            added[name] = Recipe("metrics", title, {"metric": name}, needs, code, made_by=made_by, **about)
        return basic, added

    @cached_property
    def _measured_by(self) -> dict[str, tuple[dict[str, str], dict[str, str]]]:
        """What computes the track's metrics, and that of each plugin's metric by its name, with its fingerprint."""
        first, *others = self.metric_code
        roles = {"": {"metrics": f"{first}:read_metrics", **{module: module for module in others}}}
        roles |= {name: {"metric": metric.path} for name, metric in self.plugin_metrics.items()}
        made_by = {name: {"make": MEASURE, **of} for name, of in roles.items()}
        return {name: (of, fingerprint([*of.values(), ARITHMETIC])) for name, of in made_by.items()}

    def data_fields(self) -> dict[str, list[DataAdapter]]:
        """Return the fields of the track's section that hold data, with the adapters of their entries."""
        kinds = dict.fromkeys(adapter.kind for adapter in self.adapters.values())
        return {kind: [adapter for adapter in self.adapters.values() if adapter.kind == kind] for kind in kinds}

    def metric(self, name: str) -> Metric:
        """Return the description of a metric of this track, by its name.

        Raises:
            KeyError: there is no such metric.
        """
        return self.named_metrics[name]

    def samples(self, document: Document) -> "Iterator[tuple[Image.Image, str]]":
        """Yield pictures of a synthetic data set, with labels, by the document of its recipe; none by default."""
        return iter(())

    def plots(self, results: Results) -> dict[str, str]:
        """Return the files of numbers for `dvc plots`, name -> CSV; none by default."""
        return {}

    def depends_on_seed(self, evaluation: Recipe) -> bool:
        """Return whether an evaluation's numbers depend on the seed, on the same data."""
        path = evaluation.document.get("class")
        return not any(method.class_path == path and not method.needs_seed for method in self.methods.values())

    def is_synthetic(self, data: Recipe) -> bool:
        """Return whether a data set is generated by the workflow, not published."""
        return "archives" not in data.document

    def metric_names(self) -> Iterable[str]:
        """Return the names of metrics, for messages about a misspelt one."""
        return self.named_metrics or self.compared.values()

    def used_names(self, part: str) -> list[str]:
        """Return the names that nothing added to its methods, adapters or metrics can have."""
        adapters = (*self.adapters, *self.reserved)
        return [*{"methods": self.methods, "adapters": adapters, "metrics": self.metric_names()}[part]]

    def check_metric(self, metric: str, params: Params) -> None:
        """Check that evaluations with these parameters can have a metric, or a cost.

        Raises:
            PlanError: there is no such metric.
        """
        self.description_of(metric)

    def description_of(self, metric: str) -> Metric:
        """Return the description of a metric of this track, or of a cost.

        Raises:
            PlanError: there is no such metric.
        """
        try:
            if metric in self.plugin_metrics:
                return self.plugin_metrics[metric].about
            return COSTS[metric] if metric in COSTS else self.metric(metric)
        except KeyError:
            suggestion = nearest(metric, [*self.metric_names(), *self.plugin_metrics, *COSTS])
            message = f"the track {self.name} declares no metric '{metric}'{suggestion}"
            raise PlanError(message, code="unknown-metric", place=metric) from None


@dataclass(frozen=True, eq=False)
class Catalogue(Mapping[str, Track]):
    """The tracks that a project can choose from, by name, and its papers. It does not change: with plugins there is
    another one.
    """

    _tracks: Mapping[str, Track]
    plugin_papers: tuple[Paper, ...] = ()

    def __getitem__(self, name: str) -> Track:
        return self._tracks[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tracks)

    def __len__(self) -> int:
        return len(self._tracks)

    @property
    def forms(self) -> dict[str, TrackForm]:
        """The part of params.yaml of each track."""
        return {name: track.form for name, track in self.items()}

    @property
    def papers(self) -> list[Paper]:
        """All papers, those of plugins last."""
        return [*all_papers(), *self.plugin_papers]

    def with_added(self, added: Mapping[str, Added], papers: Iterable[Paper]) -> "Catalogue":
        """Return the catalogue with what is added to each track, and with these papers."""
        all_added = tuple(papers)
        of_tracks = {name: tuple(paper for paper in all_added if paper.track == name) for name in self}
        tracks = {name: type(track)(replace(added[name], papers=of_tracks[name])) for name, track in self.items()}
        return Catalogue(tracks, all_added)


def _with_fields(section: type[Any], types: Mapping[str, Any]) -> type[Any]:
    """Return a section with other types of some fields."""
    described: dict[str, Any] = {
        name: (kind, Field(description=section.model_fields[name].description)) for name, kind in types.items()
    }
    return create_model(section.__name__, __base__=section, __doc__=section.__doc__, **described)
