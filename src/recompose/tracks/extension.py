"""The catalogue of a project: the tracks and papers of this package with what plugins bring.

Nothing of a plugin but the classes of settings is imported.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Union

from pydantic import Field, create_model

from recompose.fingerprint import fingerprint
from recompose.papers.declaration import DECLARATION, PAPERS, Paper, all_papers, read_paper
from recompose.params.method import MethodSettings
from recompose.params.mistakes import nearest
from recompose.params.schema import TrackForm
from recompose.params.sections import Distinct, Name, Section
from recompose.params.track import TrackSection, methods_section
from recompose.plugins import DataEntry, MethodEntry, MetricEntry, Plugin, SuiteEntry
from recompose.tables.metric import Metric
from recompose.tracks.catalogue import DataAdapter, Method, PluginMetric
from recompose.tracks.track import Added, Track


@dataclass(frozen=True)
class Catalogue:
    """What a project can choose from. It does not change: with plugins there is another one."""

    tracks: Mapping[str, Track]
    plugin_papers: tuple[Paper, ...] = ()

    @property
    def forms(self) -> dict[str, TrackForm]:
        """The part of params.yaml of each track."""
        return {name: track.form for name, track in self.tracks.items()}

    @property
    def papers(self) -> list[Paper]:
        """All papers, those of plugins last."""
        return [*all_papers(), *self.plugin_papers]

    def with_plugins(self, plugins: Iterable[Plugin]) -> "Catalogue":
        """Return the catalogue with what these plugins bring.

        Raises:
            PluginError: a declaration names what does not exist, or takes a name that is in use.
            PlanError: a paper of a plugin is wrong.
        """
        parts = {name: _Parts(track) for name, track in self.tracks.items()}
        papers: dict[str, Paper] = {}
        for plugin in plugins:
            for kind, tracks in plugin.declaration.by_kind.items():
                for name, entries in tracks.items():
                    if name not in parts:
                        allowed = f"{nearest(name, parts)}; the tracks are: {', '.join(parts)}"
                        raise plugin.error(f"{kind}.{name}", f"there is no track {name!r}{allowed}", "unknown-track")
                    for entry, content in entries.items():
                        parts[name].add(plugin, kind, f"{kind}.{name}.{entry}", entry, content)
            for name in plugin.declaration.papers:
                _take(plugin, f"papers.{name}", name, {*PAPERS, *papers}, papers, _paper(plugin, name))
        own = tuple(papers.values())
        return Catalogue({name: _extended(part, own) for name, part in parts.items()}, own)


@dataclass
class _Parts:
    """What plugins bring to a track, as it is gathered."""

    track: Track
    methods: dict[str, Method] = field(default_factory=dict)
    adapters: dict[str, DataAdapter] = field(default_factory=dict)
    metrics: dict[str, PluginMetric] = field(default_factory=dict)

    def add(self, plugin: Plugin, kind: str, place: str, name: str, entry: Any) -> None:
        """Add an entry of a plugin's declaration.

        Raises:
            PluginError: it names what does not exist, or has a name that is in use.
        """
        kinds: dict[str, tuple[Callable[..., Any], dict[str, Any], Iterable[str]]] = {
            "methods": (_method, self.methods, self.track.methods),
            "datasets": (_format, self.adapters, self.track.adapters),
            "suites": (_suite, self.adapters, self.track.adapters),
            "metrics": (_metric, self.metrics, self.track.metric_names()),
        }
        build, part, taken = kinds[kind]
        _take(plugin, place, name, {*taken, *part}, part, build(self.track, plugin, place, name, entry))


def _take(plugin: Plugin, place: str, name: str, taken: set[str], part: dict[str, Any], entry: object) -> None:
    if name in taken:
        raise plugin.error(place, f"{name!r} exists already; choose another name", "name-taken")
    part[name] = entry


def _method(track: Track, plugin: Plugin, place: str, name: str, entry: MethodEntry) -> Method:
    path = plugin.checked(f"{place}.class", entry.class_path)
    settings = plugin.settings_class(f"{place}.settings", entry.settings, MethodSettings)
    method = Method(path, settings, entry.needs_backbone, entry.needs_seed)  # type: ignore[arg-type]
    fingerprint([method.module])  # refuses imports that cannot be followed
    return method


def _format(track: Track, plugin: Plugin, place: str, name: str, entry: DataEntry) -> DataAdapter:
    base = track.dataset_section
    if entry.settings:
        base = plugin.settings_class(f"{place}.settings", entry.settings, Section)
    elif entry.synthetic or base is None:
        raise plugin.error(place, "a synthetic data set needs settings: a section of its own", "missing-key")
    module = plugin.checked_module(f"{place}.module", entry.module)
    companions = tuple(plugin.checked_module(f"{place}.companions", companion) for companion in entry.companions)
    fingerprint([module, *companions])
    return track.adapter_class(module, _with_adapter(base, name), entry.synthetic, companions, entry.sizes)


def _suite(track: Track, plugin: Plugin, place: str, name: str, entry: SuiteEntry) -> DataAdapter:
    module = plugin.checked_module(f"{place}.module", entry.module)
    fingerprint([module])
    try:
        rules = {part: (task.query, task.ties) for part, task in entry.subtasks.items()}
        return track.suite_adapter(module, name, rules)
    except ValueError as error:
        raise plugin.error(place, str(error), "name-taken") from None


def _metric(track: Track, plugin: Plugin, place: str, name: str, entry: MetricEntry) -> PluginMetric:
    path = plugin.checked(f"{place}.function", entry.function)
    fingerprint([path.partition(":")[0]])
    return PluginMetric(path, Metric(entry.unit, entry.factor, entry.digits, entry.better))


def _paper(plugin: Plugin, name: str) -> Paper:
    folder = plugin.folder / "papers" / name
    if not (folder / DECLARATION).is_file():
        siblings = [path.parent.name for path in folder.parent.glob(f"*/{DECLARATION}")]
        raise plugin.error("papers", f"{folder} has no {DECLARATION}{nearest(name, siblings)}", "unknown-paper")
    return read_paper(name, folder)


def _extended(parts: _Parts, papers: Iterable[Paper]) -> Track:
    """Return a track with what plugins bring, in its form of params.yaml, too."""
    own = tuple(paper for paper in papers if paper.track == parts.track.name)
    if not (parts.methods or parts.adapters or parts.metrics or own):
        return parts.track
    track = type(parts.track)(Added(parts.methods, parts.adapters, parts.metrics, own))
    if parts.methods or parts.adapters:
        track.form = _extended_form(track)
    return track


def _with_adapter(section: type[Section], name: str) -> type[Section]:
    """Return the section of a data set with the name of a plugin's format as its only adapter."""
    adapter: Any = (Literal[name], Field(description="The reader."))
    return create_model(f"{section.__name__}_{name}", __base__=section, __doc__=section.__doc__, adapter=adapter)


def _extended_form(track: Track) -> TrackForm:
    """Return a track's part of params.yaml with all methods and all formats of its catalogue."""
    section: type[TrackSection] = track.form.section
    parts: dict[str, Any] = {"methods": methods_section(track.methods)}
    for name, adapters in track.data_fields().items():
        kinds = tuple(dict.fromkeys(adapter.settings for adapter in adapters))
        entry: Any = Annotated[Union[kinds], Field(discriminator="adapter")]  # noqa: UP007 - a tuple of classes
        parts[name] = dict[Name, entry]
    extended = _with_fields(section, parts)
    extended.method_forms = track.methods
    names = Annotated[str, Field(json_schema_extra={"enum": [*track.methods]})]
    chosen = Annotated[list[names], Field(min_length=1), Distinct]
    return TrackForm(extended, _with_fields(track.form.choice, {"methods": chosen}))


def _with_fields(section: type[Any], types: Mapping[str, Any]) -> type[Any]:
    """Return a section with other types of some fields."""
    described: dict[str, Any] = {
        name: (kind, Field(description=section.model_fields[name].description)) for name, kind in types.items()
    }
    return create_model(section.__name__, __base__=section, __doc__=section.__doc__, **described)
