"""The declaration of a plugin, ``plugin.yaml``: its entries, each of which builds what it declares.

Names of modules are relative to the package, or start with ``recompose.``.
"""

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from recompose.files import Document
from recompose.params.method import MethodSettings
from recompose.params.sections import Name, Section
from recompose.tables.metric import Metric
from recompose.tracks.catalogue import DataAdapter, Method, PluginMetric, named_section
from recompose.tracks.track import Track

if TYPE_CHECKING:
    from recompose.tracks.plugins import Plugin


class MethodEntry(Section):
    """A method: its class, the class of its settings, and what its numbers depend on."""

    class_path: str = Field(alias="class", description="`module:Class` of the method.")
    settings: str = Field(description="`module:Class` of its settings, in a module that needs no torch.")
    needs_backbone: bool = Field(default=True, description="Whether the method needs a backbone.")
    needs_seed: bool = Field(
        default=True, description="Whether seeds give different numbers on the same data; otherwise it runs once."
    )

    def build(self, track: Track, plugin: "Plugin", place: str, name: str) -> Method:
        """Return the method."""
        path = plugin.path(f"{place}.class", self.class_path)
        settings = plugin.settings_class(f"{place}.settings", self.settings, MethodSettings)
        return Method(path, settings, self.needs_backbone, self.needs_seed)  # type: ignore[arg-type]


class DataEntry(Section):
    """A format of data sets: the module that reads it."""

    module: str = Field(
        description="The module, with `read`, and with `draw`, which writes the files, or `arrange`, which moves "
        "unpacked archives."
    )
    settings: str | None = Field(
        default=None,
        description="`module:Class` of the section of such a data set in params.yaml, without torch; null: that of a "
        "published one, with archives.",
    )
    synthetic: bool = Field(
        default=False,
        description="Whether data sets are generated from the `seed` of their section: each seed of a profile then has "
        "one of its own.",
    )
    companions: list[str] = Field(default=[], description="Modules beside it that decide what it reads.")

    def build(self, track: Track, plugin: "Plugin", place: str, name: str) -> DataAdapter:
        """Return the adapter of the format, with a section that has its name."""
        base = track.dataset_section
        if self.settings:
            base = plugin.settings_class(f"{place}.settings", self.settings, Section)
        elif self.synthetic or base is None:
            raise plugin.error(place, "a synthetic data set needs settings: a section of its own", "missing-key")
        module = plugin.module(f"{place}.module", self.module)
        companions = tuple(plugin.module(f"{place}.companions", companion) for companion in self.companions)
        section = named_section(base, name, "The reader.")
        return track.adapter_class(module, section, self.synthetic, companions)


class SubTaskEntry(Section):
    """A sub-task of a suite."""

    query: Literal["i2t", "t2i", "group", "triplet"] = Field(
        description="A caption for an image, an image for a caption, pairs of both, or two captions for an image."
    )
    ties: Literal["strict", "lenient", "first"] = Field(description="The rule for ties.")


class SuiteEntry(Section):
    """A format of suites: the module that reads it, and its sub-tasks."""

    module: str = Field(description="The module, with `LAYOUT` and `read`.")
    subtasks: dict[Name, SubTaskEntry] = Field(min_length=1, description="The sub-tasks.")

    def build(self, track: Track, plugin: "Plugin", place: str, name: str) -> DataAdapter:
        """Return the adapter of the format."""
        module = plugin.module(f"{place}.module", self.module)
        rules = {part: (task.query, task.ties) for part, task in self.subtasks.items()}
        try:
            return track.suite_adapter(module, name, rules)
        except ValueError as error:
            raise plugin.error(place, str(error), "name-taken") from None


class MetricEntry(Section):
    """A metric: the function that computes it, and how it is shown."""

    function: str = Field(
        description="`module:function` of the track's metrics, the evaluation's folder, and those of its needs."
    )
    unit: str = Field(default="", description="Its unit.")
    factor: float = Field(default=1.0, description="The factor from the function's value to the unit.")
    digits: int = Field(description="The number of digits after the point.", ge=0, le=9)
    better: Literal[-1, 0, 1] = Field(description="1: higher is better; -1: lower is; 0: neither.")

    def build(self, track: Track, plugin: "Plugin", place: str, name: str) -> PluginMetric:
        """Return the metric."""
        path = plugin.path(f"{place}.function", self.function)
        return PluginMetric(path, Metric(self.unit, self.factor, self.digits, self.better))


class Declaration(Section):
    """The content of plugin.yaml. Names of modules are relative to the package, or start with ``recompose.``."""

    methods: dict[Name, dict[Name, MethodEntry]] = Field(default={}, description="Track -> name -> method.")
    datasets: dict[Name, dict[Name, DataEntry]] = Field(default={}, description="Track -> adapter -> format.")
    suites: dict[Name, dict[Name, SuiteEntry]] = Field(default={}, description="Track -> adapter -> format.")
    metrics: dict[Name, dict[str, MetricEntry]] = Field(default={}, description="Track -> flat name -> metric.")
    papers: list[Name] = Field(default=[], description="Folders `papers/<name>/` of the package with a `paper.yaml`.")
    params: dict[str, Document] = Field(
        default={},
        description="Entries of params.yaml: settings of the methods, data sets, suites, backbones and profiles.",
    )
