"""The fingerprint of code: a digest of each module's syntax, without comments, docstrings and layout.

It is computed from the sources without importing them, so that planning stays light.
"""

import ast
import functools
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import recompose
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


def path_of(module: str) -> Path:
    """Return the file of a module.

    Raises:
        ModuleNotFoundError: the package has no such module.
    """
    path = _path(module)
    if path is None:
        raise ModuleNotFoundError(f"{module} is not a module of {PACKAGE}")
    return path


def _path(module: str) -> Path | None:
    stem = ROOT.joinpath(*module.split(".")[1:])
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
    """Return true if a module's code can change a number; all modules of a package in ``OUTSIDE`` are outside.

    So is a module named ``settings``: it declares which values are allowed, and documents hold the values themselves.
    """
    if module.endswith(".settings"):
        return False
    top, _, inner = module.partition(".")
    outside = module in OUTSIDE or f"{PACKAGE}.{inner.partition('.')[0]}" in OUTSIDE - {f"{PACKAGE}.tracks"}
    return top == PACKAGE and not outside and _path(module) is not None


@functools.cache
def _read(module: str) -> tuple[str, tuple[str, ...]]:
    """Return a module's digest, and the modules of the package that it imports."""
    path = path_of(module)
    source = path.read_bytes()
    summary = _summaries().of(source, str(path))
    return summary[0], tuple(sorted({name for name in summary[1:] if _is_inside(name)}))


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
        """Return the digest of a source, then the names that it imports."""
        key = hashlib.sha256(source).hexdigest()
        if key not in self._cached:
            tree = ast.parse(source, filename=filename)
            digest = hashlib.sha256("".join(_tokens(tree)).encode()).hexdigest()
            self._cached[key] = [digest, *sorted({name for name in _imports(tree) if name.split(".")[0] == PACKAGE})]
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

    Comments, docstrings and layout do not matter. Modules named in strings are not found: add them to ``modules``.

    Raises:
        ModuleNotFoundError: the package has no module of this name.
    """
    return dict(_reached(frozenset(modules)))


@functools.cache
def _reached(modules: frozenset[str]) -> dict[str, str]:
    """Return the digests of modules and their imports, in the order of their names."""
    queue, versions = list(modules), dict[str, str]()
    while queue:
        module = queue.pop()
        if module not in versions:
            versions[module], imports = _read(module)
            queue.extend(imports)
    _summaries().write()
    return dict(sorted(versions.items()))
