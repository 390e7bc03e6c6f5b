"""What plugins add to the catalogues of tracks: methods, formats of data sets and suites, metrics.

Nothing of a plugin but the classes of settings is imported.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Union

from pydantic import Field, create_model

from recompose.errors import PluginError
from recompose.fingerprint import fingerprint, use_packages
from recompose.papers.declaration import use_papers
from recompose.params.method import MethodSettings
from recompose.params.mistakes import nearest
from recompose.params.schema import TrackForm
from recompose.params.sections import Name, Section
from recompose.params.track import TrackSection, methods_section
from recompose.plugins import DataEntry, Plugin
from recompose.tables.metric import Metric
from recompose.tracks.catalogue import DataAdapter, Method, PluginMetric
from recompose.tracks.track import Track


class Extension:
    """The tracks of this package, with what the plugins of a project add to them.

    Catalogues are dicts that all modules of a track share; a project's plugins are added in place, and those of another
    project in the same process are removed.
    """

    def __init__(self, tracks: Mapping[str, Track], forms: dict[str, TrackForm]) -> None:
        self._tracks, self._forms = tracks, forms
        self._shipped_forms = dict(forms)
        self._shipped = {name: [dict(part) for part in _catalogues(track)] for name, track in tracks.items()}
        self._plugins: Sequence[Plugin] = ()

    def use(self, plugins: Sequence[Plugin]) -> None:
        """Add what these plugins bring, in place of what other plugins did.

        Raises:
            PluginError: a declaration names what does not exist, or takes a name that is in use.
        """
        if list(plugins) == list(self._plugins):
            return
        self._reset()
        try:
            use_packages({plugin.name: plugin.folder for plugin in plugins})
            for plugin in plugins:
                self._add(plugin)
            use_papers(_papers(plugins))
        except PluginError:
            self._reset()
            raise
        self._plugins = tuple(plugins)

    def _reset(self) -> None:
        self._plugins = ()
        use_packages({})
        use_papers({})
        for name, track in self._tracks.items():
            for part, shipped in zip(_catalogues(track), self._shipped[name], strict=True):
                part.clear()
                part.update(shipped)
        self._forms.update(self._shipped_forms)

    def _add(self, plugin: Plugin) -> None:
        declared = plugin.declaration
        for kind, tracks in declared.by_kind.items():
            for name, entries in tracks.items():
                if name not in self._tracks:
                    allowed = f"{nearest(name, self._tracks)}; the tracks are: {', '.join(self._tracks)}"
                    raise plugin.error(f"{kind}.{name}", f"there is no track {name!r}{allowed}", "unknown-track")
                for entry, content in entries.items():
                    place = f"{kind}.{name}.{entry}"
                    ADD[kind](self._tracks[name], plugin, place, entry, content)
        for name in {*declared.methods, *declared.datasets, *declared.suites}:
            self._forms[name] = extended_form(self._tracks[name], self._shipped_forms[name])


def _catalogues(track: Track) -> list[dict[str, Any]]:
    return [track.methods, track.adapters, track.plugin_metrics, *track.suite_catalogues]


def _take(plugin: Plugin, place: str, name: str, catalogue: dict[str, Any], entry: object) -> None:
    """Add an entry to a catalogue.

    Raises:
        PluginError: it has one of this name.
    """
    if name in catalogue:
        raise plugin.error(place, f"{name!r} exists already; choose another name", "name-taken")
    catalogue[name] = entry


def _add_method(track: Track, plugin: Plugin, place: str, name: str, entry: Any) -> None:
    path = plugin.checked(f"{place}.class", entry.class_path)
    settings = plugin.settings_class(f"{place}.settings", entry.settings, MethodSettings)
    method = Method(path, settings, entry.needs_backbone, entry.needs_seed)  # type: ignore[arg-type]
    fingerprint([method.module])  # refuses imports that cannot be followed
    _take(plugin, place, name, track.methods, method)


def _add_format(track: Track, plugin: Plugin, place: str, name: str, entry: DataEntry) -> None:
    base = track.dataset_section
    if entry.settings:
        base = plugin.settings_class(f"{place}.settings", entry.settings, Section)
    elif entry.synthetic or base is None:
        raise plugin.error(place, "a synthetic data set needs settings: a section of its own", "missing-key")
    module = plugin.checked_module(f"{place}.module", entry.module)
    companions = tuple(plugin.checked_module(f"{place}.companions", companion) for companion in entry.companions)
    fingerprint([module, *companions])
    adapter = track.adapter_class(module, with_adapter(base, name), entry.synthetic, companions, entry.sizes)
    _take(plugin, place, name, track.adapters, adapter)


def _add_suite(track: Track, plugin: Plugin, place: str, name: str, entry: Any) -> None:
    if not track.suite_catalogues:
        raise plugin.error(place, f"the track {track.name} has no suites", "no-suites")
    module = plugin.checked_module(f"{place}.module", entry.module)
    fingerprint([module])
    try:
        subtasks = {part: (task.query, task.ties) for part, task in entry.subtasks.items()}
        track.add_suite(name, DataAdapter(module, Section), subtasks)
    except ValueError as error:
        raise plugin.error(place, str(error), "name-taken") from None


def _add_metric(track: Track, plugin: Plugin, place: str, name: str, entry: Any) -> None:
    if name in {*track.metric_names()}:
        raise plugin.error(place, f"{name!r} exists already; choose another name", "name-taken")
    path = plugin.checked(f"{place}.function", entry.function)
    fingerprint([path.partition(":")[0]])
    about = Metric(entry.unit, entry.factor, entry.digits, entry.better)
    _take(plugin, place, name, track.plugin_metrics, PluginMetric(path, about))


ADD = {"methods": _add_method, "datasets": _add_format, "suites": _add_suite, "metrics": _add_metric}


def _papers(plugins: Sequence[Plugin]) -> dict[str, Any]:
    """Return the folders of all papers of plugins, by name.

    Raises:
        PluginError: a folder has no declaration, or two plugins bring papers of the same name.
    """
    folders: dict[str, Any] = {}
    for plugin in plugins:
        for name, folder in plugin.paper_folders.items():
            if not (folder / "paper.yaml").is_file():
                siblings = [path.parent.name for path in folder.parent.glob("*/paper.yaml")]
                message = f"{folder} has no paper.yaml{nearest(name, siblings)}"
                raise plugin.error("papers", message, "unknown-paper")
            _take(plugin, f"papers.{name}", name, folders, folder)
    return folders


def with_adapter(section: type[Section], name: str) -> type[Section]:
    """Return the section of a data set with the name of a plugin's format as its only adapter."""
    adapter: Any = (Literal[name], Field(description="The reader."))
    return create_model(f"{section.__name__}_{name}", __base__=section, __doc__=section.__doc__, adapter=adapter)


def extended_form(track: Track, form: TrackForm) -> TrackForm:
    """Return a track's part of params.yaml with all methods and all formats of its catalogues."""
    section: type[TrackSection] = form.section
    fields: dict[str, Any] = {
        "methods": (methods_section(track.methods), Field(description=section.model_fields["methods"].description))
    }
    for field, adapters in track.data_fields().items():
        kinds = tuple(dict.fromkeys(adapter.settings for adapter in adapters))
        entry: Any = Annotated[Union[kinds], Field(discriminator="adapter")]  # noqa: UP007 - a tuple of classes
        fields[field] = (dict[Name, entry], Field(description=section.model_fields[field].description))
    return form._replace(section=create_model(section.__name__, __base__=section, __doc__=section.__doc__, **fields))
