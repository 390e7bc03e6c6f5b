"""Plugins: packages of one's own that bring methods, data sets, suites, metrics and papers.

A plugin is a Python package with a file ``plugin.yaml``, its declaration. It is installed, with an entry point of the
group ``recompose.plugins`` that names the package, or params.yaml names its folder. Finding and reading plugins imports
none of their code.
"""

import ast
import importlib
import importlib.util
import keyword
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from recompose.errors import ParamsError, PluginError
from recompose.files import Document
from recompose.fingerprint import DECLARATION as FILE
from recompose.fingerprint import PACKAGE, location, path_of
from recompose.params import Section
from recompose.params.documents import read_document
from recompose.params.loading import Addition
from recompose.params.mistakes import nearest, problems_of
from recompose.params.sections import Count, Name

GROUP = "recompose.plugins"  # of entry points
TORCH = "torch"
IN_WORDS = {"methods": "method", "datasets": "data format", "suites": "suite format", "metrics": "metric"}


class MethodEntry(Section):
    """A method: its class, the class of its settings, and what its numbers depend on."""

    class_path: str = Field(alias="class", description="`module:Class` of the method.")
    settings: str = Field(description="`module:Class` of its settings, in a module that needs no torch.")
    needs_backbone: bool = Field(default=True, description="Whether the method needs a backbone, and torch.")
    needs_seed: bool = Field(
        default=True, description="Whether seeds give different numbers on the same data; otherwise it runs once."
    )


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
    sizes: dict[str, Count] = Field(default={}, description="Images of each part, for estimates of costs.")


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


class MetricEntry(Section):
    """A metric: the function that computes it, and how it is shown."""

    function: str = Field(
        description="`module:function` of the track's metrics, the evaluation's folder, and those of its needs."
    )
    unit: str = Field(default="", description="Its unit.")
    factor: float = Field(default=1.0, description="The factor from the function's value to the unit.")
    digits: int = Field(description="The number of digits after the point.", ge=0, le=9)
    better: Literal[-1, 0, 1] = Field(description="1: higher is better; -1: lower is; 0: neither.")


class Declaration(Section):
    """The content of plugin.yaml. Names of modules are relative to the package, or start with ``recompose.``."""

    methods: dict[Name, dict[Name, MethodEntry]] = Field(default={}, description="Track -> name -> method.")
    datasets: dict[Name, dict[Name, DataEntry]] = Field(default={}, description="Track -> adapter -> format.")
    suites: dict[Name, dict[Name, SuiteEntry]] = Field(default={}, description="Track -> adapter -> format.")
    metrics: dict[Name, dict[str, MetricEntry]] = Field(default={}, description="Track -> flat name -> metric.")
    papers: list[Name] = Field(default=[], description="Folders `papers/<name>/` of the package with a `paper.yaml`.")
    params: Document = Field(
        default={},
        description="Entries of params.yaml: settings of the methods, data sets, suites, backbones and profiles.",
    )

    @property
    def by_kind(self) -> dict[str, Mapping[str, Mapping[str, Any]]]:
        """What it adds to the tracks: kind -> track -> name -> entry."""
        return {
            "methods": self.methods,
            "datasets": self.datasets,
            "suites": self.suites,
            "metrics": self.metrics,
        }


@dataclass(frozen=True)
class Plugin:
    """A plugin: its package, and what it declares."""

    name: str  # of the package
    folder: Path
    origin: str  # the entry of params.yaml, or the distribution
    declaration: Declaration
    is_named: bool = True  # by its folder in params.yaml; otherwise it is installed

    @property
    def file(self) -> Path:
        """The file of its declaration."""
        return self.folder / FILE

    @property
    def addition(self) -> Addition:
        """The entries of params.yaml that it brings."""
        return Addition(str(self.file), self.declaration.params)

    def module(self, name: str) -> str:
        """Return the full name of a module of the declaration."""
        return name if name.startswith(f"{PACKAGE}.") else f"{self.name}.{name}"

    def checked(self, place: str, path: str) -> str:
        """Return the full ``module:name`` of a class or function, after a look into its source.

        Args:
            place: of the path in the declaration.
            path: as declared.

        Raises:
            PluginError: the module or the name does not exist.
        """
        relative, colon, name = path.partition(":")
        if not (relative and colon and name.isidentifier()):
            raise self.error(place, f"{path!r} is not written module:Name", "no-path")
        module = self.checked_module(place, relative)
        source = path_of(module)
        if name not in (names := _names_of(source)):
            public = [name for name in names if not name.startswith("_")]
            raise self.error(place, f"{source} has no {name!r}{nearest(name, public)}", "unknown-name")
        return f"{module}:{name}"

    def checked_module(self, place: str, name: str) -> str:
        """Return the full name of a module that exists.

        Raises:
            PluginError: there is none; the message names the nearest one.
        """
        module = self.module(name)
        try:
            path_of(module)
        except (ModuleNotFoundError, PluginError):
            near = nearest(name, _modules_in(self.folder))
            message = f"there is no source of the module {module} in {self.folder}{near}"
            raise self.error(place, message, "unknown-module") from None
        return module

    def settings_class(self, place: str, path: str, base: type[Section]) -> type[Section]:
        """Return a class of settings, which derives from ``base``. Its module is imported, as it needs no torch.

        Raises:
            PluginError: there is no such class, it is of another kind, or its import fails or imports torch.
        """
        module, _, name = self.checked(place, path).partition(":")
        light = TORCH not in sys.modules
        try:
            found = getattr(importlib.import_module(module), name)
        except Exception as error:  # whatever the plugin's code raises
            message = f"{path_of(module)} cannot be imported: {type(error).__name__}: {error}"
            raise self.error(place, " ".join(message.split()), "broken-module") from error
        if light and TORCH in sys.modules:
            message = f"{path_of(module)} imports torch, and planning does not: declare {name} in a module without it"
            raise self.error(place, message, "imports-torch")
        if not (isinstance(found, type) and issubclass(found, base)):
            message = f"{path} does not derive from {base.__module__}.{base.__name__}"
            raise self.error(place, message, "wrong-class")
        return found

    def error(self, place: str, fault: str, code: str) -> PluginError:
        """Return an error about a place of the declaration."""
        return PluginError(f"{self.file}: {place}: {fault}", code=code, place=f"{self.file}: {place}")

    def contents(self) -> list[str]:
        """Return what the plugin brings, in words."""
        declared = self.declaration
        brought = [
            f"{IN_WORDS[kind]} {name} ({track})"
            for kind, tracks in declared.by_kind.items()
            for track, entries in tracks.items()
            for name in entries
        ]
        profiles = declared.params.get("profiles", {})
        return [*brought, *(f"paper {name}" for name in declared.papers), *(f"profile {name}" for name in profiles)]


def find_plugins(folders: list[str], root: Path) -> list[Plugin]:
    """Return the plugins in these folders, which are relative to ``root``, then those that are installed.

    A folder is the package, or holds it, directly or in ``src``. Folders of packages become importable.

    Raises:
        PluginError: there is no plugin in a folder, a package is at two places, or a declaration is wrong.
    """
    plugins: dict[str, Plugin] = {}
    for number, entry in enumerate(folders):
        place = f"params.yaml: plugins.{number}"
        for folder in _packages_in(root / Path(entry).expanduser(), place):
            _make_importable(folder, place)
            _add(plugins, Plugin(folder.name, folder, entry, _declaration(folder / FILE)))
    for point in sorted(metadata.entry_points(group=GROUP), key=lambda point: point.name):
        _add(plugins, _installed(point))
    return list(plugins.values())


def _installed(point: metadata.EntryPoint) -> Plugin:
    """Return the plugin of an entry point.

    Raises:
        PluginError: it is no package with a declaration, or this is wrong.
    """
    name, origin = point.value.strip(), f"{point.dist.name} {point.dist.version}" if point.dist else point.name
    folder = location(name)
    if folder is None or not (folder / FILE).is_file():
        place = f"the entry point {point.name} of {origin}"
        message = f"{place}: {name} is no package of the top level with a {FILE}; reinstall the distribution"
        raise PluginError(message, code="no-plugin", place=place)
    return Plugin(name, folder, origin, _declaration(folder / FILE), is_named=False)


def _add(plugins: dict[str, Plugin], plugin: Plugin) -> None:
    """Add a plugin; one that is both installed and named by its folder counts once.

    Raises:
        PluginError: another plugin has the same name.
    """
    former = plugins.setdefault(plugin.name, plugin)
    if former.folder != plugin.folder:
        message = f"two plugins are packages {plugin.name}: {former.folder} and {plugin.folder}; remove or rename one"
        raise PluginError(message, code="name-taken", place=plugin.name)


def _packages_in(folder: Path, place: str) -> list[Path]:
    folder = Path(os.path.normpath(folder.absolute()))
    patterns = (FILE, f"*/{FILE}", f"src/*/{FILE}")
    packages = next((found for pattern in patterns if (found := sorted(folder.glob(pattern)))), [])
    if packages:
        return [file.parent for file in packages]
    if not folder.is_dir():
        siblings = [path.name for path in folder.parent.iterdir() if path.is_dir()] if folder.parent.is_dir() else []
        message = f"{place}: there is no folder {folder}{nearest(folder.name, siblings)}"
        raise PluginError(message, code="no-plugin", place=place)
    message = f"{place}: neither {folder} nor a folder in it is a package with a {FILE}"
    raise PluginError(message, code="no-plugin", place=place)


def _make_importable(folder: Path, place: str) -> None:
    """Make a package importable under its name, in this process and those that it starts by forking.

    Raises:
        PluginError: it has no name of a package, or another package has it.
    """
    name = folder.name
    if not name.isidentifier() or keyword.iskeyword(name):
        message = f"{place}: {folder} cannot be imported: the name of a package has letters, digits and _ only"
        raise PluginError(message, code="no-package", place=place)
    if str(folder.parent) not in sys.path:
        sys.path.append(str(folder.parent))
    importlib.invalidate_caches()
    place_of_name = location(name)
    if place_of_name is None or place_of_name.resolve() != folder.resolve():
        other = place_of_name or importlib.util.find_spec(name)
        message = f"{place}: another package has the name {name}: {other}; rename the folder {folder}"
        raise PluginError(message, code="name-taken", place=place)


def _declaration(file: Path) -> Declaration:
    """Return the declaration in a file.

    Raises:
        PluginError: it is not YAML, or has errors; the message names the nearest right key.
    """
    try:
        document = read_document(file.read_text(encoding="utf-8"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise PluginError(f"{file} cannot be read: {error}", code="unreadable-file", place=file) from None
    except ParamsError as error:
        raise PluginError(str(error), code=error.code, place=error.place) from None
    document = {} if document is None else document
    try:
        return Declaration.model_validate(document)
    except ValidationError as error:
        problems = problems_of(error, document)
        lines = "; ".join(problem.line for problem in problems)
        places = ", ".join(problem.path for problem in problems)
        raise PluginError(f"{file}: {lines}", code=problems[0].code, place=f"{file}: {places}") from None


@cache
def _names_of(source: Path) -> list[str]:
    """Return the names that a module defines or imports at its top level.

    Raises:
        PluginError: the source is not valid Python.
    """
    try:
        tree = ast.parse(source.read_bytes(), filename=str(source))
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        fault = getattr(error, "msg", error)
        raise PluginError(f"{source}:{line} is not valid Python: {fault}", code="no-python", place=source) from None
    return [name for node in tree.body for name in _bound(node)]


def _bound(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (alias.asname or alias.name for alias in names)


def _modules_in(folder: Path) -> list[str]:
    """Return the names of the modules of a package, relative to it."""
    files = (path.relative_to(folder).with_suffix("") for path in sorted(folder.rglob("*.py")))
    return [".".join(file.parts) for file in files if file.name != "__init__"]
