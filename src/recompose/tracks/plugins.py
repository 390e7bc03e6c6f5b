"""Plugins: packages of one's own that bring methods, data sets, suites, metrics and papers; the catalogue with them.

A plugin is a Python package with a file ``plugin.yaml``, its declaration. It is installed, with an entry point of the
group ``recompose.plugins`` that names the package, or params.yaml names its folder. Nothing of it but the classes of
settings is imported before its results are made.
"""

import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

from recompose.errors import PluginError
from recompose.fingerprint import DECLARATION as FILE
from recompose.fingerprint import PACKAGE, location, path_of
from recompose.papers.declaration import DECLARATION, PAPERS, Paper, all_papers, read_paper
from recompose.params.loading import Addition
from recompose.params.mistakes import nearest, read_form
from recompose.params.schema import TrackForm
from recompose.params.sections import Section
from recompose.tracks.declaration import Declaration
from recompose.tracks.track import Added, Track

GROUP = "recompose.plugins"  # of entry points
# kind of entries -> the part of ``Added`` that they belong to
PARTS = {"methods": "methods", "datasets": "adapters", "suites": "adapters", "metrics": "metrics"}


@dataclass(frozen=True)
class Plugin:
    """A plugin: its package, and what it declares."""

    name: str  # of the package
    folder: Path
    declaration: Declaration

    @property
    def file(self) -> Path:
        """The file of its declaration."""
        return self.folder / FILE

    @property
    def addition(self) -> Addition:
        """The entries of params.yaml that it brings."""
        return Addition(str(self.file), self.declaration.params)

    def error(self, place: str, fault: str, code: str) -> PluginError:
        """Return an error about a place of the declaration."""
        return PluginError(f"{self.file}: {place}: {fault}", code=code, place=f"{self.file}: {place}")

    def module(self, place: str, name: str) -> str:
        """Return the full name of a module at a place of the declaration.

        Raises:
            PluginError: there is none; the message names the nearest one.
        """
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
        """Return the full ``module:name`` of a class or function at a place of the declaration.

        Raises:
            PluginError: there is no such module, or its source does not have the name.
        """
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
        """Return a class of settings, which derives from ``base``. Its module is imported, as it needs no torch.

        Raises:
            PluginError: there is no such class, it is of another kind, or its import fails.
        """
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


def find_plugins(folders: list[str], root: Path) -> list[Plugin]:
    """Return the plugins in these folders, which are relative to ``root``, then those that are installed.

    A folder is the package, or holds it, directly or in ``src``. Folders of packages become importable.

    Raises:
        PluginError: there is no plugin in a folder, a package is at two places, or a declaration is wrong.
    """
    packages: dict[str, Path] = {}
    for number, entry in enumerate(folders):
        # Path.expanduser raises RuntimeError where there is no such user
        expanded = os.path.expanduser(entry)  # noqa: PTH111
        for folder in _packages_in(root / expanded, f"params.yaml: plugins.{number}"):
            if packages.setdefault(folder.name, folder) != folder:
                message = f"two plugins are packages {folder.name}: {packages[folder.name]} and {folder}; rename one"
                raise PluginError(message, code="name-taken", place=folder.name)
    for point in sorted(metadata.entry_points(group=GROUP), key=lambda point: point.name):
        installed = location(point.value.strip())
        if installed is None or not (installed / FILE).is_file():
            message = f"the entry point {point.name}: {point.value} is no package of the top level with a {FILE}"
            raise PluginError(f"{message}; reinstall its distribution", code="no-plugin", place=point.name)
        packages.setdefault(installed.name, installed)
    return [
        Plugin(name, folder, read_form(Declaration, folder / FILE, str(folder / FILE), PluginError))
        for name, folder in packages.items()
    ]


def _packages_in(folder: Path, place: str) -> list[Path]:
    """Return the packages in a folder, which become importable in this process and those that it starts by forking."""
    folder = Path(os.path.normpath(folder.absolute()))
    found = (sorted(folder.glob(pattern)) for pattern in (FILE, f"*/{FILE}", f"src/*/{FILE}"))
    packages = [file.parent for file in next(filter(None, found), [])]
    if not packages:
        siblings = [path.name for path in folder.parent.glob("*/")]
        near = "" if folder.is_dir() else nearest(folder.name, siblings)
        message = f"{place}: neither {folder} nor a folder in it is a package with a {FILE}{near}"
        raise PluginError(message, code="no-plugin", place=place)
    for package in packages:
        if str(package.parent) not in sys.path:
            sys.path.append(str(package.parent))
        importlib.invalidate_caches()
        importable = location(package.name)
        if importable is None or importable.resolve() != package.resolve():
            message = (
                f"{place}: {package} cannot be imported as {package.name}: that is no name of a package, or another"
            )
            raise PluginError(f"{message} package has it; rename the folder", code="name-taken", place=place)
    return packages


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

    def with_plugins(self, plugins: Iterable[Plugin]) -> "Catalogue":
        """Return the catalogue with what these plugins bring.

        Raises:
            PluginError: a declaration names what does not exist, or takes a name that is in use.
            PlanError: a paper of a plugin is wrong.
        """
        added = {name: Added() for name in self}
        papers: dict[str, Paper] = {}
        for plugin in plugins:
            for kind, part in PARTS.items():
                for name, entries in getattr(plugin.declaration, kind).items():
                    if name not in self:
                        allowed = f"{nearest(name, added)}; the tracks are: {', '.join(added)}"
                        raise plugin.error(f"{kind}.{name}", f"there is no track {name!r}{allowed}", "unknown-track")
                    track, own = self[name], getattr(added[name], part)
                    taken = {"methods": track.methods, "adapters": track.adapters, "metrics": track.metric_names()}
                    for entry, content in entries.items():
                        place = f"{kind}.{name}.{entry}"
                        _refuse_taken(plugin, place, entry, {*taken[part], *own})
                        own[entry] = content.build(track, plugin, place, entry)
            for name in plugin.declaration.papers:
                _refuse_taken(plugin, f"papers.{name}", name, {*PAPERS, *papers})
                papers[name] = _paper(plugin, name)
        own_papers = tuple(papers.values())
        tracks = {
            name: type(track)(replace(added[name], papers=tuple(paper for paper in own_papers if paper.track == name)))
            for name, track in self.items()
        }
        return Catalogue(tracks, own_papers)


def _refuse_taken(plugin: Plugin, place: str, name: str, taken: set[str]) -> None:
    if name in taken:
        raise plugin.error(place, f"{name!r} exists already; choose another name", "name-taken")


def _paper(plugin: Plugin, name: str) -> Paper:
    folder = plugin.folder / "papers" / name
    if not (folder / DECLARATION).is_file():
        siblings = [path.parent.name for path in folder.parent.glob(f"*/{DECLARATION}")]
        raise plugin.error("papers", f"{folder} has no {DECLARATION}{nearest(name, siblings)}", "unknown-paper")
    return read_paper(name, folder)
