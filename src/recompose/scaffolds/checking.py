"""What is still open in a plugin or a comparison: its tests, sources of settings, and what it was compared with."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from recompose.errors import ArgumentError
from recompose.files import Document
from recompose.papers.comparison import FOLDER
from recompose.params import Section
from recompose.params.documents import read_document
from recompose.params.loading import SHARED
from recompose.params.mistakes import nearest, params_error, problems_of
from recompose.tracks.plugins import Plugin
from recompose.workspace import Workspace

FILE = "checklist.yaml"
DATA = ("datasets", "suites")  # the parts of a track's section whose entries are data
UNWRITTEN = "not written yet"  # how the reason begins with which a test of a scaffold fails


class Checklist(Section):
    """The content of checklist.yaml."""

    released_code: str | None = Field(default=None, description="The comparison with released code.")
    printed_values: str | None = Field(default=None, description="The comparison with printed values.")
    sources: dict[str, str | None] = Field(default={}, description="Setting -> where its value comes from.")


@dataclass(frozen=True)
class OpenPoint:
    """Something that is still to be done, and its place."""

    code: str
    place: str
    message: str

    @property
    def line(self) -> str:
        """The point as one line."""
        return f"{self.place}: {self.message}"


def open_points(work: Workspace, name: str) -> list[OpenPoint]:
    """Return what is still open in a plugin or a comparison of a project.

    Args:
        work: the project.
        name: of a plugin, its package or the same with hyphens; or of a comparison.

    Raises:
        ArgumentError: there is neither.
        ParamsError: the checklist has errors.
    """
    plugins = {plugin.name.replace("_", "-"): plugin for plugin in work.plugins}
    comparisons = [comparison.name for comparison in work.comparisons]
    if (plugin := plugins.get(name.replace("_", "-"))) is not None:
        points = _listed(plugin.folder / FILE, _plugin_settings(plugin))
        return [*_tests(plugin.folder.parent / "tests"), *points]
    if name in comparisons:
        return list(_listed(work.root / FOLDER / name / FILE, _comparison_settings(work.root, name)))
    known = [*plugins, *comparisons]
    there = f"there is: {', '.join(known)}" if known else "install a plugin, or name its folder in params.yaml"
    message = f"{name!r} is no plugin and no comparison of this project{nearest(name, known)}; {there}"
    raise ArgumentError("NAME", message, code="unknown-name")


def _tests(folder: Path) -> Iterator[OpenPoint]:
    """Yield the tests that are as the scaffold wrote them, or that there is none."""
    tests = [(file, test) for file in sorted(folder.rglob("test_*.py")) for test in _functions(file)]
    if not tests:
        yield OpenPoint("no-test", str(folder), "there is no test")
    for file, test in tests:
        strings = (node.value for node in ast.walk(test) if isinstance(node, ast.Constant))
        if any(isinstance(value, str) and value.startswith(UNWRITTEN) for value in strings):
            yield OpenPoint("unwritten-test", f"{file}:{test.lineno}", f"{test.name} is not written yet")


def _functions(file: Path) -> list[ast.FunctionDef]:
    try:
        tree = ast.parse(file.read_bytes(), filename=str(file))
    except (SyntaxError, ValueError) as error:
        raise ArgumentError("NAME", f"has a test that is no valid Python: {file}: {error}", code="no-python") from None
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test")]


def _listed(file: Path, settings: list[str]) -> Iterator[OpenPoint]:
    """Yield what a checklist leaves open, given the settings that need a source."""
    if not file.is_file():
        yield OpenPoint("no-checklist", str(file), "there is no checklist; `recompose new` writes one")
        return
    checklist = _read(file)
    if not (checklist.released_code or "").strip():
        yield OpenPoint("no-released-code", f"{file}: released_code", "no comparison with released code")
    if not (checklist.printed_values or "").strip():
        yield OpenPoint("no-printed-values", f"{file}: printed_values", "no comparison with printed values")
    sourced = {path for path, source in checklist.sources.items() if (source or "").strip()}
    for path in settings:
        if not sourced & {*_prefixes(path)}:
            yield OpenPoint("no-source", f"{file}: sources.{path}", "no source of this setting")
    known = dict.fromkeys(prefix for path in settings for prefix in _prefixes(path))
    for path in checklist.sources:
        if path not in known:
            message = f"there is no such setting{nearest(path, known)}"
            yield OpenPoint("unknown-setting", f"{file}: sources.{path}", message)


def _read(file: Path) -> Checklist:
    document = read_document(file.read_text(encoding="utf-8"), str(file)) or {}
    try:
        return Checklist.model_validate(document)
    except ValidationError as error:
        raise params_error(f"{file}:", problems_of(error, document)) from None


def _prefixes(path: str) -> list[str]:
    """Return a dotted path with all sections that it is in."""
    keys = path.split(".")
    return [".".join(keys[:number]) for number in range(1, len(keys) + 1)]


def _plugin_settings(plugin: Plugin) -> list[str]:
    """Return what needs a source: the settings of a plugin's methods, and the ``data`` of its data sets and suites. Of
    several, each is below its name.
    """
    params, declared = plugin.declaration.params, plugin.declaration.methods
    entries: Document = {}
    for track in [key for key in params if key not in SHARED]:
        methods = params[track].get("methods") or {}
        entries |= {name: settings for name, settings in methods.items() if name in declared.get(track, {})}
        entries |= {name: {"data": None} for part in DATA for name in params[track].get(part) or {}}
    return [*_leaves(next(iter(entries.values())) if len(entries) == 1 else entries)]


def _comparison_settings(root: Path, name: str) -> list[str]:
    """Return the settings of a comparison's variants, below the name of each, and its margin."""
    document: Any = read_document((root / FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), name)
    variants = {name: variant.get("settings") or {} for name, variant in (document.get("variants") or {}).items()}
    return [*_leaves(variants), *(["margin"] if document.get("margin") else [])]


def _leaves(document: Any, path: str = "") -> Iterator[str]:
    """Yield the dotted paths of the values of nested mappings."""
    if isinstance(document, Mapping):
        for key, value in document.items():
            yield from _leaves(value, f"{path}.{key}" if path else str(key))
    elif path:
        yield path
