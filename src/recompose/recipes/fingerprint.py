"""The fingerprint of code: a digest of each module's syntax, without comments, docstrings and layout.

It is computed from the sources without importing them, so that planning stays light. A plugin's modules count as those
of this package do. Other packages do not count: records hold their versions.
"""

import ast
import functools
import hashlib
import importlib.util
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import recompose
from recompose.errors import PluginError
from recompose.files import write_text

OUTSIDE_FINGERPRINTS = True  # it decides what counts

PACKAGE = "recompose"
ROOT = Path(recompose.__file__).parent
DECLARATION = "plugin.yaml"  # the file that makes a package a plugin
MARKER = "OUTSIDE_FINGERPRINTS"  # a constant of modules that cannot change a number


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
    """Return True for the name of a module of this package or of a plugin."""
    return _folder(name) is not None


def path_of(module: str) -> Path:
    """Return the file of a module.

    Raises:
        ModuleNotFoundError: this package has no such module.
        PluginError: no plugin has it, so its code cannot be fingerprinted.
    """
    path = _path(module)
    if path is None and _is_own(module):
        raise ModuleNotFoundError(f"{module} is not a module of {PACKAGE}")
    if path is None:
        message = f"{module} is no module of {PACKAGE} or of a plugin: its code cannot be fingerprinted"
        raise PluginError(f"{message}; make its package a plugin", code="no-fingerprint", place=module)
    return path


def _is_own(module: str) -> bool:
    return module.partition(".")[0] == PACKAGE


def _folder(module: str) -> Path | None:
    """Return the folder of the package of a module: this one or a plugin's."""
    if _is_own(module):
        return ROOT
    folder = location(module.partition(".")[0])
    return folder if folder and (folder / DECLARATION).is_file() else None


def _path(module: str) -> Path | None:
    if (folder := _folder(module)) is None:
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
    """Yield the modules that a module imports, also inside its functions; relative ones begin with their dots."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield base
            yield from (f"{base}.{alias.name}" if node.module else f"{base}{alias.name}" for alias in node.names)


@functools.cache
def _counts(module: str) -> bool:
    """Return true if the code of a module of this package can change a number.

    A module with the marker cannot: it says something to people, it declares which values are allowed, and documents
    hold the values themselves, or it finds, names and stores content, which is compared by digests.
    """
    path = _path(module)
    return path is not None and MARKER not in _summaries().of(path)


def _read(module: str) -> tuple[str, list[str]]:
    """Return the digest of a module, and the modules that it imports and that count: all of a plugin's, since they may
    compute what is in no document.
    """
    path = path_of(module)
    digest, *names = _summaries().of(path)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    try:
        absolute = [importlib.util.resolve_name(name, package) for name in names if name != MARKER]
    except ImportError as error:
        raise PluginError(f"{path} is not valid Python: {error}", code="no-python", place=path) from None
    if _is_own(module):
        return digest, [name for name in absolute if _is_own(name) and _counts(name)]
    return digest, [name for name in absolute if (_counts(name) if _is_own(name) else _path(name) is not None)]


class _Summaries:
    """A cache of each source's digest and imports, beside Python's compiled files (parsing is slower than planning)."""

    def __init__(self, file: Path) -> None:
        self._file, self._grew = file, False
        try:
            document = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            document = {}
        self._cached: dict[str, list[str]] = document if isinstance(document, dict) else {}

    def of(self, path: Path) -> list[str]:
        """Return the digest of a source, the marker if it has it, then the names that it imports."""
        source = path.read_bytes()
        key = hashlib.sha256(source).hexdigest()
        if key not in self._cached:
            self._cached[key] = _summary(source, path)
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


def _summary(source: bytes, path: Path) -> list[str]:
    """Return the digest of a source, the marker if it has it, then the names that it imports.

    Raises:
        PluginError: it is no Python.
    """
    try:
        tree = ast.parse(source, filename=str(path))
    except (SyntaxError, ValueError) as error:
        place = f"{path}:{getattr(error, 'lineno', None) or 1}"
        message = f"{place} is not valid Python: {getattr(error, 'msg', error)}"
        raise PluginError(message, code="no-python", place=path) from None
    assigned = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
    is_marked = any(isinstance(target, ast.Name) and target.id == MARKER for target in assigned)
    digest = hashlib.sha256("".join(_tokens(tree)).encode()).hexdigest()
    return [digest, *([MARKER] if is_marked else []), *sorted({*_imports(tree)})]


def fingerprint(modules: Iterable[str]) -> dict[str, str]:
    """Return the digests of these modules and of all modules of this package and of plugins that they import, directly
    or not.

    Comments, docstrings and layout do not matter. Modules named in strings are not found: add them to ``modules``.

    Raises:
        ModuleNotFoundError: the package has no module of this name.
        PluginError: a module is outside of this package and of all plugins, or is no Python.
    """
    names = tuple(modules)
    return dict(_fingerprint_of_own(names) if all(map(_is_own, names)) else _fingerprint(names))


def _fingerprint(modules: Iterable[str]) -> dict[str, str]:
    queue, digests = list(modules), dict[str, str]()
    while queue:
        module = queue.pop()
        if module not in digests:
            digests[module], imports = _read(module)
            queue.extend(imports)
    return dict(sorted(digests.items()))


_fingerprint_of_own = functools.cache(_fingerprint)  # a process reads its own sources once; a plugin may be edited


def keep_summaries() -> None:
    """Keep what was read of sources for later processes; the workflow does so when it starts."""
    _summaries().write()


def plugin_sources(modules: Iterable[str]) -> set[Path]:
    """Return the files of those of these modules that plugins have."""
    return {path for module in modules if not _is_own(module) and (path := _path(module))}


def changed_modules(code: Mapping[str, str]) -> list[str]:
    """Return the modules of a fingerprint that this process has with another digest, or not at all."""
    modules = [module for module in code if is_module(module)]
    return [module for module in modules if _path(module) is None or fingerprint([module])[module] != code[module]]
