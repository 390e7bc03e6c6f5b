"""Plugins: packages of one's own that bring methods, data sets, suites, metrics and papers; the catalogue with them.

A plugin is a Python package with a file ``plugin.yaml``, its declaration: each entry builds what the tracks declare in
their own catalogues. It is installed, with an entry point of the group ``recompose.plugins`` that names the package, or
params.yaml names its folder. Nothing of it but the classes of settings is imported before its results are made.
"""

import importlib
import os
import re
import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from recompose.errors import PluginError
from recompose.files import Document
from recompose.papers.checks import RESERVED
from recompose.papers.declaration import DECLARATION, PAPERS, Paper, read_paper
from recompose.params.documents import Written
from recompose.params.method import MethodSettings
from recompose.params.mistakes import UserFile, nearest
from recompose.params.sections import Name, Section
from recompose.recipes.fingerprint import DECLARATION as FILE
from recompose.recipes.fingerprint import PACKAGE, location, path_of
from recompose.tables.metric import Metric
from recompose.tracks.catalogue import DataAdapter, Method, PluginMetric, named_section
from recompose.tracks.track import Added, Catalogue, Track

GROUP = "recompose.plugins"  # of entry points
# kind of entries -> the part of ``Added`` that they belong to
PARTS = {"methods": "methods", "datasets": "adapters", "suites": "adapters", "metrics": "metrics"}


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
        section = track.published.get("datasets")
        if self.settings:
            section = plugin.settings_class(f"{place}.settings", self.settings, Section)
        elif self.synthetic or section is None:
            raise plugin.error(place, "a synthetic data set needs settings: a section of its own", "missing-key")
        module = plugin.module(f"{place}.module", self.module)
        companions = tuple(plugin.module(f"{place}.companions", companion) for companion in self.companions)
        return DataAdapter(module, named_section(section, name), self.synthetic, companions)


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
        """Return the adapter of the format, with a section that has its name."""
        if (section := track.published.get("suites")) is None:
            raise plugin.error(place, f"the track {track.name} has no suites", "no-suites")
        module = plugin.module(f"{place}.module", self.module)
        rules = {f"{name}/{part}": (task.query, task.ties) for part, task in self.subtasks.items()}
        return DataAdapter(module, named_section(section, name), kind="suites", rules=rules)


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


class Declaration(UserFile, Section):
    """The content of plugin.yaml. Names of modules are relative to the package, or start with ``recompose.``."""

    fault: ClassVar = PluginError

    methods: dict[Name, dict[Name, MethodEntry]] = Field(default={}, description="Track -> name -> method.")
    datasets: dict[Name, dict[Name, DataEntry]] = Field(default={}, description="Track -> adapter -> format.")
    suites: dict[Name, dict[Name, SuiteEntry]] = Field(default={}, description="Track -> adapter -> format.")
    metrics: dict[Name, dict[str, MetricEntry]] = Field(default={}, description="Track -> flat name -> metric.")
    papers: list[Name] = Field(default=[], description="Folders `papers/<name>/` of the package with a `paper.yaml`.")
    params: dict[str, Document] = Field(
        default={},
        description="Entries of params.yaml: settings of the methods, data sets, suites, backbones and profiles.",
    )


@dataclass(frozen=True)
class Plugin:
    """A plugin: its package, and what it declares."""

    folder: Path
    declaration: Declaration

    @property
    def name(self) -> str:
        """The name of the package."""
        return self.folder.name

    @property
    def file(self) -> Path:
        """The file of its declaration."""
        return self.folder / FILE

    @property
    def addition(self) -> Written:
        """The entries of params.yaml that it brings."""
        return self.declaration.written.at(("params",)) or Written({}, str(self.file))

    def error(self, place: str, fault: str, code: str) -> PluginError:
        """Return an error about a place of the declaration."""
        return PluginError(f"{self.file}: {place}: {fault}", code=code, place=f"{self.file}: {place}")

    def module(self, place: str, name: str) -> str:
        """Return the full name of a module; the error that there is none names the nearest one."""
        module = name if name.startswith(f"{PACKAGE}.") else f"{self.name}.{name}"
        try:
            path_of(module)
        except (ModuleNotFoundError, PluginError):
            files = [path.relative_to(self.folder).with_suffix("") for path in self.folder.rglob("*.py")]
            near = nearest(name, [".".join(file.parts) for file in files])
            message = f"there is no source of the module {module} in {self.folder}{near}"
            raise self.error(place, message, "unknown-module") from None
        return module

    def path(self, place: str, path: str) -> str:
        """Return the full ``module:name`` of a class or function, which is looked for in the source."""
        relative, _, name = path.partition(":")
        if not (relative and name.isidentifier()):
            raise self.error(place, f"{path!r} is not written module:Name", "no-path")
        source = path_of(module := self.module(place, relative))
        text = source.read_text(encoding="utf-8", errors="replace")
        if not re.search(rf"\b{name}\b", text):
            defined = re.findall(r"^(?:class|def) (\w+)", text, re.MULTILINE)
            raise self.error(place, f"{source} has no {name!r}{nearest(name, defined)}", "unknown-name")
        return f"{module}:{name}"

    def settings_class(self, place: str, path: str, base: type[Section]) -> type[Section]:
        """Return a class of settings, which derives from ``base``. Its module is imported, as it needs no torch."""
        module, _, name = self.path(place, path).partition(":")
        try:
            settings = getattr(importlib.import_module(module), name)
        except Exception as error:  # whatever the plugin's code raises
            message = f"{path_of(module)} cannot be imported: {type(error).__name__}: {error}"
            raise self.error(place, " ".join(message.split()), "broken-module") from error
        if not (isinstance(settings, type) and issubclass(settings, base)):
            message = f"{path} does not derive from {base.__module__}.{base.__name__}"
            raise self.error(place, message, "wrong-class")
        return settings

    def check_free(self, place: str, name: str, taken: Collection[str]) -> None:
        """Check that the name of an entry is not in use."""
        if name in taken:
            raise self.error(place, f"{name!r} exists already; choose another name", "name-taken")

    def paper(self, name: str) -> Paper:
        """Return the paper in a folder of the package."""
        folder = self.folder / "papers" / name
        if not (folder / DECLARATION).is_file():
            siblings = [path.parent.name for path in folder.parent.glob(f"*/{DECLARATION}")]
            raise self.error("papers", f"{folder} has no {DECLARATION}{nearest(name, siblings)}", "unknown-paper")
        return read_paper(name, folder)


def find_plugins(folders: list[str], root: Path) -> list[Plugin]:
    """Return the plugins in these folders, which are relative to ``root``, then those that are installed.

    A folder is the package, or holds it, directly or in ``src``. Folders of packages become importable.

    Raises:
        PluginError: there is no plugin in a folder, a package is at two places, or a declaration is wrong.
    """
    packages: dict[str, Path] = {}
    for number, entry in enumerate(folders):
        # Path.expanduser raises RuntimeError where there is no such user
        folder = root / os.path.expanduser(entry)  # noqa: PTH111
        packages |= {package.name: package for package in _packages_in(folder, f"params.yaml: plugins.{number}")}
    for point in sorted(metadata.entry_points(group=GROUP), key=lambda point: point.name):
        installed = location(point.value.strip())
        if installed is None or not (installed / FILE).is_file():
            message = f"the entry point {point.name}: {point.value} is no package of the top level with a {FILE}"
            raise PluginError(f"{message}; reinstall its distribution", code="no-plugin", place=point.name)
        packages.setdefault(installed.name, installed)
    return [Plugin(folder, Declaration.read(folder / FILE, str(folder / FILE))) for folder in packages.values()]


def _packages_in(folder: Path, place: str) -> list[Path]:
    """Return the packages in a folder, which become importable in this process and those that it starts by forking."""
    folder = Path(os.path.normpath(folder.absolute()))
    matches = (sorted(folder.glob(pattern)) for pattern in (FILE, f"*/{FILE}", f"src/*/{FILE}"))
    packages = [file.parent for file in next(filter(None, matches), [])]
    if not packages:
        near = "" if folder.is_dir() else nearest(folder.name, [path.name for path in folder.parent.glob("*/")])
        message = f"{place}: neither {folder} nor a folder in it is a package with a {FILE}{near}"
        raise PluginError(message, code="no-plugin", place=place)
    for package in packages:
        if str(package.parent) not in sys.path:
            sys.path.append(str(package.parent))
        importlib.invalidate_caches()
        importable = location(package.name)
        if importable is None or importable.resolve() != package.resolve():
            message = f"{place}: {package} cannot be imported as {package.name}: no package can have this name, or"
            raise PluginError(f"{message} another one has it; rename the folder", code="name-taken", place=place)
    return packages


def with_plugins(catalogue: Catalogue, plugins: Iterable[Plugin]) -> Catalogue:
    """Return a catalogue with what these plugins bring.

    Raises:
        PluginError: a declaration names what does not exist, or takes a name that is in use.
        PlanError: a paper of a plugin is wrong.
    """
    added = {name: Added() for name in catalogue}
    papers: dict[str, Paper] = {}
    for plugin in plugins:
        for kind, part in PARTS.items():
            for name, entries in getattr(plugin.declaration, kind).items():
                if name not in catalogue:
                    names = f"{nearest(name, catalogue)}; the tracks are: {', '.join(catalogue)}"
                    raise plugin.error(f"{kind}.{name}", f"there is no track {name!r}{names}", "unknown-track")
                track, entries_of_track = catalogue[name], getattr(added[name], part)
                for entry, content in entries.items():
                    place = f"{kind}.{name}.{entry}"
                    plugin.check_free(place, entry, {*track.used_names(part), *entries_of_track})
                    entries_of_track[entry] = content.build(track, plugin, place, entry)
        for name in plugin.declaration.papers:
            plugin.check_free(f"papers.{name}", name, {*PAPERS, *RESERVED, *papers})
            papers[name] = plugin.paper(name)
    return catalogue.with_added(added, papers.values())
