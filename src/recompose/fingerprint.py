"""The fingerprint of code: a digest of each module's syntax, without comments, docstrings and layout.

It is computed from the sources without importing them, so that planning stays light. A plugin's modules count as those
of this package do; of other distributions that they import, the version counts.
"""

import ast
import functools
import hashlib
import importlib.util
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import recompose
from recompose.errors import PluginError
from recompose.files import write_text

PACKAGE = "recompose"
# modules that cannot change a number: messages to people, and code that finds, names and stores content, which is
# compared by digests
OUTSIDE = {
    f"{PACKAGE}.{name}"
    for name in (
        "digest",
        "errors",
        "files",
        "fingerprint",
        "params",
        "plan",
        "progress",
        "records",
        "store",
        "tracks",
        "workspace",
    )
}
ROOT = Path(recompose.__file__).parent
PLUGIN_MODULES = 256  # whose imports are kept in memory, by their source
DECLARATION = "plugin.yaml"  # the file that makes a package a plugin
MARKER = "OUTSIDE_FINGERPRINTS"  # a constant of a module whose values are in documents, such as classes of settings


def location(package: str) -> Path | None:
    """Return the folder of an importable package of the top level, or None; nothing is imported."""
    if not package.isidentifier():
        return None
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return Path(folders[0]) if folders else None


def is_module(name: str) -> bool:
    """Return True for the name of a module of this package or of a plugin, False for that of a distribution."""
    return _folder(name) is not None


def path_of(module: str) -> Path:
    """Return the file of a module.

    Raises:
        ModuleNotFoundError: the package has no such module.
        PluginError: the module is outside of this package and of all plugins, so its code cannot be fingerprinted.
    """
    path = _path(module)
    if path is not None:
        return path
    if (folder := _folder(module)) is None:
        message = f"{module} is no module of {PACKAGE} or of a plugin: its code cannot be fingerprinted"
        raise PluginError(f"{message}; make its package a plugin", code="no-fingerprint", place=module)
    if folder == ROOT:
        raise ModuleNotFoundError(f"{module} is not a module of {PACKAGE}")
    message = f"{folder} has no source of the module {module}: without it, its code cannot be fingerprinted"
    raise PluginError(message, code="no-fingerprint", place=module)


def _folder(module: str) -> Path | None:
    """Return the folder of the package of a module: this one or a plugin's."""
    top = module.partition(".")[0]
    if top == PACKAGE:
        return ROOT
    folder = location(top)
    return folder if folder and (folder / DECLARATION).is_file() else None


def _path(module: str) -> Path | None:
    folder = _folder(module)
    if folder is None:
        return None
    stem = folder.joinpath(*module.split(".")[1:])
    candidates = (stem.with_suffix(".py"), stem / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)


def _tokens(node: object) -> Iterator[str]:
    """Yield the types and values of a syntax tree, without positions, docstrings and empty fields.

    Empty fields are omitted because versions of Python differ in which of them exist.
    """
    if isinstance(node, ast.AST):
        yield type(node).__name__ + "("
        for field, value in ast.iter_fields(node):
            if value is None or value == [] or field == "type_comment":
                continue
            yield field + "="
            yield from _tokens(_without_docstring(node) if field == "body" else value)
        yield ")"
    elif isinstance(node, list):
        for item in node:
            yield from _tokens(item)
            yield ","
    else:
        yield repr(node)


def _without_docstring(node: ast.AST) -> object:
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    return node.body  # type: ignore[attr-defined]


def _imports(tree: ast.Module) -> Iterator[str]:
    """Yield the modules that a module imports, also inside its functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@functools.cache
def _is_inside(module: str) -> bool:
    """Return true if the code of a module of this package can change a number; all modules of a package in ``OUTSIDE``
    are outside.

    So is a module with the marker: it declares which values are allowed, and documents hold the values themselves.
    """
    inner = module.removeprefix(f"{PACKAGE}.")
    outside = module in OUTSIDE or f"{PACKAGE}.{inner.partition('.')[0]}" in OUTSIDE - {f"{PACKAGE}.tracks"}
    path = _path(module)
    return not outside and path is not None and MARKER not in _summaries().of(path.read_bytes(), str(path))


@functools.cache
def _read_own(module: str) -> list[str]:
    """Return the digest of a module of this package, then the modules that it imports and that count."""
    path = path_of(module)
    digest, *names = _summaries().of(path.read_bytes(), str(path))
    return [digest, *(name for name in names if name != MARKER and _is_inside(name))]


def _is_marked(tree: ast.Module) -> bool:
    assigned = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
    return any(isinstance(target, ast.Name) and target.id == MARKER for target in assigned)


def _digest(tree: ast.Module) -> str:
    return hashlib.sha256("".join(_tokens(tree)).encode()).hexdigest()


class _Import(NamedTuple):
    """An import in a plugin's module."""

    name: str  # a module, or a module and a name in it
    module: str
    line: int
    may_fail: bool  # in ``try`` or ``if``


@functools.lru_cache(maxsize=PLUGIN_MODULES)
def _read_plugin(module: str, path: Path, source: bytes) -> tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]]:
    try:
        tree = ast.parse(source, filename=str(path))
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        fault = getattr(error, "msg", error)
        raise PluginError(f"{path}:{line} is not valid Python: {fault}", code="no-python", place=path) from None
    parents = [".".join(module.split(".")[:count]) for count in range(1, module.count(".") + 1)]
    inside, versions = {parent for parent in parents if _path(parent) is not None}, dict[str, str]()
    for imported in _plugin_imports(tree, module, is_package=path.name == "__init__.py"):
        if _folder(imported.module) is None:
            versions |= _version(imported, path)
        elif _counts(imported.name):
            inside.add(imported.name)
        elif not (imported.may_fail or _exists(imported.module)):
            message = f"{path}:{imported.line} imports {imported.module}, which does not exist"
            raise PluginError(message, code="unknown-import", place=f"{path}:{imported.line}")
    return _digest(tree), tuple(sorted(inside)), tuple(sorted(versions.items()))


def _counts(module: str) -> bool:
    """Return whether code counts that a plugin imports: that of plugins all does, since it may compute what is in no
    document.
    """
    return _is_inside(module) if module.partition(".")[0] == PACKAGE else _path(module) is not None


def _exists(module: str) -> bool:
    """Return True for a module, and for a folder of modules without an ``__init__.py``."""
    folder = _folder(module)
    is_folder = folder is not None and folder.joinpath(*module.split(".")[1:]).is_dir()
    return is_folder or _path(module) is not None


def _plugin_imports(tree: ast.Module, module: str, *, is_package: bool) -> Iterator[_Import]:
    """Yield the imports of a plugin's module, relative ones by their full names."""
    optional = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.Try | ast.If)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Import | ast.ImportFrom)
    }
    parts = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield _Import(alias.name, alias.name, node.lineno, id(node) in optional)
        elif isinstance(node, ast.ImportFrom):
            base = parts[: len(parts) - node.level + 1] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            yield _Import(name, name, node.lineno, id(node) in optional)
            for alias in node.names:
                yield _Import(f"{name}.{alias.name}", name, node.lineno, id(node) in optional)


def _version(imported: _Import, path: Path) -> dict[str, str]:
    """Return the version of the distributions of an import: name -> version; nothing for the standard library.

    The part of a version that names a build, as of torch for a GPU, does not count.

    Raises:
        PluginError: no distribution has the module, or its code can change under the same version.
    """
    top = imported.module.partition(".")[0]
    if top in sys.stdlib_module_names:
        return {}
    place = f"{path}:{imported.line}"
    distributions = _distributions(top)
    if not distributions:
        if imported.may_fail:
            return {top: "absent"}
        message = f"{place} imports {top}, which is in no plugin and in no installed distribution"
        raise PluginError(f"{message}: install it, or make it part of a plugin", code="unknown-import", place=place)
    for distribution in distributions:
        if '"editable": true' in (distribution.read_text("direct_url.json") or ""):
            message = f"{place} imports {top}, which is installed in editable mode: its code can change unnoticed"
            raise PluginError(f"{message}; make it a plugin, or install it", code="editable", place=place)
    return {item.metadata["Name"]: item.version.partition("+")[0] for item in distributions}


@functools.cache
def _distributions(top: str) -> tuple[metadata.Distribution, ...]:
    """Return the installed distributions that have a module of this name."""
    with suppress(metadata.PackageNotFoundError):
        return (metadata.distribution(top),)
    return tuple(metadata.distribution(name) for name in dict.fromkeys(metadata.packages_distributions().get(top, [])))


class _Summaries:
    """A cache of each source's digest and imports, beside Python's compiled files (parsing is slower than planning)."""

    def __init__(self, file: Path) -> None:
        self._file, self._grew = file, False
        try:
            document = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            document = {}
        self._cached: dict[str, list[str]] = document if isinstance(document, dict) else {}

    def of(self, source: bytes, filename: str) -> list[str]:
        """Return the digest of a source, the marker if it has it, then the names that it imports."""
        key = hashlib.sha256(source).hexdigest()
        if key not in self._cached:
            tree = ast.parse(source, filename=filename)
            names = {name for name in _imports(tree) if name.split(".")[0] == PACKAGE}
            self._cached[key] = [_digest(tree), *([MARKER] if _is_marked(tree) else []), *sorted(names)]
            self._grew = True
        return self._cached[key]

    def write(self) -> None:
        """Write new entries; without write access the next process is only slower."""
        if self._grew:
            self._grew = False
            with suppress(OSError):
                write_text(self._file, json.dumps(self._cached))


@functools.cache
def _summaries() -> _Summaries:
    version = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]  # of the code that summarises
    return _Summaries(
        Path(__file__).parent / "__pycache__" / f"fingerprints-{sys.implementation.cache_tag}-{version}.json"
    )


def fingerprint(modules: Iterable[str]) -> dict[str, str]:
    """Return the digests of these modules and of all modules of this package that they import, directly or not.

    Comments, docstrings and layout do not matter. Modules named in strings are not found: add them to ``modules``. With
    a plugin's module come those of its imports that are in a plugin, and the versions of the distributions that these
    modules import: name of a distribution -> version.

    Raises:
        ModuleNotFoundError: the package has no module of this name.
        PluginError: a module is outside of this package and of all plugins, or has no source.
    """
    queue, versions = list(modules), dict[str, str]()
    while queue:
        module = queue.pop()
        if module.partition(".")[0] == PACKAGE:
            versions |= _own_closure(module)
        elif module not in versions:
            path = path_of(module)
            versions[module], imports, distributions = _read_plugin(module, path, path.read_bytes())
            versions |= distributions
            queue.extend(imports)
    return dict(sorted(versions.items()))


@functools.cache
def _own_closure(module: str) -> dict[str, str]:
    """Return the digests of a module of this package and of those that it imports, directly or not."""
    queue, digests = [module], dict[str, str]()
    while queue:
        name = queue.pop()
        if name not in digests:
            digests[name], *imports = _read_own(name)
            queue.extend(imports)
    _summaries().write()
    return digests


def changed_modules(code: Mapping[str, str]) -> list[str]:
    """Return the modules of a fingerprint that this process has with another digest, or not at all."""
    modules = [module for module in code if is_module(module)]
    return [module for module in modules if _path(module) is None or fingerprint([module])[module] != code[module]]
